import t from 'tap';
import { ScriptedEngine } from '../../../tools/speech/scripted_engine.js';
import { TestAccount } from '../../fixtures/account.js';
import { TestSpool } from '../../fixtures/spool.js';
import { TestRecording } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';

type Summary = { state: string; title: string | null; tasks: { text: string }[]; failure: null };

const engine = await ScriptedEngine.start(t);
const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', TRANSCRIBE_URL: engine.url });
t.teardown(() => spool.end());

/** A recording in which this is said, and nothing more comes. */
async function memo(account: TestAccount, lines: readonly string[]): Promise<Summary> {
  const recording = await TestRecording.begin(account);
  const says = lines.map((text, at) => ({ text, start_ms: at * 5_000 + 500, end_ms: at * 5_000 + 4_500 }));
  await recording.add(lines.length * 5_000, { says });
  await recording.end();
  await until('it is transcribed', async () => (await recording.turns()).length === lines.length);
  await spool.operator.advanceClock(11_000);
  let told: Summary | undefined;
  await until('it was looked into', async () => {
    told = await account.ask<Summary>('GET', `/audio/streams/${recording.id}/summary`);
    return told.state !== 'pending';
  });
  return told as Summary;
}

t.test('K-064 K-184 a memo of one or two turns has a title and something to do', async (t) => {
  const ann = await TestAccount.open(spool, 'ann@x.test');
  for (const [lines, title, tasks] of [
    [['I will call the plumber on Tuesday about the kitchen sink.'], /plumber|sink/i, 1],
    [['The boiler is loud again.', 'I must call the landlord about it by Friday.'], /boiler|landlord/i, 0],
    [['I will return the drill tomorrow.', 'Please remind me to feed the cat.'], /drill|cat/i, 2],
  ] as const) {
    const told = await memo(ann, lines);
    t.match(told.title, title, lines.join(' '));
    t.ok(told.tasks.length >= tasks, `${JSON.stringify(told.tasks)}`);
    t.equal(told.failure, null);
  }
});

t.test('K-064 a greeting is nothing to do', async (t) => {
  const ann = await TestAccount.open(spool, 'bob@x.test');
  for (const line of ['Hello.', 'Good morning, hello.', 'Thank you very much.'])
    t.match(await memo(ann, [line]), { tasks: [], failure: null }, line);
});
