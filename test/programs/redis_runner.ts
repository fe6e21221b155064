import { createInterface } from 'node:readline';
import { startRedis } from '../../src/engine/process/redis_server.js';

/* Starts Redis on the folder it is given, tells its id, and stops it when it hears a line. */

const redis = await startRedis({ data_dir: process.argv[2] ?? '', log: () => {} });
process.stdout.write(`${JSON.stringify({ pid: redis.pid, adopted: redis.adopted })}\n`);
for await (const _ of createInterface({ input: process.stdin })) {
  await redis.stop();
  process.stdout.write(`${JSON.stringify({ stopped: true })}\n`);
}
