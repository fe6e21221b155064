import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Stream } from '../../../kits/typescript/src/api.js';
import { TestAccount } from '../../fixtures/account.js';
import { runCli } from '../../fixtures/cli.js';
import { startLogged } from '../../fixtures/logged_spool.js';
import { tempFolder } from '../../fixtures/temp_folder.js';

/** Services as their documentation describes them, on this machine. */

const KEY = 'key-of-a-person';
type Asked = { url: URL; headers: IncomingMessage['headers']; body: string };
type Answer = { status?: number; headers?: Record<string, string>; json?: unknown };

const { spool, logged } = await startLogged({ RATE_LIMITS: 'off' });
t.teardown(() => spool.end());

async function service(
  t: Test,
  answer: (asked: Asked, nth: number) => Answer,
): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const one = {
      url: new URL(request.url ?? '', 'http://service'),
      headers: request.headers,
      body: Buffer.concat(pieces).toString(),
    };
    asked.push(one);
    const { status = 200, headers = {}, json = {} } = answer(one, asked.length);
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(json));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function importer(t: Test, email: string) {
  const person = await TestAccount.open(spool, email);
  const { value } = await person.ask<{ value: string }>('POST', '/me/tokens', {
    ...{ name: 'x', permissions: ['audio:write', 'audio:read'], expires_at: null },
  });
  const state = join(tempFolder(t), 'state.json');
  const env = { SPOOL_TOKEN: value, PORT: `${spool.server.ports.public}` };
  const run = (from: string, more: Record<string, string>, ...args: string[]) =>
    runCli(['import', '--from', from, '--state', state, ...args], { ...env, ...more });
  const streams = async () => (await person.ask<{ items: Stream[] }>('GET', '/audio/streams?limit=100')).items;
  const titles = async () => (await streams()).map(({ title }) => title).sort();
  const texts = async (title: string) => {
    const found = (await streams()).find((one) => one.title === title);
    return (await person.ask<{ items: object[] }>('GET', `/turns?stream_id=${found?.id}`)).items;
  };
  return { person, run, streams, titles, texts };
}

t.test('K-428 what Limitless keeps becomes recordings, each once', async (t) => {
  const lifelog = (id: string) => ({
    id,
    title: `Talk ${id}`,
    startTime: '2026-01-02T10:00:00Z',
    endTime: '2026-01-02T10:05:00Z',
    contents: [
      {
        type: 'heading1',
        content: 'A summary',
        children: [
          { type: 'heading2', content: 'A part' },
          {
            type: 'blockquote',
            content: 'The xylophone is in the cellar.',
            startTime: '2026-01-02T10:00:03Z',
            endTime: '2026-01-02T10:00:05Z',
            startOffsetMs: 3_000,
            endOffsetMs: 5_000,
            speakerName: 'You',
            speakerIdentifier: 'user',
          },
          { type: 'blockquote', content: 'Good.', startTime: '2026-01-02T10:00:06Z', speakerName: 'Tom' },
        ],
      },
    ],
  });
  let all = [
    { id: 'silent', title: 'Silent', startTime: '2026-01-02T10:00:00Z', contents: [] },
    lifelog('1'),
    lifelog('2'),
    lifelog('3'),
  ];
  let fails = false;
  const { url, asked } = await service(t, ({ url }, nth) => {
    const at = Number(url.searchParams.get('cursor') ?? 0);
    if (fails && at > 0) return { status: 404 };
    if (nth === 2) return { status: 429, headers: { 'Retry-After': '0' } };
    const page = all.slice(at, at + 2);
    const nextCursor = at + 2 < all.length ? String(at + 2) : null;
    return { json: { data: { lifelogs: page }, meta: { lifelogs: { nextCursor, count: page.length } } } };
  });
  const { person, run, streams, titles, texts } = await importer(t, 'limitless@x.test');
  const env = { LIMITLESS_API_KEY: KEY, LIMITLESS_URL: url };

  fails = true;
  t.match(await run('limitless', env), { code: 1, errors: /Limitless answers 404/ });
  t.same(await titles(), ['Talk 1'], 'what came before stays');
  fails = false;
  const ran = await run('limitless', env);
  t.equal(ran.code, 0, ran.errors);
  t.match(ran.out, /2 imported from Limitless, 1 without speech, 0 failed/);
  t.same(await titles(), ['Talk 1', 'Talk 2', 'Talk 3']);
  t.equal((await streams())[0]?.captured_at, '2026-01-02T10:00:00.000Z');
  t.match(await texts('Talk 1'), [
    { text: 'The xylophone is in the cellar.', start_ms: 3_000, end_ms: 5_000, speaker_name: null },
    { text: 'Good.', start_ms: 6_000, speaker_name: 'Tom' },
  ]);
  const source = await person.ask<{ items: { name: string }[] }>('GET', '/sources');
  t.same(
    source.items.map(({ name }) => name),
    ['Limitless'],
  );

  await person.ask('DELETE', `/audio/streams/${(await streams()).find(({ title }) => title === 'Talk 2')?.id}`);
  all = [lifelog('4'), ...all];
  t.match(await run('limitless', env), { code: 0, out: /1 imported/ });
  t.same(await titles(), ['Talk 1', 'Talk 3', 'Talk 4'], 'what is new, and nothing that was deleted');
  t.ok(asked.every(({ headers }) => headers['x-api-key'] === KEY));
  t.equal(asked[0]?.url.pathname, '/v1/lifelogs');
});

t.test('K-428 what omi keeps becomes recordings', async (t) => {
  const conversation = (number: number) => ({
    id: `c${number}`,
    created_at: '2026-01-02T10:00:00',
    started_at: '2026-01-02T10:00:00',
    structured: { title: `Talk ${number}`, overview: '' },
    transcript_segments: [{ id: 's', text: 'Good morning.', speaker_id: 1, speaker_name: null, start: 0.5, end: 2 }],
  });
  const all = Array.from({ length: 27 }, (_, number) => conversation(number));
  const { url, asked } = await service(t, ({ url: { searchParams } }) => {
    const [offset, limit] = [Number(searchParams.get('offset')), Number(searchParams.get('limit'))];
    return { json: all.slice(offset, offset + limit) };
  });
  const { run, titles, texts } = await importer(t, 'omi@x.test');
  const ran = await run('omi', { OMI_API_KEY: KEY, OMI_URL: url });
  t.equal(ran.code, 0, ran.errors);
  t.equal((await titles()).length, 27);
  t.match(await texts('Talk 26'), [{ text: 'Good morning.', start_ms: 500, speaker_name: null }]);
  t.match(asked[0], { url: { pathname: '/v1/dev/user/conversations' }, headers: { authorization: `Bearer ${KEY}` } });
  t.match(asked[1]?.url.search, 'offset=25');
});

t.test('K-428 what Fireflies keeps becomes recordings', async (t) => {
  const transcript = {
    id: 'f1',
    title: 'Q/A',
    date: 1_767_225_600_000,
    sentences: [
      {
        index: 0,
        text: 'Hello.',
        raw_text: 'hello',
        start_time: '0.1',
        end_time: '1',
        speaker_id: 0,
        speaker_name: 'Ann',
      },
      { index: 1, text: 'Hi.', raw_text: 'hi', start_time: 1, end_time: 2, speaker_id: 1, speaker_name: null },
    ],
  };
  const { url, asked } = await service(t, () => ({
    json: { data: { transcripts: [transcript, { ...transcript, id: 'f2', sentences: null }] } },
  }));
  const { run, streams, texts } = await importer(t, 'fireflies@x.test');
  const ran = await run('fireflies', { FIREFLIES_API_KEY: KEY, FIREFLIES_URL: url });
  t.match(ran, { code: 0, out: /1 imported from Fireflies, 1 without speech/ }, ran.errors);
  t.match(await streams(), [{ title: 'Q A', captured_at: '2026-01-01T00:00:00.000Z' }]);
  t.match(await texts('Q A'), [
    { text: 'Hello.', speaker_name: 'Ann' },
    { text: 'Hi.', speaker_name: null },
  ]);
  t.match(asked[0], {
    url: { pathname: '/graphql' },
    headers: { authorization: `Bearer ${KEY}` },
    body: /transcripts\(/,
  });
  const refused = await service(t, () => ({ json: { errors: [{ message: 'auth failed' }] } }));
  const other = await importer(t, 'other@x.test');
  t.match(await other.run('fireflies', { FIREFLIES_API_KEY: KEY, FIREFLIES_URL: refused.url }), {
    code: 1,
    errors: /Fireflies refuses: auth failed/,
  });
});

t.test('K-429 a key goes to its service alone', async (t) => {
  const elsewhere = await service(t, () => ({}));
  const redirects = await service(t, () => ({ status: 302, headers: { Location: `${elsewhere.url}/v1/lifelogs` } }));
  const refuses = await service(t, () => ({ status: 401 }));
  const { run } = await importer(t, 'key@x.test');
  t.match(await run('limitless', {}), { code: 2, errors: /Set LIMITLESS_API_KEY/ });
  t.match(await run('limitless', { LIMITLESS_API_KEY: 'a b' }), { code: 2, errors: /must be a key of Limitless/ });
  t.match(await run('limitless', { LIMITLESS_API_KEY: KEY, LIMITLESS_URL: refuses.url }), {
    code: 1,
    errors: /does not accept the key in LIMITLESS_API_KEY/,
  });
  t.match(await run('limitless', { LIMITLESS_API_KEY: KEY, LIMITLESS_URL: redirects.url }), { code: 1 });
  t.same(elsewhere.asked, []);
  t.notMatch(logged.join(''), KEY);
  t.match(await run('limitless', { LIMITLESS_API_KEY: KEY }, 'a.mp3'), { code: 2, errors: /takes no files/ });
  t.match(await run('otter', {}), { code: 2 });
});
