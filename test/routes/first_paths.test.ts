import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import { type IntentView, sha256Of } from '../../src/client/device_client.js';
import { TestSpool } from '../fixtures/spool.js';

t.test('a person signs in, binds a device, and hears back what it recorded', async (t) => {
  const spool = await TestSpool.start();
  t.teardown(() => spool.end());
  const { app, session } = await spool.signIn('ann@x.test');
  const { device, epoch } = await spool.boundDevice(app);
  const source_stream_ref = randomUUID();
  const stream = await device.ask<{ id: string; owner_user_id: string }>('POST', '/device/streams', {
    source_stream_ref, captured_at: new Date().toISOString(), clock_uncertainty_ms: 20, binding_epoch: epoch,
  });
  t.equal(stream.owner_user_id, session.user.id);
  const bytes = randomBytes(100_000);
  const intent = await device.ask<IntentView>('POST', '/device/chunks/intents', {
    source_chunk_ref: randomUUID(), source_stream_ref, sequence: 0, source_start_ms: 0, publication_start_ms: 0, source_end_ms: 1000,
    codec: 'opus', container: 'ogg', size_bytes: bytes.length, sha256: sha256Of(bytes), binding_epoch: epoch,
  });
  t.match(await device.upload(intent.upload_path, bytes), { status: 'stored' });
  t.match(await device.ask('POST', '/device/streams/end', { source_stream_ref, end_ms: 1000, binding_epoch: epoch }), { end_ms: 1000 });
  t.same(await device.ask('GET', `/device/streams/${source_stream_ref}/gaps?binding_epoch=${epoch}`), { missing: [], truncated: false, awaiting_upload: 0 });
  const back = await app.send('GET', `/audio/chunks/${intent.chunk_id}/content`);
  t.equal(back.status, 200);
  t.ok(back.body.equals(bytes));
  const part = await app.send('GET', `/audio/chunks/${intent.chunk_id}/content`, { headers: { Range: 'bytes=10-19' } });
  t.equal(part.status, 206);
  t.ok(part.body.equals(bytes.subarray(10, 20)));
  const { items } = await app.ask<{ items: { type: string }[] }>('GET', '/events?after=0');
  t.same(items.map(({ type }) => type), ['account.created', 'source.created', 'stream.created', 'stream.updated']);
  t.match(await app.ask('GET', '/devices'), { items: [{ kind: 'personal', session_id: null }], cursor: null });
  t.match(await app.ask('GET', '/audio/streams'), { items: [{ id: stream.id, end_ms: 1000 }], cursor: null });
  t.match(await app.ask('GET', `/audio/streams/${stream.id}/chunks`), { items: [{ status: 'stored' }] });
});
