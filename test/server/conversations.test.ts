import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { Conversation, Event, SessionSummary, Suggestion } from '../../kits/typescript/src/api.js';
import { type DeviceClient, sha256Of } from '../../kits/typescript/src/device_client.js';
import { orNull } from '../../src/domain/refusals.js';
import { pcm16Format, writeWav } from '../../src/engine/audio/wav.js';
import { speak, type Utterance } from '../../tools/speech/audible_script.js';
import { type ChatRequest, ScriptedChat } from '../../tools/speech/scripted_chat.js';
import { ScriptedEngine } from '../../tools/speech/scripted_engine.js';
import { TestAccount } from '../fixtures/account.js';
import { allOf } from '../fixtures/colleagues.js';
import { privateWorkspaceOf } from '../fixtures/insights.js';
import { TestSpool } from '../fixtures/spool.js';
import { TestRecording } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const RATE = 8_000;
/** One window for each recording: labels of speakers hold within one. */
const SETTINGS = { RATE_LIMITS: 'off', CHUNK_WORKER: '1', TRANSCRIBE_WINDOW_S: '600' };

/** Something every five seconds, by two people in turns; every tenth is a promise. */
function script(name: string, minutes: number): (Utterance & { speaker: string })[] {
  return Array.from({ length: minutes * 12 }, (_, at) => ({
    text: at % 10 === 4 ? `I will bring ${name} number ${at} along.` : `This is what ${name} number ${at} says.`,
    ...{ start_ms: at * 5_000 + 500, end_ms: at * 5_000 + 4_500, speaker: at % 2 === 0 ? 'A' : 'B' },
  }));
}

async function add(recording: TestRecording, says: readonly Utterance[], minutes: number): Promise<void> {
  for (let from_ms = 0; from_ms < minutes * MINUTE_MS; from_ms += MINUTE_MS)
    await recording.add(MINUTE_MS, {
      says: says.filter(({ start_ms }) => start_ms >= from_ms && start_ms < from_ms + MINUTE_MS),
    });
}

const isPromise = (text: string) => text.startsWith('I will ');

/** Tasks of what is promised, and nothing of what is not there any more; a title that counts the turns. */
function thinks({ user }: ChatRequest): object {
  const { turns } = user.what_people_said;
  const promises = turns.filter(({ text }) => isPromise(text));
  const isNew = ({ text }: { text: string }) => !user.suggestions.some((known) => known.text === text);
  const isGone = ({ text, status }: { text: string; status: string }) =>
    status === 'open' && !turns.some((turn) => turn.text === text);
  return {
    conversation: {
      title: `${turns.length} turns`,
      sentences: turns.slice(0, 1).map(({ turn, text }) => ({
        text: 'Two people speak.',
        evidence: [{ turn, quote: text }],
      })),
      topics: ['things'],
    },
    suggestions: [
      ...promises.filter(isNew).map(({ turn, text, speaker }) => ({
        ...{ op: 'new', kind: 'task', text, owner: speaker, evidence: [{ turn, quote: text }] },
      })),
      ...user.suggestions.filter(isGone).map(({ ref }) => ({ op: 'withdraw', ref })),
    ],
    memories: turns
      .filter(({ turn }) => turn === 1 && user.memories.length === 0)
      .map(({ turn, text }) => ({ op: 'new', kind: 'fact', text, evidence: [{ turn, quote: text }] })),
  };
}

async function begin(t: Test, more: Record<string, string> = {}) {
  const [engine, chat] = [await ScriptedEngine.start(t), await ScriptedChat.start(t)];
  chat.thinks = thinks;
  const settings = { ...SETTINGS, TRANSCRIBE_URL: engine.url, INSIGHTS_URL: chat.url, ...more };
  const spool = await TestSpool.start(settings);
  t.teardown(() => spool.end());
  const open = async () => {
    const account = await TestAccount.open(spool, 'ann@x.test');
    await account.entitle('developer.tools', true);
    return account;
  };
  return { engine, chat, spool, open, ann: await open() };
}

const conversationsOf = async (account: TestAccount) =>
  (await account.ask<{ items: Conversation[] }>('GET', '/conversations?limit=100')).items;
const suggestionsOf = async (account: TestAccount) =>
  (await account.ask<{ items: Suggestion[] }>('GET', '/suggestions?limit=100')).items;

t.test('K-009 K-064 ten minutes of talk in two recordings are one conversation, and all that came of it', async (t) => {
  const { chat, spool, open, ann } = await begin(t);
  const first = await TestRecording.begin(ann, { captured_at: '2026-11-01T10:00:00.000Z' });
  const { source_id } = first;
  const second = await TestRecording.begin(ann, { source_id, captured_at: '2026-11-01T10:08:00.000Z' });
  const third = await TestRecording.begin(ann, { source_id, captured_at: '2026-11-01T10:18:00.000Z' });
  const said = { first: script('bread', 6), second: script('cheese', 4), third: script('wine', 1) };
  // The second is there before the first ends, and goes on until contacts are known.
  await add(second, said.second, 4);
  await add(first, said.first, 6);
  await add(third, said.third, 1);
  await first.end();
  await third.end();
  await spool.operator.advanceClock(11_000);
  const turnsOf = async (recording: TestRecording, account = ann) =>
    (
      await account.ask<{ items: { id: string; text: string; speaker: string }[] }>(
        ...(['GET', `/turns?stream_id=${recording.id}&limit=100`] as const),
      )
    ).items;
  const lengths = async () => [(await turnsOf(first)).length, (await turnsOf(second)).length];
  await until('both are transcribed', async () => (await lengths()).join() === '72,48', 30_000);
  const people: Record<string, string> = {};
  for (const name of ['Eva', 'Max']) people[name] = (await ann.ask<{ id: string }>('POST', '/contacts', { name })).id;
  for (const recording of [first, second]) {
    const labelOf = new Map([...said.first, ...said.second].map(({ text, speaker }) => [text, speaker]));
    const speakers = new Map((await turnsOf(recording)).map(({ text, speaker }) => [speaker, labelOf.get(text)]));
    for (const [speaker, label] of speakers) {
      const body = { contact_id: label === 'A' ? people.Eva : people.Max };
      await ann.ask('PATCH', `/audio/streams/${recording.id}/speakers/${speaker}`, body);
    }
  }
  await second.end();
  await spool.operator.advanceClock(10 * MINUTE_MS + 11_000);
  await until('both conversations are there', async () => (await conversationsOf(ann)).length === 2);
  const [talk, later] = (await conversationsOf(ann)).sort((a, b) => a.started_at.localeCompare(b.started_at)) as [
    Conversation,
    Conversation,
  ];
  t.match(talk, {
    ...{ title: '120 turns', made_by: 'model', session_id: null, topics: ['things'] },
    ...{ started_at: '2026-11-01T10:00:00.500Z', ended_at: '2026-11-01T10:11:59.500Z' },
    participants: [
      { contact_id: people.Eva, speaker_name: 'Eva', talk_ms: 240_000 },
      { contact_id: people.Max, speaker_name: 'Max', talk_ms: 240_000 },
    ],
    parts: [
      { stream_id: first.id, start_ms: 500, end_ms: 359_500 },
      { stream_id: second.id, start_ms: 500, end_ms: 239_500 },
    ],
  });
  t.same([talk.participants.length, talk.parts.length], [2, 2]);
  t.match(later, { title: '12 turns', parts: [{ stream_id: third.id }], started_at: '2026-11-01T10:18:00.500Z' });
  const all = [...said.first, ...said.second, ...said.third];
  const promised = all.map(({ text }) => text).filter(isPromise);
  const made = await suggestionsOf(ann);
  t.same(made.map(({ text }) => text).sort(), [...promised].sort(), 'exactly what was promised');
  for (const { text, evidence, conversation_id, roles, status } of made) {
    const speaker = all.find((one) => one.text === text)?.speaker;
    t.match(evidence, [{ quote: text, state: 'available' }]);
    t.equal(conversation_id, text.includes('wine') ? later.id : talk.id);
    if (conversation_id === talk.id) t.equal(roles.owner_contact_id, speaker === 'A' ? people.Eva : people.Max);
    t.equal(status, 'open');
  }
  const { items: memories } = await ann.ask<{ items: { text: string }[] }>('GET', '/memories?limit=100');
  t.match(memories[0]?.text, /^This is what (bread|wine) number 0 says\.$/, 'known when the other was looked into');
  t.equal(memories.length, 1);
  t.equal(chat.requests.length, 2);

  const unwanted = (await turnsOf(first)).find(({ text }) => isPromise(text));
  await ann.ask('DELETE', `/turns/${unwanted?.id}`);
  await ann.newEvents();
  await spool.operator.advanceClock(HOUR_MS + 11_000);
  const again = await open();
  await until('it is made anew', async () => (await conversationsOf(again)).some(({ title }) => title === '119 turns'));
  const replaced = (await conversationsOf(again)).find(({ title }) => title === '119 turns');
  t.equal(replaced?.id, talk.id);
  const items = await allOf<Event>(again.app, '/events');
  const told = items.filter(({ resource }) => resource.id === talk.id).map(({ type }) => type);
  t.same(told.sort(), ['conversation.created', 'conversation.updated']);
  const gone = (await suggestionsOf(again)).filter(({ status }) => status !== 'open');
  t.match(gone, [{ text: '', status: 'withdrawn' }]);
  t.equal(gone.length, 1);
});

/** A recorder session's stream of one minute, ended. */
async function recordIn(
  { device, epoch, spool }: { device: DeviceClient; epoch: string; spool: TestSpool },
  { captured_at, says }: { captured_at: string; says: readonly Utterance[] },
): Promise<void> {
  const source_stream_ref = randomUUID();
  const samples = Buffer.alloc(60 * RATE * 2, 1);
  speak(samples, { frames_per_second: RATE, frame_bytes: 2 }, says);
  const bytes = writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: RATE }) }, samples);
  const of = { source_stream_ref, binding_epoch: epoch };
  await device.ask('POST', '/device/streams', { ...of, captured_at, clock_uncertainty_ms: 0 });
  const { upload_path } = await device.ask<{ upload_path: string }>('POST', '/device/chunks/intents', {
    ...{ ...of, source_chunk_ref: randomUUID(), sequence: 0, source_start_ms: 0, publication_start_ms: 0 },
    ...{ source_end_ms: MINUTE_MS, codec: 'pcm_s16le', container: 'wav' },
    ...{ size_bytes: bytes.length, sha256: sha256Of(bytes) },
  });
  await device.upload(upload_path, bytes);
  await spool.server.services.processing.worker.look();
  await device.ask('POST', '/device/streams/end', { ...of, end_ms: MINUTE_MS });
}

for (const INSIGHTS of ['on', 'off'] as const)
  t.test(`K-070 a recorder session’s two streams, with insights ${INSIGHTS}: nothing waits for ever`, async (t) => {
    const off = { INSIGHTS, INSIGHTS_URL: '' };
    const { spool, ann } = await begin(t, INSIGHTS === 'off' ? off : {});
    const hosted = await spool.hostSession(ann.app);
    const recorder = { ...hosted, spool };
    await recordIn(recorder, { captured_at: '2026-11-01T10:03:00.000Z', says: script('milk', 1) });
    await recordIn(recorder, { captured_at: '2026-11-01T10:00:00.000Z', says: script('tea', 1) });
    const summary = () => ann.ask<SessionSummary>('GET', `/device-sessions/${hosted.session.id}/summary`);
    const { items: streams } = await ann.ask<{ items: { id: string }[] }>('GET', '/audio/streams');
    const turns = async () =>
      (
        await Promise.all(streams.map(({ id }) => ann.ask<{ items: [] }>('GET', `/turns?stream_id=${id}&limit=100`)))
      ).flatMap(({ items }) => items).length;
    await until('both are transcribed', async () => (await turns()) === 24, 30_000);
    for (const ms of [11_000, 11 * MINUTE_MS]) await spool.operator.advanceClock(ms);
    await until('nothing is pending', async () => (await summary()).state !== 'pending');
    const { insights } = await spool.operator.call('GET /ops/content');
    t.match(insights.waiting, { due: 0, later: 0 });
    const told = await summary();
    if (INSIGHTS === 'off') {
      t.match(told, { state: 'none', conversations: [], suggestions: [] });
      return;
    }
    t.match(told, {
      state: 'ready',
      conversations: [{ title: '24 turns', session_id: hosted.session.id, parts: [{}, {}] }],
    });
    t.equal(told.conversations.length, 1);
    t.equal(told.suggestions.length, 2);
  });

t.test('K-067 a conversation of which retention removed turns stays as it is', async (t) => {
  const { engine, chat, spool, open, ann } = await begin(t);
  const recording = await TestRecording.begin(ann);
  const said = script('salt', 1);
  await add(recording, said, 1);
  await recording.end();
  await until('it is transcribed', async () => (await recording.turns()).length === said.length);
  await spool.operator.advanceClock(11_000);
  await until('it is made', async () => (await conversationsOf(ann)).length === 1);
  await spool.operator.advanceClock(2 * DAY_MS);
  const path = { id: recording.id };
  const [from_ms, to_ms] = [30_000, 60_000];
  let now = await open();
  await spool.operator.call('POST /ops/streams/{id}/reprocess', { path, body: { from_ms, to_ms } });
  const heard = engine.requests.length;
  const { hears } = engine;
  engine.hears = (request) => hears(request).map((one) => ({ ...one, text: one.text.replace('.', ' indeed.') }));
  await spool.operator.call('POST /ops/streams/{id}/reprocess', { path, body: { from_ms, to_ms } });
  await until('its second half is heard again', () => engine.requests.length > heard);
  await until('and published', async () => {
    const { waiting } = await now.ask<{ waiting: [] }>('GET', `/audio/streams/${recording.id}/transcript`);
    return waiting.length === 0;
  });
  await spool.operator.advanceClock(HOUR_MS + 11_000);
  now = await open();
  const asked = chat.requests.length;
  const [was] = await conversationsOf(now);
  const workspace_id = await privateWorkspaceOf(now);
  await now.ask('PATCH', `/workspaces/${workspace_id}`, { retention: { transcripts: { days: 1 } } });
  const { actors, retention } = spool.server.services;
  await until('the sweep knows', async () => {
    const sweep = await orNull(actors.sweep(workspace_id).view(), 'NOT_FOUND');
    return sweep?.retention.transcripts.days === 1;
  });
  await spool.operator.advanceClock(HOUR_MS);
  now = await open();
  await until('its first half is removed', async () => {
    await retention.worker.look();
    return (await recording.as(now).turns()).length === said.length / 2;
  });
  const [turn] = await recording.as(now).turns();
  await now.ask('DELETE', `/turns/${turn?.id}`);
  await spool.operator.advanceClock(2 * HOUR_MS);
  now = await open();
  const [is] = await conversationsOf(now);
  const textsIn = (one: Conversation | undefined) => one?.summary_sentences.map(({ text }) => text);
  t.same({ ...is, summary_sentences: textsIn(is) }, { ...was, summary_sentences: textsIn(was) });
  t.match(is?.summary_sentences, [{ evidence: [{ state: 'expired', quote: null }] }]);
  t.equal(chat.requests.length, asked);
  t.match(
    (await suggestionsOf(now)).map(({ status, evidence }) => [status, evidence[0]?.state]),
    [['open', 'expired']],
  );
});
