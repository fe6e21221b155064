import { randomBytes } from 'node:crypto';
import t from 'tap';
import type { CallRefused } from '../../../kits/typescript/src/call.js';
import type { DeviceClient } from '../../../kits/typescript/src/device_client.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { asTyped } from '../../fixtures/pairing_code.js';
import { everyKey, ownRedisOf } from '../../fixtures/redis_content.js';
import { TestSpool } from '../../fixtures/spool.js';

const MINUTE_MS = 60_000;
const WRONG = ['00000000', 'ZZZZ-ZZZZ'];

const spool = await TestSpool.start({ RATE_CLAIMS: '10000' });
t.teardown(() => spool.end());
const redeem = (device: DeviceClient, claim: string, ble_address?: string) =>
  device.call('POST /device/claims/redeem', { body: { claim, ...(ble_address !== undefined && { ble_address }) } });
const says = (work: Promise<unknown>) =>
  work.then(
    () => '200',
    ({ status, code }: CallRefused) => `${status} ${code}`,
  );
const newClaim = async (email: string) => {
  const { app } = await spool.signIn(email);
  return { app, ...(await app.call('POST /devices/claims', { body: { kind: 'owner' } })) };
};

await t.test('H-050 H-051 a personal device is bound by the code of an owner claim', async (t) => {
  const { app, code, code_expires_at, claim } = await newClaim('code@x.test');
  t.match(code, /^[0-9A-HJKMNP-TV-Z]{8}$/);
  t.equal(Math.abs(Date.parse(code_expires_at) - spool.server.services.clock.now() - 10 * MINUTE_MS) < MINUTE_MS, true);
  const { device, device_id } = await spool.device();
  const bound = await redeem(device, asTyped(code));
  t.match(bound, { kind: 'owner', source_device_id: device_id });
  t.same(
    (await app.call('GET /devices')).items.map(({ id }) => id),
    [device_id],
  );
  t.equal((await redeem(device, code)).binding_epoch, bound.binding_epoch, 'the same device again');
  t.equal((await redeem(device, claim)).binding_epoch, bound.binding_epoch, 'and by the claim');
  const other = await spool.device();
  t.equal(await says(redeem(other.device, code)), '409 CONFLICT', 'once');
  t.equal(await says(redeem(other.device, claim)), '409 CONFLICT');
});

await t.test('H-050 H-051 a shared recorder enters a session by its code', async (t) => {
  const { app } = await spool.signIn('session@x.test');
  const expires_at = new Date(spool.server.services.clock.now() + 60 * MINUTE_MS).toISOString();
  const { session, code } = await app.call('POST /device-sessions', { body: { expires_at } });
  const { device } = await spool.device('shared');
  t.equal(await says(redeem(device, code)), '400 BAD_REQUEST', 'without its address');
  const address = randomBytes(6).toString('hex').toUpperCase();
  t.match(await redeem(device, asTyped(code), address), { kind: 'session', binding_epoch: session.id });
});

await t.test('H-052 after ten minutes a code is unknown, and the owner claim still binds', async (t) => {
  const { code, claim } = await newClaim('late@x.test');
  await spool.operator.advanceClock(10 * MINUTE_MS);
  const { device } = await spool.device();
  t.equal(await says(redeem(device, code)), '404 NOT_FOUND');
  t.equal(await says(redeem(device, claim)), '200');
});

await t.test('H-053 a device has ten tries at codes in an hour, right ones included; claims go on', async (t) => {
  const { code, claim } = await newClaim('tries@x.test');
  const { device } = await spool.device();
  for (let tries = 0; tries < LIMITS.pairing_code_tries_max; tries++)
    t.equal(await says(redeem(device, WRONG[tries % WRONG.length] as string)), '404 NOT_FOUND', `try ${tries + 1}`);
  const refused = await redeem(device, code).catch((error: CallRefused) => error);
  t.match(refused, { status: 429, code: 'TOO_MANY_REQUESTS' });
  t.equal(await says(redeem(device, 'no code')), '404 NOT_FOUND', 'what can be no code is no try');
  const other = await spool.device();
  t.equal(await says(redeem(other.device, code)), '200', 'the tries are those of one device');
  t.equal(await says(redeem(device, claim)), '409 CONFLICT', 'claims are looked up all the same');
  await spool.operator.advanceClock(LIMITS.pairing_code_tries_window_ms);
  const { code: next } = await newClaim('tries@x.test');
  t.equal(await says(redeem(device, next)), '200', 'after an hour');
});

await t.test('H-053 tries that arrive at once are all counted', async (t) => {
  const { device } = await spool.device();
  const tries = LIMITS.pairing_code_tries_max + 5;
  const answers = await Promise.all(Array.from({ length: tries }, () => says(redeem(device, WRONG[0] as string))));
  t.equal(answers.filter((answer) => answer === '404 NOT_FOUND').length, LIMITS.pairing_code_tries_max);
  t.equal(answers.filter((answer) => answer === '429 TOO_MANY_REQUESTS').length, 5);
});

await t.test('H-055 no pairing code rests in Redis', async (t) => {
  const { code } = await newClaim('rests@x.test');
  const redis = await ownRedisOf(spool.folder);
  t.teardown(() => redis.disconnect());
  const stored = Buffer.concat(
    (await everyKey(redis)).map(({ key, bytes }) => Buffer.concat([Buffer.from(key), bytes])),
  );
  t.ok(stored.includes('rests@x.test'), 'what is no secret is found there');
  t.notOk(stored.includes(code));
});

await t.test('H-054 after a hundred wrong codes in a minute nobody’s codes are looked up', async (t) => {
  const crowded = await TestSpool.start({ RATE_CLAIMS: '10000' });
  t.teardown(() => crowded.end());
  const { app } = await crowded.signIn('crowd@x.test');
  const { code, claim } = await app.call('POST /devices/claims', { body: { kind: 'owner' } });
  const devices = Math.ceil(LIMITS.pairing_codes_wrong_per_minute_max / LIMITS.pairing_code_tries_max);
  for (let n = 0; n < devices; n++) {
    const { device } = await crowded.device();
    for (let tries = 0; tries < LIMITS.pairing_code_tries_max; tries++)
      t.equal(await says(redeem(device, WRONG[0] as string)), '404 NOT_FOUND');
  }
  const { device } = await crowded.device();
  const refused = await redeem(device, code).catch((error: CallRefused) => error);
  t.match(refused, { status: 429, code: 'TOO_MANY_REQUESTS' });
  t.equal(await says(redeem(device, claim)), '200', 'a claim in full');
});
