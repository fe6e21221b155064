import { randomUUID } from 'node:crypto';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DeviceClient } from '../../kits/typescript/src/device_client.js';
import { SpoolProcess } from '../driver/spool_process.js';
import { Storage } from '../driver/storage.js';
import { jsonOf, OauthApp } from '../fixtures/oauth.js';
import { TestSpool } from '../fixtures/spool.js';
import { until } from '../fixtures/until.js';

const FILES = 'appendonlydir';

t.test(
  'what storage lost is known no more: a stream is registered anew, a certificate and a client are unknown',
  async (t) => {
    const { redis, env } = await Storage.open(t);
    const spool = await TestSpool.start({ RATE_LIMITS: 'off', ...env });
    t.teardown(() => spool.end());
    const { app } = await spool.signIn('lost@x.test');
    const { device, device_id, epoch } = await spool.boundDevice(app);
    const [files, kept] = [join(redis.folder, FILES), join(redis.folder, 'kept')];
    const back = async () => {
      await redis.start();
      await until('it is ready', () => spool.server.services.storage_health.isReady());
      // Records that are written once have a connection of their own, which comes back by itself.
      await until('records are read', async () => (await device.send('GET', '/device/binding')).status < 500);
    };
    await redis.kill();
    cpSync(files, kept, { recursive: true });
    await back();

    const source_stream_ref = randomUUID();
    const body = {
      source_stream_ref,
      binding_epoch: epoch,
      captured_at: '2026-01-01T12:00:00Z',
      clock_uncertainty_ms: 5,
    };
    const register = async (by = device) => (await by.ask<{ id: string }>('POST', '/device/streams', body)).id;
    t.equal(await register(), await register());
    const late = await spool.device();
    const client = await OauthApp.registered(spool);
    const reasonOf = async (device: DeviceClient) =>
      jsonOf<{ error: { reason?: string } }>(await device.send('GET', '/device/binding')).error.reason;
    const isKnown = async () => (await spool.client().send('GET', client.authorizePath({}))).status !== 400;
    t.equal(await reasonOf(late.device), undefined, 'it is only not bound');
    t.ok(await isKnown());
    await redis.kill();
    rmSync(files, { recursive: true });
    cpSync(kept, files, { recursive: true });
    await back();
    const anew = await register();
    await until('the certificate is unknown', async () => (await reasonOf(late.device)) === 'unknown');
    t.notOk(await isKnown());
    const other = await new SpoolProcess(spool.folder, { ...env }).ready();
    t.teardown(() => other.stop());
    const { key, cert, ca } = spool.credentialsOf(device_id);
    const again = new DeviceClient(other.device_url, { private_key_pem: key, certificate_pem: cert, ca_pem: ca });
    t.teardown(() => again.close());
    t.equal(await register(again), anew, 'a process that remembers nothing finds the same');
  },
);
