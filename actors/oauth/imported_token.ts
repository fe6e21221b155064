import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import { type Decision, defineActor, type MessageOf } from '../actor.js';
import { scheduleExpiry } from '../expiry.js';
import type { GrantMessage, NewGrant } from './grant.js';

/**
 * A refresh token of an earlier system; the id is its SHA-256 in hexadecimal. It leads to the grant that was imported
 * with it.
 */
export type ImportedToken = { grant_id: string };

export type ImportedTokenMessage = MessageOf<typeof importedToken>;

type KnownGrant = { grant_id: string; is_new: boolean };
type BroughtIn = { grant_id: string; grant: NewGrant; created_at_ms: number };

export const importedToken = defineActor<ImportedToken>()({
  kind: 'imported_token',
  home: 'hash',
  schema: 1,
  messages: {
    bring_in(state, { grant_id, grant, created_at_ms }: BroughtIn, { now_ms }): Decision<ImportedToken, KnownGrant> {
      // A file that is read twice brings back nothing that was ended meanwhile.
      if (state !== null) return { reply: { grant_id: state.grant_id, is_new: false } };
      const message: GrantMessage = { type: 'bring_in', grant, created_at_ms };
      return {
        reply: { grant_id, is_new: true },
        next: { grant_id },
        effects: [
          { effect: 'notify', to: { kind: 'grant', id: grant_id }, message },
          scheduleExpiry(now_ms + LIMITS.imported_token_life_ms),
        ],
      };
    },

    view: {
      reads: true,
      decide: (state) => ({ reply: state ?? refuse('NOT_FOUND', 'No such token was brought in.') }),
    },

    run_out: () => ({ reply: { done: true }, next: null }),
  },
});
