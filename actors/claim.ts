import { LIMITS } from '../src/vocabulary/limits.js';
import { type Refusal, refuse, unreachable } from '../src/vocabulary/refusals.js';
import { actorKind, type Decision, type Effect } from './actor.js';
import { runOutAt } from './run_out.js';

/**
 * A claim that a personal device redeems to be bound to the account that made it. It is reserved for the first device
 * that shows its secret; the device decides whether it can be bound and answers.
 */
export type Claim = {
  account_id: string;
  kind: 'owner';
  secret_hash: string;
  expires_at_ms: number;
  binding_epoch: string;
  source_id: string;
  redemption:
    | { status: 'open'; refused?: { device_id: string; outcome: RefusedOutcome } }
    | { status: 'asked'; device_id: string }
    | { status: 'bound'; device_id: string };
};

type RefusedOutcome = 'bound_elsewhere' | 'wrong_kind';

export type ClaimMessage =
  | { type: 'create'; account_id: string; secret_hash: string; binding_epoch: string; source_id: string }
  | { type: 'view' }
  /** By a device that has shown the claim's secret; the caller has held it against `secret_hash`. */
  | { type: 'redeem'; device_id: string }
  | { type: 'answered'; device_id: string; outcome: 'bound' | RefusedOutcome }
  /** How the redemption by this device stands. */
  | { type: 'outcome'; device_id: string }
  | { type: 'run_out' };

export type ClaimReply = Claim | { done: true };

const DONE = { done: true } as const;
const UNKNOWN = refuse('NOT_FOUND', 'The claim is unknown or has expired.');
/** Looking again makes sense. */
export const STILL_REDEEMED = refuse('UNAVAILABLE', 'The claim is still being redeemed.', { retry_after_s: 1 });
const USED = refuse('CONFLICT', 'The claim was redeemed by another device.');

const REFUSALS: Record<RefusedOutcome, Refusal> = {
  bound_elsewhere: refuse('CONFLICT', 'The device is bound to another account; its owner must remove it first.'),
  wrong_kind: refuse('CONFLICT', 'An owner claim binds a personal device; this one is shared.'),
};

export const claim = actorKind<Claim, ClaimMessage, ClaimReply>({
  kind: 'claim',
  home: 'id',
  schema: 1,
  reads: ['view', 'outcome'],

  decide(state, message, facts, now_ms): Decision<Claim, ClaimReply> {
    if (message.type === 'create') {
      if (state !== null) return { reply: state };
      const { type: _, ...made } = message;
      const expires_at_ms = now_ms + LIMITS.claim_owner_life_ms;
      const next: Claim = { ...made, kind: 'owner', expires_at_ms, redemption: { status: 'open' } };
      return {
        reply: next,
        next,
        effects: [runOutAt(expires_at_ms)],
      };
    }
    if (message.type === 'run_out') {
      // A redeemed claim stays a while: the same device with the same claim gets the same answer.
      if (state === null || state.redemption.status === 'open') return { reply: DONE, next: null };
      if (now_ms >= state.expires_at_ms + LIMITS.claim_redeemed_keep_ms) return { reply: DONE, next: null };
      const at_ms = state.expires_at_ms + LIMITS.claim_redeemed_keep_ms;
      return { reply: DONE, effects: [runOutAt(at_ms)] };
    }
    if (state === null) return { reply: UNKNOWN };
    const { redemption } = state;
    switch (message.type) {
      case 'view':
        return { reply: state };

      case 'redeem': {
        const { device_id } = message;
        const { account_id, binding_epoch, source_id } = state;
        const bind: Effect = {
          effect: 'tell',
          to: { kind: 'device', id: device_id },
          message: { type: 'bind', claim_id: facts.self, account_id, binding_epoch, source_id },
        };
        if (redemption.status !== 'open' && redemption.device_id !== device_id) return { reply: USED };
        if (redemption.status === 'bound') return { reply: state };
        // Asked already: the device is told once, so that a late repeat can't bind what was unbound meanwhile.
        if (redemption.status === 'asked') return { reply: state };
        if (now_ms >= state.expires_at_ms) return { reply: UNKNOWN };
        const next: Claim = { ...state, redemption: { status: 'asked', device_id } };
        return { reply: next, next, effects: [bind] };
      }

      case 'answered': {
        if (redemption.status !== 'asked' || redemption.device_id !== message.device_id) return { reply: DONE };
        const { device_id, outcome } = message;
        if (outcome === 'bound') return { reply: DONE, next: { ...state, redemption: { status: 'bound', device_id } } };
        return { reply: DONE, next: { ...state, redemption: { status: 'open', refused: { device_id, outcome } } } };
      }

      case 'outcome': {
        const { device_id } = message;
        if (redemption.status === 'bound' && redemption.device_id === device_id) return { reply: state };
        if (redemption.status === 'open' && redemption.refused?.device_id === device_id) {
          return { reply: REFUSALS[redemption.refused.outcome] };
        }
        return { reply: STILL_REDEEMED };
      }
      default:
        return unreachable(message);
    }
  },
});
