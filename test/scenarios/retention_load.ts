import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Test } from 'tap';
import type { StreamMessage } from '../../actors/recordings/stream.js';
import type { Event } from '../../kits/typescript/src/api.js';
import { libraryId, partitionOfId } from '../../src/domain/ids.js';
import { isRefusal, orNull } from '../../src/domain/refusals.js';
import { randomId } from '../../src/engine/random/random.js';
import { scenario } from '../driver/scenario.js';
import { expectationOf } from '../engine/blobs/blob_store_contract.js';
import { allOf } from '../fixtures/colleagues.js';
import { TestSpool } from '../fixtures/spool.js';
import { until } from '../fixtures/until.js';

const AT_ONCE = 32;
/** Between two requests of one client: others work, and do not try to use up all there is. */
const PACE_MS = 5;
const SWEEP_MS_MAX = 60_000;
/** Of each chunk. */
const BYTES = randomBytes(2_000);

type Size = { records: number; streams: number; clients: number; beside: number };

scenario<Size>({
  title: 'I-018 a sweep of many records takes less than a minute, and others hardly notice',
  smoke: null,
  full: { records: 100_000, streams: 40, clients: 4, beside: 1.2 },
  run: retentionLoad,
});

/**
 * Chunks and signals of one workspace that all expire at once, beside others who read and write: how long their requests
 * take without the sweep, and beside it.
 */
async function retentionLoad(t: Test, { records, streams, clients, beside }: Size): Promise<void> {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const { actors, blobs, clock, metrics, retention, runtime } = spool.server.services;
  const { app, session } = await spool.signIn('many@x.test');
  const [own] = (await app.ask<{ workspaces: { id: string }[] }>('GET', '/me')).workspaces;
  const owner = { account_id: session.user.id, workspace_id: own?.id as string };
  const { id: source_id } = await app.ask<{ id: string }>('POST', '/sources', { name: 'Desk' });

  const expected = expectationOf(BYTES);
  /** As uploads and requests would store them. */
  const fill = async (chunks: number, signals: number) => {
    const id = randomId({ partition: partitionOfId(owner.account_id), now_ms: clock.now() });
    const captured_at = new Date(clock.now()).toISOString();
    const register: StreamMessage = {
      ...{ type: 'register', ...owner, source_id, recorder: null, captured_at, title: 'Talk', end_ms: null },
      silent: true,
    };
    const registered = await runtime.ask({ kind: 'stream', id }, register);
    if (isRefusal(registered)) throw new Error(registered.message);
    for (let number = 1; number <= chunks; number++) {
      const intent = {
        ...{ source_chunk_ref: randomUUID(), sequence: number, codec: 'opus', container: 'ogg' },
        ...{ source_start_ms: number * 10, publication_start_ms: number * 10, source_end_ms: number * 10 + 10 },
        ...{ size_bytes: expected.size_bytes, sha256: expected.sha256_hex },
      };
      await actors.stream(id).intend({ intent, content: intent.source_chunk_ref });
      const { source_chunk_ref } = intent;
      const [place] = (await blobs.append([{ stream_id: id, source_chunk_ref, bytes: BYTES }])) as [string];
      await actors.stream(id).stored({ number, place, upload_started_at_ms: clock.now() });
    }
    for (let at = 0; at < signals; at += 500) {
      const batch = Array.from({ length: Math.min(500, signals - at) }, (_, n) => ({
        ...{ id: randomUUID(), ref: `s${at + n}`, type: 'a.b', start_ms: at + n, end_ms: null, content: `${at + n}` },
        ...{ payload: '{"said":"something of some length"}', payload_bytes: 35 },
      }));
      await actors.signals(id).post({ ...owner, request: randomUUID(), signals: batch, staged: false });
    }
  };
  const each = records / streams / 2;
  await inLanes(streams, AT_ONCE, () => fill(each, each));

  const others = await Promise.all(Array.from({ length: clients }, (_, n) => spool.signIn(`other${n}@x.test`)));
  const measure = async (isOver: () => boolean): Promise<number[]> => {
    const took: number[] = [];
    const run = async (other: (typeof others)[number]) => {
      for (let n = 0; !isOver(); n++) {
        const began = performance.now();
        if (n % 4 === 0) await other.app.ask('PATCH', '/me', { name: `Name ${n}` });
        else await other.app.ask('GET', '/me');
        took.push(performance.now() - began);
        await setTimeout(PACE_MS);
      }
    };
    await Promise.all(others.map(run));
    return took.sort((a, b) => a - b);
  };
  const alone_until = performance.now() + 10_000;
  const alone = await measure(() => performance.now() > alone_until);

  await app.ask('PATCH', `/workspaces/${owner.workspace_id}`, {
    retention: { audio: { days: 0 }, transcripts: { days: 0 } },
  });
  const removed = async () => (await metrics.retention_removed.get()).values.reduce((sum, { value }) => sum + value, 0);
  let took_ms: number | null = null;
  const began = performance.now();
  const sweep = actors.sweep(owner.workspace_id);
  await until('its library is there', async () => {
    const library = actors.library(libraryId(owner.account_id, owner.workspace_id));
    return (await orNull(library.view(), 'NOT_FOUND')) !== null;
  });
  const isRunning = async () => (await sweep.view()).running !== null;
  const sweepAll = async () => {
    await sweep.tick();
    while (await isRunning()) await retention.worker.look();
    took_ms = performance.now() - began;
  };
  const swept = sweepAll();
  const during = await measure(() => took_ms !== null);
  await swept;
  const [event] = (await allOf<Event>(app, '/events')).filter(({ type }) => type === 'workspace.retention_applied');
  const p99 = (times: number[]) => times[Math.floor(times.length * 0.99)] as number;
  const [p99_alone, p99_during] = [p99(alone), p99(during)];
  t.equal(await removed(), records, 'all records went');
  t.match(event?.data, { buckets: { transcripts: { count: records / 2 } } });
  t.comment(
    `${records} records in ${Math.round(took_ms ?? 0)} ms; p99 of ${during.length} requests ${p99_during.toFixed(2)} ms beside, of ${alone.length} ${p99_alone.toFixed(2)} ms alone: ${(p99_during / p99_alone).toFixed(2)}x`,
  );
  t.ok((took_ms ?? Infinity) < SWEEP_MS_MAX, 'within a minute');
  t.ok(p99_during <= p99_alone * beside, `others' requests take at most ${beside} times as long`);
}

async function inLanes(count: number, lanes: number, work: () => Promise<void>): Promise<void> {
  let left = count;
  const lane = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
