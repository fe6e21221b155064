import { computed, effect, signal } from '@preact/signals';
import { api } from '../api/api.js';
import { ApiError } from '../api/api_error.js';
import { say } from '../language/say.js';
import { presentToken, session } from '../session/session.js';
import { browserSource } from './browser_source.js';
import { type ChunkHead, forgetRecording, hold, type KeptRecording, keepRecording } from './kept.js';
import { Microphone } from './microphone.js';
import { chosenWorkspace } from './recorded_into.js';
import { sound } from './sounds.js';
import { SteadyClock } from './steady_clock.js';
import { Uploads } from './uploads.js';
import { wavOf } from './wav.js';

/**
 * Records with this browser, as one more source of the account. It goes on while other pages are shown. Chunks are sent as
 * they fill, and kept here until then; pauses and interruptions are gaps of the timeline, so that what was said keeps its
 * time. When the page goes, the recording ends two minutes later; until then a page that is loaded anew can continue it.
 */

const CHUNK_MS = 2_000;
/** Samples that come so much later than those before them allow are behind a gap. */
const GAP_MIN_MS = 1_000;
const LISTEN_EVERY_MS = 1_000;
/** Pieces come ten times a second. */
const NO_SAMPLES_MS = 2_500;
/** No room is without any noise for so long. */
const NO_SOUND_MS = 5_000;
/** When an interrupted microphone may be back. */
const MAY_BE_BACK = ['focus', 'pointerdown', 'visibilitychange'] as const;
const CONTINUED_WITHIN_S = 120;
const LEVEL_FALL = 0.8;
const RETRY_MS = 2_000;
const PASSING = ['NETWORK', 'UNAVAILABLE', 'TOO_MANY_REQUESTS', 'INTERNAL'];

export type Recording = {
  stream_id: string;
  uploads: Uploads;
};

type State =
  | { is: 'off' }
  | { is: 'starting' }
  | { is: 'recording' | 'paused'; recording: Recording }
  /** The microphone is closed; what is left is on its way. */
  | { is: 'ending'; recording: Recording };

export const recorder = signal<State>({ is: 'off' });
/** The loudness, 0 to 1. */
export const level = signal(0);
/** The recorded time in ms, without pauses. */
export const recorded_ms = signal(0);
/** Why nothing is heard, while that is so: no samples come, or only silence. */
export const unheard = signal<'interrupted' | 'muted' | 'silent' | null>(null);
/** Why a recording ended that nobody ended. */
export const interruption = signal<string | null>(null);

export const is_recording = computed(() => recorder.value.is !== 'off' && recorder.value.is !== 'starting');

/** A recording that was not finished in this browser, and what of it is not sent. */
export type Unfinished = { recording: KeptRecording; chunks: ChunkHead[] };

let microphone: Microphone | null = null;
let pieces: Float32Array[] = [];
let samples = 0;
/** The present recording, as far as whole chunks go: the next one begins at its end, or later. */
let kept: KeptRecording | null = null;
const clock = new SteadyClock();
let began_at = 0;
/** When the last samples came, and the last sound. */
let [sampled_at, sounded_at] = [0, 0];
let listening: ReturnType<typeof setInterval> | undefined;
let awake: WakeLockSentinel | null = null;
let release = () => {};

/** Opens the microphone and registers the recording. Throws NoMicrophone, ApiError. */
export function startRecording(account_id: string): Promise<void> {
  return begin(async () => {
    const source_id = await browserSource(account_id);
    const captured_at_ms = Date.now();
    const captured_at = new Date(captured_at_ms).toISOString();
    const body = { source_id, captured_at, workspace_id: chosenWorkspace() };
    const { id: stream_id } = await api('POST /audio/streams', { body });
    return { recording: { stream_id, account_id, captured_at_ms, sequence: 0, end_ms: 0 }, chunks: [] };
  });
}

/** Goes on with a recording that has no end yet, at the present moment of its timeline. Throws NoMicrophone, ApiError. */
export function continueRecording(unfinished: Unfinished): Promise<void> {
  return begin(async () => {
    const { stream_id: id, end_ms } = unfinished.recording;
    // The end that the last page left is put off until the first new chunk.
    const body = { end_ms, unless_continued_s: CONTINUED_WITHIN_S };
    const stream = await api('POST /audio/streams/{id}/end', { path: { id }, body });
    if (stream.end_ms !== undefined)
      throw new ApiError('CONFLICT', say('It has ended by now. Finish it, and start another.'));
    return unfinished;
  });
}

/** Sends what is left of a recording and ends it, as `endRecording` does. */
export async function finishRecording(unfinished: Unfinished): Promise<string | null> {
  if (recorder.peek().is !== 'off') return null;
  const recording = open(unfinished);
  recorder.value = { is: 'ending', recording };
  return sendRest(recording);
}

/** Throws away what is left of a recording, and ends what is on the server. */
export async function discardRecording({ recording: { stream_id, end_ms } }: Unfinished): Promise<void> {
  await forgetRecording(stream_id);
  const path = { id: stream_id };
  const { stored_chunks } = await api('GET /audio/streams/{id}', { path });
  if (stored_chunks === 0) await api('DELETE /audio/streams/{id}', { path });
  else await api('POST /audio/streams/{id}/end', { path, body: { end_ms } }).catch(orEnded);
}

async function begin(find: () => Promise<Unfinished>): Promise<void> {
  if (recorder.peek().is !== 'off') return;
  recorder.value = { is: 'starting' };
  interruption.value = null;
  try {
    microphone = await Microphone.open({ take, changed: listen, lost: () => void disconnected() });
    const unfinished = await find();
    const { captured_at_ms, end_ms } = unfinished.recording;
    const recording = open(unfinished);
    const real_ms = Math.max(end_ms, Date.now() - captured_at_ms);
    // A new one begins with its first sample, unless registering it took long.
    const passed_ms = end_ms === 0 && real_ms < GAP_MIN_MS ? 0 : real_ms;
    began_at = clock.now() - passed_ms;
    [sampled_at, sounded_at] = [clock.now(), clock.now()];
    [pieces, samples] = [[], 0];
    [recorded_ms.value, level.value] = [end_ms, 0];
    kept = { ...unfinished.recording, end_ms: passed_ms };
    void keepRecording(unfinished.recording).catch(() => {});
    recorder.value = { is: 'recording', recording };
    addEventListener('beforeunload', warn);
    addEventListener('pagehide', leave);
    document.addEventListener('visibilitychange', stayAwake);
    for (const name of MAY_BE_BACK) addEventListener(name, listen, true);
    listening = setInterval(listen, LISTEN_EVERY_MS);
    stayAwake();
  } catch (error) {
    await microphone?.close();
    microphone = null;
    recorder.value = { is: 'off' };
    throw error;
  }
}

function open({ recording, chunks }: Unfinished): Recording {
  const { stream_id } = recording;
  kept = recording;
  release = hold(stream_id);
  return { stream_id, uploads: new Uploads(stream_id, chunks) };
}

export function pauseRecording(): void {
  const now = recorder.peek();
  if (now.is !== 'recording') return;
  cut();
  level.value = 0;
  unheard.value = null;
  recorder.value = { is: 'paused', recording: now.recording };
}

export function resumeRecording(): void {
  const now = recorder.peek();
  if (now.is !== 'paused' || kept === null) return;
  interruption.value = null;
  kept = { ...kept, end_ms: Math.max(kept.end_ms, Math.round(clock.now() - began_at)) };
  [sampled_at, sounded_at] = [clock.now(), clock.now()];
  recorder.value = { is: 'recording', recording: now.recording };
  listen();
}

/** Ends it, and gives the recording's id once all of it is on the server; null where some of it never will be. */
export async function endRecording(): Promise<string | null> {
  const now = recorder.peek();
  if (now.is !== 'recording' && now.is !== 'paused') return null;
  const { recording } = now;
  if (now.is === 'recording') cut();
  recorder.value = { is: 'ending', recording };
  level.value = 0;
  await microphone?.close();
  microphone = null;
  return sendRest(recording);
}

async function sendRest({ uploads, stream_id }: Recording): Promise<string | null> {
  await uploads.done();
  if (uploads.failed.peek() || recorder.peek().is !== 'ending') return null;
  const is_empty = kept?.sequence === 0;
  await endStream(stream_id);
  forget();
  return is_empty ? null : stream_id;
}

/** Leaves what could not be sent. */
export function dropRecording(): void {
  const now = recorder.peek();
  if (now.is === 'off' || now.is === 'starting') return;
  now.recording.uploads.giveUp();
  forget();
}

function forget(): void {
  if (kept !== null) void forgetRecording(kept.stream_id).catch(() => {});
  stop();
}

function stop(): void {
  removeEventListener('beforeunload', warn);
  removeEventListener('pagehide', leave);
  document.removeEventListener('visibilitychange', stayAwake);
  for (const name of MAY_BE_BACK) removeEventListener(name, listen, true);
  clearInterval(listening);
  unheard.value = null;
  void awake?.release();
  awake = null;
  void microphone?.close();
  microphone = null;
  kept = null;
  release();
  recorder.value = { is: 'off' };
}

/** A recording of nothing is removed. Where the end can't be told, the audio is there all the same. */
async function endStream(id: string): Promise<void> {
  const path = { id };
  const { sequence, end_ms } = kept as KeptRecording;
  for (;;) {
    try {
      if (sequence === 0) await api('DELETE /audio/streams/{id}', { path });
      else await api('POST /audio/streams/{id}/end', { path, body: { end_ms } });
      return;
    } catch (error) {
      if (!(error instanceof ApiError) || !PASSING.includes(error.code) || recorder.peek().is !== 'ending') return;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** For `catch`: whatever its end is, it has one. */
function orEnded(error: unknown): void {
  if (!(error instanceof ApiError && error.code === 'CONFLICT')) throw error;
}

/** The page goes: what is not sent stays here, and the recording will have an end. No answer can be waited for. */
function leave(): void {
  const now = recorder.peek();
  const token = presentToken();
  if (!('recording' in now) || kept === null || token === null) return;
  if (now.is === 'recording') cut();
  const { stream_id, end_ms, sequence } = kept;
  const body = now.is === 'ending' ? { end_ms } : { end_ms, unless_continued_s: CONTINUED_WITHIN_S };
  stop();
  const path = `/audio/streams/${stream_id}`;
  const headers = { Authorization: `Bearer ${token}`, 'X-API-Version': '1', 'Content-Type': 'application/json' };
  const sending = { headers, credentials: 'omit', keepalive: true } as const;
  if (sequence === 0) void fetch(path, { ...sending, method: 'DELETE' }).catch(() => {});
  else void fetch(`${path}/end`, { ...sending, method: 'POST', body: JSON.stringify(body) }).catch(() => {});
}

/** Nobody else records here. What is not sent waits for whoever recorded it, unless they signed out themselves. */
effect(() => {
  if (session.value.is !== 'out') return;
  const now = recorder.peek();
  if ('recording' in now) now.recording.uploads.giveUp();
  if (now.is !== 'off') stop();
});

async function disconnected(): Promise<void> {
  interruption.value =
    sound.peek() === 'shared'
      ? say('Sharing has ended. What was recorded until then is kept.')
      : say('The microphone was disconnected. What was recorded until then is kept.');
  await endRecording();
}

function take(piece: Float32Array, age_ms: number): void {
  if (!isRecording() || microphone === null || kept === null) return;
  const { samples_per_s } = microphone;
  sampled_at = clock.now() - age_ms;
  const came_ms = sampled_at - began_at;
  const is_late = came_ms - (kept.end_ms + msOf(samples + piece.length, samples_per_s)) > GAP_MIN_MS;
  if (is_late) {
    cut();
    if (!isRecording()) return;
    kept = { ...kept, end_ms: Math.round(came_ms - msOf(piece.length, samples_per_s)) };
  }
  pieces.push(piece);
  samples += piece.length;
  const loudest = piece.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  if (loudest > 0) sounded_at = sampled_at;
  level.value = Math.max(loudest, level.peek() * LEVEL_FALL);
  recorded_ms.value += msOf(piece.length, samples_per_s);
  if (msOf(samples, samples_per_s) >= CHUNK_MS) cut();
}

/** `cut` pauses where no more is kept. */
function isRecording(): boolean {
  return recorder.peek().is === 'recording';
}

function msOf(count: number, samples_per_s: number): number {
  return (count / samples_per_s) * 1_000;
}

/** Looks whether anything is heard, and has an interrupted microphone go on. */
function listen(): void {
  if (!isRecording() || microphone === null) return;
  void microphone.resume();
  const now = clock.now();
  const has_none = now - sampled_at > NO_SAMPLES_MS;
  if (has_none) {
    // What there is must not wait for what may never come.
    cut();
    level.value = 0;
  }
  const is_silent = now - sounded_at > NO_SOUND_MS;
  unheard.value = microphone.is_muted ? 'muted' : has_none ? 'interrupted' : is_silent ? 'silent' : null;
}

/** Makes a chunk of the audio since the last one. */
function cut(): void {
  const now = recorder.peek();
  if (!('recording' in now) || microphone === null || kept === null || samples === 0) return;
  const { uploads } = now.recording;
  const { samples_per_s } = microphone;
  const { sequence, end_ms: start_ms } = kept;
  const end_ms = start_ms + Math.round(msOf(samples, samples_per_s));
  kept = { ...kept, sequence: sequence + 1, end_ms };
  uploads.add(kept, { sequence, start_ms, end_ms, bytes: wavOf(pieces, samples_per_s) });
  [pieces, samples] = [[], 0];
  if (now.is !== 'recording' || !uploads.is_full.peek()) return;
  pauseRecording();
  interruption.value = say(
    'Recording is paused: 500 MB are waiting to be sent, the most that this browser keeps. Resume when some of it has been sent.',
  );
}

/** A phone whose screen goes dark ends what pages record. The lock is lost whenever the page is not in sight. */
function stayAwake(): void {
  const { wakeLock } = navigator as { wakeLock?: WakeLock };
  if (wakeLock === undefined || document.hidden) return;
  wakeLock.request('screen').then(
    (lock) => {
      awake = lock;
      if (recorder.peek().is === 'off') void lock.release();
    },
    () => {}, // a battery that is low: it goes on without
  );
}

function warn(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
