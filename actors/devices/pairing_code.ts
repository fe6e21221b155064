import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import { type Decision, DONE, defineActor, given, type MessageOf } from '../actor.js';
import { scheduleExpiry } from '../expiry.js';

/**
 * The short code of a claim, which a person types into a device. The entity's id is a keyed hash of the code. The claim
 * decides who may redeem it; the code only leads there. docs/choices.md, "Devices".
 */
export type PairingCode = { claim_id: string; expires_at_ms: number };

export type PairingCodeMessage = MessageOf<typeof pairingCode>;

/** Two claims drew the same code; draw another one. */
const TAKEN = refuse('CONFLICT', 'The pairing code belongs to another claim.');
const UNKNOWN = refuse('NOT_FOUND', 'The claim is unknown or has expired.');

const known = given((state: PairingCode | null, { now_ms }) =>
  state === null || now_ms >= state.expires_at_ms ? UNKNOWN : state,
);

export const pairingCode = defineActor<PairingCode>()({
  kind: 'pairing_code',
  home: 'hash',
  schema: 1,
  messages: {
    open(state, { claim_id }: { claim_id: string }, { now_ms }): Decision<PairingCode, PairingCode> {
      if (state?.claim_id === claim_id) return { reply: state };
      if (state !== null && now_ms < state.expires_at_ms) return { reply: TAKEN };
      const next = { claim_id, expires_at_ms: now_ms + LIMITS.pairing_code_life_ms };
      return { reply: next, next, effects: [scheduleExpiry(next.expires_at_ms)] };
    },

    view: { reads: true, decide: known((state) => ({ reply: state })) },

    run_out(state, _: unknown, { now_ms }) {
      if (state !== null && now_ms < state.expires_at_ms) return { reply: DONE };
      return { reply: DONE, next: null };
    },
  },
});
