import { LIMITS } from '../src/domain/limits.js';
import { refuse, unreachable } from '../src/domain/refusals.js';
import { actorKind, type Decision } from './actor.js';
import { scheduleExpiry } from './expiry.js';
import type { GrantMessage, NewGrant } from './grant.js';

/**
 * A refresh token that an earlier system gave out; the id is its SHA-256 in hexadecimal digits. It leads to the grant
 * that it was brought in with, whose first generation it is.
 */
export type ImportedToken = { grant_id: string };

export type ImportedTokenMessage =
  | { type: 'bring_in'; grant_id: string; grant: NewGrant; created_at_ms: number }
  | { type: 'view' }
  | { type: 'run_out' };

export type ImportedTokenReply = { grant_id: string; is_new: boolean } | ImportedToken | { done: true };

export const importedToken = actorKind<ImportedToken, ImportedTokenMessage, ImportedTokenReply>({
  kind: 'imported_token',
  home: 'hash',
  schema: 1,
  reads: ['view'],

  decide(state, message, _facts, now_ms): Decision<ImportedToken, ImportedTokenReply> {
    switch (message.type) {
      case 'bring_in': {
        // A file that is read twice brings back nothing that was ended meanwhile.
        if (state !== null) return { reply: { grant_id: state.grant_id, is_new: false } };
        const { grant_id, grant, created_at_ms } = message;
        const bring_in: GrantMessage = { type: 'bring_in', grant, created_at_ms };
        return {
          reply: { grant_id, is_new: true },
          next: { grant_id },
          effects: [
            { effect: 'notify', to: { kind: 'grant', id: grant_id }, message: bring_in },
            scheduleExpiry(now_ms + LIMITS.imported_token_life_ms),
          ],
        };
      }
      case 'view':
        return { reply: state ?? refuse('NOT_FOUND', 'No such token was brought in.') };

      case 'run_out':
        return { reply: { done: true }, next: null };

      default:
        return unreachable(message);
    }
  },
});
