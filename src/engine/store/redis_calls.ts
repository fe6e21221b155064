import type { Redis } from 'ioredis';
import { loadLibrary } from './redis_connection.js';
import { StoreUnavailable } from './store.js';

const LIBRARY_LOADS_MAX = 4;

/**
 * Calls one of our functions, which are loaded again if Redis has lost them. A call that finds no function has had no
 * effect.
 */
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

export async function storeCall<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw ioErrorOf(error);
  }
}

/** Redis' own refusals are bugs and pass unchanged; any other error means that the outcome is unknown. */
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

function isMissingFunction(error: unknown): boolean {
  return isReplyError(error) && /function not found/i.test(error.message);
}
