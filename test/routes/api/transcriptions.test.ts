import { request as httpRequest } from 'node:http';
import t from 'tap';
import { ScriptedEngine } from '../../../tools/speech/scripted_engine.js';
import { TestAccount } from '../../fixtures/account.js';
import { startLogged } from '../../fixtures/logged_spool.js';
import { tone } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';

const FIRST = 'Water the roses on Friday.';
const SECOND = 'The key is in the safe.';
const AUDIO = tone(
  40_000,
  [
    { text: FIRST, start_ms: 1_000, end_ms: 3_000 },
    { text: SECOND, start_ms: 34_000, end_ms: 36_000 },
  ],
  16_000,
).bytes;

const engine = await ScriptedEngine.start(t);
const { spool, logged } = await startLogged({ RATE_LIMITS: 'off', TRANSCRIBE_URL: engine.url });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const tokenOf = async (account: TestAccount, permissions: string[]) => {
  const body = { name: 'Dictation', permissions, expires_at: null };
  return (await account.ask<{ value: string }>('POST', '/me/tokens', body)).value;
};
const key = await tokenOf(ann, ['transcriptions:write']);

type Fields = Record<string, string | string[]>;
/** A form as clients send it; without a file where that is null. */
function formOf(fields: Fields, file: Uint8Array | null = AUDIO): FormData {
  const form = new FormData();
  if (file !== null) form.append('file', new Blob([new Uint8Array(file)]), 'audio.wav');
  for (const [name, value] of Object.entries({ model: 'any-model', ...fields }))
    for (const one of [value].flat()) form.append(name, one);
  return form;
}
async function post(
  fields: Fields = {},
  { file, token = key, path = '/v1/audio/transcriptions', headers = {} }: Partial<Asking> = {},
): Promise<Response> {
  const body = formOf(fields, file);
  const authorization: Record<string, string> = token === null ? {} : { Authorization: `Bearer ${token}` };
  return fetch(spool.base_url + path, { method: 'POST', headers: { ...authorization, ...headers }, body });
}
type Asking = { file: Uint8Array | null; token: string | null; path: string; headers: Record<string, string> };
const errorOf = async (answer: Response) => {
  const { error } = (await answer.json()) as { error: Record<string, string | null> };
  return { status: answer.status, ...error };
};

await t.test('K-400 a file becomes text in every form, at every address', async (t) => {
  for (const path of ['/v1/audio/transcriptions', '/audio/transcriptions', '/v1/v1/audio/transcriptions'])
    t.same(await (await post({}, { path })).json(), { text: `${FIRST} ${SECOND}` }, path);
  const text = await post({ response_format: 'text', language: 'en', hotwords: 'unknown', temperature: '0' });
  t.match(text.headers.get('content-type'), /^text\/plain/);
  t.equal(await text.text(), `${FIRST} ${SECOND}\n`);
  t.match(await (await post({ response_format: 'srt' })).text(), /^1\n00:00:01,000 --> 00:00:03,000\nWater the roses/);
  t.match(await (await post({ response_format: 'vtt' })).text(), /^WEBVTT\n\n00:00:01\.000 --> 00:00:03\.000\nWater/);
  const verbose = await post({ response_format: 'verbose_json', 'timestamp_granularities[]': ['word', 'segment'] });
  const said = (await verbose.json()) as { segments: Record<string, unknown>[]; words: Record<string, unknown>[] };
  t.match(said, { task: 'transcribe', language: 'english', duration: 40, text: `${FIRST} ${SECOND}` });
  t.match(said.segments[1], { id: 1, start: 34, end: 36, text: SECOND, tokens: [] });
  t.equal(Object.keys(said.segments[0] ?? {}).length, 10);
  t.match(said.words[0], { word: /^Water/, start: 1 });
  t.equal(
    engine.requests.at(-1)?.fields.model?.[0] === 'any-model',
    false,
    'the engine is asked as the operator has set it',
  );
});

await t.test('K-400 the text comes by events as it is made', async (t) => {
  const answer = await post({ stream: 'true' });
  t.match(answer.headers.get('content-type'), /^text\/event-stream/);
  const events = (await answer.text())
    .split('\n')
    .flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []));
  t.same(events, [
    { type: 'transcript.text.delta', delta: FIRST },
    { type: 'transcript.text.delta', delta: ` ${SECOND}` },
    { type: 'transcript.text.done', text: `${FIRST} ${SECOND}` },
  ]);
});

await t.test('K-401 only a token with transcriptions:write may, and that one may nothing else', async (t) => {
  t.match(await errorOf(await post({}, { token: null })), {
    status: 401,
    type: 'invalid_request_error',
    code: 'invalid_api_key',
  });
  t.match(await errorOf(await post({}, { token: 'svc_pat_wrong' })), {
    status: 401,
    code: 'invalid_api_key',
    param: null,
  });
  const reads = await tokenOf(ann, ['turns:read', 'audio:write']);
  t.match(await errorOf(await post({}, { token: reads })), {
    status: 403,
    code: 'forbidden',
    message: /transcriptions:write/,
  });
  t.equal((await post({}, { token: ann.app.access_token })).status, 200, 'an app session may');
  for (const path of ['/audio/streams', '/turns?stream_id=x', '/me/tokens', '/search?q=a']) {
    const answer = await fetch(spool.base_url + path, { headers: { Authorization: `Bearer ${key}` } });
    t.equal(answer.status, 403, path);
  }
  const { permissions } = await ann.app.call('GET /me');
  t.notOk((permissions as string[]).includes('transcriptions:write'), 'it is no permission of the account');
});

await t.test('K-402 nothing is kept, and nothing is logged', async (t) => {
  t.equal((await post({ prompt: 'Xylophonist' })).status, 200);
  t.same((await ann.ask<{ items: unknown[] }>('GET', '/audio/streams')).items, []);
  t.same((await ann.ask<{ items: unknown[] }>('GET', '/audio/imports')).items, []);
  t.notMatch(logged.join(''), /roses|Xylophonist/);
});

await t.test('K-402 spool-keep makes a recording of the audio, once', async (t) => {
  const first = await post({ model: 'spool-keep' });
  t.same(await first.json(), { text: `${FIRST} ${SECOND}` });
  const import_id = first.headers.get('x-spool-import-id');
  const again = await post({}, { headers: { 'X-Spool-Keep': '1' } });
  t.equal(again.headers.get('x-spool-import-id'), import_id);
  await until('it is a recording', async () => {
    const { status } = await ann.ask<{ status: string }>('GET', `/audio/imports/${import_id}`);
    return status === 'done';
  });
  const { items } = await ann.ask<{ items: { title: null; end_ms: number }[] }>('GET', '/audio/streams');
  t.match(items, [{ title: null, end_ms: 40_000 }]);
  t.equal(items.length, 1);
});

await t.test('K-403 what is wrong is named in the form of these clients', async (t) => {
  const rows: [string, Fields, Partial<Asking>, Record<string, unknown>][] = [
    ['a format', { response_format: 'xml' }, {}, { status: 400, param: 'response_format', code: 'unsupported_value' }],
    ['a language', { language: 'not a tag' }, {}, { status: 400, param: 'language' }],
    ['no model', { model: '' }, {}, { status: 400, param: 'model' }],
    ['no file', {}, { file: null }, { status: 400, param: 'file', code: 'missing_required_parameter' }],
    ['an empty file', {}, { file: Buffer.alloc(0) }, { status: 400, param: 'file' }],
    ['no audio', {}, { file: Buffer.from('<html>') }, { status: 400, param: 'file', type: 'invalid_request_error' }],
    ['too large', {}, { file: Buffer.alloc(100_000_001) }, { status: 413, param: 'file' }],
    ['a long field', { prompt: 'a'.repeat(20_000) }, {}, { status: 400, param: 'prompt' }],
  ];
  for (const [title, fields, asking, expected] of rows) {
    const error = await errorOf(await post(fields, asking));
    t.match(error, expected, title);
    t.same(Object.keys(error).sort(), ['code', 'message', 'param', 'status', 'type'], title);
  }
  const many = Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`f${at}`, 'x']));
  t.match(await errorOf(await post(many)), { status: 400, message: /at most 64 fields/ });
  const asked = {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: '{}',
  };
  t.match(await errorOf(await fetch(`${spool.base_url}/v1/audio/transcriptions`, asked)), { status: 415 });
  const cut = {
    ...asked,
    headers: { ...asked.headers, 'Content-Type': 'multipart/form-data; boundary=x' },
    body: '--x\r\nContent-Disp',
  };
  t.match(await errorOf(await fetch(`${spool.base_url}/v1/audio/transcriptions`, cut)), {
    status: 400,
    message: /well-formed/,
  });
  t.equal((await post()).status, 200, 'the next one is heard');
});

await t.test('K-404 models are listed', async (t) => {
  const headers = { Authorization: `Bearer ${key}` };
  const list = await (await fetch(`${spool.base_url}/v1/models`, { headers })).json();
  t.match(list, {
    object: 'list',
    data: [{ object: 'model', owned_by: 'spool' }, { id: 'whisper-1' }, { id: 'spool-keep' }],
  });
  t.match(await (await fetch(`${spool.base_url}/v1/models/whisper-1`, { headers })).json(), { id: 'whisper-1' });
  const unknown = await fetch(`${spool.base_url}/v1/models/none`, { headers });
  t.match(await errorOf(unknown), { status: 404, code: 'model_not_found' });
});

await t.test('K-405 a page of any origin may call', async (t) => {
  const headers = {
    Origin: 'app://obsidian.md',
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'authorization',
  };
  const asked = await fetch(`${spool.base_url}/v1/audio/transcriptions`, { method: 'OPTIONS', headers });
  t.equal(asked.headers.get('access-control-allow-origin'), '*');
  t.match(asked.headers.get('access-control-allow-headers'), /Authorization/);
  const answer = await post({}, { headers: { Origin: 'app://obsidian.md' } });
  t.equal(answer.headers.get('access-control-allow-origin'), '*');
  t.equal(answer.headers.get('access-control-allow-credentials'), null);
});

await t.test('K-406 an account has two at work, and keeps nobody else waiting', async (t) => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let at_work = 0;
  engine.before = async () => {
    at_work += 1;
    await held;
  };
  const { pool } = spool.server.services.file_transcriptions;
  const waiting = [post(), post(), post()];
  await until('two are at work', async () => at_work === 2 && pool.counts.waiting === 1);
  engine.before = async () => {};
  const bob = await TestAccount.open(spool, 'bob@x.test');
  t.equal((await post({}, { token: await tokenOf(bob, ['transcriptions:write']) })).status, 200);
  t.equal(pool.counts.taken, 2);
  release();
  t.same(
    (await Promise.all(waiting)).map(({ status }) => status),
    [200, 200, 200],
  );
  await until('places are given back', async () => pool.counts.taken === 0);
});

await t.test('K-406 whoever leaves gives back the place, in the body or behind it', async (t) => {
  const { pool } = spool.server.services.file_transcriptions;
  const { hostname, port } = new URL(spool.base_url);
  const headers = {
    Authorization: `Bearer ${key}`,
    'Content-Type': 'multipart/form-data; boundary=x',
    'Content-Length': '1000000',
  };
  const half = httpRequest({ hostname, port, path: '/v1/audio/transcriptions', method: 'POST', headers });
  half.on('error', () => {});
  half.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF');
  await until('it is at work', async () => pool.counts.taken === 1);
  half.destroy();
  await until('it is not', async () => pool.counts.taken === 0);
  let asked = false;
  engine.before = async () => {
    asked = true;
    await new Promise(() => {});
  };
  const leaving = new AbortController();
  const left = fetch(`${spool.base_url}/v1/audio/transcriptions`, {
    ...{ method: 'POST', body: formOf({}), signal: leaving.signal },
    headers: { Authorization: `Bearer ${key}` },
  });
  await until('the engine is asked', async () => asked);
  leaving.abort();
  await t.rejects(left);
  await until('its place is free', async () => pool.counts.taken === 0);
  engine.before = async () => {};
});

await t.test('K-407 speakers that the engine does not tell apart are refused', async (t) => {
  t.match(await errorOf(await post({ response_format: 'diarized_json' })), { status: 400, param: 'response_format' });
});

await t.test('K-407 speakers are letters', async (t) => {
  await spool.close();
  await spool.open({ TRANSCRIBE_DIARIZE: '1' });
  engine.hears = () => [
    { text: 'Who waters them?', start: 0, end: 2, speaker: 'SPEAKER_07' },
    { text: 'I do.', start: 2, end: 3, speaker: 'SPEAKER_02' },
    { text: 'Good.', start: 3, end: 4, speaker: 'SPEAKER_07' },
  ];
  const answer = (await (await post({ response_format: 'diarized_json' })).json()) as {
    segments: Record<string, unknown>[];
  };
  t.match(answer.segments, [
    { type: 'transcript.text.segment', id: 'seg_0', start: 0, end: 2, text: 'Who waters them?', speaker: 'A' },
    { speaker: 'B' },
    { speaker: 'A' },
  ]);
});
