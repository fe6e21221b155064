/** Records a labelled conversation into a server whose engine hears what its script says, and asks what was made of it. */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Patience } from '../../../dist/kits/typescript/src/retries.js';
import { pcm16Format, writeWav } from '../../../dist/src/engine/audio/wav.js';
import { speak } from '../../../dist/tools/speech/audible_script.js';

/** Low: what is said stands in the samples, and nobody listens to them. */
const RATE = 4_000;
const FORMAT = { frames_per_second: RATE, frame_bytes: 2 };
const CHUNK_MS = 30_000;
const POLL_MS = 200;
const WAIT_MS_MAX = 60_000;
/** Until a conversation that nobody adds to is over. */
const OVER_MS = 11 * 60_000;
const QUIET_MS = 2_500;
const PASSAGES = 8;
const patience = new Patience();
/** Again after a refusal that passes: on a busy machine a server admits fewer. */
const ask = (app, ...call) => patience.repeat(() => app.ask(...call));

async function until(what, read) {
  for (const end = performance.now() + WAIT_MS_MAX; performance.now() < end; await delay(POLL_MS)) {
    const got = await read();
    if (got) return got;
  }
  throw new Error(`${what}: not within ${WAIT_MS_MAX} ms`);
}

/** An account without recordings, as the app makes one. `time_zone`: of the browser. */
export async function accountFor(spool, name, time_zone) {
  const { app } = await spool.signIn(`${name}@spool.example`);
  const { id } = await ask(app, 'GET', '/me');
  const tools = { enabled: true };
  await spool.operator.ask('PUT', `/ops/accounts/${id}/entitlements/developer.tools`, tools);
  await ask(app, 'PATCH', '/profile', { revision: 0, time_zone });
  return app;
}

/** Moves the server's clock to the conversation, whose day must not be before that of another one. Sessions may end by it. */
export async function moveClockTo(spool, { captured_at }) {
  const later_ms = Date.parse(captured_at) - Date.parse((await spool.operator.advanceClock(1)).now);
  if (later_ms > 0) await spool.operator.advanceClock(later_ms);
}

/** Records a conversation at the server's time. Gives the stream and its contacts. */
export async function heard(spool, app, conversation) {
  const stream_id = await record(app, conversation);
  const contacts = {};
  for (const [letter, name] of Object.entries(conversation.speakers))
    contacts[letter] = (await ask(app, 'POST', '/contacts', { name, is_self: Object.keys(contacts).length === 0 })).id;
  await nameSpeakers(app, { conversation, stream_id, contacts });
  await spool.operator.advanceClock(OVER_MS);
  await until('insights', async () => {
    const { state } = await ask(app, 'GET', `/audio/streams/${stream_id}/summary`);
    return state !== 'pending';
  });
  await delay(QUIET_MS);
  return { stream_id, contacts };
}

async function record(app, conversation) {
  const { captured_at } = conversation;
  const { id: source_id } = await ask(app, 'POST', '/sources', { name: 'Recorder' });
  const { id } = await ask(app, 'POST', '/audio/streams', { source_id, captured_at });
  const end_ms = Math.ceil((conversation.turns.at(-1).end_ms + 1_000) / 1_000) * 1_000;
  const samples = Buffer.alloc((end_ms / 1_000) * RATE * FORMAT.frame_bytes);
  speak(samples, FORMAT, conversation.turns);
  for (let from = 0, sequence = 0; from < end_ms; from += CHUNK_MS, sequence += 1) {
    const to = Math.min(end_ms, from + CHUNK_MS);
    const byteOf = (ms) => (ms / 1_000) * RATE * FORMAT.frame_bytes;
    const fmt = pcm16Format({ channels: 1, frames_per_second: RATE });
    const wav = writeWav({ fmt }, samples.subarray(byteOf(from), byteOf(to)));
    const { upload_path } = await ask(app, 'POST', `/audio/streams/${id}/chunks/intents`, {
      ...{ source_chunk_ref: randomUUID(), sequence, source_start_ms: from, publication_start_ms: from },
      ...{ source_end_ms: to, codec: 'pcm_s16le', container: 'wav', size_bytes: wav.length },
      sha256: createHash('sha256').update(wav).digest('hex'),
    });
    await patience.repeat(() => app.upload(upload_path, wav));
  }
  await ask(app, 'POST', `/audio/streams/${id}/end`, { end_ms });
  await until('the transcript', async () => {
    const { waiting, covered } = await ask(app, 'GET', `/audio/streams/${id}/transcript`);
    return waiting.length === 0 && covered.length > 0;
  });
  return id;
}

/** Each speaker is the person who says most of its turns. */
async function nameSpeakers(app, { conversation, stream_id, contacts }) {
  const turns = await allOf(app, `/turns?stream_id=${stream_id}`);
  for (const speaker of new Set(turns.flatMap((turn) => turn.speaker ?? []))) {
    const numbers = turns.filter((turn) => turn.speaker === speaker).flatMap((turn) => turnsIn(conversation, [turn]));
    const letters = numbers.map((n) => conversation.turns[n - 1].speaker);
    const times = (letter) => letters.filter((one) => one === letter).length;
    const [most] = [...new Set(letters)].sort((a, b) => times(b) - times(a));
    if (most !== undefined)
      await ask(app, 'PATCH', `/audio/streams/${stream_id}/speakers/${speaker}`, { contact_id: contacts[most] });
  }
}

/** Gives the insights of the only conversation of an account, in the form that the scorer reads. */
export async function made(app, { conversation, stream_id, contacts }) {
  const lengthOf = ({ started_at, ended_at }) => Date.parse(ended_at) - Date.parse(started_at);
  const [longest] = (await allOf(app, '/conversations')).sort((a, b) => lengthOf(b) - lengthOf(a));
  const names = new Map(Object.entries(contacts).map(([letter, id]) => [id, conversation.speakers[letter]]));
  const ownerOf = ({ owner_contact_id: id }) => (id === null ? null : (names.get(id) ?? 'somebody else'));
  const suggestions = (await allOf(app, '/suggestions')).filter(({ status }) => status === 'open').reverse();
  return {
    title: longest?.title ?? null,
    summary: longest?.summary ?? null,
    recall: await recalled(app, { conversation, stream_id }),
    suggestions: suggestions.map(({ kind, text, due_at, roles, evidence }) => ({
      ...{ kind, text, due_at, owner: ownerOf(roles) },
      turns: turnsIn(conversation, evidence),
    })),
  };
}

/** For each question the passages, as turns of this conversation: none for a passage of another one. */
export async function recalled(app, { conversation, stream_id }) {
  const recall = [];
  for (const { q: query } of conversation.questions) {
    const body = { query, time_zone: conversation.time_zone, limit: PASSAGES };
    const { items } = await ask(app, 'POST', '/recall', body);
    const spans = (item) => (item.turns.length > 0 ? item.turns : [item]);
    const turnsOf = (item) => (item.stream_id === stream_id ? turnsIn(conversation, spans(item)) : []);
    recall.push({ q: query, results: items.map(turnsOf) });
  }
  return recall;
}

async function allOf(app, path) {
  const all = [];
  for (let cursor = null; ; ) {
    const rest = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await ask(app, 'GET', `${path}${path.includes('?') ? '&' : '?'}limit=100${rest}`);
    all.push(...page.items);
    cursor = page.cursor;
    if (cursor === null || page.items.length === 0) return all;
  }
}

/** Numbers of the turns that lie in these spans for half of their own time, or of the span's. */
function turnsIn(conversation, spans) {
  const isIn = (turn) =>
    spans.some(({ start_ms, end_ms }) => {
      const shared_ms = Math.min(turn.end_ms, end_ms) - Math.max(turn.start_ms, start_ms);
      return shared_ms > 0 && shared_ms >= Math.min(turn.end_ms - turn.start_ms, end_ms - start_ms) / 2;
    });
  return conversation.turns.filter(isIn).map(({ n }) => n);
}
