import { LIMITS } from '../../src/domain/limits.js';
import { type Decision, DONE, defineActor, type Effect, type MessageOf } from '../actor.js';
import type { Asker, DeviceMessage } from './device.js';

/**
 * A recorder's BLE address, held by the open session that reported it: nobody near two recorders may take one for the
 * other. Before it refuses an asker it asks the holder, whose end may be on its way here. docs/choices.md, "Devices".
 */
export type BleAddress = { holder: { session_id: string; device_id: string }; asking: Asker[] };

export type AddressMessage = MessageOf<typeof bleAddress>;

/** Sent to the account of whoever got it. */
export type ReadyNews = { type: 'session_ready'; ble_address: string } & Asker;
/** Sent to the session that holds it. */
type HoldQuestion = { type: 'ask_hold'; ble_address: string };

export const bleAddress = defineActor<BleAddress>()({
  kind: 'ble_address',
  home: 'hash',
  schema: 1,
  messages: {
    hold(state, asker: Asker, { self }) {
      if (state === null || state.holder.device_id === asker.device_id) return give(self, asker, state?.asking ?? []);
      if (state.asking.length >= LIMITS.address_askers_max) return { reply: DONE, effects: [taken(asker)] };
      const message: HoldQuestion = { type: 'ask_hold', ble_address: self };
      return {
        reply: DONE,
        next: { ...state, asking: [...state.asking, asker] },
        effects: [{ effect: 'notify', to: { kind: 'device_session', id: state.holder.session_id }, message }],
      };
    },

    hold_answered(state, { session_id, holds }: { session_id: string; holds: boolean }, { self }) {
      if (state?.holder.session_id !== session_id) return { reply: DONE };
      if (!holds) return free(self, state);
      return { reply: DONE, next: { ...state, asking: [] }, effects: state.asking.map(taken) };
    },

    release: (state, { session_id }: { session_id: string }, { self }) =>
      state?.holder.session_id === session_id ? free(self, state) : { reply: DONE },
  },
});

type AddressDecision = Decision<BleAddress, typeof DONE>;

/** The first who asked gets it. */
function free(ble_address: string, { asking: [first, ...others] }: BleAddress): AddressDecision {
  if (first === undefined) return { reply: DONE, next: null };
  return give(ble_address, first, others);
}

/** The others have asked for what somebody else holds now. */
function give(ble_address: string, asker: Asker, others: Asker[]): AddressDecision {
  const { session_id, device_id, account_id } = asker;
  const message: ReadyNews = { type: 'session_ready', ble_address, ...asker };
  return {
    reply: DONE,
    next: { holder: { session_id, device_id }, asking: [] },
    effects: [{ effect: 'notify', to: { kind: 'account', id: account_id }, message }, ...others.map(taken)],
  };
}

function taken({ device_id, claim_id }: Asker): Effect {
  const message: DeviceMessage = { type: 'not_bound', claim_id, outcome: 'address_taken' };
  return { effect: 'notify', to: { kind: 'device', id: device_id }, message };
}
