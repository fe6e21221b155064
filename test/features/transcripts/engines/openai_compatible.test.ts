import t from 'tap';
import { LIMITS } from '../../../../src/domain/limits.js';
import { EngineFailed } from '../../../../src/features/transcripts/engines/engine.js';
import { OpenAiCompatible } from '../../../../src/features/transcripts/engines/openai_compatible.js';
import { json, ScriptedEngine } from '../../../../tools/speech/scripted_engine.js';
import { counting, REQUEST, StoredStream, wav16 } from '../../../fixtures/window.js';

const KEY = 'sk-very-secret-key';

async function openWorld(t: Parameters<typeof StoredStream.open>[0], options: Record<string, unknown> = {}) {
  const server = await ScriptedEngine.start(t);
  const stream = await StoredStream.open(t);
  await stream.add([0, 4_000], wav16(counting(4_000)));
  const [file] = await stream.files(0, 4_000);
  if (file === undefined) throw new Error('no file');
  const engine = new OpenAiCompatible({
    url: server.url,
    key: null,
    model: null,
    diarize: false,
    now: Date.now,
    ...options,
  });
  t.teardown(() => engine.close());
  const hear = (more: Record<string, unknown> = {}, signal = new AbortController().signal) =>
    engine.hear({ file, ...REQUEST, ...more }, signal);
  const failure = async (signal?: AbortSignal) => {
    const error = await hear({}, signal).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof EngineFailed)) throw error ?? new Error('it did not fail');
    return error.failure;
  };
  return { server, engine, file, hear, failure };
}

t.test('it asks as documented, and reads segments, words and figures', async (t) => {
  const { server, file, hear } = await openWorld(t, { key: KEY, model: 'small' });
  server.hears = () => [
    { text: ' Good morning.', start: 0.5, end: 1.5, avg_logprob: -0.1, no_speech_prob: 0.01, compression_ratio: 1.1 },
    { text: ' Three apples, please.', start: 1.5, end: 3.9 },
  ];
  const heard = await hear({ language: 'en', prompt: 'Spool. Good evening.' });
  const [request] = server.requests;
  t.match(request, { authorization: `Bearer ${KEY}`, name: 'audio.wav', type: 'audio/wav', length_s: 4 });
  t.ok(request?.bytes.equals(file.bytes));
  t.same(request?.fields, {
    ...{ response_format: ['verbose_json'], 'timestamp_granularities[]': ['segment', 'word'] },
    ...{ temperature: ['0'], model: ['small'], language: ['en'], prompt: ['Spool. Good evening.'] },
  });
  t.match(heard, {
    language: 'en',
    segments: [
      {
        ...{ text: ' Good morning.', start_s: 0.5, end_s: 1.5, no_speech_prob: 0.01, avg_logprob: -0.1 },
        ...{ compression_ratio: 1.1, confidence: Math.exp(-0.1) },
        words: [{ text: '' }, { text: 'Good' }, { text: 'morning' }],
      },
      { text: ' Three apples, please.', start_s: 1.5, end_s: 3.9 },
    ],
  });
  t.same(heard.segments[1]?.words.at(-1)?.end_s, 3.9);
});

t.test('what a server does not know is asked for in another form', async (t) => {
  const { server, hear, failure } = await openWorld(t);
  const formsOf = () =>
    server.requests
      .splice(0)
      .map(({ fields }) => [fields.response_format?.[0], fields['timestamp_granularities[]']?.length ?? 0]);
  server.hears = () => [{ text: 'One. Two.', start: 1, end: 2 }];
  server.answers = [json({ error: 'granularities' }, 400)];
  t.match(await hear(), { segments: [{ text: 'One. Two.', start_s: 1, end_s: 2 }] });
  t.same(formsOf(), [
    ['verbose_json', 2],
    ['verbose_json', 0],
  ]);
  server.answers = [json({ detail: 'format' }, 422), json({ detail: 'format' }, 422)];
  t.match(await hear(), { segments: [{ text: 'One. Two.', start_s: 0, end_s: 4, words: [] }] }, 'one turn');
  t.same(formsOf().at(-1), ['json', 0]);
  server.answers = Array(3).fill(json({ error: 'audio' }, 400));
  t.match(await failure(), { code: 'ENGINE_REFUSED', retry: false, of_file: true });
  t.equal(formsOf().length, 3);
});

/** Of each question how many forms were tried. */
async function formsTried(t: Parameters<typeof openWorld>[0]) {
  let now = 0;
  const { server, hear } = await openWorld(t, { now: () => now });
  return {
    pass: (ms: number) => {
      now += ms;
    },
    /** `lacks`: how many of the first forms the server does not take this time. */
    ask: async (stream_id: string, lacks = 0, account_id = stream_id) => {
      const knows = ({ fields }: { fields: Record<string, string[]> }) => {
        const form =
          fields['timestamp_granularities[]'] !== undefined ? 0 : fields.response_format?.[0] === 'json' ? 2 : 1;
        return form >= lacks;
      };
      server.before = async (request) => {
        server.answers = knows(request) ? [] : [json({}, 400)];
      };
      server.requests.length = 0;
      await hear({ stream_id, account_id });
      return server.requests.length;
    },
  };
}

t.test('one odd answer changes nothing for the next question', async (t) => {
  const { ask } = await formsTried(t);
  t.equal(await ask('a', 1), 2);
  t.equal(await ask('b'), 1);
  t.equal(await ask('b', 1), 2, 'the most telling form came first');
});

t.test('after three streams in a row the form that they needed comes first', async (t) => {
  const { ask } = await formsTried(t);
  for (const stream of ['a', 'a', 'b']) t.equal(await ask(stream, 1), 2, stream);
  t.equal(await ask('c', 2), 3);
  t.equal(await ask('d', 1), 1, 'the most telling that one of them got');
});

t.test('recordings of one account decide nothing for others', async (t) => {
  const { ask } = await formsTried(t);
  t.equal(await ask('a', 0, 'ann'), 1);
  for (const stream of ['b', 'c', 'd', 'e']) t.equal(await ask(stream, 1, 'bob'), 2, stream);
  t.equal(await ask('f', 1, 'ann'), 2, 'the most telling form came first');
  t.equal(await ask('g', 1, 'ann'), 1, 'all accounts that have asked agree');
});

t.test('where there is one account, its recordings decide', async (t) => {
  const { ask } = await formsTried(t);
  for (const stream of ['a', 'b', 'c']) t.equal(await ask(stream, 1, 'ann'), 2, stream);
  t.equal(await ask('d', 1, 'ann'), 1);
});

t.test('an answer to the most telling form begins a new row', async (t) => {
  const { ask } = await formsTried(t);
  for (const [stream, lacks] of [
    ['a', 1],
    ['b', 1],
    ['e', 0],
    ['c', 1],
  ] as const)
    await ask(stream, lacks);
  t.equal(await ask('d', 1), 2);
});

t.test('every ten minutes the most telling form is asked for again', async (t) => {
  const { ask, pass } = await formsTried(t);
  for (const stream of ['a', 'b', 'c']) await ask(stream, 1);
  pass(599_999);
  t.equal(await ask('d', 2), 2, 'and what one stream needs then does not put that off');
  pass(1);
  t.equal(await ask('e', 1), 2);
  t.equal(await ask('f', 1), 1, 'it still lacks it');
  pass(600_000);
  await ask('g');
  t.equal(await ask('h', 1), 2, 'it had it');
});

t.test('speakers are asked for in a form that has no prompt', async (t) => {
  const { server, hear } = await openWorld(t, { diarize: true });
  server.hears = () => [{ text: 'Hello.', start: 0, end: 1, speaker: 'A' }];
  t.match(await hear({ prompt: 'Before.' }), { segments: [{ text: 'Hello.', speaker: 'A' }] });
  const [request] = server.requests;
  t.match(request?.fields, { response_format: ['diarized_json'], chunking_strategy: ['auto'], prompt: undefined });
});

t.test('K-118 what a server lacks where speakers are asked for counts only there', async (t) => {
  const { server, hear } = await openWorld(t);
  const formsOf = () => server.requests.splice(0).map(({ fields }) => fields.response_format?.[0]);
  for (const stream_id of ['a', 'b', 'c']) {
    server.answers = [{ status: 400, body: '{}' }];
    await hear({ stream_id, diarize: true });
    t.same(formsOf(), ['diarized_json', 'verbose_json']);
  }
  await hear();
  await hear({ diarize: true });
  t.same(formsOf(), ['verbose_json', 'verbose_json'], 'it is known that there is no other form');
});

t.test('every failure has its code, says whether to come again, and holds neither text nor key', async (t) => {
  const { server, failure } = await openWorld(t, { key: KEY });
  const said = `what was said ${KEY}`;
  type Row = [string, (typeof server.answers)[number], Record<string, unknown>];
  const rows: Row[] = [
    ['408', { status: 408, body: said }, { code: 'ENGINE_ERROR', retry: true }],
    ['429', { status: 429, body: said }, { code: 'ENGINE_BUSY', retry: true, retry_after_ms: undefined }],
    ['429, seconds', { status: 429, body: said, headers: { 'retry-after': '7' } }, { retry_after_ms: 7_000 }],
    ['503, too long', { status: 503, body: said, headers: { 'retry-after': '999999' } }, { retry_after_ms: 3_600_000 }],
    ['503, no time', { status: 503, body: said, headers: { 'retry-after': 'soon' } }, { retry_after_ms: undefined }],
    ['500', { status: 500, body: said }, { code: 'ENGINE_ERROR', retry: true, message: 'The engine answered 500.' }],
    ['401', { status: 401, body: said }, { code: 'ENGINE_REFUSED', retry: false, message: 'The engine answered 401.' }],
    ['a redirect', { status: 302, body: said, headers: { location: 'http://elsewhere.example/' } }, { retry: false }],
    ['413', { status: 413, body: said }, { code: 'ENGINE_REFUSED', retry: false }],
    ['HTML', { status: 200, body: `<html>${said}</html>` }, { code: 'ENGINE_NOT_JSON', retry: true }],
    ['half JSON', { status: 200, body: '{"text": "what was sa' }, { code: 'ENGINE_NOT_JSON', retry: true }],
    ['nothing', { status: 200, body: '' }, { code: 'ENGINE_NOT_JSON' }],
    ['a list', { status: 200, body: '[]' }, { code: 'ENGINE_BAD_ANSWER' }],
    ['an error as an answer', json({ error: said }), { code: 'ENGINE_BAD_ANSWER', retry: true }],
    ['cut off', 'cut off', { code: 'ENGINE_UNREACHABLE', retry: true }],
    ['endless', 'endless', { code: 'ENGINE_ANSWER_TOO_LARGE', retry: true }],
    [
      'more segments than anybody says',
      json({ segments: Array(LIMITS.engine_segments_max + 1).fill({ text: 'a', start: 0, end: 1 }) }),
      { code: 'ENGINE_BAD_ANSWER' },
    ],
  ];
  for (const [title, answer, wanted] of rows) {
    server.answers = [answer];
    const failed = await failure();
    t.match(failed, wanted, title);
    t.notMatch(JSON.stringify(failed), /what was sa|very-secret/, title);
  }
  const date = new Date(Date.now() + 60_000).toUTCString();
  server.answers = [{ status: 429, body: '', headers: { 'retry-after': date } }];
  const { retry_after_ms = 0 } = await failure();
  t.ok(retry_after_ms > 50_000 && retry_after_ms <= 60_000, 'a date');
});

t.test('an engine that is silent, away, or no longer wanted', async (t) => {
  const { server, failure } = await openWorld(t, { answer_ms_max: 200 });
  server.answers = ['hang'];
  t.match(await failure(), { code: 'ENGINE_TIMEOUT', retry: true });
  const patient = await openWorld(t);
  patient.server.answers = ['hang'];
  const stop = new AbortController();
  patient.server.before = async () => stop.abort();
  t.match(await patient.failure(stop.signal), { code: 'ENGINE_STOPPED', retry: true });
  await server.close();
  t.match(await failure(), { code: 'ENGINE_UNREACHABLE', message: 'The engine could not be reached (ECONNREFUSED).' });
});

t.test('addresses may have a path, a slash at its end, and parameters', async (t) => {
  const { server, file } = await openWorld(t);
  for (const url of [`${server.url}/`, `${server.url}//`, server.url]) {
    const engine = new OpenAiCompatible({ url, key: null, model: null, diarize: false, now: Date.now });
    t.teardown(() => engine.close());
    t.same((await engine.hear({ file, ...REQUEST }, new AbortController().signal)).segments, []);
  }
});

t.test('an interim answer that nobody asked for is skipped', async (t) => {
  const { server, hear } = await openWorld(t);
  server.hears = () => [{ text: 'After it.', start: 0, end: 1 }];
  server.interim = true;
  t.match(await hear(), { segments: [{ text: 'After it.' }] });
});
