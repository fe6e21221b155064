import t from 'tap';
import { library } from '../../../../actors/insights/library.js';
import { insightKey } from '../../../../actors/insights/library_state.js';
import { stream } from '../../../../actors/recordings/stream.js';
import { contacts } from '../../../../actors/transcripts/contacts.js';
import { transcript } from '../../../../actors/transcripts/transcript.js';
import type { PublishedTurn } from '../../../../actors/transcripts/transcript_state.js';
import { sweep } from '../../../../actors/workspaces/sweep.js';
import { libraryId, partitionOfId, pipelineId, pipelineOutputId } from '../../../../src/domain/ids.js';
import { SEARCH_INDEX } from '../../../../src/domain/search/places.js';
import { wordTerm } from '../../../../src/domain/search/words.js';
import { makeMetrics } from '../../../../src/engine/metrics/metrics.js';
import { randomId } from '../../../../src/engine/random/random.js';
import { actorsOf } from '../../../../src/engine/runtime/actors.js';
import type { AnyActorKind } from '../../../../src/engine/runtime/runtime.js';
import { keysOf } from '../../../../src/engine/store/partitions.js';
import { type SearchIndex, SearchIndexes } from '../../../../src/features/search/index/search_index.js';
import { postingsOf } from '../../../fixtures/postings.js';
import { TestRedis } from '../../../fixtures/redis.js';
import { ServerProcess } from '../../../fixtures/server_process.js';

const FIRST_MEMORY = `m${insightKey(1)}`;

const KINDS: AnyActorKind[] = [transcript, library, stream, contacts, sweep];
const PARTITION = 7;
const metrics = makeMetrics();
const drawn = () => randomId({ partition: PARTITION, now_ms: Date.now() });
const [account_id, source_id] = [drawn(), drawn()];
t.test('K-105 what search keeps of a library is as new as the question', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const opened = async (kinds = KINDS) => {
    const process = await ServerProcess.open(t, { socket_path: server.socket_path, kinds, trust_memory: false });
    const indexes = new SearchIndexes({ store: process.store, runtime: process.runtime, metrics });
    return { process, indexes, actors: actorsOf(process.runtime) };
  };
  const [one, other] = [await opened(), await opened()];
  /** What both processes find of a word, as page and number in it, by transcript; and so many items. */
  const found = async (library_id: string, word: string) => {
    const seen = await Promise.all(
      [one, other].map(async ({ indexes }) => placesOf(await indexes.of(library_id), word)),
    );
    t.same(seen[0], seen[1], 'in either process');
    return seen[0] as { turns: Record<string, string[]>; items: string[] };
  };
  const begin = async (actors = one.actors, { workspace_id = drawn(), pipeline = 0 } = {}) => {
    const stream_id = drawn();
    const id = pipeline === 0 ? stream_id : pipelineOutputId(stream_id, pipeline);
    const stream = { account_id, workspace_id, source_id, captured_at_ms: 1_000_000, end_ms: null };
    const audio = { stream, window_ms: 60_000, intervals: [[0, 1_200_000]] as [number, number][] };
    if (pipeline === 0) await actors.transcript(id).audio(audio);
    else {
      const pipeline_output = { stream_id, pipeline_id: pipelineId(account_id, pipeline) };
      await actors.transcript(id).run_pipeline({ ...audio, pipeline_output, longest_ms: 1_000 });
    }
    return { id, workspace_id, library_id: libraryId(account_id, workspace_id) };
  };
  let tokens = 0;
  const publish = async (id: string, texts: string[], actors = one.actors) => {
    const token = `token ${++tokens}`;
    const claim = { token, run_id: drawn(), lease_ms: 60_000, window_ms: 60_000 };
    const { window } = (await actors.transcript(id).claim_window(claim)) as {
      window: { number: number; from_ms: number };
    };
    const turns = texts.map((text, at): PublishedTurn => {
      const start_ms = window.from_ms + at * 1_000;
      return { start_ms, end_ms: start_ms + 900, text, speaker: 'A', language: 'en' };
    });
    const said = {
      number: window.number,
      token,
      digest: token,
      speaker_scope: 'stream' as const,
      mode: 'replace' as const,
    };
    await actors.transcript(id).publish({ ...said, turns, recognized: {}, final_pass: false });
  };

  await t.test('K-105 pages as they are published, corrected and emptied, by whichever process', async (t) => {
    const { id, library_id } = await begin();
    t.same(await found(library_id, 'boat'), { turns: {}, items: [] });
    await publish(id, ['the boat leaves at nine', 'no', 'a boat']);
    t.same((await found(library_id, 'boat')).turns, { [id]: ['0:0', '0:2'] });
    await publish(id, ['another boat'], other.actors);
    t.same((await found(library_id, 'boat')).turns, { [id]: ['0:0', '0:2', '0:3'] });
    await other.actors.transcript(id).delete_turn({ page: 0, serial: 2 });
    t.same((await found(library_id, 'boat')).turns, { [id]: ['0:0', '0:3'] });
    for (const serial of [0, 1, 3]) await one.actors.transcript(id).delete_turn({ page: 0, serial });
    t.same((await found(library_id, 'boat')).turns, {});
    t.equal((await one.indexes.of(library_id)).transcripts.size, 0);
  });

  await t.test('K-105 a deleted recording leaves the memory of search, and all that is there is counted', async (t) => {
    const { id, library_id, workspace_id } = await begin();
    const recorded = { captured_at: '2026-11-01T10:00:00Z', recorder: null, title: null, end_ms: null, silent: false };
    await one.actors.stream(id).register({ account_id, workspace_id, source_id, ...recorded });
    const before = await one.indexes.of(library_id);
    const counted = async () => (await metrics.search_kept.get()).values[0]?.value ?? 0;
    const empty = await counted();
    await publish(id, ['the boat leaves at nine']);
    t.equal((await one.indexes.of(library_id)).transcripts.size, 1);
    const full = await counted();
    t.ok(full > empty);
    await one.actors.stream(id).delete({ silent: false });
    t.equal((await one.indexes.of(library_id)).transcripts.size, 0);
    t.ok((await counted()) < full);
    t.same([...before.deleted_streams], [id]);
  });

  await t.test('K-105 items as they are created, changed and deleted', async (t) => {
    const workspace_id = drawn();
    const library_id = libraryId(account_id, workspace_id);
    const memory = { account_id, workspace_id, kind: 'fact' as const, stems: ['x'] };
    const { number } = await one.actors.library(library_id).create_memory({ ...memory, text: 'a red boat' });
    t.same((await found(library_id, 'boat')).items, [FIRST_MEMORY]);
    await other.actors.library(library_id).edit_memory({ number, text: 'a red car', stems: ['y'] });
    t.same((await found(library_id, 'boat')).items, []);
    t.same((await found(library_id, 'car')).items, [FIRST_MEMORY]);
    await one.actors.library(library_id).delete({ kind: 'memory', number });
    t.same((await found(library_id, 'car')).items, []);
  });

  await t.test('D-033 an erased transcript and an erased library leave no key', async (t) => {
    const { id, library_id } = await begin();
    await publish(id, ['one boat']);
    const output = await begin(one.actors, { pipeline: 3 });
    await publish(output.id, ['one boat']);
    t.same((await found(output.library_id, 'boat')).turns, { [output.id]: ['0:0'] });
    const keys = async (of: string) => (await one.process.redis.keys('*')).filter((key) => key.includes(of));
    t.ok((await keys(library_id)).length > 0);
    await one.actors.transcript(id).erase();
    t.same(await keys(library_id), [], 'nothing else was in it');
    t.same(
      (await keys(id)).filter((key) => key.includes(':r:') || key.includes(':o:')),
      [],
    );
    await one.actors.library(output.library_id).erase({ account_id, list: 'libraries' });
    t.same(await keys(`${output.library_id}:${SEARCH_INDEX}`), []);
  });

  await t.test('K-105 a library that grows counts for more memory', async (t) => {
    const { id, library_id } = await begin();
    const { store, runtime } = one.process;
    const own = makeMetrics();
    const growing = new SearchIndexes({ store, runtime, metrics: own });
    const keptBytes = async () => {
      await growing.of(library_id);
      return (await own.search_kept.get()).values[0]?.value ?? 0;
    };
    await publish(id, ['one boat']);
    const before = await keptBytes();
    await publish(id, [Array.from({ length: 200 }, (_, at) => `boat${at}`).join(' ')]);
    t.ok((await keptBytes()) > before + 1_000);
  });

  await t.test('K-105 libraries of one account take half of the memory, and then the place of its own', async (t) => {
    const { store, runtime } = one.process;
    const own = makeMetrics();
    const keptBytes = async () => (await own.search_kept.get()).values[0]?.value ?? 0;
    const begun = await Promise.all([begin(), begin(), begin()]);
    for (const { id } of begun) await publish(id, ['one boat']);
    const [first, second, third] = begun.map(({ library_id }) => library_id) as [string, string, string];
    const measuring = new SearchIndexes({ store, runtime, metrics: own });
    await measuring.of(first);
    const size = await keptBytes();
    const indexes = new SearchIndexes({ store, runtime, metrics: own, bytes_max: size * 5 });
    for (const library_id of [first, second, third]) await indexes.of(library_id);
    t.ok((await keptBytes()) <= size * 2.5, 'two of three');
    t.equal((await indexes.of(first)).transcripts.size, 1, 'the first is read anew');
  });

  await t.test(
    'K-105 a library without room in memory is read each time; numbers rise after one is gone',
    async (t) => {
      const { id, library_id } = await begin();
      await publish(id, ['one boat']);
      const small = new SearchIndexes({
        store: one.process.store,
        runtime: one.process.runtime,
        metrics,
        bytes_max: 10,
      });
      for (let time = 0; time < 2; time++)
        t.same(placesOf(await small.of(library_id), 'boat').turns, { [id]: ['0:0'] });
      const [, before] = await one.process.redis.zrange(indexKey(library_id), '0', '-1', 'WITHSCORES');
      await one.process.redis.del(indexKey(library_id));
      await publish(id, ['one boat more']);
      const [, after] = await one.process.redis.zrange(indexKey(library_id), '0', '-1', 'WITHSCORES');
      t.ok(Number(after) > Number(before));
      t.same((await found(library_id, 'boat')).turns, { [id]: ['0:0', '0:1'] });
    },
  );
});

function placesOf(index: SearchIndex, word: string): { turns: Record<string, string[]>; items: string[] } {
  const turns: Record<string, string[]> = {};
  for (const [id, pages] of index.transcripts)
    for (const { page, block } of pages)
      for (const [text] of postingsOf(block, wordTerm(word)))
        turns[id] = [...(turns[id] ?? []), `${page}:${block.serial(text)}`];
  const items = [...index.items]
    .filter(([, block]) => postingsOf(block, wordTerm(word)).length > 0)
    .map(([entry]) => entry);
  return { turns, items };
}

function indexKey(library_id: string): string {
  return keysOf(partitionOfId(library_id)).index(library_id, SEARCH_INDEX);
}
