import type { Logger } from 'pino';
import type { Ports } from '../server/primary_messages.js';
import { type OpenRedis, startOwnRedis } from '../server/redis.js';
import { Shutdown } from '../server/shutdown.js';
import { CannotStart } from '../server/start.js';
import { publicAddresses, type Settings } from '../settings.js';
import { ChildFailed, setupChildren } from './child.js';
import { Children } from './children.js';

/** Several processes that serve on the same ports. */
export type Primary = {
  base_url: string;
  ports: Ports;
  redis: OpenRedis['child'];
  pids: number[];
  /** Replaces the processes one by one; nobody is refused meanwhile. */
  roll(): Promise<void>;
  /** Says that it is not ready, serves on for `drain_ms`, then stops everything; Redis last. May be called twice. */
  close(options?: { drain_ms?: number }): Promise<void>;
  /** Resolves with why, when processes end again and again and are no longer started. */
  given_up: Promise<string>;
};

/**
 * Holds DATA_DIR and its Redis, and starts the processes that serve. What was started is stopped again when a later step
 * fails.
 */
export async function startPrimary(settings: Settings, log: Logger): Promise<Primary> {
  const shutdown = new Shutdown(log);
  try {
    const own = settings.redis_url === null ? await startOwnRedis({ settings, log, shutdown }) : null;
    setupChildren(own?.held.lock_fd ?? null);
    const children = new Children({
      log,
      leave_ms: settings.drain_s * 1_000,
      order: { processes: settings.processes, redis_socket: own?.child.socket_path ?? null },
    });
    let drain_ms = 0;
    shutdown.add(() => children.stop(drain_ms));
    const ports = await children.start();
    return {
      ports,
      redis: own?.child ?? null,
      base_url: publicAddresses(settings, ports.public).base_url,
      pids: children.serving.map(({ pid }) => pid),
      roll: () => children.roll(),
      close(options) {
        drain_ms = options?.drain_ms ?? 0;
        return shutdown.run();
      },
      given_up: children.given_up,
    };
  } catch (error) {
    await shutdown.run();
    throw error instanceof ChildFailed ? new CannotStart(error.message) : error;
  }
}
