import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { ContextItem, Profile } from '../../../kits/typescript/src/api.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer, tell } from '../../fixtures/answers.js';
import { TestSpool } from '../../fixtures/spool.js';

type Items = { version: number; items: ContextItem[]; cursor: null };

t.test('profile', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const bob = await TestAccount.open(spool, 'bob@x.test');
  const save = (body: object) => ann.ask<Profile>('PUT', '/profile', body);

  await t.test('K-013 a profile is revision zero until it is saved, and says so in no event', async (t) => {
    const empty = { revision: 0, about: null, languages: [], vocabulary: [], time_zone: null, updated_at: null };
    t.strictSame(await ann.ask('GET', '/profile'), empty);
    t.strictSame(await save({ revision: 0 }), empty, 'the same content saves nothing');
    t.same(await ann.ask('GET', '/profile/revisions'), { items: [], cursor: null });
    t.same(await ann.newEvents(), []);
  });

  await t.test('K-013 K-120 a profile is saved whole, on the revision that was read', async (t) => {
    const about = 'Bakes bread.\nKnows Zoë Marksecret.';
    const first = await save({
      revision: 0,
      about: ` ${about} `,
      languages: ['de', 'en', 'de'],
      vocabulary: [' Zoë '],
    });
    t.match(first, { revision: 1, about, languages: ['de', 'en'], vocabulary: ['Zoë'], updated_at: /Z$/ });
    t.strictSame(await ann.ask('GET', '/profile'), first);
    t.strictSame(await save({ revision: 1, about, languages: ['de', 'en'], vocabulary: ['Zoë'] }), first);
    const refused = await tell(ann.app, 'PUT', '/profile', { revision: 0, about: 'x' });
    t.match(refused, { status: 409, error: { code: 'CONFLICT', revision: 1 } });
    const second = await save({ revision: 1, languages: ['de', 'en'] });
    t.match(second, { revision: 2, about: null, vocabulary: [] }, 'what is absent is empty');
    t.same(await ann.newEvents(), [
      'suggestion_profile.updated 1 about languages vocabulary',
      'suggestion_profile.updated 2 about vocabulary',
    ]);
    const page = await ann.ask<{ items: Profile[]; cursor: string }>('GET', '/profile/revisions?limit=1');
    t.strictSame(page.items, [second]);
    const rest = await ann.ask('GET', `/profile/revisions?limit=1&cursor=${page.cursor}`);
    t.strictSame(rest, { items: [first], cursor: null });
    t.match(await bob.ask('GET', '/profile'), { revision: 0 }, "nobody else's");
    const events = (await ann.app.send('GET', '/events?limit=100')).body.toString();
    for (const text of ['Marksecret', 'bread', 'Zoë']) t.notOk(events.includes(text), text);
  });

  await t.test('K-121 what is no profile', async (t) => {
    const many = (count: number, text = 'x') => Array.from({ length: count }, (_, at) => `${text}${at}`);
    for (const [wrong, path] of [
      [{}, 'revision'],
      [{ revision: -1 }, 'revision'],
      [{ revision: 2, about: '' }, 'about'],
      [{ revision: 2, about: 'x'.repeat(4_001) }, 'about'],
      [{ revision: 2, languages: ['not a tag'] }, 'languages.0'],
      [{ revision: 2, languages: ['aa', 'bb', 'cc', 'dd', 'ee', 'ff'] }, 'languages'],
      [{ revision: 2, vocabulary: ['x'.repeat(61)] }, 'vocabulary.0'],
      [{ revision: 2, vocabulary: many(201) }, 'vocabulary'],
      [{ revision: 2, time_zone: 'Nowhere/Town' }, 'time_zone'],
      [{ revision: 2, time_zone: '+01:00' }, 'time_zone'],
      [{ revision: 2, time_zone: '' }, 'time_zone'],
    ] as const) {
      const { status, error } = await tell(ann.app, 'PUT', '/profile', wrong);
      t.same([status, error.details?.[0]?.path], [400, path]);
    }
    const largest = { about: '🦊'.repeat(4_000), languages: ['aa', 'bb', 'cc', 'dd', 'ee'], vocabulary: many(200) };
    t.match(await save({ revision: 2, ...largest }), { revision: 3, ...largest });
    await ann.newEvents();
  });

  await t.test(
    'K-182 a time zone is a field of the profile, and stays where a whole one is saved without it',
    async (t) => {
      const { revision } = await ann.ask<Profile>('GET', '/profile');
      const zoned = await ann.ask<Profile>('PATCH', '/profile', { revision, time_zone: 'Europe/Vienna' });
      t.match(zoned, { revision: revision + 1, time_zone: 'Europe/Vienna', languages: ['aa', 'bb', 'cc', 'dd', 'ee'] });
      t.strictSame(await ann.ask('PATCH', '/profile', { revision: revision + 1, time_zone: 'Europe/Vienna' }), zoned);
      const refused = await tell(ann.app, 'PATCH', '/profile', { revision, time_zone: 'UTC' });
      t.match(refused, { status: 409, error: { code: 'CONFLICT', revision: revision + 1 } });
      t.equal((await tell(ann.app, 'PATCH', '/profile', { time_zone: 'UTC' })).status, 400);
      t.match(await save({ revision: revision + 1, about: 'x' }), { time_zone: 'Europe/Vienna', languages: [] });
      t.match(await save({ revision: revision + 2, about: 'x', time_zone: null }), { time_zone: null });
      t.match(await ann.ask('PATCH', '/profile', { revision: revision + 3, about: null }), { about: null });
      t.same(await ann.newEvents(), [
        `suggestion_profile.updated ${revision + 1} time_zone`,
        `suggestion_profile.updated ${revision + 2} about languages vocabulary`,
        `suggestion_profile.updated ${revision + 3} time_zone`,
        `suggestion_profile.updated ${revision + 4} about`,
      ]);
    },
  );

  await t.test('K-013 K-121 context items; each change that is seen raises the version', async (t) => {
    const read = () => ann.ask<Items>('GET', '/profile/context');
    t.same(await read(), { version: 0, items: [], cursor: null });
    const made = await ann.ask<ContextItem>('POST', '/profile/context', { text: 'Allergic to nutsmark' });
    const other = await ann.ask<ContextItem>('POST', '/profile/context', { text: 'Cycles' });
    const edited = await ann.ask<ContextItem>('PATCH', `/profile/context/${made.id}`, { text: 'Eats nutsmark' });
    await ann.ask('PATCH', `/profile/context/${made.id}`, { text: 'Eats nutsmark' });
    t.strictSame(await read(), { version: 3, items: [edited, other], cursor: null }, 'the oldest first');
    t.equal(await ann.says('DELETE', `/profile/context/${other.id}`), '204');
    for (const id of [other.id, randomUUID(), 'x']) {
      t.equal(await ann.says('DELETE', `/profile/context/${id}`), '404 NOT_FOUND');
      t.equal(await ann.says('PATCH', `/profile/context/${id}`, { text: 'x' }), '404 NOT_FOUND');
    }
    t.equal(await bob.says('DELETE', `/profile/context/${made.id}`), '404 NOT_FOUND');
    for (const text of ['', 'x'.repeat(501), 7])
      t.equal(await ann.says('POST', '/profile/context', { text }), '400 BAD_REQUEST');
    t.same(
      await ann.newEvents(),
      [1, 2, 3, 4].map((version) => `memory_context.updated ${version}`),
    );
    t.notOk((await ann.app.send('GET', '/events?limit=100')).body.toString().includes('nutsmark'));
    const partition = spool.server.services.actors.context(ann.id);
    for (let count = 1; count < 200; count++) await partition.create_item({ item_id: `i${count}`, text: 'x' });
    t.equal(await ann.says('POST', '/profile/context', { text: 'x' }), '409 CONFLICT');
  });

  await t.test('K-119 reading takes profile:read, writing profile:write', async (t) => {
    const tokenOf = async (permissions: string[]) => {
      const body = { name: 'tool', permissions, expires_at: null };
      return bearer(spool, (await bob.ask<{ value: string }>('POST', '/me/tokens', body)).value);
    };
    const [reader, writer] = [await tokenOf(['profile:read']), await tokenOf(['profile:write'])];
    const writes: [string, string, unknown][] = [
      ['PUT', '/profile', { revision: 0, about: 'x' }],
      ['POST', '/profile/context', { text: 'x' }],
      ['PATCH', `/profile/context/${randomUUID()}`, { text: 'x' }],
      ['DELETE', `/profile/context/${randomUUID()}`, undefined],
    ];
    for (const path of ['/profile', '/profile/revisions', '/profile/context']) {
      t.equal((await reader.send('GET', path)).status, 200);
      t.equal((await writer.send('GET', path)).status, 403);
    }
    for (const [method, path, body] of writes) {
      t.equal((await reader.send(method, path, { body })).status, 403, method);
      t.not((await writer.send(method, path, { body })).status, 403, method);
    }
  });
});
