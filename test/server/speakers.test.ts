import t from 'tap';
import { heardIn, type Spoken } from '../../tools/speech/audible_script.js';
import { ScriptedEngine } from '../../tools/speech/scripted_engine.js';
import { TestAccount } from '../fixtures/account.js';
import { TestSpool } from '../fixtures/spool.js';
import { TestRecording } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

const MINUTES = 30;
const NAMES = ['Ann', 'Ben', 'Eve'];

/** As engines do: the first speaker of each answer is A, the next one B. */
function relabelled(said: Spoken[]): Spoken[] {
  const labels = new Map<string, string>();
  return said.map(({ speaker = '', ...rest }) => {
    const label = labels.get(speaker) ?? 'ABCDEFGHIJ'[labels.size] ?? '?';
    labels.set(speaker, label);
    return { ...rest, speaker: label };
  });
}

/** Turns of 4 to 11 s; nobody speaks in turn with the same others all the time. */
const script = Array.from({ length: MINUTES * 5 }, (_, at) => ({
  text: `Number ${at} is said by somebody.`,
  start_ms: at * 12_000 + 300,
  end_ms: at * 12_000 + 4_300 + (at % 8) * 1_000,
  speaker: NAMES[(at * at + Math.floor(at / 7)) % 3] as string,
}));

async function meeting(ann: TestAccount, chunk_ms: number, length_ms: number): Promise<TestRecording> {
  const recording = await TestRecording.begin(ann);
  for (let from_ms = 0; from_ms < length_ms; from_ms += chunk_ms) {
    const isIn = ({ start_ms }: { start_ms: number }) => start_ms >= from_ms && start_ms < from_ms + chunk_ms;
    await recording.add(chunk_ms, { says: script.filter(isIn) });
  }
  await recording.end();
  return recording;
}

type Read = { speakers: { speaker: string; name: string | null; turns: number }[]; waiting: unknown[] };

t.test('K-165 three people who talk for half an hour are three speakers, by whatever labels', async (t) => {
  const engine = await ScriptedEngine.start(t);
  engine.hears = ({ wav, samples }) => (wav === null ? [] : relabelled(heardIn(samples, wav.format)));
  const env = { TRANSCRIBE_URL: engine.url, TRANSCRIBE_DIARIZE: '1', TRANSCRIBE_WINDOW_S: '60' };
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', ...env });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const recording = await meeting(ann, 60_000, MINUTES * 60_000);
  const read = () => ann.ask<Read>('GET', `/audio/streams/${recording.id}/transcript`);
  const isDone = async () => {
    const { waiting, speakers } = await read();
    const transcript = await spool.server.services.actors.transcript(recording.id).view();
    const turns = speakers.reduce((sum, one) => sum + one.turns, 0);
    return waiting.length === 0 && turns === script.length && transcript.final_pass === 'done';
  };
  await until('all of it is heard twice', isDone, 120_000);
  t.equal((await read()).speakers.length, 3);
  const { items } = await ann.ask<{ items: { text: string; speaker: string }[] }>(
    'GET',
    `/turns?stream_id=${recording.id}&limit=100`,
  );
  const told = new Map(items.map(({ text, speaker }) => [script.find((one) => one.text === text)?.speaker, speaker]));
  for (const { text, speaker } of items)
    t.equal(speaker, told.get(script.find((one) => one.text === text)?.speaker), text);

  const contact = await ann.ask<{ id: string }>('POST', '/contacts', { name: 'Benjamin' });
  const ben = told.get('Ben') as string;
  await ann.ask('PATCH', `/audio/streams/${recording.id}/speakers/${ben}`, { contact_id: contact.id });
  await spool.operator.ask('POST', `/ops/streams/${recording.id}/reprocess`, {});
  await until('it is heard again', async () => (await isDone()) && (await read()).waiting.length === 0, 120_000);
  const again = await read();
  t.equal(again.speakers.length, 3, 'a name holds through another run');
  t.match(
    again.speakers.find(({ speaker }) => speaker === ben),
    { name: 'Benjamin' },
  );
});

t.test('K-165 samples may lie in several chunks', async (t) => {
  const engine = await ScriptedEngine.start(t);
  engine.hears = ({ wav, samples }) => (wav === null ? [] : relabelled(heardIn(samples, wav.format)));
  const env = { TRANSCRIBE_URL: engine.url, TRANSCRIBE_DIARIZE: '1', TRANSCRIBE_WINDOW_S: '20' };
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', ...env });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const recording = await TestRecording.begin(ann);
  const says = script.slice(0, 15).map(({ start_ms, text, speaker }) => {
    return { text, speaker, start_ms, end_ms: start_ms + 3_600 };
  });
  for (let from_ms = 0; from_ms < 180_000; from_ms += 4_000)
    await recording.add(4_000, {
      says: says.filter(({ start_ms }) => Math.floor(start_ms / 4_000) * 4_000 === from_ms),
    });
  await recording.end();
  await until('all of it is heard', async () => (await recording.turns()).length === says.length, 120_000);
  t.equal(new Set((await recording.turns()).map(({ speaker }) => speaker)).size, 3);
});
