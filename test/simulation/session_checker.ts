import type { BoundDevice } from '../../actors/accounts/account_devices.js';
import type { Account } from '../../actors/accounts/account_state.js';
import type { BleAddress } from '../../actors/devices/ble_address.js';
import type { Device } from '../../actors/devices/device.js';
import { type DeviceSession, endOf, recorderOf, type SessionPhase } from '../../actors/devices/device_session_state.js';
import { decodeStored } from '../../src/engine/store/codec.js';
import { decodeEvent } from '../../src/engine/store/event_body.js';
import type { Ledger } from './ledger.js';
import type { Applied, ModelStore } from './model_store.js';

type Event = { account_id: string; type: string; resource: { id: string }; data: { participant_id?: string } };
type Must = (holds: boolean, text: string) => void;

const ORDER: SessionPhase['status'][] = ['waiting', 'open', 'draining', 'ended'];

/** What commits have done to recorder sessions, as the store saw them. */
export class SessionHistory {
  readonly #must: Must;
  readonly #sessions = new Map<string, DeviceSession>();
  /** Events by account, type, resource and, where it tells, who joined or left. */
  readonly events = new Map<string, number>();

  constructor(ledger: Ledger) {
    this.#must = (holds, text) => ledger.mustHold(holds, text);
  }

  see({ place, commit }: Applied): void {
    for (const write of commit.effects) {
      if (write.effect !== 'append_event') continue;
      const { account_id, type, resource, data } = decodeEvent(write) as unknown as Event;
      if (!type.startsWith('device_session.')) continue;
      const what = `${account_id} ${type} ${resource.id}${data.participant_id ?? ''}`;
      this.events.set(what, (this.events.get(what) ?? 0) + 1);
    }
    const { kind, id } = place.address;
    if (kind !== 'device_session') return;
    const is = stateOf(commit.snapshot) as DeviceSession | null;
    if (is === null) {
      this.#sessions.delete(id);
      return;
    }
    const was = this.#sessions.get(id);
    const back = ORDER.indexOf(is.phase.status) < ORDER.indexOf(was?.phase.status ?? 'waiting');
    this.#must(!back, `session ${id} went from ${was?.phase.status} to ${is.phase.status}`);
    const reason = was === undefined ? undefined : endOf(was)?.end_reason;
    this.#must(reason === undefined || reason === endOf(is)?.end_reason, `session ${id} ended for two reasons`);
    this.#sessions.set(id, is);
    if (is.phase.status !== 'open' || was?.phase.status === 'open') return;
    // At no moment are two sessions open with one address, or on one recorder.
    const { ble_address, device_id } = is.phase.recorder;
    for (const [other_id, { phase }] of this.#sessions) {
      if (other_id === id || phase.status !== 'open') continue;
      this.#must(phase.recorder.ble_address !== ble_address, `${other_id} and ${id} are open with ${ble_address}`);
      this.#must(phase.recorder.device_id !== device_id, `${other_id} and ${id} are open on ${device_id}`);
    }
  }

  times(account_id: string, type: string, of: string): number {
    return this.events.get(`${account_id} device_session.${type} ${of}`) ?? 0;
  }
}

/** Once nothing is under way, everybody who has a part in a session says the same of it. */
export function checkSessions(model: ModelStore, history: SessionHistory, { ledger }: { ledger: Ledger }): void {
  const must: Must = (holds, text) => ledger.mustHold(holds, text);
  const all = <State>(kind: string): Map<string, State> =>
    new Map(
      [...model.entities()].flatMap(({ address, snapshot }) => {
        const state = stateOf(snapshot) as State | null;
        return address.kind === kind && state !== null ? [[address.id, state]] : [];
      }),
    );
  const sessions = all<DeviceSession>('device_session');
  const accounts = all<Account>('account');
  const devices = all<Device>('device');
  const addresses = all<BleAddress>('ble_address');
  const held = new Set<string>();
  const bound = new Set<string>();

  for (const [id, session] of sessions) {
    const { phase, host_account_id: host } = session;
    const recorder = recorderOf(session);
    const account = accounts.get(host);
    const is_alive = phase.status !== 'ended';
    must(account?.sessions.includes(id) === is_alive, `session ${id} is ${phase.status}; its host says otherwise`);
    must(
      history.times(host, 'started', id) === (recorder === null ? 0 : 1),
      `session ${id}: started was not told once`,
    );
    const ends = endOf(session) === null ? 0 : 1;
    must(history.times(host, 'ended', id) === ends, `session ${id}: ended was not told ${ends} times`);
    if (phase.status === 'open') {
      held.add(phase.recorder.ble_address);
      bound.add(phase.recorder.device_id);
      const address = addresses.get(phase.recorder.ble_address);
      must(
        address?.holder.session_id === id,
        `session ${id} is open, its address is held by ${JSON.stringify(address)}`,
      );
      const binding = devices.get(phase.recorder.device_id)?.binding;
      must(
        binding?.epoch === id && binding.draining !== true,
        `session ${id} is open, its recorder is bound otherwise`,
      );
    }
    // One that drains may have been followed by another, which has ended since.
    if (phase.status === 'open') {
      const row = recordsOf<BoundDevice>(model, host, 'devices').get(phase.recorder.device_id);
      must(row !== undefined && row.kind === 'shared', `session ${id} is ${phase.status}, its host lists no recorder`);
    }
    for (const { account_id } of session.participants) {
      const [joined, left] = [
        history.times(account_id, 'joined', id + account_id),
        history.times(account_id, 'left', id + account_id),
      ];
      must(
        joined === left + 1,
        `${account_id} takes part in ${id}, heard of joining ${joined} and leaving ${left} times`,
      );
    }
  }
  for (const [id, { sessions: hosted }] of accounts) {
    for (const session_id of hosted)
      must(sessions.has(session_id), `account ${id} keeps ${session_id}, which is not there`);
    for (const [device_id, row] of recordsOf<BoundDevice>(model, id, 'devices')) {
      if (row.kind !== 'shared') continue;
      const session = sessions.get(row.binding_epoch);
      const is_its = session !== undefined && recorderOf(session)?.device_id === device_id;
      must(is_its && session.phase.status !== 'ended', `account ${id} lists ${device_id} for ${row.binding_epoch}`);
    }
  }
  for (const [id, { kind, binding, redeeming }] of devices) {
    if (kind !== 'shared') continue;
    must(redeeming === null, `recorder ${id} is still on its way into a session`);
    const session = binding === null ? undefined : sessions.get(binding.epoch);
    const is_bound = session !== undefined && session.phase.status !== 'ended' && recorderOf(session)?.device_id === id;
    must(binding === null || is_bound, `recorder ${id} is bound by ${binding?.epoch}, which is over`);
  }
  for (const [ble_address, { holder, asking }] of addresses) {
    must(asking.length === 0, `somebody still asks for ${ble_address}`);
    must(held.has(ble_address), `${ble_address} is held by ${holder.session_id}, which is not open`);
  }
  const streams = new Map<string, string>();
  for (const { session_id, ref, stream_id } of ledger.session_streams) {
    const known = streams.get(`${session_id} ${ref}`) ?? stream_id;
    must(known === stream_id, `${ref} of session ${session_id} became two streams`);
    streams.set(`${session_id} ${ref}`, stream_id);
  }
}

function recordsOf<Value>(model: ModelStore, id: string, collection: string): Map<string, Value> {
  for (const { address, partition } of model.entities()) {
    if (address.kind !== 'account' || address.id !== id) continue;
    const rows = [...model.collection({ address, partition }, collection)];
    return new Map(rows.map(({ id: record, value }) => [record, decodeStored(value) as Value]));
  }
  return new Map();
}

function stateOf(snapshot: Uint8Array): unknown {
  return (decodeStored(snapshot) as { s: unknown }).s;
}
