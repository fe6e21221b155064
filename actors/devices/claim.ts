import { LIMITS } from '../../src/domain/limits.js';
import { type Refusal, refuse } from '../../src/domain/refusals.js';
import { type Decision, DONE, defineActor, given, type MessageOf } from '../actor.js';
import { scheduleExpiry } from '../expiry.js';

/**
 * A claim that a personal device redeems to be bound to the account that made it, or a shared recorder to begin the
 * session that it was made with. It is reserved for the first device that shows its secret; the device, and for a
 * session the BLE address and the session itself, decide whether it can be, and answer.
 */
export type Claim = {
  account_id: string;
  kind: 'owner' | 'session';
  secret_hash: string;
  expires_at_ms: number;
  /** Of a session claim: the session. Of an owner claim: the binding that it makes, or that there was already. */
  binding_epoch: string;
  source_id: string;
  redemption:
    | { status: 'open'; refused?: { device_id: string; outcome: RefusedOutcome } }
    | { status: 'asked'; device_id: string }
    | { status: 'bound'; device_id: string };
};

/** Why a device could not be bound; it may be tried again, and another device may. */
export type RefusedOutcome = 'bound_elsewhere' | 'wrong_kind' | 'in_session' | 'address_taken' | 'gone' | 'removed';

export type ClaimMessage = MessageOf<typeof claim>;

/** Sent to the device that has shown its secret. */
type BindOrder = ({ type: 'bind' } & BindTerms) | ({ type: 'bind_session'; ble_address: string } & BindTerms);
export type BindTerms = { claim_id: string; account_id: string; binding_epoch: string; source_id: string };

type ClaimTerms = Pick<Claim, 'account_id' | 'secret_hash' | 'binding_epoch' | 'source_id'>;

const UNKNOWN = refuse('NOT_FOUND', 'The claim is unknown or has expired.');
/** Looking again makes sense. */
export const STILL_REDEEMED = refuse('UNAVAILABLE', 'The claim is still being redeemed.', { retry_after_s: 1 });
const USED = refuse('CONFLICT', 'The claim was redeemed by another device.');

const REFUSALS: Record<RefusedOutcome, Refusal> = {
  bound_elsewhere: refuse('CONFLICT', 'The device is bound to another account; its owner must remove it first.'),
  wrong_kind: refuse('CONFLICT', 'An owner claim is for a personal device, a session claim for a shared one.'),
  in_session: refuse('CONFLICT', 'The recorder is in an open session, or about to be; end that first.'),
  address_taken: refuse('CONFLICT', 'Another open session has reported this ble_address.'),
  gone: refuse('NOT_FOUND', 'The claim is unknown or has expired.'),
  removed: refuse('UNAVAILABLE', 'The device is being removed from the account; redeem the claim again.', {
    retry_after_s: 1,
  }),
};

/** One that is there. */
const known = given((state: Claim | null) => state ?? UNKNOWN);

export const claim = defineActor<Claim>()({
  kind: 'claim',
  home: 'id',
  schema: 1,
  messages: {
    create: (state, terms: ClaimTerms, { now_ms }) =>
      state === null
        ? created({ kind: 'owner', expires_at_ms: now_ms + LIMITS.claim_owner_life_ms, ...terms })
        : { reply: state },

    create_for_session: (state, terms: ClaimTerms & { expires_at_ms: number }) =>
      state === null ? created({ kind: 'session', ...terms }) : { reply: state },

    view: { reads: true, decide: known((state) => ({ reply: state })) },

    /** By a device that has shown the claim's secret; the caller has held it against `secret_hash`. */
    redeem: known((state, { device_id, ble_address = '' }: Redemption, { self, now_ms }): Decision<Claim, Claim> => {
      const { redemption } = state;
      if (redemption.status !== 'open' && redemption.device_id !== device_id) return { reply: USED };
      if (redemption.status === 'bound') return { reply: state };
      // Asked already: the device gets the answer once, so that a late repeat can't bind what was unbound meanwhile.
      if (redemption.status === 'asked') return { reply: state };
      if (now_ms >= state.expires_at_ms) return { reply: UNKNOWN };
      const { kind, account_id, binding_epoch, source_id } = state;
      const terms = { claim_id: self, account_id, binding_epoch, source_id };
      const message: BindOrder =
        kind === 'owner' ? { type: 'bind', ...terms } : { type: 'bind_session', ...terms, ble_address };
      const next: Claim = { ...state, redemption: { status: 'asked', device_id } };
      return { reply: next, next, effects: [{ effect: 'notify', to: { kind: 'device', id: device_id }, message }] };
    }),

    answered: known((state, { device_id, outcome, binding_epoch }: Answered): Decision<Claim, typeof DONE> => {
      const { redemption } = state;
      if (redemption.status !== 'asked' || redemption.device_id !== device_id) return { reply: DONE };
      if (outcome !== 'bound')
        return { reply: DONE, next: { ...state, redemption: { status: 'open', refused: { device_id, outcome } } } };
      const epoch = binding_epoch ?? state.binding_epoch;
      return { reply: DONE, next: { ...state, binding_epoch: epoch, redemption: { status: 'bound', device_id } } };
    }),

    /** Says whether this device has redeemed the claim. */
    outcome: {
      reads: true,
      decide: known((state, { device_id }: { device_id: string }) => {
        const { redemption } = state;
        if (redemption.status === 'bound' && redemption.device_id === device_id) return { reply: state };
        if (redemption.status === 'open' && redemption.refused?.device_id === device_id)
          return { reply: REFUSALS[redemption.refused.outcome] };
        return { reply: STILL_REDEEMED };
      }),
    },

    run_out(state, _: unknown, { now_ms }) {
      // A redeemed claim stays a while: the same device with the same claim gets the same answer.
      if (state === null || state.redemption.status === 'open') return { reply: DONE, next: null };
      const end_ms = state.expires_at_ms + LIMITS.claim_redeemed_keep_ms;
      return now_ms >= end_ms ? { reply: DONE, next: null } : { reply: DONE, effects: [scheduleExpiry(end_ms)] };
    },
  },
});

type Redemption = { device_id: string; ble_address?: string };
/** `binding_epoch`: what a personal device is bound by, which may have been there before. */
type Answered = { device_id: string; outcome: 'bound' | RefusedOutcome; binding_epoch?: string };

function created(made: Omit<Claim, 'redemption'>): Decision<Claim, Claim> {
  const next: Claim = { ...made, redemption: { status: 'open' } };
  return { reply: next, next, effects: [scheduleExpiry(next.expires_at_ms)] };
}
