import { randomBytes, randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { CallRefused } from '../../../kits/typescript/src/call.js';
import type { BindingView, DeviceClient } from '../../../kits/typescript/src/device_client.js';
import { TestAccount } from '../../fixtures/account.js';
import { type Recorded, record } from '../../fixtures/recording.js';
import { type SessionView, TestSpool } from '../../fixtures/spool.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

type DeviceView = { id: string; kind: string; session_id: string | null };

const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
t.teardown(() => spool.end());
const inMs = (ms: number) => new Date(spool.server.services.clock.now() + ms).toISOString();
const address = () => randomBytes(6).toString('hex').toUpperCase();
const host = (who: TestAccount, expires_in_ms = HOUR_MS) =>
  who.ask<{ session: SessionView; claim: string }>('POST', '/device-sessions', { expires_at: inMs(expires_in_ms) });
const says = (work: Promise<unknown>) =>
  work.then(
    () => '200',
    ({ status, code }: CallRefused) => `${status} ${code}`,
  );
const redeem = (device: DeviceClient, claim: string, ble_address: unknown) =>
  device.ask<BindingView & { session: { id: string; expires_at: string; drain_until: string } }>(
    'POST',
    '/device/claims/redeem',
    { claim, ...(ble_address === undefined ? {} : { ble_address }) },
  );
const endByRecorder = (device: DeviceClient, binding_epoch: string) =>
  device.ask<{ session_id: string; ended_at: string; end_reason: string }>('POST', '/device/session/end', {
    binding_epoch,
  });
const view = (who: TestAccount, id: string) => who.ask<SessionView>('GET', `/device-sessions/${id}`);

await t.test('H-029 H-027 a shared recorder redeems a session claim with its BLE address', async (t) => {
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const { session, claim } = await host(ann);
  t.match(session, { status: 'waiting', device_id: null, started_at: null, participants: [], end_reason: null });
  t.match(session.join_code, /^[2-9A-HJ-NP-TV-Z]{8}$/);
  const { device, device_id } = await spool.device('shared');
  for (const wrong of [undefined, 'aabbccddeeff', 'AA:BB:CC:DD:EE:FF', 'AABBCCDDEEF', 'AABBCCDDEEFF0', 12, null])
    t.equal(await says(redeem(device, claim, wrong)), '400 BAD_REQUEST', String(wrong));
  const bound = await redeem(device, claim, 'AABBCCDDEEFF');
  t.match(bound, { kind: 'session', binding_epoch: session.id, owner_user_id: ann.id, source_device_id: device_id });
  t.equal(Date.parse(bound.session.drain_until) - Date.parse(bound.session.expires_at), 15 * MINUTE_MS);
  t.match(await redeem(device, claim, 'AABBCCDDEEFF'), { ...bound, server_time: String });
  t.match(await device.ask('GET', '/device/binding'), { binding_epoch: session.id, kind: 'session' });
  t.match(await view(ann, session.id), { status: 'open', device_id, started_at: String });
  const other = await spool.device('shared');
  t.equal(await says(redeem(other.device, claim, address())), '409 CONFLICT');
  t.equal(await says(redeem(other.device, `${claim.slice(0, -4)}AAAA`, address())), '404 NOT_FOUND');
});

await t.test('H-031 kinds: a session claim is for shared recorders, an owner claim for personal ones', async (t) => {
  const ann = await TestAccount.open(spool, 'kinds@x.test');
  const { claim } = await host(ann);
  const personal = await spool.device('personal');
  t.equal(await says(redeem(personal.device, claim, address())), '409 CONFLICT');
  const no_address = await personal.device.send('POST', '/device/claims/redeem', {
    body: Buffer.from(JSON.stringify({ claim })),
    headers: { 'Content-Type': 'application/json' },
  });
  t.equal(no_address.status, 409, 'also where the address is missing, which is not what is wrong');
  const shared = await spool.device('shared');
  const owner = await ann.ask<{ claim: string }>('POST', '/devices/claims', { kind: 'owner' });
  t.equal(await says(redeem(shared.device, owner.claim, address())), '409 CONFLICT');
  t.equal(await says(redeem(shared.device, claim, address())), '200', 'a refused claim can still be redeemed');
});

await t.test('H-030 a BLE address belongs to one open session at a time', async (t) => {
  const ann = await TestAccount.open(spool, 'ble@x.test');
  const ble_address = address();
  const first = await spool.hostSession(ann.app, { ble_address });
  const { claim } = await host(ann);
  const second = await spool.device('shared');
  t.equal(await says(redeem(second.device, claim, ble_address)), '409 CONFLICT');
  t.equal(await says(redeem(second.device, claim, ble_address)), '409 CONFLICT', 'again');
  await endByRecorder(first.device, first.epoch);
  t.equal(await says(redeem(second.device, claim, ble_address)), '200', 'once the first has ended');
  const drains = await spool.hostSession(ann.app);
  await ann.ask('POST', `/device-sessions/${drains.epoch}/end`);
  const third = await host(ann);
  t.equal(await says(redeem(drains.device, third.claim, ble_address)), '409 CONFLICT');
  t.equal(await says(redeem(drains.device, third.claim, address())), '200', 'a draining recorder begins anew');
  const fourth = await host(ann);
  t.equal(await says(redeem(drains.device, fourth.claim, address())), '409 CONFLICT', 'one in an open session not');
});

await t.test('H-034 the first session on a recorder makes its source, later ones use it', async (t) => {
  const ann = await TestAccount.open(spool, 'source@x.test');
  const first = await spool.hostSession(ann.app);
  const { source_id } = await view(ann, first.epoch);
  t.same(
    await ann.newEvents(),
    [`source.created ${source_id}`, `device_session.started ${first.epoch} ${source_id}`],
    'in this order: who hears of the session knows its source',
  );
  await endByRecorder(first.device, first.epoch);
  await ann.newEvents();
  const second = await spool.hostSession(ann.app, { recorder: first });
  t.same(await ann.newEvents(), [`device_session.started ${second.epoch} ${source_id}`]);
  const bob = await TestAccount.open(spool, 'source2@x.test');
  await endByRecorder(first.device, second.epoch);
  const his = await spool.hostSession(bob.app, { recorder: first });
  t.not((await view(bob, his.epoch)).source_id, source_id, "another host's source is another");
});

await t.test('H-036 H-033 joined, left, extended: the host and everybody who takes part hears', async (t) => {
  const [ann, bob, eve] = await Promise.all(
    ['ann', 'bob', 'eve'].map((name) => TestAccount.open(spool, `${name}36@x.test`)),
  );
  if (ann === undefined || bob === undefined || eve === undefined) throw new Error('no accounts');
  const { session, epoch } = await spool.hostSession(ann.app);
  const join = (who: TestAccount, join_code = session.join_code) =>
    who.says('POST', `/device-sessions/${epoch}/join`, { join_code });
  await ann.newEvents();
  t.equal(await bob.says('GET', `/device-sessions/${epoch}`), '404 NOT_FOUND');
  t.equal(await join(bob, 'WRONG234'), '404 NOT_FOUND');
  t.equal(await join(bob, ` ${session.join_code?.slice(0, 4).toLowerCase()}-${session.join_code?.slice(4)}`), '200');
  t.equal(await join(bob), '200', 'again');
  t.equal(await join(eve), '200');
  const joined = (who: TestAccount) => `device_session.joined ${epoch} ${who.id}`;
  const left = (who: TestAccount) => `device_session.left ${epoch} ${who.id}`;
  t.same(await ann.newEvents(), [joined(bob), joined(eve)]);
  t.same(await bob.newEvents(), [joined(bob), joined(eve)]);
  t.same(await eve.newEvents(), [joined(eve)]);
  const seen = await view(bob, epoch);
  t.same(
    seen.participants.map(({ account_id }) => account_id),
    [bob.id, eve.id],
  );
  t.notOk(seen.join_code, 'only the host sees the join code');
  t.ok((await view(ann, epoch)).join_code);
  t.match(await bob.ask('GET', '/device-sessions'), { items: [{ id: epoch }], cursor: null });

  t.equal(
    await bob.says('POST', `/device-sessions/${epoch}/extend`, { expires_at: inMs(2 * HOUR_MS) }),
    '403 FORBIDDEN',
  );
  t.equal(await bob.says('POST', `/device-sessions/${epoch}/end`), '403 FORBIDDEN');
  t.equal(await ann.says('POST', `/device-sessions/${epoch}/leave`), '409 CONFLICT');
  t.equal(await eve.says('POST', `/device-sessions/${epoch}/leave`), '204');
  t.equal(await eve.says('POST', `/device-sessions/${epoch}/leave`), '404 NOT_FOUND');
  t.equal(await eve.says('GET', `/device-sessions/${epoch}`), '404 NOT_FOUND');
  for (const who of [ann, bob, eve]) t.same(await who.newEvents(), [left(eve)], who.email);
  t.match(await eve.ask('GET', '/device-sessions'), { items: [] });

  const later = inMs(3 * HOUR_MS);
  t.match(await ann.ask('POST', `/device-sessions/${epoch}/extend`, { expires_at: later }), { expires_at: later });
  t.equal(await ann.says('POST', `/device-sessions/${epoch}/extend`, { expires_at: later }), '200', 'again');
  t.equal(await ann.says('POST', `/device-sessions/${epoch}/extend`, { expires_at: inMs(HOUR_MS) }), '409 CONFLICT');
  for (const wrong of [inMs(DAY_MS + MINUTE_MS), inMs(-1), 'soon'])
    t.equal(await ann.says('POST', `/device-sessions/${epoch}/extend`, { expires_at: wrong }), '400 BAD_REQUEST');
  t.same(await ann.newEvents(), [`device_session.updated ${epoch} expires_at`]);
  t.same(await bob.newEvents(), [`device_session.updated ${epoch} expires_at`]);
  t.same(await eve.newEvents(), []);
});

await t.test('H-033 ten tries at join codes an hour, and the scope devices:manage for all of it', async (t) => {
  const [ann, bob] = await Promise.all(['ann', 'bob'].map((name) => TestAccount.open(spool, `${name}33@x.test`)));
  if (ann === undefined || bob === undefined) throw new Error('no accounts');
  const { session } = await host(ann);
  const join = (join_code: unknown) =>
    bob.app.send('POST', `/device-sessions/${session.id}/join`, { body: { join_code } });
  for (let tries = 0; tries < 10; tries++) t.equal((await join('22222222')).status, 404);
  const limited = await join(session.join_code);
  t.equal(limited.status, 429);
  t.ok(Number(limited.headers['retry-after']) > 3_500);
  t.equal((await join(7)).status, 400);
  const { value } = await ann.ask<{ value: string }>('POST', '/me/tokens', {
    ...{ name: 'narrow', permissions: ['audio:read'], expires_at: null },
  });
  const calls = [
    'GET /device-sessions',
    'POST /device-sessions',
    ...['', '/join', '/leave', '/extend', '/end'].map(
      (what) => `${what === '' ? 'GET' : 'POST'} /device-sessions/${session.id}${what}`,
    ),
  ];
  for (const call of calls) {
    const [method = '', path = ''] = call.split(' ');
    const answer = await ann.app.send(method, path, { headers: { Authorization: `Bearer ${value}` } });
    t.equal(answer.status, 403, call);
  }
  await spool.operator.advanceClock(9 * MINUTE_MS);
  t.equal((await view(ann, session.id)).status, 'waiting');
  await spool.operator.advanceClock(MINUTE_MS);
  t.match(await view(ann, session.id), { status: 'ended', end_reason: 'never_started', device_id: null });
  t.same(await ann.newEvents(), [
    `personal_access_token.created ${(await ann.ask<{ items: { id: string }[] }>('GET', '/me/tokens')).items[0]?.id} ${value.slice(-4)}`.trim(),
    `device_session.updated ${session.id} end_reason expires_at`,
    `device_session.ended ${session.id}`,
  ]);
});

await t.test('H-025 H-026 H-035 X-03 a recorder ends its session at once, and a repeat is a success', async (t) => {
  const ann = await TestAccount.open(spool, 'ann25@x.test');
  const { device, epoch, device_id } = await spool.hostSession(ann.app);
  const kept = await record(device, { epoch });
  await ann.newEvents();
  const ended = await endByRecorder(device, epoch);
  t.match(ended, { session_id: epoch, end_reason: 'recorder', ended_at: String });
  t.same(await endByRecorder(device, epoch), ended);
  t.same(await ann.newEvents(), [
    `device_session.updated ${epoch} end_reason expires_at`,
    `device_session.ended ${epoch}`,
  ]);
  t.match(await view(ann, epoch), { status: 'ended', end_reason: 'recorder', expires_at: ended.ended_at });
  t.match(await ann.ask('GET', '/devices'), { items: [] });
  t.match(await ann.ask('GET', '/audio/streams'), { items: [{ stored_chunks: 1, source_device_id: device_id }] });
  await unbound(t, device, { epoch, kept });
  const next = await spool.hostSession(ann.app, { recorder: { device, device_id } });
  t.same(await endByRecorder(device, epoch), ended, 'a late repeat');
  t.equal((await view(ann, next.epoch)).status, 'open', 'does not end the next session');
  t.equal(await says(endByRecorder(device, randomUUID())), '403 DEVICE_UNBOUND');
  const personal = await spool.boundDevice(ann.app);
  t.equal(await says(endByRecorder(personal.device, personal.epoch)), '409 CONFLICT');
});

await t.test('H-007 H-035 the host ends a session: its recorder has 15 minutes for what it has', async (t) => {
  const ann = await TestAccount.open(spool, 'ann7@x.test');
  const { device, epoch, device_id } = await spool.hostSession(ann.app);
  await ann.newEvents();
  const ended = await ann.ask<SessionView>('POST', `/device-sessions/${epoch}/end`);
  t.match(ended, { status: 'draining', end_reason: 'host' });
  t.equal(ended.expires_at, ended.ended_at);
  t.same(await ann.ask('POST', `/device-sessions/${epoch}/end`), ended, 'again');
  t.same(await ann.newEvents(), [
    `device_session.updated ${epoch} end_reason expires_at`,
    `device_session.ended ${epoch}`,
  ]);
  t.equal(await ann.says('POST', `/device-sessions/${epoch}/extend`, { expires_at: inMs(HOUR_MS) }), '409 CONFLICT');
  await spool.operator.advanceClock(14 * MINUTE_MS);
  const kept = await record(device, { epoch });
  t.match(await ann.ask('GET', '/devices'), { items: [{ id: device_id, kind: 'shared', session_id: epoch }] });
  await ann.newEvents();
  await spool.operator.advanceClock(MINUTE_MS);
  t.match(await view(ann, epoch), { status: 'ended', end_reason: 'host', ended_at: ended.ended_at });
  t.same(await ann.newEvents(), [], 'nothing more is said of it');
  await unbound(t, device, { epoch, kept });
  t.match(await ann.ask('GET', '/devices'), { items: [] });
});

await t.test('H-007 the clock ends a session, and 15 minutes after the scheduled end nothing is taken', async (t) => {
  const ann = await TestAccount.open(spool, 'clock7@x.test');
  const { device, epoch, session } = await spool.hostSession(ann.app, { expires_in_ms: 20 * MINUTE_MS });
  await ann.newEvents();
  await spool.operator.advanceClock(20 * MINUTE_MS);
  t.match(await view(ann, epoch), { status: 'draining', end_reason: 'expired', expires_at: session.expires_at });
  t.same(await ann.newEvents(), [
    `device_session.updated ${epoch} end_reason expires_at`,
    `device_session.ended ${epoch}`,
  ]);
  await spool.operator.advanceClock(14 * MINUTE_MS);
  const kept = await record(device, { epoch });
  await spool.operator.advanceClock(2 * MINUTE_MS);
  await unbound(t, device, { epoch, kept });
  t.match(await endByRecorder(device, epoch), { end_reason: 'expired' }, 'its own end still counts as success');
});

await t.test('H-033 removing a recorder ends its session', async (t) => {
  const ann = await TestAccount.open(spool, 'remove33@x.test');
  const { device, epoch, device_id } = await spool.hostSession(ann.app);
  const kept = await record(device, { epoch });
  t.match(await ann.ask('GET', '/devices'), { items: [{ id: device_id, kind: 'shared', session_id: epoch }] });
  const { items } = await ann.ask<{ items: DeviceView[] }>('GET', '/devices');
  t.equal(items.length, 1);
  t.equal(await ann.says('DELETE', `/devices/${device_id}`), '204');
  t.match(await view(ann, epoch), { status: 'ended', end_reason: 'device_removed' });
  await unbound(t, device, { epoch, kept });
  t.equal(await says(spool.hostSession(ann.app, { recorder: { device, device_id } })), '200');
});

await t.test('H-008 a deleted host ends its sessions; what is left is taken after a restore in time', async (t) => {
  const [ann, bob] = await Promise.all(['ann', 'bob'].map((name) => TestAccount.open(spool, `${name}8@x.test`)));
  if (ann === undefined || bob === undefined) throw new Error('no accounts');
  const { device, epoch, session } = await spool.hostSession(ann.app);
  const waiting = await host(ann);
  await bob.ask('POST', `/device-sessions/${epoch}/join`, { join_code: session.join_code });
  await bob.newEvents();
  await ann.ask('DELETE', '/me');
  t.same(await bob.newEvents(), [
    `device_session.updated ${epoch} end_reason expires_at`,
    `device_session.ended ${epoch}`,
  ]);
  t.match(await view(bob, epoch), { status: 'draining', end_reason: 'account_deleted' });
  t.equal(await says(record(device, { epoch })), '403 ACCOUNT_DELETED');
  const other = await spool.device('shared');
  t.equal(await says(redeem(other.device, waiting.claim, address())), '403 ACCOUNT_DELETED');
  await ann.ask('POST', '/me/restore');
  t.equal(await says(record(device, { epoch })), '200');
  t.equal(await says(redeem(other.device, waiting.claim, address())), '404 NOT_FOUND', 'its session will not begin');
  t.match(await view(ann, waiting.session.id), { status: 'ended', end_reason: 'account_deleted' });
});

await t.test('H-033 sessions are listed newest first in pages, and bad ones are refused', async (t) => {
  const ann = await TestAccount.open(spool, 'pages33@x.test');
  const made: string[] = [];
  for (let count = 0; count < 3; count++) made.unshift((await host(ann)).session.id);
  const page = await ann.ask<{ items: SessionView[]; cursor: string }>('GET', '/device-sessions?limit=2');
  const rest = await ann.ask<{ items: SessionView[]; cursor: null }>(
    'GET',
    `/device-sessions?limit=2&cursor=${encodeURIComponent(page.cursor)}`,
  );
  t.same(
    [...page.items, ...rest.items].map(({ id }) => id),
    made,
  );
  t.equal(rest.cursor, null);
  for (const body of [
    {},
    { expires_at: inMs(DAY_MS + MINUTE_MS) },
    { expires_at: inMs(-1) },
    { expires_at: inMs(HOUR_MS), workspace_id: 'x' },
  ])
    t.equal(await ann.says('POST', '/device-sessions', body), '400 BAD_REQUEST');
  const body = { expires_at: inMs(HOUR_MS), workspace_id: randomUUID() };
  t.equal(await ann.says('POST', '/device-sessions', body), '404 NOT_FOUND', "somebody else's workspace");
  const { id: workspace_id } = await ann.workspace('team');
  const shared = await spool.hostSession(ann.app, { workspace_id });
  await record(shared.device, { epoch: shared.epoch });
  t.match(await ann.ask('GET', '/audio/streams'), { items: [{ workspace_id }] });
});

/** Every route of a bound device refuses. */
async function unbound(t: Test, device: DeviceClient, { epoch, kept }: { epoch: string; kept: Recorded }) {
  const { source_stream_ref, chunk_id } = kept;
  const stream = { source_stream_ref, binding_epoch: epoch };
  const intent = {
    ...{ source_chunk_ref: randomUUID(), ...stream, sequence: 1, source_start_ms: 0, publication_start_ms: 0 },
    ...{ source_end_ms: 1000, codec: 'opus', container: 'ogg', size_bytes: 1, sha256: 'a'.repeat(64) },
  };
  const again = { ...stream, captured_at: '2026-11-01T10:00:00Z', clock_uncertainty_ms: 0 };
  const calls: [string, string, unknown?][] = [
    ['POST', '/device/streams', again],
    ['POST', '/device/streams', { ...again, source_stream_ref: randomUUID() }],
    ['POST', '/device/streams/end', { ...stream, end_ms: 1000 }],
    ['GET', `/device/streams/${source_stream_ref}/gaps?binding_epoch=${epoch}`],
    ['POST', '/device/chunks/intents', intent],
    ['POST', '/device/chunks/status', { ...stream, source_chunk_refs: [kept.source_chunk_ref] }],
    ['GET', `/device/chunks/${chunk_id}`],
    ['GET', '/device/binding'],
    ['POST', '/device/heartbeat'],
  ];
  for (const [method, path, body] of calls)
    t.equal(await says(device.ask(method, path, body)), '403 DEVICE_UNBOUND', path);
  t.equal(await says(device.upload(`/device/chunks/${chunk_id}/content`, kept.bytes)), '403 DEVICE_UNBOUND');
}
