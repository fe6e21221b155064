import { LIMITS } from '../src/domain/limits.js';
import { unreachable } from '../src/domain/refusals.js';
import { actorKind, type Decision, type Effect } from './actor.js';
import type { Asker, DeviceMessage, HoldRequest } from './device.js';

/**
 * A recorder's BLE address, held by the open session that reported it: nobody near two recorders may take one for the
 * other. Before it refuses an asker it asks the holder, whose end may be on its way here. Choices: "Devices".
 */
export type BleAddress = { holder: { session_id: string; device_id: string }; asking: Asker[] };

export type AddressMessage =
  | HoldRequest
  | { type: 'hold_answered'; session_id: string; holds: boolean }
  | { type: 'release'; session_id: string };

/** What it tells the account of whoever got it. */
export type ReadyNews = { type: 'session_ready'; ble_address: string } & Asker;
/** What it asks the session that holds it. */
export type HoldQuestion = { type: 'ask_hold'; ble_address: string };

export type AddressReply = { done: true };

const DONE = { done: true } as const;

export const bleAddress = actorKind<BleAddress, AddressMessage, AddressReply>({
  kind: 'ble_address',
  home: 'hash',
  schema: 1,

  decide(state, message, facts): Decision<BleAddress, AddressReply> {
    switch (message.type) {
      case 'hold': {
        const { type: _, ...asker } = message;
        if (state === null || state.holder.device_id === asker.device_id) return give(asker, state?.asking ?? []);
        if (state.asking.length >= LIMITS.address_askers_max) return { reply: DONE, effects: [taken(asker)] };
        return {
          reply: DONE,
          next: { ...state, asking: [...state.asking, asker] },
          effects: [ask(state.holder.session_id)],
        };
      }
      case 'hold_answered': {
        if (state?.holder.session_id !== message.session_id) return { reply: DONE };
        if (!message.holds) return free(state);
        return { reply: DONE, next: { ...state, asking: [] }, effects: state.asking.map(taken) };
      }
      case 'release':
        return state?.holder.session_id === message.session_id ? free(state) : { reply: DONE };

      default:
        return unreachable(message);
    }

    /** The first who asked gets it. */
    function free({ asking: [first, ...others] }: BleAddress): Decision<BleAddress, AddressReply> {
      if (first === undefined) return { reply: DONE, next: null };
      return give(first, others);
    }

    /** The others have asked for what somebody else holds now. */
    function give(asker: Asker, others: Asker[]): Decision<BleAddress, AddressReply> {
      const { session_id, device_id, account_id } = asker;
      const ready: ReadyNews = { type: 'session_ready', ble_address: facts.self, ...asker };
      return {
        reply: DONE,
        next: { holder: { session_id, device_id }, asking: [] },
        effects: [{ effect: 'notify', to: { kind: 'account', id: account_id }, message: ready }, ...others.map(taken)],
      };
    }

    function ask(session_id: string): Effect {
      const question: HoldQuestion = { type: 'ask_hold', ble_address: facts.self };
      return { effect: 'notify', to: { kind: 'device_session', id: session_id }, message: question };
    }
  },
});

function taken({ device_id, claim_id }: Asker): Effect {
  const message: DeviceMessage = { type: 'not_bound', claim_id, outcome: 'address_taken' };
  return { effect: 'notify', to: { kind: 'device', id: device_id }, message };
}
