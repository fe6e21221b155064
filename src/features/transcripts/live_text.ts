import { setTimeout as delay } from 'node:timers/promises';
import { OPERATORS_ENGINE } from '../../../actors/insights/context_state.js';
import { isStored, type Stream } from '../../../actors/recordings/stream_state.js';
import type { Transcript } from '../../../actors/transcripts/transcript_state.js';
import type { Principal } from '../../access/principal.js';
import type { Interval } from '../../domain/intervals.js';
import { LIMITS } from '../../domain/limits.js';
import { isRefused, orNull, Refused, refuse } from '../../domain/refusals.js';
import { NO_SPEECH_BEFORE } from '../../domain/speech_before.js';
import { NO_WAIT, type PoolBounds, SharedPool } from '../../engine/pools/shared_pool.js';
import type { FeatureServices } from '../services.js';
import type { AudioStores } from './audio_pieces.js';
import type { Engine } from './engines/engine.js';
import { isSame, type Line, type LiveEvent, type LivePreview, NO_LINES } from './live_shapes.js';
import { ShownTurns } from './live_turns.js';
import { transcribeWindow } from './transcribe_window.js';
import { readableTranscript } from './transcript_reading.js';
import { type TranscriptionJobs, windowChunk } from './transcription_jobs.js';

/**
 * The text of a recording while it is recorded: turns as they are published, and before them preliminary lines of the audio
 * behind the last one. Those are kept by nobody.
 */

const LIVE_WATCHERS_MAX = 500; // ours: of one process
const LIVE_PREVIEW_CHUNKS_MAX = 100; // ours: chunks that preliminary lines are made of
const LOOK_EVERY_MS = 1_000;
/** Of a recording that has preliminary lines: new audio is to be seen soon. */
const PREVIEW_LOOK_EVERY_MS = 200;
/** Longer decoding is given up: a window of half a minute takes seconds. */
const PREVIEW_MS_MAX = 30_000;
/** Audio that moves from a recording to its transcript is in neither for a moment. */
const SETTLED_LOOKS = 2;

const TOO_MANY = refuse('TOO_MANY_REQUESTS', 'Too many live texts of this account are open already.', {
  retry_after_s: 10,
});
const FULL = refuse('UNAVAILABLE', 'Too many live texts are open at the moment.', { retry_after_s: 10 });

/** Whoever watches comes again, and a recording without preliminary lines looks again. */
const WATCHERS: PoolBounds = {
  places_max: LIVE_WATCHERS_MAX,
  share_max: LIMITS.live_watchers_per_account_max,
  ...NO_WAIT,
};
const PREVIEWS: PoolBounds = { places_max: LIMITS.live_previews_max, share_max: LIMITS.live_previews_max, ...NO_WAIT };

type LiveTextDeps = Pick<FeatureServices, 'actors' | 'runtime'> & {
  stores: AudioStores;
  jobs: Pick<TranscriptionJobs, 'heardBy'>;
  /** The ranges of a recording's audio that still wait for text; null if no text will come. */
  awaited(stream_id: string): Promise<Interval[] | null>;
  /** The engine for preliminary lines; null without one. */
  engine: Engine | null;
  /** Whether long answers should end, since this process is stopping. */
  isLeaving(): boolean;
  /** Monotonic milliseconds, by which audio is new. */
  monotonicMs?: () => number;
};

/** `who`: the caller as of now; throws Refused once the credential does not hold. `revision`: what the caller has; null for nothing. */
type LiveReader = {
  stream_id: string;
  account_id: string;
  who: () => Promise<Principal>;
  revision: number | null;
  signal: AbortSignal;
};

export class LiveText {
  readonly #deps: LiveTextDeps;
  readonly #recordings = new Map<string, LiveRecording>();
  readonly #watchers = new SharedPool('live_texts', WATCHERS);
  readonly #previews = new Previews();
  readonly #stopping = new AbortController();

  constructor(deps: LiveTextDeps) {
    this.#deps = deps;
  }

  get pools(): SharedPool[] {
    return [this.#watchers, this.#previews.pool];
  }

  /** Ends all readers. */
  close(): void {
    this.#stopping.abort();
  }

  /**
   * Events of a recording until it has ended and all of it is transcribed, the signal, or the end of the credential, which
   * throws Refused as a first request would. Null comes first, when nothing is refused.
   */
  async *read({ stream_id, account_id, who, revision, signal }: LiveReader): AsyncGenerator<LiveEvent | null> {
    const deps = this.#deps;
    let caller = await who();
    let readable = await readableTranscript(deps, caller, stream_id);
    const leave = this.#enter(account_id, stream_id);
    try {
      yield null;
      const { recording } = leave;
      const shown = new ShownTurns();
      let shown_revision: number | null = null;
      let preview = NO_LINES;
      if (revision !== null && revision === revisionOf(readable.transcript)) {
        // All of it is there already.
        for await (const _ of shown.changes(deps, caller, readable));
        shown_revision = revision;
      }
      let checked_at = performance.now();
      while (!signal.aborted && !this.#stopping.signal.aborted && !deps.isLeaving()) {
        const { version } = recording;
        if (recording.is_gone || performance.now() - checked_at > LIMITS.live_recheck_ms) {
          caller = await who();
          readable = await readableTranscript(deps, caller, stream_id);
          checked_at = performance.now();
        }
        if (shown_revision === null || shown_revision < recording.revision) {
          readable = await readableTranscript(deps, caller, stream_id);
          shown_revision = revisionOf(readable.transcript);
          const id = String(shown_revision);
          for await (const data of shown.changes(deps, caller, readable)) yield { event: 'turns', id, data };
        }
        const before = preview;
        preview = recording.preview;
        if (before !== preview && before.lines.length + preview.lines.length > 0)
          yield { event: 'preview', data: preview };
        if (recording.is_over) {
          yield { event: 'end', data: {} };
          return;
        }
        await recording.changedSince(version, AbortSignal.any([signal, this.#stopping.signal]));
      }
    } finally {
      leave.now();
    }
  }

  /** Counts a reader. Throws TOO_MANY_REQUESTS, UNAVAILABLE. */
  #enter(account_id: string, stream_id: string): { recording: LiveRecording; now(): void } {
    if (!this.#watchers.tryTake(account_id))
      throw new Refused(this.#watchers.hasItsShare(account_id) ? TOO_MANY : FULL);
    const recording = this.#recordings.get(stream_id) ?? new LiveRecording(this.#deps, stream_id, this.#previews);
    this.#recordings.set(stream_id, recording);
    recording.enter();
    const now = () => {
      this.#watchers.leave(account_id);
      if (recording.leave() === 0) this.#recordings.delete(stream_id);
    };
    return { recording, now };
  }
}

function revisionOf(transcript: Transcript | null): number {
  return transcript?.revision ?? 0;
}

/** One recording, looked at for all of its readers in this process. */
class LiveRecording {
  readonly #deps: LiveTextDeps;
  readonly #stream_id: string;
  readonly #previews: Previews;
  readonly #monotonicMs: () => number;
  readonly #stop = new AbortController();
  readonly #waiting = new Set<() => void>();
  #readers = 0;
  #settled_looks = 0;
  #audio: PreviewedAudio | null = null;
  #growth: Growth | null = null;
  /** Rises with every change of the following fields. */
  version = 0;
  /** The transcript's revision. */
  revision = 0;
  preview = NO_LINES;
  /** The recording has ended, and none of its audio waits. */
  is_over = false;
  is_gone = false;

  constructor(deps: LiveTextDeps, stream_id: string, previews: Previews) {
    this.#deps = deps;
    this.#stream_id = stream_id;
    this.#previews = previews;
    this.#monotonicMs = deps.monotonicMs ?? (() => performance.now());
  }

  enter(): void {
    this.#readers += 1;
    if (this.#readers > 1) return;
    void this.#follow();
  }

  /** Returns the number of remaining readers. */
  leave(): number {
    this.#readers -= 1;
    if (this.#readers === 0) {
      this.#stop.abort();
      this.#previews.leave(this);
    }
    return this.#readers;
  }

  /** Resolves after a change, or at the latest a second later. */
  async changedSince(version: number, signal: AbortSignal): Promise<void> {
    if (version !== this.version) return;
    const woken = new AbortController();
    const wake = () => woken.abort();
    this.#waiting.add(wake);
    await delay(LOOK_EVERY_MS, undefined, { signal: AbortSignal.any([signal, woken.signal]) }).catch(() => {});
    this.#waiting.delete(wake);
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted && !this.is_gone && !this.is_over) {
      await this.#look().catch((error: unknown) => {
        if (isRefused(error, 'NOT_FOUND')) this.is_gone = true;
        // Whatever else it is, it may be over soon; readers see that their own requests fail.
      });
      const every_ms = this.#previews.has(this) ? PREVIEW_LOOK_EVERY_MS : LOOK_EVERY_MS;
      await delay(every_ms, undefined, { signal }).catch(() => {});
    }
    this.#previews.leave(this);
    this.#wake();
  }

  async #look(): Promise<void> {
    const { actors } = this.#deps;
    const stream = await actors.stream(this.#stream_id).view();
    const transcript = stream.transcribed ? await orNull(actors.transcript(this.#stream_id).view(), 'NOT_FOUND') : null;
    const heard_ms = heardUntil(transcript);
    const revision = revisionOf(transcript);
    if (this.revision !== revision) {
      this.revision = revision;
      this.#wake();
    }
    this.#show({ from_ms: heard_ms, lines: this.preview.lines });
    await this.#settle(stream, transcript);
    const heard_by = await this.#previewedAs(stream);
    if (heard_by === null || this.is_over) this.#previews.leave(this);
    else if (this.#previews.enter(this, stream.account_id)) this.#decode(stream, { heard_ms, heard_by });
  }

  /** Null for audio that another engine transcribes, and where none has come for a while. */
  async #previewedAs(stream: Stream): Promise<HeardBy | null> {
    if (this.#deps.engine === null) return null;
    if (this.#growth?.stored_chunks !== stream.stored_chunks) {
      const heard_by = await this.#deps.jobs.heardBy(stream);
      this.#growth = { stored_chunks: stream.stored_chunks, at: this.#monotonicMs(), heard_by };
    }
    const { at, heard_by } = this.#growth;
    const is_growing = this.#monotonicMs() - at < LIMITS.live_preview_idle_ms;
    return is_growing && heard_by?.engine === OPERATORS_ENGINE ? heard_by : null;
  }

  async #settle(stream: Stream, transcript: Transcript | null): Promise<void> {
    if (stream.end_ms === null) return;
    const awaited = await this.#deps.awaited(this.#stream_id);
    const is_told = !stream.transcribed || transcript === null || transcript.end_ms !== null;
    const is_in = stream.unprocessed === 0 && stream.open.length === 0 && is_told;
    const is_settled = awaited === null || (awaited.length === 0 && is_in);
    this.#settled_looks = is_settled ? this.#settled_looks + 1 : 0;
    this.is_over = this.#settled_looks >= SETTLED_LOOKS;
  }

  /** Decodes new audio, unless a decoding is in progress. */
  #decode(stream: Stream, { heard_ms, heard_by }: { heard_ms: number; heard_by: HeardBy }): void {
    if (this.#audio?.is_under_way) return;
    const from_ms = Math.max(heard_ms, stream.stored_until_ms - LIMITS.live_preview_ms_max);
    const is_new = this.#audio?.stored_chunks !== stream.stored_chunks && from_ms < stream.stored_until_ms;
    const is_due = performance.now() - (this.#audio?.began_at ?? Number.NEGATIVE_INFINITY) >= PREVIEW_EVERY_MS;
    if (!is_new || !is_due) return;
    const audio = { stored_chunks: stream.stored_chunks, began_at: performance.now(), is_under_way: true };
    this.#audio = audio;
    void this.#previews
      .inTurn(async () => {
        // What was published meanwhile is not decoded again.
        const begins_ms = Math.max(from_ms, this.preview.from_ms);
        const lines = await linesOf(this.#deps, { stream, from_ms: begins_ms, language: heard_by.language });
        if (lines !== null) this.#show({ from_ms: this.preview.from_ms, lines });
      })
      .catch(() => {}) // with the next audio it is tried again
      .finally(() => {
        audio.is_under_way = false;
      });
  }

  /** Without lines of what is transcribed by now. */
  #show({ from_ms, lines }: LivePreview): void {
    const left = lines.filter(({ start_ms, end_ms }) => (start_ms + end_ms) / 2 >= from_ms);
    const before = this.preview;
    const is_same = before.lines.length === left.length && left.every((line, at) => isSame(line, before.lines[at]));
    if (is_same && before.from_ms === from_ms) return;
    this.preview = { from_ms, lines: left };
    if (!is_same) this.#wake();
  }

  #wake(): void {
    this.version += 1;
    for (const wake of [...this.#waiting]) wake();
  }
}

type HeardBy = NonNullable<Awaited<ReturnType<TranscriptionJobs['heardBy']>>>;

/** The last new audio: how many chunks there were, when that was seen, by the monotonic clock, and what is to hear it. */
type Growth = { stored_chunks: number; at: number; heard_by: HeardBy | null };

/** The last decoding: how many chunks there were, and when it began, by the monotonic clock. */
type PreviewedAudio = { stored_chunks: number; began_at: number; is_under_way: boolean };

/** Chunks of two seconds come a little apart: each is decoded when it comes. */
const PREVIEW_EVERY_MS = LIMITS.live_preview_every_ms - PREVIEW_LOOK_EVERY_MS;

/** Decodes preliminary lines of a few recordings, one at a time, and leaves the engine as much time for windows. */
class Previews {
  readonly pool = new SharedPool('live_previews', PREVIEWS);
  /** The accounts of recordings that have preliminary lines. */
  readonly #recordings = new Map<LiveRecording, string>();
  #last: Promise<void> = Promise.resolve();

  /** Whether the recording has preliminary lines. Where there is no place, an account that has more gives one up. */
  enter(recording: LiveRecording, account_id: string): boolean {
    if (this.has(recording)) return true;
    if (!this.pool.tryTake(account_id)) {
      const [other] = this.#ofMost(account_id);
      if (other === undefined) return false;
      this.leave(other);
      if (!this.pool.tryTake(account_id)) return false;
    }
    this.#recordings.set(recording, account_id);
    return true;
  }

  /** Recordings of the account that has most, where that is at least two more than this one has. */
  #ofMost(account_id: string): LiveRecording[] {
    const by_account = new Map<string, LiveRecording[]>();
    for (const [recording, account] of this.#recordings)
      by_account.set(account, [...(by_account.get(account) ?? []), recording]);
    const most = [...by_account.values()].reduce((a, b) => (b.length > a.length ? b : a), []);
    return most.length > (by_account.get(account_id)?.length ?? 0) + 1 ? most : [];
  }

  has(recording: LiveRecording): boolean {
    return this.#recordings.has(recording);
  }

  leave(recording: LiveRecording): void {
    const account_id = this.#recordings.get(recording);
    if (account_id === undefined) return;
    this.#recordings.delete(recording);
    this.pool.leave(account_id);
  }

  inTurn(work: () => Promise<void>): Promise<void> {
    let took_ms = 0;
    const done = this.#last.then(async () => {
      const began_at = performance.now();
      await work().finally(() => {
        took_ms = performance.now() - began_at;
      });
    });
    this.#last = done.catch(() => {}).then(() => delay(took_ms));
    return done;
  }
}

/** Where the last audio ends of which the transcript says something, ms. */
function heardUntil(transcript: Transcript | null): number {
  if (transcript === null) return 0;
  const ends = [...transcript.covered.map(([, to_ms]) => to_ms), ...transcript.failed.map(({ to_ms }) => to_ms)];
  return Math.max(0, ...ends);
}

/** Decodes the newest audio to lines; null where that is not possible now. */
async function linesOf(
  { actors, stores, engine }: LiveTextDeps,
  { stream, from_ms, language }: { stream: Stream; from_ms: number; language: string | null },
): Promise<Line[] | null> {
  if (engine === null) return null;
  const range = { descending: true, limit: LIVE_PREVIEW_CHUNKS_MAX };
  const { chunks } = await actors.stream(stream.id).list_chunks({ range });
  const audio = chunks
    .filter(isStored)
    .filter(({ result }) => result?.status !== 'failed')
    .filter(({ source_start_ms, source_end_ms }) => source_end_ms > from_ms && source_start_ms < stream.stored_until_ms)
    .map(windowChunk);
  const work = {
    ...{
      account_id: stream.account_id,
      stream_id: stream.id,
      tries: 1,
      from_ms,
      to_ms: stream.stored_until_ms,
      final: true,
      audio,
    },
    ...{ diarize: false, language, vocabulary: [], previous_text: null, speech_before: NO_SPEECH_BEFORE },
  };
  const signal = AbortSignal.timeout(PREVIEW_MS_MAX);
  const transcribed = await transcribeWindow({ engine, stores, work, signal });
  if (!transcribed.ok) return null;
  return transcribed.result.turns.map(({ start_ms, end_ms, text }) => ({ start_ms, end_ms, text }));
}
