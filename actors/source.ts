import { refuse, unreachable } from '../src/vocabulary/refusals.js';
import { actorKind, type Decision } from './actor.js';
import { type EraseMessage, erased } from './erase.js';

/** Where recordings of an account come from: one for each recorder that it used. */
export type Source = { account_id: string; device_id: string; created_at_ms: number };

export type SourceMessage = { type: 'create'; account_id: string; device_id: string } | { type: 'view' } | EraseMessage;
export type SourceReply = Source | { done: true };

export const source = actorKind<Source, SourceMessage, SourceReply>({
  kind: 'source',
  home: 'id',
  schema: 1,
  reads: ['view'],

  decide(state, message, facts, now_ms): Decision<Source, SourceReply> {
    switch (message.type) {
      case 'create': {
        if (state !== null) return { reply: state };
        const { account_id, device_id } = message;
        const next = { account_id, device_id, created_at_ms: now_ms };
        return {
          reply: next,
          next,
          effects: [
            { effect: 'event', account_id, type: 'source.created', resource_id: facts.self },
            { effect: 'enlist', account_id, list: 'sources', member: facts.self, order: now_ms },
          ],
        };
      }
      case 'view':
        return { reply: state ?? refuse('NOT_FOUND', 'There is no such source.') };
      case 'erase':
        return erased(message, { member: facts.self });

      default:
        return unreachable(message);
    }
  },
});
