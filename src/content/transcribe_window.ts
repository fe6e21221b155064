import { type BlobStore, BlobStoreUnavailable } from '../blobs/blob_store.js';
import { LIMITS } from '../domain/limits.js';
import { type Engine, EngineFailed, type EngineFailure, type HeardSegment } from './engines/engine.js';
import { plainText } from './engines/plain_text.js';
import { honestText } from './honest_text.js';
import type { TranscribedTurn, TranscriptionResult, WindowWork } from './transcription.js';
import { clampedTurn, turnsOf } from './turns_of_segment.js';
import { lengthOf, onTimeline, type WindowFile, windowFiles } from './window_audio.js';

type Heading = Pick<
  WindowWork,
  'stream_id' | 'from_ms' | 'to_ms' | 'final' | 'audio' | 'diarize' | 'language' | 'vocabulary' | 'previous_text'
>;
type Asking = { engine: Engine; blobs: BlobStore; work: Heading; signal: AbortSignal };

/** What the built-in worker makes of a window. It never throws but for a bug. */
export type Transcribed = { ok: true; result: TranscriptionResult } | { ok: false; failure: EngineFailure };

/** So near to the end of the audio an utterance may go on in the next window. */
const CUT_OFF_MS = 1_000;

export async function transcribeWindow(asking: Asking): Promise<Transcribed> {
  try {
    return { ok: true, result: await transcribe(asking) };
  } catch (error) {
    if (error instanceof EngineFailed) return { ok: false, failure: error.failure };
    if (!(error instanceof BlobStoreUnavailable)) throw error;
    return { ok: false, failure: new EngineFailed('AUDIO_UNAVAILABLE', 'The audio can not be read now.').failure };
  }
}

async function transcribe({ engine, blobs, work, signal }: Asking): Promise<TranscriptionResult> {
  const turns: TranscribedTurn[] = [];
  let [dropped, files] = [0, 0];
  let ends_ms: number | null = null;
  for await (const file of windowFiles(blobs, work)) {
    files += 1;
    ends_ms = null;
    if (file.silent) continue;
    const { language: spoken, diarize } = work;
    const heard = await engine.hear({ file, language: spoken, diarize, prompt: promptOf(work) }, signal);
    const language = heard.language ?? work.language ?? undefined;
    const honest = honestText(cleaned(heard.segments));
    dropped += honest.dropped;
    ends_ms = work.final ? null : wholeUntil(file, honest.kept);
    // Labels of two files say nothing about each other.
    const label = files === 1 ? '' : `${files}-`;
    const said = honest.kept.flatMap((segment) => turnsOf(segment, { parts: file.parts, label }));
    turns.push(...counted(file, said).map((turn) => (language === undefined ? turn : { ...turn, language })));
  }
  const consumed_to_ms = ends_ms === null || ends_ms - work.from_ms < (work.to_ms - work.from_ms) / 2 ? null : ends_ms;
  const kept = turns
    .filter(({ start_ms }) => consumed_to_ms === null || start_ms < consumed_to_ms)
    .map((turn) => (consumed_to_ms === null ? turn : clampedTurn(turn, { start_ms: 0, end_ms: consumed_to_ms })))
    .sort((a, b) => a.start_ms - b.start_ms || a.end_ms - b.end_ms);
  if (kept.length > LIMITS.window_turns_max)
    throw new EngineFailed('ENGINE_BAD_ANSWER', 'The answer has more segments than a window may have turns.');
  return {
    ...{ speaker_scope: 'window', mode: 'replace', turns: kept, dropped },
    ...(consumed_to_ms !== null && { consumed_to_ms }),
  };
}

function cleaned(segments: readonly HeardSegment[]): HeardSegment[] {
  return segments.map((segment) => ({ ...segment, text: plainText(segment.text) })).filter(({ text }) => text !== '');
}

/** Where the last utterance begins that the end of the audio may have cut off; null where there is none, or no other. */
function wholeUntil(file: WindowFile, segments: readonly HeardSegment[]): number | null {
  const last = segments.at(-1);
  if (last === undefined || segments.length < 2) return null;
  const is_cut = last.end_s * 1_000 >= lengthOf(file) - CUT_OFF_MS;
  return is_cut ? onTimeline(file.parts, last.start_s * 1_000, 'start') : null;
}

/** A file that could not be cut has more in it than counts here: what lies mostly outside is for another. */
function counted({ kind, counts }: WindowFile, turns: readonly TranscribedTurn[]): TranscribedTurn[] {
  const isInside = ({ start_ms, end_ms }: TranscribedTurn) => {
    const middle_ms = (start_ms + end_ms) / 2;
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
  return [terms === '' ? '' : `${plainText(terms)}.`, before].filter((part) => part !== '').join(' ');
}
