import { refuse, unreachable } from '../src/domain/refusals.js';
import { type Account, isGone } from './account_state.js';
import type { Decision, Effect, OutboxMessage, RangeQuery, RecordQuery, Records } from './actor.js';
import type { BindingMessage } from './binding.js';
import type { ClaimMessage } from './claim.js';
import type { BoundNews, DeviceMessage } from './device.js';
import type { DeviceSessionMessage } from './device_session.js';
import type { SourceMessage, SourceNews } from './source.js';

/**
 * The devices that record for an account: personal ones that are bound to it, and shared ones while they are in a
 * session that it hosts.
 */
export type DevicesMessage =
  /** A personal device was bound; `source_id` is used when the device has no source here yet. */
  BoundNews | SourceNews | { type: 'list_devices'; range: RangeQuery } | { type: 'remove_device'; device_id: string };

/** Collection `devices`, by device id, in the order of binding. */
export type BoundDevice = {
  kind: 'personal' | 'shared';
  bound_at_ms: number;
  /** A shared one's is its session. */
  binding_epoch: string;
  source_id: string;
};

export type ListedDevice = BoundDevice & { id: string; order: number };
export type DevicesReply = { devices: ListedDevice[] } | { done: true };

const DONE = { done: true } as const;
const NO_DEVICE = refuse('NOT_FOUND', 'No such device is bound to this account.');

export function devicesFacts(message: DevicesMessage): RecordQuery[] {
  switch (message.type) {
    case 'device_bound':
      return recorderFacts(message.device_id);
    case 'source_deleted':
      return [{ collection: 'device_sources', id: message.device_id }];
    case 'remove_device':
      return [{ collection: 'devices', id: message.device_id }];
    case 'list_devices':
      return [{ collection: 'devices', range: message.range }];
    default:
      return unreachable(message);
  }
}

export function decideDevices(
  state: Account,
  message: DevicesMessage,
  facts: Records,
  now_ms: number,
): Decision<Account, DevicesReply> {
  switch (message.type) {
    case 'device_bound': {
      const { device_id, binding_epoch, claim_id } = message;
      const was_removed =
        message.again === true && facts.record<BoundDevice>('devices', device_id)?.binding_epoch !== binding_epoch;
      if (isGone(state) || was_removed) {
        const outcome = was_removed ? 'removed' : 'bound_elsewhere';
        const answered: ClaimMessage = { type: 'answered', device_id, outcome };
        return {
          reply: DONE,
          effects: [
            tellDevice(device_id, { type: 'unbind', binding_epoch }),
            { effect: 'notify', to: { kind: 'claim', id: claim_id }, message: answered },
          ],
        };
      }
      const { next, effects } = enter(state, { ...message, kind: 'personal' }, { facts, now_ms }, (source_id) => {
        const { id: account_id, private_workspace } = state;
        const workspace_id = private_workspace.id;
        const open: BindingMessage = { type: 'open', account_id, workspace_id, device_id, source_id, claim_id };
        return { effect: 'notify', to: { kind: 'binding', id: binding_epoch }, message: open };
      });
      return { reply: DONE, next, effects };
    }
    case 'source_deleted': {
      const { device_id, source_id } = message;
      const known = facts.record<{ source_id: string }>('device_sources', device_id);
      if (known?.source_id !== source_id) return { reply: DONE };
      return { reply: DONE, effects: [{ effect: 'delete_record', collection: 'device_sources', id: device_id }] };
    }
    case 'list_devices': {
      const devices = facts.range<BoundDevice>('devices').map(({ id, order, value }) => ({ id, order, ...value }));
      return { reply: { devices } };
    }
    case 'remove_device': {
      const { device_id } = message;
      const bound = facts.record<BoundDevice>('devices', device_id);
      if (bound === undefined) return { reply: NO_DEVICE };
      return {
        reply: DONE,
        next: { ...state, devices: state.devices - 1 },
        effects: [
          { effect: 'delete_record', collection: 'devices', id: device_id },
          ...(bound.kind === 'personal' ? [endBinding(bound)] : endSessions(state, device_id)),
          tellDevice(device_id, { type: 'unbind', binding_epoch: bound.binding_epoch }),
        ],
      };
    }
    default:
      return unreachable(message);
  }
}

/** What `enter` looks up. */
export function recorderFacts(device_id: string): RecordQuery[] {
  return [
    { collection: 'devices', id: device_id },
    { collection: 'device_sources', id: device_id },
  ];
}

/**
 * A device records for the account from here on, under this epoch, and no longer under an earlier one. Its source is
 * the one that it has here already, or a new one; who goes on with it hears of it when it is there.
 */
export function enter(
  state: Account,
  device: { device_id: string; kind: BoundDevice['kind']; binding_epoch: string; source_id: string },
  { facts, now_ms }: { facts: Records; now_ms: number },
  goOnWith: (source_id: string) => OutboxMessage,
): { next: Account; effects: Effect[] } {
  const { device_id, kind, binding_epoch } = device;
  const before = facts.record<BoundDevice>('devices', device_id);
  const known_source = facts.record<{ source_id: string }>('device_sources', device_id)?.source_id;
  const source_id = known_source ?? device.source_id;
  const bound_at_ms = before?.binding_epoch === binding_epoch ? before.bound_at_ms : now_ms;
  const bound: BoundDevice = { kind, bound_at_ms, binding_epoch, source_id };
  const effects: Effect[] = [
    { effect: 'put_record', collection: 'devices', id: device_id, value: bound, order: bound_at_ms },
  ];
  // A session that still drains goes on beside the next one.
  if (before?.kind === 'personal' && before.binding_epoch !== binding_epoch) effects.push(endBinding(before));
  const goes_on = goOnWith(source_id);
  if (known_source === undefined) {
    const create: SourceMessage = { type: 'create', account_id: state.id, device_id, goes_on };
    effects.push(
      { effect: 'put_record', collection: 'device_sources', id: device_id, value: { source_id } },
      { effect: 'notify', to: { kind: 'source', id: source_id }, message: create },
    );
  } else effects.push(goes_on);
  const next = { ...state, devices: state.devices + (before === undefined ? 1 : 0) };
  return { next, effects };
}

function endBinding({ binding_epoch: id }: BoundDevice): Effect {
  const end: BindingMessage = { type: 'end' };
  return { effect: 'notify', to: { kind: 'binding', id }, message: end };
}

/** Its session, and any earlier one that still drains; those of other recorders do not mind. */
function endSessions({ sessions }: Account, device_id: string): Effect[] {
  const removed: DeviceSessionMessage = { type: 'device_removed', device_id };
  return sessions.map((id) => ({ effect: 'notify', to: { kind: 'device_session', id }, message: removed }));
}

function tellDevice(id: string, message: DeviceMessage): Effect {
  return { effect: 'notify', to: { kind: 'device', id }, message };
}
