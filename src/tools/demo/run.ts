import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import pMap from 'p-map';
import { AppClient } from '../client/app_client.js';
import { DeviceClient, sha256Of } from '../client/device_client.js';
import { type CallAnswer, payloadOf } from '../client/http_call.js';
import { OperatorClient } from '../client/operator_client.js';
import { UserError } from '../user_error.js';
import { Patience } from './patience.js';
import { type Lane, Progress } from './progress.js';
import type { Piece, Recording } from './recording.js';
import type { ChosenServer } from './server_choice.js';
import type { Outcome } from './summary.js';

const UPLOADS_IN_FLIGHT = 4;
const DEVICES_MADE_AT_ONCE = 8;
const DOWNLOADS_AT_ONCE = 8;
const EVENTS_MAX_MS = 30_000;
const POLL_MS = 100;
const PAGE = 100;

type Recorder = { device: DeviceClient; epoch: string; stream_id: string; source_stream_ref: string };

/** Records on all devices, waits for the events, listens back, and says what came of it. */
export async function runDemo(
  server: ChosenServer,
  { recording, devices, out }: { recording: Recording; devices: number; out: Writable },
): Promise<Outcome> {
  const clients: { close(): void }[] = [];
  const keep = <T extends { close(): void }>(client: T): T => {
    clients.push(client);
    return client;
  };
  const patience = new Patience();
  try {
    const operator = keep(new OperatorClient(server.operator_url, server.ops_token));
    const app = keep(new AppClient(server.base_url));
    const email = `demo-${randomBytes(5).toString('hex')}@spool.example`;
    await patience.ask(() => app.call('POST /auth/otp', { body: { email } }));
    const token = await operator.readCode(email);
    const session = await patience.ask(() => app.call('POST /auth/verify-otp', { body: { email, token } }));
    app.access_token = session.access_token;
    out.write(`signed in as ${email}\n`);

    const recorders: Recorder[] = [];
    await pMap(
      numbers(devices),
      async () => {
        recorders.push(await makeRecorder({ server, operator, app, patience, keep }));
      },
      { concurrency: DEVICES_MADE_AT_ONCE },
    );
    out.write(`${devices === 1 ? 'one device' : `${devices} devices`} provisioned and claimed\n`);

    const { cursor } = await patience.repeat(() => app.call('GET /events', { query: { after: 'latest' } }));
    const hashes = new Map<number, string>();
    const chunk_ms: number[] = [];
    const lanes = recorders.map((_, index) => laneOf(`device ${index + 1}`, recording));
    const began = performance.now();
    await shown(out, 'recording', lanes, () =>
      Promise.all(
        recorders.map((recorder, index) =>
          record(recorder, { recording, patience, hashes, chunk_ms, lane: lanes[index] as Lane }),
        ),
      ),
    );
    const recording_ms = performance.now() - began;

    const heard = await hearUpdates(app, { cursor, stream_ids: recorders.map(({ stream_id }) => stream_id), patience });
    out.write(`${heard} of ${devices} streams reported their end\n`);

    const back = recorders.map((_, index) => laneOf(`device ${index + 1}`, recording));
    let differing = 0;
    await shown(out, 'listening', back, async () => {
      await pMap(
        numbers(devices),
        async (index) => {
          const { stream_id } = recorders[index] as Recorder;
          differing += await listen(app, { stream_id, recording, patience, hashes, lane: back[index] as Lane });
        },
        { concurrency: DOWNLOADS_AT_ONCE },
      );
    });
    return {
      server: server.description,
      recording: `${recording.title} (${recording.description}), ${(recording.duration_ms / 1000).toFixed(1)} s`,
      devices,
      chunk_ms,
      bytes: lanes.reduce((total, { bytes }) => total + bytes, 0),
      recording_ms,
      retries: patience.retries,
      events: { wanted: devices, heard },
      differing,
    };
  } finally {
    for (const client of clients) client.close();
  }
}

/** A new device, claimed for the account, whose stream is registered. */
async function makeRecorder(world: {
  server: ChosenServer;
  operator: OperatorClient;
  app: AppClient;
  patience: Patience;
  keep<T extends { close(): void }>(client: T): T;
}): Promise<Recorder> {
  const { server, operator, app, patience, keep } = world;
  const credentials = await patience.ask(() => operator.provision('personal'));
  const device = keep(new DeviceClient(server.device_url, credentials, { maxSockets: UPLOADS_IN_FLIGHT }));
  const { claim } = await patience.ask(() => app.call('POST /devices/claims', { body: { kind: 'owner' } }));
  const { binding_epoch: epoch } = await patience.repeat(() =>
    device.call('POST /device/claims/redeem', { body: { claim } }),
  );
  const source_stream_ref = randomUUID();
  const body = {
    source_stream_ref,
    captured_at: new Date().toISOString(),
    clock_uncertainty_ms: 50,
    binding_epoch: epoch,
  };
  const { id: stream_id } = await patience.repeat(() => device.call('POST /device/streams', { body }));
  return { device, epoch, stream_id, source_stream_ref };
}

type Recordings = {
  recording: Recording;
  patience: Patience;
  hashes: Map<number, string>;
  chunk_ms: number[];
  lane: Lane;
};

/** Uploads all pieces and ends the stream. */
async function record({ device, epoch, source_stream_ref }: Recorder, run: Recordings): Promise<void> {
  const { recording, patience, hashes, chunk_ms, lane } = run;
  const { codec, container } = recording;
  await pMap(
    recording.pieces,
    async (piece: Piece) => {
      const { sequence, start_ms, end_ms, size_bytes } = piece;
      const bytes = await piece.read();
      const sha256 = hashes.get(sequence) ?? sha256Of(bytes);
      hashes.set(sequence, sha256);
      const intent = {
        ...{ source_chunk_ref: randomUUID(), source_stream_ref, sequence, binding_epoch: epoch },
        ...{ source_start_ms: start_ms, publication_start_ms: start_ms, source_end_ms: end_ms },
        ...{ codec, container, size_bytes, sha256 },
      };
      const began = performance.now();
      const { upload_path } = await patience.repeat(() => device.call('POST /device/chunks/intents', { body: intent }));
      const stored = await patience.repeat(() => device.upload(upload_path, bytes));
      if (stored.status !== 'stored') throw new UserError(`Chunk ${sequence} is ${stored.status} after its upload.`);
      chunk_ms.push(performance.now() - began);
      lane.chunks += 1;
      lane.bytes += size_bytes;
    },
    { concurrency: UPLOADS_IN_FLIGHT },
  );
  const end = { source_stream_ref, end_ms: recording.duration_ms, binding_epoch: epoch };
  await patience.repeat(() => device.call('POST /device/streams/end', { body: end }));
}

/** Polls forward until every stream was reported as updated, or the time is up; how many were. */
async function hearUpdates(
  app: AppClient,
  { cursor, stream_ids, patience }: { cursor: string | null; stream_ids: string[]; patience: Patience },
): Promise<number> {
  const missing = new Set(stream_ids);
  let after = cursor;
  for (const until = performance.now() + EVENTS_MAX_MS; missing.size > 0 && performance.now() < until; ) {
    const query = { limit: PAGE, after: after ?? 'latest' };
    const page = await patience.repeat(() => app.call('GET /events', { query }));
    for (const { type, resource } of page.items) if (type === 'stream.updated') missing.delete(resource.id);
    after = page.cursor;
    if (page.items.length === 0) await delay(POLL_MS);
  }
  return stream_ids.length - missing.size;
}

/** Downloads a stream's chunks as the account sees them; how many are missing or have other bytes. */
async function listen(
  app: AppClient,
  run: { stream_id: string; recording: Recording; patience: Patience; hashes: Map<number, string>; lane: Lane },
): Promise<number> {
  const { stream_id, recording, patience, hashes, lane } = run;
  let good = 0;
  let cursor: string | undefined;
  do {
    const query: { limit: number; cursor: string | undefined } = { limit: PAGE, cursor };
    const path = { id: stream_id };
    const page = await patience.repeat(() => app.call('GET /audio/streams/{id}/chunks', { path, query }));
    for (const { id, sequence } of page.items) {
      const { status, body } = await patience.repeat(() => contentOf(app, id));
      const sha256 = createHash('sha256').update(body).digest('hex');
      if (status === 200 && sha256 === hashes.get(sequence)) good += 1;
      lane.chunks += 1;
      lane.bytes += body.length;
    }
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  return recording.pieces.length - good;
}

/** The answer to a download, whatever it is; thrown when it says to come again. */
async function contentOf(app: AppClient, chunk_id: string): Promise<CallAnswer> {
  const answer = await app.send('GET', `/audio/chunks/${chunk_id}/content`);
  if (answer.status === 429 || answer.status === 503) payloadOf(answer, JSON.parse(answer.body.toString()));
  return answer;
}

async function shown<T>(out: Writable, title: string, lanes: Lane[], work: () => Promise<T>): Promise<T> {
  const progress = new Progress(out, title, lanes);
  try {
    return await work();
  } finally {
    progress.end();
  }
}

function laneOf(name: string, { pieces }: Recording): Lane {
  const bytes_total = pieces.reduce((total, { size_bytes }) => total + size_bytes, 0);
  return { name, bytes: 0, chunks: 0, bytes_total, chunks_total: pieces.length };
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
