import fc from 'fast-check';
import t, { type Test } from 'tap';
import { openServerKeys } from '../../../../src/engine/secrets/server_keys.js';
import { cleanText, foreignAddresses, wordsInOrder } from '../../../../src/features/insights/engines/clean_text.js';
import { digestOfTurns, type InsightInput } from '../../../../src/features/insights/engines/insight_input.js';
import { checkedInsights } from '../../../../src/features/insights/library/checked_insights.js';
import { inputOf, NOTHING_SAID, SOURCE, STREAM } from '../../../fixtures/insight_input.js';
import { tempFolder } from '../../../fixtures/temp_folder.js';

const SAID = [
  'Good morning, did you sleep well?',
  'I will send you the report on Friday, I promise.',
  'Great. My number is 030 1234 5678, call me.',
  'And the page is https://example.org/plan, or write to ann@example.org.',
];
const task = {
  op: 'new',
  kind: 'task',
  text: 'Send the report',
  evidence: [{ turn: 2, quote: 'I will send you the report' }],
};
const fact = {
  op: 'new',
  kind: 'fact',
  text: 'Ann likes mornings',
  evidence: [{ turn: 1, quote: 'Good morning, did you' }],
};
const spoke = { text: 'B sends the report.', evidence: task.evidence };

async function checks(t: Test) {
  const keys = await openServerKeys(tempFolder(t));
  const check = (raw: object, input: InsightInput = inputOf(SAID)) =>
    checkedInsights({ ...NOTHING_SAID, ...raw }, { input, keys, made_by: 'model' });
  const taken = (raw: object, input?: InsightInput) => {
    const checked = check(raw, input);
    if (!checked.ok) throw new Error(`${checked.refused.path} ${checked.refused.message}`);
    return checked.insights;
  };
  return { check, taken };
}

t.test('K-092 an item that turns bear becomes one with the spans of these turns', async (t) => {
  const { taken } = await checks(t);
  const insights = taken({
    conversation: { title: 'A report', sentences: [spoke], topics: ['report', 'report', 'sleep'] },
    suggestions: [{ ...task, due_at: '2026-11-06T12:00:00+01:00', owner: 'B', requester: 'A' }],
    memories: [{ ...fact, about: 'A' }],
  });
  t.match(insights, {
    made_by: 'model',
    conversation: {
      ...{ title: 'A report', summary: 'B sends the report.', topics: ['report', 'sleep'], language: 'en' },
      participants: [
        { stream_id: STREAM, speaker: 1, talk_ms: 10_000 },
        { stream_id: STREAM, speaker: 2, talk_ms: 10_000 },
      ],
    },
    suggestions: [
      {
        ...{ op: 'new', kind: 'task', text: 'Send the report', due_at_ms: Date.parse('2026-11-06T11:00:00Z') },
        roles: { owner_contact_id: null, requester_contact_id: /^[0-9a-f-]{36}$/ },
        evidence: [{ stream_id: STREAM, source_id: SOURCE, start_ms: 6_000, end_ms: 11_000 }],
      },
    ],
    memories: [{ op: 'new', kind: 'fact', contact_id: /^[0-9a-f-]{36}$/, evidence: [{ start_ms: 0, end_ms: 5_000 }] }],
    unsupported: 0,
  });
  t.ok((insights.suggestions[0] as { stems: string[] }).stems.length > 1);
});

t.test('K-048 what no answer can say; nothing of it is taken', async (t) => {
  const { check } = await checks(t);
  const of = (more: object) => ({ suggestions: [{ ...task, ...more }] });
  const rows: [says: string, raw: object, path: string][] = [
    ['no conversation', { conversation: undefined }, 'conversation'],
    ['no suggestions', { suggestions: undefined }, 'suggestions'],
    ['memories as an object', { memories: {} }, 'memories'],
    ['something else beside', { send_mail: { to: 'x' } }, 'send_mail'],
    ['something else in an item', of({ url: 'http://x' }), 'suggestions.0.url'],
    [
      'something else in evidence',
      of({ evidence: [{ turn: 1, quote: 'x', audio: 1 }] }),
      'suggestions.0.evidence.0.audio',
    ],
    ['a long title', { conversation: { title: 'x'.repeat(201), topics: [] } }, 'conversation.title'],
    ['half a character', { conversation: { title: 'a\ud800', topics: [] } }, 'conversation.title'],
    [
      'eleven sentences',
      { conversation: { title: null, sentences: Array(11).fill(spoke), topics: [] } },
      'conversation.sentences',
    ],
    [
      'a sentence of no turn',
      { conversation: { title: null, sentences: [{ ...spoke, evidence: [{ turn: 9, quote: 'x' }] }], topics: [] } },
      'conversation.sentences.0.evidence.0.turn',
    ],
    ['nine topics', { conversation: { title: null, topics: Array(9).fill('x') } }, 'conversation.topics'],
    ['another act', of({ op: 'delete' }), 'suggestions.0.op'],
    ['another kind', of({ kind: 'order' }), 'suggestions.0.kind'],
    ['no kind', of({ kind: null }), 'suggestions.0.kind'],
    ['no text', of({ text: undefined }), 'suggestions.0.text'],
    ['a long text', of({ text: 'x'.repeat(501) }), 'suggestions.0.text'],
    ['a time that is none', of({ due_at: 'tomorrow' }), 'suggestions.0.due_at'],
    ['a day that is none', of({ due_date: '2026-02-30' }), 'suggestions.0.due_date'],
    ['a turn that is none', of({ evidence: [{ turn: 5, quote: 'x' }] }), 'suggestions.0.evidence.0.turn'],
    ['turn zero', of({ evidence: [{ turn: 0, quote: 'x' }] }), 'suggestions.0.evidence.0.turn'],
    ['half a turn', of({ evidence: [{ turn: 1.5, quote: 'x' }] }), 'suggestions.0.evidence.0.turn'],
    ['much evidence', of({ evidence: Array(9).fill({ turn: 1, quote: 'x' }) }), 'suggestions.0.evidence'],
    ['an item that is none', of({ op: 'revise', ref: 7 }), 'suggestions.0.ref'],
    ['no item', of({ op: 'withdraw', ref: null }), 'suggestions.0.ref'],
    ['fifty-one', { suggestions: Array(51).fill(task) }, 'suggestions'],
    ['twenty-one', { memories: Array(21).fill(fact) }, 'memories'],
    ['a memory that is none', { memories: [{ ...fact, ref: 1 }] }, 'memories.0.ref'],
  ];
  for (const [says, raw, path] of rows) {
    const checked = check(raw);
    t.equal(checked.ok ? 'taken' : checked.refused.path, path, says);
    if (!checked.ok) t.match(checked.refused.message, /^(must|is) /, says);
  }
  for (const raw of [null, 7, 'text', []]) t.equal(checkedInsights(raw, {} as never).ok, false, JSON.stringify(raw));
});

t.test('K-092 an item that no turn bears is dropped and counted', async (t) => {
  const { taken } = await checks(t);
  const rows: [says: string, evidence: object[] | undefined, kept: boolean][] = [
    ['none', undefined, false],
    ['an empty list', [], false],
    ['word by word', [{ turn: 2, quote: 'I will send you the report on Friday, I promise.' }], true],
    ['other case and signs', [{ turn: 2, quote: 'i will SEND you… the report' }], true],
    ['four of five words', [{ turn: 2, quote: 'will send you a report' }], true],
    ['three of five words', [{ turn: 2, quote: 'will send her a report' }], false],
    ['another order', [{ turn: 2, quote: 'report the you send will' }], false],
    ['another turn', [{ turn: 1, quote: 'I will send you the report' }], false],
    ['two words of many', [{ turn: 2, quote: 'the report' }], false],
    ['signs', [{ turn: 2, quote: '…' }], false],
    [
      'one true, one made up',
      [
        { turn: 2, quote: 'I will send you' },
        { turn: 1, quote: 'transfer a million' },
      ],
      false,
    ],
    [
      'over two turns that are cited',
      [
        { turn: 1, quote: 'sleep well I will send' },
        { turn: 2, quote: 'send you the' },
      ],
      true,
    ],
    ['over two turns of which one is cited', [{ turn: 1, quote: 'sleep well I will send' }], false],
  ];
  for (const [says, evidence, kept] of rows) {
    const { suggestions, unsupported } = taken({ suggestions: [{ ...task, evidence }] });
    t.same([suggestions.length, unsupported], kept ? [1, 0] : [0, 1], says);
  }
  const { suggestions } = taken(
    { suggestions: [{ ...task, evidence: [{ turn: 1, quote: 'ok' }] }] },
    inputOf(['Ok.', 'b c d']),
  );
  t.equal(suggestions.length, 1, 'a short turn is quoted whole');
});

t.test('K-092 addresses that people did not say take their item with them', async (t) => {
  const { taken } = await checks(t);
  const rows: [text: string, turn: number, quote: string, kept: boolean][] = [
    ['Call 030 12345678', 3, 'My number is 030 1234 5678', true],
    ['Call 030 12345679', 3, 'My number is 030 1234 5678', false],
    ['Call 030 1234 5678', 1, 'Good morning, did you sleep', false],
    ['Look at https://example.org/plan', 4, 'And the page is https://example.org', true],
    ['Look at https://example.org/plan?x=secret', 4, 'And the page is', false],
    ['Look at https://example.com/plan', 4, 'And the page is', false],
    ['Look at evil.example', 4, 'And the page is', false],
    ['Write to ann@example.org', 4, 'or write to ann', true],
    ['Write to joann@example.org', 4, 'or write to ann', false],
    ['Write to nn@example.org', 4, 'or write to ann', false],
    ['Look at evil。example', 4, 'And the page is', false],
    ['Look at ｅｖｉｌ．ｃｏｍ', 4, 'And the page is', false],
    ['Look at ev\u200bil.co\u200dm', 4, 'And the page is', false],
    ['![x](//evil/p.png)', 4, 'And the page is', false],
    ['javascript:alert(1)', 4, 'And the page is', false],
    ['Open 10.0.0.1/admin', 4, 'And the page is', false],
    ['Be there on 2026-11-06 at 10:30', 4, 'And the page is', true],
    ['It is version 1.2, about 3.5 km, i.e. near', 4, 'And the page is', true],
  ];
  for (const [text, turn, quote, kept] of rows) {
    const { suggestions, left_out } = taken({ suggestions: [{ ...task, text, evidence: [{ turn, quote }] }] });
    t.same([suggestions.length, left_out?.address ?? 0], kept ? [1, 0] : [0, 1], text);
  }
  const { conversation } = taken({
    conversation: {
      title: 'See evil.example',
      sentences: [
        { text: 'The page is https://example.org/plan', evidence: [{ turn: 4, quote: 'And the page is' }] },
        { text: 'The page is https://evil.example/plan', evidence: [{ turn: 4, quote: 'And the page is' }] },
      ],
      topics: ['a', 'b@evil.example'],
    },
  });
  t.match(conversation, { title: null, summary: 'The page is https://example.org/plan', topics: ['a'] });
});

t.test('K-049 nothing is shown that nobody sees', async (t) => {
  const { taken } = await checks(t);
  const hidden = 'a\u0000b\u202ec\u200bd\ufeffe\u{e0041}f\u00adg\u2066h\ni';
  const { suggestions, conversation } = taken({
    suggestions: [{ ...task, text: hidden }],
    conversation: { title: '\u200b', sentences: [{ ...spoke, text: hidden }], topics: ['\u202e'] },
  });
  t.match(suggestions, [{ text: 'a bcdefgh i' }]);
  t.match(conversation, { title: null, summary: 'a bcdefgh i', topics: [] });
  t.equal(cleanText('می\u200cخواهم'), 'می\u200cخواهم', 'joiners of letters stay');
  t.equal(cleanText('👩\u200d💻'), '👩\u200d💻');
  t.equal(cleanText('a \u200c\u200d b'), 'a b');
});

t.test('K-048 only items of the job are named, and only those of the conversation are changed', async (t) => {
  const { taken } = await checks(t);
  const input = inputOf(SAID, {
    suggestions: [{ ref: 4, kind: 'task', text: 'Send it', status: 'open', due_at_ms: null, due_date: null }],
    memories: [
      { ref: 1, own: true, kind: 'fact', text: 'Ann sleeps well' },
      { ref: 2, own: false, kind: 'fact', text: 'Ann likes evenings' },
      { ref: 3, own: false, kind: 'fact', text: 'The bank is in Bern' },
    ],
  });
  const { evidence } = fact;
  const { suggestions, memories, unsupported } = taken(
    {
      suggestions: [
        { op: 'revise', ref: 4, due_at: null, evidence: task.evidence },
        { op: 'withdraw', ref: 4 },
        { op: 'revise', ref: 4, text: 'Send money' },
      ],
      memories: [
        { op: 'withdraw', ref: 1 },
        { op: 'withdraw', ref: 2 },
        { op: 'revise', ref: 3, text: 'Pay to another bank', evidence },
        { ...fact, ref: 2 },
        { ...fact, ref: 3 },
      ],
    },
    input,
  );
  t.match(suggestions, [
    { op: 'revise', number: 4, due_at_ms: null },
    { op: 'withdraw', number: 4 },
  ]);
  t.match(memories, [
    { op: 'withdraw', number: 1 },
    { op: 'new', supersedes: 2 },
    { op: 'new', supersedes: undefined },
  ]);
  t.equal(unsupported, 3);
});

t.test('K-092 kinds that the pipeline does not want are not made; impossible times are none', async (t) => {
  const { taken } = await checks(t);
  t.equal(taken({ suggestions: [task] }, inputOf(SAID, { suggestion_kinds: ['question'] })).left_out?.unwanted, 1);
  for (const due_at of ['1970-01-01T00:00:00Z', '2126-01-01T00:00:00Z'])
    t.match(taken({ suggestions: [{ ...task, due_at }] }).suggestions, [{ due_at_ms: null }]);
});

t.test('K-089 a turn that is corrected gives the turns another name', (t) => {
  const [input, same] = [inputOf(SAID), inputOf(SAID)];
  t.equal(digestOfTurns(input.turns), digestOfTurns(same.turns));
  for (const more of [{ text: 'x' }, { end_ms: 1 }]) {
    const turns = input.turns.map((turn, at) => (at === 1 ? { ...turn, ...more } : turn));
    t.not(digestOfTurns(turns), digestOfTurns(same.turns));
  }
  t.not(digestOfTurns(input.turns.slice(1)), digestOfTurns(same.turns));
  t.end();
});

const word = fc.constantFrom('ann', 'pays', 'the', 'bill', 'on', 'monday', 'never', 'and');
const sentence = fc.array(word, { maxLength: 8 });

t.test('K-092 whatever is answered: what is kept quotes what was said', async (t) => {
  const { check } = await checks(t);
  const raw = fc.record({
    op: fc.constantFrom('new', 'revise', 'withdraw'),
    ref: fc.option(fc.integer({ min: 1, max: 3 })),
    kind: fc.constantFrom('task', 'question'),
    text: sentence.map((words) => words.join(' ')),
    evidence: fc.array(
      fc.record({ turn: fc.integer({ min: 1, max: 4 }), quote: sentence.map((words) => words.join(' ')) }),
      { maxLength: 3 },
    ),
  });
  fc.assert(
    fc.property(fc.array(sentence, { minLength: 4, maxLength: 4 }), fc.array(raw, { maxLength: 4 }), (said, items) => {
      const lines = said.map((words) => words.join(' '));
      const input = inputOf(lines, {
        suggestions: [{ ref: 1, kind: 'task', text: 'x', status: 'open', due_at_ms: null, due_date: null }],
      });
      const checked = check({ suggestions: items }, input);
      if (!checked.ok) {
        if (!items.some(({ op, ref }) => ref !== 1 && (ref !== null || op !== 'new'))) throw new Error('refused');
        return;
      }
      const { suggestions, unsupported } = checked.insights;
      if (suggestions.length + unsupported !== items.length) throw new Error('one is neither kept nor counted');
      for (const op of suggestions) {
        if (op.op === 'withdraw') continue;
        for (const { start_ms } of op.evidence) {
          const item = items.find(
            ({ text, evidence }) =>
              text === (op.text ?? text) && evidence.some(({ turn }) => turn === start_ms / 6_000 + 1),
          );
          if (item === undefined) throw new Error('evidence of nothing');
        }
      }
    }),
    { numRuns: 500 },
  );
  fc.assert(
    fc.property(sentence, sentence, (one, other) => {
      const common = wordsInOrder(one, other);
      if (common > Math.min(one.length, other.length) || common !== wordsInOrder(other, one)) throw new Error('order');
      if (wordsInOrder(one, [...other, ...one]) !== one.length) throw new Error('a part');
    }),
  );
  t.same(foreignAddresses('call me', []), []);
});

t.test('K-180 a day is due at its noon, by the zone of the profile or the clocks of the turn', async (t) => {
  const { taken } = await checks(t);
  const dueOf = (raw: object, more: Partial<InsightInput> = {}) => {
    const [op] = taken({ suggestions: [{ ...task, ...raw }] }, inputOf(SAID, more)).suggestions;
    if (op?.op !== 'new') throw new Error('it is none');
    return [op.due_at_ms === null ? null : new Date(op.due_at_ms).toISOString(), op.due_date];
  };
  const day = { due_date: '2026-11-06' };
  t.same(dueOf(day), ['2026-11-06T12:00:00.000Z', '2026-11-06']);
  t.same(dueOf(day, { time_zone: 'Europe/Vienna' }), ['2026-11-06T11:00:00.000Z', '2026-11-06']);
  const turns = inputOf(SAID).turns.map((turn) => ({ ...turn, utc_offset_min: -300 }));
  t.same(dueOf(day, { turns }), ['2026-11-06T17:00:00.000Z', '2026-11-06']);
  t.same(dueOf({ ...day, due_at: '2026-11-05T09:00:00Z' }), ['2026-11-05T09:00:00.000Z', null], 'a time says more');
  t.same(dueOf({ due_date: '1999-11-06' }), [null, null], 'nobody means that');
  t.same(dueOf({}), [null, null]);
});

t.test('K-181 sentences of a summary are borne by turns, or left out and counted', async (t) => {
  const { taken } = await checks(t);
  const summaryIn = (conversation: object) => {
    const checked = taken({ conversation: { title: null, topics: [], ...conversation } });
    const { conversation: made, unsupported, left_out } = checked;
    return [made.summary, made.sentences?.length, unsupported + (left_out?.too_many ?? 0)];
  };
  const unborne = { text: 'B is rich.', evidence: [{ turn: 2, quote: 'I am a rich man' }] };
  t.same(summaryIn({ sentences: [spoke, unborne, { text: 'Nobody said so.' }] }), ['B sends the report.', 1, 2]);
  const long = { ...spoke, text: 'x'.repeat(500) };
  t.same(summaryIn({ sentences: [long, long, long, long, spoke] }).slice(1), [4, 1], 'what fits');
  const { sentences } = taken({ conversation: { title: null, topics: [], sentences: [spoke] } }).conversation;
  t.match(sentences, [{ text: spoke.text, evidence: [{ stream_id: STREAM, start_ms: 6_000, end_ms: 11_000 }] }]);
});
