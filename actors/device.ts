import { LIMITS } from '../src/vocabulary/limits.js';
import { refuse, unreachable } from '../src/vocabulary/refusals.js';
import { actorKind, type Decision, type Effect } from './actor.js';

/** A provisioned recording device and the account it is bound to. Its home is its own, not the account's. */
export type Device = {
  kind: 'personal' | 'shared';
  /** Certificates issued to it, newest last, by SHA-256 fingerprint. */
  fingerprints: string[];
  provisioned_at_ms: number;
  last_seen_at_ms: number | null;
  binding: { epoch: string; account_id: string; claim_id: string } | null;
};

export type DeviceMessage =
  | { type: 'provision'; kind: 'personal' | 'shared'; fingerprint: string }
  | { type: 'view' }
  | { type: 'seen' }
  /** From a claim that this device redeems. */
  | { type: 'bind'; claim_id: string; account_id: string; binding_epoch: string; source_id: string }
  | { type: 'unbind'; binding_epoch: string };

export type DeviceReply = Device | { done: true };

const DONE = { done: true } as const;
const UNKNOWN = refuse('NOT_FOUND', 'There is no such device.');
const FINGERPRINTS_MAX = 8;

export const device = actorKind<Device, DeviceMessage, DeviceReply>({
  kind: 'device',
  home: 'id',
  schema: 1,
  reads: ['view'],

  decide(state, message, facts, now_ms): Decision<Device, DeviceReply> {
    if (message.type === 'provision') {
      const { kind, fingerprint } = message;
      if (state === null) {
        const next = {
          kind,
          fingerprints: [fingerprint],
          provisioned_at_ms: now_ms,
          last_seen_at_ms: null,
          binding: null,
        };
        return { reply: next, next };
      }
      if (state.fingerprints.includes(fingerprint)) return { reply: state };
      const next = { ...state, fingerprints: [...state.fingerprints, fingerprint].slice(-FINGERPRINTS_MAX) };
      return { reply: next, next };
    }
    if (state === null) return { reply: UNKNOWN };
    switch (message.type) {
      case 'view':
        return { reply: state };

      case 'seen': {
        const recently = state.last_seen_at_ms !== null && now_ms < state.last_seen_at_ms + LIMITS.touch_every_ms;
        return recently ? { reply: DONE } : { reply: DONE, next: { ...state, last_seen_at_ms: now_ms } };
      }

      case 'bind': {
        const { claim_id, account_id, binding_epoch, source_id } = message;
        const answer = (outcome: 'bound_elsewhere' | 'wrong_kind'): Effect => ({
          effect: 'tell',
          to: { kind: 'claim', id: claim_id },
          message: { type: 'answered', device_id: facts.self, outcome },
        });
        if (state.kind !== 'personal') return { reply: DONE, effects: [answer('wrong_kind')] };
        if (state.binding !== null && state.binding.account_id !== account_id) {
          return { reply: DONE, effects: [answer('bound_elsewhere')] };
        }
        // The account hears of it, opens the binding, and that tells the claim: who waits for the claim finds all of it.
        const told: Effect = {
          effect: 'tell',
          to: { kind: 'account', id: account_id },
          message: { type: 'device_bound', device_id: facts.self, binding_epoch, source_id, claim_id },
        };
        const binding = { epoch: binding_epoch, account_id, claim_id };
        return { reply: DONE, next: { ...state, binding, last_seen_at_ms: now_ms }, effects: [told] };
      }

      case 'unbind':
        if (state.binding?.epoch !== message.binding_epoch) return { reply: DONE };
        return { reply: DONE, next: { ...state, binding: null } };

      default:
        return unreachable(message);
    }
  },
});
