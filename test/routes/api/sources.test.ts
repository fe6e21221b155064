import { randomUUID } from 'node:crypto';
import t from 'tap';
import { TestAccount } from '../../fixtures/account.js';
import { record } from '../../fixtures/recording.js';
import { TestSpool } from '../../fixtures/spool.js';

type SourceView = { id: string; name: string | null; device_id: string | null; created_at: string };
type StreamView = { id: string; source_id: string; workspace_id: string; title: string | null; end_ms?: number };
type Page<Item> = { items: Item[]; cursor: string | null };

const captured_at = '2026-11-01T10:00:00.000Z';
const UNKNOWN = randomUUID();

t.test('sources, and the streams that apps record', async (t) => {
  const spool = await TestSpool.start();
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const bob = await TestAccount.open(spool, 'bob@x.test');
  const newSource = (name?: string | null) => ann.ask<SourceView>('POST', '/sources', { name });
  const newStream = (source_id: string, title?: string) =>
    ann.ask<StreamView>('POST', '/audio/streams', { source_id, captured_at, title });
  const idsOf = async (path: string) => (await ann.ask<Page<{ id: string }>>('GET', path)).items.map(({ id }) => id);

  await t.test('K-001 a source is registered, renamed and listed', async (t) => {
    const desk = await newSource('  Desk ');
    t.match(desk, { name: 'Desk', device_id: null, created_at: /Z$/ });
    t.strictSame(await ann.ask('GET', `/sources/${desk.id}`), desk);
    const renamed = await ann.ask<SourceView>('PATCH', `/sources/${desk.id}`, { name: 'Table' });
    t.strictSame(renamed, { ...desk, name: 'Table' });
    t.equal((await ann.ask<SourceView>('PATCH', `/sources/${desk.id}`, { name: 'Table' })).name, 'Table');
    t.equal((await ann.ask<SourceView>('PATCH', `/sources/${desk.id}`, { name: null })).name, null);
    const nameless = await newSource();
    t.equal(nameless.name, null);
    t.same(await ann.newEvents(), [
      `source.created ${desk.id}`,
      `source.updated ${desk.id} name`,
      `source.updated ${desk.id} name`,
      `source.created ${nameless.id}`,
    ]);
    t.same(await idsOf('/sources'), [nameless.id, desk.id], 'newest first');
    const first = await ann.ask<Page<SourceView>>('GET', '/sources?limit=1');
    t.same(first.items, [nameless]);
    t.same(await idsOf(`/sources?limit=1&cursor=${first.cursor}`), [desk.id]);
    for (const name of ['', ' ', 'x'.repeat(81), 7])
      t.equal(await ann.says('POST', '/sources', { name }), '400 BAD_REQUEST');
    t.equal(await ann.says('PATCH', `/sources/${desk.id}`, {}), '400 BAD_REQUEST', 'a name must be said');
    for (const method of ['GET', 'PATCH', 'DELETE'])
      for (const id of [desk.id, UNKNOWN, 'x'])
        t.equal(
          await bob.says(method, `/sources/${id}`, method === 'PATCH' ? { name: 'x' } : undefined),
          '404 NOT_FOUND',
        );
    t.same((await bob.ask<Page<SourceView>>('GET', '/sources')).items, []);
  });

  await t.test('K-018 X-36 reading takes audio:read or turns:read, writing audio:write', async (t) => {
    const source = await newSource();
    const stream = await newStream(source.id);
    const writes: [string, string, unknown?][] = [
      ['POST', '/sources', {}],
      ['PATCH', `/sources/${source.id}`, { name: 'x' }],
      ['DELETE', `/sources/${source.id}`],
      ['POST', '/audio/streams', { source_id: source.id, captured_at }],
      ['PATCH', `/audio/streams/${stream.id}`, { title: 'x' }],
      ['POST', `/audio/streams/${stream.id}/end`, { end_ms: 1 }],
      ['POST', `/audio/streams/${stream.id}/chunks/intents`, {}],
      ['PUT', `/audio/chunks/${stream.id}/content`],
    ];
    const reads = [`/sources`, `/sources/${source.id}`, '/audio/streams', `/audio/streams/${stream.id}`];
    const says = async (permissions: string[], method: string, path: string, body?: unknown) => {
      const { value } = await ann.ask<{ value: string }>('POST', '/me/tokens', {
        ...{ name: 'test', permissions, expires_at: null },
      });
      const app = spool.client();
      app.access_token = value;
      return (await app.send(method, path, { body })).status;
    };
    for (const [method, path, body] of writes) t.equal(await says(['audio:read'], method, path, body), 403, path);
    for (const path of reads) {
      t.equal(await says(['audio:read'], 'GET', path), 200, path);
      t.equal(await says(['turns:read'], 'GET', path), 200, path);
      t.equal(await says(['audio:write'], 'GET', path), 403, path);
    }
    await ann.entitle('audio.access', false);
    for (const [method, path, body] of writes) t.equal(await ann.says(method, path, body), '403 FORBIDDEN', path);
    await ann.entitle('audio.access', true);
    await ann.newEvents();
  });

  await t.test('K-003 H-037 an app registers a stream, names it and ends it', async (t) => {
    const source = await newSource('Phone');
    await ann.newEvents();
    const stream = await newStream(source.id, 'First');
    t.match(stream, {
      source_id: source.id,
      title: 'First',
      captured_at,
      source_device_id: null,
      clock_uncertainty_ms: null,
    });
    t.notOk('end_ms' in stream);
    const path = `/audio/streams/${stream.id}`;
    t.equal((await ann.ask<StreamView>('PATCH', path, { title: ' Second ' })).title, 'Second');
    t.equal((await ann.ask<StreamView>('PATCH', path, { title: 'Second' })).title, 'Second');
    t.equal((await ann.ask<StreamView>('POST', `${path}/end`, { end_ms: 5 })).end_ms, 5);
    t.equal((await ann.ask<StreamView>('POST', `${path}/end`, { end_ms: 5 })).end_ms, 5);
    t.equal(await ann.says('POST', `${path}/end`, { end_ms: 6 }), '409 CONFLICT');
    t.same(await ann.newEvents(), [
      `stream.created ${stream.id} ${source.id}`,
      `stream.updated ${stream.id} title ${source.id}`,
      `stream.updated ${stream.id} end_ms ${source.id}`,
    ]);
    t.equal((await ann.ask<StreamView>('GET', path)).title, 'Second');
    for (const title of ['', 'x'.repeat(201), 1]) t.equal(await ann.says('PATCH', path, { title }), '400 BAD_REQUEST');
    const registers = (body: unknown) => ann.says('POST', '/audio/streams', body);
    t.equal(await registers({ source_id: UNKNOWN, captured_at }), '404 NOT_FOUND');
    t.equal(await registers({ source_id: source.id, captured_at: 'today' }), '400 BAD_REQUEST');
    t.equal(await registers({ captured_at }), '400 BAD_REQUEST');
    t.equal(await bob.says('POST', '/audio/streams', { source_id: source.id, captured_at }), '404 NOT_FOUND');
    for (const method of ['GET', 'PATCH']) t.equal(await bob.says(method, path, { title: 'x' }), '404 NOT_FOUND');
  });

  await t.test('K-003 streams are listed by source and by workspace', async (t) => {
    const [one, two] = [await newSource('one'), await newSource('two')];
    const a = await newStream(one.id);
    const b = await newStream(two.id);
    const c = await newStream(one.id);
    t.same(await idsOf(`/audio/streams?source_id=${one.id}`), [c.id, a.id]);
    t.same(await idsOf(`/audio/streams?source_id=${two.id}`), [b.id]);
    const first = await ann.ask<Page<StreamView>>('GET', `/audio/streams?source_id=${one.id}&limit=1`);
    t.same(
      first.items.map(({ id }) => id),
      [c.id],
    );
    t.same(await idsOf(`/audio/streams?source_id=${one.id}&limit=1&cursor=${first.cursor}`), [a.id]);
    t.same(await idsOf(`/audio/streams?source_id=${UNKNOWN}`), []);
    t.same((await idsOf(`/audio/streams?workspace_id=${a.workspace_id}`)).slice(0, 3), [c.id, b.id, a.id]);
    t.same((await bob.ask<Page<StreamView>>('GET', `/audio/streams?source_id=${one.id}`)).items, []);
    t.equal(await bob.says('GET', `/audio/streams?workspace_id=${a.workspace_id}`), '404 NOT_FOUND');
    t.equal(
      await ann.says('GET', `/audio/streams?source_id=${one.id}&workspace_id=${a.workspace_id}`),
      '400 BAD_REQUEST',
    );
  });

  await t.test('K-001 a source deleted while its list is read is left out', async (t) => {
    const [kept, deleted] = [await newSource('kept'), await newSource('deleted')];
    const { store } = spool.server.services;
    const list = store.list.bind(store);
    store.list = async (...query) => {
      store.list = list;
      const rows = await list(...query);
      await ann.ask('DELETE', `/sources/${deleted.id}`);
      return rows;
    };
    const ids = await idsOf('/sources');
    t.ok(ids.includes(kept.id));
    t.notOk(ids.includes(deleted.id));
    t.equal(store.list, list, 'it was deleted in between');
    await ann.newEvents();
  });

  await t.test('K-002 K-019 H-037 deleting a source is the last that is told of it', async (t) => {
    const { device, epoch } = await spool.boundDevice(ann.app);
    const { chunk_id } = await record(device, { epoch });
    const [stream] = (await ann.ask<Page<StreamView>>('GET', '/audio/streams?limit=1')).items as [StreamView];
    const { source_id } = stream;
    const before = await ann.newEvents();
    t.ok(before.includes(`source.created ${source_id}`));
    t.same(await ann.says('DELETE', `/sources/${source_id}`), '204');
    for (const method of ['GET', 'DELETE', 'PATCH'])
      t.equal(await ann.says(method, `/sources/${source_id}`, { name: 'x' }), '404 NOT_FOUND', `${method}: gone`);
    t.notOk((await idsOf('/sources')).includes(source_id));
    t.equal(await ann.says('POST', '/audio/streams', { source_id, captured_at }), '404 NOT_FOUND');
    t.equal((await ann.ask<StreamView>('GET', `/audio/streams/${stream.id}`)).id, stream.id, 'its streams stay');
    t.same(await idsOf(`/audio/streams?source_id=${source_id}`), [stream.id]);
    t.equal((await ann.app.send('GET', `/audio/chunks/${chunk_id}/content`)).status, 200);
    t.equal((await ann.ask<StreamView>('PATCH', `/audio/streams/${stream.id}`, { title: 'Kept' })).title, 'Kept');
    t.equal((await ann.ask<StreamView>('POST', `/audio/streams/${stream.id}/end`, { end_ms: 1000 })).end_ms, 1000);
    await record(device, { epoch });
    t.same(await ann.newEvents(), [`source.deleted ${source_id}`], 'not of new streams either');
    const { claim } = await ann.ask<{ claim: string }>('POST', '/devices/claims', { kind: 'owner' });
    const again = await device.ask<{ binding_epoch: string }>('POST', '/device/claims/redeem', { claim });
    await record(device, { epoch: again.binding_epoch });
    const [created, streamed] = await ann.newEvents();
    t.match(created, /^source\.created /, 'the next binding makes another source');
    t.notMatch(created, source_id);
    t.match(streamed, /^stream\.created /);
  });

  await t.test('K-002 H-037 what is under way when its source is deleted tells of nothing any more', async (t) => {
    const { store } = spool.server.services;
    const { commit } = store;
    /** Deletes the source when the first commit of a stream is about to reach storage. */
    const deleteBefore = (source_id: string) => {
      let deleted: Promise<string> | null = null;
      store.commit = async (sent) => {
        if (sent.place.address.kind === 'stream') {
          deleted ??= ann.says('DELETE', `/sources/${source_id}`);
          t.equal(await deleted, '204');
        }
        return commit.call(store, sent);
      };
    };
    t.teardown(() => {
      store.commit = commit;
    });
    for (const what of ['end', 'title', 'register']) {
      const source = await newSource();
      const { id } = await newStream(source.id);
      await ann.newEvents();
      deleteBefore(source.id);
      if (what === 'end') t.equal(await ann.says('POST', `/audio/streams/${id}/end`, { end_ms: 9 }), '200');
      if (what === 'title') t.equal(await ann.says('PATCH', `/audio/streams/${id}`, { title: 'x' }), '200');
      if (what === 'register')
        t.equal(await ann.says('POST', '/audio/streams', { source_id: source.id, captured_at }), '404 NOT_FOUND');
      store.commit = commit;
      t.same(await ann.newEvents(), [`source.deleted ${source.id}`], what);
      const stream = await ann.ask<StreamView>('GET', `/audio/streams/${id}`);
      if (what === 'end') t.equal(stream.end_ms, 9, 'done all the same');
      if (what === 'title') t.equal(stream.title, 'x');
    }
  });
});
