import t from 'tap';
import type { Source, Stream } from '../../../kits/typescript/src/api.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer, tell } from '../../fixtures/answers.js';
import { TestSpool } from '../../fixtures/spool.js';

/** Stars and tags of recordings. */

const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const source = await ann.ask<Source>('POST', '/sources', { name: 'Desk' });
const register = (title: string, captured_at: string) =>
  ann.ask<Stream>('POST', '/audio/streams', { source_id: source.id, title, captured_at });
const pathOf = ({ id }: Stream, query = '') => `/audio/streams/${id}${query}`;
const mark = (stream: Stream, marks: object) => ann.ask<Stream>('PATCH', pathOf(stream, '?include=tags'), marks);
type Listed = { items: Stream[]; cursor: string | null };
const list = (query: string) => ann.ask<Listed>('GET', `/audio/streams?${query}`);
const titlesOf = async (query: string) => (await list(query)).items.map(({ title }) => title);

const first = await register('First', '2026-11-01T10:00:00Z');
const second = await register('Second', '2026-11-02T10:00:00Z');
await register('Third', '2026-11-03T10:00:00Z');

await t.test('K-310 a star and tags are shown on request, and no event tells of them', async (t) => {
  t.match(await ann.ask('GET', pathOf(first, '?include=tags')), { starred: false, tags: [] });
  await ann.newEvents();
  t.match(await mark(first, { starred: true }), { starred: true, tags: [], title: 'First' });
  t.match(await mark(first, { tags: ['Family'] }), { starred: true, tags: ['Family'] });
  t.same(await ann.newEvents(), []);
  t.match(await mark(first, { title: 'One', starred: false, tags: ['Family', 'Tea'] }), {
    ...{ title: 'One', starred: false, tags: ['Family', 'Tea'] },
  });
  t.same(await ann.newEvents(), [`stream.updated ${first.id} title ${source.id}`]);
  t.match(await mark(first, { title: 'First' }), { starred: false, tags: ['Family', 'Tea'] });
  for (const stream of [
    await ann.ask<Stream>('GET', pathOf(first)),
    await ann.ask<Stream>('PATCH', pathOf(first), { starred: true }),
    ...(await list('')).items,
  ])
    t.notOk('starred' in stream || 'tags' in stream, 'only when asked for');
});

await t.test('K-310 nobody else sees or changes them', async (t) => {
  const bob = await TestAccount.open(spool, 'bob@x.test');
  t.equal(await bob.says('PATCH', pathOf(first), { starred: true }), '404 NOT_FOUND');
  t.equal(await bob.says('GET', pathOf(first, '?include=tags')), '404 NOT_FOUND');
  t.same(await bob.ask('GET', '/audio/streams?tag=family'), { items: [], cursor: null });
  t.same(await bob.ask('GET', '/audio/streams?starred=true'), { items: [], cursor: null });
  const { value } = await ann.ask<{ value: string }>('POST', '/me/tokens', {
    ...{ name: 'reads', permissions: ['audio:read'], expires_at: null },
  });
  const answer = await bearer(spool, value).send('PATCH', pathOf(first), { body: { starred: true } });
  t.equal(answer.status, 403, 'writing takes audio:write');
});

await t.test('K-311 tags are trimmed and composed, and differ in more than their case', async (t) => {
  const long = 'ä'.repeat(40);
  const tags = ['  Zoe\u0308 ', 'zoë', 'Tea', 'ZOË', long.normalize('NFD')];
  t.match(await mark(second, { tags }), { tags: ['Zoë', 'Tea', long] });
  const twenty = Array.from({ length: 20 }, (_, at) => `tag ${at}`);
  t.match(await mark(second, { tags: twenty }), { tags: twenty });
  t.match(await mark(second, { tags: [] }), { tags: [] });
  const refused: [body: object, path: string, rule: RegExp][] = [
    [{}, '', /at least one of title, starred, tags and workspace_id/],
    [{ starred: 'yes' }, 'starred', /true or false/],
    [{ tags: 'Tea' }, 'tags', /at most 20 tags/],
    [{ tags: [...twenty, 'one more'] }, 'tags', /at most 20 tags/],
    [{ tags: ['Tea', ' '] }, 'tags.1', /1 to 40 characters/],
    [{ tags: [`${long}!`] }, 'tags.0', /1 to 40 characters/],
    [{ tags: [7] }, 'tags.0', /1 to 40 characters/],
    [{ tags: ['a\nb'] }, 'tags.0', /without control characters/],
    [{ tags: ['a\u202Eb'] }, 'tags.0', /marks of direction/],
  ];
  for (const [body, path, message] of refused) {
    const { status, error } = await tell(ann.app, 'PATCH', pathOf(second), body);
    t.equal(status, 400);
    t.match(error, { details: [{ path, message }] }, JSON.stringify(body));
  }
});

await t.test('K-312 recordings are found by tag and star, together with other filters', async (t) => {
  await mark(first, { starred: true, tags: ['Family', 'Tea'] });
  await mark(second, { starred: false, tags: ['tea'] });
  t.same(await titlesOf('tag=TEA'), ['Second', 'First']);
  t.same(await titlesOf('tag=%20family'), ['First']);
  t.same(await titlesOf('tag=Fam'), [], 'a part of a tag is none');
  t.same(await titlesOf('starred=true'), ['First']);
  t.same(await titlesOf('starred=true&tag=tea'), ['First']);
  t.same(await titlesOf('tag=tea&from=2026-11-02T00:00:00Z'), ['Second']);
  t.same(await titlesOf(`tag=tea&to=2026-11-02T00:00:00Z&source_id=${source.id}`), ['First']);
  const page = await list('tag=tea&limit=1&include=tags');
  t.match(page.items, [{ title: 'Second', starred: false, tags: ['tea'] }]);
  t.same(await titlesOf(`tag=tea&limit=1&cursor=${page.cursor}`), ['First']);
  for (const query of ['starred=false', 'starred=', 'tag=', `tag=${'x'.repeat(41)}`, 'include=stars'])
    t.equal(await ann.says('GET', `/audio/streams?${query}`), '400 BAD_REQUEST', query);
});

await t.test('K-313 they end with their recording', async (t) => {
  await ann.ask('DELETE', pathOf(first));
  t.same(await titlesOf('tag=family'), []);
  t.same(await titlesOf('starred=true'), []);
  t.equal(await ann.says('PATCH', pathOf(first), { starred: true }), '404 NOT_FOUND');
});
