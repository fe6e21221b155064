import { randomUUID } from 'node:crypto';
import https from 'node:https';
import { join } from 'node:path';
import {
  type DeviceClient,
  type DeviceCredentials,
  type IntentView,
  sha256Of,
} from '../../src/client/device_client.js';
import { until } from '../fixtures/until.js';
import { audioOf, differences } from '../server/audio_crashes.js';
import { answerOf } from './history.js';
import { FaultRig } from './rig.js';
import type { Trial } from './trial.js';

/** Fault 15: uploads that are cut off, repeated at once, of a wrong size or with a wrong hash. */

const CHUNK_BYTES_MAX = 200_000;
const CHUNK_MS = 100;
const CUT_AFTER_MS_MAX = 12;
const AT_ONCE = 4;

type Upload = { device: DeviceClient; credentials: DeviceCredentials; url: string; path: string; bytes: Buffer };

/** What is done to an upload before it is made as it should be; null, or what was wrong with the answer. */
const FAULTS: ((trial: Trial, upload: Upload) => Promise<string | null>)[] = [
  async (trial, upload) => {
    await cutUpload(upload, trial.random.below(upload.bytes.length), trial.random.below(CUT_AFTER_MS_MAX));
    return null;
  },
  async (_trial, { device, path, bytes }) => {
    const { status } = await device.send('PUT', path, { body: bytes.subarray(1) });
    return status === 400 ? null : `a wrong size: ${status}`;
  },
  async (_trial, { device, path, bytes }) => {
    const other = Buffer.from(bytes);
    other[0] = (other[0] ?? 0) ^ 1;
    const { status } = await device.send('PUT', path, { body: other });
    return status === 422 ? null : `a wrong hash: ${status}`;
  },
  async (trial, upload) => {
    const { device, path, bytes } = upload;
    const both = [device.send('PUT', path, { body: bytes }), device.send('PUT', path, { body: bytes })];
    await cutUpload(upload, trial.random.below(bytes.length), trial.random.below(CUT_AFTER_MS_MAX));
    const statuses = (await Promise.all(both)).map(({ status }) => status);
    return statuses.every((status) => status === 200 || status === 409 || status === 503)
      ? null
      : `two at once: ${statuses}`;
  },
];

export async function uploadsSpoilt(trial: Trial): Promise<void> {
  const rig = await FaultRig.open();
  try {
    const { token } = await rig.signIn('owner@x.test');
    const [app] = rig.clients(token);
    if (app === undefined) throw new Error('no server');
    const { devices, epoch, credentials } = await rig.boundDevice(app);
    const device = devices[0] as DeviceClient;
    const stream = { source_stream_ref: randomUUID(), binding_epoch: epoch };
    await device.ask('POST', '/device/streams', {
      ...stream,
      captured_at: '2026-01-01T12:00:00Z',
      clock_uncertainty_ms: 5,
    });
    const stored: string[] = [];
    let sequence = 0;
    const one = async () => {
      const bytes = Buffer.from(trial.random.bytes(1 + trial.random.below(CHUNK_BYTES_MAX)));
      const number = sequence++;
      const span = { source_start_ms: number * CHUNK_MS, publication_start_ms: number * CHUNK_MS };
      const intent = await device.ask<IntentView>('POST', '/device/chunks/intents', {
        ...{ ...stream, ...span, source_chunk_ref: randomUUID(), sequence: number },
        ...{ source_end_ms: (number + 1) * CHUNK_MS, codec: 'noise', container: 'raw' },
        ...{ size_bytes: bytes.length, sha256: sha256Of(bytes) },
      });
      const path = intent.upload_path;
      const wrong = await trial.random.pick(FAULTS)(trial, {
        device,
        credentials,
        url: rig.first.process.device_url,
        path,
        bytes,
      });
      trial.must(wrong === null, wrong ?? '');
      const { status } = await answerOf(device.ask('GET', `/device/chunks/${intent.chunk_id}`));
      trial.counts[status === 200 ? 'ok' : 'refused'] += 1;
      // One that is cut off holds its place until the server has noticed.
      await until('a retry succeeds', async () => (await answerOf(device.upload(path, bytes))).status === 200);
      trial.counts.ok += 1;
      stored.push(sha256Of(bytes));
    };
    await trial.repeat(() => Promise.all(Array.from({ length: AT_ONCE }, one)));
    let left = differences(await audioOf(app, join(rig.folder, 'blobs')));
    await until('only what is stored lies there', async () => {
      left = differences(await audioOf(app, join(rig.folder, 'blobs')));
      return left.unclaimed.length === 0;
    }).catch(() => {});
    const { unclaimed, missing, wrong } = left;
    trial.none('bytes that no chunk claims', unclaimed);
    trial.none('stored chunks without bytes', missing);
    trial.none('stored chunks with other bytes', wrong);
    const there = new Set((await audioOf(app, join(rig.folder, 'blobs'))).stored.values());
    trial.none(
      'acknowledged chunks that are not there',
      stored.filter((sha256) => !there.has(sha256)),
    );
    trial.must(stored.length >= AT_ONCE, `only ${stored.length} chunks were stored`);
    trial.noSecrets(rig);
  } finally {
    await rig.end();
  }
}

/** Sends so many bytes of an upload and cuts the connection. */
function cutUpload({ url, path, credentials, bytes }: Upload, count: number, after_ms: number): Promise<void> {
  const { certificate_pem, private_key_pem, ca_pem } = credentials;
  return new Promise((resolve) => {
    const request = https.request(new URL(path, url), {
      method: 'PUT',
      agent: new https.Agent({ cert: certificate_pem + ca_pem, key: private_key_pem, ca: ca_pem }),
      headers: { 'Content-Length': bytes.length, 'Content-Type': 'application/octet-stream' },
    });
    request.on('error', () => {}).on('close', () => resolve());
    request.on('response', (response) => response.resume());
    request.write(bytes.subarray(0, count), () => setTimeout(() => request.destroy(), after_ms));
  });
}
