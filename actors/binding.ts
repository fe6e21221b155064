import { refuse, unreachable } from '../src/vocabulary/refusals.js';
import { actorKind, type Decision, type Effect, type FactRequest } from './actor.js';
import { type EraseMessage, erased } from './erase.js';

/**
 * What binds a device to an account for a time; its id is the `binding_epoch` that the device sends with every write,
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
  | { type: 'view'; device_id: string }
  /** The stream behind a device's own reference; `new_stream_id` becomes it when there is none yet. */
  | { type: 'stream_of'; device_id: string; source_stream_ref: string; new_stream_id: string | null }
  | { type: 'end' }
  | EraseMessage;

export type BindingReply = Binding | { stream_id: string; binding: Binding } | { done: true };

const DONE = { done: true } as const;
/** The list of an account's bindings, ended ones too. */
export const BINDINGS = 'bindings';
/** The same words for an unknown, an ended and another device's epoch: they tell nothing apart. */
export const UNBOUND = refuse('DEVICE_UNBOUND', 'The device has no binding of this epoch.');

export const binding = actorKind<Binding, BindingMessage, BindingReply>({
  kind: 'binding',
  home: 'id',
  schema: 1,
  reads: ['view'],

  facts(message): FactRequest[] {
    return message.type === 'stream_of' ? [{ collection: 'streams', id: message.source_stream_ref }] : [];
  },

  decide(state, message, facts, now_ms): Decision<Binding, BindingReply> {
    if (message.type === 'open') {
      const answered: Effect = {
        effect: 'tell',
        to: { kind: 'claim', id: message.claim_id },
        message: { type: 'answered', device_id: message.device_id, outcome: 'bound' },
      };
      if (state !== null) return { reply: state, effects: [answered] };
      const { type: _, ...opened } = message;
      const next: Binding = { status: 'active', kind: 'personal', ...opened, opened_at_ms: now_ms };
      const { account_id } = next;
      const enlisted: Effect = { effect: 'enlist', account_id, list: BINDINGS, member: facts.self, order: now_ms };
      return { reply: next, next, effects: [answered, enlisted] };
    }
    if (message.type === 'erase') {
      const effects: Effect[] = [{ effect: 'drop_all', collection: 'streams' }];
      return erased(message, { member: facts.self, effects });
    }
    if (message.type === 'end') {
      return state === null || state.status === 'ended'
        ? { reply: DONE }
        : { reply: DONE, next: { ...state, status: 'ended' } };
    }
    if (state === null || state.device_id !== message.device_id || state.status === 'ended') return { reply: UNBOUND };
    switch (message.type) {
      case 'view':
        return { reply: state };

      case 'stream_of': {
        const { source_stream_ref, new_stream_id } = message;
        const known = facts.record<{ stream_id: string }>('streams', source_stream_ref);
        if (known !== undefined) return { reply: { stream_id: known.stream_id, binding: state } };
        if (new_stream_id === null)
          return { reply: refuse('NOT_FOUND', 'No stream with this source_stream_ref is registered.') };
        return {
          reply: { stream_id: new_stream_id, binding: state },
          next: { ...state },
          effects: [
            { effect: 'put', collection: 'streams', id: source_stream_ref, value: { stream_id: new_stream_id } },
          ],
        };
      }
      default:
        return unreachable(message);
    }
  },
});
