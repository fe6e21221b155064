import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { StreamMessage } from '../../actors/recordings/stream.js';
import type { ChunkIntent, Stream } from '../../actors/recordings/stream_state.js';
import { partitionOfId, privateWorkspaceId } from '../../src/domain/ids.js';
import { isRefusal } from '../../src/domain/refusals.js';
import { streamFolder } from '../../src/engine/blobs/blob_keys.js';
import { randomId } from '../../src/engine/random/random.js';
import { scenario } from '../driver/scenario.js';
import { SpoolProcess } from '../driver/spool_process.js';
import type { AppClient } from '../fixtures/app_client.js';
import { TestSpool } from '../fixtures/spool.js';

type Size = { streams: number; chunks: number; blobs: number; seconds: number; p99_factor_max: number };

scenario<Size>({
  title: 'D-037 an account with many streams is erased while others go on',
  smoke: { streams: 40, chunks: 4, blobs: 2, seconds: 1, p99_factor_max: Infinity },
  full: { streams: 10_000, chunks: 100, blobs: 10, seconds: 30, p99_factor_max: 2 },
  run: erasure,
});

const OWNER = 'big@x.test';
const OTHERS = 8;
const AT_ONCE = 32;
const OPEN_MAX = 50;
/** Requests of the others, a second. */
const RATE = 100;
const DAY_MS = 24 * 3_600_000;
const HASH = createHash('sha256').update('').digest('hex');

/** What the requests of others take without it and meanwhile; `chunks` and `blobs` are per stream. */
async function erasure(t: Test, size: Size): Promise<void> {
  const { seconds } = size;
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  const { folder } = spool;
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const owner = await spool.signIn(OWNER);
  const began = performance.now();
  await fill(spool, owner.session.user.id, size).finally(() => spool.close());
  t.comment(
    `${size.streams} streams with ${size.streams * size.chunks} chunk records made in ${secondsSince(began)} s`,
  );

  const server = await new SpoolProcess(folder).ready();
  const operator = server.operator();
  const clients: AppClient[] = [];
  t.teardown(async () => {
    for (const client of [operator, ...clients]) client.close();
    await server.stop();
  });
  const seen = new Set<string>();
  const signIn = (app: AppClient, email: string) =>
    app.signIn(email, async () => {
      const code = await operator.readCode(email, seen);
      seen.add(code);
      return code;
    });
  const client = () => {
    const app = server.client();
    clients.push(app);
    return app;
  };
  const signInOwner = async () => {
    const app = client();
    await signIn(app, OWNER);
    return app;
  };
  const others = Array.from({ length: OTHERS }, client);
  const signInOthers = async () => {
    for (const [n, app] of others.entries()) await signIn(app, `other${n}@x.test`);
  };
  seen.add(await operator.readCode(OWNER)); // of the sign-in above
  await signInOthers();
  await load(others, () => false, seconds / 6); // warm
  const alone = await load(others, () => false, seconds);
  t.comment(`without: ${says(alone)}`);
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
  t.comment(`beside it (${secondsSince(due)} s): ${says(beside)}`);
  const left = await readdir(join(folder, 'blobs'), { recursive: true });
  t.same(
    left.filter((name) => name.split('/').length === 3),
    [],
    'no audio is left',
  );
  const factor = beside.p99_ms / alone.p99_ms;
  t.ok(beside.count === 0 || factor <= size.p99_factor_max, `p99 ${factor.toFixed(2)}x`);
  t.equal(beside.failed, 0, 'no request of others failed');
  t.equal((await (await signInOwner()).send('POST', '/me/restore')).status, 204, 'its owner begins anew');
}

/** Streams with chunks, half of them stored, by the messages that device routes send. */
async function fill(spool: TestSpool, account_id: string, { streams, chunks, blobs }: Size): Promise<void> {
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
        await Promise.all(
          numbers.map((n) =>
            ask(id, { type: 'stored', number: n + 1, place: `${'0'.repeat(17)}@${n}`, upload_started_at_ms: 0 }),
          ),
        );
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

function says({ count, failed, p50_ms, p99_ms, max_ms }: Load): string {
  const figures = [p50_ms, p99_ms, max_ms].map((ms) => ms.toFixed(2));
  return `${count} requests, ${failed} failed, p50 ${figures[0]}, p99 ${figures[1]}, max ${figures[2]} ms`;
}

function secondsSince(began: number): string {
  return ((performance.now() - began) / 1000).toFixed(1);
}
