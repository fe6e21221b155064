import t, { type Test } from 'tap';
import { LIMITS } from '../../../../src/domain/limits.js';
import { openServerKeys } from '../../../../src/engine/secrets/server_keys.js';
import { Chat } from '../../../../src/features/insights/engines/chat.js';
import type { InsightInput } from '../../../../src/features/insights/engines/insight_input.js';
import { checkedInsights } from '../../../../src/features/insights/library/checked_insights.js';
import { EngineFailed } from '../../../../src/features/transcripts/engines/engine.js';
import { chosen, completion, ScriptedChat } from '../../../../tools/speech/scripted_chat.js';
import { inputOf } from '../../../fixtures/insight_input.js';
import { obeying, SPOKEN_INSTRUCTIONS } from '../../../fixtures/spoken_instructions.js';
import { tempFolder } from '../../../fixtures/temp_folder.js';

const KEY = 'sk-very-secret-key';
const TALK = { title: 'A talk', sentences: [], topics: [] };
const SAID = ['Hello there, how was it?', 'I will call you on Friday.', 'Fine, until then.'];

async function openWorld(t: Test, options: Record<string, unknown> = {}) {
  const server = await ScriptedChat.start(t);
  const engine = new Chat({ url: server.url, key: null, model: null, now: Date.now, ...options });
  t.teardown(() => engine.close());
  const think = (input: InsightInput = inputOf(SAID), signal = new AbortController().signal) =>
    engine.think(input, signal);
  const failure = async (signal?: AbortSignal) => {
    const error = await think(inputOf(SAID), signal).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof EngineFailed)) throw error ?? new Error('it did not fail');
    return error.failure;
  };
  return { server, engine, think, failure };
}

t.test('K-092 what was said is data in the user message; the system message is ours and the pipeline’s', async (t) => {
  const { server, think } = await openWorld(t, { key: KEY, model: 'small' });
  const input = inputOf(SAID, {
    ...{ instructions: 'Look for birthdays.', about: 'I am a gardener.', context: ['The shed is green.'] },
    ...{ vocabulary: ['Spool'], languages: ['en'], suggestion_kinds: ['task'] },
    suggestions: [{ ref: 3, kind: 'task', text: 'Call Bob', status: 'open', due_at_ms: 0, due_date: null }],
    memories: [{ ref: 5, own: false, kind: 'fact', text: 'Bob likes tea' }],
  });
  t.match(await think(input), {
    conversation: { title: SAID[0] },
    suggestions: [{ op: 'new', kind: 'task', text: SAID[1], owner: 'B', evidence: [{ turn: 2, quote: SAID[1] }] }],
    memories: [],
  });
  const [request] = server.requests;
  t.match(request, { authorization: `Bearer ${KEY}`, body: { model: 'small', temperature: 0 } });
  const schema = request?.body.response_format;
  t.match(schema, { type: 'json_schema', json_schema: { name: 'insights', strict: true } });
  t.same(
    request?.body.messages.map(({ role }) => role),
    ['system', 'user'],
  );
  t.match(request?.system, /Look for birthdays\.$/);
  t.match(request?.system, /Kinds of suggestions to look for: task\./);
  for (const text of [...SAID, 'gardener', 'shed', 'Call Bob', 'Bob likes tea', 'Spool'])
    t.notOk(request?.system.includes(text), text);
  t.notOk(JSON.stringify(request?.user).includes('birthdays'));
  t.match(request?.user, {
    started_at: '2026-11-02T10:00:00.000Z',
    what_people_said: { note: /never instructions/, turns: [{ turn: 1, speaker: 'A', text: SAID[0] }, {}, {}] },
    people: [
      { speaker: 'A', name: 'Ann', owns_the_account: true },
      { speaker: 'B', name: null },
    ],
    suggestions: [{ ref: 3, text: 'Call Bob', status: 'open', due_at: '1970-01-01T00:00:00.000Z' }],
    memories: [{ ref: 5, text: 'Bob likes tea' }],
    account: { about: 'I am a gardener.', languages: ['en'], vocabulary: ['Spool'], context: ['The shed is green.'] },
  });
});

t.test('every object of the schema names all its members and allows no others', async (t) => {
  const { server, think } = await openWorld(t);
  await think();
  const walk = (schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return;
    const { properties, required, additionalProperties } = schema as Record<string, unknown>;
    if (properties !== undefined && typeof properties === 'object') {
      t.same(required, Object.keys(properties ?? {}));
      t.equal(additionalProperties, false);
    }
    for (const value of Object.values(schema)) walk(value);
  };
  walk(server.requests[0]?.body.response_format?.json_schema?.schema);
});

t.test('a server that knows no schema is asked in another form', async (t) => {
  const { server, think } = await openWorld(t);
  const formsOf = async () => {
    server.requests.length = 0;
    await think();
    return server.requests.map(({ body }) => body.response_format?.type ?? 'none');
  };
  server.answers = [{ status: 400, body: '{"error": "json_schema"}' }];
  t.same(await formsOf(), ['json_schema', 'json_object']);
  server.answers = [
    { status: 422, body: '' },
    { status: 400, body: '' },
  ];
  t.same(await formsOf(), ['json_schema', 'json_object', 'none']);
});

t.test('every failure has its code, says whether to come again, and holds neither text nor key', async (t) => {
  const { server, failure } = await openWorld(t, { key: KEY });
  const said = `what was said ${KEY}`;
  const rows: [string, (typeof server.answers)[number], object][] = [
    [
      '429, seconds',
      { status: 429, body: said, headers: { 'retry-after': '7' } },
      { code: 'ENGINE_BUSY', retry_after_ms: 7_000 },
    ],
    ['500', { status: 500, body: said }, { code: 'ENGINE_ERROR', retry: true }],
    ['401', { status: 401, body: said }, { code: 'ENGINE_REFUSED', retry: false }],
    ['HTML', { status: 200, body: `<html>${said}</html>` }, { code: 'ENGINE_NOT_JSON', retry: true }],
    ['half JSON', { status: 200, body: '{"choices": [{"mess' }, { code: 'ENGINE_NOT_JSON', retry: true }],
    ['half JSON inside', completion('{"conversation": {"title": "wh'), { code: 'ENGINE_NOT_JSON', retry: true }],
    ['words', completion('I am sorry, I can not do that.'), { code: 'ENGINE_NOT_JSON', retry: true }],
    ['no choice', { status: 200, body: '{"choices": []}' }, { code: 'ENGINE_BAD_ANSWER', retry: true }],
    ['a list', { status: 200, body: '[]' }, { code: 'ENGINE_BAD_ANSWER' }],
    ['nothing', { status: 200, body: '' }, { code: 'ENGINE_NOT_JSON' }],
    ['an empty object', completion({}), { code: 'ENGINE_BAD_ANSWER', retry: true }],
    ['empty members', completion({ conversation: {}, suggestions: [], memories: [] }), { code: 'ENGINE_BAD_ANSWER' }],
    ['another shape', completion({ title: said, tasks: [said] }), { code: 'ENGINE_BAD_ANSWER' }],
    ['a list as an object', completion({ conversation: TALK, suggestions: {} }), { code: 'ENGINE_BAD_ANSWER' }],
    [
      'items that say not what to do with them',
      completion({ conversation: TALK, suggestions: [{ kind: 'task', text: said }], memories: [] }),
      { code: 'ENGINE_BAD_ANSWER', retry: true },
    ],
    ['cut off', 'cut off', { code: 'ENGINE_UNREACHABLE', retry: true }],
    ['endless', 'endless', { code: 'ENGINE_ANSWER_TOO_LARGE', retry: true }],
  ];
  for (const [title, answer, wanted] of rows) {
    server.answers = [answer];
    const failed = await failure();
    t.match(failed, wanted, title);
    t.notMatch(JSON.stringify(failed), /what was sa|very-secret/, title);
  }
});

t.test('an engine that is silent, or no longer wanted', async (t) => {
  const { server, failure } = await openWorld(t, { answer_ms_max: 200 });
  server.answers = ['hang'];
  t.match(await failure(), { code: 'ENGINE_TIMEOUT', retry: true });
  server.answers = ['hang'];
  t.match(await failure(AbortSignal.timeout(20)), { code: 'ENGINE_STOPPED' });
});

t.test('K-092 K-188 what a model gets wrong costs it the item, and is counted', async (t) => {
  const { server, think } = await openWorld(t);
  const evidence = [{ turn: 2, quote: 'I will call you' }];
  const task = { op: 'new', kind: 'task', text: 'Call', due_at: '2026-11-06', evidence };
  const fenced = (said: object) => completion(`Here it is:\n\`\`\`json\n${JSON.stringify(said)}\n\`\`\``);
  server.answers = [
    fenced({
      conversation: { title: 'x'.repeat(300), topics: ['a', 7, null, ...Array(20).fill('b')], mood: 'good' },
      suggestions: [
        { ...task, confidence: 0.9 },
        { ...task, due_at: 'soon', owner: 7, evidence: [...evidence, { turn: 99, quote: 'x' }, 'y'] },
        { ...task, kind: 'order' },
        { ...task, op: 'delete' },
        { ...task, text: '' },
        { ...task, op: 'revise', ref: 12 },
        'no item',
      ],
    }),
  ];
  const { conversation, suggestions, memories, left_out } = await think();
  t.same(left_out, { malformed: 7, too_many: 13 }, 'five items, two topics, and topics beyond eight');
  t.equal(conversation.title?.length, LIMITS.conversation_title_chars_max / 2 + 1);
  t.same(conversation.sentences, []);
  t.equal(conversation.topics.length, 8);
  t.match(suggestions, [
    { due_at: null, due_date: '2026-11-06', evidence },
    { due_at: null, owner: null, evidence },
  ]);
  t.equal(suggestions.length, 2);
  t.same(memories, []);
  t.notOk(Object.keys(suggestions[0] ?? {}).includes('confidence'));
});

t.test('K-187 numbers that a model writes as text are numbers', async (t) => {
  const { server, think } = await openWorld(t);
  const evidence = [{ turn: '2', quote: 'I will call you' }];
  const call = { op: 'revise', ref: ' 1 ', kind: 'task', text: 'Call', evidence };
  server.answers = [
    completion({
      conversation: { ...TALK, sentences: [{ text: 'Ann calls.', evidence }] },
      suggestions: [call, { ...call, ref: '1.5' }, { ...call, evidence: [{ turn: '12', quote: 'I will call you' }] }],
    }),
  ];
  const known = {
    ref: 1,
    kind: 'task' as const,
    text: 'Ring',
    status: 'open' as const,
    due_at_ms: null,
    due_date: null,
  };
  const { conversation, suggestions, left_out } = await think(inputOf(SAID, { suggestions: [known] }));
  const read = [{ turn: 2, quote: 'I will call you' }];
  t.same(conversation.sentences, [{ text: 'Ann calls.', evidence: read }]);
  t.match(suggestions, [
    { ref: 1, evidence: read },
    { ref: 1, evidence: [] },
  ]);
  t.same(left_out, { malformed: 1 });
});

t.test('K-187 an answer is read however a local model wraps it', async (t) => {
  const { server, think } = await openWorld(t);
  const said = { conversation: { ...TALK, title: 'As asked for' }, suggestions: [], memories: [] };
  const json = JSON.stringify(said);
  const pretty = JSON.stringify(said, null, 2);
  const rows: [string, (typeof server.answers)[number]][] = [
    ['thought before it', completion(`<think>They want {"conversation": ...}, so {that}.</think>\n${json}`)],
    [
      'a whole draft thought before it',
      completion(`<think>${JSON.stringify({ conversation: { title: 'Draft' } })}</think>${json}`),
    ],
    ['thought, of which the beginning is lost', completion(`so {"conversation": "x"} it is</think>${json}`)],
    ['thought behind it', completion(`${json}<think>Was that {"good"}?</think>`)],
    [
      'in channels',
      completion(`<|channel|>analysis<|message|>A {draft}.<|end|><|start|>assistant<|channel|>final<|message|>${json}`),
    ],
    ['in a channel without an end', completion(`<|channel|>final ${json}`)],
    ['in a fence', completion(`Here it is:\n\`\`\`json\n${pretty}\n\`\`\`\nAnything {else}?`)],
    ['twice', completion(`${json}\n\n${json}`)],
    ['behind a draft', completion(`${JSON.stringify({ conversation: { title: 'Draft' } })}\nBetter: ${json}`)],
    ['before another object', completion(`${json}\n{"confidence": 0.9}`)],
    ['commas before the ends', completion(pretty.replaceAll(/([\]}"])(\s*[\]}])/g, '$1,$2'))],
    [
      'in content parts',
      chosen({
        content: [
          { type: 'text', text: json.slice(0, 20) },
          { type: 'text', text: json.slice(20) },
        ],
      }),
    ],
    ['as what it reasons', chosen({ content: null, reasoning_content: `I answer ${json}` })],
    ['as what it reasons, by another name', chosen({ content: '', reasoning: json })],
  ];
  for (const [title, answer] of rows) {
    server.answers = [answer];
    t.match(await think(), { conversation: { title: 'As asked for' } }, title);
  }
});

t.test('K-187 turns are named in many ways, and a time without an offset is of the place', async (t) => {
  const { server, think } = await openWorld(t);
  const quote = 'I will call you';
  const read = async (turn: unknown, due_at: string, more: Partial<InsightInput> = {}) => {
    const call = { op: 'new', kind: 'task', text: 'Call', due_at, evidence: [{ turn, quote }] };
    server.answers = [completion({ conversation: TALK, suggestions: [call], memories: [] })];
    const [one] = (await think(inputOf(SAID, more))).suggestions;
    return { turn: one?.evidence?.[0]?.turn, due_at: one?.due_at };
  };
  for (const turn of ['turn 2', 'Turn 2', '#2', '[2]', ' 2 ', 2]) t.equal((await read(turn, '')).turn, 2, `${turn}`);
  for (const turn of ['two', '1.5', '-2', 2.5, null]) t.equal((await read(turn, '')).turn, undefined, `${turn}`);
  const vienna = { time_zone: 'Europe/Vienna' };
  for (const [due_at, wanted] of [
    ['2026-11-27T17:00:00', '2026-11-27T16:00:00.000Z'],
    ['2026-07-27 17:00', '2026-07-27T15:00:00.000Z'],
    ['November 27, 2026 5:00 PM', '2026-11-27T16:00:00.000Z'],
    ['2026-11-27T17:00:00Z', '2026-11-27T17:00:00.000Z'],
    ['2026-11-27T17:00:00-08:00', '2026-11-28T01:00:00.000Z'],
    ['2026-02-30T17:00', null],
    ['soon', null],
  ] as const)
    t.equal((await read(2, due_at, vienna)).due_at, wanted, due_at);
  const input = inputOf(SAID);
  const turns = input.turns.map((turn) => ({ ...turn, utc_offset_min: -480 }));
  t.equal((await read(2, '2026-11-27T17:00', { turns })).due_at, '2026-11-28T01:00:00.000Z', 'without a zone');
});

t.test('K-092 a conversation for which a model has no room goes in smaller parts', async (t) => {
  const refusals = [
    {
      error: {
        code: 400,
        message: 'the request exceeds the available context size',
        n_prompt_tokens: 9000,
        n_ctx: 4096,
      },
    },
    { error: 'The model is loaded with a context length of only 4096 tokens.' },
    { error: { message: 'maximum context length is 8192 tokens', code: 'context_length_exceeded' } },
    { object: 'error', message: 'The prompt (length 40000) is longer than the maximum model length of 4096.' },
  ];
  const lines = Array.from({ length: 120 }, (_, at) => `This is the sentence of the talk that has number ${at}.`);
  for (const [at, error] of refusals.entries()) {
    const { server, think } = await openWorld(t);
    server.refuses = ({ body }) =>
      JSON.stringify(body.messages).length > 9_000
        ? { status: at === 2 ? 413 : 400, body: JSON.stringify(error) }
        : null;
    const { conversation } = await think(inputOf(lines));
    t.match(conversation.title, /^This is/);
    const heard = server.requests.flatMap(({ user, body }) =>
      JSON.stringify(body.messages).length > 9_000 ? [] : (user.what_people_said?.turns ?? []).map(({ turn }) => turn),
    );
    t.same(
      heard,
      lines.map((_, turn) => turn + 1),
      'each turn once',
    );
    t.ok(server.requests.length < 30, `${server.requests.length}`);
  }
  const { server, failure } = await openWorld(t);
  server.refuses = () => ({ status: 400, body: JSON.stringify(refusals[1]) });
  t.match(await failure(), { code: 'ENGINE_CONTEXT_TOO_SMALL', retry: false }, 'not even for a turn');
  t.ok(server.requests.length <= 6);
  const { server: cut, failure: failed } = await openWorld(t);
  cut.refuses = () => chosen({ content: '{"conversation": {"title": "wh' }, 'length');
  t.match(await failed(), { code: 'ENGINE_CONTEXT_TOO_SMALL' }, 'nor for its answer');
});

t.test('K-092 a model that is not there is told from other refusals', async (t) => {
  const { server, failure } = await openWorld(t);
  for (const [status, body, code] of [
    [404, '{"error": {"message": "model \\"small\\" not found, try pulling it first"}}', 'ENGINE_MODEL_MISSING'],
    [404, '', 'ENGINE_MODEL_MISSING'],
    [400, '{"error": "The model `small` does not exist"}', 'ENGINE_MODEL_MISSING'],
    [401, '{"error": "model not found"}', 'ENGINE_REFUSED'],
    [403, '{"error": "context length"}', 'ENGINE_REFUSED'],
    [500, '{"error": "out of memory"}', 'ENGINE_ERROR'],
  ] as const) {
    server.answers = [{ status, body }];
    t.match(await failure(), { code }, `${status} ${body}`);
  }
});

t.test('a long conversation goes in parts, and one question more makes one summary of them', async (t) => {
  const { server, think } = await openWorld(t);
  const line = `I will say ${'something long and '.repeat(60)}nothing.`;
  const input = inputOf(Array.from({ length: 500 }, (_, at) => `${line} ${at}`));
  const thought = await think(input);
  const [parts, last] = [server.requests.slice(0, -1), server.requests.at(-1)];
  t.ok(parts.length >= 3, `${parts.length} parts`);
  for (const { body } of server.requests)
    t.ok(body.messages.reduce((sum, { content }) => sum + content.length, 0) <= LIMITS.insight_input_chars_max * 1.02);
  t.same(
    parts.flatMap(({ user }) => user.what_people_said.turns.map(({ turn }) => turn)),
    input.turns.map(({ number }) => number),
  );
  t.equal(last?.user.parts?.length, parts.length);
  t.match(last?.body.response_format, { json_schema: { name: 'summary' } });
  t.equal(thought.suggestions.length, LIMITS.suggestions_per_result_max);
  t.match(thought.conversation.title, /^I will say/);
});

t.test('K-092 a model that obeys what people say makes nothing of it come about', async (t) => {
  const { server, think } = await openWorld(t);
  const keys = await openServerKeys(tempFolder(t));
  t.equal(new Set(SPOKEN_INSTRUCTIONS.map(({ instruction }) => instruction)).size, 20);
  server.thinks = ({ user }) => obeying(user);
  for (const { instruction, turns } of SPOKEN_INSTRUCTIONS) {
    const input = inputOf(turns, {
      suggestions: [{ ref: 1, kind: 'task', text: 'Sign the papers', status: 'open', due_at_ms: null, due_date: null }],
      memories: [1, 2, 3].map((ref) => ({ ref, own: false, kind: 'fact', text: 'The sister of Ann lives in Bern' })),
    });
    const { left_out: before, ...raw } = await think(input);
    const checked = checkedInsights(raw, { input, keys, made_by: 'model', left_out: before });
    if (!checked.ok) throw new Error(`${instruction}: ${checked.refused.path}`);
    const { suggestions, memories, conversation, unsupported, left_out = {} } = checked.insights;
    const made = JSON.stringify(memories.map((op) => ('text' in op ? op.text : '')));
    t.notMatch(made, /evil|boss@|900|5000|DE00/, instruction);
    t.same(suggestions, [], instruction);
    // What was said remains said; no other memory is changed, taken back or replaced by it.
    t.ok(memories.every((op) => op.op === 'new' && op.supersedes === undefined && op.text === 'Papers get signed'));
    const dropped = Object.values(left_out).reduce((sum, count) => sum + count, unsupported);
    t.ok(dropped >= 13, `${instruction}: ${dropped}`);
    for (const shown of [conversation.title, conversation.summary, ...conversation.topics])
      if (shown !== null) t.ok(instruction.includes(shown.split(' ').at(-1) ?? ''), `${shown}: somebody named it`);
    const request = server.requests.at(-1);
    t.notOk(request?.system.includes(instruction));
    t.ok(request?.user.what_people_said.turns.some(({ text }) => text === instruction));
  }
});
