import { type FailedAudio, NOT_UNDERSTOOD } from '../../../actors/transcripts/transcript_state.js';
import { LIMITS } from '../../domain/limits.js';
import { plainText } from '../../domain/plain_text.js';
import { BlobStoreUnavailable } from '../../engine/blobs/blob_store.js';
import { NoPlace } from '../../engine/pools/shared_pool.js';
import { ProcessFailed } from '../../engine/process/framed_process.js';
import type { AudioStores, LeftOut } from './audio_pieces.js';
import {
  type Engine,
  EngineFailed,
  type EngineFailure,
  type HeardSegment,
  type Transcription,
} from './engines/engine.js';
import { CHARS_PER_SECOND_MAX } from './engines/segment_times.js';
import { dropHallucinations, hasWords } from './hallucination_filter.js';
import { hearsInPauses, withKnownSpeakers } from './known_speakers.js';
import { clampedTurn, turnsOfSegment } from './segment_turns.js';
import type { TranscribedTurn, TranscriptionResult, WindowWork } from './transcription.js';
import { filesOfPieces, lengthOf, onTimeline, type WindowFile, windowFiles, withoutSamples } from './window_audio.js';

type Heading = Pick<
  WindowWork,
  | 'account_id'
  | 'stream_id'
  | 'tries'
  | 'from_ms'
  | 'to_ms'
  | 'final'
  | 'audio'
  | 'diarize'
  | 'language'
  | 'vocabulary'
  | 'previous_text'
  | 'speech_before'
> &
  Partial<Pick<WindowWork, 'samples'>>;
/** `onLost`: told of chunks whose bytes are gone. */
type WindowTranscription = {
  engine: Engine;
  stores: AudioStores;
  work: Heading;
  signal: AbortSignal;
  onLost?: (chunk_id: string) => void;
};

/** The result of a window, and every failure on the way. */
export type Transcribed = { failures: EngineFailure[] } & (
  | { ok: true; result: TranscriptionResult }
  | { ok: false; failure: EngineFailure }
);

/** So near to the end of the audio an utterance may go on in the next window. */
const CUT_OFF_MS = 1_000;

/** It never throws but for a bug. */
export function transcribeWindow(asking: WindowTranscription): Promise<Transcribed> {
  return new WindowHearing(asking).transcribed();
}

/**
 * One try of a window. A file that the engine does not take fails alone: the others are heard. Where the engine itself
 * fails, what was heard before counts, and the rest waits for the next try. After the last try a file counts as failed.
 */
class WindowHearing {
  readonly #asking: WindowTranscription;
  readonly #turns: TranscribedTurn[] = [];
  readonly #failed: FailedAudio[] = [];
  readonly #failures: EngineFailure[] = [];
  #files = 0;
  #heard = 0;
  #dropped = 0;
  /** Where the last utterance begins that the end of the audio may have cut off. */
  #whole_until_ms: number | null = null;
  /** Nothing from here on is asked for in this try. */
  #stopped_ms: number | null = null;

  constructor(asking: WindowTranscription) {
    this.#asking = asking;
  }

  async transcribed(): Promise<Transcribed> {
    const { stores, work, signal } = this.#asking;
    let reached_ms = work.from_ms;
    try {
      const onLeftOut = (left_out: LeftOut) => this.#leavesOut(left_out);
      for await (const file of windowFiles(stores, work, { onLeftOut, signal })) {
        await this.#hear(file);
        if (this.#stopped_ms !== null) break;
        reached_ms = file.counts.end_ms;
      }
    } catch (error) {
      const { failure } = failedOf(error);
      this.#fails(failure, { start_ms: reached_ms, end_ms: work.to_ms });
    }
    return this.#outcome();
  }

  async #hear(file: WindowFile): Promise<void> {
    this.#whole_until_ms = null;
    const failure = await this.#tryOn(file);
    if (failure === null) return;
    const is_refused = failure.of_file && !failure.retry;
    if (!is_refused || file.pieces.length === 1) {
      this.#fails(failure, file.counts);
      return;
    }
    // One of its pieces may be what the engine does not take.
    for await (const piece of filesOfPieces(file)) {
      await this.#hear(piece);
      if (this.#stopped_ms !== null) return;
    }
  }

  /** Null where it was heard. */
  async #tryOn(file: WindowFile): Promise<EngineFailure | null> {
    const { engine, work, signal } = this.#asking;
    if (file.silent) {
      this.#heard += 1;
      return null;
    }
    this.#files += 1;
    const { account_id, stream_id, language, diarize, vocabulary, speech_before } = work;
    // A file that cannot be cut has more in it than the window.
    const goes_on = !work.final && file.kind !== 'other' && file.counts.end_ms === work.to_ms;
    const hear = (of: WindowFile) =>
      engine.hear(
        {
          file: of,
          account_id,
          stream_id,
          language,
          diarize,
          goes_on,
          prompt: promptOf(work),
          vocabulary,
          speech_before,
        },
        signal,
      );
    try {
      const heard = await hear(file);
      if (!hearsInPauses(file, heard.segments)) this.#take(file, heard);
      else {
        const bare = await withoutSamples(file);
        this.#take(bare, await hear(bare));
      }
      return null;
    } catch (error) {
      if (error instanceof EngineFailed) return error.failure;
      throw error;
    }
  }

  #take(file: WindowFile, heard: Transcription): void {
    const { work } = this.#asking;
    const language = heard.language ?? work.language ?? undefined;
    const named = withKnownSpeakers(file, heard.segments);
    const honest = dropHallucinations(cleaned(named));
    this.#heard += 1;
    const { not_understood = [] } = heard;
    this.#dropped += honest.dropped + not_understood.length;
    for (const { start_s, end_s } of not_understood) {
      const from_ms = Math.max(file.counts.start_ms, onTimeline(file.parts, start_s * 1_000, 'start'));
      const to_ms = Math.min(file.counts.end_ms, onTimeline(file.parts, end_s * 1_000, 'end'));
      if (from_ms < to_ms) this.#failed.push({ from_ms, to_ms, code: NOT_UNDERSTOOD });
    }
    this.#whole_until_ms = work.final ? null : wholeUntil(file, honest.kept, heard.whole_until_s);
    // Labels of two files say nothing about each other; none is the name of a known speaker.
    const label = `${this.#files}-`;
    const said = honest.kept
      .flatMap((segment) => turnsOfSegment(segment, { parts: file.parts, label }))
      .filter(({ text }) => hasWords(text));
    const turns = counted(file, said);
    this.#turns.push(...turns.map((turn) => (language === undefined ? turn : { ...turn, language })));
  }

  #leavesOut({ chunk_id, start_ms, end_ms, code }: LeftOut): void {
    if (code === 'AUDIO_GONE') this.#asking.onLost?.(chunk_id);
    this.#failed.push({ from_ms: start_ms, to_ms: end_ms, code });
  }

  #fails(failure: EngineFailure, { start_ms, end_ms }: { start_ms: number; end_ms: number }): void {
    const { work } = this.#asking;
    const { code, retry, of_file } = failure;
    this.#failures.push(failure);
    if (retry && work.tries < LIMITS.window_tries_max) {
      this.#stopped_ms = start_ms;
      return;
    }
    // An engine that refuses whoever asks refuses the rest as well.
    const to_ms = of_file || retry ? end_ms : work.to_ms;
    this.#failed.push({ from_ms: start_ms, to_ms, code });
    if (!of_file) this.#stopped_ms = to_ms;
  }

  #outcome(): Transcribed {
    const { work } = this.#asking;
    const failures = this.#failures;
    const stopped_ms = this.#stopped_ms ?? work.to_ms;
    const [first] = failures;
    const last = failures.at(-1);
    const failed_before = this.#failed.some(({ from_ms }) => from_ms < stopped_ms);
    const is_in_vain = this.#heard === 0 && (!failed_before || stopped_ms >= work.to_ms);
    if (last?.code === 'ENGINE_STOPPED') return { ok: false, failure: last, failures };
    if (first !== undefined && is_in_vain) return { ok: false, failure: first, failures };
    const whole_until_ms = this.#stopped_ms === null ? this.#whole_until_ms : null;
    const is_most = whole_until_ms !== null && whole_until_ms - work.from_ms >= (work.to_ms - work.from_ms) / 2;
    const end_ms = Math.min(stopped_ms, is_most ? whole_until_ms : work.to_ms);
    const is_all = end_ms >= work.to_ms;
    const turns = this.#turns
      .filter(({ start_ms }) => is_all || start_ms < end_ms)
      .map((turn) => (is_all ? turn : clampedTurn(turn, { start_ms: 0, end_ms })))
      .sort((a, b) => a.start_ms - b.start_ms || a.end_ms - b.end_ms);
    if (turns.length > LIMITS.window_turns_max) {
      const { failure } = new EngineFailed(
        'ENGINE_BAD_ANSWER',
        'The answer has more segments than a window may have turns.',
      );
      return { ok: false, failure, failures: [failure] };
    }
    const rest_ms = last?.retry_after_ms;
    const failed = this.#failed
      .filter(({ from_ms }) => from_ms < end_ms)
      .map((part) => ({ ...part, to_ms: Math.min(part.to_ms, end_ms) }))
      .sort((a, b) => a.from_ms - b.from_ms);
    const result: TranscriptionResult = {
      speaker_scope: 'numbered',
      mode: 'replace',
      turns,
      dropped: this.#dropped,
      ...(!is_all && { consumed_to_ms: end_ms }),
      ...(failed.length > 0 && { failed }),
      ...(stopped_ms < work.to_ms && last !== undefined && { stopped: { code: last.code, rest_ms } }),
    };
    return { ok: true, result, failures };
  }
}

/** Why audio cannot be read now; throws what is a bug. */
function failedOf(error: unknown): EngineFailed {
  if (error instanceof BlobStoreUnavailable)
    return new EngineFailed('AUDIO_UNAVAILABLE', 'The audio can not be read now.');
  if (error instanceof NoPlace || (error instanceof ProcessFailed && error.code === 'STOPPED'))
    return new EngineFailed('ENGINE_STOPPED', 'The audio was not decoded to its end.');
  throw error;
}

function cleaned(segments: readonly HeardSegment[]): HeardSegment[] {
  return segments.map((segment) => ({ ...segment, text: plainText(segment.text) })).filter(({ text }) => text !== '');
}

/** Where the last utterance begins that the end of the audio may have cut off; null where there is none, or no other. */
function wholeUntil(
  file: WindowFile,
  segments: readonly HeardSegment[],
  told_s: number | null | undefined,
): number | null {
  if (told_s === null) return null;
  if (told_s !== undefined) return onTimeline(file.parts, told_s * 1_000, 'start');
  const last = segments.at(-1);
  if (last === undefined || segments.length < 2 || last.guessed === true) return null;
  // Text that the rest of the file has no room for was said before, whatever its times are: the next window may not have it.
  const has_room = lengthOf(file) / 1_000 - last.start_s >= last.text.length / CHARS_PER_SECOND_MAX;
  const is_cut = has_room && last.end_s * 1_000 >= lengthOf(file) - CUT_OFF_MS;
  // Text that begins before the file counts goes with its beginning.
  return is_cut ? Math.max(file.counts.start_ms, onTimeline(file.parts, last.start_s * 1_000, 'start')) : null;
}

/** A file that could not be cut has more in it than counts here: what lies mostly outside is for another. */
function counted(file: WindowFile, turns: readonly TranscribedTurn[]): TranscribedTurn[] {
  const { kind, counts } = file;
  const last_ms = onTimeline(file.parts, lengthOf(file), 'end') - 1;
  const isInside = ({ start_ms, end_ms }: TranscribedTurn) => {
    const middle_ms = Math.min(last_ms, (start_ms + end_ms) / 2);
    return kind !== 'other' || (middle_ms >= counts.start_ms && middle_ms < counts.end_ms);
  };
  return turns.filter(isInside).map((turn) => clampedTurn(turn, counts));
}

/** Terms as many as fit, then the end of what was said before: models forget the beginning of a long prompt. */
function promptOf({ vocabulary, previous_text }: Heading): string {
  const half = LIMITS.engine_prompt_chars_max / 2;
  let terms = '';
  for (const term of vocabulary) {
    const longer = terms === '' ? term : `${terms}, ${term}`;
    if (longer.length > half) break;
    terms = longer;
  }
  const before = plainText((previous_text ?? '').slice(-half));
  // A model that is shown a loop goes on with it.
  const { kept } = dropHallucinations([{ text: before }]);
  const parts = [terms === '' ? '' : `${plainText(terms)}.`, ...kept.map(({ text }) => text)];
  return parts.filter((part) => part !== '').join(' ');
}
