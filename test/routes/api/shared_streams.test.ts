import { join } from 'node:path';
import t from 'tap';
import type { StreamMessage } from '../../../actors/recordings/stream.js';
import type { Stream } from '../../../actors/recordings/stream_state.js';
import { sha256Of } from '../../../kits/typescript/src/device_client.js';
import { partitionOfId, privateWorkspaceId, streamOfChunk } from '../../../src/domain/ids.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { pcm16Format, writeWav } from '../../../src/engine/audio/wav.js';
import { randomId } from '../../../src/engine/random/random.js';
import { TestAccount } from '../../fixtures/account.js';
import { record } from '../../fixtures/recording.js';
import { TestSpool } from '../../fixtures/spool.js';
import { bytesLying } from '../../fixtures/stored_audio.js';
import { until } from '../../fixtures/until.js';

type Page = { items: { id: string; title: string | null }[]; cursor: string | null };
type Intent = { chunk_id: string; upload_path: string };

const wav = writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: 1_000 }) }, Buffer.alloc(200, 7));
const captured_at = '2026-11-01T10:00:00.000Z';

t.test('streams in shared workspaces', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test'); // owns the workspaces
  const bob = await TestAccount.open(spool, 'bob@x.test'); // records
  const cy = await TestAccount.open(spool, 'cy@x.test'); // listens
  const dee = await TestAccount.open(spool, 'dee@x.test'); // belongs to nothing
  const source = await bob.ask<{ id: string }>('POST', '/sources', { name: 'Desk' });

  /** Registered as a recorder session does it: the session says which workspace. */
  const register = async (workspace_id: string, title: string | null = null) => {
    const id = randomId({ partition: partitionOfId(bob.id), now_ms: spool.server.services.clock.now() });
    const message: StreamMessage = {
      ...{ type: 'register', account_id: bob.id, workspace_id, source_id: source.id, recorder: null },
      ...{ captured_at, title, end_ms: null, silent: false },
    };
    const stream = await spool.server.services.runtime.askDownstream<Stream>({ kind: 'stream', id }, message);
    if (isRefusal(stream)) throw new Error(stream.message);
    return id;
  };
  const recorded = async (id: string) => {
    const { chunk_id, upload_path } = await bob.ask<Intent>('POST', `/audio/streams/${id}/chunks/intents`, {
      ...{ source_chunk_ref: randomId({ partition: 0, now_ms: 0 }), sequence: 0, codec: 'x', container: 'wav' },
      ...{
        source_start_ms: 0,
        publication_start_ms: 0,
        source_end_ms: 100,
        size_bytes: wav.length,
        sha256: sha256Of(wav),
      },
    });
    const sent = await fetch(spool.base_url + upload_path, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${bob.app.access_token}` },
      body: Uint8Array.from(wav),
    });
    t.equal(sent.status, 200);
    await bob.ask('POST', `/audio/streams/${id}/signals`, {
      signals: [{ ref: 'a', type: 'a', start_ms: 0, payload: { a: 1 } }],
    });
    return chunk_id;
  };
  const readsOf = (id: string, chunk_id: string) => [
    ...['', '/chunks', '/content', '/signals'].map((rest) => `/audio/streams/${id}${rest}`),
    `/audio/chunks/${chunk_id}/content`,
  ];
  const status = async (who: TestAccount, path: string) => (await who.app.send('GET', path)).status;
  const inWorkspace = async (who: TestAccount, id: string, query = '') =>
    (await who.ask<Page>('GET', `/audio/streams?workspace_id=${id}${query}`)).items.map((stream) => stream.id);
  const streamsOf = (who: TestAccount) => inWorkspace(who, privateWorkspaceId(who.id, 1));
  const bytesOf = (id: string) => bytesLying(join(spool.folder, 'blobs'), id);
  const workDone = (what: string, done: () => boolean | Promise<boolean>) =>
    until(what, async () => {
      await spool.operator.ask('POST', '/ops/clock', { advance_ms: 1 });
      return done();
    });

  await t.test('G-019 K-310 members read, the owner writes, nobody else sees it', async (t) => {
    const team = await ann.workspace('Team');
    await ann.bring(team.id, [bob, cy]);
    const first = await register(team.id, 'First');
    const second = await register(team.id);
    const chunk_id = await recorded(first);
    for (const path of readsOf(first, chunk_id)) {
      for (const who of [ann, bob, cy]) t.equal(await status(who, path), 200, `${who.email} ${path}`);
      t.equal(await status(dee, path), 404, path);
    }
    for (const who of [ann, bob, cy]) t.same(await inWorkspace(who, team.id), [second, first]);
    const page = await cy.ask<Page>('GET', `/audio/streams?workspace_id=${team.id}&limit=1`);
    t.same(
      page.items.map(({ id }) => id),
      [second],
    );
    t.same(await inWorkspace(cy, team.id, `&limit=1&cursor=${page.cursor}`), [first]);
    t.equal(await dee.says('GET', `/audio/streams?workspace_id=${team.id}`), '404 NOT_FOUND');
    t.same((await cy.ask<Page>('GET', '/audio/streams')).items, [], 'without a filter: the own ones');
    const signal = { signals: [{ ref: 'b', type: 'b', start_ms: 0 }] };
    const writes: [string, string, unknown][] = [
      ['PATCH', '', { title: 'x' }],
      ['PATCH', '', { starred: true }],
      ['POST', '/end', { end_ms: 100 }],
      ['POST', '/signals', signal],
    ];
    for (const [method, rest, body] of writes) {
      const path = `/audio/streams/${first}${rest}`;
      for (const who of [ann, cy]) t.equal(await who.says(method, path, body), '403 FORBIDDEN', `${who.email} ${path}`);
      t.equal(await dee.says(method, path, body), '404 NOT_FOUND');
      t.equal(await bob.says(method, path, body), '200', path);
    }
    t.same(await inWorkspace(bob, privateWorkspaceId(bob.id, 1)), [], 'it is not in the private one');
    await bob.ask('PATCH', `/audio/streams/${first}`, { starred: true, tags: ['Mine'] });
    for (const who of [ann, cy]) {
      const shown = await who.ask('GET', `/audio/streams/${first}?include=tags`);
      t.match(shown, { starred: null, tags: null }, 'K-310 a star and tags are seen by the owner alone');
      for (const marks of ['tag=mine', 'starred=true']) t.same(await inWorkspace(who, team.id, `&${marks}`), []);
    }
    for (const marks of ['tag=mine', 'starred=true']) t.same(await inWorkspace(bob, team.id, `&${marks}`), [first]);
    await cy.ask('POST', `/workspaces/${team.id}/leave`);
    for (const path of readsOf(first, chunk_id)) t.equal(await status(cy, path), 404, 'no member any more');
    await bob.ask('POST', `/workspaces/${team.id}/leave`);
    for (const path of readsOf(first, chunk_id)) t.equal(await status(bob, path), 200, 'its owner still reads');
    t.equal(await bob.says('PATCH', `/audio/streams/${first}`, { title: 'Last' }), '200', 'and writes');
    t.equal(await bob.says('GET', `/audio/streams?workspace_id=${team.id}`), '404 NOT_FOUND');
  });

  await t.test("I-015 a deleted workspace's streams are not there for their recorder either, at once", async (t) => {
    const team = await ann.workspace('Meeting');
    const session = await spool.hostSession(ann.app, { workspace_id: team.id });
    const { device, epoch: binding_epoch } = session;
    const { chunk_id, bytes, source_stream_ref, source_chunk_ref } = await record(device, session);
    await ann.ask('DELETE', `/workspaces/${team.id}`);
    const refs = { source_stream_ref, binding_epoch };
    for (const gone of [
      device.upload(`/device/chunks/${chunk_id}/content`, bytes),
      device.ask('GET', `/device/chunks/${chunk_id}`),
      device.ask('POST', '/device/chunks/status', { ...refs, source_chunk_refs: [source_chunk_ref] }),
      device.ask('GET', `/device/streams/${source_stream_ref}/gaps?binding_epoch=${binding_epoch}`),
      device.ask('POST', '/device/streams/end', { ...refs, end_ms: 1_000 }),
    ])
      await t.rejects(gone, { status: 404, code: 'NOT_FOUND' });
    t.match(await device.ask('POST', '/device/session/end', { binding_epoch }), { end_reason: 'recorder' });
  });

  await t.test('what a recorder still has after its workspace was deleted goes to the host alone', async (t) => {
    const team = await ann.workspace('Deleted');
    await ann.bring(team.id, [bob]);
    const session = await spool.hostSession(bob.app, { workspace_id: team.id });
    const { device, epoch: binding_epoch } = session;
    const { source_stream_ref, source_chunk_ref, bytes } = await record(device, session);
    await ann.ask('DELETE', `/workspaces/${team.id}`);
    const later = await record(device, session);
    t.same(await streamsOf(bob), [streamOfChunk(later.chunk_id)?.stream_id], 'a later stream');

    // As kits do it: what is not there any more is registered and announced again.
    const again = { source_stream_ref, captured_at, clock_uncertainty_ms: 0, binding_epoch };
    const { id } = await device.ask<Stream>('POST', '/device/streams', again);
    t.match(await device.ask('POST', '/device/streams', again), { id }, 'the same again');
    const intent = await device.ask<Intent>('POST', '/device/chunks/intents', {
      ...{ source_chunk_ref, source_stream_ref, binding_epoch, sequence: 0 },
      ...{ source_start_ms: 0, publication_start_ms: 0, source_end_ms: 1_000, codec: 'opus', container: 'ogg' },
      ...{ size_bytes: bytes.length, sha256: sha256Of(bytes) },
    });
    t.match(await device.upload(intent.upload_path, bytes), { status: 'stored' });
    t.match(await device.ask('POST', '/device/streams/end', { source_stream_ref, binding_epoch, end_ms: 1_000 }), {
      id,
    });
    t.ok((await streamsOf(bob)).includes(id));
    t.equal(await status(ann, `/audio/streams/${id}`), 404, 'and to nobody else');
  });

  await t.test('a recording that a person deleted does not come back when its workspace is deleted', async (t) => {
    const team = await ann.workspace('Deleted twice');
    await ann.bring(team.id, [bob]);
    const session = await spool.hostSession(bob.app, { workspace_id: team.id });
    const { device, epoch: binding_epoch } = session;
    const { source_stream_ref, chunk_id } = await record(device, session);
    await bob.ask('DELETE', `/audio/streams/${streamOfChunk(chunk_id)?.stream_id}`);
    await ann.ask('DELETE', `/workspaces/${team.id}`);
    const again = { source_stream_ref, captured_at, clock_uncertainty_ms: 0, binding_epoch };
    await t.rejects(device.ask('POST', '/device/streams', again), { status: 404, message: /deleted/ });
  });

  await t.test('a host who was removed from the workspace brings nothing new into it, and loses nothing', async (t) => {
    const team = await ann.workspace('Left');
    await ann.bring(team.id, [bob]);
    const session = await spool.hostSession(bob.app, { workspace_id: team.id });
    const { device, epoch: binding_epoch } = session;
    const { source_stream_ref, chunk_id, bytes } = await record(device, session);
    t.equal(await ann.says('DELETE', `/workspaces/${team.id}/members/${bob.id}`), '204');
    const own = await record(device, session);
    t.ok(
      (await streamsOf(bob)).includes(streamOfChunk(own.chunk_id)?.stream_id as string),
      'it goes to the host alone',
    );
    t.equal(await status(ann, `/audio/chunks/${own.chunk_id}/content`), 404);
    t.equal((await inWorkspace(ann, team.id)).length, 1);
    const again = { source_stream_ref, captured_at, clock_uncertainty_ms: 0, binding_epoch };
    t.match(await device.ask('POST', '/device/streams', again), { source_stream_ref }, 'what was begun goes on');
    t.match(await device.upload(`/device/chunks/${chunk_id}/content`, bytes), { status: 'stored' });
    const view = await bob.ask<{ status: string }>('GET', `/device-sessions/${binding_epoch}`);
    t.equal(view.status, 'open', 'the session goes on');
    await ann.bring(team.id, [bob]);
    await record(device, session);
    t.equal((await inWorkspace(ann, team.id)).length, 2, 'back again');
  });

  await t.test('I-015 a stream that comes when its workspace is gone goes as well', async (t) => {
    const team = await ann.workspace('Short');
    t.equal(await ann.says('DELETE', `/workspaces/${team.id}`), '204');
    const id = await register(team.id);
    t.equal(await status(bob, `/audio/streams/${id}`), 404);
    const { store } = spool.server.services;
    await workDone('it is gone', async () => {
      const place = { owner: bob.id, partition: partitionOfId(bob.id) };
      const left = await store.list(place, 'streams', { descending: false, limit: 500 });
      return !left.some(({ member }) => member === id);
    });
  });

  await t.test(
    'I-015 streams of a deleted workspace are not there, and go with their bytes, also after a restart',
    async (t) => {
      const team = await ann.workspace('Gone');
      await ann.bring(team.id, [bob, cy]);
      const id = await register(team.id);
      const chunk_id = await recorded(id);
      const others = await Promise.all(Array.from({ length: 12 }, () => register(team.id)));
      t.equal((await bytesOf(id)).length, 1);
      await bob.ask('POST', `/workspaces/${team.id}/leave`);
      await bob.newEvents();
      t.equal(await ann.says('DELETE', `/workspaces/${team.id}`), '204');
      for (const who of [ann, bob, cy])
        for (const path of readsOf(id, chunk_id))
          t.equal(await status(who, path), 404, `at once: ${who.email} ${path}`);
      t.equal(await bob.says('PATCH', `/audio/streams/${id}`, { title: 'x' }), '404 NOT_FOUND');
      const own = (await bob.ask<Page>('GET', '/audio/streams?limit=100')).items.map((stream) => stream.id);
      t.notOk(own.includes(id));
      await spool.close();
      await spool.open();
      const { store, runtime } = spool.server.services;
      const place = { owner: bob.id, partition: partitionOfId(bob.id) };
      const listed = async (list: string) =>
        (await store.list(place, list, { descending: false, limit: 500 })).map(({ member }) => member);
      await workDone('its streams are gone', async () => {
        const left = await listed('streams');
        return ![id, ...others].some((gone) => left.includes(gone));
      });
      t.notOk((await listed(`streams:${source.id}`)).some((gone) => [id, ...others].includes(gone)));
      t.equal((await bytesOf(id)).length, 0, 'with their bytes');
      for (const kind of ['stream', 'signals']) {
        const address = { kind, id };
        const [stored] = await store.load([{ address, partition: place.partition }]);
        t.ok(stored === null || stored === undefined || stored.snapshot.length < 20, `nothing of its ${kind}`);
      }
      const [payloads] = await store.query({ address: { kind: 'signals', id }, partition: place.partition }, [
        { collection: 'signals', range: { limit: 9 } },
      ]);
      t.same(payloads?.rows, []);
      const rest = await store.query(runtime.locate({ kind: 'workspace', id: team.id }), [
        { collection: 'streams', range: { limit: 9 } },
      ]);
      t.same(rest[0]?.rows, [], 'the workspace knows of none');
    },
  );
});
