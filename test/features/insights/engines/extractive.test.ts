import t from 'tap';
import { LIMITS } from '../../../../src/domain/limits.js';
import { openServerKeys } from '../../../../src/engine/secrets/server_keys.js';
import type { InsightInput } from '../../../../src/features/insights/engines/insight_input.js';
import { checkedInsights } from '../../../../src/features/insights/library/checked_insights.js';
import { builtInEngine } from '../../../fixtures/built_in_engine.js';
import { BEGAN_MS, inputOf } from '../../../fixtures/insight_input.js';
import { tempFolder } from '../../../fixtures/temp_folder.js';

const SAID = [
  'A: Good morning, the budget for the garden project is late again.',
  'B: Yes, the garden project. The budget meeting was too short.',
  'A: I will send you the new budget tomorrow at noon.',
  'B: Perfect, thank you.',
  'A: What else is there?',
  'B: Could you please call the architect about the garden fence?',
  'A: Sure, I will call her on Thursday.',
  "B: And don't forget to bring the photos on Friday.",
  'A: Then we plant the apple trees in spring.',
  'B: Agreed.',
  'A: If I had known, I would have called.',
];
const engine = builtInEngine();

t.test('K-091 promises, requests and reminders, with their time', async (t) => {
  const { suggestions, memories, conversation } = await engine.think(inputOf(SAID));
  t.match(suggestions, [
    {
      ...{ op: 'new', kind: 'task', text: 'I will send you the new budget tomorrow at noon.', owner: 'A' },
      ...{ due_at: '2026-11-03T12:00:00.000Z', evidence: [{ turn: 3 }] },
    },
    {
      ...{ op: 'new', kind: 'task', text: 'Call the architect about the garden fence: I will call her on Thursday.' },
      ...{ due_date: '2026-11-05', owner: 'A', requester: 'B', evidence: [{ turn: 6 }, { turn: 7 }] },
    },
    {
      ...{
        kind: 'reminder',
        text: "Don't forget to bring the photos on Friday.",
        due_at: null,
        due_date: '2026-11-06',
      },
    },
    { kind: 'decision', text: 'We plant the apple trees in spring.' },
  ]);
  t.equal(suggestions.length, 4);
  t.same(memories, []);
  t.match(conversation.title, /budget/i);
  t.match(conversation.title, /garden/i);
  const said = SAID.map((line) => line.slice(3));
  const summary = conversation.sentences.map(({ text }) => text).join(' ');
  t.match(summary, /plant the apple trees in spring/);
  for (const sentence of summary.split(/(?<=[.?!]) /)) t.ok(said.join(' ').includes(sentence.slice(1, -1)), sentence);
  for (const topic of conversation.topics) t.ok(said.join(' ').toLowerCase().includes(topic), topic);
});

t.test('K-091 its answer passes what every answer must pass, whole', async (t) => {
  const keys = await openServerKeys(tempFolder(t));
  const input = inputOf(SAID);
  const checked = checkedInsights(await engine.think(input), { input, keys, made_by: 'extractive' });
  t.match(checked, { ok: true, insights: { unsupported: 0, suggestions: { length: 4 } } });
});

t.test('K-091 the same turns again change nothing; a corrected turn revises, a deleted one withdraws', async (t) => {
  const first = await engine.think(inputOf(SAID));
  const known: InsightInput['suggestions'] = first.suggestions.map((one, at) => ({
    ...{ ref: at + 1, kind: one.kind ?? 'task', text: one.text ?? '', status: 'open' },
    due_at_ms: typeof one.due_at === 'string' ? Date.parse(one.due_at) : null,
    due_date: one.due_date ?? null,
    owner: one.owner ?? null,
  }));
  t.same((await engine.think(inputOf(SAID, { suggestions: known }))).suggestions, []);
  const corrected = SAID.map((line) => line.replace('tomorrow', 'today'));
  t.match((await engine.think(inputOf(corrected, { suggestions: known }))).suggestions, [
    { op: 'revise', ref: 1, due_at: '2026-11-02T12:00:00.000Z', evidence: [{ turn: 3 }] },
  ]);
  const fewer = SAID.filter((line) => !/architect|call her/.test(line));
  t.same((await engine.think(inputOf(fewer, { suggestions: known }))).suggestions, [{ op: 'withdraw', ref: 2 }]);
  const cut = SAID.map((line) => line.replace(/ tomorrow.*$/, '.'));
  const shorter = (await engine.think(inputOf(cut, { suggestions: known }))).suggestions;
  t.match(shorter, [{ op: 'revise', ref: 1, due_at: null }], 'a sentence that was cut off is the same one');
  const dismissed = known.map((one) => ({ ...one, status: 'dismissed' as const }));
  t.same(
    (await engine.think(inputOf(fewer, { suggestions: dismissed }))).suggestions,
    [],
    'what people have judged stays',
  );
});

t.test('K-091 a time is one of the place where it was said', async (t) => {
  const dueAt = async (utc_offset_min: number) => {
    const input = inputOf(SAID);
    const turns = input.turns.map((turn) => ({ ...turn, utc_offset_min }));
    return (await engine.think({ ...input, turns })).suggestions[0]?.due_at;
  };
  t.equal(await dueAt(60), '2026-11-03T11:00:00.000Z');
  t.equal(await dueAt(-11 * 60), '2026-11-02T23:00:00.000Z', 'there it is still the first of November');
});

t.test('K-091 how people talk in meetings: fillers name and sum up nothing', async (t) => {
  const fillers = Array.from(
    { length: 40 },
    (_, at) => `${at % 2 === 0 ? 'A' : 'B'}: ${at % 3 === 0 ? 'Hmm.' : 'Yeah, uh.'}`,
  );
  const { conversation, suggestions } = await engine.think(inputOf([...fillers, ...SAID]));
  t.match(conversation.title, /budget|garden/i);
  t.notMatch(JSON.stringify(conversation.sentences), /hmm|uh/i);
  t.ok(suggestions.length >= 3, `${suggestions.length}`);
  for (const { evidence = [] } of suggestions) t.ok(evidence.every(({ turn }) => turn > fillers.length));
  const nothing = await engine.think(inputOf(fillers));
  t.strictSame(nothing.conversation, { title: null, sentences: [], topics: [] });
});

t.test('K-091 which sentences promise or ask', async (t) => {
  const kindOf = async (sentence: string) => (await engine.think(inputOf([sentence]))).suggestions[0]?.kind ?? null;
  const rows: [string, string | null][] = [
    ["I'll send it over tonight.", 'task'],
    ['I will get back to you on Monday.', 'follow_up'],
    ["We'll book the room.", 'task'],
    ['Let me check the calendar.', 'task'],
    ['Can you email me the slides?', 'task'],
    ['Please review the contract.', 'task'],
    ['Remember to water the plants.', 'reminder'],
    ["Let's go with the blue one.", 'decision'],
    ['I will always love this song.', null],
    ['You know what I mean.', null],
    ["I can't send it.", null],
    ['She said nothing about it.', null],
    ['Let me think about it.', null],
  ];
  for (const [sentence, kind] of rows) t.equal(await kindOf(sentence), kind, sentence);
});

t.test('K-091 another language gets no suggestions, and a title of its own words', async (t) => {
  const input = inputOf([
    'A: Der Garten braucht einen neuen Zaun.',
    'B: Der Zaun ist teuer, sagt der Garten Fachmann.',
    'A: I will send you the Zaun.',
  ]);
  const german = { ...input, turns: input.turns.map((turn) => ({ ...turn, language: 'de' })) };
  const { suggestions, conversation } = await engine.think(german);
  t.same(suggestions, []);
  t.equal(conversation.title, 'zaun, garten');
});

t.test('K-091 silence, signs and very long turns', async (t) => {
  t.match(await engine.think(inputOf([])), { conversation: { title: null, sentences: [], topics: [] } });
  t.match(await engine.think(inputOf(['…', '!!!', ''])), { conversation: { title: null, sentences: [] } });
  const long = `I will send ${'very '.repeat(400)}much`;
  t.same((await engine.think(inputOf([long]))).suggestions, []);
  const many = Array.from(
    { length: 80 },
    (_, at) => `I will send letter number ${at} ${String.fromCharCode(97 + (at % 26)).repeat(4 + at)}.`,
  );
  const { length } = (await engine.think(inputOf(many))).suggestions;
  t.ok(length > 0 && length <= LIMITS.suggestions_per_result_max, `${length} of ${many.length}`);
  t.ok(BEGAN_MS > 0);
});
