import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  type BindingView,
  type DeviceClient,
  type IntentView,
  sha256Of,
} from '../../kits/typescript/src/device_client.js';
import { Servers } from '../driver/servers.js';
import { SpoolProcess } from '../driver/spool_process.js';
import type { SignedIn } from '../fixtures/app_client.js';
import { tempFolder } from '../fixtures/temp_folder.js';

t.test('two server processes on one Redis', async (t) => {
  const servers = await Servers.open(t, { count: 2, storage: 'beside' });
  const [one, two] = servers.all as [SpoolProcess, SpoolProcess];
  const { folder, operator } = servers;
  const { access_token } = await servers.signIn('two@x.test');
  const [app, there] = [one.client(access_token), two.client(access_token)];

  await t.test('what one has written the other reads at once', async (t) => {
    for (let round = 0; round < 20; round++) {
      const [writer, reader] = round % 2 === 0 ? [app, there] : [there, app];
      await writer.ask('PATCH', '/me', { name: `Round ${round}` });
      t.match(await reader.ask('GET', '/me'), { name: `Round ${round}` });
    }
  });

  await t.test('changes from both sides at once are all made, each once', async (t) => {
    const before = (await app.ask<{ items: { sequence: string }[] }>('GET', '/events?limit=1')).items[0]?.sequence;
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        (index % 2 === 0 ? app : there).send('PATCH', '/me', { body: { name: `Both ${index}` } }),
      ),
    );
    const made = answers.filter(({ status }) => status === 200).length;
    t.ok(made > 0);
    for (const { status } of answers) t.ok(status === 200 || status === 503);
    const after = (await there.ask<{ items: { sequence: string }[] }>('GET', '/events?limit=1')).items[0]?.sequence;
    t.equal(Number(after) - Number(before), made);
  });

  await t.test('a refresh token shown to both at once has one successor', async (t) => {
    const { refresh_token } = await servers.signIn('refresh@x.test');
    const renewed = await Promise.all(
      [one, two, one, two].map((server) => server.client().ask<SignedIn>('POST', '/auth/refresh', { refresh_token })),
    );
    t.equal(new Set(renewed.map((answer) => answer.refresh_token)).size, 1);
    for (const { access_token } of renewed) t.equal((await two.client(access_token).send('GET', '/me')).status, 200);
  });

  await t.test('server keys rotate: what is mailed by one is good at the other all the while', async (t) => {
    const keys = join(folder, 'keys');
    const email = 'rotate@x.test';
    const signIn = async (by: SpoolProcess, at: SpoolProcess) => {
      await by.client().ask('POST', '/auth/otp', { email });
      const token = await servers.readCode(email);
      return (await at.client().send('POST', '/auth/verify-otp', { body: { email, token } })).status;
    };
    const rotate = () => operator.ask<{ key_id: string; active_at: string }>('POST', '/ops/keys/server/rotate');
    const made = await rotate();
    t.same(await rotate(), made, 'one at a time');
    t.same([await signIn(one, two), await signIn(two, one)], [200, 200], 'introduced');
    await operator.advanceClock(61_000);
    t.same(readdirSync(keys).sort(), ['server_key_0001.key', 'server_key_0002.key']);
    t.same([await signIn(one, two), await signIn(two, one)], [200, 200], 'active');
    t.equal((await there.send('GET', '/me')).status, 200, 'tokens of before are good');
  });

  await t.test('a session that ends at one is refused by the other at once', async (t) => {
    const gone = await servers.signIn('gone@x.test');
    t.equal((await two.client(gone.access_token).send('GET', '/me')).status, 200);
    t.equal((await one.client(gone.access_token).send('POST', '/auth/logout')).status, 204);
    t.equal((await two.client(gone.access_token).send('GET', '/me')).status, 401);
  });

  await t.test('a device works with either, and a stream ends once', async (t) => {
    const { claim } = await app.ask<{ claim: string }>('POST', '/devices/claims', { kind: 'owner' });
    const devices = (await servers.device()).devices as [DeviceClient, DeviceClient];
    const bindings = await Promise.all(
      devices.map((device) => device.ask<BindingView>('POST', '/device/claims/redeem', { claim })),
    );
    t.equal(new Set(bindings.map(({ binding_epoch }) => binding_epoch)).size, 1);
    const binding_epoch = bindings[0]?.binding_epoch;
    const source_stream_ref = randomUUID();
    const stream = { source_stream_ref, captured_at: '2026-01-01T00:00:00Z', clock_uncertainty_ms: 0, binding_epoch };
    const registered = await Promise.all(
      devices.map((device) => device.ask<{ id: string }>('POST', '/device/streams', stream)),
    );
    t.equal(new Set(registered.map(({ id }) => id)).size, 1);
    const bytes = randomBytes(5000);
    const body = {
      ...{
        source_chunk_ref: randomUUID(),
        source_stream_ref,
        sequence: 0,
        source_start_ms: 0,
        publication_start_ms: 0,
      },
      ...{
        source_end_ms: 1000,
        codec: 'opus',
        container: 'ogg',
        size_bytes: bytes.length,
        sha256: sha256Of(bytes),
        binding_epoch,
      },
    };
    const [here, elsewhere] = await Promise.all(
      devices.map((device) => device.ask<IntentView>('POST', '/device/chunks/intents', body)),
    );
    t.same(here, elsewhere);
    t.match(await devices[1].upload((here as IntentView).upload_path, bytes), { status: 'stored' });
    t.match(await devices[0].ask('GET', `/device/chunks/${here?.chunk_id}`), { status: 'stored' });
    const ends = await Promise.allSettled(
      [2000, 3000, 2000, 3000].map((end_ms, index) =>
        (devices[index % 2] as DeviceClient).ask<{ end_ms: number }>('POST', '/device/streams/end', {
          source_stream_ref,
          end_ms,
          binding_epoch,
        }),
      ),
    );
    const kept = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value.end_ms] : []));
    t.equal(new Set(kept).size, 1);
    t.equal((await app.ask<{ items: unknown[] }>('GET', '/events?type=stream.updated')).items.length, 1);
    const back = await there.send('GET', `/audio/chunks/${here?.chunk_id}/content`);
    t.ok(back.body.equals(bytes));
  });

  await t.test('one is killed and the other serves on', async (t) => {
    await one.kill();
    t.match(await there.ask('PATCH', '/me', { name: 'Alone' }), { name: 'Alone' });
  });

  await t.test('other server keys are refused', async (t) => {
    const stranger = new SpoolProcess(tempFolder(t), servers.storage.env);
    t.equal(await stranger.exited, 1);
    t.match(stranger.output, /other server keys/);
  });
});
