import t from 'tap';
import { EVENT_TYPES } from '../../../src/domain/event_types.js';
import { isId } from '../../../src/domain/ids.js';
import type { AppClient } from '../../fixtures/app_client.js';
import { TestSpool } from '../../fixtures/spool.js';

type Event = {
  id: string;
  schema_version: number;
  sequence: string;
  occurred_at: string;
  account_id: string;
  type: string;
  resource: { type: string; id: string };
  data: Record<string, unknown>;
};
type Page = { items: Event[]; cursor: string | null };

t.test('account events', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const { app } = await spool.signIn('events@x.test');
  const page = (query = '', who: AppClient = app) => who.ask<Page>('GET', `/events${query}`);
  const status = async (query: string) => (await app.send('GET', `/events${query}`)).status;
  const rename = (name: string) => app.ask('PATCH', '/me', { name });
  for (let count = 1; count <= 30; count++) await rename(`Name ${count} markerword`);
  const TOTAL = 31;

  await t.test('E-001 E-002 J-014 an event has exactly these members', async (t) => {
    for (const event of (await page('?limit=100')).items) {
      const names = ['account_id', 'data', 'id', 'occurred_at', 'resource', 'schema_version', 'sequence', 'type'];
      t.same(Object.keys(event).sort(), names);
      t.ok(isId(event.id) && isId(event.account_id) && isId(event.resource.id));
      t.equal(event.schema_version, 1);
      t.match(event.sequence, /^\d+$/);
      t.equal(new Date(event.occurred_at).toISOString(), event.occurred_at);
      t.equal(event.type.split('.')[0], event.resource.type);
    }
  });

  await t.test('E-003 every event type of version 1 is a filter', async (t) => {
    t.equal(EVENT_TYPES.length, 40);
    for (const type of EVENT_TYPES) t.equal(await status(`?type=${type}`), 200, type);
  });

  await t.test('E-004 E-032 events are recorded with nobody listening; reading and refusals record none', async (t) => {
    t.equal((await page('?after=0&limit=100')).items.length, TOTAL);
    await app.send('PATCH', '/me', { body: { name: '' } });
    await app.ask('GET', '/me');
    t.equal((await page('?after=0&limit=100')).items.length, TOTAL);
  });

  await t.test('E-005 an event reads the same every time', async (t) => {
    t.same(await page('?limit=5'), await page('?limit=5'));
    const forward = await page('?after=0&limit=100');
    const backward = await page('?limit=100');
    t.same(forward.items, backward.items.toReversed());
  });

  await t.test('E-006 no name is in any event', async (t) => {
    t.notMatch(JSON.stringify(await page('?limit=100')), /markerword|events@x\.test/);
  });

  await t.test('E-007 without turns:read the history is closed', async (t) => {
    const other = await spool.signIn('closed@x.test');
    await spool.operator.ask('PUT', '/ops/accounts/closed@x.test/entitlements/transcripts.access', { enabled: false });
    t.equal((await other.app.send('GET', '/events')).status, 403);
  });

  await t.test('E-008 X-29 limit is 1 to 100, 25 by default, and not clamped', async (t) => {
    t.equal((await page()).items.length, 25);
    t.equal((await page('?limit=1')).items.length, 1);
    for (const limit of ['0', '101', 'x', '1.5', '-1', '', '1e1', '0x5'])
      t.equal(await status(`?limit=${limit}`), 400, limit);
  });

  await t.test('E-009 E-010 history goes down to the end, undisturbed by what is written meanwhile', async (t) => {
    const before = (await page('?limit=100')).items.map(({ id }) => id);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { items, cursor: next }: Page = await page(`?limit=7${cursor === null ? '' : `&cursor=${cursor}`}`);
      seen.push(...items.map(({ id }) => id));
      if (cursor === null) await rename('in between');
      cursor = next;
    } while (cursor !== null);
    t.same(seen, before);
  });

  await t.test('E-011 E-012 X-26 type filters exactly; an unknown one is empty, a malformed one refused', async (t) => {
    const created = await page('?type=account.created');
    t.same(
      created.items.map(({ type }) => type),
      ['account.created'],
    );
    t.equal(created.cursor, null);
    t.same(
      (await page('?type=account.created&after=0')).items.map(({ type }) => type),
      ['account.created'],
    );
    t.same(await page('?type=foo.bar'), { items: [], cursor: null });
    for (const type of ['foo', 'Foo.Bar', 'a.b.c', '', 'a b.c'])
      t.equal(await status(`?type=${encodeURIComponent(type)}`), 400, type);
  });

  await t.test('E-013 E-014 X-25 after=latest gives no items and a place to start from', async (t) => {
    const latest = await page('?after=latest');
    t.same(latest.items, []);
    t.type(latest.cursor, 'string');
    t.not(latest.cursor, '0');
    t.same(await page('?after=latest&type=stream.created'), { items: [], cursor: '0' });
    t.same(await page('?after=0&type=stream.created'), { items: [], cursor: '0' });
  });

  await t.test('E-015 after=0 reads from the start', async (t) => {
    const { items } = await page('?after=0&limit=100');
    t.equal(items[0]?.type, 'account.created');
    const sequences = items.map(({ sequence }) => Number(sequence));
    t.same(
      sequences,
      sequences.toSorted((a, b) => a - b),
    );
  });

  await t.test(
    'E-016 E-017 E-018 polling goes on exactly where it stood, and the same place gives the same again',
    async (t) => {
      const start = (await page('?after=latest')).cursor as string;
      t.same(await page(`?after=${start}`), { items: [], cursor: start });
      await rename('polled');
      const found = await page(`?after=${start}`);
      t.match(found.items, [{ type: 'account.updated' }]);
      t.equal(found.items.length, 1);
      t.same(await page(`?after=${start}`), found);
      t.same(await page(`?after=${found.cursor}`), { items: [], cursor: found.cursor });
      let after = '0';
      const seen: string[] = [];
      for (;;) {
        const next = await page(`?after=${encodeURIComponent(after)}&limit=4`);
        if (next.items.length === 0) break;
        seen.push(...next.items.map(({ id }) => id));
        after = next.cursor as string;
      }
      t.same(
        seen,
        (await page('?after=0&limit=100')).items.map(({ id }) => id),
      );
    },
  );

  await t.test('E-016 polling skips nothing that is written meanwhile, by whatever actor', async (t) => {
    let after = (await page('?after=latest')).cursor as string;
    const begin = after;
    let writing = true;
    const write = async () => {
      const renames = Array.from({ length: 60 }, (_, n) => rename(`busy ${n}`));
      const tokens = Array.from({ length: 20 }, (_, n) =>
        app.ask('POST', '/me/tokens', { name: `busy ${n}`, permissions: ['turns:read'] }),
      );
      await Promise.all([...renames, ...tokens]);
      writing = false;
    };
    const written = write();
    const seen: string[] = [];
    for (let last = false; !last; ) {
      last = !writing;
      const next = await page(`?after=${encodeURIComponent(after)}&limit=7`);
      if (next.items.length > 0) last = false;
      seen.push(...next.items.map(({ id }) => id));
      after = next.cursor as string;
    }
    await written;
    const all: string[] = [];
    for (let at = begin; ; ) {
      const next = await page(`?after=${encodeURIComponent(at)}&limit=100`);
      if (next.items.length === 0) break;
      all.push(...next.items.map(({ id }) => id));
      at = next.cursor as string;
    }
    t.ok(all.length >= 80, String(all.length));
    t.same(seen, all);
  });

  await t.test('E-019 cursor and after exclude each other', async (t) => {
    const { cursor } = await page('?limit=1');
    t.equal(await status(`?cursor=${cursor}&after=0`), 400);
  });

  await t.test('E-020 E-021 a cursor of the other kind, a sequence and garbage are refused', async (t) => {
    const history = (await page('?limit=1')).cursor as string;
    const polling = (await page('?after=latest')).cursor as string;
    for (const query of [
      `?after=${history}`,
      `?cursor=${polling}`,
      '?after=zzz',
      '?cursor=zzz',
      '?after=5',
      '?after=',
      '?cursor=',
      '?after=-1',
    ]) {
      t.equal(await status(query), 400, query);
    }
  });

  await t.test('E-020 a cursor of another account or ahead of the log is refused', async (t) => {
    const other = await spool.signIn('other@x.test');
    const theirs = (await other.app.ask<Page>('GET', '/events?after=latest')).cursor;
    t.equal(await status(`?after=${theirs}`), 400);
    const mine = (await page('?after=latest')).cursor as string;
    const parts = JSON.parse(Buffer.from(mine, 'base64url').toString());
    parts[2] = '9999999999999-999999';
    t.equal(await status(`?after=${Buffer.from(JSON.stringify(parts)).toString('base64url')}`), 400);
  });

  await t.test('E-022 X-26 a cursor carries its filter', async (t) => {
    const filtered = (await page('?type=account.updated&limit=1')).cursor;
    t.equal(await status(`?cursor=${filtered}`), 400);
    t.equal(await status(`?cursor=${filtered}&type=account.created`), 400);
    t.equal(await status(`?cursor=${filtered}&type=account.updated`), 200);
    const polling = (await page('?type=account.updated&after=latest')).cursor;
    t.equal(await status(`?after=${polling}`), 400);
  });
});
