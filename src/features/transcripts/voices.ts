import type { Transcript } from '../../../actors/transcripts/transcript_state.js';
import { partitionOfId } from '../../domain/ids.js';
import { orRefused } from '../../domain/refusals.js';
import { randomId } from '../../engine/random/random.js';
import type { Actors } from '../../engine/runtime/actors.js';
import type { Fence } from '../../engine/store/store.js';
import type { HeardSpeaker, KnownSpeaker } from './transcription.js';

/** `fences`: that the account and the recording are still there, so that nothing is learned of what was erased. */
type Heard = {
  stream_id: string;
  speakers: readonly HeardSpeaker[];
  numbers: ReadonlyMap<string, number>;
  fences: Fence[];
};

/** Reads the known voices for a window that is handed out, and takes those of its result. */
export class Voices {
  readonly #actors: Actors;
  readonly #now: () => number;

  constructor(actors: Actors, now: () => number) {
    this.#actors = actors;
    this.#now = now;
  }

  /** Speakers that a result may name: labels that mean the same in all of the stream, and voices of its workspace. */
  async known({ account_id, workspace_id, labels }: Transcript): Promise<KnownSpeaker[]> {
    const contacts = this.#actors.contacts(account_id);
    const told = await contacts.voices({ workspace_id }).catch(orRefused(null));
    const voices = told?.voices ?? [];
    const ids = voices.map(({ id }) => id);
    const read = ids.length === 0 ? null : await contacts.embeddings({ ids }).catch(orRefused(null));
    const embeddings = read?.embeddings ?? {};
    const of_stream = Object.keys(labels).map((speaker) => ({ speaker, voice: null }));
    const known = voices.flatMap(({ id, model }): KnownSpeaker[] => {
      const embedding = embeddings[id];
      return embedding === undefined ? [] : [{ speaker: id, voice: { id, model, embedding } }];
    });
    return [...of_stream, ...known];
  }

  /**
   * Contacts by the labels of speakers whose voices were recognised; a voice that is not known says nothing. `fences`:
   * that the account and the recording are still there.
   */
  async recognized(
    { account_id, workspace_id }: Transcript,
    speakers: readonly HeardSpeaker[],
    fences: Fence[],
  ): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    for (const { speaker, matches: voice_id } of speakers) {
      if (voice_id === undefined) continue;
      const contact_id = randomId({ partition: partitionOfId(account_id), now_ms: this.#now() });
      const matched = await this.#actors
        .contacts(account_id)
        .match_voice({ workspace_id, voice_id, contact_id }, fences);
      if (matched.contact_id !== null) found[speaker] = matched.contact_id;
    }
    return found;
  }

  /** Keeps what a worker has heard of voices that it did not recognise, by the numbers of their speakers. */
  async learn(
    { account_id, workspace_id }: Transcript,
    { stream_id, speakers, numbers, fences }: Heard,
  ): Promise<void> {
    for (const { speaker: label, voice, matches } of speakers) {
      const speaker = numbers.get(label) ?? 0;
      if (voice === undefined || matches !== undefined || speaker === 0) continue;
      const { model, embedding } = voice;
      await this.#actors
        .contacts(account_id)
        .learn_voice({ workspace_id, stream_id, speaker, model, embedding }, fences)
        .catch(orRefused(null));
    }
  }

  /** A person said who a speaker is. */
  async name(
    { account_id, workspace_id }: Transcript,
    named: { stream_id: string; speaker: number; contact_id: string | null },
  ): Promise<void> {
    await this.#actors
      .contacts(account_id)
      .name_voice({ workspace_id, ...named })
      .catch(orRefused(null));
  }
}
