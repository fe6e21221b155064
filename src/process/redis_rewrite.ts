import type { Redis } from 'ioredis';
import type { Logger } from 'pino';

const LOOK_EVERY_MS = 100;
const WAIT_MAX_MS = 10 * 60_000;

/**
 * Has Redis write its append-only file anew, so that nothing deleted is left in it, and waits until it has. A Redis
 * that doesn't let us is the matter of whoever runs it: that is said, and we go on.
 */
export async function rewriteAppendOnlyFile(redis: Redis, log: Pick<Logger, 'warn'>): Promise<void> {
  await rewritten(redis); // one under way may have passed what was deleted since
  const refusal = await redis.bgrewriteaof().then(
    () => null,
    (error: Error) => error,
  );
  if (refusal !== null) {
    log.warn(
      { reason: refusal.message },
      'Redis does not rewrite its append-only file; deleted data stays in it for now',
    );
    return;
  }
  await rewritten(redis);
}

async function rewritten(redis: Redis): Promise<void> {
  for (const until_ms = performance.now() + WAIT_MAX_MS; performance.now() < until_ms; ) {
    const info = await redis.info('persistence');
    if (!/^aof_rewrite_(in_progress|scheduled):1/m.test(info)) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
