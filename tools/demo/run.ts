import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import pMap from 'p-map';
import { AppClient } from '../../kits/typescript/src/app_client.js';
import { type CallAnswer, parsedBody, payloadOf } from '../../kits/typescript/src/call.js';
import { OperatorClient } from '../../kits/typescript/src/operator_client.js';
import { Patience } from '../../kits/typescript/src/retries.js';
import { showInsights } from './insights.js';
import { Progress, type UploadProgress } from './progress.js';
import { type DemoRecorder, makeRecorder, record, signIn } from './recorder.js';
import type { DemoRecording } from './recording.js';
import type { ChosenServer } from './server_choice.js';
import type { DemoOutcome } from './summary.js';
import { type Reading, showTurns, type Turn, transcriptOf } from './transcript.js';

const DEVICES_MADE_AT_ONCE = 8;
const DOWNLOADS_AT_ONCE = 8;
const EVENTS_MAX_MS = 30_000;
const POLL_MS = 100;
const PAGE = 100;

/** Records on all devices, waits for the events, listens back, and says what came of it. */
export async function runDemo(
  server: ChosenServer,
  { recording, devices, email, out }: { recording: DemoRecording; devices: number; email: string; out: Writable },
): Promise<DemoOutcome> {
  const clients: { close(): void }[] = [];
  const keep = <T extends { close(): void }>(client: T): T => {
    clients.push(client);
    return client;
  };
  const { device_url } = server;
  const patience = new Patience();
  try {
    const operator = keep(new OperatorClient(server.operator_url, server.ops_token));
    const app = keep(new AppClient(server.base_url, { patience: null }));
    await signIn({ app, operator, patience }, email);
    out.write(`signed in as ${email}\n`);

    const recorders: DemoRecorder[] = [];
    await pMap(
      numbers(devices),
      async () => {
        const recorder = await makeRecorder({ device_url, operator, app, patience });
        keep(recorder.device);
        recorders.push(recorder);
      },
      { concurrency: DEVICES_MADE_AT_ONCE },
    );
    out.write(`${devices === 1 ? 'one device' : `${devices} devices`} provisioned and claimed\n`);

    const { cursor } = await patience.repeat(() => app.call('GET /events', { query: { after: 'latest' } }));
    const hashes = new Map<number, string>();
    const chunk_ms: number[] = [];
    const lanes = recorders.map((_, index) => uploadProgressOf(`device ${index + 1}`, recording));
    const began = performance.now();
    await shown(out, 'recording', lanes, () =>
      Promise.all(
        recorders.map((recorder, index) =>
          record(recorder, { recording, patience, hashes, chunk_ms, lane: lanes[index] as UploadProgress }),
        ),
      ),
    );
    const recording_ms = performance.now() - began;

    const heard = await hearUpdates(app, { cursor, stream_ids: recorders.map(({ stream_id }) => stream_id), patience });
    out.write(`${heard} of ${devices} streams reported their end\n`);

    const back = recorders.map((_, index) => uploadProgressOf(`device ${index + 1}`, recording));
    let differing = 0;
    await shown(out, 'listening', back, async () => {
      await pMap(
        numbers(devices),
        async (index) => {
          const { stream_id } = recorders[index] as DemoRecorder;
          differing += await listen(app, {
            stream_id,
            recording,
            patience,
            hashes,
            lane: back[index] as UploadProgress,
          });
        },
        { concurrency: DOWNLOADS_AT_ONCE },
      );
    });
    const reading = { app, patience, stream_id: recorders[0]?.stream_id as string };
    const turns = await showHeard(out, reading, recording.duration_ms);
    if (turns.length > 0) await showInsights({ ...reading, operator, email, out }, turns);
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

/** Shows the text of the first device's recording, where the server makes text of recordings. */
async function showHeard(out: Writable, reading: Reading, end_ms: number): Promise<Turn[]> {
  const { engine } = await transcriptOf(reading);
  if (engine === null) return [];
  out.write('heard:\n');
  const turns = await showTurns(reading, { end_ms, out });
  if (turns?.length === 0) out.write('  nothing\n');
  return turns ?? [];
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
  run: {
    stream_id: string;
    recording: DemoRecording;
    patience: Patience;
    hashes: Map<number, string>;
    lane: UploadProgress;
  },
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
  if (answer.status === 429 || answer.status === 503) payloadOf(answer, parsedBody(answer));
  return answer;
}

async function shown<T>(out: Writable, title: string, lanes: UploadProgress[], work: () => Promise<T>): Promise<T> {
  const progress = new Progress(out, title, lanes);
  try {
    return await work();
  } finally {
    progress.end();
  }
}

export function uploadProgressOf(name: string, { pieces }: DemoRecording): UploadProgress {
  const bytes_total = pieces.reduce((total, { size_bytes }) => total + size_bytes, 0);
  return { name, bytes: 0, chunks: 0, bytes_total, chunks_total: pieces.length };
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
