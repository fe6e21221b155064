import { readFileSync } from 'node:fs';
import { type Callback, Cluster, type Command, Redis } from 'ioredis';
import { backoffAfter } from '../../domain/backoff.js';
import type { ClusterLocation, RedisLocation } from './redis_location.js';

const COMMAND_DEADLINE_MS = 5_000;
const RECONNECT = { first_ms: 50, max_ms: 1_000 };
/** The time after which a change of a cluster's masters is noticed if no command met a redirection before. */
const SLOTS_EVERY_MS = 2_000;
/** The deadline of our functions: commits, and the queries of workers. */
const LIBRARIES = ['./commit.lua', './workers.lua'].map((file) => readFileSync(new URL(file, import.meta.url), 'utf8'));

const CONNECTION = {
  autoResubscribe: false, // nobody would handle its failure, which would end the process
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  commandTimeout: COMMAND_DEADLINE_MS,
  disconnectTimeout: 100, // a connection that was closed holds the process no longer than this
  connectTimeout: COMMAND_DEADLINE_MS,
  // Of a connection that was cut without a word nothing comes back: the next one may lead to another server.
  socketTimeout: COMMAND_DEADLINE_MS,
  // A master that became a replica keeps its connections; the address leads to another one by now.
  reconnectOnError: (error: Error) => /^(-?READONLY|MASTERDOWN)\b/.test(error.message),
};

/**
 * A connection that refuses at once while Redis is away, gives every command a deadline, and sends nothing twice by
 * itself: what was in flight when a connection broke rejects, and the caller decides (docs/architecture.md, "Redis").
 *
 * To a cluster it has one connection for each node. Its client takes the same commands, each of which goes to the node
 * that has its key; what concerns nodes one by one goes through `mastersOf` and `nodesOf`.
 */
export function openRedis(place: RedisLocation): Redis {
  if ('nodes' in place) return openCluster(place) as unknown as Redis;
  const options = {
    ...CONNECTION,
    lazyConnect: true,
    enableOfflineQueue: false,
    enableAutoPipelining: true,
    retryStrategy: waitBeforeTry,
  };
  return 'url' in place ? new Redis(place.url, options) : new Redis(place.socket_path, options);
}

/**
 * Sends a command on if a node refuses it because another has its slot (MOVED, ASK): it had no effect there. A command
 * whose connection broke is not sent again, since it may have had one. Commands are not pipelined together: of a
 * pipeline, only those commands would be sent on that all were refused alike.
 */
function openCluster({ nodes, tls, username, password }: ClusterLocation): Cluster {
  const user = { ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }) };
  return new PromptCluster(nodes, {
    lazyConnect: true,
    enableAutoPipelining: false,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    slotsRefreshInterval: SLOTS_EVERY_MS,
    clusterRetryStrategy: waitBeforeTry,
    redisOptions: { ...CONNECTION, ...user, ...(tls ? { tls: {} } : {}) },
  });
}

/**
 * Refuses at once while there is no cluster. Otherwise a command that is the first to need a node may wait for the
 * connection to it, at most for its deadline: ioredis has one switch for both.
 */
class PromptCluster extends Cluster {
  #is_closed = false;

  override sendCommand(command: Command, stream?: never, node?: unknown): unknown {
    const is_there = this.status === 'ready' && this.nodes('master').length > 0;
    if (is_there || command.name === 'cluster') return super.sendCommand(command, stream, node);
    command.reject(new Error('the cluster is not there'));
    return command.promise;
  }

  override disconnect(reconnect = false): void {
    this.#is_closed ||= !reconnect;
    super.disconnect(reconnect);
  }

  /**
   * After each answer ioredis sets its timer for the next time, even if the client was closed meanwhile: that timer
   * would keep the process alive for ever.
   */
  override refreshSlotsCache(answered?: Callback<void>): void {
    super.refreshSlotsCache((error) => {
      if (!this.#is_closed) answered?.(error);
    });
  }
}

function waitBeforeTry(tries: number): number {
  return backoffAfter(tries, RECONNECT) * (0.5 + Math.random() / 2);
}

/** Connections to each server that takes writes. */
export function mastersOf(redis: Redis): Redis[] {
  return redis instanceof Cluster ? (redis as Cluster).nodes('master') : [redis];
}

/** Connections to each server, replicas included. */
export function nodesOf(redis: Redis): Redis[] {
  return redis instanceof Cluster ? (redis as Cluster).nodes('all') : [redis];
}

/**
 * Loads our functions on every master; repeating it is harmless. A cluster's master that is away gets them with the
 * first commit that misses them there.
 */
export async function loadLibrary(redis: Redis): Promise<void> {
  const loaded = await Promise.allSettled(
    mastersOf(redis).flatMap((master) =>
      LIBRARIES.map((library) => master.call('FUNCTION', 'LOAD', 'REPLACE', library)),
    ),
  );
  const failed = loaded.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
  if (failed !== undefined && loaded.every(({ status }) => status === 'rejected')) throw failed.reason;
}
