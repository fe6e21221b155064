import fc from 'fast-check';
import t from 'tap';
import type { LibraryMessage } from '../../../actors/insights/library.js';
import type { MemoryOp, Suggestion, SuggestionOp } from '../../../actors/insights/library_state.js';
import { checkPlays } from '../../fixtures/decisions.js';
import {
  ANN,
  found,
  OWN,
  PlayedLibrary,
  type Result,
  remember,
  SESSION,
  SOURCE,
  STREAM,
  span,
  stemsIn,
  suggest,
} from '../../fixtures/library.js';

const MINUTE_MS = 60_000;
const edit = (number: number, state_version: number, more: object): LibraryMessage =>
  ({ type: 'edit_suggestion', number, state_version, ...more }) as LibraryMessage;
const revise = (number: number, more: Partial<Extract<SuggestionOp, { op: 'revise' }>> = {}): SuggestionOp => ({
  ...{ op: 'revise', number, evidence: [] },
  ...more,
});
const withdraw = (number: number): SuggestionOp => ({ op: 'withdraw', number });

t.test('K-088 a result is one commit: a conversation and all that came of it', async (t) => {
  const played = new PlayedLibrary();
  const result = { suggestions: [suggest('call them soon', 0)], memories: [remember('eva likes tea', 5_000)] };
  const number = played.make(0, MINUTE_MS, result, SESSION);
  t.same(played.events(), ['conversation.created 1', 'suggestion.created 1', 'memory.created 1']);
  t.match(played.conversation(number), {
    title: 'A talk',
    suggestions: [1],
    memories: [1],
    session_id: SESSION,
    revision: 1,
  });
  const [made] = played.recorded();
  t.strictSame(made?.data, { run_id: 'run t1', revision: 1, source_id: SOURCE });
  t.match(played.suggestion(1), { text: 'call them soon', status: 'open', conversation: 1, state_version: 1 });
  t.match(played.memory(1), { origin: 'pipeline', protected: false, state: 'active' });
  t.match(played.say({ type: 'session_items', session_id: SESSION }), {
    ...{ conversations: [{ number: 1 }], memories: [{ number: 1 }], suggestions: [{ number: 1 }] },
  });
  t.same(played.say({ type: 'session_items', session_id: '01999999-5555-7555-8555-5555550001aa' }), {
    ...{ conversations: [], memories: [], suggestions: [] },
  });
  t.match(played.say({ type: 'runs', stream_id: span(0, 1).stream_id }), {
    ...{ runs: [{ status: 'published', tries: 1, run_id: 'run t1', from_ms: 0, to_ms: MINUTE_MS }], jobs: [] },
  });
  t.match(played.say({ type: 'list', kind: 'suggestion', range: { limit: 5, descending: true } }), {
    ...{ items: [{ number: 1 }], looked: 1 },
  });
  t.match(played.say({ type: 'items_of', kind: 'memory', numbers: [2, 1] }), { items: [{ number: 1 }] });
});

t.test('K-047 the same result again is answered and not applied; other content is refused', async (t) => {
  const played = new PlayedLibrary();
  played.hear(0, MINUTE_MS);
  played.pass(10_000);
  played.settle([found(0, MINUTE_MS)]);
  const job = played.claim();
  if (job === null) throw new Error('no job');
  const result = { suggestions: [suggest('call them soon', 0)] };
  const tally = played.publish(job, result);
  t.same(tally, {
    tally: { suggestions: 1, memories: 0, withdrawn: 0, dropped: { unsupported: 0, duplicate: 0, protected: 0 } },
  });
  const done = played.effects.length;
  t.same(played.publish(job, result), tally);
  t.equal(played.effects.length, done);
  t.throws(() => played.publish(job, result, 'another digest'), /CONFLICT/);
  t.throws(() => played.publish({ ...job, token: 'unknown' }, result), /CONFLICT/);
  const { token } = job;
  t.same(played.say({ type: 'published', token, digest: token }), tally, 'who asks again says the digest alone');
  t.equal(played.refusal({ type: 'published', token, digest: 'another digest' }), 'CONFLICT');
  t.equal(played.refusal({ type: 'published', token: 'unknown', digest: token }), 'CONFLICT');
});

t.test('K-076 what a run takes back and says otherwise is one that it revises, and is not lost', async (t) => {
  const played = new PlayedLibrary();
  const before = 'bring the books to the meeting on friday';
  played.make(0, MINUTE_MS, { suggestions: [suggest(before, 0), suggest('call eva and tell her', 2_000)] });
  played.say({ type: 'edit_suggestion', number: 2, state_version: 1, status: 'accepted' });
  const again = [suggest('bring the books to the meeting', 0), suggest('call eva and tell', 2_000)];
  const taken_back = [1, 2].map((number) => ({ op: 'withdraw' as const, number }));
  t.match(played.remake(0, MINUTE_MS, { suggestions: [...again, ...taken_back] }), {
    tally: { suggestions: 1, withdrawn: 0, dropped: { duplicate: 1, protected: 1 } },
  });
  t.match(played.suggestion(1), { status: 'open', text: 'bring the books to the meeting' });
  t.match(played.suggestion(2), { status: 'accepted', text: 'call eva and tell her' });
  t.equal(played.records('suggestions').size, 2);
});

t.test('K-080 what a result changes makes nothing new a duplicate of what was said before', async (t) => {
  const heard = 'we keep the oak and call the joiner tomorrow';
  const [decision, task] = ['we keep the oak', 'call the joiner tomorrow'];
  const revised = (text: string) => revise(1, { text, stems: stemsIn(text), evidence: [span(0, 1_000)] });
  const orders: [string, SuggestionOp[]][] = [
    ['revised first', [revised(decision), suggest(task, 0)]],
    ['revised last', [suggest(task, 0), revised(decision)]],
    ['taken back', [withdraw(1), suggest(decision, 0), suggest(task, 0)]],
    ['taken back last', [suggest(task, 0), suggest(decision, 0), withdraw(1)]],
  ];
  for (const [what, suggestions] of orders) {
    const played = new PlayedLibrary();
    played.make(0, MINUTE_MS, { suggestions: [suggest(heard, 0)] });
    t.match(played.remake(0, MINUTE_MS, { suggestions }), { tally: { dropped: { duplicate: 0 } } }, what);
    const open = [...played.records<Suggestion>('suggestions').values()].filter(({ status }) => status === 'open');
    t.same(open.map(({ text }) => text).sort(), [task, decision].sort(), what);
    played.remake(0, MINUTE_MS, { suggestions: [suggest(task, 0), suggest(decision, 0)] });
    t.equal(played.records('suggestions').size, 2, 'the same again is one');
  }
  const played = new PlayedLibrary();
  played.make(0, MINUTE_MS, { suggestions: [suggest(heard, 0)], memories: [remember(heard, 0)] });
  played.say(edit(1, 1, { text: 'Oak!', stems: ['oak!'] }));
  const memory = {
    op: 'revise' as const,
    number: 1,
    text: decision,
    stems: stemsIn(decision),
    evidence: [span(0, 1_000)],
  };
  played.remake(0, MINUTE_MS, {
    suggestions: [suggest(task, 0), revised(decision)],
    memories: [remember(task, 0), memory],
  });
  t.match([played.suggestion(1).text, played.suggestion(2).text], ['Oak!', task], 'a person had put it otherwise');
  t.match([played.memory(1).text, played.memory(2).text], [decision, task]);
  played.remake(0, MINUTE_MS, { suggestions: [suggest(decision, 0)] });
  t.equal(played.records('suggestions').size, 2, 'and it is known by what was heard last');
});

t.test('K-063 K-065 a replacement keeps the conversation, its id and the title that a person gave it', async (t) => {
  const played = new PlayedLibrary();
  played.make(0, MINUTE_MS);
  played.events();
  played.remake(0, MINUTE_MS);
  t.same(played.events(), [], 'nothing has changed');
  t.equal(played.conversation(1).revision, 1);
  played.remake(0, MINUTE_MS, { title: 'Another' });
  t.same(played.events(), ['conversation.updated 1 title']);
  played.say({ type: 'edit_conversation', number: 1, title: 'Ours' });
  t.same(played.events(), ['conversation.updated 1 title']);
  played.say({ type: 'edit_conversation', number: 1, title: 'Ours' });
  played.remake(0, MINUTE_MS + 5_000, { title: 'A third' });
  t.same(played.events(), ['conversation.updated 1 ended_at parts']);
  t.match(played.conversation(1), { title: 'Ours', protected_fields: ['title'], revision: 4 });
});

t.test('K-076 K-077 a run changes what nobody has touched, field by field what somebody has', async (t) => {
  const played = new PlayedLibrary();
  const suggestions = ['call eva soon', 'write to max', 'buy some bread', 'ask for leave'].map((text, n) =>
    suggest(text, n * 2_000),
  );
  played.make(0, MINUTE_MS, { suggestions });
  played.say(edit(1, 1, { text: 'ring eva', stems: ['ring', 'eva'] }));
  played.say(edit(4, 1, { status: 'accepted' }));
  played.events();
  const answer = played.remake(0, MINUTE_MS, {
    suggestions: [
      revise(1, { text: 'call eva on monday', stems: stemsIn('call eva on monday'), due_at_ms: 9 }),
      revise(2, { text: 'write to max today', stems: stemsIn('write to max today'), kind: 'reminder' }),
      withdraw(3),
      withdraw(4),
      revise(77),
    ],
  });
  t.same(answer, {
    tally: { suggestions: 2, memories: 0, withdrawn: 1, dropped: { unsupported: 1, duplicate: 0, protected: 2 } },
  });
  t.same(played.events(), [
    ...['suggestion.updated 1 due_at', 'suggestion.updated 2 kind text', 'suggestion.updated 3 status'],
  ]);
  t.match(played.suggestion(1), { text: 'ring eva', due_at_ms: 9, state_version: 3 });
  t.match(played.suggestion(3), { status: 'withdrawn', touched: false });
  t.match(played.suggestion(4), { status: 'accepted' });
  played.remake(0, MINUTE_MS, { title: 'x', suggestions: [suggest('buy some bread', 4_000)] });
  t.same(
    played.events(),
    ['suggestion.created 5', 'conversation.updated 1 title'],
    'what a run withdrew may come again',
  );
});

t.test('K-080 what was dismissed or deleted does not come back, nor does what is there already', async (t) => {
  const played = new PlayedLibrary();
  const suggestions = ['call eva quite soon', 'write to max', 'buy some bread'].map((text, n) =>
    suggest(text, n * 2_000),
  );
  played.make(0, MINUTE_MS, { suggestions });
  played.say({ type: 'delete', kind: 'suggestion', number: 1 });
  played.say(edit(2, 1, { status: 'dismissed' }));
  played.say(edit(3, 1, { text: 'get bread', stems: ['get', 'bread'] }));
  played.events();
  const again = (more: SuggestionOp[] = []) => played.remake(0, MINUTE_MS, { suggestions: [...suggestions, ...more] });
  t.match(again(), { tally: { suggestions: 0, dropped: { duplicate: 1, protected: 2 } } });
  t.match(again([suggest('get bread', 4_000)]), { tally: { suggestions: 0, dropped: { duplicate: 2, protected: 2 } } });
  t.same(played.events(), []);
  t.match(
    again([suggest('call eva quite soon', 30_000)]),
    { tally: { suggestions: 1 } },
    'said elsewhere it is another',
  );
  t.match(again([suggest('call eva quite soon tomorrow', 0)]), { tally: { suggestions: 0 } }, 'four of five stems');
  t.match(again([suggest('call eva soon tomorrow morning', 0)]), { tally: { suggestions: 1 } }, 'three of five');
  // Taken back, it is an ordinary one again.
  played.say(edit(2, 2, { status: 'open' }));
  t.notOk([...played.records<{ number: number }[]>('suppressed').values()].flat().some(({ number }) => number === 2));
});

t.test('K-084 K-086 memories: the same adds evidence, a contradiction takes the place, a person’s stay', async (t) => {
  const played = new PlayedLibrary();
  played.make(0, MINUTE_MS, { memories: [remember('eva likes tea', 0)] });
  played.events();
  played.make(10 * MINUTE_MS, 11 * MINUTE_MS, { memories: [remember('tea eva likes', 10 * MINUTE_MS)] });
  t.same(played.events(), ['conversation.created 2', 'memory.updated 1 evidence']);
  t.equal(played.memory(1).evidence.length, 2);
  for (let n = 2; n < 15; n++)
    played.make(n * 10 * MINUTE_MS, (n * 10 + 1) * MINUTE_MS, {
      memories: [remember('eva likes tea', n * 10 * MINUTE_MS)],
    });
  t.equal(played.memory(1).evidence.length, 8, 'as much as there is room for');
  played.events();
  const later = 1_000 * MINUTE_MS;
  played.make(later, later + MINUTE_MS, { memories: [remember('eva hates tea', later, { supersedes: 1 })] });
  t.same(played.events().slice(1), ['memory.updated 1 state superseded_by', 'memory.created 2']);
  t.match(played.memory(1), { state: 'superseded', superseded_by: 2 });
  played.say({ type: 'edit_memory', number: 2, text: 'eva abhors tea', stems: stemsIn('eva abhors tea') });
  t.match(played.memory(2), { protected: true, protected_fields: ['text'], state: 'active' });
  const memories: MemoryOp[] = [
    remember('eva adores tea', later + 1_000, { supersedes: 2 }),
    remember('eva hates tea', later),
    { op: 'revise', number: 2, text: 'no', stems: [], evidence: [] },
    { op: 'withdraw', number: 2 },
    { op: 'withdraw', number: 1 },
  ];
  t.match(played.remake(later, later + MINUTE_MS, { memories }), {
    tally: { memories: 1, withdrawn: 0, dropped: { duplicate: 1, protected: 2, unsupported: 1 } },
  });
  t.match(played.memory(2), { text: 'eva abhors tea', state: 'active' });
  t.match(played.memory(3), { text: 'eva adores tea', state: 'active' });
  played.say({ type: 'delete', kind: 'memory', number: 3 });
  t.match(played.remake(later, later + MINUTE_MS, { memories: [remember('eva adores tea', later + 1_000)] }), {
    tally: { memories: 0, dropped: { protected: 1 } },
  });
});

t.test(
  'K-087 a memory that a run withdraws loses what that conversation bore, and goes with the last of it',
  async (t) => {
    const played = new PlayedLibrary();
    played.make(0, MINUTE_MS, { memories: [remember('eva likes tea', 0)] });
    played.make(10 * MINUTE_MS, 11 * MINUTE_MS, { memories: [remember('eva likes tea', 10 * MINUTE_MS)] });
    played.events();
    played.remake(0, MINUTE_MS, { memories: [{ op: 'withdraw', number: 1 }] });
    t.same(played.events(), ['memory.updated 1 evidence']);
    t.same(played.memory(1).evidence, [span(10 * MINUTE_MS, 10 * MINUTE_MS + 1_000)]);
    played.remake(10 * MINUTE_MS, 11 * MINUTE_MS, { memories: [{ op: 'withdraw', number: 1 }] });
    t.same(played.events(), ['memory.deleted 1']);
    t.equal(played.refusal({ type: 'item', kind: 'memory', number: 1 }), 'NOT_FOUND');
    t.equal(played.records('texts').size, 0);
  },
);

t.test('K-084 a memory that a person writes begins a library; a run that finds the same adds nothing', async (t) => {
  const played = new PlayedLibrary();
  const place = { account_id: ANN, workspace_id: OWN };
  played.say({ type: 'create_memory', ...place, text: 'eva likes tea', kind: 'fact', stems: stemsIn('eva likes tea') });
  t.same(played.events(), ['memory.created 1']);
  t.match(played.effects[0], { effect: 'add_to_index', owner: ANN, index: 'libraries' });
  t.match(played.memory(1), { origin: 'manual', protected: true, evidence: [] });
  played.make(0, MINUTE_MS, { memories: [remember('eva likes tea', 0)] });
  t.same(played.events(), ['conversation.created 1']);
  t.same(played.memory(1).evidence, []);
});

t.test('K-048 a result has at most fifty suggestions and twenty memories, and they are decided quickly', async (t) => {
  const words = (n: number) => `do thing ${n} and then thing ${n + 1} for number ${n * 7} at once`;
  const result = {
    suggestions: Array.from({ length: 50 }, (_, n) => suggest(words(n), n * 1_000)),
    memories: Array.from({ length: 20 }, (_, n) => remember(words(n + 100), n * 1_000)),
  };
  const played = new PlayedLibrary();
  played.make(0, MINUTE_MS, result);
  t.equal(played.records('suggestions').size, 50);
  t.equal(played.records('memories').size, 20);
  const more = { ...result, suggestions: [...result.suggestions, suggest('one more', 55_000)] };
  t.throws(() => played.remake(0, MINUTE_MS, more), /BAD_REQUEST/);
});

/** What a person does at some point with the suggestion of that text. */
type Act = {
  at: 'before' | 'after';
  text: number;
  what: 'text' | 'due' | 'dismiss' | 'accept' | 'delete' | 'feedback';
};
const TEXTS = ['call eva very soon', 'write to max today', 'buy bread and milk', 'ask for some leave'];

const anyActs = fc.array(
  fc.record({
    at: fc.constantFrom<Act['at']>('before', 'after'),
    text: fc.nat(TEXTS.length - 1),
    what: fc.constantFrom<Act['what']>('text', 'due', 'dismiss', 'accept', 'delete', 'feedback'),
  }),
  { maxLength: 6 },
);
type AnyOp = { op: 'new' | 'revise' | 'withdraw'; text: number };
const anyOps: fc.Arbitrary<AnyOp[]> = fc.array(
  fc.record({ op: fc.constantFrom<AnyOp['op']>('new', 'revise', 'withdraw'), text: fc.nat(TEXTS.length - 1) }),
  { maxLength: 8 },
);

t.test('K-076 K-080 an edit and a run in either order: what people set stays, what they removed stays away', (t) => {
  const plays = fc.record({ acts: anyActs, runs: fc.array(anyOps, { minLength: 1, maxLength: 3 }) });
  checkPlays(t, { plays, runs: 1_000 }, ({ acts: drawn, runs }) => {
    const acts = (['before', 'after'] as const).flatMap((at) => drawn.filter((act) => act.at === at));
    const as_drawn = play(acts, runs);
    const all_before = play(
      acts.map((act) => ({ ...act, at: 'before' as const })),
      runs,
    );
    const all_after = play(
      acts.map((act) => ({ ...act, at: 'after' as const })),
      runs,
    );
    for (const one of [all_before, all_after])
      if (JSON.stringify(one.set) !== JSON.stringify(as_drawn.set))
        throw new Error(`the order matters: ${JSON.stringify([as_drawn.set, one.set])}`);
  });
  t.end();
});

/** What people have set in the end, by suggestion. Throws when a run has changed or brought back anything of it. */
function play(acts: Act[], runs: AnyOp[][]): { set: Record<string, unknown> } {
  const played = new PlayedLibrary();
  played.make(0, MINUTE_MS, { suggestions: TEXTS.map((text, n) => suggest(text, n * 2_000)) });
  const set = new Map<number, Record<string, unknown>>();
  const removed = new Set<number>();
  const opsOf = (ops: AnyOp[]): Result => ({
    suggestions: ops.map(({ op, text }): SuggestionOp => {
      if (op === 'withdraw') return withdraw(text + 1);
      const words = `${TEXTS[text]} really`;
      if (op === 'revise')
        return revise(text + 1, { text: words, stems: stemsIn(words), due_at_ms: 77, kind: 'question' });
      return suggest(TEXTS[text] as string, text * 2_000);
    }),
  });
  const check = () => {
    for (const [number, fields] of set) {
      if (removed.has(number)) continue;
      const item = played.suggestion(number) as unknown as Record<string, unknown>;
      if (item.status === 'withdrawn') throw new Error(`${number} was withdrawn`);
      for (const [name, value] of Object.entries(fields))
        if (item[name] !== value) throw new Error(`${name} of ${number} is ${item[name]}, not ${value}`);
    }
    const living = [...played.records<Suggestion>('suggestions')].map(
      ([id, item]) => [Number.parseInt(id, 16), item] as const,
    );
    for (const number of removed)
      for (const [other, { text, evidence, status }] of living)
        if (evidence[0]?.start_ms === (number - 1) * 2_000 && status === 'open' && other > TEXTS.length)
          throw new Error(`${number} came back as ${other}: ${text}`);
  };
  const act = ({ text, what }: Act) => {
    const number = text + 1;
    if (removed.has(number)) return;
    const before = played.suggestion(number);
    // Who comes behind a run that withdrew it has nothing to act on; taking it up again is one more act.
    if (before.status === 'withdrawn') played.say(edit(number, before.state_version, { status: 'open' }));
    const { state_version, status } = played.suggestion(number);
    const fields = set.get(number) ?? {};
    set.set(number, fields);
    if (what === 'text') {
      fields.text = `mine ${number}`;
      played.say(edit(number, state_version, { text: fields.text, stems: ['mine', String(number)] }));
    } else if (what === 'due') {
      fields.due_at_ms = 5;
      played.say(edit(number, state_version, { due_at_ms: 5 }));
    } else if (what === 'dismiss' || what === 'accept') {
      fields.status = what === 'dismiss' ? 'dismissed' : 'accepted';
      if (status !== fields.status) played.say(edit(number, state_version, { status: fields.status }));
    } else if (what === 'feedback') played.say({ type: 'feedback', number, rating: 'helpful', comment: null });
    else {
      removed.add(number);
      played.say({ type: 'delete', kind: 'suggestion', number });
    }
  };
  for (const one of acts.filter(({ at }) => at === 'before')) act(one);
  const [first = [], ...others] = runs;
  played.remake(0, MINUTE_MS, opsOf(first));
  check();
  for (const one of acts.filter(({ at }) => at === 'after')) act(one);
  for (const ops of others) {
    played.remake(0, MINUTE_MS, opsOf(ops));
    check();
  }
  check();
  return {
    set: Object.fromEntries(
      [...set]
        .sort(([a], [b]) => a - b)
        .map(([n, fields]) => [n, removed.has(n) ? 'gone' : Object.entries(fields).sort()]),
    ),
  };
}

t.test('K-008 events of conversations name a run where a run did it', async (t) => {
  const played = new PlayedLibrary();
  const number = played.make(0, MINUTE_MS);
  played.remake(0, MINUTE_MS, { title: 'Another talk' });
  played.say({ type: 'edit_conversation', number, title: 'By hand' });
  played.say({ type: 'delete', kind: 'conversation', number });
  const told = played.recorded().filter(({ type }) => type.startsWith('conversation.'));
  t.same(
    told.map(({ type, data }) => `${type} ${data?.run_id}`),
    [
      'conversation.created run t1',
      'conversation.updated run t2',
      'conversation.updated undefined',
      'conversation.deleted undefined',
    ],
  );
  t.notOk(told.slice(2).some(({ data }) => data !== undefined && 'run_id' in data));
});

t.test('K-180 a run changes a day that nobody has set, and no other', async (t) => {
  const [monday, friday] = ['2026-12-07', '2026-12-11'].map((due_date) => ({
    due_date,
    due_at_ms: Date.parse(`${due_date}T12:00:00Z`),
  })) as [{ due_date: string; due_at_ms: number }, { due_date: string; due_at_ms: number }];
  const played = new PlayedLibrary();
  played.make(0, MINUTE_MS, { suggestions: [suggest('call them soon', 0, monday), suggest('bake some bread', 5_000)] });
  t.match(played.suggestion(1), monday);
  played.say(edit(2, 1, { due_at_ms: 5 }));
  played.events();
  const tally = played.remake(0, MINUTE_MS, { suggestions: [revise(1, friday), revise(2, friday)] });
  t.match(tally, { tally: { dropped: { protected: 1 } } });
  t.match(played.suggestion(1), friday);
  t.match(played.suggestion(2), { due_at_ms: 5 });
  t.ok(played.events().includes('suggestion.updated 1 due_at due_date'));
  played.remake(0, MINUTE_MS, { suggestions: [revise(1, { due_at_ms: friday.due_at_ms })] });
  t.equal(played.suggestion(1).due_date, null, 'it names a time now');
  played.remake(0, MINUTE_MS, { suggestions: [revise(1, { text: 'call them' })] });
  t.equal(played.suggestion(1).due_at_ms, friday.due_at_ms, 'one that names none changes none');
});

t.test('K-181 a summary is its sentences', async (t) => {
  const played = new PlayedLibrary();
  const sentences = [
    { text: 'A.', evidence: [span(0, 1_000)] },
    { text: 'B.', evidence: [span(2_000, 3_000)] },
  ];
  const number = played.make(0, MINUTE_MS, { sentences });
  t.same(played.conversation(number).sentences, sentences);
  t.equal(played.conversation(number).summary, 'A. B.');
  played.events();
  played.remake(0, MINUTE_MS, { sentences: [{ text: 'A. B.', evidence: [span(0, 1_000)] }] });
  t.same(played.events(), [`conversation.updated ${number} summary_sentences`]);
});

t.test('K-183 a run changes the owner that it names, and none that a person chose', async (t) => {
  const owner = (speaker: number, contact_id: string | null = null) => ({
    roles: { owner_contact_id: contact_id, requester_contact_id: null },
    role_speakers: { owner: { stream_id: STREAM, speaker }, requester: null },
  });
  const played = new PlayedLibrary();
  played.make(0, MINUTE_MS, {
    suggestions: [suggest('call them soon', 0, owner(1)), suggest('bake some bread', 5_000)],
  });
  played.events();
  played.remake(0, MINUTE_MS, { suggestions: [revise(1, owner(2))] });
  t.match(played.suggestion(1), { role_speakers: { owner: { speaker: 2 } }, state_version: 1 });
  t.same(played.events(), [], 'nobody sees a speaker without a contact');
  played.remake(0, MINUTE_MS, { suggestions: [revise(1, owner(2, 'eva'))] });
  t.match(played.suggestion(1), { roles: { owner_contact_id: 'eva' }, state_version: 2 });
  t.same(played.events(), ['suggestion.updated 1 roles']);
  played.remake(0, MINUTE_MS, { suggestions: [revise(1, { text: 'call them' })] });
  t.match(played.suggestion(1), { roles: { owner_contact_id: 'eva' } }, 'one that names nobody changes nobody');
  played.say(edit(2, 1, { roles: { owner_contact_id: 'kim' } }));
  played.events();
  played.remake(0, MINUTE_MS, { suggestions: [revise(2, owner(1, 'eva'))] });
  t.match(played.suggestion(2), { roles: { owner_contact_id: 'kim' } });
  t.same(played.events(), []);
});

t.test('K-183 roles that were read before a suggestion changed are not written', async (t) => {
  const played = new PlayedLibrary();
  const number = played.make(0, MINUTE_MS, { suggestions: [suggest('call them soon', 0)] });
  t.same(played.say({ type: 'conversations_on', stream_id: STREAM }), { conversations: [number] });
  t.match(played.say({ type: 'heard_roles', conversation: number }), { heard: [{ number: 1, revision: 1 }] });
  const roles = { owner_contact_id: 'eva', requester_contact_id: null };
  played.say(edit(1, 1, { text: 'ring them' }));
  played.say({ type: 'set_roles', found: [{ number: 1, revision: 1, roles }] });
  t.match(played.suggestion(1), { roles: { owner_contact_id: null } });
  played.say({ type: 'set_roles', found: [{ number: 1, revision: 2, roles }] });
  t.match(played.suggestion(1), { roles: { owner_contact_id: 'eva' }, protected_fields: ['text'] });
});
