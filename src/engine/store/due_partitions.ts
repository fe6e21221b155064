import { Cluster, type Redis } from 'ioredis';
import { PARTITIONS } from '../../domain/ids.js';
import { keysOf, type PartitionKeys } from './partitions.js';
import { callFunction } from './redis_calls.js';
import { type Backlog, type DueQuestion, type DueQueue, type DueTime, QUEUES } from './store.js';

const ALL = Array.from({ length: PARTITIONS }, (_, partition) => partition);

type Numbered = DueQuestion & { number: number };

/** Asks where something waits, for `firstDue` of the store. */
export async function firstDue(redis: Redis, questions: readonly DueQuestion[]): Promise<DueTime[][]> {
  const answers = questions.map((): DueTime[] => []);
  const numbered = questions.map((question, number) => ({ ...question, number }));
  const asked = numbered.filter(({ partitions }) => partitions.length > 0);
  await onEachServer(redis, partitionsOf(asked), async (partitions) => {
    const here = redis instanceof Cluster ? only(partitions, asked) : asked;
    for (const { number, ...found } of await ask(redis, partitions, here)) answers[number]?.push(found);
  });
  return answers;
}

/** Counts what waits in each partition, for `backlogs` of the store. */
export async function backlogs(redis: Redis, now_ms: number): Promise<Backlog[]> {
  const found: Backlog[] = [];
  await onEachServer(redis, ALL, async (partitions) => {
    const names = [keysOf(0).deadLetters, keysOf(0).dueEndpoints].map(endOf);
    const told = (await callFunction(redis, () =>
      redis.fcall('spool_backlogs_v2', 1, ...prefixesOf(partitions), now_ms, ...names),
    )) as (string | number)[];
    const none = { count: 0, oldest_ms: null, oldest_id: null };
    const here = partitions.map((partition): Backlog => ({ partition, dead_letters: 0, endpoints: none }));
    for (let at = 0; at < told.length; at += 5) {
      const [place, dead_letters, count, oldest_id, oldest_ms] = told.slice(at, at + 5);
      here[Number(place) - 1] = {
        partition: partitions[Number(place) - 1] as number,
        dead_letters: Number(dead_letters),
        endpoints: {
          count: Number(count),
          oldest_ms: oldest_ms === '' ? null : Number(oldest_ms),
          oldest_id: oldest_id === '' ? null : String(oldest_id),
        },
      };
    }
    found.push(...here);
  });
  return found;
}

/** Makes the leased work of ended members due, for `takeBack` of the store. */
export async function takeBack(
  redis: Redis,
  partitions: readonly number[],
  { gone, now_ms }: { gone: ReadonlySet<string>; now_ms: number },
): Promise<number> {
  const names = QUEUES.map((queue) => keysOf(0).queue(queue)).flatMap(({ due, holders }) => [
    endOf(due),
    endOf(holders),
  ]);
  let count = 0;
  await onEachServer(redis, partitions, async (some) => {
    const keys = some.map((partition) => keysOf(partition).prefix);
    const args = [now_ms, [...gone].join(' '), ...names];
    count += Number(await callFunction(redis, () => redis.fcall('spool_take_back_v2', keys.length, ...keys, ...args)));
  });
  return count;
}

/**
 * Makes one call for all partitions, or on a cluster one for each, since the keys of a call must share a slot there.
 * Leaves out partitions whose master is away, unless all are.
 */
async function onEachServer(
  redis: Redis,
  partitions: readonly number[],
  call: (partitions: readonly number[]) => Promise<void>,
): Promise<void> {
  if (partitions.length === 0) return;
  if (!(redis instanceof Cluster)) return call(partitions);
  const calls = await Promise.allSettled(partitions.map((partition) => call([partition])));
  const [first] = calls;
  if (first?.status === 'rejected' && calls.every(({ status }) => status === 'rejected')) throw first.reason;
}

async function ask(
  redis: Redis,
  partitions: readonly number[],
  questions: readonly Numbered[],
): Promise<(DueTime & { number: number })[]> {
  const places = new Uint16Array(PARTITIONS);
  for (const [at, partition] of partitions.entries()) places[partition] = at + 1;
  // Most questions are about the same partitions.
  const lists = new Map<readonly number[], string>();
  const listOf = (some: readonly number[]) => {
    const list = lists.get(some) ?? some.map((partition) => places[partition]).join(' ');
    lists.set(some, list);
    return list;
  };
  const args = questions.flatMap(({ queue, partitions: some }) => {
    const listed = some.length === partitions.length ? '' : listOf(some);
    return [queue === 'outbox' ? 'stream' : 'times', endOf(dueKey(queue, keysOf(0))), listed];
  });
  const told = (await callFunction(redis, () =>
    redis.fcall('spool_due_v2', 1, ...prefixesOf(partitions), ...args),
  )) as (number | string)[];
  return Array.from({ length: told.length / 3 }, (_, nth) => ({
    number: (questions[(told[nth * 3] as number) - 1] as Numbered).number,
    partition: partitions[(told[nth * 3 + 1] as number) - 1] as number,
    at_ms: Number(told[nth * 3 + 2]),
  }));
}

/** Prefixes of keys: that of the first of these partitions, which routes the call, and those of all in one text. */
function prefixesOf(partitions: readonly number[]): [string, string] {
  const prefixes = partitions.map((partition) => keysOf(partition).prefix);
  return [prefixes[0] ?? '', prefixes.join(' ')];
}

function partitionsOf(questions: readonly Numbered[]): number[] {
  const is_asked = new Uint8Array(PARTITIONS);
  for (const { partitions } of questions) for (const partition of partitions) is_asked[partition] = 1;
  return ALL.filter((partition) => is_asked[partition] === 1);
}

function only(partitions: readonly number[], questions: readonly Numbered[]): Numbered[] {
  return questions.flatMap((question) => {
    const some = question.partitions.filter((partition) => partitions.includes(partition));
    return some.length === 0 ? [] : [{ ...question, partitions: some }];
  });
}

/** The key of a queue: a stream for an outbox, else a sorted set of due times. */
export function dueKey(queue: DueQueue, keys: PartitionKeys): string {
  if (typeof queue === 'object') return keys.index(queue.owner, queue.index);
  switch (queue) {
    case 'reminders':
      return keys.reminders;
    case 'endpoints':
      return keys.dueEndpoints;
    case 'event_logs':
      return keys.oldestEvents;
    case 'audio_sweeps':
      return keys.sweeps;
    case 'outbox':
      return keys.outbox;
    default:
      return keys.queue(queue).due;
  }
}

/** The part of a key of the first partition after the prefix of all its keys. */
function endOf(key: string): string {
  return key.slice(keysOf(0).prefix.length);
}
