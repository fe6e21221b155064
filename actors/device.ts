import { LIMITS } from '../src/domain/limits.js';
import { refuse, unreachable } from '../src/domain/refusals.js';
import { actorKind, type Decision, type Effect } from './actor.js';
import type { BindOrder, ClaimMessage, RefusedOutcome } from './claim.js';
import {
  type DeviceCertificates,
  type DeviceCertificatesMessage,
  type DeviceCertificatesReply,
  decideCertificates,
  firstCertificate,
} from './device_certificates.js';

/** A provisioned recording device and what it is bound to. Its home is its own, not the account's. */
export type Device = {
  kind: 'personal' | 'shared';
  certificates: DeviceCertificates;
  provisioned_at_ms: number;
  last_seen_at_ms: number | null;
  /** A shared one's epoch is its session; `draining` when that is over and only uploads go on. */
  binding: { epoch: string; account_id: string; claim_id: string; draining?: true } | null;
  /** The claim of a session that it is on its way into. */
  redeeming?: string | undefined;
};

export type DeviceMessage =
  | { type: 'provision'; kind: 'personal' | 'shared'; fingerprint: string; not_after_ms: number }
  | DeviceCertificatesMessage
  | { type: 'view' }
  | { type: 'seen' }
  /** From a claim that this device redeems. */
  | BindOrder
  /** From the session: it has begun. */
  | { type: 'bound'; claim_id: string; account_id: string; binding_epoch: string }
  /** It has not, or the BLE address is taken. */
  | { type: 'not_bound'; claim_id: string; outcome: RefusedOutcome }
  /** From the session: over, but for what is still to be uploaded. */
  | { type: 'draining'; binding_epoch: string }
  | { type: 'unbind'; binding_epoch: string };

/** What it tells the account that it was bound to. */
export type BoundNews = {
  type: 'device_bound';
  device_id: string;
  binding_epoch: string;
  source_id: string;
  claim_id: string;
  /** It was bound to this account already, by this epoch, which stays. */
  again?: true;
};

/** What it asks a BLE address on its way into a session; the next steps need it as well. */
export type HoldRequest = { type: 'hold' } & Asker;
export type Asker = { session_id: string; account_id: string; device_id: string; claim_id: string; source_id: string };

export type DeviceReply = Device | DeviceCertificatesReply | { done: true };

const DONE = { done: true } as const;
const UNKNOWN = refuse('NOT_FOUND', 'There is no such device.');

export const device = actorKind<Device, DeviceMessage, DeviceReply>({
  kind: 'device',
  home: 'id',
  schema: 2,
  reads: ['view'],
  upcast: {
    1: ({ fingerprints, ...kept }: Omit<Device, 'certificates'> & { fingerprints: string[] }): Device => {
      const live = fingerprints.map((fingerprint) => ({ status: 'in_use' as const, fingerprint, not_after_ms: null }));
      return { ...kept, certificates: { live, revoked_at_ms: null, renewals: { began_ms: 0, count: 0 } } };
    },
  },

  decide(state, message, facts, now_ms): Decision<Device, DeviceReply> {
    if (message.type === 'provision') {
      // Its id was drawn for this message: a device that is there heard it before.
      if (state !== null) return { reply: state };
      const next = {
        kind: message.kind,
        certificates: firstCertificate(message.fingerprint, message.not_after_ms),
        provisioned_at_ms: now_ms,
        last_seen_at_ms: null,
        binding: null,
      };
      return { reply: next, next };
    }
    const answer = (claim_id: string, outcome: 'bound' | RefusedOutcome): Effect => {
      const answered: ClaimMessage = { type: 'answered', device_id: facts.self, outcome };
      return { effect: 'notify', to: { kind: 'claim', id: claim_id }, message: answered };
    };
    if (state === null) return { reply: UNKNOWN };
    switch (message.type) {
      case 'view':
        return { reply: state };

      case 'renew':
      case 'use_certificate':
      case 'revoke': {
        const { reply, next, effects = [] } = decideCertificates(state.certificates, message, now_ms);
        return { reply, effects, ...(next === undefined ? {} : { next: { ...state, certificates: next } }) };
      }

      case 'seen': {
        const recently = state.last_seen_at_ms !== null && now_ms < state.last_seen_at_ms + LIMITS.touch_every_ms;
        return recently ? { reply: DONE } : { reply: DONE, next: { ...state, last_seen_at_ms: now_ms } };
      }

      case 'bind': {
        const { claim_id, account_id, binding_epoch, source_id } = message;
        if (state.kind !== 'personal') return { reply: DONE, effects: [answer(claim_id, 'wrong_kind')] };
        if (state.binding !== null && state.binding.account_id !== account_id)
          return { reply: DONE, effects: [answer(claim_id, 'bound_elsewhere')] };
        // The account hears of it, opens the binding, and that tells the claim: who waits for the claim finds all of it.
        const news = { type: 'device_bound' as const, device_id: facts.self, source_id, claim_id };
        // What was recorded under a binding that stands is still to come under it.
        const told: BoundNews =
          state.binding === null
            ? { ...news, binding_epoch }
            : { ...news, binding_epoch: state.binding.epoch, again: true };
        const binding = state.binding ?? { epoch: binding_epoch, account_id, claim_id };
        return {
          reply: DONE,
          next: { ...state, binding, last_seen_at_ms: now_ms },
          effects: [{ effect: 'notify', to: { kind: 'account', id: account_id }, message: told }],
        };
      }
      case 'bind_session': {
        const { claim_id, account_id, binding_epoch: session_id, source_id, ble_address } = message;
        if (state.kind !== 'shared') return { reply: DONE, effects: [answer(claim_id, 'wrong_kind')] };
        const is_busy = state.redeeming !== undefined || (state.binding !== null && !state.binding.draining);
        if (is_busy) return { reply: DONE, effects: [answer(claim_id, 'in_session')] };
        // The address is asked first, then the host's account, then the session, and the claim is told last.
        const hold: HoldRequest = {
          type: 'hold',
          session_id,
          account_id,
          device_id: facts.self,
          claim_id,
          source_id,
        };
        return {
          reply: DONE,
          next: { ...state, redeeming: claim_id, last_seen_at_ms: now_ms },
          effects: [{ effect: 'notify', to: { kind: 'ble_address', id: ble_address }, message: hold }],
        };
      }
      case 'bound': {
        const { claim_id, account_id, binding_epoch: epoch } = message;
        const next = { ...state, binding: { epoch, account_id, claim_id }, redeeming: undefined };
        return { reply: DONE, next, effects: [answer(claim_id, 'bound')] };
      }
      case 'not_bound': {
        const { claim_id, outcome } = message;
        return { reply: DONE, next: { ...state, redeeming: undefined }, effects: [answer(claim_id, outcome)] };
      }
      case 'draining':
        if (state.binding?.epoch !== message.binding_epoch) return { reply: DONE };
        return { reply: DONE, next: { ...state, binding: { ...state.binding, draining: true } } };

      case 'unbind':
        if (state.binding?.epoch !== message.binding_epoch) return { reply: DONE };
        return { reply: DONE, next: { ...state, binding: null } };

      default:
        return unreachable(message);
    }
  },
});
