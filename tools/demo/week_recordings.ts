import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pMap from 'p-map';
import type { AppClient } from '../../kits/typescript/src/app_client.js';
import { sha256Of } from '../../kits/typescript/src/device_client.js';
import type { Patience } from '../../kits/typescript/src/retries.js';
import { pcm16Format, writeWav } from '../../src/engine/audio/wav.js';
import { speak } from '../speech/audible_script.js';
import { UserError } from '../user_error.js';
import { type BoundDevice, record, registerStream } from './recorder.js';
import { type ScriptedConversation, scriptedWeek, TODAY } from './scripted_week.js';
import { transcriptOf } from './transcript.js';
import { SPEAKERS } from './week.js';

/** Low: what is said stands in the samples. Chromium plays nothing below 3,000. */
const RATE = 4_000;
const AT_ONCE = 4;
const DAY_MS = 86_400_000;
const POLL_MS = 200;
const WAIT_MS_MAX = 120_000;
/** Whose account it is. */
const SELF = SPEAKERS.M as string;

export type WeekRecording = { app: AppClient; patience: Patience };
/** Devices that an account records with, and the workspace that it shares recordings in. */
export type WeekDevices = { workspace_id: string; pocket: BoundDevice; table: BoundDevice };
export type RecordedConversation = { conversation: ScriptedConversation; stream_id: string };

/**
 * All of it, by an account that is signed in; how many turns there are, and how many of them were heard. Without devices
 * the app records everything, and nothing is shared.
 */
export async function recordWeek(
  week: WeekRecording,
  devices: Promise<WeekDevices> | null = null,
): Promise<{ recordings: RecordedConversation[]; said: number; heard: number }> {
  const { app, patience } = week;
  const now_ms = Date.now();
  // The first day lies seven days back, so it is the same day of the week.
  const conversations = scriptedWeek(new Date(now_ms).getUTCDay());
  const contacts = await makeContacts(week);
  const { id: source_id } = await patience.ask(() => app.call('POST /sources', { body: { name: 'Phone' } }));
  const done = await pMap(
    conversations,
    async (conversation) => {
      const stream_id = await upload(week, { conversation, source_id, devices, now_ms });
      await untilTranscribed({ app, patience, stream_id }, conversation);
      await nameSpeakers(week, { conversation, stream_id, contacts });
      await describe(week, { conversation, stream_id });
      return { recording: { conversation, stream_id }, heard: await turnsIn(week, stream_id) };
    },
    { concurrency: AT_ONCE },
  );
  return {
    recordings: done.map(({ recording }) => recording),
    said: sumOf(conversations.map(({ turns }) => turns.length)),
    heard: sumOf(done.map(({ heard }) => heard)),
  };
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}

/** Days are those of UTC. */
function capturedAt({ day, at_ms }: ScriptedConversation, now_ms: number): string {
  // A session lists what was recorded after it began, so the present counts.
  if (day === TODAY) return new Date(Date.now() - at_ms).toISOString();
  const midnight_ms = Math.floor(now_ms / DAY_MS) * DAY_MS;
  return new Date(midnight_ms - (TODAY - day) * DAY_MS + at_ms).toISOString();
}

/** By name. */
async function makeContacts({ app, patience }: WeekRecording): Promise<Map<string, string>> {
  const contacts = new Map<string, string>();
  for (const name of Object.values(SPEAKERS)) {
    const body = { name, ...(name === SELF && { is_self: true }) };
    const { id } = await patience.ask(() => app.call('POST /contacts', { body }));
    contacts.set(name, id);
  }
  return contacts;
}

type Uploading = {
  conversation: ScriptedConversation;
  source_id: string;
  devices: Promise<WeekDevices> | null;
  now_ms: number;
};

/** Gives the stream's id, once the recording is uploaded. */
async function upload(week: WeekRecording, { conversation, source_id, devices, now_ms }: Uploading): Promise<string> {
  const { app, patience } = week;
  const { by, is_shared, turns } = conversation;
  const used = by !== 'phone' || is_shared ? await devices : null;
  const captured_at = capturedAt(conversation, now_ms);
  const end_ms = turns.at(-1)?.end_ms ?? 0;
  const wav = spoken(conversation, end_ms);
  if (used !== null && by !== 'phone') {
    const recorder = await registerStream(used[by], { captured_at, patience });
    const piece = { sequence: 0, start_ms: 0, end_ms, size_bytes: wav.length, read: async () => wav };
    const recording = { codec: 'pcm_s16le', container: 'wav', duration_ms: end_ms, pieces: [piece] };
    const lane = { name: by, bytes: 0, chunks: 0, bytes_total: wav.length, chunks_total: 1 };
    await record(recorder, { recording, patience, hashes: new Map(), chunk_ms: [], lane });
    return recorder.stream_id;
  }
  const body = { source_id, captured_at, ...(used !== null && { workspace_id: used.workspace_id }) };
  const { id } = await patience.ask(() => app.call('POST /audio/streams', { body }));
  const path = { id };
  const intent = {
    ...{ source_chunk_ref: randomUUID(), sequence: 0, source_start_ms: 0, publication_start_ms: 0 },
    ...{ source_end_ms: end_ms, codec: 'pcm_s16le' as const, container: 'wav' as const },
    ...{ size_bytes: wav.length, sha256: sha256Of(wav) },
  };
  const { upload_path } = await patience.repeat(() =>
    app.call('POST /audio/streams/{id}/chunks/intents', { path, body: intent }),
  );
  await patience.repeat(() => app.upload(upload_path, wav));
  await patience.repeat(() => app.call('POST /audio/streams/{id}/end', { path, body: { end_ms } }));
  return id;
}

function spoken({ turns }: ScriptedConversation, end_ms: number): Buffer {
  const format = { frames_per_second: RATE, frame_bytes: 2 };
  const samples = Buffer.alloc(Math.ceil((end_ms / 1_000) * RATE) * format.frame_bytes);
  speak(samples, format, turns);
  return writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: RATE }) }, samples);
}

async function untilTranscribed(
  reading: WeekRecording & { stream_id: string },
  { place }: ScriptedConversation,
): Promise<void> {
  for (const until = performance.now() + WAIT_MS_MAX; performance.now() < until; await delay(POLL_MS)) {
    const { waiting, covered } = await transcriptOf(reading);
    if (waiting.length === 0 && covered.length > 0) return;
  }
  throw new UserError(`${place} was not transcribed within ${WAIT_MS_MAX / 1_000} s.`);
}

/** Speakers have numbers in the order in which they begin to speak. */
async function nameSpeakers(
  { app, patience }: WeekRecording,
  { conversation, stream_id, contacts }: RecordedConversation & { contacts: Map<string, string> },
): Promise<void> {
  const names = [...new Set(conversation.turns.map(({ speaker }) => speaker))];
  for (const [at, name] of names.entries()) {
    const path = { id: stream_id, speaker: `S${at + 1}` };
    const body = { contact_id: contacts.get(name) ?? null };
    await patience.repeat(() => app.call('PATCH /audio/streams/{id}/speakers/{speaker}', { path, body }));
  }
}

/** Title, tags and star, where a person gave it any. */
async function describe({ app, patience }: WeekRecording, recorded: RecordedConversation): Promise<void> {
  const { title, tags, is_starred } = recorded.conversation;
  if (title === null && tags.length === 0 && !is_starred) return;
  const body = { ...(title !== null && { title }), tags, starred: is_starred };
  await patience.repeat(() => app.call('PATCH /audio/streams/{id}', { path: { id: recorded.stream_id }, body }));
}

async function turnsIn({ app, patience }: WeekRecording, stream_id: string): Promise<number> {
  const { items } = await patience.repeat(() => app.call('GET /turns', { query: { stream_id, limit: 100 } }));
  return items.length;
}
