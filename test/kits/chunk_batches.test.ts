import { randomBytes } from 'node:crypto';
import t from 'tap';
import { CallRefused, NoAnswer } from '../../kits/typescript/src/call.js';
import { encodeCborBody } from '../../kits/typescript/src/cbor_body.js';
import { type ChunkArrivalsBody, DeviceClient } from '../../kits/typescript/src/device_client.js';
import { Recorder } from '../../kits/typescript/src/recorder.js';
import { decodeCbor, encodeCbor } from '../../src/engine/wire/cbor.js';
import { TestSpool } from '../fixtures/spool.js';
import { tempFolder } from '../fixtures/temp_folder.js';

const FORMAT = { codec: 'pcm_s16le' as const, sample_rate_hz: 8_000, channels: 1 };

t.test('C-121 the recorder of the kit sends chunks together, and by themselves what is refused', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const { app } = await spool.signIn('ann@batches.test');
  const requests = async (route: string) => {
    const text = await spool.server.services.metrics.registry.metrics();
    const pattern = new RegExp(`http_request_seconds_count\\{[^}]*route="${route}"[^}]*\\} (\\d+)`, 'g');
    return [...text.matchAll(pattern)].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const record = async () => {
    const { device_id: _, ...credentials } = await spool.operator.provision('personal');
    const recorder = await Recorder.open({ url: spool.device_url, folder: tempFolder(t), credentials });
    const { claim } = await app.call('POST /devices/claims', { body: { kind: 'owner' } });
    await recorder.claim(claim);
    const recording = await recorder.record(FORMAT, { chunk_ms: 50 });
    await recording.write(randomBytes(8_000 * 2 * 2));
    await recording.end();
    await recorder.settled();
    await recorder.close();
    const { items } = await app.call('GET /audio/streams');
    return items[0];
  };
  t.match(await record(), { stored_chunks: 40, chunks: 40, end_ms: 2_000 });
  const together = await requests('POST /device/chunks');
  t.ok(together > 0 && together <= 40, `${together} requests`);
  t.equal(await requests('POST /device/chunks/intents'), 0);

  const { storeChunks } = DeviceClient.prototype;
  t.teardown(() => Object.assign(DeviceClient.prototype, { storeChunks }));
  const refused = () => Promise.reject(new CallRefused(413, 'PAYLOAD_TOO_LARGE', 'too large for a proxy', null));
  Object.assign(DeviceClient.prototype, { storeChunks: refused });
  t.match(await record(), { stored_chunks: 40, chunks: 40, end_ms: 2_000 });
  t.equal(await requests('POST /device/chunks/intents'), 40, 'one by one');
  let lost = 0;
  async function answerLost(this: DeviceClient, body: ChunkArrivalsBody) {
    const answer = await storeChunks.call(this, body);
    if (lost++ === 0) throw new NoAnswer({ code: 'ECONNRESET' });
    return answer;
  }
  Object.assign(DeviceClient.prototype, { storeChunks: answerLost });
  t.match(await record(), { stored_chunks: 40, chunks: 40, end_ms: 2_000 });
  t.ok(lost > 1);
  t.equal(await requests('POST /device/chunks/intents'), 40, 'the same request is sent again');
});

t.test('bodies of the kit are CBOR as the server writes it, but for the order of keys', async (t) => {
  const body = { a: 'ä', b: [0, 23, 24, 70_000, 2 ** 40, -1, -500], c: new Uint8Array([1, 2]), d: {}, e: undefined };
  const decoded = decodeCbor(encodeCborBody(body));
  t.ok(decoded.ok);
  t.same(decoded.ok && encodeCbor(decoded.value), encodeCbor(body));
  t.throws(() => encodeCborBody(1.5), RangeError);
});
