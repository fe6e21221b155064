import type { Redis } from 'ioredis';
import type { Logger } from 'pino';

const LOOK_EVERY_MS = 100;
const WAIT_MAX_MS = 10 * 60_000;

type Rewriting = {
  log: Pick<Logger, 'warn'>;
  /** Looked at while waiting: true gives it up. */
  stopped: () => boolean;
};

/**
 * Has Redis write its append-only file anew, so that nothing deleted is left in it, and waits until it has. False when
 * that was given up; throws when it failed or took too long. A Redis that doesn't let us is the matter of whoever runs
 * it: that is logged, and the start continues.
 */
export async function rewriteAppendOnlyFile(
  redis: Pick<Redis, 'bgrewriteaof' | 'info'>,
  { log, stopped }: Rewriting,
): Promise<boolean> {
  // One in progress may have passed what was deleted since; how it ended is nothing to us.
  if ((await rewritten(redis, stopped)) === 'stopped') return false;
  const refusal = await redis.bgrewriteaof().then(
    () => null,
    (error: Error) => error,
  );
  if (refusal !== null) {
    log.warn(
      { reason: refusal.message },
      'Redis does not rewrite its append-only file; deleted data stays in it for now',
    );
    return true;
  }
  const outcome = await rewritten(redis, stopped);
  if (outcome === 'failed') throw new Error('Redis could not rewrite its append-only file');
  return outcome === 'ok';
}

async function rewritten(redis: Pick<Redis, 'info'>, stopped: () => boolean): Promise<'ok' | 'failed' | 'stopped'> {
  for (const until_ms = performance.now() + WAIT_MAX_MS; performance.now() < until_ms; ) {
    const info = await redis.info('persistence');
    if (!/^aof_rewrite_(in_progress|scheduled):1/m.test(info))
      return /^aof_last_bgrewrite_status:err/m.test(info) ? 'failed' : 'ok';
    if (stopped()) return 'stopped';
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  throw new Error('Redis takes too long to rewrite its append-only file');
}
