import t from 'tap';
import { chunkId } from '../../../src/domain/ids.js';
import { refuse } from '../../../src/domain/refusals.js';
import { partitionFolder, streamFolder } from '../../../src/engine/blobs/blob_keys.js';
import type { BlobStore } from '../../../src/engine/blobs/blob_store.js';
import { Backoff } from '../../../src/engine/jobs/backoff.js';
import { DuePoll } from '../../../src/engine/jobs/due_poll.js';
import { makeMetrics } from '../../../src/engine/metrics/metrics.js';
import { randomId } from '../../../src/engine/random/random.js';
import { actorsOf } from '../../../src/engine/runtime/actors.js';
import type { Runtime } from '../../../src/engine/runtime/runtime.js';
import type { AudioSweeps } from '../../../src/engine/store/audio_sweeps.js';
import type { ListPage, Store } from '../../../src/engine/store/store.js';
import { AudioSweep } from '../../../src/features/recordings/audio_sweep.js';
import { ChunkProcessing } from '../../../src/features/recordings/chunk_processing.js';
import { MissingAudio } from '../../../src/features/recordings/missing_audio.js';

const PARTITION = 3;
const QUARANTINED = refuse('INTERNAL', 'This entity is out of service.');
const metrics = makeMetrics();
const streamId = () => randomId({ partition: PARTITION, now_ms: Date.now() });

t.test('what fails is tried again ever later, up to a bound, and what was forgotten at once', async (t) => {
  const backoff = new Backoff({ first_ms: 10, max_ms: 40, kept_max: 2 });
  for (const [now_ms, until_ms] of [
    [0, 10],
    [10, 30],
    [30, 70],
    [70, 110],
  ] as const) {
    backoff.failed('a', now_ms);
    t.ok(backoff.isWaiting('a', until_ms - 1), `${until_ms - 1}`);
    t.notOk(backoff.isWaiting('a', until_ms), `${until_ms}`);
  }
  t.notOk(backoff.isWaiting('a', 0), 'a clock that went back keeps nothing');
  backoff.failed('b', 70);
  backoff.failed('c', 70);
  t.notOk(backoff.isWaiting('a', 71), 'the oldest gave way');
  backoff.succeeded('b');
  t.notOk(backoff.isWaiting('b', 71));
  t.ok(backoff.isWaiting('c', 71));
});

t.test('streams that are quarantined keep no chunk of others from being processed', async (t) => {
  const streams = Array.from({ length: 120 }, streamId);
  const good = streams.at(-1);
  const asked: string[] = [];
  const listDue = async (_queue: unknown, partition: number, { after, limit }: ListPage) => {
    if (partition !== PARTITION) return [];
    const from = after === undefined ? 0 : streams.indexOf(after.member) + 1;
    return streams.slice(from, from + limit).map((member) => ({ member, order: 0 }));
  };
  const store = {
    listDue,
    firstDue: async () => [[{ partition: PARTITION, at_ms: 0 }]],
  } as unknown as Store;
  const runtime = {
    async ask({ id }: { id: string }, { type }: { type: string }) {
      asked.push(id);
      if (id !== good) return QUARANTINED;
      return type === 'claim_chunks'
        ? { claimed: [{ number: 1, tries: 1 }] }
        : { chunk: { status: 'stored', place: 'p@0' }, stream: {} };
    },
  } as unknown as Runtime;
  let now_ms = Date.now();
  const parts = {
    store,
    actors: actorsOf(runtime),
    blobs: {} as BlobStore,
    metrics,
    log: { error() {} },
    now: () => now_ms,
  };
  const poll = new DuePoll({ ...parts, ownership: { owns: () => true } });
  const processing = new ChunkProcessing({ ...parts, poll, is_worker: false });
  const claim = () => processing.claim({ limit: 1, lease_ms: 1_000 });
  processing.offer(good as string, { key: '', parts: null });
  let found = await claim();
  for (let claims = 1; found.length === 0 && claims < 4; claims++) found = await claim();
  t.equal(found.length, 1);
  t.ok(asked.length <= streams.length + 1, 'each was asked once');
  asked.length = 0;
  t.equal((await claim()).length, 1);
  t.same([...new Set(asked)], [good], 'those that failed are left alone');
  now_ms += 6_000;
  await claim();
  t.ok(asked.includes(streams[0] as string), 'for a while');
});

t.test('a stream that is quarantined keeps neither others nor other partitions from being swept', async (t) => {
  const [quarantined, gone, other] = [streamId(), streamId(), randomId({ partition: 4, now_ms: Date.now() })].sort();
  const keys = [quarantined, gone, other].map((id) => `${streamFolder(id as string)}/${chunkId(id as string, 1)}`);
  const removed: string[] = [];
  const blobs = {
    partitions: async () => [partitionFolder(PARTITION), partitionFolder(4)],
    claim: async (name: string) => name,
    sweepTemporary: async () => 0,
    list: async function* (folder: string) {
      yield* keys.filter((key) => key.startsWith(folder));
    },
    removeOlder: async (key: string) => {
      removed.push(key);
      return 'removed';
    },
  } as unknown as BlobStore;
  const scheduled = new Map<string, number>();
  const sweeps = {
    lease: async (name: string) => !scheduled.has(name),
    postpone: async (name: string, at_ms: number) => void scheduled.set(name, at_ms),
    owner: async (draft: string) => draft,
  } as unknown as AudioSweeps;
  const store = {
    listDue: async (_: unknown, partition: number) =>
      partition === 0 ? [String(PARTITION), '4'].map((member) => ({ member, order: 0 })) : [],
    firstDue: async () => [[{ partition: 0, at_ms: 0 }]],
  } as unknown as Store;
  const ask = async ({ id }: { id: string }) => (id === quarantined ? QUARANTINED : refuse('NOT_FOUND', 'no stream'));
  const said: string[] = [];
  const log = { info() {}, error: (_: unknown, text: string) => said.push(text) };
  const runtime = { ask } as unknown as Runtime;
  const actors = actorsOf(runtime);
  const now = () => 0;
  const lost_audio = new MissingAudio({ actors, blobs, log: log as never, now });
  const poll = new DuePoll({ store, ownership: { owns: () => true }, log: log as never, now });
  const parts = { store, poll, actors, blobs, lost_audio, metrics, log: log as never, now };
  const sweep = new AudioSweep({ ...parts, sweeps, streamIds: async function* () {} });
  await sweep.worker.look();
  t.same(
    removed.sort(),
    keys
      .slice()
      .filter((key) => !key.includes(quarantined as string))
      .sort(),
  );
  t.ok((scheduled.get('4') ?? 0) > 12 * 3_600_000, 'done for today');
  t.match(said, [/out of service/]);
});
