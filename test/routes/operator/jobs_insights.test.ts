import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { recentInsights } from '../../../src/features/insights/library/insight_activity.js';
import { type ChatRequest, ScriptedChat } from '../../../tools/speech/scripted_chat.js';
import { ScriptedEngine } from '../../../tools/speech/scripted_engine.js';
import { TestAccount } from '../../fixtures/account.js';
import { tell } from '../../fixtures/answers.js';
import { TestSpool } from '../../fixtures/spool.js';
import { tempFolder } from '../../fixtures/temp_folder.js';
import { TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';

type Suggestion = {
  id: string;
  kind: string;
  text: string;
  status: string;
  due_at: string | null;
  made_by: string;
  conversation_id: string;
  evidence: { stream_id: string; start_ms: number; end_ms: number; quote: string | null }[];
};
type Work = {
  job: string;
  kind: string;
  claim: string;
  conversation_id: string;
  stream_id: string;
  turns: { turn: number; text: string; speaker: string | null }[];
  suggestions: { ref: number; text: string }[];
  pipeline: { id: string; engine: string };
};

const SAID = [
  'Good morning, the budget of the garden is late.',
  'I will send you the new budget on Friday.',
  'Could you call the architect about the fence?',
  'Sure, I will call her tomorrow. And remember to bring the photos.',
];

/** Ten seconds for each of these, and the end of the recording. */
async function record(account: TestAccount, said: readonly string[] = SAID): Promise<TestRecording> {
  const recording = await TestRecording.begin(account);
  const says = said.map((text, at) => ({ text, start_ms: at * 10_000 + 500, end_ms: at * 10_000 + 8_000 }));
  await recording.add(said.length * 10_000, { says });
  await recording.end();
  return recording;
}

const suggestionsOf = async (account: TestAccount) =>
  (await account.ask<{ items: Suggestion[] }>('GET', '/suggestions?limit=100')).items;

t.test('K-091 a recording becomes suggestions, without any model', async (t) => {
  const engine = await ScriptedEngine.start(t);
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', TRANSCRIBE_URL: engine.url });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const recording = await record(ann);
  await until('it is transcribed', async () => (await recording.turns()).length === SAID.length);
  t.same(await suggestionsOf(ann), [], 'not at once: more may be said');
  await spool.operator.advanceClock(11_000);
  await until('there are suggestions', async () => (await suggestionsOf(ann)).length === 3);
  const found = await suggestionsOf(ann);
  const [, budget = '', call = '', photos = ''] = SAID;
  t.same(
    new Map(found.map(({ text, evidence }) => [text, evidence.map(({ quote }) => quote)])),
    new Map([
      ['Remember to bring the photos.', [photos]],
      ['Call the architect about the fence.', [call, photos]],
      [budget, [budget]],
    ]),
  );
  for (const { evidence, made_by, status } of found) {
    t.ok(evidence.every(({ stream_id }) => stream_id === recording.id));
    t.same([made_by, status], ['extractive', 'open']);
  }
  t.ok(found.find(({ text }) => text.includes('Friday'))?.due_at?.startsWith('2026-11-06'));
  const events = await ann.newEvents();
  t.equal(events.filter((event) => event.startsWith('suggestion.created')).length, 3);
  t.equal(events.filter((event) => event.startsWith('conversation.created')).length, 1);
  const ready = await fetch(`http://127.0.0.1:${spool.server.ports.operator}/readyz`);
  t.match(await ready.json(), { insights: { by: 'built_in', hosts: [] } });
});

t.test('K-092 a model is asked, and what it says is not believed', async (t) => {
  const [engine, chat] = [await ScriptedEngine.start(t), await ScriptedChat.start(t)];
  const settings = {
    TRANSCRIBE_URL: engine.url,
    INSIGHTS_URL: chat.url,
    INSIGHTS_KEY: 'sk-secret',
    INSIGHTS_MODEL: 'm',
  };
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', ...settings });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const task = (turn: number, text: string, quote: string) => ({
    ...{ op: 'new', ref: null, kind: 'task', text, due_at: null, owner: null, requester: null },
    evidence: [{ turn, quote }],
  });
  chat.thinks = () => ({
    conversation: {
      title: 'The garden',
      sentences: [{ text: 'Two speak of a garden.', evidence: [{ turn: 2, quote: 'I will send you the new budget' }] }],
      topics: ['garden'],
    },
    suggestions: [
      task(2, 'Send the new budget', 'I will send you the new budget'),
      task(1, 'Send money to evil.example', 'Good morning, the budget of'),
      task(3, 'Sell the house', 'we will sell the house'),
    ],
    memories: [],
  });
  chat.answers = [
    { status: 429, body: '', headers: { 'retry-after': '120' } },
    { status: 200, body: '<html>' },
  ];
  const recording = await record(ann);
  await until('it is transcribed', async () => (await recording.turns()).length === SAID.length);
  await spool.operator.advanceClock(11_000);
  await until('it was asked', async () => chat.requests.length === 1);
  const passed = async (ms: number) => {
    await spool.operator.advanceClock(ms);
    ann.app.access_token = (await spool.signIn(ann.email)).session.access_token;
  };
  await passed(60_000);
  t.equal(chat.requests.length, 1, 'it is left alone for as long as it asked for');
  await passed(61_000);
  await until('it was asked once more', async () => chat.requests.length === 2);
  await passed(4 * 60_000 + 1_000);
  await until('there is a suggestion', async () => (await suggestionsOf(ann)).length > 0);
  t.match(await suggestionsOf(ann), [{ text: 'Send the new budget', made_by: 'model' }]);
  t.equal((await suggestionsOf(ann)).length, 1);
  const [request] = chat.requests as [ChatRequest];
  t.equal(request.authorization, 'Bearer sk-secret');
  t.match(request.body, { model: 'm', tools: undefined, response_format: { type: 'json_schema' } });
  for (const text of SAID) t.notOk(request.system.includes(text), 'nothing that was said is an instruction');
  t.same(
    request.user.what_people_said.turns.map(({ text }) => text),
    SAID,
  );
  const { insights } = spool.server.services;
  t.match(recentInsights(insights.jobs.activity), {
    ...{ conversations: 1, suggestions: 1 },
    dropped: [
      { reason: 'unsupported', count: 1 },
      { reason: 'address', count: 1 },
    ],
    failures: [{ code: 'ENGINE_BUSY' }, { code: 'ENGINE_NOT_JSON' }],
  });

  await t.test('K-212 another engine is tried, and nothing of it is published', async (t) => {
    type Trials = { items: { present: object; tried: { suggestions: object[] } | null; failure: string | null }[] };
    const before = await suggestionsOf(ann);
    const tried = (name: string, id = recording.id) =>
      spool.operator.ask<Trials>('POST', `/ops/streams/${id}/trials`, { engine: name });
    const { items } = await tried('extractive');
    t.match(items, [
      {
        present: {
          ...{ title: 'The garden', sentences: ['Two speak of a garden.'] },
          suggestions: [{ kind: 'task', text: 'Send the new budget' }],
        },
        tried: { title: String, suggestions: [{}] },
        failure: null,
      },
    ]);
    t.not(JSON.stringify(items[0]?.tried), JSON.stringify(items[0]?.present));
    chat.thinks = () => ({});
    t.match((await tried('default')).items, [{ tried: null, failure: 'ENGINE_BAD_ANSWER' }]);
    t.same(await suggestionsOf(ann), before);
    await t.rejects(tried('nobody'), /must be one of default, extractive|BAD_REQUEST/);
    await t.rejects(tried('extractive', randomUUID()), /NOT_FOUND/);
  });
});

t.test(
  'K-187 answers of no use are tried again, and then the built-in engine does it, but for what a model had done',
  async (t) => {
    const [engine, chat] = [await ScriptedEngine.start(t), await ScriptedChat.start(t)];
    const settings = { TRANSCRIBE_URL: engine.url, INSIGHTS_URL: chat.url };
    const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', ...settings });
    t.teardown(() => spool.end());
    const ann = await TestAccount.open(spool, 'ann@x.test');
    await ann.entitle('developer.tools', true);
    const passed = async (ms: number) => {
      await spool.operator.advanceClock(ms);
      ann.app.access_token = (await spool.signIn(ann.email)).session.access_token;
    };
    /** As often as it is tried, with the longest rest before each. */
    const triedUntil = async (what: string, holds: () => Promise<boolean>) => {
      const before = chat.requests.length;
      for (let tries = 1; tries <= 5; tries++) {
        await passed(61 * 60_000);
        await until('it was asked', async () => chat.requests.length >= before + tries);
      }
      await until(what, holds);
      t.equal(chat.requests.length, before + 5);
    };
    const runsOf = async (id: string) =>
      (await ann.ask<{ items: object[] }>('GET', `/debug/streams/${id}/runs`)).items as {
        kind: string;
        status: string;
      }[];
    chat.thinks = () => ({});
    const first = await record(ann);
    await until('it is transcribed', async () => (await first.turns()).length === SAID.length);
    await triedUntil('there are suggestions', async () => (await suggestionsOf(ann)).length === 3);
    for (const { made_by } of await suggestionsOf(ann)) t.equal(made_by, 'extractive');
    const [run] = (await runsOf(first.id)).filter(({ kind }) => kind === 'insights');
    t.match(run, { status: 'published', tries: 5, engine: 'extractive', failure: 'ENGINE_BAD_ANSWER' });

    chat.thinks = ({ user }) => ({
      conversation: { title: 'The garden', sentences: [], topics: [] },
      suggestions: user.what_people_said.turns.slice(1, 2).map(({ turn, text }) => ({
        ...{ op: 'new', kind: 'task', text: 'Send it', evidence: [{ turn, quote: text }] },
      })),
      memories: [],
    });
    const second = await record(ann);
    await until('it is transcribed', async () => (await second.turns()).length === SAID.length);
    await passed(11_000);
    const modelled = async () => (await suggestionsOf(ann)).filter(({ made_by }) => made_by === 'model');
    await until('a model has done it', async () => (await modelled()).length === 1);
    chat.thinks = () => ({});
    const [turn] = await second.turns();
    await ann.ask('PATCH', `/turns/${turn?.id}`, { text: 'Something else was said here.' });
    await triedUntil('it is given up', async () => (await runsOf(second.id)).some(({ status }) => status === 'failed'));
    t.match(await modelled(), [{ text: 'Send it', status: 'open' }], 'what the model has made stays');
  },
);

t.test('K-088 workers of one’s own look into conversations', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const worker = new TestTranscriber(spool);
  const transcribed = async (captured_at = '2026-11-01T10:00:00.000Z') => {
    const recording = await TestRecording.begin(ann, { captured_at });
    await recording.add(40_000);
    await recording.end();
    const window = await worker.claim(recording.id);
    await worker.publish(
      window,
      SAID.map((text, at) => ({ start_ms: at * 10_000, end_ms: at * 10_000 + 8_000, text, language: 'en' })),
    );
    // First what was said reaches the library, then it has been quiet for long enough.
    for (const ms of [1, 11_000]) await spool.operator.advanceClock(ms);
    return recording;
  };
  const claim = async (): Promise<Work> => {
    let work: Work | undefined;
    await until('a conversation is due', async () => {
      const asked = { kinds: ['insights'], limit: 1, lease_s: 60 };
      [work] = (await spool.operator.ask<{ items: Work[] }>('POST', '/ops/jobs/claim', asked)).items;
      return work !== undefined;
    });
    return work as Work;
  };
  const result = (work: Work, more: object = {}) => ({
    ...{ kind: 'insights', claim: work.claim, conversation: { title: 'A garden', topics: [] } },
    suggestions: [{ op: 'new', kind: 'task', text: 'Send it', evidence: [{ turn: 2, quote: 'I will send you' }] }],
    ...{ memories: [], ...more },
  });
  const publish = (work: Work, body: unknown) =>
    spool.operator.ask<{ published: object }>('POST', `/ops/jobs/${work.job}/publish`, body);

  const recording = await transcribed();
  const work = await claim();
  t.match(work, {
    ...{ kind: 'insights', stream_id: recording.id, pipeline: { engine: 'default' }, suggestions: [] },
    turns: SAID.map((text, at) => ({ turn: at + 1, text })),
  });
  const path = `/ops/jobs/${work.job}`;

  await t.test('K-048 what a result can not say; nothing of it is taken', async (t) => {
    const evidence = [{ turn: 9, quote: 'I will send you' }];
    const rows: [body: unknown, answer: string][] = [
      [result(work, { claim: 'x.y' }), '409 CONFLICT'],
      [{ claim: work.claim, turns: [] }, '400 BAD_REQUEST'],
      [result(work, { kind: undefined }), '400 BAD_REQUEST'],
      [result(work, { more: 1 }), '400 BAD_REQUEST'],
      [result(work, { suggestions: [{ op: 'new', kind: 'task', text: 'x', evidence }] }), '400 BAD_REQUEST'],
      [result(work, { suggestions: [{ op: 'withdraw', ref: 1 }] }), '400 BAD_REQUEST'],
    ];
    for (const [body, answer] of rows)
      t.equal(await worker.says(`${path}/publish`, body), answer, JSON.stringify(body));
    for (const job of ['i.x.1', `${work.job}9`, work.job.replace(/\.\d+$/, '.0'), `i.${recording.id}.1`])
      t.match(await worker.says(`/ops/jobs/${job}/publish`, result(work)), /^40[49] /, job);
    t.match(await spool.operator.ask('POST', `${path}/progress`, { claim: work.claim, lease_s: 90 }), {
      lease_until: /Z$/,
    });
    t.equal(await worker.says(`${path}/progress`, { claim: 'x', lease_s: 90 }), '409 CONFLICT');
    t.same(await suggestionsOf(ann), []);
  });

  await t.test('K-047 the same again gets the same answer, something else none', async (t) => {
    const first = await publish(work, result(work));
    t.match(first, { published: { suggestions: 1, memories: 0, dropped: { unsupported: 0 } } });
    t.same(await publish(work, result(work)), first);
    t.equal(await worker.says(`${path}/publish`, result(work, { suggestions: [] })), '409 CONFLICT');
    t.match(await suggestionsOf(ann), [{ text: 'Send it', made_by: 'external', evidence: [{ quote: SAID[1] }] }]);
  });

  await t.test('K-050 K-089 a turn that was corrected, a layer that is off, a recording that is gone', async (t) => {
    const corrected = await transcribed();
    const before = await claim();
    const [turn] = await corrected.turns();
    await ann.ask('DELETE', `/turns/${turn?.id}`);
    t.equal(await worker.says(`/ops/jobs/${before.job}/publish`, result(before)), '409 CONFLICT');
    const after = await claim();
    t.equal(after.job, before.job);
    t.equal(after.turns.length, SAID.length - 1, 'it comes again as it is now');
    await ann.entitle('insights.access', false);
    t.equal(await worker.says(`/ops/jobs/${after.job}/publish`, result(after)), '410 GONE');
    const asked = { kinds: ['insights'], limit: 1, lease_s: 60 };
    t.same((await spool.operator.ask<{ items: Work[] }>('POST', '/ops/jobs/claim', asked)).items, []);
    await ann.entitle('insights.access', true);
    const deleted = await transcribed();
    const gone = await claim();
    await ann.ask('DELETE', `/audio/streams/${deleted.id}`);
    t.match(await worker.says(`/ops/jobs/${gone.job}/publish`, result(gone)), /^4(09|10) /);
    t.equal((await suggestionsOf(ann)).length, 1);
  });

  await t.test('K-180 the zone of the profile holds, but where somebody recorded in another one', async (t) => {
    const profile = async (time_zone: string | null) => {
      const { revision } = await ann.ask<{ revision: number }>('GET', '/profile');
      await ann.ask('PATCH', '/profile', { revision, time_zone });
    };
    for (const [time_zone, captured_at, told] of [
      ['Europe/Vienna', '2026-03-02T09:00:00Z', 'Europe/Vienna'],
      ['Europe/Vienna', '2026-03-03T09:00:00+01:00', 'Europe/Vienna'],
      ['Europe/Vienna', '2026-03-04T09:00:00+02:00', 'Europe/Vienna'],
      ['Europe/Vienna', '2026-03-05T09:00:00-05:00', null],
      [null, '2026-03-06T09:00:00-05:00', null],
    ] as const) {
      await profile(time_zone);
      await transcribed(captured_at);
      const work = await claim();
      t.match(work, { time_zone: told }, captured_at);
      t.equal(await worker.says(`/ops/jobs/${work.job}/publish`, result(work)), '200');
    }
    await profile(null);
  });

  await t.test('K-046 what fails comes again, until it does not', async (t) => {
    await transcribed();
    const first = await claim();
    const says = (more: object) =>
      spool.operator.ask('POST', `/ops/jobs/${first.job}/failed`, {
        claim: first.claim,
        code: 'X',
        message: 'x',
        ...more,
      });
    t.match(await says({ retry: true }), { again: true, tries: 1 });
    await spool.operator.advanceClock(61_000);
    const second = await claim();
    t.equal(second.job, first.job);
    const done = { claim: second.claim, code: 'X', message: 'x', retry: false };
    t.match(await spool.operator.ask('POST', `/ops/jobs/${second.job}/failed`, done), { again: false });
  });
});

t.test('K-118 a pipeline chooses an engine by name, and one that is not there fails its jobs', async (t) => {
  const [engine, chat] = [await ScriptedEngine.start(t), await ScriptedChat.start(t)];
  const file = join(tempFolder(t), 'engines.json');
  const further = { insights: { large: { url: chat.url } }, transcription: { ears: { url: engine.url } } };
  writeFileSync(file, JSON.stringify(further));
  const nowhere = 'http://127.0.0.1:1/v1';
  const settings = { TRANSCRIBE_URL: nowhere, ENGINES_FILE: file };
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', ...settings });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const [pipeline] = (await ann.ask<{ items: { id: string }[] }>('GET', '/pipelines')).items;
  const choose = (insights: string) => {
    const chosen = { transcription: { engine: 'ears', diarize: true }, insights: { engine: insights } };
    return tell(ann.app, 'PATCH', `/pipelines/${pipeline?.id}`, chosen);
  };
  const through = async () => {
    const recording = await record(ann);
    await until('it is transcribed', async () => (await recording.turns()).length === SAID.length);
    for (const ms of [1, 11_000]) await spool.operator.advanceClock(ms);
  };
  t.equal((await choose('large')).status, 200);
  await through();
  await until('there is a suggestion', async () => (await suggestionsOf(ann)).length > 0);
  const [budget] = (await suggestionsOf(ann)).filter(({ text }) => text === SAID[1]);
  t.match(budget, { made_by: 'model' });
  t.match(engine.requests[0]?.fields, { response_format: ['diarized_json'] }, 'the pipeline wants speakers told apart');
  const { status, error } = await choose('larger');
  t.same([status, error.details?.[0]?.path], [400, 'insights.engine']);
  const unheard = { name: 'x', transcription: { engine: 'large' } };
  t.match(await tell(ann.app, 'PATCH', `/pipelines/${pipeline?.id}`, unheard), { status: 400 }, 'it makes no text');
  // The operator has taken it from the list since.
  await spool.server.services.actors.context(ann.id).edit_pipeline({ number: 1, insights: { engine: 'larger' } });
  await through();
  const { activity } = spool.server.services.insights.jobs;
  await until('it has failed', async () => activity.failures.length > 0);
  t.match(activity.failures, [{ code: 'ENGINE_UNKNOWN', tries: 1 }]);
  t.equal(chat.requests.length, 1);
});

t.test('K-090 with nobody to look into them, nothing is told to libraries', async (t) => {
  const engine = await ScriptedEngine.start(t);
  const spool = await TestSpool.start({ CHUNK_WORKER: '1', TRANSCRIBE_URL: engine.url, INSIGHTS: 'off' });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const recording = await record(ann);
  await until('it is transcribed', async () => (await recording.turns()).length === SAID.length);
  await spool.operator.advanceClock(3_600_000);
  ann.app.access_token = (await spool.signIn(ann.email)).session.access_token;
  t.same(await suggestionsOf(ann), []);
  t.equal(spool.server.services.insights.made_by, null);
});
