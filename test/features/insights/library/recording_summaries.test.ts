import t, { type Test } from 'tap';
import { pcm16Format, writeWav } from '../../../../src/engine/audio/wav.js';
import { speak } from '../../../../tools/speech/audible_script.js';
import { ScriptedChat } from '../../../../tools/speech/scripted_chat.js';
import { ScriptedEngine } from '../../../../tools/speech/scripted_engine.js';
import { TestAccount } from '../../../fixtures/account.js';
import { importFile } from '../../../fixtures/importing.js';
import { TestSpool } from '../../../fixtures/spool.js';
import { TestRecording } from '../../../fixtures/transcribing.js';
import { until } from '../../../fixtures/until.js';

const MINUTE_MS = 60_000;
const RATE = 8_000;
const TURN_MS = 5_000;
const GARDEN = [
  'The garden needs a new fence before the winter comes.',
  'I will order the fence posts for the garden on Monday.',
  'We decided to plant two apple trees beside the fence.',
  'The old fence posts in the garden are rotten below.',
];
const LAWYER = [
  'The lawyer says that the contract with the tenant ends in spring.',
  'I will send the signed contract to the lawyer on Thursday.',
  'We decided that the tenant pays the deposit at once.',
  'The lawyer wants a copy of the contract and the receipt.',
];
const OF_GARDEN = /garden|fence|apple/i;
const OF_LAWYER = /lawyer|contract|tenant|deposit|receipt/i;

type Told = {
  title: string | null;
  summary: string | null;
  topics: string[];
  summary_sentences: { text: string; evidence: { stream_id: string }[] }[];
};
type Summary = Told & { state: string; conversations: (Told & { id: string })[] };
type Listed = { id: string; title_suggested: string | null; first_line: string | null };

const saysOf = (lines: readonly string[]) =>
  lines.map((text, at) => ({ text, start_ms: at * TURN_MS + 500, end_ms: at * TURN_MS + 4_500 }));

function fileOf(lines: readonly string[]): Buffer {
  const samples = Buffer.alloc(((lines.length * TURN_MS) / 1_000) * RATE * 2, 1);
  speak(samples, { frames_per_second: RATE, frame_bytes: 2 }, saysOf(lines));
  return writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: RATE }) }, samples);
}

const engine = await ScriptedEngine.start(t);
const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', TRANSCRIBE_URL: engine.url });
t.teardown(() => spool.end());
const with_model = async () => {
  const chat = await ScriptedChat.start(t);
  const settings = { RATE_LIMITS: 'off', CHUNK_WORKER: '1', TRANSCRIBE_URL: engine.url, INSIGHTS_URL: chat.url };
  const other = await TestSpool.start(settings);
  t.teardown(() => other.end());
  return { chat, other };
};

const summaryOf = (account: TestAccount, id: string) => account.ask<Summary>('GET', `/audio/streams/${id}/summary`);
const wordsOf = ({ title, summary, topics }: Told) => [title, summary, ...topics].join(' ');

async function lookedInto(account: TestAccount, ids: readonly string[]): Promise<Summary[]> {
  const turns = async (id: string) => (await account.ask<{ items: [] }>('GET', `/turns?stream_id=${id}`)).items.length;
  for (const id of ids) await until('it is transcribed', async () => (await turns(id)) > 0);
  await account.spool.operator.advanceClock(11_000);
  for (const id of ids) await until('it was looked into', async () => (await summaryOf(account, id)).state === 'ready');
  return Promise.all(ids.map((id) => summaryOf(account, id)));
}

/** Two recordings of one source, a minute apart. */
async function recorded(account: TestAccount): Promise<string[]> {
  const first = await TestRecording.begin(account);
  const place = { source_id: first.source_id, captured_at: '2026-11-01T10:01:00.000Z' };
  const second = await TestRecording.begin(account, place);
  for (const [recording, lines] of [
    [first, GARDEN],
    [second, LAWYER],
  ] as const) {
    await recording.add(lines.length * TURN_MS, { says: saysOf(lines) });
    await recording.end();
  }
  return [first.id, second.id];
}

function nothingOfTheOther(t: Test, ids: readonly string[], summaries: readonly Summary[]): void {
  for (const [at, wrong] of [OF_LAWYER, OF_GARDEN].entries()) {
    const summary = summaries[at] as Summary;
    for (const told of [summary, ...summary.conversations]) {
      t.notMatch(wordsOf(told), wrong);
      const streams = told.summary_sentences.flatMap(({ evidence }) => evidence.map(({ stream_id }) => stream_id));
      t.ok(streams.length > 0);
      t.same([...new Set(streams)], [ids[at]]);
    }
  }
}

t.test('K-064 each imported file is a conversation of its own', async (t) => {
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const importer = { app: ann.app, base_url: spool.base_url };
  const first = await TestRecording.begin(ann, { captured_at: '2026-11-01T09:59:00.000Z' });
  await first.add(3 * TURN_MS, {
    says: saysOf(['The train is late.', 'It always is late.', 'So we take the bus then.']),
  });
  await first.end();
  const ids: string[] = [];
  for (const [at, lines] of [GARDEN, LAWYER].entries()) {
    const captured_at = new Date(Date.parse('2026-11-01T10:00:00.000Z') + at * 4 * MINUTE_MS).toISOString();
    const about = { name: `${at}.wav`, captured_at, source_id: first.source_id };
    ids.push((await importFile(importer, fileOf(lines), about)).stream_id as string);
  }
  const [train, ...summaries] = await lookedInto(ann, [first.id, ...ids]);
  nothingOfTheOther(t, ids, summaries);
  const conversations = [train as Summary, ...summaries].flatMap((one) => one.conversations.map(({ id }) => id));
  t.equal(new Set(conversations).size, 3);
});

t.test('K-184 K-185 two recordings of one conversation are each told by what they hold', async (t) => {
  const bob = await TestAccount.open(spool, 'bob@x.test');
  const ids = await recorded(bob);
  const summaries = await lookedInto(bob, ids);
  t.equal(summaries[0]?.conversations[0]?.id, summaries[1]?.conversations[0]?.id);
  nothingOfTheOther(t, ids, summaries);
  t.ok(summaries.every(({ title }) => title !== null));
  const { items } = await bob.ask<{ items: Listed[] }>('GET', '/audio/streams?include=title_suggested');
  for (const [at, wrong] of [OF_LAWYER, OF_GARDEN].entries()) {
    const line = items.find(({ id }) => id === ids[at]);
    t.equal(line?.title_suggested, summaries[at]?.title);
    t.notMatch(line?.first_line, wrong);
  }
});

t.test('K-184 what a model says of both is told of the one that it was said in', async (t) => {
  const { chat, other } = await with_model();
  const eve = await TestAccount.open(other, 'eve@x.test');
  chat.thinks = ({ user }) => ({
    conversation: {
      title: 'The fence and the contract',
      sentences: user.what_people_said.turns.slice(3, 5).map(({ turn, text }) => ({
        text,
        evidence: [{ turn, quote: text }],
      })),
      topics: ['fence', 'contract'],
    },
    suggestions: [],
    memories: [],
  });
  const ids = await recorded(eve);
  const summaries = await lookedInto(eve, ids);
  nothingOfTheOther(t, ids, summaries);
  t.same(
    summaries.map(({ topics }) => topics),
    [['fence'], ['contract']],
  );
  t.ok(summaries.every(({ title }) => title !== null));
  const { items } = await eve.ask<{ items: { id: string }[] }>('GET', `/turns?stream_id=${ids[0]}`);
  for (const { id } of items) await eve.ask('DELETE', `/turns/${id}`);
  t.notMatch(wordsOf(await summaryOf(eve, ids[0] as string)), OF_GARDEN, 'nothing is told of what was deleted');
});
