import { refuse } from '../../src/domain/refusals.js';
import {
  DONE,
  type DoneDecision,
  type Effect,
  type Facts,
  messagesOf,
  type OutboxMessage,
  type RangeQuery,
  type RecordQuery,
} from '../actor.js';
import type { BindingMessage } from '../devices/binding.js';
import type { ClaimMessage } from '../devices/claim.js';
import type { BoundNews, DeviceMessage } from '../devices/device.js';
import type { DeviceSessionMessage } from '../devices/device_session.js';
import type { SourceMessage, SourceNews } from '../recordings/source.js';
import { type Account, isGone, ofAccount } from './account_state.js';

/** Collection `devices`, by device id, in the order of binding. */
export type BoundDevice = {
  kind: 'personal' | 'shared';
  bound_at_ms: number;
  /** The session of a shared device. */
  binding_epoch: string;
  source_id: string;
};

export type ListedDevice = BoundDevice & { id: string; order: number };

const NO_DEVICE = refuse('NOT_FOUND', 'No such device is bound to this account.');

/**
 * The devices that record for an account: personal ones that are bound to it, and shared ones while they are in a
 * session that it hosts.
 */
export const deviceMessages = messagesOf<Account>()({
  /** A personal device was bound; `source_id` is used when the device has no source here yet. */
  device_bound: {
    records: ({ device_id }: Bound) => recorderRecords(device_id),
    decide: ofAccount((state, news: Bound, facts): DoneDecision<Account> => {
      const { device_id, binding_epoch, claim_id } = news;
      const was_removed =
        news.again === true && facts.record<BoundDevice>('devices', device_id)?.binding_epoch !== binding_epoch;
      if (isGone(state) || was_removed) {
        const outcome = was_removed ? 'removed' : 'bound_elsewhere';
        const message: ClaimMessage = { type: 'answered', device_id, outcome };
        const answered: Effect = { effect: 'notify', to: { kind: 'claim', id: claim_id }, message };
        return { reply: DONE, effects: [notifyDevice(device_id, { type: 'unbind', binding_epoch }), answered] };
      }
      const entered = enter(state, { ...news, kind: 'personal' }, facts, (source_id) => {
        const { id: account_id, private_workspace } = state;
        const workspace_id = private_workspace.id;
        return notifyBinding(binding_epoch, { type: 'open', account_id, workspace_id, device_id, source_id, claim_id });
      });
      return { reply: DONE, ...entered };
    }),
  },

  source_deleted: {
    records: ({ device_id }: Omit<SourceNews, 'type'>) => [{ collection: 'device_sources', id: device_id }],
    decide: ofAccount((_, { device_id, source_id }: Omit<SourceNews, 'type'>, facts): DoneDecision<Account> => {
      const known = facts.record<{ source_id: string }>('device_sources', device_id);
      if (known?.source_id !== source_id) return { reply: DONE };
      return { reply: DONE, effects: [{ effect: 'delete_record', collection: 'device_sources', id: device_id }] };
    }),
  },

  list_devices: {
    records: ({ range }: { range: RangeQuery }) => [{ collection: 'devices', range }],
    decide: ofAccount((_, __: { range: RangeQuery }, facts) => {
      const rows = facts.range<BoundDevice>('devices');
      const devices: ListedDevice[] = rows.map(({ id, order, value }) => ({ id, order, ...value }));
      return { reply: { devices } };
    }),
  },

  remove_device: {
    records: ({ device_id }: { device_id: string }) => [{ collection: 'devices', id: device_id }],
    decide: ofAccount((state, { device_id }: { device_id: string }, facts): DoneDecision<Account> => {
      const bound = facts.record<BoundDevice>('devices', device_id);
      if (bound === undefined) return { reply: NO_DEVICE };
      const { kind, binding_epoch } = bound;
      const is_in_session = kind === 'shared' && state.sessions.includes(binding_epoch);
      return {
        reply: DONE,
        next: { ...state, devices: state.devices - 1 },
        effects: [
          { effect: 'delete_record', collection: 'devices', id: device_id },
          ...(kind === 'personal'
            ? [endBinding(state, device_id, bound)]
            : endSessions(state, { device_id, binding_epoch })),
          // A session lets go of its recorder itself when it has ended, so that no other begins with it before.
          ...(is_in_session ? [] : [notifyDevice(device_id, { type: 'unbind', binding_epoch })]),
        ],
      };
    }),
  },
});

type Bound = Omit<BoundNews, 'type'>;

/** Records that `enter` needs. */
export function recorderRecords(device_id: string): RecordQuery[] {
  return [
    { collection: 'devices', id: device_id },
    { collection: 'device_sources', id: device_id },
  ];
}

/**
 * Lets a device record for the account under this epoch, and no longer under an earlier one. Its source is the one that
 * it has here already, or a new one. `next`: the message sent once the source exists.
 */
export function enter(
  state: Account,
  device: { device_id: string; kind: BoundDevice['kind']; binding_epoch: string; source_id: string },
  facts: Facts,
  next: (source_id: string) => OutboxMessage,
): { next: Account; effects: Effect[] } {
  const { device_id, kind, binding_epoch } = device;
  const before = facts.record<BoundDevice>('devices', device_id);
  const known_source = facts.record<{ source_id: string }>('device_sources', device_id)?.source_id;
  const source_id = known_source ?? device.source_id;
  const bound_at_ms = before?.binding_epoch === binding_epoch ? before.bound_at_ms : facts.now_ms;
  const bound: BoundDevice = { kind, bound_at_ms, binding_epoch, source_id };
  const effects: Effect[] = [
    { effect: 'put_record', collection: 'devices', id: device_id, value: bound, order: bound_at_ms },
  ];
  // A draining session continues beside the next one.
  if (before?.kind === 'personal' && before.binding_epoch !== binding_epoch)
    effects.push(endBinding(state, device_id, before));
  const goes_on = next(source_id);
  if (known_source === undefined) {
    const create: SourceMessage = { type: 'create', account_id: state.id, device_id, goes_on };
    effects.push(
      { effect: 'put_record', collection: 'device_sources', id: device_id, value: { source_id } },
      { effect: 'notify', to: { kind: 'source', id: source_id }, message: create },
    );
  } else effects.push(goes_on);
  return { next: { ...state, devices: state.devices + (before === undefined ? 1 : 0) }, effects };
}

/** Also removes a device that is not open yet: the message that opens it may still wait for its source. */
function endBinding(state: Account, device_id: string, { binding_epoch, source_id }: BoundDevice): Effect {
  const { id: account_id, private_workspace } = state;
  const unopened = { account_id, workspace_id: private_workspace.id, device_id, source_id };
  return notifyBinding(binding_epoch, { type: 'end', unopened });
}

function notifyBinding(id: string, message: BindingMessage): OutboxMessage {
  return { effect: 'notify', to: { kind: 'binding', id }, message };
}

/**
 * Ends the recorder's session and any earlier session of it that still drains. Sessions of other recorders are not
 * affected.
 */
function endSessions({ sessions }: Account, recorder: { device_id: string; binding_epoch: string }): Effect[] {
  const removed: DeviceSessionMessage = { type: 'device_removed', ...recorder };
  return sessions.map((id) => ({ effect: 'notify', to: { kind: 'device_session', id }, message: removed }));
}

function notifyDevice(id: string, message: DeviceMessage): Effect {
  return { effect: 'notify', to: { kind: 'device', id }, message };
}
