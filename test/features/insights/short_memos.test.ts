import t from 'tap';
import type { KnownSuggestion } from '../../../src/features/insights/engines/insight_input.js';
import { memoInput } from '../../../tools/insights/memos.js';
import { ScriptedEngine } from '../../../tools/speech/scripted_engine.js';
import { TestAccount } from '../../fixtures/account.js';
import { builtInEngine } from '../../fixtures/built_in_engine.js';
import { inputOf } from '../../fixtures/insight_input.js';
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

t.test('K-475 K-481 what is noted in a memo is something to do, and a recipe is not', async (t) => {
  const ann = await TestAccount.open(spool, 'cleo@x.test');
  for (const [lines, tasks] of [
    [['Call the dentist.'], 1],
    [['Renew the car insurance before Friday.', 'Chase the plumber for the quote.', 'Clean the gutters.'], 3],
    [['Buy milk, pay the rent on Friday, and call Tom.'], 3],
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
    [['To do list, buy milk, pay the electricity bill, call Martin at six.'], 'To do list'],
    [['Twelve jars sold at the gate.'], 'Twelve jars sold'],
  ] as const) {
    const { conversation } = await engine.think(memoInput({ set: '', said: [...said], labels: [] }));
    t.equal(conversation.title, title, said.join(' '));
  }
});

t.test('K-206 a note that names too little has the sentence before it', async (t) => {
  const said = ['The boiler is loud again.', 'Call them on Monday.'];
  const { suggestions } = await builtInEngine().think(memoInput({ set: '', said, labels: [] }));
  t.ok(suggestions.some(({ text }) => text === 'The boiler is loud again: call them on Monday.'));
});

t.test('K-477 each note of a memo has the day and time that it says', async (t) => {
  for (const [said, dues] of [
    [['Call the dentist. Buy milk on Tuesday. Wash the car.'], [null, '2027-03-02', null]],
    [
      ['Dentist tomorrow at nine.', 'Pay the rent on Friday.'],
      ['2027-03-02T09:00:00.000Z', '2027-03-05'],
    ],
    [
      ['Cancel the subscription on the fifteenth.', 'Pick up Lena from school at three.'],
      ['2027-03-15', '2027-03-01T15:00:00.000Z'],
    ],
  ] as const) {
    const { suggestions } = await builtInEngine().think(memoInput({ set: '', said: [...said], labels: [] }));
    const found = suggestions.map(({ due_at, due_date }) => due_at ?? due_date ?? null);
    t.same(found, dues, said.join(' '));
  }
});

t.test('K-478 a few English words are English also where nobody knows the language', async (t) => {
  for (const [line, languages, is_found] of [
    ['Buy oat milk.', [], true],
    ['Get petrol. Return library books. Charge drill.', [], true],
    ['Hoover bags. Zimtsterne. Quark.', ['en'], true],
    ['Zahnarzt anrufen. Milch und Brot kaufen.', [], false],
    ['Comprar leche y pan para la cena.', ['en'], false],
  ] as const) {
    const input = memoInput({ set: '', said: [line], labels: [] });
    const turns = input.turns.map((turn) => ({ ...turn, language: null }));
    const { is_english_only = false } = await builtInEngine().think({ ...input, turns, languages: [...languages] });
    t.equal(is_english_only, !is_found, line);
  }
});

t.test('K-479 a note that a person dismissed does not come back when its words were corrected', async (t) => {
  const before = { kind: 'task', due_at_ms: null, due_date: null } as const;
  const { turns, ...input } = inputOf(['Fix the bicycle.', 'Water all the plants.'], { people: [] });
  const spans = turns.map(({ stream_id, start_ms, end_ms }) => [{ stream_id, start_ms, end_ms }]);
  const suggestions: KnownSuggestion[] = [
    { ...before, ref: 1, text: 'Fix the bike.', status: 'dismissed', spans: spans[0] ?? [] },
    { ...before, ref: 2, text: 'Water the ferns.', status: 'open', spans: spans[1] ?? [] },
  ];
  const alone = turns.map((turn) => ({ ...turn, speaker: null }));
  const told = await builtInEngine().think({ ...input, turns: alone, suggestions });
  t.match(told.suggestions, [
    { op: 'revise', ref: 1, text: 'Fix the bicycle.' },
    { op: 'revise', ref: 2, text: 'Water all the plants.' },
  ]);
  t.equal(told.suggestions.length, 2);
});

t.test('K-064 a greeting is nothing to do', async (t) => {
  const ann = await TestAccount.open(spool, 'bob@x.test');
  for (const line of ['Hello.', 'Good morning, hello.', 'Thank you very much.'])
    t.match(await memo(ann, [line]), { tasks: [], failure: null }, line);
});
