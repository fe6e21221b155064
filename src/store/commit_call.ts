import { unreachable } from '../domain/refusals.js';
import { keysOf } from './partitions.js';
import type { Commit, Guard, Verdict, Write } from './store.js';
import { CLOSED_FIELD, ENDPOINT_FIELD, SUBSCRIPTIONS_VERSION, Subscribers } from './subscriptions.js';

/** An ended entity's header outlives every resend; with marks it outlives a long stop of the relay as well. */
const ENDED_HEADER_MS = 30 * 24 * 3_600_000;
/** Longer than an entity that is not used stays in memory: none there may find its header gone. */
const VANISHED_HEADER_MS = 20 * 60_000;
/** Among the lives of an id that is no account's; it is raised once. */
const CLOSED_LIFE = 'closed';
/** Code, key, field and value. */
const GUARD_ARGS = 4;

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
    commit.mode === 'vanish' ? VANISHED_HEADER_MS : ENDED_HEADER_MS,
    commit.writes.some(({ write }) => write === 'event') ? draw_log_epoch() : '',
  ];
  const writes = commit.writes.flatMap((write) => writeArgs(write, commit, { names, key, subscribers }));
  const guards = commit.guards.flatMap((guard) => guardArgs(guard, names, key));
  for (const [account_id, version] of subscribers.relied_on)
    guards.push('S', key(names.subscriptions(account_id)), SUBSCRIPTIONS_VERSION, version);
  args.push(guards.length / GUARD_ARGS, ...guards, ...writes);
  return { keys, args };
}

function guardArgs(guard: Guard, names: ReturnType<typeof keysOf>, key: (name: string) => number): (string | number)[] {
  switch (guard.guard) {
    case 'life':
      return ['L', key(names.lives(guard.account_id)), guard.life, guard.value];
    case 'reminder':
      return ['R', key(names.reminders), guard.member, guard.at_ms];
    case 'open':
      return ['L', key(names.lives(guard.id)), CLOSED_LIFE, 0];
    default:
      return unreachable(guard);
  }
}

function writeArgs(
  write: Write,
  { place: { address }, commit_id }: Commit,
  call: { names: ReturnType<typeof keysOf>; key: (name: string) => number; subscribers: Subscribers },
): (string | number | Buffer)[] {
  const { names, key, subscribers } = call;
  const inbox = () => key(names.inbox(address.id));
  switch (write.write) {
    case 'put_record': {
      const put = ['H', key(names.records(address, write.collection)), write.id, bufferOf(write.value)];
      return write.order === undefined
        ? put
        : [...put, 'Z', key(names.order(address, write.collection)), write.order, write.id];
    }
    case 'drop_record':
      return [
        ...['h', key(names.records(address, write.collection)), write.id],
        ...['z', key(names.order(address, write.collection)), write.id],
      ];
    case 'drop_collection':
      return ['D', key(names.records(address, write.collection)), 'D', key(names.order(address, write.collection))];
    case 'event': {
      const { account_id, type, body, delivered } = write;
      const log = [key(names.log(account_id)), key(names.logHead(account_id)), key(names.oldestEvents)];
      const event = ['E', ...log, account_id, type, body];
      if (!delivered) return event;
      const deliveries = subscribers.of(account_id, type).flatMap(({ endpoint_id, generation }) => {
        const places = [key(names.inbox(endpoint_id)), key(names.wake), key(names.lives(account_id))];
        return ['F', ...places, endpoint_id, generation, type];
      });
      return [...event, ...deliveries];
    }
    case 'tell':
      return ['O', key(names.outbox), key(names.outboxCount), bufferOf(write.body)];
    case 'remind':
      return [
        ...['Z', key(names.reminders), write.at_ms, write.member],
        ...['H', key(names.reminderMessages), write.member, bufferOf(write.body)],
      ];
    case 'forget':
      return ['z', key(names.reminders), write.member, 'h', key(names.reminderMessages), write.member];
    case 'enlist':
      return ['Z', key(names.list(write.account_id, write.list)), write.order, write.member];
    case 'delist':
      return ['z', key(names.list(write.account_id, write.list)), write.member];
    case 'raise':
      return ['N', key(names.lives(write.account_id)), write.life];
    case 'close':
      return ['N', key(names.lives(write.id)), CLOSED_LIFE];
    case 'forget_closed':
      return ['D', key(names.lives(write.id))];
    case 'drop_log':
      return [
        ...['D', key(names.log(write.account_id)), 'D', key(names.logHead(write.account_id))],
        ...['z', key(names.oldestEvents), write.account_id],
      ];
    case 'subscribe': {
      const { account_id, endpoint_id, subscription } = write;
      subscribers.change(account_id, commit_id, ({ endpoints }) => endpoints.set(endpoint_id, subscription));
      const subscriptions = key(names.subscriptions(account_id));
      return [
        ...['H', subscriptions, SUBSCRIPTIONS_VERSION, commit_id],
        ...['H', subscriptions, ENDPOINT_FIELD + endpoint_id, JSON.stringify(subscription)],
      ];
    }
    case 'unsubscribe': {
      const { account_id, endpoint_id } = write;
      subscribers.change(account_id, commit_id, ({ endpoints }) => endpoints.delete(endpoint_id));
      const subscriptions = key(names.subscriptions(account_id));
      return [
        ...['H', subscriptions, SUBSCRIPTIONS_VERSION, commit_id],
        ...['h', subscriptions, ENDPOINT_FIELD + endpoint_id],
      ];
    }
    case 'subscriptions': {
      const { account_id, become } = write;
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
    case 'wake':
      return ['W', key(names.wake), inbox(), address.id, write.at_ms ?? '', write.seen];
    case 'trim_inbox':
      return ['X', inbox(), write.before];
    case 'drop_inbox':
      return ['D', inbox()];
    case 'queue': {
      const queue = names.queue(write.queue);
      return [
        ...['Z', key(queue.due), write.due_ms, write.id],
        ...['H', key(queue.contents), write.id, bufferOf(write.content)],
      ];
    }
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
