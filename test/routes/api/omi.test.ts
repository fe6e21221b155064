import t from 'tap';
import type { Stream } from '../../../kits/typescript/src/api.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer } from '../../fixtures/answers.js';
import { startLogged } from '../../fixtures/logged_spool.js';
import { omiConversation, segment } from '../../fixtures/omi.js';
import { until } from '../../fixtures/until.js';

/** What omi's cloud sends, in the forms of its documentation. */

type Address = { made_at: string | null; last_used_at: string | null };
type Turn = { text: string; speaker_name: string | null; start_ms: number };
type Page<Item> = { items: Item[] };

const { spool, logged } = await startLogged({ CHUNK_WORKER: '1', CONTENT_WORKER: '0', RATE_LIMITS: 'off' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const bob = await TestAccount.open(spool, 'bob@x.test');
const make = async (who: TestAccount) => (await who.ask<Address & { url: string }>('POST', '/me/omi')).url;
const post = (url: string, body: object | Uint8Array | string, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
  });
const says = async (answer: Promise<Response>) => {
  const { status } = await answer;
  const text = await (await answer).text();
  return text === '' ? String(status) : `${status} ${JSON.parse(text).error.message}`;
};
const streams = async (who = ann) => (await who.ask<Page<Stream>>('GET', '/audio/streams?limit=100')).items;
const turns = async (id: string, who = ann) => (await who.ask<Page<Turn>>('GET', `/turns?stream_id=${id}`)).items;
const importsEnded = () =>
  until('no import is open', async () => {
    const pages = [ann, bob].map((who) => who.ask<Page<object>>('GET', '/audio/imports?status=open'));
    return (await Promise.all(pages)).every(({ items }) => items.length === 0);
  });

const annUrl = await make(ann);
const address = `${annUrl}?uid=ann-of-omi`;
const send = async (body: object, url = address) => {
  const said = await says(post(url, body));
  await importsEnded();
  return said;
};
const titled = async (title: string, who = ann) => (await streams(who)).filter((one) => one.title === title);
/** A title of its own for each conversation. */
const called = (title: string) => ({ structured: { title } });

t.test('K-415 a conversation becomes a recording with its text, and stays one', async (t) => {
  const segments = [
    segment('I will send the plan on Friday.', 0, { speaker_name: 'Mira Holm' }),
    segment('Good, the xylophone is in the cellar.', 4, { speaker: 'SPEAKER_01' }),
  ];
  t.equal(await send(omiConversation('c1', segments)), '204');
  const [stream, ...others] = await titled('A talk in the yard');
  t.same(others, []);
  t.match(stream, { captured_at: '2026-11-29T10:00:00.123Z', chunks: 0, end_ms: 7_000 });
  const id = stream?.id as string;
  t.match(await turns(id), [
    { text: 'I will send the plan on Friday.', speaker_name: 'Mira Holm', start_ms: 0 },
    { text: /xylophone/, speaker_name: null },
  ]);
  const source = await ann.ask<{ name: string }>('GET', `/sources/${stream?.source_id}`);
  t.equal(source.name, 'omi');
  t.equal(await send(omiConversation('c1', segments)), '204');
  t.same(
    (await titled('A talk in the yard')).map((one) => one.id),
    [id],
    'the same again',
  );
  t.equal(await send(omiConversation('c2', segments, called('Another'))), '204');
  t.equal((await titled('Another')).length, 1, 'another id is another recording');
  t.match(await ann.ask<Address>('GET', '/me/omi'), { last_used_at: /^20/ });
});

t.test('K-415 several at once, and one twice at once, become one recording each', async (t) => {
  const bodies = ['p1', 'p2', 'p1', 'p3', 'p2'].map((id) =>
    omiConversation(id, [segment('Hello.', 0)], called(`At once ${id}`)),
  );
  const answers = await Promise.all(bodies.map((body) => says(post(address, body))));
  t.same([...new Set(answers)], ['204']);
  await importsEnded();
  for (const id of ['p1', 'p2', 'p3']) t.equal((await titled(`At once ${id}`)).length, 1, id);
});

t.test('K-416 a changed conversation replaces a recording that nobody has changed', async (t) => {
  const before = omiConversation('u1', [segment('The old text.', 0)], called('Replaced'));
  await send(before);
  const [old] = await titled('Replaced');
  t.equal(await send(omiConversation('u1', [segment('The new text.', 0)], called('Replaced'))), '204');
  const [made, ...more] = await titled('Replaced');
  t.same(more, []);
  t.not(made?.id, old?.id);
  t.match(await turns(made?.id as string), [{ text: 'The new text.' }]);
  await send(before);
  t.match(await turns((await titled('Replaced'))[0]?.id as string), [{ text: 'The old text.' }], 'and back');

  const { actors } = spool.server.services;
  const { createHash } = await import('node:crypto');
  const key = createHash('sha256').update('u1').digest('hex');
  const { known } = await actors.omi(ann.id).conversation({ key });
  const left = await titled('Replaced');
  const orphan = await send(omiConversation('u9', [segment('Left over.', 0)], called('Left over')));
  t.equal(orphan, '204');
  const [gone] = await titled('Left over');
  const cut = { ...known, going: gone?.id as string };
  await actors.omi(ann.id).note_conversation({ key, was: known?.content as string, is: cut as never });
  await send(before);
  t.same(await titled('Left over'), [], 'one that was cut off before the deletion is finished');
  t.same(
    (await titled('Replaced')).map(({ id }) => id),
    left.map(({ id }) => id),
  );
});

t.test('K-446 a conversation whose import has failed is made again by the same body', async (t) => {
  const { blobs } = spool.server.services;
  const open = blobs.open.bind(blobs);
  const body = (title: string) => omiConversation(title, [segment('I send the plan.', 0)], called(title));
  blobs.open = async () => null;
  t.equal(await send(body('Failed')), '204');
  t.same(await titled('Failed'), [], 'the server has lost its bytes');
  blobs.open = open;
  t.equal(await send(body('Failed')), '204');
  t.equal((await titled('Failed')).length, 1);
  t.equal(await send(body('Failed')), '204');
  t.equal((await titled('Failed')).length, 1, 'and no more');

  let deleted = 0;
  blobs.open = async (...asked) => {
    // Once: an owner does not delete again while it goes.
    for (const { id } of deleted === 0 ? await titled('Deleted') : []) {
      await ann.ask('DELETE', `/audio/streams/${id}`);
      deleted += 1;
    }
    return open(...asked);
  };
  t.equal(await send(body('Deleted')), '204');
  blobs.open = open;
  t.equal(deleted, 1, 'its owner deletes it before it is whole');
  t.equal(await send(body('Deleted')), '204');
  t.same(await titled('Deleted'), [], 'and it does not come back');
});

t.test('K-416 what somebody has changed or deleted stays so', async (t) => {
  const changes: [name: string, change: (id: string) => Promise<unknown>][] = [
    ['title', (id) => ann.ask('PATCH', `/audio/streams/${id}`, { title: 'Mine' })],
    ['star', (id) => ann.ask('PATCH', `/audio/streams/${id}`, { starred: true })],
    ['tag', (id) => ann.ask('PATCH', `/audio/streams/${id}`, { tags: ['Yard'] })],
    [
      'text',
      async (id) => ann.ask('PATCH', `/turns/${((await turns(id))[0] as Turn & { id: string }).id}`, { text: 'Mine.' }),
    ],
    ['link', (id) => ann.ask('POST', `/audio/streams/${id}/links`, {})],
    [
      'note',
      (id) =>
        ann.ask('POST', `/audio/streams/${id}/signals`, {
          signals: [{ ref: 'a', type: 'note', start_ms: 0, payload: { text: 'x' } }],
        }),
    ],
    ['deletion', (id) => ann.ask('DELETE', `/audio/streams/${id}`)],
  ];
  for (const [name, change] of changes) {
    await send(omiConversation(`k-${name}`, [segment('The first text.', 0)], called(`Kept ${name}`)));
    const [made] = await titled(`Kept ${name}`);
    await change(made?.id as string);
    const before = (await streams()).map(({ id }) => id);
    for (const text of ['The second text.', 'The third text.'])
      t.equal(await send(omiConversation(`k-${name}`, [segment(text, 0)], called(`Kept ${name}`))), '204');
    t.equal(await send(omiConversation(`k-${name}`, [], { discarded: true })), '204');
    t.same(
      (await streams()).map(({ id }) => id),
      before,
      name,
    );
  }
});

t.test('K-416 a discarded conversation, and one without text, is no recording', async (t) => {
  const count = (await streams()).length;
  t.equal(await send(omiConversation('d1', [segment('Um.', 0)], { ...called('Discarded'), discarded: true })), '204');
  t.equal(await send(omiConversation('d2', [], called('Discarded'))), '204');
  t.equal((await streams()).length, count);
  await send(omiConversation('d1', [segment('Something after all.', 0)], called('Discarded')));
  t.equal((await titled('Discarded')).length, 1);
  await send(omiConversation('d1', [segment('Something after all.', 0)], { ...called('Discarded'), discarded: true }));
  t.equal((await titled('Discarded')).length, 0, 'one that is discarded later goes');
});

t.test('K-417 audio becomes a recording', async (t) => {
  const url = `${annUrl}?sample_rate=16000&uid=ann-of-omi`;
  const audio = (body: Uint8Array, key: string) =>
    says(post(url, body, { 'Content-Type': 'application/octet-stream', 'Idempotency-Key': key }));
  const known = new Set((await streams()).map(({ id }) => id));
  const fresh = async () => (await streams()).filter(({ id }) => !known.has(id));
  const second = new Uint8Array(32_000);
  for (const key of ['1', '2', '2', '1', '3']) t.equal(await audio(second, key), '204');
  t.match(await fresh(), [{ title: null, chunks: 3, stored_chunks: 3, stored_bytes: 96_000 }]);
  const id = (await fresh())[0]?.id as string;
  const chunks = await ann.ask<Page<object>>('GET', `/audio/streams/${id}/chunks`);
  t.match(chunks.items, [
    { sequence: 0, source_start_ms: 0, source_end_ms: 1_000, codec: 'pcm_s16le', sample_rate_hz: 16_000, channels: 1 },
    { sequence: 1, source_start_ms: 1_000 },
    { sequence: 2, source_start_ms: 2_000, source_end_ms: 3_000 },
  ]);
  const joined = await ann.app.send('GET', `/audio/streams/${id}/content`);
  t.equal(joined.body.length, 44 + 96_000, 'it is played as one');
  await spool.operator.advanceClock(125_000);
  t.match(await ann.ask<Stream>('GET', `/audio/streams/${id}`), { end_ms: 3_000 }, 'it ends after a pause');
  t.equal(await audio(second, '4'), '204');
  t.equal((await fresh()).length, 2, 'and another one begins');
  const other = (await fresh()).find((one) => one.id !== id)?.id;
  await ann.ask('DELETE', `/audio/streams/${other}`);
  t.equal(await audio(second, '5'), '204');
  t.match(
    (await fresh()).filter((one) => one.id !== id),
    [{ chunks: 1 }],
    'of a deleted one nothing is added',
  );
  t.equal(await audio(new Uint8Array(0), '6'), '204');
  t.match(await audio(new Uint8Array(32_001), '7'), '400 The body must be whole samples of 16 bits.');
  t.match(await audio(new Uint8Array(10), '8'), '400 The body must hold at least 10 ms of audio.');
});

t.test('K-418 a body of another user, too large or not readable is refused by name', async (t) => {
  const count = (await streams()).length;
  const good = omiConversation('x1', [segment('Hello.', 0)]);
  const rows: [url: string, body: object | string, said: RegExp][] = [
    [`${annUrl}?uid=somebody`, good, /^403 uid: must be the user/],
    [annUrl, good, /^400 uid: must name a user of omi/],
    [`${address}&sample_rate=1`, good, /^400 sample_rate: must be a whole number from 8000 to 48000/],
    [address, '{', /^400 The body must be JSON, or audio/],
    [address, '['.repeat(1_000_000), /^400 The body must be JSON in at most 64 levels/],
    [address, omiConversation('', [segment('Hello.', 0)]), /^400 id: /],
    [
      address,
      { id: 'x2', transcript_segments: [{ text: 'Hello.' }] },
      /^400 transcript_segments\.0\.start: must be a number/,
    ],
    [address, { id: 'x3', transcript_segments: 'no' }, /^400 transcript_segments: /],
    [
      address,
      omiConversation('x4', [segment('Hello.', 100_000)]),
      /^400 transcript_segments: the transcript has times beyond 24 hours/,
    ],
    [
      address,
      omiConversation(
        'x7',
        Array.from({ length: 1_100 }, (_, at) => segment(`Line ${at}.`, at / 2)),
      ),
      /^400 transcript_segments: the transcript has more than 1024 lines in ten minutes/,
    ],
    [address, `{"id": "x5", "transcript_segments": [], "pad": "${'x'.repeat(LIMITS.omi_body_bytes_max)}"}`, /^413 /],
  ];
  for (const [url, body, said] of rows) t.match(await says(post(url, body)), said);
  const odd = omiConversation('x6', [segment('A path.', 0)], called('../../etc/\u202epasswd\n---\ntitle: x'));
  t.equal(await send(odd), '204');
  t.equal((await streams())[0]?.title, '.. .. etc passwd --- title: x', 'no title leads anywhere');
  t.equal((await streams()).length, count + 1, 'nothing else was left');
});

t.test('K-418 an account has its share of bodies', async (t) => {
  const { rates } = spool.server.services;
  t.equal(await rates.take('omi_bodies', ann.id), null, 'limits are off here');
  const { pool } = spool.server.services.omi_conversations;
  const ends: (() => void)[] = [];
  const held = Array.from({ length: 3 }, () => pool.run(ann.id, () => new Promise<void>((end) => ends.push(end))));
  await until('one is at work', async () => pool.counts.taken === 1 && pool.counts.waiting === 2);
  const others = await pool.run(bob.id, async () => 'at once');
  t.equal(others, 'at once');
  while (pool.counts.taken > 0) {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(held);
});

t.test('K-419 live text and the summary of a day are taken and not kept', async (t) => {
  const count = (await streams()).length;
  const bodies = [
    { segments: [segment('Live.', 0)], session_id: 's1' },
    [segment('Live.', 0)],
    { summary: 'A fine day.', uid: 'ann-of-omi', created_at: '2026-11-29' },
  ];
  for (const body of bodies) t.equal(await send(body), '204');
  t.equal((await streams()).length, count);
});

t.test('K-414 an account has one address, which ends by another one, by hand and with the account', async (t) => {
  const hello = omiConversation('b1', [segment('Hello.', 0)]);
  t.match(await make(bob), /\/omi\/spm_[\w-]{50,}$/);
  const first = await make(bob);
  t.match(await bob.ask<Address>('GET', '/me/omi'), { made_at: /^20/, last_used_at: null });
  t.equal(await send(hello, `${first}?uid=b`), '204');
  const second = await make(bob);
  t.match(await says(post(`${first}?uid=b`, hello)), /^404 /);
  t.equal(await send(hello, `${second}?uid=another`), '204', 'another address has its own user');
  t.equal((await streams(bob)).length, 1, 'and knows what has come');
  for (const wrong of ['/omi/x', second.slice(0, -5), second.replace(/....$/, 'AAAA')])
    t.match(await says(post(`${new URL(wrong, second).href}?uid=b`, hello)), /^404 /, 'guessed, cut or changed');
  t.equal((await fetch(`${second}?uid=b`)).status, 405, 'nothing can be read there');
  await bob.ask('DELETE', '/me/omi');
  t.match(await says(post(`${second}?uid=b`, hello)), /^404 /);
  t.equal(await bob.says('DELETE', '/me/omi'), '404 NOT_FOUND');
  const { value } = await bob.ask<{ value: string }>('POST', '/me/tokens', {
    ...{ name: 'x', permissions: ['account:manage', 'audio:write'], expires_at: null },
  });
  t.equal((await bearer(spool, value).send('POST', '/me/omi')).status, 403, 'no token of a program');
  const last = await make(bob);
  await bob.ask('DELETE', '/me');
  t.match(await says(post(`${last}?uid=b`, hello)), /^404 /);
  await (await spool.signIn('bob@x.test')).app.ask('POST', '/me/restore');
  t.match(await says(post(`${last}?uid=b`, hello)), /^404 /, 'it does not come back');
  t.notMatch(logged.join(''), /spm_/);
  t.match(logged.join(''), '/omi/:omi');
});
