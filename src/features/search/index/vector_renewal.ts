import type { Logger } from 'pino';
import type { RangeQuery } from '../../../../actors/actor.js';
import { nullIfPermanent } from '../../../domain/refusals.js';
import { RecentlyUsed } from '../../../engine/pools/recently_used.js';
import type { Actors } from '../../../engine/runtime/actors.js';

/** Transcripts that are noted, so that each is asked once by a process. One that is forgotten is asked again. */
const NOTED_MAX = 10_000;

/**
 * Has vectors of another model made anew, of those transcripts in which a recall met some. One at a time, in the background.
 */
export class VectorRenewal {
  readonly #actors: Actors;
  readonly #log: Pick<Logger, 'error'>;
  readonly #noted = new RecentlyUsed<true>(NOTED_MAX);
  readonly #waiting = new Set<string>();
  #is_running = false;
  #is_stopped = false;

  constructor({ actors, log }: { actors: Actors; log: Pick<Logger, 'error'> }) {
    this.#actors = actors;
    this.#log = log;
  }

  /** `model`: the one whose vectors stay. */
  offer(ids: Iterable<string>, model: number): void {
    for (const id of ids) {
      if (this.#noted.has(id) || this.#waiting.size >= NOTED_MAX) continue;
      this.#noted.set(id, true);
      this.#waiting.add(id);
    }
    if (this.#is_running || this.#is_stopped || this.#waiting.size === 0) return;
    this.#is_running = true;
    void this.#run(model).finally(() => {
      this.#is_running = false;
    });
  }

  stop(): void {
    this.#is_stopped = true;
  }

  async #run(model: number): Promise<void> {
    for (const id of this.#waiting) {
      if (this.#is_stopped) return;
      this.#waiting.delete(id);
      try {
        await dropVectors(this.#actors, id, { keeps: model, wanted: true });
      } catch (error) {
        this.#noted.delete(id);
        this.#log.error({ err: error, transcript: id }, 'vectors of another model could not be removed');
        return;
      }
    }
  }
}

/** Removes vectors of a transcript, but for those of the model that `keeps` names. `wanted`: new ones are made. */
export async function dropVectors(
  actors: Actors,
  id: string,
  options: { keeps: number | null; wanted: boolean },
): Promise<void> {
  for (let after: RangeQuery['after'] | null = undefined; after !== null; ) {
    const dropped: { after: NonNullable<RangeQuery['after']> | null } | null = await actors
      .transcript(id)
      .drop_vectors({ ...options, after })
      .catch(nullIfPermanent);
    after = dropped?.after ?? null;
  }
}
