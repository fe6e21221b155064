import { computed, signal } from '@preact/signals';
import { api } from '../api/api.js';
import { ApiError } from '../api/api_error.js';
import { browserSource } from './browser_source.js';
import { Microphone } from './microphone.js';
import { Uploads } from './uploads.js';
import { wavOf } from './wav.js';

/**
 * Records with this browser, as one more source of the account. It goes on while other pages are shown. Chunks are sent as
 * they fill; pauses are gaps of the timeline, so that what was said keeps its time.
 */

const CHUNK_MS = 5_000;
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
/** Why a recording ended that nobody ended. */
export const interruption = signal<string | null>(null);

export const is_recording = computed(() => recorder.value.is !== 'off' && recorder.value.is !== 'starting');

let microphone: Microphone | null = null;
let pieces: Float32Array[] = [];
let samples = 0;
let sequence = 0;
/** Where the present chunk begins on the timeline. */
let chunk_start_ms = 0;
let began_at = 0;
let awake: WakeLockSentinel | null = null;

/** Opens the microphone and registers the recording. Throws NoMicrophone, ApiError. */
export async function startRecording(account_id: string): Promise<void> {
  if (recorder.peek().is !== 'off') return;
  recorder.value = { is: 'starting' };
  interruption.value = null;
  try {
    microphone = await Microphone.open(take, () => void interrupted());
    const source_id = await browserSource(account_id);
    const captured_at = new Date().toISOString();
    const { id } = await api('POST /audio/streams', { body: { source_id, captured_at } });
    [pieces, samples, sequence, chunk_start_ms, began_at] = [[], 0, 0, 0, performance.now()];
    [recorded_ms.value, level.value] = [0, 0];
    recorder.value = { is: 'recording', recording: { stream_id: id, uploads: new Uploads(id) } };
    addEventListener('beforeunload', warn);
    document.addEventListener('visibilitychange', stayAwake);
    stayAwake();
  } catch (error) {
    await microphone?.close();
    microphone = null;
    recorder.value = { is: 'off' };
    throw error;
  }
}

export function pauseRecording(): void {
  const now = recorder.peek();
  if (now.is !== 'recording') return;
  cut();
  level.value = 0;
  recorder.value = { is: 'paused', recording: now.recording };
}

export function resumeRecording(): void {
  const now = recorder.peek();
  if (now.is !== 'paused') return;
  chunk_start_ms = Math.max(chunk_start_ms, Math.round(performance.now() - began_at));
  recorder.value = { is: 'recording', recording: now.recording };
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
  const { uploads, stream_id } = recording;
  await uploads.done();
  if (uploads.failed.peek()) return null;
  await endStream(stream_id);
  forget();
  return sequence === 0 ? null : stream_id;
}

/** Leaves what could not be sent. */
export function dropRecording(): void {
  const now = recorder.peek();
  if (now.is === 'off' || now.is === 'starting') return;
  now.recording.uploads.giveUp();
  void microphone?.close();
  microphone = null;
  forget();
}

function forget(): void {
  removeEventListener('beforeunload', warn);
  document.removeEventListener('visibilitychange', stayAwake);
  void awake?.release();
  awake = null;
  recorder.value = { is: 'off' };
}

/** A recording of nothing is removed. Where the end can't be told, the audio is there all the same. */
async function endStream(id: string): Promise<void> {
  const path = { id };
  for (;;) {
    try {
      if (sequence === 0) await api('DELETE /audio/streams/{id}', { path });
      else await api('POST /audio/streams/{id}/end', { path, body: { end_ms: chunk_start_ms } });
      return;
    } catch (error) {
      if (!(error instanceof ApiError) || !PASSING.includes(error.code) || recorder.peek().is !== 'ending') return;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

async function interrupted(): Promise<void> {
  interruption.value = 'The microphone is gone. What was recorded until then is kept.';
  await endRecording();
}

function take(piece: Float32Array): void {
  if (recorder.peek().is !== 'recording' || microphone === null) return;
  pieces.push(piece);
  samples += piece.length;
  const loudest = piece.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  level.value = Math.max(loudest, level.peek() * LEVEL_FALL);
  recorded_ms.value += (piece.length / microphone.samples_per_s) * 1_000;
  if ((samples / microphone.samples_per_s) * 1_000 >= CHUNK_MS) cut();
}

/** Makes a chunk of the audio since the last one. */
function cut(): void {
  const now = recorder.peek();
  if (!('recording' in now) || microphone === null || samples === 0) return;
  const { samples_per_s } = microphone;
  const start_ms = chunk_start_ms;
  const end_ms = start_ms + Math.round((samples / samples_per_s) * 1_000);
  now.recording.uploads.add({ sequence: sequence++, start_ms, end_ms, bytes: wavOf(pieces, samples_per_s) });
  [pieces, samples, chunk_start_ms] = [[], 0, end_ms];
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
