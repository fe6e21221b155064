import type { Logger } from 'pino';
import type { RangeQuery } from '../../../actors/actor.js';
import { orRefused } from '../../domain/refusals.js';
import type { Actors } from '../../engine/runtime/actors.js';
import { isRetryable } from '../../engine/store/store.js';

const DAY_MS = 86_400_000;
/** Streams of the last days that are held in memory during the run. */
const STREAMS_MAX = 1_000_000;
/** After each stream it rests for so many times as long as that took. */
const REST_FACTOR = 2;
const REST_MAX_MS = 200;
const RETRY_MS = 30_000;

type TranscriptionBacklogDeps = {
  /** Ids of all streams, some perhaps twice. */
  streamIds: () => AsyncIterable<string>;
  actors: Actors;
  log: Pick<Logger, 'error' | 'info'>;
  now: () => number;
  days: number;
  window_ms: number;
  offer: (stream_id: string) => void;
};

/**
 * Tells transcripts of audio that was processed while nothing was transcribed, the newest recordings first. Runs once,
 * from the start of the server.
 */
export class TranscriptionBacklog {
  readonly #deps: TranscriptionBacklogDeps;
  #is_stopped = false;
  #running: Promise<void> = Promise.resolve();
  #retry: NodeJS.Timeout | null = null;

  constructor(deps: TranscriptionBacklogDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#is_stopped = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { streamIds, log, now, days } = this.#deps;
    if (days === 0) return;
    const since_ms = now() - days * DAY_MS;
    try {
      const ids = new Set<string>();
      for await (const id of streamIds()) {
        if (this.#is_stopped || ids.size >= STREAMS_MAX) break;
        if (madeAt(id) >= since_ms) ids.add(id);
      }
      let told = 0;
      for (const id of [...ids].sort().reverse()) {
        if (this.#is_stopped) return;
        const began = performance.now();
        if (await this.#tell(id)) told += 1;
        await rest(Math.min(REST_MAX_MS, (performance.now() - began) * REST_FACTOR));
      }
      if (told > 0) log.info({ streams: told }, 'recordings from before are transcribed as well');
    } catch (error) {
      if (this.#is_stopped) return;
      if (!isRetryable(error)) log.error({ err: error }, 'older recordings could not be looked at yet');
      this.#retry = setTimeout(() => this.start(), RETRY_MS);
      this.#retry.unref();
    }
  }

  async #tell(stream_id: string): Promise<boolean> {
    const { actors, window_ms, offer } = this.#deps;
    const actor = actors.downstream.stream(stream_id);
    const stream = await actor.view().catch(orRefused(null));
    if (stream === null || stream.untold === 0) return false;
    let after: RangeQuery['after'] | null;
    for (after = undefined; after !== null && !this.#is_stopped; ) {
      const told: { after: RangeQuery['after'] | null } | null = await actor
        .tell_transcript({ after, transcribes: { window_ms } })
        .catch(orRefused(null));
      if (told === null) return false;
      after = told.after;
    }
    offer(stream_id);
    return true;
  }
}

/** When an id was made, in ms since 1970: the first 48 bits of a UUID of version 7. */
function madeAt(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
