import type { Stream } from '../../../actors/recordings/stream_state.js';
import { libraryId, pipelineOutputId } from '../../domain/ids.js';
import { nullIfPermanent } from '../../domain/refusals.js';
import { WORDS_VERSION } from '../../domain/search/words.js';
import type { Actors } from '../../engine/runtime/actors.js';

/** Libraries that one walk remembers having looked at. */
const LOOKED_AT_MAX = 100_000;

/**
 * Makes known to search what an earlier release has stored, without search or by other words: pages of transcripts and
 * items of libraries. A walk over all streams shows each of them; what is known already is only read.
 */
export class SearchBackfill {
  readonly #actors: Actors;
  readonly #looked_at = new Set<string>();

  /** For one walk. */
  constructor(actors: Actors) {
    this.#actors = actors;
  }

  async look({ id, account_id, workspace_id, transcribed, deleted }: Stream): Promise<void> {
    if (transcribed !== true || deleted === true) return;
    const numbers = await this.#transcript(id);
    for (const number of numbers) await this.#transcript(pipelineOutputId(id, number));
    const library_id = libraryId(account_id, workspace_id);
    if (this.#looked_at.has(library_id)) return;
    if (this.#looked_at.size < LOOKED_AT_MAX) this.#looked_at.add(library_id);
    const library = await this.#actors.library(library_id).view().catch(nullIfPermanent);
    if (library?.insights === undefined || library.insights.searchable === WORDS_VERSION) return;
    await inSteps<LibraryPlace>((place) => this.#actors.library(library_id).make_searchable({ place }));
  }

  /** Gives the numbers of its pipeline outputs. */
  async #transcript(id: string): Promise<number[]> {
    const transcript = await this.#actors.transcript(id).view().catch(nullIfPermanent);
    if (transcript === null) return [];
    if (transcript.searchable !== WORDS_VERSION)
      await inSteps<TranscriptPlace>((after) => this.#actors.transcript(id).make_searchable({ after }));
    return transcript.lanes ?? [];
  }
}

type Input<Message extends (input: never) => unknown> = Parameters<Message>[0];
type TranscriptPlace = NonNullable<Input<ReturnType<Actors['transcript']>['make_searchable']>['after']>;
type LibraryPlace = NonNullable<Input<ReturnType<Actors['library']>['make_searchable']>['place']>;

async function inSteps<Place>(take: (place: Place | null) => Promise<{ next: Place | null }>): Promise<void> {
  for (let place: Place | null = null; ; ) {
    const step: { next: Place | null } | null = await take(place).catch(nullIfPermanent);
    if (step === null || step.next === null) return;
    place = step.next;
  }
}
