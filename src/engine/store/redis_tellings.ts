import { Cluster, Command, type Redis } from 'ioredis';
import { PARTITIONS } from '../../domain/ids.js';
import { keysOf, slotOf } from './partitions.js';
import { callFunction } from './redis_calls.js';
import { mastersOf } from './redis_connection.js';
import type { TellingListener, TellingServer, Tellings } from './told_versions.js';

const BEAT = 'spool_beat_v1';
/** The channel of a single server: all commits of one call are one message. */
const CHANNEL = 'spool:told';
const ALL_PARTITIONS = Array.from({ length: PARTITIONS }, (_, partition) => partition);

/**
 * The channel that announces commits of a partition. A cluster has one for each, since each node announces only its
 * own.
 */
export function toldChannel(redis: Redis, partition: number): string {
  return (redis as unknown) instanceof Cluster ? keysOf(partition).told : CHANNEL;
}

/**
 * Announcements of commits by Redis: a connection to each server that takes commits, subscribed to the messages that
 * the commit function publishes.
 */
export class RedisTellings implements Tellings {
  readonly #redis: Redis;
  /** Distinguishes this process' beats from those of others. */
  readonly #name: string;

  constructor(redis: Redis, name: string) {
    this.#redis = redis;
    this.#name = name;
  }

  servers(): TellingServer[] {
    const redis = this.#redis as unknown;
    if (!(redis instanceof Cluster)) return [{ name: '', partitions: ALL_PARTITIONS }];
    const by_node = new Map<string, number[]>();
    for (const partition of ALL_PARTITIONS) {
      const name = redis.slots[slotOf(partition)]?.[0];
      if (name === undefined) continue;
      const partitions = by_node.get(name);
      if (partitions === undefined) by_node.set(name, [partition]);
      else partitions.push(partition);
    }
    return [...by_node].map(([name, partitions]) => ({ name, partitions }));
  }

  async listen(server: TellingServer, { versions, beat, lost }: TellingListener): Promise<{ close(): void }> {
    const node = mastersOf(this.#redis).find(
      ({ options: { host, port } }) => server.name === '' || server.name === `${host}:${port}`,
    );
    if (node === undefined) throw new Error(`no connection to ${server.name}`);
    const line = node.duplicate({ lazyConnect: true, enableOfflineQueue: false, retryStrategy: () => null });
    const beats = this.#beatChannel(server);
    line.on('error', () => {}); // it closes then
    line.on('close', lost);
    line.on('moved', lost); // a partition has left this server
    line.on('smessageBuffer', (channel: Buffer, message: Buffer) => {
      if (channel.toString('latin1') === beats) beat(Number(message.toString('latin1')));
      else versions(message);
    });
    try {
      await line.connect();
      const told = server.name === '' ? [CHANNEL] : server.partitions.map((partition) => keysOf(partition).told);
      await Promise.all([...told, beats].map((channel) => line.ssubscribe(channel)));
    } catch (error) {
      line.disconnect();
      throw error;
    }
    return { close: () => line.disconnect() };
  }

  async beat(server: TellingServer, number: number): Promise<void> {
    const redis = this.#redis;
    const absent = server.name === '' ? [] : server.partitions.map((partition) => keysOf(partition).absent);
    // Only the first is declared: they lie in several slots.
    const args = [BEAT, Math.min(absent.length, 1), ...absent, this.#beatChannel(server), number];
    await callFunction(redis, () => redis.sendCommand(new Command('fcall', args)) as Promise<unknown>);
  }

  #beatChannel({ name, partitions }: TellingServer): string {
    const prefix = name === '' ? 'spool:' : keysOf(partitions[0] as number).prefix;
    return `${prefix}beat:${this.#name}`;
  }
}
