import t from 'tap';
import { chunkId } from '../../../src/domain/ids.js';
import { pcm16Format, writeWav } from '../../../src/engine/audio/wav.js';
import { audioKey } from '../../../src/engine/blobs/blob_keys.js';
import type { BlobStore } from '../../../src/engine/blobs/blob_store.js';
import { DuePoll } from '../../../src/engine/jobs/due_poll.js';
import { makeMetrics } from '../../../src/engine/metrics/metrics.js';
import { randomId } from '../../../src/engine/random/random.js';
import { actorsOf } from '../../../src/engine/runtime/actors.js';
import type { Runtime } from '../../../src/engine/runtime/runtime.js';
import type { Store } from '../../../src/engine/store/store.js';
import { ChunkProcessing } from '../../../src/features/recordings/chunk_processing.js';
import { until } from '../../fixtures/until.js';

const PARTITION = 5;

t.test('what this process took is checked without reading it again', async (t) => {
  const stream_id = randomId({ partition: PARTITION, now_ms: Date.now() });
  const wav = writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: 8_000 }) }, Buffer.alloc(16_000));
  const chunk = {
    ...{ chunk_id: chunkId(stream_id, 1), codec: 'pcm_s16le', container: 'wav', size_bytes: wav.length },
    ...{ status: 'stored' as const, place: 'p@0' },
    ...{ source_start_ms: 0, source_end_ms: 1_000 },
  };
  let is_due = true;
  const results: unknown[] = [];
  const store = {
    listDue: async () => (is_due ? [{ member: stream_id, order: 0 }] : []),
    firstDue: async () => [[]],
  } as unknown as Store;
  const answers: Record<string, () => unknown> = {
    claim_chunks: () => ({ claimed: is_due ? [{ number: 1, tries: 1 }] : [] }),
    chunk: () => ({ chunk, stream: { id: stream_id } }),
  };
  const runtime = {
    async ask(_to: unknown, message: { type: string; results?: { result: unknown }[] }) {
      if (message.type !== 'chunk_results') return answers[message.type]?.();
      is_due = false;
      results.push(...(message.results ?? []).map(({ result }) => result));
      return { done: true };
    },
  } as unknown as Runtime;
  let opened = 0;
  const blobs = {
    async open() {
      opened += 1;
      return null;
    },
  } as unknown as BlobStore;
  const parts = { store, actors: actorsOf(runtime), blobs, metrics: makeMetrics(), log: { error() {} }, now: Date.now };
  const poll = new DuePoll({ ...parts, ownership: { owns: () => true } });
  const processing = new ChunkProcessing({ ...parts, poll, is_worker: true });
  processing.worker.start();
  const key = audioKey(stream_id, chunk);
  processing.offer(stream_id, { key, parts: [wav.subarray(0, 100), wav.subarray(100)] });
  await until('it is checked', () => results.length === 1);
  t.same(results, [{ status: 'processed', checked: true }]);
  t.equal(opened, 0);

  is_due = true;
  processing.offer(stream_id, { key, parts: null });
  await until('it is looked for', () => results.length === 2);
  t.match(results[1], { status: 'failed' }, 'what is not in memory is read, and here it is gone');
  t.equal(opened, 1);
  await processing.worker.stop();
});
