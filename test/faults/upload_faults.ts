import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import https from 'node:https';
import { delimiter, join } from 'node:path';
import {
  type DeviceClient,
  type DeviceCredentials,
  type IntentView,
  sha256Of,
} from '../../kits/typescript/src/device_client.js';
import { answerOf } from '../driver/history.js';
import type { Servers } from '../driver/servers.js';
import type { AppClient } from '../fixtures/app_client.js';
import { ARRIVED, audioOf, differences } from '../fixtures/stored_audio.js';
import { until } from '../fixtures/until.js';

import type { Trial } from './trial.js';

/**
 * Fault 15: uploads that are cut off, repeated at once, of a wrong size or with a wrong hash. Of fault 4 what concerns
 * audio: uploads to a disk without room.
 */

const CHUNK_BYTES_MAX = 200_000;
const CHUNK_MS = 100;
const CUT_AFTER_MS_MAX = 12;
const AT_ONCE = 4;
/** One that is appended to a segment, and one that is a file of its own. */
const CHUNK_BYTES = { small: 10_000, large: 300_000 };
/** Less than any chunk. */
const ROOM_BYTES = 2_048;
/** Chunks of one request, and room for the first of them. */
const TOGETHER = 8;
const SOME_ROOM_BYTES = 45_000;

type Upload = { device: DeviceClient; credentials: DeviceCredentials; url: string; path: string; bytes: Buffer };

/** A device has only so many uploads under way, and one that was cut counts until the server has noticed. */
const TOO_MANY = 429;

/** What is done to an upload before it is made as it should be; null, or what was wrong with the answer. */
const FAULTS: ((trial: Trial, upload: Upload) => Promise<string | null>)[] = [
  async (trial, upload) => {
    await cutUpload(upload, trial.random.below(upload.bytes.length), trial.random.below(CUT_AFTER_MS_MAX));
    return null;
  },
  async (_trial, { device, path, bytes }) => {
    const { status } = await device.send('PUT', path, { body: bytes.subarray(1) });
    return status === 400 || status === TOO_MANY ? null : `a wrong size: ${status}`;
  },
  async (_trial, { device, path, bytes }) => {
    const other = Buffer.from(bytes);
    other[0] = (other[0] ?? 0) ^ 1;
    const { status } = await device.send('PUT', path, { body: other });
    return status === 422 || status === TOO_MANY ? null : `a wrong hash: ${status}`;
  },
  async (trial, upload) => {
    const { device, path, bytes } = upload;
    const both = [device.send('PUT', path, { body: bytes }), device.send('PUT', path, { body: bytes })];
    await cutUpload(upload, trial.random.below(bytes.length), trial.random.below(CUT_AFTER_MS_MAX));
    const statuses = (await Promise.all(both)).map(({ status }) => status);
    const are_right = statuses.every((status) => [200, 409, TOO_MANY, 503].includes(status));
    return are_right ? null : `two at once: ${statuses}`;
  },
];

/** A bound device with a stream, and the chunks that it announces, one behind the other. */
class Recording {
  readonly #stream: { source_stream_ref: string; binding_epoch: string };
  #sequence = 0;

  private constructor(
    readonly app: AppClient,
    readonly device: DeviceClient,
    readonly credentials: DeviceCredentials,
    epoch: string,
  ) {
    this.#stream = { source_stream_ref: randomUUID(), binding_epoch: epoch };
  }

  static async open(rig: Servers): Promise<Recording> {
    const { access_token: token } = await rig.signIn('owner@x.test');
    const [app] = rig.clients(token) as [AppClient];
    const { devices, epoch, credentials } = await rig.boundDevice(app);
    const recording = new Recording(app, devices[0] as DeviceClient, credentials, epoch);
    await recording.device.ask('POST', '/device/streams', {
      ...recording.#stream,
      ...{ captured_at: '2026-01-01T12:00:00Z', clock_uncertainty_ms: 5 },
    });
    return recording;
  }

  intend(bytes: Buffer): Promise<IntentView> {
    const chunk = this.#announced();
    const { length: size_bytes } = bytes;
    return this.device.ask('POST', '/device/chunks/intents', {
      ...{ ...this.#stream, ...chunk, size_bytes, sha256: sha256Of(bytes) },
    });
  }

  /** A request with chunks and their bytes, to be made as often as it takes. */
  arrivals(all: Buffer[]): () => Promise<unknown> {
    const chunks = all.map((bytes) => ({ ...this.#announced(), bytes: bytes.toString('base64') }));
    return () => this.device.ask('POST', '/device/chunks', { ...this.#stream, chunks });
  }

  #announced() {
    const sequence = this.#sequence++;
    const start_ms = sequence * CHUNK_MS;
    return {
      ...{ source_chunk_ref: randomUUID(), sequence, codec: 'noise', container: 'raw' },
      ...{ source_start_ms: start_ms, publication_start_ms: start_ms, source_end_ms: start_ms + CHUNK_MS },
    };
  }
}

/** Of each item of an answer to chunks with their bytes, whether its bytes are there. */
function arrivedOf(body: unknown): boolean[] {
  const { items = [] } = body as { items?: { status?: string }[] };
  return items.map(({ status }) => ARRIVED.has(status ?? ''));
}

export async function uploadsSpoilt(trial: Trial): Promise<void> {
  // A device here asks for more in a second than its limit allows, as the server has become faster.
  const rig = await trial.open({ env: { RATE_LIMITS: 'off' } });
  const recordings: Recording[] = [];
  for (let n = 0; n < AT_ONCE; n++) recordings.push(await Recording.open(rig));
  const { app } = recordings[0] as Recording;
  const stored: string[] = [];
  const one = async (recording: Recording) => {
    const { device, credentials } = recording;
    const bytes = Buffer.from(trial.random.bytes(1 + trial.random.below(CHUNK_BYTES_MAX)));
    const intent = await recording.intend(bytes);
    const path = intent.upload_path;
    const wrong = await trial.random.pick(FAULTS)(trial, {
      device,
      credentials,
      url: rig.first.device_url,
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
  await trial.repeat(() => Promise.all(recordings.map(one)));
  await audioIsThere(trial, { rig, app, stored });
  trial.must(stored.length >= AT_ONCE, `only ${stored.length} chunks were stored`);
  trial.noSecrets(rig);
}

/** What is stored lies there and nothing else; `stored` holds the hashes of what was acknowledged. */
async function audioIsThere(
  trial: Trial,
  { rig, app, stored }: { rig: Servers; app: AppClient; stored: string[] },
): Promise<void> {
  let audio = await audioOf(app, join(rig.folder, 'blobs'));
  await until('only what is stored lies there', async () => {
    audio = await audioOf(app, join(rig.folder, 'blobs'));
    return differences(audio).unclaimed.length === 0;
  }).catch(() => {});
  const { unclaimed, missing } = differences(audio);
  trial.none('bytes that no chunk claims', unclaimed);
  trial.none('stored chunks without bytes', missing);
  const there = new Set(audio.stored.map((one) => one.slice(37)));
  trial.none(
    'acknowledged chunks that are not there',
    stored.filter((sha256) => !there.has(sha256)),
  );
}

/** Whether this machine can bound the files of a process that runs. */
export const canBoundFiles = (process.env.PATH ?? '')
  .split(delimiter)
  .some((folder) => existsSync(join(folder, 'prlimit')));

/** From now on no file of the process may grow beyond so many bytes, as on a disk without room. */
function boundFiles(pid: number, bytes: number | 'unlimited'): void {
  const { status, stderr } = spawnSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`prlimit: ${stderr}`);
}

/** The disk of audio is full: nothing becomes `stored`, what was stored is read, and retries succeed once there is room. */
export async function uploadsWithoutRoom(trial: Trial): Promise<void> {
  const rig = await trial.open();
  const recording = await Recording.open(rig);
  const { app, device } = recording;
  const { pid } = rig.first;
  const chunk = async (size: number) => {
    const bytes = Buffer.from(trial.random.bytes(size));
    return { bytes, ...(await recording.intend(bytes)) };
  };
  const statusOf = async (id: string) => (await device.ask<{ status: string }>('GET', `/device/chunks/${id}`)).status;
  const before = await chunk(CHUNK_BYTES.small);
  await device.upload(before.upload_path, before.bytes);
  const chunks = [await chunk(CHUNK_BYTES.small), await chunk(CHUNK_BYTES.large)];
  boundFiles(pid, ROOM_BYTES);
  for (const { upload_path, bytes, chunk_id } of chunks) {
    const { status, code, retry_after_s } = await answerOf(device.upload(upload_path, bytes));
    trial.counts.refused += 1;
    trial.must(status === 503 && (retry_after_s ?? 0) > 0, `no room for ${bytes.length} bytes: ${status} ${code}`);
    trial.must(!ARRIVED.has(await statusOf(chunk_id)), `${bytes.length} bytes without room count as stored`);
  }
  const { status, body } = await app.send('GET', `/audio/chunks/${before.chunk_id}/content`);
  trial.must(status === 200 && before.bytes.equals(body), `what was stored is read: ${status}`);
  const together = Array.from({ length: TOGETHER }, () => Buffer.from(trial.random.bytes(CHUNK_BYTES.small)));
  const send = recording.arrivals([...together, Buffer.from(trial.random.bytes(CHUNK_BYTES.large))]);
  // Without room for any, and for some.
  for (const room of [ROOM_BYTES, SOME_ROOM_BYTES]) {
    boundFiles(pid, room);
    const { status, code } = await answerOf(send());
    trial.counts.refused += 1;
    trial.must(status === 503, `no room for chunks with their bytes: ${status} ${code}`);
  }
  boundFiles(pid, 'unlimited');
  const sent = await send();
  trial.must(arrivedOf(sent).length === TOGETHER + 1, 'an item for each chunk');
  trial.must(arrivedOf(sent).every(Boolean), `chunks with their bytes once there is room: ${JSON.stringify(sent)}`);
  trial.counts.ok += 1;
  for (const { upload_path, bytes, chunk_id } of chunks) {
    const retried = await answerOf(device.upload(upload_path, bytes));
    trial.counts.ok += 1;
    trial.must(retried.status === 200, `a retry once there is room: ${retried.status} ${retried.code}`);
    trial.must(ARRIVED.has(await statusOf(chunk_id)), `${bytes.length} bytes are stored`);
  }
  const stored = [...[before, ...chunks].map(({ bytes }) => bytes), ...together].map(sha256Of);
  await audioIsThere(trial, { rig, app, stored });
  trial.tries += chunks.length;
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
