import { createHash } from 'node:crypto';
import pMap from 'p-map';
import type { Stream } from '../../kits/typescript/src/api.js';
import type { AppClient } from '../../kits/typescript/src/app_client.js';
import type { Patience } from '../../kits/typescript/src/retries.js';
import type { SeededRandom } from '../../src/engine/random/seeded_random.js';
import type { Ledger, SentStream } from './ledger.js';
import { verifyInsights } from './verify_insights.js';
import { verifyTurns } from './verify_turns.js';

/** Holds what the server has against what the fleet sent: nothing lost, nothing doubled, nothing else. */

const PAGE = 100;
const AT_ONCE = 8;
const FAULTS_KEPT_MAX = 20;

export type Verified = {
  streams: number;
  chunks: number;
  bytes_read: number;
  events: number;
  turns: number;
  suggestions: number;
  faults: string[];
  faults_count: number;
};

export async function verifyAccount(
  app: AppClient,
  ledger: Ledger,
  options: { patience: Patience; random: SeededRandom; read_share: number; speech: boolean; onChunk(): void },
): Promise<Verified> {
  const { patience } = options;
  const counted = { streams: 0, chunks: 0, bytes_read: 0, events: 0, turns: 0, suggestions: 0 };
  const found: Verified = { ...counted, faults: [], faults_count: 0 };
  const turn_ids: string[] = [];
  const must = (holds: boolean, says: string) => {
    if (holds) return;
    found.faults_count += 1;
    if (found.faults.length < FAULTS_KEPT_MAX) found.faults.push(says);
  };
  const expected = new Map<string, SentStream>();
  for (const stream of ledger.streams) {
    if (stream.id === null) must(false, `stream ${stream.source_stream_ref} was never registered`);
    else {
      must(!expected.has(stream.id), `stream ${stream.id} stands for two references`);
      expected.set(stream.id, stream);
    }
  }
  const listed: Stream[] = [];
  const streams = all((query) => patience.repeat(() => app.call('GET /audio/streams', { query })));
  for await (const view of streams) listed.push(view);
  must(new Set(listed.map(({ id }) => id)).size === listed.length, 'a stream is listed twice');
  must(listed.length === expected.size, `${listed.length} streams are listed, ${expected.size} were recorded`);
  await pMap(
    listed,
    async (view) => {
      const sent = expected.get(view.id);
      if (sent === undefined) return must(false, `stream ${view.id} was never recorded`);
      found.streams += 1;
      must(
        view.end_ms === (sent.end_ms ?? undefined),
        `stream ${view.id} ends at ${view.end_ms}, not at ${sent.end_ms}`,
      );
      must(view.captured_at === sent.captured_at, `stream ${view.id} has another captured_at`);
      must(view.chunks === sent.chunks.size, `stream ${view.id} counts ${view.chunks} chunks, not ${sent.chunks.size}`);
      must(
        view.stored_chunks === sent.chunks.size,
        `stream ${view.id} has stored ${view.stored_chunks} of ${sent.chunks.size}`,
      );
      await verifyChunks(app, { view, sent, must, found }, options);
      if (!options.speech) return;
      const turns = await verifyTurns({ app, patience, must }, view.id, sent);
      found.turns += turns.length;
      turn_ids.push(...turns.map(({ id }) => id));
    },
    { concurrency: AT_ONCE },
  );
  if (options.speech) found.suggestions = await verifyInsights({ app, patience, must }, ledger);
  await verifyEvents(app, { ledger, expected, turn_ids, must, found }, patience);
  return found;
}

type Must = (holds: boolean, says: string) => void;

async function verifyChunks(
  app: AppClient,
  { view, sent, must, found }: { view: Stream; sent: SentStream; must: Must; found: Verified },
  {
    patience,
    random,
    read_share,
    onChunk,
  }: { patience: Patience; random: SeededRandom; read_share: number; onChunk(): void },
): Promise<void> {
  const seen = new Set<number>();
  const path = { id: view.id };
  const chunks = all((query) => patience.repeat(() => app.call('GET /audio/streams/{id}/chunks', { path, query })));
  for await (const chunk of chunks) {
    const { sequence } = chunk;
    const said = sent.chunks.get(sequence);
    const name = `chunk ${sequence} of ${view.id}`;
    must(!seen.has(sequence), `${name} is there twice`);
    seen.add(sequence);
    if (said === undefined) {
      must(false, `${name} was never recorded`);
      continue;
    }
    found.chunks += 1;
    onChunk();
    const { source_start_ms, source_end_ms, sha256, status } = chunk;
    must(
      sha256 === said.sha256 && source_start_ms === said.start_ms && source_end_ms === said.end_ms,
      `${name} differs`,
    );
    must(['stored', 'processing', 'processed'].includes(status), `${name} is ${status}`);
    if (!random.chance(read_share)) continue;
    const { status: answered, body } = await patience.repeat(() =>
      app.send('GET', `/audio/chunks/${chunk.id}/content`),
    );
    found.bytes_read += body.length;
    const read = createHash('sha256').update(body).digest('hex');
    must(answered === 200 && read === said.sha256, `${name} reads back as other bytes (${answered})`);
  }
  must(seen.size === sent.chunks.size, `${sent.chunks.size - seen.size} chunks of ${view.id} are missing`);
}

/** Each stream was created once and ended once, each session began once and ended once, each turn was created once. */
async function verifyEvents(
  app: AppClient,
  {
    ledger,
    expected,
    turn_ids,
    must,
    found,
  }: { ledger: Ledger; expected: Map<string, SentStream>; turn_ids: string[]; must: Must; found: Verified },
  patience: Patience,
): Promise<void> {
  const counts = new Map<string, number>();
  for (let after = '0'; ; ) {
    const query = { limit: PAGE, after };
    const page = await patience.repeat(() => app.call('GET /events', { query }));
    for (const { type, resource } of page.items) {
      const key = `${type} ${resource.id}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    found.events += page.items.length;
    if (page.cursor === null || page.items.length < PAGE) break;
    after = page.cursor;
  }
  const once = (type: string, id: string, times = 1) => {
    const count = counts.get(`${type} ${id}`) ?? 0;
    must(count === times, `${type} of ${id} was told ${count} times`);
  };
  for (const [id, { end_ms }] of expected) {
    once('stream.created', id);
    once('stream.updated', id, end_ms === null ? 0 : 1);
  }
  for (const id of turn_ids) once('turn.created', id);
  for (const id of ledger.sessions) {
    once('device_session.started', id);
    once('device_session.ended', id);
  }
}

type ListedPage<Item> = { items: Item[]; cursor: string | null };

async function* all<Item>(
  read: (query: { limit: number; cursor: string | undefined }) => Promise<ListedPage<Item>>,
): AsyncGenerator<Item> {
  for (let cursor: string | undefined; ; ) {
    const page = await read({ limit: PAGE, cursor });
    yield* page.items;
    if (page.cursor === null) return;
    cursor = page.cursor;
  }
}
