import { unreachable } from '../../domain/refusals.js';
import {
  COMMIT_ID_BYTES,
  ENTRY_BYTES,
  type EntityVersion,
  FENCE_BYTES,
  type StoredVersion,
  versionAfter,
} from './entity_version.js';
import type { MsgpackWriter } from './msgpack_writer.js';
import { keysOf, type PartitionKeys } from './partitions.js';
import type { Commit, CommitVerdict, Fence, StoredEffect } from './store.js';
import { CLOSED_FIELD, ENDPOINT_FIELD, SUBSCRIPTIONS_VERSION, type Subscribers } from './subscriptions.js';

/** An ended entity's header outlives every resend; with marks it outlives a long stop of the relay as well. */
const ENDED_HEADER_MS = 30 * 24 * 3_600_000;
/** Longer than an unused entity stays in memory: no entity in memory may find its header deleted. */
const DELETED_HEADER_MS = 20 * 60_000;
/** The value of a closed fence. */
const CLOSED = 'closed';
/** The number of arguments that commit.lua takes for a commit. */
const PARTS = 11;
/** The most arguments of one write: Lua puts them on its stack. */
const TOGETHER_MAX = 1_000;

/** The type of the value at a key, as commit.lua names it; '-' if it is read before the first write, which shows it. */
type KeyType = 'h' | 'z' | 's' | '-';
type Argument = string | number | Uint8Array;
type Write = { code: string; args: Argument[] };
/** Writes that take any number of arguments for one key. */
type ManyCode = 'H' | 'h' | 'Z' | 'z';

/**
 * Writes one commit as commit.lua reads it, and returns the names of its keys. `told_on`: a channel, '' if nobody is
 * told.
 */
export function writeCommit(
  out: MsgpackWriter,
  commit: Commit,
  { draw_log_name, subscribers, told_on }: { draw_log_name: () => string; subscribers: Subscribers; told_on: string },
): readonly string[] {
  const call = new CommitCall(commit, subscribers);
  let has_events = false;
  for (const effect of commit.effects) {
    call.add(effect);
    has_events ||= effect.effect === 'append_event';
  }
  for (const fence of commit.fences) call.fence(fence);
  for (const [account_id, version] of subscribers.relied_on) call.fenceSubscriptions(account_id, version);
  const { expected, commit_id, mode } = commit;
  out.array(PARTS);
  out.begin(COMMIT_ID_BYTES);
  out.putText(commit_id, 'hex');
  out.begin(expected.commit_id === '' ? 0 : ENTRY_BYTES);
  if (expected.commit_id !== '') writeEntry(out, expected);
  writeValue(out, versionAfter(expected, commit_id), commit.snapshot);
  out.text(mode === 'put' ? '' : String(mode === 'delete' ? DELETED_HEADER_MS : ENDED_HEADER_MS));
  out.text(String(commit.now_ms));
  out.text(has_events ? draw_log_name() : '');
  const keys = call.write(out);
  out.text(told_on);
  return keys;
}

function writeValue(out: MsgpackWriter, version: StoredVersion, snapshot: Uint8Array): void {
  const { earlier } = version;
  out.begin(FENCE_BYTES + earlier.length + snapshot.length);
  out.putByte(1 + earlier.length / ENTRY_BYTES);
  writeEntry(out, version);
  out.putText(earlier, 'latin1');
  out.put(snapshot);
}

function writeEntry(out: MsgpackWriter, { commit_id, version }: EntityVersion): void {
  out.putText(commit_id, 'hex');
  out.putNumber(version);
}

/** Gathers the checks and writes of a commit: each key's name once, and writes to one key together. */
class CommitCall {
  readonly #commit: Commit;
  readonly #names: PartitionKeys;
  readonly #subscribers: Subscribers;
  readonly #keys: string[];
  readonly #types: KeyType[] = ['-'];
  readonly #numbers = new Map<string, number>();
  readonly #fences: (string | number)[] = [];
  readonly #writes: Write[] = [];
  /** The last write to each key, if it can take more arguments. */
  readonly #open: (Write | undefined)[] = [];

  constructor(commit: Commit, subscribers: Subscribers) {
    this.#commit = commit;
    this.#names = keysOf(commit.place.partition);
    this.#subscribers = subscribers;
    this.#keys = [this.#names.entity(commit.place.address)];
  }

  #key(name: string, type: KeyType): number {
    let number = this.#numbers.get(name);
    if (number === undefined) {
      number = this.#keys.push(name);
      this.#types.push(type);
      this.#numbers.set(name, number);
    } else if (type !== '-') this.#types[number - 1] = type;
    return number;
  }

  #many(code: ManyCode, name: string, ...args: (string | Uint8Array)[]): void {
    const key = this.#key(name, code === 'H' || code === 'h' ? 'h' : 'z');
    let write = this.#open[key];
    if (write === undefined || write.code !== code || write.args.length > TOGETHER_MAX) {
      write = { code, args: [key, 0] };
      this.#open[key] = write;
      this.#writes.push(write);
    }
    write.args.push(...args);
  }

  #one(code: string, keys: number[], ...args: (string | Uint8Array)[]): void {
    for (const key of keys) this.#open[key] = undefined;
    this.#writes.push({ code, args: [...keys, ...args] });
  }

  #drop(name: string): void {
    this.#one('D', [this.#key(name, '-')]);
  }

  fence(fence: Fence): void {
    const names = this.#names;
    switch (fence.fence) {
      case 'epoch':
        this.#fence('L', names.epochs(fence.account_id), fence.epoch, String(fence.value));
        break;
      case 'reminder':
        this.#fence('R', names.reminders, fence.member, String(fence.at_ms));
        break;
      case 'open':
        this.#fence('L', names.fence(fence.id), CLOSED, '0');
        break;
      case 'absent':
        this.#fence('A', names.records(this.#commit.place.address, fence.collection), fence.id, '');
        break;
      default:
        unreachable(fence);
    }
  }

  fenceSubscriptions(account_id: string, version: string): void {
    this.#fence('S', this.#names.subscriptions(account_id), SUBSCRIPTIONS_VERSION, version);
  }

  #fence(code: string, key: string, field: string, value: string): void {
    this.#fences.push(code, this.#key(key, '-'), field, value);
  }

  add(effect: StoredEffect): void {
    const names = this.#names;
    const { address } = this.#commit.place;
    switch (effect.effect) {
      case 'put_record':
        this.#many('H', names.records(address, effect.collection), effect.id, effect.value);
        if (effect.order !== undefined)
          this.#many('Z', names.order(address, effect.collection), String(effect.order), effect.id);
        break;
      case 'delete_record':
        this.#many('h', names.records(address, effect.collection), effect.id);
        this.#many('z', names.order(address, effect.collection), effect.id);
        break;
      case 'delete_collection':
        this.#drop(names.records(address, effect.collection));
        this.#drop(names.order(address, effect.collection));
        break;
      case 'append_event':
        this.#appendEvent(effect);
        break;
      case 'notify':
        this.#one('O', [this.#key(names.outbox, 's'), this.#key(names.outboxCount, '-')], effect.body);
        break;
      case 'schedule_reminder':
        this.#many('Z', names.reminders, String(effect.at_ms), effect.member);
        this.#many('H', names.reminderMessages, effect.member, effect.body);
        break;
      case 'cancel_reminder':
        this.#many('z', names.reminders, effect.member);
        this.#many('h', names.reminderMessages, effect.member);
        break;
      case 'add_to_index':
        this.#many('Z', names.index(effect.owner, effect.index), String(effect.order), effect.member);
        break;
      case 'remove_from_index':
        this.#many('z', names.index(effect.owner, effect.index), effect.member);
        break;
      case 'mark_changed':
        this.#one('C', [this.#key(names.index(effect.owner, effect.index), 'z')], effect.member);
        break;
      case 'delete_index':
        this.#drop(names.index(effect.owner, effect.index));
        break;
      case 'bump_epoch':
        this.#one('N', [this.#key(names.epochs(effect.account_id), '-')], effect.epoch);
        break;
      case 'close_fence':
        this.#one('N', [this.#key(names.fence(effect.id), '-')], CLOSED);
        break;
      case 'delete_fence':
        this.#drop(names.fence(effect.id));
        break;
      case 'delete_log':
        this.#drop(names.log(effect.account_id));
        this.#drop(names.logHead(effect.account_id));
        this.#many('z', names.oldestEvents, effect.account_id);
        break;
      case 'subscribe':
      case 'unsubscribe':
      case 'set_subscriptions':
        this.#changeSubscriptions(effect);
        break;
      case 'schedule_endpoint': {
        const keys = [this.#key(names.dueEndpoints, 'z'), this.#key(names.deliveryQueue(address.id), 's')];
        this.#one('W', keys, address.id, String(effect.at_ms ?? ''), String(effect.seen));
        break;
      }
      case 'trim_queue':
        this.#one('X', [this.#key(names.deliveryQueue(address.id), 's')], String(effect.before));
        break;
      case 'delete_queue':
        this.#drop(names.deliveryQueue(address.id));
        break;
      case 'enqueue': {
        const queue = names.queue(effect.queue);
        this.#many('Z', queue.due, String(effect.due_ms), effect.id);
        this.#many('H', queue.contents, effect.id, effect.content);
        break;
      }
      default:
        unreachable(effect);
    }
  }

  #appendEvent({ account_id, type, body, delivered }: Extract<StoredEffect, { effect: 'append_event' }>): void {
    const names = this.#names;
    const log = [this.#key(names.log(account_id), 's'), this.#key(names.logHead(account_id), '-')];
    this.#one('E', [...log, this.#key(names.oldestEvents, 'z')], account_id, type, body);
    if (!delivered) return;
    for (const { endpoint_id, enablement } of this.#subscribers.of(account_id, type)) {
      const queue = [this.#key(names.deliveryQueue(endpoint_id), 's'), this.#key(names.dueEndpoints, 'z')];
      this.#one('F', [...queue, this.#key(names.epochs(account_id), 'h')], endpoint_id, String(enablement), type);
    }
  }

  #changeSubscriptions(
    effect: Extract<StoredEffect, { effect: 'subscribe' | 'unsubscribe' | 'set_subscriptions' }>,
  ): void {
    const { account_id } = effect;
    const { commit_id } = this.#commit;
    const name = this.#names.subscriptions(account_id);
    const change = this.#subscribers.change.bind(this.#subscribers);
    if (effect.effect === 'set_subscriptions' && effect.become === 'gone') {
      change(account_id, '', (known) => {
        known.closed = false;
        known.endpoints.clear();
      });
      this.#drop(name);
      return;
    }
    this.#many('H', name, SUBSCRIPTIONS_VERSION, commit_id);
    switch (effect.effect) {
      case 'subscribe': {
        const { endpoint_id, subscription } = effect;
        change(account_id, commit_id, ({ endpoints }) => endpoints.set(endpoint_id, subscription));
        this.#many('H', name, ENDPOINT_FIELD + endpoint_id, JSON.stringify(subscription));
        break;
      }
      case 'unsubscribe':
        change(account_id, commit_id, ({ endpoints }) => endpoints.delete(effect.endpoint_id));
        this.#many('h', name, ENDPOINT_FIELD + effect.endpoint_id);
        break;
      case 'set_subscriptions': {
        const closed = effect.become === 'closed';
        change(account_id, commit_id, (known) => {
          known.closed = closed;
        });
        if (closed) this.#many('H', name, CLOSED_FIELD, '1');
        else this.#many('h', name, CLOSED_FIELD);
        break;
      }
      default:
        unreachable(effect);
    }
  }

  write(out: MsgpackWriter): readonly string[] {
    out.array(this.#keys.length);
    for (const key of this.#keys) out.text(key);
    out.text(this.#types.join(''));
    out.array(this.#fences.length);
    for (const one of this.#fences) writeArgument(out, one);
    out.array(this.#writes.reduce((sum, { args }) => sum + 1 + args.length, 0));
    for (const { code, args } of this.#writes) {
      out.text(code);
      if (MANY.has(code)) args[1] = args.length - 2;
      for (const one of args) writeArgument(out, one);
    }
    return this.#keys;
  }
}

const MANY: ReadonlySet<string> = new Set<ManyCode>(['H', 'h', 'Z', 'z']);

function writeArgument(out: MsgpackWriter, one: Argument): void {
  if (typeof one === 'string') out.text(one);
  else if (typeof one === 'number') out.number(one);
  else out.bytes(one);
}

/** Parses the function's verdict on a commit; 'stale' if the subscriptions have changed meanwhile. */
export function parseVerdict(commit: Commit, verdict: string, number: string | number): CommitVerdict | 'stale' {
  switch (verdict) {
    case 'stale':
      return 'stale';
    case 'applied':
      return { verdict, version: commit.expected.version + 1 };
    case 'repeated':
    case 'conflict':
    case 'forgotten':
      return { verdict, version: Number(number) };
    case 'fenced':
      return { verdict, index: Number(number) - 1 };
    default:
      throw new Error(`commit refused as ${verdict}: ${String(number)}`);
  }
}
