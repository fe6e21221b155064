import { type Spent, spend } from '../../src/domain/budgets.js';
import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import { type Decision, DONE, defineActor, type Effect, type Facts, given, type MessageOf } from '../actor.js';
import type { BindTerms, ClaimMessage, RefusedOutcome } from './claim.js';
import {
  type CertificatesDecision,
  type DeviceCertificates,
  type DeviceCertificatesReply,
  firstCertificate,
  type Renewal,
  renew,
  revoke,
  use,
} from './device_certificates.js';

/** A provisioned recording device and what it is bound to. Its home is its own, not the account's. */
export type Device = {
  kind: 'personal' | 'shared';
  certificates: DeviceCertificates;
  provisioned_at_ms: number;
  last_seen_at_ms: number | null;
  /** The epoch of a shared device is its session; `draining` once that has ended and only uploads continue. */
  binding: { epoch: string; account_id: string; claim_id: string; draining?: true } | null;
  /** The claim of a session that the device is joining. */
  redeeming: string | null;
  /** Tries at pairing codes. */
  code_tries: Spent | null;
};

export type DeviceMessage = MessageOf<typeof device>;

/** Sent to the account that the device was bound to. */
export type BoundNews = {
  type: 'device_bound';
  device_id: string;
  binding_epoch: string;
  source_id: string;
  claim_id: string;
  /** The device was bound to this account already; the epoch stays. */
  again?: true;
};

/** Sent to a BLE address when a device joins a session; the next steps need it as well. */
type HoldRequest = { type: 'hold' } & Asker;
export type Asker = { session_id: string; account_id: string; device_id: string; claim_id: string; source_id: string };

const UNKNOWN = refuse('NOT_FOUND', 'There is no such device.');

const known = given((state: Device | null) => state ?? UNKNOWN);

export const device = defineActor<Device>()({
  kind: 'device',
  home: 'id',
  schema: 1,
  messages: {
    provision(state, { kind, fingerprint, not_after_ms }: Provisioned, { now_ms }) {
      // Its id is random and made for this message: a device that exists has had it before.
      if (state !== null) return { reply: state };
      const next: Device = {
        kind,
        certificates: firstCertificate(fingerprint, not_after_ms),
        provisioned_at_ms: now_ms,
        last_seen_at_ms: null,
        binding: null,
        redeeming: null,
        code_tries: null,
      };
      return { reply: next, next };
    },

    view: { reads: true, decide: known((state) => ({ reply: state })) },

    seen: known((state, _: unknown, { now_ms }): DeviceDecision => {
      const recently = state.last_seen_at_ms !== null && now_ms < state.last_seen_at_ms + LIMITS.touch_every_ms;
      return recently ? { reply: DONE } : { reply: DONE, next: { ...state, last_seen_at_ms: now_ms } };
    }),

    renew: known((state, renewal: Renewal, { now_ms }) =>
      withCertificates(state, renew(state.certificates, renewal, now_ms)),
    ),
    /** The first request with a renewed certificate. */
    use_certificate: known((state, { fingerprint }: { fingerprint: string }) =>
      withCertificates(state, use(state.certificates, fingerprint)),
    ),
    revoke: known((state, _: unknown, { now_ms }) => withCertificates(state, revoke(state.certificates, now_ms))),

    /** Counts a try at a pairing code. */
    try_code: known((state, _: unknown, { now_ms }): DeviceDecision => {
      const budget = { max: LIMITS.pairing_code_tries_max, window_ms: LIMITS.pairing_code_tries_window_ms };
      const code_tries = spend(state.code_tries, budget, now_ms);
      if ('wait_s' in code_tries) {
        const says = `A device has at most ${LIMITS.pairing_code_tries_max} tries at pairing codes in an hour.`;
        return { reply: refuse('TOO_MANY_REQUESTS', says, { retry_after_s: code_tries.wait_s }) };
      }
      return { reply: DONE, next: { ...state, code_tries } };
    }),

    // From a claim that this device redeems:
    bind: known((state, { claim_id, account_id, binding_epoch, source_id }: BindTerms, facts): DeviceDecision => {
      const { self, now_ms } = facts;
      if (state.kind !== 'personal') return { reply: DONE, effects: [answer(facts, claim_id, 'wrong_kind')] };
      if (state.binding !== null && state.binding.account_id !== account_id)
        return { reply: DONE, effects: [answer(facts, claim_id, 'bound_elsewhere')] };
      // The account is notified and opens the binding, which notifies the claim: whoever waits for the claim finds all of it.
      const news = { type: 'device_bound' as const, device_id: self, source_id, claim_id };
      // What was recorded under a binding that stands is still to come under it.
      const message: BoundNews =
        state.binding === null
          ? { ...news, binding_epoch }
          : { ...news, binding_epoch: state.binding.epoch, again: true };
      const binding = state.binding ?? { epoch: binding_epoch, account_id, claim_id };
      return {
        reply: DONE,
        next: { ...state, binding, last_seen_at_ms: now_ms },
        effects: [{ effect: 'notify', to: { kind: 'account', id: account_id }, message }],
      };
    }),

    bind_session: known((state, order: BindTerms & { ble_address: string }, facts): DeviceDecision => {
      const { claim_id, account_id, binding_epoch: session_id, source_id, ble_address } = order;
      const { self, now_ms } = facts;
      if (state.kind !== 'shared') return { reply: DONE, effects: [answer(facts, claim_id, 'wrong_kind')] };
      const is_busy = state.redeeming !== null || (state.binding !== null && !state.binding.draining);
      if (is_busy) return { reply: DONE, effects: [answer(facts, claim_id, 'in_session')] };
      // The address is asked first, then the host's account, then the session, and the claim is notified last.
      const message: HoldRequest = { type: 'hold', session_id, account_id, device_id: self, claim_id, source_id };
      return {
        reply: DONE,
        next: { ...state, redeeming: claim_id, last_seen_at_ms: now_ms },
        effects: [{ effect: 'notify', to: { kind: 'ble_address', id: ble_address }, message }],
      };
    }),

    // From its session. It has begun:
    bound: known((state, { claim_id, account_id, binding_epoch: epoch }: SessionBegun, facts): DeviceDecision => {
      const next = { ...state, binding: { epoch, account_id, claim_id }, redeeming: null };
      return { reply: DONE, next, effects: [answer(facts, claim_id, 'bound')] };
    }),

    /** The session did not begin, or the BLE address is taken. */
    not_bound: known(
      (state, { claim_id, outcome }: { claim_id: string; outcome: RefusedOutcome }, facts): DeviceDecision => ({
        reply: DONE,
        next: { ...state, redeeming: null },
        effects: [answer(facts, claim_id, outcome)],
      }),
    ),

    /** The session is over, but for uploads. */
    draining: known((state, { binding_epoch }: { binding_epoch: string }): DeviceDecision => {
      if (state.binding?.epoch !== binding_epoch) return { reply: DONE };
      return { reply: DONE, next: { ...state, binding: { ...state.binding, draining: true } } };
    }),

    unbind: known(
      (state, { binding_epoch }: { binding_epoch: string }): DeviceDecision =>
        state.binding?.epoch === binding_epoch ? { reply: DONE, next: { ...state, binding: null } } : { reply: DONE },
    ),
  },
});

type DeviceDecision = Decision<Device, typeof DONE>;
type Provisioned = { kind: 'personal' | 'shared'; fingerprint: string; not_after_ms: number };
type SessionBegun = { claim_id: string; account_id: string; binding_epoch: string };

function answer({ self }: Facts, claim_id: string, outcome: 'bound' | RefusedOutcome): Effect {
  const message: ClaimMessage = { type: 'answered', device_id: self, outcome };
  return { effect: 'notify', to: { kind: 'claim', id: claim_id }, message };
}

function withCertificates(
  state: Device,
  { reply, next, effects = [] }: CertificatesDecision,
): Decision<Device, DeviceCertificatesReply> {
  return { reply, effects, ...(next === undefined ? {} : { next: { ...state, certificates: next } }) };
}
