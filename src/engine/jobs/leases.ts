import { setTimeout as wait } from 'node:timers/promises';
import { isRetryable } from '../store/store.js';

const PROLONG_EVERY_MS = 10_000;
const PUBLISH_TRIES_MAX = 10;
const PUBLISH_PAUSE_MS = 1_000;

export const LEASE_MS = 30_000;

/** Prolongs a lease now and then while the work goes on. */
export async function prolonging<T>(prolong: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  // A lease that is lost shows when the result is published.
  const timer = setInterval(() => void prolong().catch(() => {}), PROLONG_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Publishes a result; while storage is away, several times. */
export async function persisting<T>(publish: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await publish();
    } catch (error) {
      if (!isRetryable(error) || tries === PUBLISH_TRIES_MAX || signal.aborted) throw error;
    }
    await wait(PUBLISH_PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}
