import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import https from 'node:https';
import tls from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import type { CallRefused } from '../../../kits/typescript/src/call.js';
import {
  type BindingView,
  DeviceClient,
  type IntentView,
  sha256Of,
} from '../../../kits/typescript/src/device_client.js';
import { ROUTES } from '../../../routes/index.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { decodeCbor, encodeCbor } from '../../../src/engine/wire/cbor.js';
import type { AppClient } from '../../fixtures/app_client.js';
import { TestSpool } from '../../fixtures/spool.js';
import { until } from '../../fixtures/until.js';

const HOUR_MS = 3_600_000;
/** Nil, max, no version, the first one, and a variant of others. */
const ANY_UUIDS = [
  '00000000-0000-0000-0000-000000000000',
  'FFFFFFFF-ffff-ffff-ffff-ffffffffffff',
  '11111111-1111-1111-1111-111111111111',
  'c232ab00-9414-11ec-b3c8-9f6bdeced846',
  '00000000-0000-f000-c000-000000000001',
];

t.test('devices', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const newClaim = (app: AppClient) =>
    app.ask<{ claim: string; kind: string; expires_at: string }>('POST', '/devices/claims', { kind: 'owner' });
  const redeem = (device: DeviceClient, claim: string) =>
    device.ask<BindingView>('POST', '/device/claims/redeem', { claim });

  await t.test('H-001 a device without certificate is told so on every route, whatever bearer it has', async (t) => {
    const { app } = await spool.signIn('bearer@x.test');
    const nobody = new DeviceClient(spool.device_url, null);
    t.teardown(() => nobody.close());
    for (const { method, path } of ROUTES.device) {
      const answer = await nobody.send(method, path.replaceAll(/:[a-z_]+/g, randomUUID()), {
        headers: { Authorization: `Bearer ${app.access_token}` },
      });
      t.equal(answer.status, 401, path);
      t.match(JSON.parse(answer.body.toString()), { error: { code: 'UNAUTHORIZED', reason: 'missing' } });
      t.ok(answer.headers['www-authenticate']);
    }
  });

  await t.test('H-001 a revoked certificate stops with the next request, and its connections close', async (t) => {
    const { app } = await spool.signIn('revoked@x.test');
    const { device, device_id } = await spool.boundDevice(app);
    t.equal((await device.send('POST', '/device/heartbeat')).status, 200);
    await spool.operator.ask('DELETE', `/ops/devices/${device_id}/certificate`);
    const beat = () => device.send('POST', '/device/heartbeat');
    const answer = await beat().catch(beat); // the connection that was kept is closed; a new one is told why
    t.equal(answer.status, 403);
    t.match(JSON.parse(answer.body.toString()), { error: { code: 'FORBIDDEN' } });
  });

  await t.test('H-001 an expired certificate stops with the next request on a kept connection', async (t) => {
    const { app } = await spool.signIn('expired@x.test');
    const { device } = await spool.boundDevice(app);
    t.equal((await device.send('POST', '/device/heartbeat')).status, 200);
    await spool.operator.advanceClock(90 * 24 * HOUR_MS);
    const answer = await device.send('POST', '/device/heartbeat');
    t.equal(answer.status, 401);
    t.match(JSON.parse(answer.body.toString()), { error: { code: 'UNAUTHORIZED', reason: 'expired' } });
  });

  await t.test('H-001 a connection with a certificate that is refused is closed', async (t) => {
    const { app } = await spool.signIn('closed@x.test');
    const { device } = await spool.boundDevice(app);
    t.equal((await device.send('POST', '/device/heartbeat')).headers.connection, 'keep-alive');
    await spool.operator.advanceClock(90 * 24 * HOUR_MS);
    t.equal((await device.send('POST', '/device/heartbeat')).headers.connection, 'close');
  });

  await t.test('H-003 H-004 H-005 JSON and CBOR both ways, with the same content', async (t) => {
    const { app } = await spool.signIn('formats@x.test');
    const { device, epoch } = await spool.boundDevice(app);
    const body = {
      source_stream_ref: randomUUID(),
      captured_at: '2026-01-01T00:00:00Z',
      clock_uncertainty_ms: 5,
      binding_epoch: epoch,
    };
    const send = (bytes: Uint8Array, type: string | undefined, accept: string | undefined) =>
      device.send('POST', '/device/streams', {
        body: bytes,
        headers: {
          ...(type === undefined ? {} : { 'Content-Type': type }),
          ...(accept === undefined ? {} : { Accept: accept }),
        },
      });
    const json = Buffer.from(JSON.stringify(body));
    const answers = [
      await send(json, 'application/json', undefined),
      await send(json, 'application/json', '*/*'),
      await send(encodeCbor(body), 'application/cbor', 'application/json'),
      await send(encodeCbor(body), 'application/cbor', 'application/cbor'),
    ];
    t.same(
      answers.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    const [first, ...others] = answers.map(({ headers, body: answer }) => {
      if (headers['content-type'] !== 'application/cbor') return JSON.parse(answer.toString());
      const decoded = decodeCbor(answer);
      return decoded.ok ? decoded.value : decoded;
    });
    for (const other of others) t.same(other, first);
    t.equal(answers[3]?.headers['content-type'], 'application/cbor');
    t.equal(answers[0]?.headers['x-api-version'], '1');
    t.match(answers[0]?.headers.vary, /Accept/);
    t.equal((await send(json, 'text/plain', undefined)).status, 415);
    t.equal((await send(json, undefined, undefined)).status, 415);
    t.equal((await send(json, 'application/json', 'image/png')).status, 406);
    const beat = (type: string, bytes = json) =>
      device.send('POST', '/device/heartbeat', { body: bytes, headers: { 'Content-Type': type } });
    t.equal((await beat('text/plain')).status, 415, 'also where no body is looked at');
    t.equal((await beat('application/json')).status, 200);
    t.equal((await beat('text/plain', Buffer.alloc(0))).status, 200, 'no body has no type');
    const refused = await send(json, 'text/plain', 'application/cbor');
    t.match(decodeCbor(refused.body), {
      ok: true,
      value: { success: false, error: { code: 'UNSUPPORTED_MEDIA_TYPE' } },
    });
  });

  await t.test('H-005 CBOR may send the bytes of UUIDs and hashes, and timestamps with their tag', async (t) => {
    const { app } = await spool.signIn('bytes@x.test');
    const { device, epoch } = await spool.boundDevice(app);
    const ref = randomUUID();
    const open = { captured_at: '2026-01-01T00:00:00Z', clock_uncertainty_ms: 0, binding_epoch: epoch, end_ms: null };
    const registered = await device.ask<object>('POST', '/device/streams', {
      source_stream_ref: randomUUID(),
      ...open,
    });
    t.notOk('end_ms' in registered, 'a null is as good as absent');
    const bytes = (uuid: string) => new Uint8Array(Buffer.from(uuid.replaceAll('-', ''), 'hex'));
    const stream = await device.ask('POST', '/device/streams', {
      source_stream_ref: bytes(ref),
      captured_at: '2026-01-01T01:00:00+01:00',
      clock_uncertainty_ms: 0,
      binding_epoch: bytes(epoch),
    });
    t.match(stream, { source_stream_ref: ref, binding_epoch: epoch, captured_at: '2026-01-01T00:00:00.000Z' });
  });

  await t.test('H-012 a reference of a device is any UUID, of no version in particular', async (t) => {
    const { app } = await spool.signIn('versions@x.test');
    const { device, epoch: binding_epoch } = await spool.boundDevice(app);
    for (const ref of ANY_UUIDS) {
      const metadata = { captured_at: '2026-01-01T00:00:00Z', clock_uncertainty_ms: 0, binding_epoch };
      const stream = await device.ask<{ source_stream_ref: string }>('POST', '/device/streams', {
        ...{ source_stream_ref: ref, ...metadata },
      });
      t.equal(stream.source_stream_ref, ref.toLowerCase());
      const bytes = randomBytes(16);
      const intent = await device.ask<IntentView>('POST', '/device/chunks/intents', {
        ...{ source_chunk_ref: ref, source_stream_ref: ref, sequence: 0, binding_epoch },
        ...{ source_start_ms: 0, publication_start_ms: 0, source_end_ms: 10, codec: 'opus', container: 'ogg' },
        ...{ size_bytes: bytes.length, sha256: sha256Of(bytes) },
      });
      t.match(await device.upload(intent.upload_path, bytes), { source_chunk_ref: ref.toLowerCase() });
      const gaps = await device.send('GET', `/device/streams/${ref}/gaps?binding_epoch=${binding_epoch}`);
      t.equal(gaps.status, 200, ref);
      await t.rejects(
        device.ask('POST', '/device/streams/end', { source_stream_ref: ref, end_ms: 10, binding_epoch: ref }),
        { status: 403, code: 'DEVICE_UNBOUND' },
      );
    }
  });

  await t.test('H-027 H-028 H-032 an owner claim binds a personal device, whatever its ble_address says', async (t) => {
    const { app, session } = await spool.signIn('owner@x.test');
    const { claim, kind, expires_at } = await newClaim(app);
    t.equal(kind, 'owner');
    t.ok(Math.abs(Date.parse(expires_at) - spool.server.services.clock.now() - HOUR_MS) < 10_000);
    const { device, device_id } = await spool.device();
    t.equal((await device.send('GET', '/device/binding')).status, 403);
    const bound = await device.ask<BindingView>('POST', '/device/claims/redeem', {
      claim,
      ble_address: 'not an address',
    });
    t.match(bound, { kind: 'owner', owner_user_id: session.user.id, source_device_id: device_id, session: null });
    t.match(bound, { limits: { chunk_bytes_max: LIMITS.chunk_bytes_max, open_intents_max: LIMITS.open_intents_max } });
    t.match(await redeem(device, claim), { binding_epoch: bound.binding_epoch }, 'the same again');
    t.match(await device.ask('GET', '/device/binding'), {
      binding_epoch: bound.binding_epoch,
      owner_user_id: session.user.id,
    });
  });

  await t.test(
    'H-028 H-034 another claim of its own account leaves a device its binding, and all it recorded',
    async (t) => {
      const { app } = await spool.signIn('twice@x.test');
      const { device, device_id, epoch } = await spool.boundDevice(app);
      const register = (binding_epoch: string, source_stream_ref: string) =>
        device.ask<{ id: string }>('POST', '/device/streams', {
          ...{ source_stream_ref, binding_epoch, captured_at: '2026-01-01T00:00:00Z', clock_uncertainty_ms: 0 },
        });
      const ref = randomUUID();
      const stream = await register(epoch, ref);
      const [listed] = (await app.call('GET /devices', {})).items;
      const second = await newClaim(app);
      for (const again of [await redeem(device, second.claim), await redeem(device, second.claim)])
        t.match(again, { binding_epoch: epoch, source_device_id: device_id });
      t.equal((await register(epoch, ref)).id, stream.id, 'what was recorded under the epoch still comes');
      const { items } = await app.call('GET /devices', {});
      t.same(
        items.map(({ id, bound_at }) => [id, bound_at]),
        [[device_id, listed?.bound_at]],
      );
      const other = await spool.device();
      await t.rejects(redeem(other.device, second.claim), { status: 409, code: 'CONFLICT' });
      t.equal((await app.send('DELETE', `/devices/${device_id}`)).status, 204);
      await t.rejects(redeem(device, second.claim), { status: 403, code: 'DEVICE_UNBOUND' });
      t.not((await redeem(device, (await newClaim(app)).claim)).binding_epoch, epoch, 'a removed one begins anew');
    },
  );

  await t.test('H-007 a device that nobody has bound is told so on every route that needs it', async (t) => {
    const told = async (device: DeviceClient, path: string, method = 'GET', body?: Record<string, unknown>) => {
      const answer = await device.send(method, path, {
        ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
        headers: { 'Content-Type': 'application/json' },
      });
      const { error } = JSON.parse(answer.body.toString());
      return `${answer.status} ${error.code} ${error.message}`;
    };
    const unbound = /^403 DEVICE_UNBOUND The device is bound to no account/;
    const { app } = await spool.signIn('unbound@x.test');
    const removed = await spool.boundDevice(app);
    await app.send('DELETE', `/devices/${removed.device_id}`);
    for (const { device } of [await spool.device('personal'), await spool.device('shared'), removed]) {
      const binding_epoch = randomUUID();
      const source_stream_ref = randomUUID();
      const at_end = { source_stream_ref, binding_epoch, end_ms: 1 };
      const times = { source_start_ms: 0, publication_start_ms: 0, source_end_ms: 10 };
      const audio = { codec: 'opus', container: 'ogg', size_bytes: 1, sha256: '0'.repeat(64) };
      const intent = { source_chunk_ref: randomUUID(), source_stream_ref, binding_epoch, sequence: 0 };
      const metadata = {
        source_stream_ref,
        binding_epoch,
        captured_at: '2026-01-01T00:00:00Z',
        clock_uncertainty_ms: 0,
      };
      const refs = { source_stream_ref, binding_epoch, source_chunk_refs: [randomUUID()] };
      const calls: [string, string, Record<string, unknown>?][] = [
        ['GET', '/device/binding'],
        ['POST', '/device/heartbeat'],
        ['POST', '/device/session/end', { binding_epoch }],
        ['POST', '/device/streams', metadata],
        ['POST', '/device/streams/end', at_end],
        ['GET', `/device/streams/${source_stream_ref}/gaps?binding_epoch=${binding_epoch}`],
        ['POST', '/device/chunks/intents', { ...intent, ...times, ...audio }],
        ['PUT', `/device/chunks/${randomUUID()}/content`, {}],
        ['GET', `/device/chunks/${randomUUID()}`],
        ['POST', '/device/chunks/status', refs],
      ];
      for (const [method, path, body] of calls) t.match(await told(device, path, method, body), unbound, path);
      const free = ['/device/certificates/renew', '/device/claims/redeem'];
      t.equal(calls.length, ROUTES.device.filter(({ path }) => !free.includes(path)).length, 'these are all');
    }
  });

  await t.test('H-027 a claim redeemed many times at once by one device binds it once', async (t) => {
    const { app } = await spool.signIn('parallel@x.test');
    const { claim } = await newClaim(app);
    const { device } = await spool.device();
    const bindings = await Promise.all(Array.from({ length: 6 }, () => redeem(device, claim)));
    t.equal(new Set(bindings.map(({ binding_epoch }) => binding_epoch)).size, 1);
    const { items } = await app.ask<{ items: { type: string }[] }>('GET', '/events?type=source.created');
    t.equal(items.length, 1);
  });

  await t.test('H-031 claims that are unknown, expired, used or of the wrong kind', async (t) => {
    const { app } = await spool.signIn('claims@x.test');
    const { device } = await spool.device();
    const other = await spool.device();
    const shared = await spool.device('shared');
    const statusOf = async (who: DeviceClient, claim: string) =>
      redeem(who, claim).then(
        () => 200,
        (error: CallRefused) => error.status,
      );
    const used = await newClaim(app);
    await redeem(device, used.claim);
    t.equal(await statusOf(other.device, used.claim), 409);
    const fresh = await newClaim(app);
    const flipped = fresh.claim.slice(0, -2) + (fresh.claim.endsWith('AA') ? 'BB' : 'AA');
    for (const claim of ['x', 'spc_', '', flipped, `${fresh.claim}A`])
      t.equal(await statusOf(other.device, claim), 404, claim.slice(0, 6));
    t.equal(await statusOf(shared.device, fresh.claim), 409);
    t.equal(await statusOf(other.device, fresh.claim), 200, 'a claim that was refused is still good');
    const { app: stranger } = await spool.signIn('stranger@x.test');
    t.equal(await statusOf(device, (await newClaim(stranger)).claim), 409, 'bound to another account');
    const late = await newClaim(app);
    await spool.operator.advanceClock(HOUR_MS);
    const third = await spool.device();
    t.equal(await statusOf(third.device, late.claim), 404);
  });

  await t.test('the app lists its devices and removes them', async (t) => {
    const { app } = await spool.signIn('lists@x.test');
    const bound = [await spool.boundDevice(app), await spool.boundDevice(app), await spool.boundDevice(app)];
    type Page = { items: { id: string; bound_at: string; last_seen_at: string | null }[]; cursor: string | null };
    const first = await app.ask<Page>('GET', '/devices?limit=2');
    const rest = await app.ask<Page>('GET', `/devices?limit=2&cursor=${first.cursor}`);
    t.same(
      [...first.items, ...rest.items].map(({ id }) => id),
      bound.map(({ device_id }) => device_id).toReversed(),
    );
    t.equal(rest.cursor, null);
    t.same(Object.keys(first.items[0] ?? {}).sort(), ['bound_at', 'id', 'kind', 'last_seen_at', 'session_id']);
    for (const query of ['?cursor=x', '?limit=0', '?limit=101'])
      t.equal((await app.send('GET', `/devices${query}`)).status, 400);
    const { device, device_id, epoch } = bound[0] as (typeof bound)[0];
    t.equal((await app.send('DELETE', `/devices/${device_id}`)).status, 204);
    t.equal((await app.send('DELETE', `/devices/${device_id}`)).status, 404);
    t.equal((await app.ask<Page>('GET', '/devices')).items.length, 2);
    await t.rejects(device.ask('POST', '/device/heartbeat'), { code: 'DEVICE_UNBOUND' });
    const stream = {
      source_stream_ref: randomUUID(),
      captured_at: '2026-01-01T00:00:00Z',
      clock_uncertainty_ms: 0,
      binding_epoch: epoch,
    };
    await t.rejects(device.ask('POST', '/device/streams', stream), { code: 'DEVICE_UNBOUND' });
    const again = await redeem(device, (await newClaim(app)).claim);
    t.not(again.binding_epoch, epoch);
    const { items } = await app.ask<{ items: unknown[] }>('GET', '/events?type=source.created');
    t.equal(items.length, 3, 'the source is reused');
  });

  await t.test('E-032 heartbeats are no events and are written at most once a minute', async (t) => {
    const { app } = await spool.signIn('beat@x.test');
    const { device } = await spool.boundDevice(app);
    const before = (await app.ask<{ items: unknown[] }>('GET', '/events')).items.length;
    const beat = await device.ask<{ server_time: string }>('POST', '/device/heartbeat');
    t.equal(new Date(beat.server_time).toISOString(), beat.server_time);
    await spool.operator.advanceClock(2 * 60_000);
    await device.ask('POST', '/device/heartbeat');
    t.equal((await app.ask<{ items: unknown[] }>('GET', '/events')).items.length, before);
    const { items } = await app.ask<{ items: { last_seen_at: string }[] }>('GET', '/devices');
    t.ok(Math.abs(Date.parse(items[0]?.last_seen_at ?? '') - spool.server.services.clock.now()) < 10_000);
  });
});

t.test("H-001 the listener's own certificate is renewed while the server runs", async (t) => {
  const spool = await TestSpool.start();
  t.teardown(() => spool.end());
  const endsAt = () =>
    new Promise<number>((resolve, reject) => {
      const socket = tls.connect({ port: spool.server.ports.device, rejectUnauthorized: false }, () => {
        resolve(Date.parse(socket.getPeerCertificate().valid_to));
        socket.destroy();
      });
      socket.once('error', reject);
    });
  const { clock } = spool.server.services;
  const first_ms = await endsAt();
  await spool.operator.advanceClock(89 * 24 * HOUR_MS);
  t.equal(await endsAt(), first_ms, 'devices judge it by their own clocks, which no test moves');
  const later_ms = clock.now();
  clock.unmoved = () => later_ms;
  const lasts = async () => (await endsAt()) > later_ms + 30 * 24 * HOUR_MS;
  await until('it is renewed', lasts);
});

t.test('streams and chunks', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const { app, session } = await spool.signIn('streams@x.test');
  const { device, device_id, epoch } = await spool.boundDevice(app);
  const register = (more: object = {}) =>
    device.ask<{ id: string; end_ms?: number; source_stream_ref: string }>('POST', '/device/streams', {
      source_stream_ref: randomUUID(),
      captured_at: '2026-11-01T10:00:00.000Z',
      clock_uncertainty_ms: 12,
      binding_epoch: epoch,
      ...more,
    });
  const intentOf = (source_stream_ref: string, bytes: Uint8Array, more: object = {}) => ({
    source_chunk_ref: randomUUID(),
    source_stream_ref,
    sequence: 0,
    source_start_ms: 0,
    publication_start_ms: 0,
    source_end_ms: 1000,
    codec: 'opus',
    container: 'ogg',
    size_bytes: bytes.length,
    sha256: sha256Of(bytes),
    binding_epoch: epoch,
    ...more,
  });
  const intend = (body: object) => device.ask<IntentView>('POST', '/device/chunks/intents', body);
  const end = (source_stream_ref: string, end_ms: number) =>
    device.ask('POST', '/device/streams/end', { source_stream_ref, end_ms, binding_epoch: epoch });
  const events = async (type: string) =>
    (await app.ask<{ items: { resource: { id: string }; data: object }[] }>('GET', `/events?type=${type}&limit=100`))
      .items;
  const put = (path: string, bytes: Uint8Array, headers: Record<string, string> = {}) =>
    device.send('PUT', path, { body: bytes, headers });

  await t.test('H-009 H-014 a stream has exactly these members', async (t) => {
    const ref = randomUUID();
    const { id, created_at, ...rest } = (await register({ source_stream_ref: ref })) as {
      id: string;
      created_at?: string;
    };
    t.match(id, /^[0-9a-f-]{36}$/);
    t.equal(new Date(created_at ?? '').toISOString(), created_at);
    t.same(rest, {
      owner_user_id: session.user.id,
      source_stream_ref: ref,
      captured_at: '2026-11-01T10:00:00.000Z',
      clock_uncertainty_ms: 12,
      transcript_revision: 0,
      source_device_id: device_id,
      binding_epoch: epoch,
    });
  });

  await t.test(
    'H-010 H-011 H-037 a repeat returns the first registration with its end, and one stream.created',
    async (t) => {
      const ref = randomUUID();
      const all = await Promise.all(Array.from({ length: 10 }, () => register({ source_stream_ref: ref })));
      t.equal(new Set(all.map(({ id }) => id)).size, 1);
      const other = await register({
        source_stream_ref: ref,
        captured_at: '2020-01-01T00:00:00Z',
        clock_uncertainty_ms: 99,
      });
      t.match(other, { id: all[0]?.id, captured_at: '2026-11-01T10:00:00.000Z', clock_uncertainty_ms: 12 });
      await end(ref, 5000);
      t.equal((await register({ source_stream_ref: ref })).end_ms, 5000);
      t.equal((await register({ source_stream_ref: ref, end_ms: 5000 })).end_ms, 5000);
      await t.rejects(register({ source_stream_ref: ref, end_ms: 5001 }), { status: 409, code: 'CONFLICT' });
      const id = all[0]?.id;
      t.equal((await events('stream.created')).filter(({ resource }) => resource.id === id).length, 1);
      const updates = (await events('stream.updated')).filter(({ resource }) => resource.id === id);
      t.match(updates, [{ data: { changed_fields: ['end_ms'], source_id: /^[0-9a-f-]{36}$/ } }]);
      t.equal(updates.length, 1);
    },
  );

  await t.test('H-006 H-012 what is missing or of the wrong form is refused, the field named', async (t) => {
    const good = {
      source_stream_ref: randomUUID(),
      captured_at: '2026-01-01T00:00:00Z',
      clock_uncertainty_ms: 0,
      binding_epoch: epoch,
    };
    for (const [name, value] of [
      ['source_stream_ref', undefined],
      ['source_stream_ref', 'x'],
      ['captured_at', undefined],
      ['captured_at', '2026-01-01'],
      ['captured_at', '2026-01-01T00:00:00'],
      ['captured_at', '2026-02-30T00:00:00Z'],
      ['captured_at', '2026-01-01T24:00:00Z'],
      ['captured_at', '2026-01-01T00:00:60Z'],
      ['captured_at', '9999-12-31T23:59:59-01:00'],
      ['captured_at', 1767225600000],
      ['clock_uncertainty_ms', undefined],
      ['clock_uncertainty_ms', -1],
      ['clock_uncertainty_ms', 1.5],
      ['clock_uncertainty_ms', '0'],
      ['binding_epoch', undefined],
      ['end_ms', -1],
      ['end_ms', '5'],
    ] as const) {
      const body = { ...good, [name]: value };
      const answer = await device.send('POST', '/device/streams', {
        body: Buffer.from(JSON.stringify(body)),
        headers: { 'Content-Type': 'application/json' },
      });
      t.equal(answer.status, 400, `${name}: ${String(value)}`);
      t.match(JSON.parse(answer.body.toString()), { error: { code: 'BAD_REQUEST', details: [{ path: name }] } });
    }
  });

  await t.test('H-012 a clock that is far off is stored, not refused', async (t) => {
    t.match(await register({ captured_at: '1970-01-01T00:00:10Z' }), { captured_at: '1970-01-01T00:00:10.000Z' });
    t.match(await register({ captured_at: '2099-01-01T00:00:00Z' }), { captured_at: '2099-01-01T00:00:00.000Z' });
  });

  await t.test('H-013 another epoch is no binding', async (t) => {
    const other = await spool.boundDevice(app);
    await t.rejects(register({ binding_epoch: other.epoch }), { status: 403, code: 'DEVICE_UNBOUND' });
    await t.rejects(register({ binding_epoch: randomUUID() }), { status: 403, code: 'DEVICE_UNBOUND' });
    const unbound = await spool.device();
    await t.rejects(unbound.device.ask('POST', '/device/heartbeat'), { status: 403, code: 'DEVICE_UNBOUND' });
    await t.rejects(unbound.device.ask('GET', '/device/binding'), { status: 403, code: 'DEVICE_UNBOUND' });
  });

  await t.test(
    'H-015 H-019 an intent gives a chunk and a path; the same again the same, other content a conflict',
    async (t) => {
      const { source_stream_ref } = await register();
      const bytes = randomBytes(1000);
      const body = intentOf(source_stream_ref, bytes);
      const first = await intend(body);
      t.same(Object.keys(first).sort(), ['chunk_id', 'source_chunk_ref', 'upload_path']);
      t.equal(first.source_chunk_ref, body.source_chunk_ref);
      t.same(await intend(body), first);
      t.same(await intend({ ...body, sha256: body.sha256.toUpperCase() }), first);
      for (const change of [
        { sequence: 1 },
        { source_end_ms: 999 },
        { codec: 'pcm' },
        { size_bytes: 999 },
        { sha256: sha256Of(randomBytes(1)) },
      ]) {
        await t.rejects(intend({ ...body, ...change }), { status: 409, code: 'CONFLICT' });
      }
      await t.rejects(
        intend({ ...body, source_chunk_ref: randomUUID() }),
        { status: 409, code: 'CONFLICT' },
        'the sequence is taken',
      );
      await put(first.upload_path, bytes);
      t.same(await intend(body), first, 'the same also when it is stored');
    },
  );

  await t.test('H-016 H-017 the numbers and forms of an intent', async (t) => {
    const { source_stream_ref } = await register();
    const good = intentOf(source_stream_ref, randomBytes(10));
    for (const change of [
      { sequence: -1 },
      { sequence: 2 ** 53 },
      { source_start_ms: -1 },
      { source_end_ms: 0 },
      { source_start_ms: 1000 },
      { source_start_ms: 500, source_end_ms: 400 },
      { publication_start_ms: 0.5 },
      { size_bytes: 0 },
      { size_bytes: LIMITS.chunk_bytes_max + 1 },
      { sha256: 'ab' },
      { sha256: 'g'.repeat(64) },
      { codec: '' },
      { codec: 5 },
      { codec: ' ' },
      { container: 'a\nb' },
      { container: 'x'.repeat(LIMITS.media_name_chars_max + 1) },
      { sample_rate_hz: 0 },
      { channels: 1.5 },
      { channels: '2' },
    ]) {
      await t.rejects(intend({ ...good, ...change }), { status: 400, code: 'BAD_REQUEST' }, JSON.stringify(change));
    }
  });

  await t.test('H-015 H-019 codecs have parameters, and a publication may begin anywhere', async (t) => {
    const { id, source_stream_ref } = await register();
    const bytes = randomBytes(10);
    const said = [
      { codec: 'mp4a.40.2', container: 'audio/mp4; codecs="mp4a.40.2"', publication_start_ms: 5_000 },
      { codec: 'Opus', container: 'audio/ogg; codecs=opus', publication_start_ms: -20 },
      { codec: 'mu-law (ü)', container: 'x'.repeat(LIMITS.media_name_chars_max), publication_start_ms: 0 },
    ];
    for (const [sequence, named] of said.entries()) {
      const body = { ...intentOf(source_stream_ref, bytes), sequence, ...named };
      const first = await intend(body);
      t.same(await intend({ ...body, codec: named.codec.toUpperCase() }), first, 'letter case tells none apart');
    }
    const { items } = await app.ask<{ items: { sequence: number }[] }>('GET', `/audio/streams/${id}/chunks`);
    for (const [sequence, named] of said.entries())
      t.match(
        items.find((item) => item.sequence === sequence),
        named,
        'as they were sent',
      );
  });

  await t.test('H-023 a chunk of 64 MiB goes to disk as it comes', async (t) => {
    const { source_stream_ref } = await register();
    const piece = randomBytes(64 * 1024);
    const pieces = LIMITS.chunk_bytes_max / piece.length;
    t.equal(LIMITS.chunk_bytes_max, 64 * 1024 * 1024);
    const hash = createHash('sha256');
    for (let sent = 0; sent < pieces; sent++) hash.update(piece);
    const { upload_path } = await intend({
      ...intentOf(source_stream_ref, piece),
      ...{ size_bytes: LIMITS.chunk_bytes_max, sha256: hash.digest('hex') },
    });
    const { key, cert, ca } = spool.credentialsOf(device_id);
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const held = () => {
      collect();
      return process.memoryUsage().arrayBuffers;
    };
    const before = held();
    let most = 0;
    const answer = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const request = https.request(new URL(upload_path, spool.device_url), {
        ...{ method: 'PUT', key, cert, ca, headers: { 'Content-Length': LIMITS.chunk_bytes_max } },
      });
      request.on('error', reject).on('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (more: string) => {
          text += more;
        });
        response.on('end', () => resolve({ status: response.statusCode, text }));
      });
      const pump = async () => {
        for (let sent = 0; sent < pieces; sent++) {
          if (sent % 64 === 0) most = Math.max(most, held() - before);
          if (!request.write(piece)) await once(request, 'drain');
        }
        request.end();
      };
      pump().catch(reject);
    });
    t.match(answer, { status: 200, text: /"status":"stored"/ });
    t.ok(most < 12 * 1024 * 1024, `${Math.round(most / 1024 / 1024)} MiB held at most, both ends`);
  });

  await t.test('H-018 an intent for a stream that nobody registered', async (t) => {
    await t.rejects(intend(intentOf(randomUUID(), randomBytes(10))), { status: 404, code: 'NOT_FOUND' });
  });

  await t.test('H-020 H-021 H-022 an end is set once and no chunk goes past it', async (t) => {
    const { source_stream_ref } = await register();
    await intend(intentOf(source_stream_ref, randomBytes(10), { source_end_ms: 1000 }));
    await t.rejects(end(source_stream_ref, 999), { status: 409, code: 'CONFLICT' });
    const ends = await Promise.allSettled([1000, 1200, 1000, 1300].map((end_ms) => end(source_stream_ref, end_ms)));
    const kept = ends
      .filter(({ status }) => status === 'fulfilled')
      .map((answer) => (answer as PromiseFulfilledResult<{ end_ms: number }>).value.end_ms);
    t.equal(new Set(kept).size, 1);
    const end_ms = kept[0] as number;
    const late = intentOf(source_stream_ref, randomBytes(10), {
      sequence: 1,
      source_start_ms: 500,
      publication_start_ms: 500,
    });
    await t.rejects(intend({ ...late, source_end_ms: end_ms + 1 }), { status: 409, code: 'CONFLICT' });
    t.ok(await intend({ ...late, source_end_ms: end_ms }));
    await t.rejects(end(randomUUID(), 5), { status: 404, code: 'NOT_FOUND' });
  });

  await t.test('H-023 bytes are stored when size and hash are right, and the same again is welcome', async (t) => {
    const { source_stream_ref } = await register();
    const bytes = randomBytes(200_000);
    const { upload_path, chunk_id, source_chunk_ref } = await intend(intentOf(source_stream_ref, bytes));
    const wrong = Buffer.from(bytes);
    wrong[5] = (wrong[5] ?? 0) ^ 1;
    t.equal((await put(upload_path, wrong)).status, 422);
    t.equal((await put(upload_path, bytes.subarray(1))).status, 400);
    t.equal((await put(upload_path, Buffer.concat([bytes, bytes]))).status, 400);
    t.equal((await put(upload_path, bytes, { 'Content-Encoding': 'gzip' })).status, 415);
    t.match(await device.ask('GET', `/device/chunks/${chunk_id}`), { status: 'awaiting_upload', stored_at: null });
    const stored = await device.upload(upload_path, bytes);
    t.same(stored, { chunk_id, source_chunk_ref, status: 'stored', size_bytes: bytes.length, sha256: sha256Of(bytes) });
    t.same(await device.upload(upload_path, bytes), stored);
    t.equal((await put(upload_path, wrong)).status, 422);
    const back = await app.send('GET', `/audio/chunks/${chunk_id}/content`);
    t.ok(back.body.equals(bytes));
  });

  await t.test('H-023 twenty uploads of one chunk at once, half of them cut, store it once and whole', async (t) => {
    const { source_stream_ref, id } = await register();
    const bytes = randomBytes(300_000);
    const { upload_path, chunk_id } = await intend(intentOf(source_stream_ref, bytes));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        index % 2 === 0 ? put(upload_path, bytes) : cutUpload(spool, device_id, upload_path, bytes),
      ),
    );
    const statuses = answers.flatMap((answer) => (answer === null ? [] : [answer.status]));
    t.same(new Set(statuses), new Set([200]));
    t.match(await app.ask('GET', `/audio/streams/${id}`), { stored_chunks: 1, stored_bytes: bytes.length });
    t.ok((await app.send('GET', `/audio/chunks/${chunk_id}/content`)).body.equals(bytes));
  });

  await t.test('H-023 without a length 411, another device 404, a bad path 404', async (t) => {
    const { source_stream_ref } = await register();
    const bytes = randomBytes(100);
    const { upload_path } = await intend(intentOf(source_stream_ref, bytes));
    t.equal(
      (
        await device.send('PUT', upload_path, {
          body: bytes,
          headers: { 'Transfer-Encoding': 'chunked', 'Content-Length': [] },
        })
      ).status,
      411,
    );
    const other = await spool.boundDevice(app);
    t.equal((await other.device.send('PUT', upload_path, { body: bytes })).status, 404);
    t.equal((await other.device.send('GET', upload_path.replace('/content', ''))).status, 404);
    for (const path of [`/device/chunks/${randomUUID()}/content`, '/device/chunks/x/content'])
      t.equal((await put(path, bytes)).status, 404);
  });

  await t.test(
    'H-023 an intent expires a day after its last repeat, frees its place, and can be asked for again',
    async (t) => {
      const { source_stream_ref } = await register();
      const bytes = randomBytes(100);
      const body = intentOf(source_stream_ref, bytes, { source_end_ms: 9000 });
      const { upload_path, chunk_id } = await intend(body);
      await spool.operator.advanceClock(23 * HOUR_MS);
      await intend(body);
      await spool.operator.advanceClock(23 * HOUR_MS);
      t.match(await device.ask('GET', `/device/chunks/${chunk_id}`), { status: 'awaiting_upload' });
      await spool.operator.advanceClock(2 * HOUR_MS);
      t.match(await device.ask('GET', `/device/chunks/${chunk_id}`), { status: 'expired' });
      t.equal((await put(upload_path, bytes)).status, 410);
      t.match(await end(source_stream_ref, 8000), { end_ms: 8000 }, 'an expired chunk holds no end back');
      await t.rejects(intend(body), { status: 409, code: 'CONFLICT' }, 'it would end past the end');
      app.access_token = (await spool.signIn('streams@x.test')).session.access_token; // two days have passed
    },
  );

  await t.test('H-024 the status of chunks, one by one and many at once', async (t) => {
    const { source_stream_ref } = await register();
    const bytes = randomBytes(100);
    const bodies = [0, 1, 2].map((sequence) => intentOf(source_stream_ref, bytes, { sequence }));
    const intents = [];
    for (const body of bodies) intents.push(await intend(body));
    await device.upload((intents[1] as IntentView).upload_path, bytes);
    const ask = (source_chunk_refs: string[]) =>
      device.ask<{ items: { status: string; stored_at: string | null }[] }>('POST', '/device/chunks/status', {
        binding_epoch: epoch,
        source_stream_ref,
        source_chunk_refs,
      });
    const { items } = await ask([...bodies.map(({ source_chunk_ref }) => source_chunk_ref), randomUUID()]);
    t.same(
      items.map(({ status }) => status),
      ['awaiting_upload', 'stored', 'awaiting_upload'],
    );
    t.same(Object.keys(items[0] ?? {}).sort(), [
      'chunk_id',
      'failure',
      'sequence',
      'source_chunk_ref',
      'status',
      'stored_at',
    ]);
    await t.rejects(ask([]), { status: 400, code: 'BAD_REQUEST' });
    await t.rejects(ask(Array.from({ length: 101 }, () => randomUUID())), { status: 400, code: 'BAD_REQUEST' });
  });

  await t.test('H-024 a device that was removed sees its chunks no more', async (t) => {
    const removed = await spool.boundDevice(app);
    const bytes = randomBytes(100);
    const source_stream_ref = randomUUID();
    const binding_epoch = removed.epoch;
    await removed.device.ask('POST', '/device/streams', {
      source_stream_ref,
      captured_at: '2026-11-01T10:00:00Z',
      clock_uncertainty_ms: 0,
      binding_epoch,
    });
    const intent = intentOf(source_stream_ref, bytes, { binding_epoch });
    const { chunk_id, upload_path } = await removed.device.ask<IntentView>('POST', '/device/chunks/intents', intent);
    t.match(await removed.device.ask('GET', `/device/chunks/${chunk_id}`), { status: 'awaiting_upload' });
    await app.ask('DELETE', `/devices/${removed.device_id}`);
    await t.rejects(removed.device.ask('GET', `/device/chunks/${chunk_id}`), { code: 'DEVICE_UNBOUND' });
    await t.rejects(removed.device.upload(upload_path, bytes), { code: 'DEVICE_UNBOUND' });
  });

  await t.test('gaps are what no stored chunk covers', async (t) => {
    const { source_stream_ref } = await register();
    const gaps = () =>
      device.ask<{ missing: number[][]; awaiting_upload: number }>(
        'GET',
        `/device/streams/${source_stream_ref}/gaps?binding_epoch=${epoch}`,
      );
    t.same(await gaps(), { missing: [], truncated: false, awaiting_upload: 0 });
    const bytes = randomBytes(10);
    const spans = [
      [4000, 5000],
      [1000, 2000],
      [1500, 3000],
      [7000, 8000],
    ] as const;
    for (const [sequence, [source_start_ms, source_end_ms]] of spans.entries()) {
      const body = intentOf(source_stream_ref, bytes, {
        sequence,
        source_start_ms,
        publication_start_ms: source_start_ms,
        source_end_ms,
      });
      const { upload_path } = await intend(body);
      if (sequence < 3) await device.upload(upload_path, bytes);
    }
    t.same(await gaps(), {
      missing: [
        [0, 1000],
        [3000, 4000],
        [5000, 8000],
      ],
      truncated: false,
      awaiting_upload: 1,
    });
    await end(source_stream_ref, 9000);
    t.same((await gaps()).missing, [
      [0, 1000],
      [3000, 4000],
      [5000, 9000],
    ]);
  });

  await t.test('too many open intents of a stream wait with 429', async (t) => {
    const { source_stream_ref } = await register();
    const bytes = randomBytes(10);
    for (let sequence = 0; sequence < LIMITS.open_intents_max; sequence++)
      await intend(intentOf(source_stream_ref, bytes, { sequence }));
    await t.rejects(intend(intentOf(source_stream_ref, bytes, { sequence: 999 })), {
      status: 429,
      code: 'TOO_MANY_REQUESTS',
    });
  });

  await t.test('the account lists streams and chunks and reads their audio in ranges', async (t) => {
    const other = await spool.signIn('reader@x.test');
    const { source_stream_ref, id } = await register();
    const bytes = randomBytes(1000);
    const { upload_path, chunk_id } = await intend(intentOf(source_stream_ref, bytes));
    const content = (headers: Record<string, string> = {}, who: AppClient = app) =>
      who.send('GET', `/audio/chunks/${chunk_id}/content`, { headers });
    t.equal((await content()).status, 409, 'nothing is stored yet');
    await device.upload(upload_path, bytes);
    for (const [range, from, to] of [
      ['bytes=0-0', 0, 1],
      ['bytes=990-', 990, 1000],
      ['bytes=-10', 990, 1000],
      ['bytes=500-5000', 500, 1000],
    ] as const) {
      const part = await content({ Range: range });
      t.equal(part.status, 206, range);
      t.equal(part.headers['content-range'], `bytes ${from}-${to - 1}/1000`);
      t.ok(part.body.equals(bytes.subarray(from, to)));
    }
    for (const range of ['bytes=1000-', 'bytes=-0']) {
      const beyond = await content({ Range: range });
      t.equal(beyond.status, 416, range);
      t.equal(beyond.headers['content-range'], 'bytes */1000');
    }
    for (const range of ['items=0-1', 'bytes=5-2', 'bytes=0-1,3-4'])
      t.equal((await content({ Range: range })).status, 200, range);
    t.equal((await content({}, other.app)).status, 404);
    t.equal((await other.app.send('GET', `/audio/streams/${id}`)).status, 404);
    t.same(await other.app.ask('GET', '/audio/streams'), { items: [], cursor: null });
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: { items: { id: string }[]; cursor: string | null } = await app.ask(
        'GET',
        `/audio/streams?limit=5${cursor === null ? '' : `&cursor=${cursor}`}`,
      );
      seen.push(...page.items.map((stream) => stream.id));
      cursor = page.cursor;
    } while (cursor !== null);
    t.equal(seen[0], id, 'newest first');
    t.equal(new Set(seen).size, seen.length);
    t.equal(seen.length, (await events('stream.created')).length);
  });
});

/** Begins an upload on a connection of its own and cuts it in the middle. */
async function cutUpload(spool: TestSpool, device_id: string, upload_path: string, bytes: Uint8Array): Promise<null> {
  const { key, cert, ca } = spool.credentialsOf(device_id);
  await new Promise<void>((resolve) => {
    const request = https.request(new URL(upload_path, spool.device_url), {
      method: 'PUT',
      key,
      cert,
      ca,
      headers: { 'Content-Length': bytes.length },
    });
    request.on('error', () => resolve());
    request.write(bytes.subarray(0, bytes.length / 2), () => request.destroy());
  });
  return null;
}
