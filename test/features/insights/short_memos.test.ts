import t from 'tap';
import { memoInput } from '../../../tools/insights/memos.js';
import { ScriptedEngine } from '../../../tools/speech/scripted_engine.js';
import { TestAccount } from '../../fixtures/account.js';
import { builtInEngine } from '../../fixtures/built_in_engine.js';
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

t.test('K-475 what is noted in a memo is something to do, and a recipe is not', async (t) => {
  const ann = await TestAccount.open(spool, 'cleo@x.test');
  for (const [lines, tasks] of [
    [['Call the dentist.'], 1],
    [['Renew the car insurance before Friday.', 'Chase the plumber for the quote.', 'Clean the gutters.'], 3],
    [['We walked along the beach for an hour.', 'I saw a heron by the canal.'], 0],
    [['Fry the onions in butter until they are soft.', 'Add the stock and let it simmer.'], 0],
  ] as const)
    t.equal((await memo(ann, lines)).tasks.length, tasks, lines.join(' '));
});

t.test('K-476 the title of a memo is its heading or its first note', async (t) => {
  const engine = builtInEngine();
  for (const [said, title] of [
    [['Renew the car insurance before Friday.'], 'Renew the car insurance'],
    [['I need to get the boiler serviced this month.', 'It drips.'], 'Get the boiler serviced'],
    [['Doreen is eighty on Sunday.', 'I must post a card in good time.'], 'Post a card'],
    [['Garden stuff.', 'Lift the dahlias.', 'Lag the outside tap.', 'Oil the shears.'], 'Garden stuff'],
    [['Sharpen the chisels.', 'Order more glue.', 'Ring the timber yard.', 'Sweep up.'], 'Sharpen the chisels'],
    [['Twelve jars sold at the gate.'], 'Twelve jars sold'],
  ] as const) {
    const { conversation } = await engine.think(memoInput({ set: '', said: [...said], labels: [] }));
    t.equal(conversation.title, title, said.join(' '));
  }
  const said = ['The boiler is loud again.', 'Call them on Monday.'];
  const { suggestions } = await engine.think(memoInput({ set: '', said, labels: [] }));
  t.ok(suggestions.some(({ text }) => text === 'The boiler is loud again: call them on Monday.'));
});

t.test('K-064 a greeting is nothing to do', async (t) => {
  const ann = await TestAccount.open(spool, 'bob@x.test');
  for (const line of ['Hello.', 'Good morning, hello.', 'Thank you very much.'])
    t.match(await memo(ann, [line]), { tasks: [], failure: null }, line);
});
