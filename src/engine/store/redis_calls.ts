import { Command, type Redis } from 'ioredis';
import { loadLibrary } from './redis_connection.js';
import { StoreUnavailable } from './store.js';

const LIBRARY_LOADS_MAX = 4;
const AS_TEXT = { replyEncoding: 'utf8' as const };

/** Calls one of our functions, which are loaded again when they got lost. What the call does not find, it did not do. */
export async function callFunction(redis: Redis, call: () => Promise<unknown>): Promise<unknown> {
  for (let loads = 0; ; loads++) {
    try {
      return await call();
    } catch (error) {
      if (!isMissingFunction(error)) throw ioErrorOf(error);
      if (loads === LIBRARY_LOADS_MAX) {
        throw new StoreUnavailable('storage: its functions get lost', { sent: false });
      }
      await storeCall(loadLibrary(redis));
    }
  }
}

/**
 * Calls a function whose caller hears of it after those whom it tells. Redis serves whoever has something to read in the
 * order in which that came, the last first. Alone the caller's answer would be the last; as a transaction it begins with
 * that to its queueing. Both must arrive together.
 */
export async function callTelling(redis: Redis, call: () => Command): Promise<unknown> {
  const { stream } = redis;
  stream.cork();
  const sent = [new Command('multi'), call(), new Command('exec', [], AS_TEXT)].map(
    (command) => redis.sendCommand(command) as Promise<unknown>,
  );
  process.nextTick(() => stream.uncork());
  const [, queued, executed] = (await Promise.allSettled(sent)) as PromiseSettledResult<unknown>[];
  if (queued?.status === 'rejected') throw queued.reason;
  if (executed?.status !== 'fulfilled') throw executed?.reason;
  const [answer] = executed.value as [unknown];
  if (answer instanceof Error) throw answer;
  return answer;
}

export async function storeCall<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw ioErrorOf(error);
  }
}

/** Redis' own refusals are bugs and pass as they are; everything else means that the outcome is unknown. */
function ioErrorOf(error: unknown): unknown {
  if (error instanceof StoreUnavailable || (isReplyError(error) && !isTransient(error))) return error;
  return new StoreUnavailable(`storage: ${error instanceof Error ? error.message : String(error)}`);
}

function isReplyError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

/** Refusals that say "not now": loading, busy, read-only replica, out of memory, disk errors, slot moves. */
function isTransient(error: Error): boolean {
  return /^(LOADING|BUSY|READONLY|OOM|MISCONF|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|UNKILLABLE)/.test(
    error.message,
  );
}

/** Whether another node of the cluster has the slot. */
export function isRedirected(error: unknown): boolean {
  return isReplyError(error) && /^(MOVED|ASK)\b/.test(error.message);
}

function isMissingFunction(error: unknown): boolean {
  return isReplyError(error) && /function not found/i.test(error.message);
}
