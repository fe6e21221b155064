import { unreachable } from '../domain/refusals.js';
import { keysOf } from './partitions.js';
import type { Commit, Fence, StoredEffect, Verdict } from './store.js';
import { CLOSED_FIELD, ENDPOINT_FIELD, SUBSCRIPTIONS_VERSION, Subscribers } from './subscriptions.js';

/** An ended entity's header outlives every resend; with marks it outlives a long stop of the relay as well. */
const ENDED_HEADER_MS = 30 * 24 * 3_600_000;
/** Longer than an entity that is not used stays in memory: none there may find its header gone. */
const DELETED_HEADER_MS = 20 * 60_000;
/** Of a fence that was closed. */
const CLOSED = 'closed';
/** Code, key, field and value. */
const FENCE_ARGS = 4;

/** The keys and arguments of one commit, as commit.lua reads them. @public for measuring it alone. */
export function commitCall(
  commit: Commit,
  draw_log_epoch: () => string,
  subscribers: Subscribers = new Subscribers(),
): { keys: string[]; args: (string | number | Buffer)[] } {
  const names = keysOf(commit.place.partition);
  const keys: string[] = [names.entity(commit.place.address)];
  const numbers = new Map<string, number>();
  const key = (name: string): number => {
    let number = numbers.get(name);
    if (number === undefined) {
      number = keys.push(name);
      numbers.set(name, number);
    }
    return number;
  };
  const args: (string | number | Buffer)[] = [
    Buffer.from(commit.commit_id, 'hex'),
    commit.expected.version,
    Buffer.from(commit.expected.commit_id, 'hex'),
    commit.mode === 'put' ? 'put' : 'end',
    bufferOf(commit.snapshot),
    commit.now_ms,
    commit.mode === 'delete' ? DELETED_HEADER_MS : ENDED_HEADER_MS,
    commit.effects.some(({ effect }) => effect === 'append_event') ? draw_log_epoch() : '',
  ];
  const effects = commit.effects.flatMap((effect) => effectArgs(effect, commit, { names, key, subscribers }));
  const fences = commit.fences.flatMap((fence) => fenceArgs(fence, names, key));
  for (const [account_id, version] of subscribers.relied_on)
    fences.push('S', key(names.subscriptions(account_id)), SUBSCRIPTIONS_VERSION, version);
  args.push(fences.length / FENCE_ARGS, ...fences, ...effects);
  return { keys, args };
}

function fenceArgs(fence: Fence, names: ReturnType<typeof keysOf>, key: (name: string) => number): (string | number)[] {
  switch (fence.fence) {
    case 'epoch':
      return ['L', key(names.epochs(fence.account_id)), fence.epoch, fence.value];
    case 'reminder':
      return ['R', key(names.reminders), fence.member, fence.at_ms];
    case 'open':
      return ['L', key(names.fence(fence.id)), CLOSED, 0];
    default:
      return unreachable(fence);
  }
}

function effectArgs(
  effect: StoredEffect,
  { place: { address }, commit_id }: Commit,
  call: { names: ReturnType<typeof keysOf>; key: (name: string) => number; subscribers: Subscribers },
): (string | number | Buffer)[] {
  const { names, key, subscribers } = call;
  const queue = () => key(names.deliveryQueue(address.id));
  switch (effect.effect) {
    case 'put_record': {
      const put = ['H', key(names.records(address, effect.collection)), effect.id, bufferOf(effect.value)];
      return effect.order === undefined
        ? put
        : [...put, 'Z', key(names.order(address, effect.collection)), effect.order, effect.id];
    }
    case 'delete_record':
      return [
        ...['h', key(names.records(address, effect.collection)), effect.id],
        ...['z', key(names.order(address, effect.collection)), effect.id],
      ];
    case 'delete_collection':
      return ['D', key(names.records(address, effect.collection)), 'D', key(names.order(address, effect.collection))];
    case 'append_event': {
      const { account_id, type, body, delivered } = effect;
      const log = [key(names.log(account_id)), key(names.logHead(account_id)), key(names.oldestEvents)];
      const event = ['E', ...log, account_id, type, bufferOf(body)];
      if (!delivered) return event;
      const deliveries = subscribers.of(account_id, type).flatMap(({ endpoint_id, generation }) => {
        const places = [key(names.deliveryQueue(endpoint_id)), key(names.dueEndpoints), key(names.epochs(account_id))];
        return ['F', ...places, endpoint_id, generation, type];
      });
      return [...event, ...deliveries];
    }
    case 'notify':
      return ['O', key(names.outbox), key(names.outboxCount), bufferOf(effect.body)];
    case 'schedule_reminder':
      return [
        ...['Z', key(names.reminders), effect.at_ms, effect.member],
        ...['H', key(names.reminderMessages), effect.member, bufferOf(effect.body)],
      ];
    case 'cancel_reminder':
      return ['z', key(names.reminders), effect.member, 'h', key(names.reminderMessages), effect.member];
    case 'add_to_index':
      return ['Z', key(names.index(effect.owner, effect.index)), effect.order, effect.member];
    case 'remove_from_index':
      return ['z', key(names.index(effect.owner, effect.index)), effect.member];
    case 'mark_changed':
      return ['C', key(names.index(effect.owner, effect.index)), effect.member];
    case 'delete_index':
      return ['D', key(names.index(effect.owner, effect.index))];
    case 'bump_epoch':
      return ['N', key(names.epochs(effect.account_id)), effect.epoch];
    case 'close_fence':
      return ['N', key(names.fence(effect.id)), CLOSED];
    case 'delete_fence':
      return ['D', key(names.fence(effect.id))];
    case 'delete_log':
      return [
        ...['D', key(names.log(effect.account_id)), 'D', key(names.logHead(effect.account_id))],
        ...['z', key(names.oldestEvents), effect.account_id],
      ];
    case 'subscribe': {
      const { account_id, endpoint_id, subscription } = effect;
      subscribers.change(account_id, commit_id, ({ endpoints }) => endpoints.set(endpoint_id, subscription));
      const subscriptions = key(names.subscriptions(account_id));
      return [
        ...['H', subscriptions, SUBSCRIPTIONS_VERSION, commit_id],
        ...['H', subscriptions, ENDPOINT_FIELD + endpoint_id, JSON.stringify(subscription)],
      ];
    }
    case 'unsubscribe': {
      const { account_id, endpoint_id } = effect;
      subscribers.change(account_id, commit_id, ({ endpoints }) => endpoints.delete(endpoint_id));
      const subscriptions = key(names.subscriptions(account_id));
      return [
        ...['H', subscriptions, SUBSCRIPTIONS_VERSION, commit_id],
        ...['h', subscriptions, ENDPOINT_FIELD + endpoint_id],
      ];
    }
    case 'set_subscriptions': {
      const { account_id, become } = effect;
      subscribers.change(account_id, become === 'gone' ? '' : commit_id, (known) => {
        known.closed = become === 'closed';
        if (become === 'gone') known.endpoints.clear();
      });
      const subscriptions = key(names.subscriptions(account_id));
      if (become === 'gone') return ['D', subscriptions];
      return [
        ...['H', subscriptions, SUBSCRIPTIONS_VERSION, commit_id],
        ...(become === 'closed' ? ['H', subscriptions, CLOSED_FIELD, '1'] : ['h', subscriptions, CLOSED_FIELD]),
      ];
    }
    case 'schedule_endpoint':
      return ['W', key(names.dueEndpoints), queue(), address.id, effect.at_ms ?? '', effect.seen];
    case 'trim_queue':
      return ['X', queue(), effect.before];
    case 'delete_queue':
      return ['D', queue()];
    case 'enqueue': {
      const queue = names.queue(effect.queue);
      return [
        ...['Z', key(queue.due), effect.due_ms, effect.id],
        ...['H', key(queue.contents), effect.id, bufferOf(effect.content)],
      ];
    }
    default:
      return unreachable(effect);
  }
}

/** The same bytes as ioredis takes them. */
function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** What the function said of a commit; 'stale' when somebody else subscribes by now. */
export function parseVerdict([verdict, number]: [string, string | number]): Verdict | 'stale' {
  switch (verdict) {
    case 'stale':
      return 'stale';
    case 'applied':
    case 'repeated':
    case 'conflict':
    case 'forgotten':
      return { verdict, version: Number(number) };
    case 'guarded':
      return { verdict, index: Number(number) - 1 };
    default:
      throw new Error(`commit refused as ${verdict}: ${String(number)}`);
  }
}
