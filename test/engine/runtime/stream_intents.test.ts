import t from 'tap';
import { stream } from '../../../actors/recordings/stream.js';
import type { Chunk, ChunkIntent } from '../../../actors/recordings/stream_state.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { randomId } from '../../../src/engine/random/random.js';
import { TestRedis } from '../../fixtures/redis.js';
import { ServerProcess } from '../../fixtures/server_process.js';
import { WatchedStore } from '../../fixtures/watched_store.js';

const intent = (source_chunk_ref: string, sequence: number): ChunkIntent => ({
  source_chunk_ref,
  sequence,
  source_start_ms: 1_000 * sequence,
  publication_start_ms: 1_000 * sequence,
  source_end_ms: 1_000 * sequence + 1_000,
  codec: 'opus',
  container: 'ogg',
  size_bytes: 100,
  sha256: '0'.repeat(64),
});

t.test('many intents in one batch', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const { socket_path } = server;
  const process = await ServerProcess.open(t, { socket_path, kinds: [stream] });
  const register = async () => {
    const address = { kind: 'stream', id: randomId({ partition: 1, now_ms: Date.now() }) };
    await process.runtime.ask(address, {
      ...{
        type: 'register',
        account_id: randomId({ partition: 1, now_ms: Date.now() }),
        workspace_id: 'w',
        source_id: 's',
      },
      ...{ recorder: null, captured_at: '2026-01-01T00:00:00Z', title: null, end_ms: null, silent: false },
    });
    return address;
  };
  const ask = (address: { kind: string; id: string }, intents: ChunkIntent[], by = process) =>
    Promise.all(
      intents.map((intent) =>
        by.counted(by.runtime.ask(address, { type: 'intend', intent, content: JSON.stringify(intent) })),
      ),
    );
  const chunksOf = async (address: { kind: string; id: string }) =>
    (await process.runtime.ask<{ chunks: { source_chunk_ref: string }[] }>(address, {
      type: 'list_chunks',
      range: { limit: 100 },
    })) as { chunks: { source_chunk_ref: string }[] };

  await t.test('50 equal ones make one chunk and hear the same', async (t) => {
    const address = await register();
    const batches = process.batchesOf(address);
    const replies = (await ask(address, new Array<ChunkIntent>(50).fill(intent('a', 1)))) as {
      chunk: { chunk_id: string };
    }[];
    t.equal(process.batchesOf(address), batches + 1, 'in one batch');
    t.equal(new Set(replies.map(({ chunk }) => JSON.stringify(chunk))).size, 1);
    t.equal((await chunksOf(address)).chunks.length, 1);
    t.same(
      await ask(address, [intent('a', 1)]).then(([again]) => (again as (typeof replies)[0])?.chunk.chunk_id),
      replies[0]?.chunk.chunk_id,
    );
  });

  await t.test('of 50 with one sequence and other refs one wins, 49 hear CONFLICT', async (t) => {
    const address = await register();
    const batches = process.batchesOf(address);
    const replies = await ask(
      address,
      Array.from({ length: 50 }, (_, i) => intent(`ref-${i}`, 1)),
    );
    t.equal(process.batchesOf(address), batches + 1, 'in one batch');
    t.notOk(isRefusal(replies[0]), 'the first one wins');
    t.equal(replies.filter((reply) => isRefusal(reply) && reply.refused === 'CONFLICT').length, 49);
    t.same(
      (await chunksOf(address)).chunks.map((chunk) => chunk.source_chunk_ref),
      ['ref-0'],
    );
  });

  await t.test('50 with one ref and other contents: one wins, 49 hear CONFLICT', async (t) => {
    const address = await register();
    const replies = await ask(
      address,
      Array.from({ length: 50 }, (_, i) => intent('ref', i)),
    );
    t.equal(replies.filter((reply) => isRefusal(reply) && reply.refused === 'CONFLICT').length, 49);
    t.equal((await chunksOf(address)).chunks.length, 1);
  });

  await t.test('a list asked for between two intents of one batch holds the first and not the second', async (t) => {
    const address = await register();
    const [, listed] = await Promise.all([
      ask(address, [intent('a', 1)]),
      chunksOf(address),
      ask(address, [intent('b', 2)]),
    ]);
    t.same(
      listed.chunks.map((chunk) => chunk.source_chunk_ref),
      ['a'],
    );
    t.equal((await chunksOf(address)).chunks.length, 2);
  });

  await t.test('new ones are not looked for before their commit, and known ones are found', async (t) => {
    const address = await register();
    const [first] = await ask(address, [intent('a', 1), intent('b', 2)]);
    const watched = new WatchedStore();
    const other = await ServerProcess.open(t, { socket_path, kinds: [stream], wrap: watched.wrap });
    const chunkOf = (reply: unknown) => (isRefusal(reply) ? reply.refused : (reply as { chunk: Chunk }).chunk.chunk_id);
    const asked = async (...intents: ChunkIntent[]) => (await ask(address, intents, other)).map(chunkOf);

    const [third] = await asked(intent('c', 3));
    t.equal(watched.count('query'), 0, 'nothing was read');
    t.equal(watched.count('commit'), 1);
    t.same(await asked(intent('a', 1)), [chunkOf(first)], 'the same again');
    t.same(await asked(intent('b', 7)), ['CONFLICT'], 'the same ref with other content');
    t.same(await asked(intent('d', 2)), ['CONFLICT'], 'a sequence that another has');
    const [again, taken, fourth] = await asked(intent('c', 3), intent('e', 1), intent('f', 4));
    t.same([again, taken], [third, 'CONFLICT'], 'among others');
    t.match(fourth, /^[0-9a-f-]{36}/);
    t.same(
      (await chunksOf(address)).chunks.map((chunk) => chunk.source_chunk_ref),
      ['a', 'b', 'c', 'f'],
    );
  });
});
