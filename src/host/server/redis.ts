import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { type HeldFolder, holdDataFolder } from '../../engine/process/data_folder.js';
import { DATA_FORM, FORM_FILE, folderProblem, formProblem } from '../../engine/process/data_form.js';
import { askRedis, checkRedis } from '../../engine/process/redis_checks.js';
import { withRedis } from '../../engine/process/redis_process.js';
import { type RedisServer, startRedis } from '../../engine/process/redis_server.js';
import type { ServerKeys } from '../../engine/secrets/server_keys.js';
import { recordTruncation } from '../../engine/store/aof_truncation.js';
import { loadLibrary, nodesOf, openRedis } from '../../engine/store/redis_connection.js';
import { type RedisLocation, readRedisLocation, withPassword } from '../../engine/store/redis_location.js';
import { saysWhy } from '../../engine/store/storage_problem.js';
import { every } from '../../engine/time/periodic_timer.js';
import type { Settings } from '../settings.js';
import { CannotStart, ofStorage, type Start } from './start.js';

/** The connection that listens is asked so often, and answers within so long or is closed. */
const LISTENING_ASKED_EVERY_MS = 8_000;
const LISTENING_MS_MAX = 5_000;
const KEYS_KEY = 'spool:keys_fingerprint';
/** Written before `KEYS_KEY`: where there are keys and no form, the data is older than forms. */
const FORM_KEY = 'spool:form';

/** A Redis that has everything the server needs. `child` is null if somebody else runs it. */
export type OpenRedis = {
  place: RedisLocation;
  redis: Redis;
  child: { adopted: boolean; pid: number } | null;
};

/** Starts our own Redis, or connects to that of REDIS_URL, and checks that it is suitable. */
export async function connectRedis(start: Start): Promise<OpenRedis> {
  const { settings, log, shutdown } = start;
  const { place, child } = await redisPlace(start);
  const redis = openRedis(place);
  // The client itself says no more than that the connection is closed.
  let cause: Error | null = null;
  const note = (error: Error) => {
    if (saysWhy(error)) cause = error;
  };
  redis.on('error', (error: Error) => {
    note(error);
    log.warn({ reason: error.message }, 'redis connection');
  });
  redis.on('node error', (error: Error, node: string) => {
    note(error);
    log.warn({ reason: error.message, node }, 'connection to a node of the Redis cluster');
  });
  shutdown.add(() => redis.disconnect());
  await ofStorage(
    redis.connect().catch((error: unknown) => {
      throw cause ?? error;
    }),
  );
  if (settings.redis_url !== null) await ofStorage(checkForeignRedis(redis, settings, log));
  await ofStorage(claimForm(redis));
  await ofStorage(loadLibrary(redis));
  return { place, redis, child };
}

/** Our own Redis, the primary's, or the one that somebody named. */
async function redisPlace(start: Start): Promise<Pick<OpenRedis, 'place' | 'child'>> {
  const { settings, primary } = start;
  if (settings.redis_url !== null) return { place: foreignPlace(settings.redis_url, settings), child: null };
  const socket_path = primary?.order.redis_socket ?? null;
  if (socket_path !== null) return { place: { socket_path }, child: null };
  const { child } = await startOwnRedis(start);
  return { place: { socket_path: child.socket_path }, child };
}

/** The Redis of REDIS_URL, with the password of REDIS_PASSWORD_FILE if that is set. */
function foreignPlace(redis_url: string, { redis_password_file }: Settings): RedisLocation {
  const place = readRedisLocation(redis_url);
  if (place === null) throw new Error('the setting was not checked');
  if (redis_password_file === null) return place;
  try {
    return withPassword(place, readFileSync(redis_password_file, 'utf8').trim());
  } catch (error) {
    throw new CannotStart(`REDIS_PASSWORD_FILE can't be read: ${(error as Error).message}`);
  }
}

/** Our own Redis as a child, under the lock of DATA_DIR. */
export async function startOwnRedis({
  settings,
  log,
  shutdown,
}: Pick<Start, 'settings' | 'log' | 'shutdown'>): Promise<{ child: RedisServer; held: HeldFolder }> {
  const problem = await folderProblem(settings.data_dir);
  if (problem !== null) throw new CannotStart(problem);
  const held = await holdDataFolder(settings.data_dir);
  shutdown.add(() => held.release());
  writeFileSync(join(settings.data_dir, FORM_FILE), `${DATA_FORM}\n`);
  const child = await startRedis({
    data_dir: settings.data_dir,
    log: (line) => console.log(line),
    onExit: ({ pid }) => log.error({ pid }, 'redis-server ended unexpectedly; it is started again'),
    onCut(bytes, socket_path) {
      log.error({ bytes }, 'Redis cut an unfinished end off its append-only file');
      void withRedis(socket_path, (redis) => recordTruncation(redis, { bytes, at_ms: Date.now() })).catch(
        (error: Error) => log.warn({ reason: error.message }, 'operators can not be shown what Redis cut off'),
      );
    },
  });
  shutdown.add(() => child.stop());
  return { child, held };
}

async function checkForeignRedis(redis: Redis, settings: Settings, log: Logger): Promise<void> {
  const nodes = nodesOf(redis);
  const short: string[] = [];
  for (const node of nodes) {
    const of_node = checkRedis(await askRedis(node as unknown as Parameters<typeof askRedis>[0]));
    const name = nodes.length > 1 ? `${node.options.host}:${node.options.port}: ` : '';
    short.push(...of_node.map((line) => `${name}${line}`));
  }
  if (short.length === 0) return;
  const text = `The Redis at REDIS_URL falls short:\n${short.map((line) => `  ${line}`).join('\n')}`;
  if (!settings.redis_accept_weaker)
    throw new CannotStart(`${text}\nChange it, or set REDIS_ACCEPT_WEAKER=1 to start anyway.`);
  log.warn({ short }, 'this Redis is weaker than it should be');
}

/** A Redis that holds data of another form is left as it is. What others keep in it is no matter. */
async function claimForm(redis: Redis): Promise<void> {
  const is_empty = (await redis.get(KEYS_KEY)) === null;
  const problem = formProblem('This Redis', { form: await redis.get(FORM_KEY), is_empty });
  if (problem !== null) throw new CannotStart(problem);
  await redis.setnx(FORM_KEY, DATA_FORM);
}

/** Processes on one Redis must share their server keys: with other keys, every token and seal would be invalid. */
export async function claimRedis(redis: Redis, keys: ServerKeys): Promise<void> {
  await redis.setnx(KEYS_KEY, keys.fingerprint());
  if ((await redis.get(KEYS_KEY)) === keys.fingerprint()) return;
  throw new CannotStart(
    'This Redis holds data under other server keys. Set KEYS_DIR to the folder of those keys, or use another Redis.',
  );
}

/** A connection that listens can do nothing else. What is said while it is away, nothing rests on. */
export async function hearOthers(
  { log, shutdown }: Start,
  place: RedisLocation,
  channels: Record<string, (text: string) => void>,
): Promise<void> {
  const redis = openRedis(place);
  redis.on('error', (error: Error) => log.warn({ reason: error.message }, 'redis connection that listens'));
  redis.on('message', (channel: string, text: string) => channels[channel]?.(text));
  shutdown.add(() => redis.disconnect());
  await redis.connect();
  const names = Object.keys(channels);
  await redis.subscribe(...names);
  const subscribe = async () => {
    // Broken off, it is done again with the next connection.
    const late = setTimeout(() => redis.disconnect(true), LISTENING_MS_MAX);
    await redis
      .subscribe(...names)
      .catch((error: Error) => log.warn({ reason: error.message }, 'redis subscription'))
      .finally(() => clearTimeout(late));
  };
  redis.on('ready', () => void subscribe());
  // Nothing else is asked on it: of one that was cut without a word nobody would know.
  shutdown.add(every(LISTENING_ASKED_EVERY_MS, () => void subscribe()));
}
