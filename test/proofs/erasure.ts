import { createHash } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { StreamMessage } from '../../actors/stream.js';
import type { ChunkIntent, Stream } from '../../actors/stream_state.js';
import { streamFolder } from '../../src/blobs/blob_keys.js';
import { partitionOfId, privateWorkspaceId } from '../../src/domain/ids.js';
import { isRefusal } from '../../src/domain/refusals.js';
import { randomId } from '../../src/random.js';
import type { AppClient } from '../../src/tools/client/app_client.js';
import { TestSpool } from '../fixtures/spool.js';
import { SpoolProcess } from '../fixtures/spool_process.js';

/**
 * An account with many streams and chunk records is erased while others go on: what their requests take without it and
 * meanwhile. `npm run prove -- erasure [--streams 10000] [--chunks 100] [--blobs 10] [--seconds 30]`
 * (chunks and blobs are per stream).
 */
const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    streams: { type: 'string', default: '10000' },
    chunks: { type: 'string', default: '100' },
    blobs: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '30' },
  },
});
const [streams, chunks, blobs, seconds] = [values.streams, values.chunks, values.blobs, values.seconds].map(Number) as [
  number,
  number,
  number,
  number,
];
const OWNER = 'big@x.test';
const OTHERS = 8;
const AT_ONCE = 32;
const OPEN_MAX = 50;
/** Requests of the others, a second. */
const RATE = 100;
const P99_FACTOR_MAX = 2;
const DAY_MS = 24 * 3_600_000;
const HASH = createHash('sha256').update('').digest('hex');

const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
const folder = spool.folder;
let server: SpoolProcess | null = null;
try {
  const owner = await spool.signIn(OWNER);
  const began = performance.now();
  await fill(owner.session.user.id);
  console.log(`${streams} streams with ${streams * chunks} chunk records made in ${secondsSince(began)} s`);
  await spool.close();

  server = await new SpoolProcess(folder).ready();
  const operator = server.operator();
  const seen = new Set<string>();
  const signIn = (app: AppClient, email: string) =>
    app.signIn(email, async () => {
      const code = await operator.readCode(email, seen);
      seen.add(code);
      return code;
    });
  const signInOwner = async () => {
    const app = (server as SpoolProcess).client();
    await signIn(app, OWNER);
    return app;
  };
  const others = Array.from({ length: OTHERS }, () => (server as SpoolProcess).client());
  const signInOthers = async () => {
    for (const [n, app] of others.entries()) await signIn(app, `other${n}@x.test`);
  };
  seen.add(await operator.readCode(OWNER)); // of the sign-in above
  await signInOthers();
  await load(others, () => false, 5); // warm
  const alone = await load(others, () => false, seconds);
  show('without', alone);
  await (await signInOwner()).ask('DELETE', '/me');
  const due = performance.now();
  let erased = false;
  const clock = operator.advanceClock(7 * DAY_MS).then(() => {
    erased = true;
  });
  // The clock has moved past their tokens.
  await new Promise((resolve) => setTimeout(resolve, 200));
  await signInOthers();
  const beside = await load(others, () => erased, 600);
  await clock;
  show(`beside it (${secondsSince(due)} s)`, beside);
  const left = await readdir(join(folder, 'blobs'), { recursive: true }).catch(() => []);
  const files = left.filter((name) => name.split('/').length === 3);
  const factor = beside.p99_ms / alone.p99_ms;
  console.log(`p99 ${factor.toFixed(2)}x; audio files left: ${files.length}`);
  const restored = await (await signInOwner()).ask('POST', '/me/restore').then(
    () => true,
    () => false,
  );
  if (factor > P99_FACTOR_MAX || files.length > 0 || !restored || beside.failed > 0) process.exitCode = 1;
} finally {
  await server?.stop();
  await spool.end().catch(() => {});
}

/** Streams with chunks, half of them stored, by the messages that device routes send. */
async function fill(account_id: string): Promise<void> {
  const { runtime, settings } = spool.server.services;
  const partition = partitionOfId(account_id);
  const drawn = () => randomId({ partition, now_ms: Date.now() });
  const ask = async (id: string, message: StreamMessage) => {
    const answer = await runtime.ask({ kind: 'stream', id }, message);
    if (isRefusal(answer)) throw new Error(`${message.type}: ${answer.message}`);
    return answer;
  };
  let made = 0;
  const fillOn = async () => {
    while (made < streams) {
      made += 1;
      const id = drawn();
      const registered: Omit<Extract<StreamMessage, { type: 'register' }>, 'type'> = {
        account_id,
        workspace_id: privateWorkspaceId(account_id, 1),
        source_id: drawn(),
        recorder: null,
        captured_at: new Date().toISOString(),
        title: null,
        end_ms: null,
        silent: false,
      };
      (await ask(id, { type: 'register', ...registered })) as Stream;
      for (let from = 0; from < chunks; from += OPEN_MAX) {
        const numbers = Array.from({ length: Math.min(OPEN_MAX, chunks - from) }, (_, n) => from + n);
        await Promise.all(
          numbers.map((n) => ask(id, { type: 'intend', intent: intentOf(drawn(), n), content: `${n}` })),
        );
        await Promise.all(numbers.map((n) => ask(id, { type: 'stored', number: n + 1, upload_started_at_ms: 0 })));
      }
      const place = join(settings.data_dir, 'blobs', streamFolder(id));
      await mkdir(place, { recursive: true });
      for (let n = 0; n < blobs; n++) await writeFile(join(place, drawn()), 'audio');
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, fillOn));
}

function intentOf(source_chunk_ref: string, sequence: number): ChunkIntent {
  const source_start_ms = sequence * 1_000;
  return {
    source_chunk_ref,
    sequence,
    source_start_ms,
    publication_start_ms: source_start_ms,
    source_end_ms: source_start_ms + 1_000,
    codec: 'opus',
    container: 'ogg',
    size_bytes: 5,
    sha256: HASH,
  };
}

type Load = { count: number; failed: number; p50_ms: number; p99_ms: number; max_ms: number };

/** Reads, writes and polls of other accounts at a fixed rate, whatever the answers take. */
async function load(apps: AppClient[], isOver: () => boolean, for_s: number): Promise<Load> {
  const took: number[] = [];
  let failed = 0;
  const under_way: Promise<void>[] = [];
  const until = performance.now() + for_s * 1000;
  for (let n = 0; performance.now() < until && !isOver(); n++) {
    const app = apps[n % apps.length] as AppClient;
    const kind = n % 4;
    const began = performance.now();
    const asked =
      kind === 0
        ? app.send('PATCH', '/me', { body: { name: `name ${n}` } })
        : app.send('GET', kind === 1 ? '/events?limit=10' : '/me');
    under_way.push(
      asked.then(({ status }) => {
        took.push(performance.now() - began);
        if (status >= 300) failed += 1;
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, began + 1000 / RATE - performance.now())));
  }
  await Promise.all(under_way);
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0;
  return { count: took.length, failed, p50_ms: at(0.5), p99_ms: at(0.99), max_ms: at(1) };
}

function show(what: string, { count, failed, p50_ms, p99_ms, max_ms }: Load): void {
  const figures = [p50_ms, p99_ms, max_ms].map((ms) => ms.toFixed(2));
  console.log(
    `${what}: ${count} requests, ${failed} failed, p50 ${figures[0]}, p99 ${figures[1]}, max ${figures[2]} ms`,
  );
}

function secondsSince(began: number): string {
  return ((performance.now() - began) / 1000).toFixed(1);
}
