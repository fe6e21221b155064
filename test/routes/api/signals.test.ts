import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import t from 'tap';
import { signalId } from '../../../src/domain/ids.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { TestAccount } from '../../fixtures/account.js';
import { TestSpool } from '../../fixtures/spool.js';

type SignalView = {
  id: string;
  ref: string;
  type: string;
  start_ms: number;
  end_ms?: number;
  payload: unknown;
  payload_state: { state: string; removed_at: string | null };
  created_at: string;
};
type Page = { items: SignalView[]; cursor: string | null };

const spool = await TestSpool.start();
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const bob = await TestAccount.open(spool, 'bob@x.test');
const source = await ann.ask<{ id: string }>('POST', '/sources', { name: 'Desk' });
const newStream = async () => {
  const body = { source_id: source.id, captured_at: '2026-11-01T10:00:00Z' };
  return `/audio/streams/${(await ann.ask<{ id: string }>('POST', '/audio/streams', body)).id}/signals`;
};
const post = async (path: string, ...signals: unknown[]) =>
  (await ann.ask<{ items: SignalView[] }>('POST', path, { signals })).items;
const says = (path: string, ...signals: unknown[]) => ann.says('POST', path, { signals });
const all = async (path: string, query = '') => (await ann.ask<Page>('GET', `${path}${query}`)).items;
const refs = async (path: string, query = '') => (await all(path, query)).map(({ ref }) => ref);
const signal = (ref: string, more: object = {}) => ({ ref, type: 'meeting.started', start_ms: 0, ...more });
/** Sends the body's text as it is. */
const raw = async (path: string, body: string | Buffer | Readable, headers: Record<string, string> = {}) => {
  const answer = await fetch(`${spool.base_url}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${ann.app.access_token}`, 'Content-Type': 'application/json', ...headers },
    body: body as string,
    ...(body instanceof Readable ? { duplex: 'half' } : {}),
  });
  return { status: answer.status, text: await answer.text() };
};

await t.test('G-001 G-002 G-018 signals come back in the order sent, with all their members', async (t) => {
  const path = await newStream();
  const items = await post(path, signal('b', { start_ms: 9, end_ms: 9, payload: { a: [1, 'é'] } }), signal('a'));
  t.match(items[0], { id: /^[0-9a-f-]{36}$/, created_at: /^20.*Z$/ });
  t.strictSame(
    { ...items[0], id: '', created_at: '' },
    {
      ...{ id: '', ref: 'b', type: 'meeting.started', start_ms: 9, end_ms: 9 },
      payload_state: { state: 'available', removed_at: null },
      ...{ created_at: '', payload: { a: [1, 'é'] } },
    },
  );
  t.equal(items[1]?.ref, 'a');
  t.notOk('end_ms' in (items[1] as SignalView));
  t.same(items[1]?.payload, {});
  t.same(await all(path), [items[1], items[0]]);
  const { value } = await ann.ask<{ value: string }>('POST', '/me/tokens', {
    ...{ name: 'x', permissions: ['audio:read', 'turns:read'], expires_at: null },
  });
  const reader = spool.client();
  reader.access_token = value;
  t.equal((await reader.send('POST', path, { body: { signals: [signal('c')] } })).status, 403);
  t.equal((await reader.send('GET', path)).status, 200);
  await ann.entitle('audio.access', false);
  t.equal(await says(path, signal('c')), '403 FORBIDDEN');
  t.equal(await ann.says('GET', path), '200', 'reading is another layer');
  await ann.entitle('audio.access', true);
});

await t.test('G-013 X-24 reading takes turns:read', async (t) => {
  const path = await newStream();
  const { value } = await ann.ask<{ value: string }>('POST', '/me/tokens', {
    ...{ name: 'x', permissions: ['audio:read', 'audio:write'], expires_at: null },
  });
  const writer = spool.client();
  writer.access_token = value;
  t.equal((await writer.send('GET', path)).status, 403);
  t.equal((await writer.send('POST', path, { body: { signals: [signal('a')] } })).status, 200);
  await ann.entitle('transcripts.access', false);
  t.equal(await ann.says('GET', path), '403 FORBIDDEN');
  await ann.entitle('transcripts.access', true);
});

await t.test('G-003 at most 500 signals, and not none', async (t) => {
  const path = await newStream();
  const many = Array.from({ length: 501 }, (_, n) => signal(`r${n}`, { start_ms: n }));
  t.equal(await says(path, ...many), '400 BAD_REQUEST');
  t.same(await all(path), [], 'nothing is stored');
  t.equal((await post(path, ...many.slice(0, 500))).length, 500);
  t.equal(await says(path), '400 BAD_REQUEST');
  for (const body of [{}, { signals: 1 }, { signals: [1] }, { signals: [null] }, [], 1])
    t.equal(await ann.says('POST', path, body), '400 BAD_REQUEST', JSON.stringify(body));
  t.equal(await ann.says('POST', path), '400 BAD_REQUEST');
  for (const text of [
    '',
    '{',
    '{"signals":[}',
    '{"signals":[]} x',
    '{"signals":[{"ref":"a","ref":"b"}]}',
    Buffer.from([0xff]),
  ])
    t.equal((await raw(path, text)).status, 400, String(text));
  t.equal((await raw(path, '{}', { 'Content-Type': 'text/plain' })).status, 415);
});

await t.test('G-004 a payload is an object of at most 8192 bytes, and comes back as it was sent', async (t) => {
  const path = await newStream();
  const text = (characters: string, count: number) => `{"a":"${characters.repeat(count)}"}`;
  const of = (ref: string, payload: string) =>
    `{"signals":[{"ref":"${ref}","type":"a","start_ms":0,"payload":${payload}}]}`;
  const frame = '{"a":""}'.length;
  const exact = [text('x', 8192 - frame), text('😀', (8192 - frame) / 4), text('\\u00e9', (8192 - frame) / 2)];
  for (const [n, payload] of exact.entries()) {
    t.equal(Buffer.byteLength(JSON.stringify(JSON.parse(payload))), 8192, 'an escaped letter counts as the letter');
    t.equal((await raw(path, of(`ok${n}`, payload))).status, 200);
    const longer = await raw(path, of(`no${n}`, payload.replace('"}', 'x"}')));
    t.equal(longer.status, 400);
    t.match(longer.text, /"path":"signals.0.payload","message":"must be at most 8192 bytes/);
  }
  t.equal((await raw(path, of('spaced', `${' '.repeat(50_000)}{ "a" :\n1 }`))).status, 200, 'space does not count');
  const odd = '{"10":1.50,"2":9007199254740993,"b":1e400,"a":"\\u00e9\\/","__proto__":null,"n":{"z":[],"y":-0}}';
  const sent = await raw(path, of('odd', odd));
  t.ok(sent.text.includes(`"payload":${odd}`), 'as it was sent');
  const read = await fetch(`${spool.base_url}${path}?type=a&limit=100`, {
    headers: { Authorization: `Bearer ${ann.app.access_token}` },
  });
  const body = await read.text();
  for (const payload of [...exact, odd, '{"a":1}']) t.ok(body.includes(`"payload":${payload}`));
  t.match(JSON.parse((await raw(path, of('none', 'null'))).text).data, { items: [{ payload: {} }], cursor: null });
  const [endless] = await post(path, signal('endless', { end_ms: null, payload: null }));
  t.notOk('end_ms' in (endless as SignalView), 'what is null is as good as absent');
  for (const payload of ['[]', '"x"', '1', 'true', '{"a":1,"a":2}', '{"a":01}'])
    t.equal((await raw(path, of('bad', payload))).status, 400, payload);
});

await t.test('G-004 a payload is as deep as its bytes allow, and what is deeper than any is refused', async (t) => {
  const path = await newStream();
  const of = (payload: string, ref = '"deep"', more = '') =>
    `{${more}"signals":[{"ref":${ref},"type":"a","start_ms":0,"payload":${payload}}]}`;
  const nested = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  for (const [ref, depth] of [
    ['"d200"', 200],
    ['"d4093"', 4_093],
  ] as const) {
    const sent = await raw(path, of(nested(depth), ref));
    t.equal(sent.status, 200, `${depth} deep`);
    t.ok(sent.text.includes(`"payload":${nested(depth)}`), 'as it was sent');
  }
  t.equal((await raw(path, of(nested(4_094)))).status, 400, 'of more than 8192 bytes');
  const levels = LIMITS.signals_body_bytes_max / 2 - 1_000;
  const bodies = {
    payload: of(nested(levels)),
    'payload of objects': of('{"a":'.repeat(LIMITS.signals_body_bytes_max / 5 - 1_000)),
    ref: of('{}', nested(levels)),
    'a member that nobody knows': of('{}', '"deep"', `"x":${nested(levels)},`),
    'many deep ones': `{"signals":[${Array.from({ length: 100 }, (_, n) => of(nested(4_000), `"m${n}"`).slice(12, -2)).join()}]}`,
  };
  for (const [what, body] of Object.entries(bodies)) {
    const { status } = await raw(path, body);
    t.equal(status, what === 'many deep ones' ? 200 : 400, what);
  }
  t.equal((await refs(path, '?limit=100')).length, 100);
});

await t.test('G-005 G-006 types are lowercase dotted names, times whole and in order', async (t) => {
  const path = await newStream();
  for (const type of ['meeting.started', 'a', 'a.b.c', 'a_1.b-2', '1.2'])
    t.equal(await says(path, signal(type, { type })), '200', type);
  for (const type of ['Meeting.Started', 'a..b', '', '.a', 'a.', 'a b', 'ä', 7, null, 'x'.repeat(129)])
    t.equal(await says(path, signal('x', { type })), '400 BAD_REQUEST', String(type));
  for (const times of [
    { start_ms: 1.5 },
    { start_ms: -1 },
    { start_ms: '1' },
    { start_ms: null },
    { start_ms: 5, end_ms: 4 },
  ])
    t.equal(await says(path, signal('x', times)), '400 BAD_REQUEST', JSON.stringify(times));
  t.equal(await says(path, signal('x', { end_ms: 2 ** 53 })), '400 BAD_REQUEST');
  t.equal(await says(path, signal('edge', { start_ms: 5, end_ms: 5 })), '200');
  for (const ref of ['', 'x'.repeat(129), 7, undefined])
    t.equal(await says(path, signal('x', { ref })), '400 BAD_REQUEST');
  const answer = await ann.app.send('POST', path, { body: { signals: [signal('x'), signal('y', { type: 'A' })] } });
  t.match(JSON.parse(answer.body.toString()).error.details, [{ path: 'signals.1.type', message: /lowercase/ }]);
});

await t.test('G-007 G-008 G-009 G-010 all or nothing, once', async (t) => {
  const [path, elsewhere] = [await newStream(), await newStream()];
  t.equal(await says(path, signal('good'), signal('bad', { start_ms: -1 })), '400 BAD_REQUEST');
  t.same(await all(path), []);
  const [first] = await post(path, signal('one', { payload: { b: 1, a: [1.0, 'é'] } }));
  const again = await raw(
    path,
    '{"signals":[{"payload":{"a":[1.0,"\\u00e9"],"b":1e0},"start_ms":0.0,"type":"meeting.started","ref":"one"}]}',
  );
  t.strictSame(JSON.parse(again.text).data.items, [first], 'the same record, however it is written');
  for (const change of [{ type: 'b' }, { start_ms: 1 }, { end_ms: 0 }, { payload: { b: 1 } }, { payload: {} }])
    t.equal(await says(path, signal('new'), signal('one', { payload: first?.payload, ...change })), '409 CONFLICT');
  t.same(await refs(path), ['one'], 'nothing of the request');
  const [other] = await post(elsewhere, signal('one', { type: 'else' }));
  t.not(other?.id, first?.id, 'the ref is free in another stream');
  const twice = await post(path, signal('two'), signal('two'));
  t.equal(twice.length, 2);
  t.same(twice[0], twice[1]);
  t.equal(await says(path, signal('three'), signal('three', { type: 'x' })), '409 CONFLICT');
  t.same((await refs(path)).sort(), ['one', 'two']);
  const raced = await Promise.all(['x', 'y', 'x', 'y', 'x'].map((type) => says(path, signal('raced', { type }))));
  const kept = (await all(path)).find(({ ref }) => ref === 'raced')?.type;
  t.same(
    raced,
    ['x', 'y', 'x', 'y', 'x'].map((type) => (type === kept ? '200' : '409 CONFLICT')),
  );
});

await t.test('G-011 G-012 G-014 filters, order and pages', async (t) => {
  const path = await newStream();
  await post(
    path,
    ...[
      signal('c', { start_ms: 20 }),
      signal('a', { start_ms: 0, end_ms: 10 }),
      signal('b', { start_ms: 5, type: 'a.b' }),
    ],
    ...[signal('d', { start_ms: 20, type: 'a.b.c' }), signal('e', { start_ms: 20, end_ms: 25 })],
  );
  const items = await all(path);
  t.same(
    items.map(({ start_ms }) => start_ms),
    [0, 5, 20, 20, 20],
  );
  const ties = items.slice(2).map(({ id }) => id);
  t.same(ties, [...ties].sort(), 'then by id');
  t.same(await refs(path, '?type=a.b'), ['b']);
  t.same(await refs(path, '?type=nobody.has'), []);
  t.same(await refs(path, '?from_ms=10&to_ms=19'), ['a']);
  t.same((await refs(path, '?from_ms=10')).sort(), ['a', 'c', 'd', 'e']);
  t.same((await refs(path, '?from_ms=11')).sort(), ['c', 'd', 'e']);
  t.same(await refs(path, '?from_ms=21'), ['e']);
  t.same(await refs(path, '?from_ms=26'), []);
  t.equal((await refs(path, '?to_ms=20')).length, 5);
  t.same(await refs(path, '?to_ms=19'), ['a', 'b']);
  for (const query of ['', '?from_ms=6', '?type=meeting.started', '?to_ms=20&from_ms=5']) {
    const paged: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Page = await ann.ask(
        'GET',
        `${path}${query}${query === '' ? '?' : '&'}limit=1${cursor && `&cursor=${cursor}`}`,
      );
      t.ok(page.items.length <= 1);
      paged.push(...page.items.map(({ ref }) => ref));
      cursor = page.cursor;
    }
    t.same(paged, await refs(path, query), `pages of ${query}`);
  }
  for (const query of ['?limit=0', '?limit=101', '?cursor=x', '?from_ms=x', '?from_ms=-1', '?to_ms=1.5', '?type=A'])
    t.equal(await ann.says('GET', `${path}${query}`), '400 BAD_REQUEST', query);
});

await t.test('G-014 a rare type is found without reading every payload, page after page', async (t) => {
  const path = await newStream();
  const step = LIMITS.signals_per_request_max;
  const count = LIMITS.signals_scanned_max + step;
  for (let from = 0; from < count; from += step) {
    const batch = Array.from({ length: step }, (_, n) =>
      signal(`r${from + n}`, { start_ms: from + n, payload: { n } }),
    );
    await post(path, ...batch);
  }
  await post(path, signal('rare', { type: 'rare', start_ms: count - 1 }));
  const { store } = spool.server.services;
  const { query: facts } = store;
  let payloads = 0;
  let rows = 0;
  store.query = async (place, requests) => {
    payloads += requests.filter(({ collection }) => collection === 'payloads').length;
    const found = await facts.call(store, place, requests);
    rows += found.reduce((sum, row) => sum + row.rows.length, 0);
    return found;
  };
  t.teardown(() => {
    store.query = facts;
  });
  const first = await ann.ask<Page>('GET', `${path}?type=rare`);
  t.same(first.items, [], 'a short page and its cursor');
  t.equal(rows, LIMITS.signals_scanned_max);
  t.same(await refs(path, `?type=rare&cursor=${first.cursor}`), ['rare']);
  t.equal(payloads, 0, 'no payload is read that is not shown');
  rows = 0;
  t.same(await refs(path, `?type=rare&from_ms=${count - 1}`), ['rare']);
  t.equal(rows, 2, 'it begins late');
});

await t.test('G-015 signals change nothing else, and tell nobody', async (t) => {
  const path = await newStream();
  const stream = path.replace('/signals', '');
  const before = await ann.ask('GET', stream);
  await ann.newEvents();
  await post(path, signal('e', { type: 'stream.ended', start_ms: 7, payload: { end_ms: 'x' } }));
  t.same(await ann.ask('GET', stream), before);
  t.same(await ann.newEvents(), []);
});

await t.test("G-016 G-019 nobody else's stream", async (t) => {
  const path = await newStream();
  await post(path, signal('a'));
  for (const at of [path, `/audio/streams/${randomUUID()}/signals`, '/audio/streams/x/signals']) {
    t.equal(await bob.says('GET', at), '404 NOT_FOUND');
    t.equal(await bob.says('POST', at, { signals: [signal('a')] }), '404 NOT_FOUND');
  }
  t.equal(await bob.says('POST', path, { signals: [] }), '400 BAD_REQUEST', 'the body is judged first');
});

await t.test('G-003 G-004 G-007 a full batch is stored whole, and other content stores none of it', async (t) => {
  const path = await newStream();
  const filler = 'x'.repeat(8192 - '{"n":100,"a":""}'.length);
  const full = Array.from({ length: 500 }, (_, n) =>
    signal(`r${n}`, { start_ms: n, payload: { n: 100 + n, a: filler } }),
  );
  const items = await post(path, ...full);
  t.equal(items.length, 500);
  t.same(
    items.map(({ payload }) => payload),
    full.map((_, n) => ({ n: 100 + n, a: filler })),
  );
  t.strictSame(await post(path, ...full), items, 'again: the same');
  const changed = full.map((one, n) => ({ ...one, ref: `s${n}` }));
  t.equal(await says(path, ...changed), '200');
  t.equal(
    await says(path, ...changed.slice(1).map((one) => ({ ...one, ref: `${one.ref}!` })), {
      ...changed[0],
      type: 'x',
    }),
    '409 CONFLICT',
  );
  t.equal(await refs(path, '?limit=100').then((found) => found.some((ref) => ref.endsWith('!'))), false);
  const stream_id = path.split('/')[3] as string;
  const state = await spool.server.services.runtime.ask<{ payloads: object }>(
    { kind: 'signals', id: stream_id },
    { type: 'extent' },
  );
  t.same(state, { longest_ms: 0 });
  const over = await raw(path, ' '.repeat(LIMITS.signals_body_bytes_max + 1));
  t.equal(over.status, 413);
});

await t.test('G-004 a body that comes in pieces, its length unsaid', async (t) => {
  const path = await newStream();
  const sent = Buffer.from(JSON.stringify({ signals: [signal('ü', { payload: { text: 'é€😀' } }), signal('b')] }));
  const bytes = async function* () {
    for (const byte of sent) {
      yield Buffer.of(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const posted = await raw(path, Readable.from(bytes()));
  t.equal(posted.status, 200);
  t.match(JSON.parse(posted.text), { data: { items: [{ ref: 'ü', payload: { text: 'é€😀' } }, { ref: 'b' }] } });
  t.equal((await raw(path, Readable.from(['{"signals":[', Buffer.of(0xff), ']}']))).status, 400);
  const spaces = Array.from({ length: LIMITS.signals_body_bytes_max / 65_536 + 1 }, () => Buffer.alloc(65_536, ' '));
  t.equal((await raw(path, Readable.from(spaces))).status, 413);
  const failing = async function* () {
    yield sent.subarray(0, 20);
    throw new Error('the caller goes away');
  };
  await t.rejects(raw(path, Readable.from(failing())));
  t.same((await refs(path)).sort(), ['b', 'ü'], 'nothing came of the others');
});

t.test('the id of a signal is a UUID of version 7 at home with its stream', async (t) => {
  const stream_id = '01890a5d-ac96-774b-bcce-b302000000a7';
  for (const byte of [0, 0x5f, 0xff]) {
    const id = signalId(stream_id, new Uint8Array(18).fill(byte));
    t.match(id, /^01890a5d-ac96-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{10}a7$/);
  }
});
