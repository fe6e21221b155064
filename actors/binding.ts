import { isRefusal, unreachable } from '../src/domain/refusals.js';
import { actorKind, type Decision, type Effect, type RecordQuery } from './actor.js';
import { type EraseMessage, erased } from './erase.js';
import { type StreamOfMessage, streamOf, streamRefFacts, UNBOUND } from './stream_refs.js';

/**
 * What binds a personal device to an account for a time; its id is the `binding_epoch` that the device sends with every write,
 * and its home the account's. Judged by its own state, not by being the newest.
 */
export type Binding = {
  status: 'active' | 'ended';
  kind: 'personal';
  account_id: string;
  workspace_id: string;
  device_id: string;
  source_id: string;
  claim_id: string;
  opened_at_ms: number;
};

export type BindingMessage =
  | { type: 'open'; account_id: string; workspace_id: string; device_id: string; source_id: string; claim_id: string }
  | { type: 'terms'; device_id: string }
  | StreamOfMessage
  | { type: 'end' }
  | EraseMessage;

export type BindingReply = Binding | { stream_id: string } | { done: true };

const DONE = { done: true } as const;
/** The list of an account's bindings, ended ones too. */
export const BINDINGS = 'bindings';

export const binding = actorKind<Binding, BindingMessage, BindingReply>({
  kind: 'binding',
  home: 'id',
  schema: 1,
  reads: ['terms'],

  records(message): RecordQuery[] {
    return message.type === 'stream_of' ? streamRefFacts(message) : [];
  },

  decide(state, message, facts, now_ms): Decision<Binding, BindingReply> {
    if (message.type === 'open') {
      const answered: Effect = {
        effect: 'notify',
        to: { kind: 'claim', id: message.claim_id },
        message: { type: 'answered', device_id: message.device_id, outcome: 'bound', binding_epoch: facts.self },
      };
      if (state !== null) {
        // By another claim of the same account; its device has another source there once the first was deleted.
        const next = { ...state, source_id: message.source_id };
        const is_new = state.status === 'active' && state.source_id !== message.source_id;
        return { reply: state, effects: [answered], ...(is_new ? { next } : {}) };
      }
      const { type: _, ...opened } = message;
      const next: Binding = { status: 'active', kind: 'personal', ...opened, opened_at_ms: now_ms };
      const { account_id } = next;
      const enlisted: Effect = {
        effect: 'add_to_index',
        owner: account_id,
        index: BINDINGS,
        member: facts.self,
        order: now_ms,
      };
      return { reply: next, next, effects: [answered, enlisted] };
    }
    if (message.type === 'erase') {
      const effects: Effect[] = [{ effect: 'delete_collection', collection: 'streams' }];
      return erased(message, { member: facts.self, effects });
    }
    if (message.type === 'end') {
      return state === null || state.status === 'ended'
        ? { reply: DONE }
        : { reply: DONE, next: { ...state, status: 'ended' } };
    }
    if (state === null || state.device_id !== message.device_id || state.status === 'ended') return { reply: UNBOUND };
    switch (message.type) {
      case 'terms':
        return { reply: state };

      case 'stream_of': {
        const found = streamOf(facts, message);
        if (isRefusal(found)) return { reply: found };
        const { stream_id, effects } = found;
        return effects.length === 0 ? { reply: { stream_id } } : { reply: { stream_id }, next: { ...state }, effects };
      }
      default:
        return unreachable(message);
    }
  },
});
