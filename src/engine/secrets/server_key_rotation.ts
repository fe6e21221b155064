import type { Logger } from 'pino';
import { every } from '../time/periodic_timer.js';
import {
  activateServerKey,
  type IntroducedKey,
  introducedServerKeys,
  introduceServerKey,
  type ServerKeys,
} from './server_keys.js';

/** Tells the processes on one Redis that there is another key; what it says may get lost. */
export const SERVER_KEYS_CHANNEL = 'spool:server_keys';
/** Every process reads the folder this often, notified or not. */
const LOOK_EVERY_MS = 10_000;
/** From introducing a key until it is written with: several looks of every process. */
const INTRODUCED_MS = 60_000;

type ServerKeyRotationDeps = {
  folder: string;
  keys: ServerKeys;
  now: () => number;
  announce: () => Promise<unknown>;
  log: Pick<Logger, 'info' | 'warn'>;
};

/**
 * Brings a new server key into use in two steps, so that no process ever meets what another wrote under a key that it
 * does not know: the key is introduced, which every process reads within seconds; after a minute whoever looks first
 * activates it, and it is written with. A process that missed all of it looks at the folder when it meets an unknown key.
 */
export class ServerKeyRotation {
  readonly #deps: ServerKeyRotationDeps;
  #stopTicking: (() => void) | null = null;

  constructor(deps: ServerKeyRotationDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#stopTicking = every(LOOK_EVERY_MS, () => void this.look());
  }

  stop(): void {
    this.#stopTicking?.();
  }

  /** Reads what others added, and activates a key whose time has come. Never rejects. */
  async look(): Promise<void> {
    const { folder, keys, now, announce, log } = this.#deps;
    try {
      const due = (await introducedServerKeys(folder)).filter(({ since_ms }) => now() >= since_ms + INTRODUCED_MS);
      for (const { key_id } of due) {
        await activateServerKey(folder, key_id);
        log.info({ key_id }, 'a server key is active from now on');
      }
      keys.reread();
      if (due.length > 0) await announce();
    } catch (error) {
      log.warn({ reason: (error as Error).message }, 'server keys could not be looked at');
    }
  }

  /** Introduces a key; one that is introduced already is given instead. */
  async rotate(): Promise<{ key_id: string; active_at_ms: number }> {
    const { folder, keys, now, announce } = this.#deps;
    const [waiting] = await introducedServerKeys(folder);
    const { key_id, since_ms }: IntroducedKey = waiting ?? (await introduceServerKey(folder, now()));
    keys.reread();
    await announce().catch(() => {}); // everybody looks by itself
    return { key_id, active_at_ms: since_ms + INTRODUCED_MS };
  }
}
