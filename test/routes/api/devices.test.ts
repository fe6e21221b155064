import { randomBytes, randomUUID } from 'node:crypto';
import tls from 'node:tls';
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
    const chunk = {
      ...{ source_chunk_ref: randomUUID(), sequence: 0, ...times, codec: 'opus', container: 'ogg' },
      bytes: 'AA==',
    };
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
      ['POST', '/device/chunks', { source_stream_ref, binding_epoch, chunks: [chunk] }],
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
