import { randomUUID } from 'node:crypto';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import pMap from 'p-map';
import { AppClient } from '../../kits/typescript/src/app_client.js';
import { sha256Of } from '../../kits/typescript/src/device_client.js';
import { OperatorClient } from '../../kits/typescript/src/operator_client.js';
import { Patience } from '../../kits/typescript/src/retries.js';
import { pcm16Format, writeWav } from '../../src/engine/audio/wav.js';
import { speak } from '../speech/audible_script.js';
import { UserError } from '../user_error.js';
import { signIn } from './recorder.js';
import { type ScriptedConversation, scriptedWeek } from './scripted_week.js';
import type { ChosenServer } from './server_choice.js';
import { lineOf, transcriptOf } from './transcript.js';
import { SPEAKERS } from './week.js';

/** Low: what is said stands in the samples, and nobody listens to them. */
const RATE = 2_000;
const AT_ONCE = 4;
const DAY_MS = 86_400_000;
const DAYS_OF_WEEK = 7;
const POLL_MS = 200;
const WAIT_MS_MAX = 120_000;
/** Nothing is looked into before it was quiet for ten seconds. */
const QUIET_MS = 12_000;
const SUNDAY = 0;
/** Whose account it is. */
const SELF = SPEAKERS.M as string;
const QUESTIONS = ['what did I promise last week', 'where is the spare key', 'what does the battery cabinet cost'];
const SHOWN = 3;

type WeekRecording = { app: AppClient; patience: Patience };
type Week = WeekRecording & { operator: OperatorClient; out: Writable };

/**
 * Records the scripted week into a server whose engine hears what the script says, as last week; then asks what an
 * assistant would ask. Gives a token with which one reads it. Whether all of it was heard.
 */
export async function runWeek(
  server: ChosenServer,
  { email, out }: { email: string; out: Writable },
): Promise<{ is_heard: boolean; token: string }> {
  const patience = new Patience();
  const operator = new OperatorClient(server.operator_url, server.ops_token);
  const app = new AppClient(server.base_url, { patience: null });
  const week = { app, operator, patience, out };
  try {
    await signIn(week, email);
    out.write(`signed in as ${email}\n`);
    const { conversations, said, heard } = await recordWeek(week);
    out.write(`${conversations} conversations, ${heard} of ${said} turns heard\n`);
    out.write(`${await suggestionsOf(week)} suggestions made of them\n`);
    for (const question of QUESTIONS) await show(week, question);
    const { value } = await patience.ask(() =>
      app.call('POST /me/tokens', {
        body: { name: 'Assistant', permissions: ['turns:read', 'insights:read'], expires_at: null },
      }),
    );
    return { is_heard: heard === said, token: value };
  } finally {
    operator.close();
    app.close();
  }
}

/** All of it, by an account that is signed in; how many turns there are, and how many of them were heard. @public for measuring. */
export async function recordWeek(week: WeekRecording): Promise<{ conversations: number; said: number; heard: number }> {
  const { app, patience } = week;
  const conversations = scriptedWeek();
  const contacts = await makeContacts(week);
  const { id: source_id } = await patience.ask(() => app.call('POST /sources', { body: { name: 'Pocket recorder' } }));
  const monday_ms = lastMonday(Date.now());
  const heard = await pMap(
    conversations,
    async (conversation) => {
      const stream_id = await record(week, { conversation, source_id, monday_ms });
      await nameSpeakers(week, { conversation, stream_id, contacts });
      return turnsIn(week, stream_id);
    },
    { concurrency: AT_ONCE },
  );
  const sum = (numbers: number[]) => numbers.reduce((all, number) => all + number, 0);
  return {
    conversations: conversations.length,
    said: sum(conversations.map(({ turns }) => turns.length)),
    heard: sum(heard),
  };
}

/** Midnight (UTC) of the Monday with which the week before this one began. */
function lastMonday(now_ms: number): number {
  const today_ms = Math.floor(now_ms / DAY_MS) * DAY_MS;
  const day = new Date(today_ms).getUTCDay();
  const since_monday = day === SUNDAY ? DAYS_OF_WEEK - 1 : day - 1;
  return today_ms - (since_monday + DAYS_OF_WEEK) * DAY_MS;
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

/** Gives the stream's id, once the recording is uploaded and transcribed. */
async function record(
  { app, patience }: WeekRecording,
  { conversation, source_id, monday_ms }: { conversation: ScriptedConversation; source_id: string; monday_ms: number },
): Promise<string> {
  const { day, at_ms, place, turns } = conversation;
  const captured_at = new Date(monday_ms + day * DAY_MS + at_ms).toISOString();
  const body = { source_id, captured_at, title: place };
  const { id: stream_id } = await patience.ask(() => app.call('POST /audio/streams', { body }));
  const end_ms = turns.at(-1)?.end_ms ?? 0;
  const format = { frames_per_second: RATE, frame_bytes: 2 };
  const samples = Buffer.alloc(Math.ceil((end_ms / 1_000) * RATE) * format.frame_bytes);
  speak(samples, format, turns);
  const wav = writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: RATE }) }, samples);
  const intent = {
    ...{ source_chunk_ref: randomUUID(), sequence: 0, source_start_ms: 0, publication_start_ms: 0 },
    ...{ source_end_ms: end_ms, codec: 'pcm_s16le' as const, container: 'wav' as const },
    ...{ size_bytes: wav.length, sha256: sha256Of(wav) },
  };
  const path = { id: stream_id };
  const { upload_path } = await patience.repeat(() =>
    app.call('POST /audio/streams/{id}/chunks/intents', { path, body: intent }),
  );
  await patience.repeat(() => app.upload(upload_path, wav));
  await patience.repeat(() => app.call('POST /audio/streams/{id}/end', { path, body: { end_ms } }));
  const reading = { app, patience, stream_id };
  for (const until = performance.now() + WAIT_MS_MAX; performance.now() < until; await delay(POLL_MS)) {
    const { waiting, covered } = await transcriptOf(reading);
    if (waiting.length === 0 && covered.length > 0) return stream_id;
  }
  throw new UserError(`${place} was not transcribed within ${WAIT_MS_MAX / 1_000} s.`);
}

/** Speakers have numbers in the order in which they begin to speak. */
async function nameSpeakers(
  { app, patience }: WeekRecording,
  {
    conversation,
    stream_id,
    contacts,
  }: { conversation: ScriptedConversation; stream_id: string; contacts: Map<string, string> },
): Promise<void> {
  const names = [...new Set(conversation.turns.map(({ speaker }) => speaker))];
  for (const [at, name] of names.entries()) {
    const path = { id: stream_id, speaker: `S${at + 1}` };
    const body = { contact_id: contacts.get(name) ?? null };
    await patience.repeat(() => app.call('PATCH /audio/streams/{id}/speakers/{speaker}', { path, body }));
  }
}

async function turnsIn({ app, patience }: WeekRecording, stream_id: string): Promise<number> {
  const { items } = await patience.repeat(() => app.call('GET /turns', { query: { stream_id, limit: 100 } }));
  return items.length;
}

/** Counts the suggestions, once no more come. */
async function suggestionsOf({ app, patience }: Week): Promise<number> {
  let [count, changed] = [0, performance.now()];
  for (const until = changed + WAIT_MS_MAX; performance.now() < until; await delay(POLL_MS)) {
    let [seen, cursor]: [number, string | undefined] = [0, undefined];
    do {
      const query: { limit: number; cursor: string | undefined } = { limit: 100, cursor };
      const page = await patience.repeat(() => app.call('GET /suggestions', { query }));
      seen += page.items.length;
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    if (seen !== count) changed = performance.now();
    count = seen;
    if (performance.now() - changed > QUIET_MS) return count;
  }
  return count;
}

async function show({ app, patience, out }: Week, query: string): Promise<void> {
  out.write(`\n${query}?\n`);
  const { items } = await patience.repeat(() =>
    app.call('POST /recall', { body: { query, limit: SHOWN, context_turns: 0 } }),
  );
  for (const { started_at, turns } of items) {
    out.write(`  ${started_at.slice(0, 16).replace('T', ' ')}\n`);
    for (const turn of turns) out.write(`    ${lineOf(turn)}\n`);
  }
}
