import { setImmediate } from 'node:timers/promises';
import type { Stream } from '../../../../actors/recordings/stream_state.js';
import { type PageTurn, pageOf, type TranscriptPage } from '../../../../actors/transcripts/transcript_page.js';
import { transcriptIndexOf } from '../../../../actors/transcripts/transcript_state.js';
import { partitionOfId } from '../../../domain/ids.js';
import { addInterval, type Interval } from '../../../domain/intervals.js';
import { LIMITS } from '../../../domain/limits.js';
import { orNull } from '../../../domain/refusals.js';
import type { Actors } from '../../../engine/runtime/actors.js';
import type { Store } from '../../../engine/store/store.js';
import {
  pagesFrom,
  type ReadableTranscript,
  readableTranscriptOf,
  type TranscriptReader,
} from '../../transcripts/transcript_pages.js';
import { countWords, type SpokenTurn, type TranscribedStream } from './conversation_boundaries.js';

/**
 * Finds the speech around a span while turns follow each other within five minutes: in the recording, and in earlier
 * and later recordings of its source and session. An imported file stands alone.
 */

const EXPIRED_SPANS_TOLD_MAX = 100; // ours: of one recording, of what retention removed; beyond it the nearest become one
const INSIGHT_PAGES_READ_MAX = 200; // ours: pages of transcripts that one look for conversations reads
const INSIGHT_STREAMS_READ_MAX = 200; // ours: neighbours of a recording that one look for conversations reads

const GAP_MS = LIMITS.conversation_gap_ms;
/** The number of silent streams between two that may belong together. */
const EMPTY_PASSED_MAX = 8;
const STREAMS_STEP = 25;

export type StreamReader = TranscriptReader & {
  actors: Pick<Actors, 'stream' | 'deviceSession'>;
  store: Pick<Store, 'list'>;
};

/** `expired`: spans whose turns retention removed, in all recordings that were read. */
export type SurroundingSpeech = { streams: TranscribedStream[]; session_id: string | null; expired: ExpiredPart[] };
type ExpiredPart = { stream_id: string; start_ms: number; end_ms: number };

/**
 * Null if the recording, its source or its transcript is gone. A pipeline output is searched alone, since the pipeline
 * may not have heard other recordings.
 */
export async function surroundingSpeech(
  reader: StreamReader,
  asked: { stream_id: string; pipeline_id: string | null; from_ms: number; to_ms: number },
): Promise<SurroundingSpeech | null> {
  const { stream_id, pipeline_id, from_ms, to_ms } = asked;
  const own = await transcriptIn(reader, { stream_id, pipeline_id });
  if (own === null) return null;
  const budget = { pages: INSIGHT_PAGES_READ_MAX, streams: INSIGHT_STREAMS_READ_MAX };
  const expired = new Map<string, Interval[]>();
  const heard = await stretchIn(reader, own, { from_ms, to_ms, budget, expired });
  const streams = [heard];
  const session_id = await sessionOf(reader, own.stream);
  if (isPipelineOutput(own) || own.stream.imported) return { streams, session_id, expired: expiredParts(expired) };
  const sought = { reader, stream: own.stream, pipeline_id, budget };
  for (const descending of [true, false]) {
    let empty = 0;
    for await (const readable of neighbours({ ...sought, descending })) {
      const edge = edgesOf(streams);
      if (edge === null || budget.pages <= 0) break;
      const at_ms = Date.parse(readable.stream.captured_at);
      if (!descending && at_ms >= edge.to_ms + GAP_MS) break;
      const next = descending
        ? await stretchIn(reader, readable, {
            from_ms: edge.from_ms - at_ms,
            to_ms: edge.from_ms - at_ms,
            budget,
            expired,
          })
        : await stretchIn(reader, readable, { from_ms: 0, to_ms: 0, budget, expired });
      const joins = next.turns.some(
        ({ start_ms, end_ms }) => at_ms + end_ms > edge.from_ms - GAP_MS && at_ms + start_ms < edge.to_ms + GAP_MS,
      );
      // What waits there may join yet.
      if (joins || next.waiting.length > 0) streams.push(next);
      empty = joins ? 0 : empty + 1;
      if (empty >= EMPTY_PASSED_MAX) break;
    }
  }
  return {
    streams: streams.sort((a, b) => a.captured_at_ms - b.captured_at_ms),
    session_id,
    expired: expiredParts(expired),
  };
}

function expiredParts(expired: ReadonlyMap<string, readonly Interval[]>): ExpiredPart[] {
  return [...expired].flatMap(([stream_id, spans]) =>
    spans.map(([start_ms, end_ms]) => ({ stream_id, start_ms, end_ms })),
  );
}

/** The recorder session of the recording; null for a personal device and for an app. */
async function sessionOf(
  { actors }: { actors: Pick<Actors, 'deviceSession'> },
  { recorder, account_id }: Pick<Stream, 'recorder' | 'account_id'>,
): Promise<string | null> {
  if (recorder === null) return null;
  const session = await orNull(actors.deviceSession(recorder.binding_epoch).view({ by: account_id }), 'NOT_FOUND');
  return session === null ? null : recorder.binding_epoch;
}

function isPipelineOutput({ id, stream }: ReadableTranscript): boolean {
  return id !== stream.id;
}

async function transcriptIn(
  reader: StreamReader,
  { stream_id, pipeline_id }: { stream_id: string; pipeline_id: string | null },
): Promise<ReadableTranscript | null> {
  const stream = await orNull(reader.actors.stream(stream_id).view(), 'NOT_FOUND');
  if (stream === null) return null;
  const readable = await orNull(readableTranscriptOf(reader, stream, { pipeline_id, or_default: true }), 'NOT_FOUND');
  return readable === null || readable.transcript === null ? null : readable;
}

type Budget = { pages: number; streams: number };
/** `expired`: by stream; extended here. */
type Around = { from_ms: number; to_ms: number; budget: Budget; expired: Map<string, Interval[]> };

/**
 * The turns from the last pause before the span to the first one after it, and the audio there that is not text yet.
 */
async function stretchIn(
  reader: TranscriptReader,
  readable: ReadableTranscript,
  { from_ms, to_ms, budget, expired }: Around,
): Promise<TranscribedStream> {
  const { stream, transcript } = readable;
  const read = (answer: TranscriptPage): TranscriptPage => {
    const page = answer;
    for (const span of page.expired.spans)
      expired.set(stream.id, addInterval(expired.get(stream.id) ?? [], span, EXPIRED_SPANS_TOLD_MAX));
    return page;
  };
  const first = Math.min(pageOf(Math.max(0, from_ms)), LIMITS.transcript_pages_max);
  const turns: SpokenTurn[] = [];
  let begins_ms = from_ms;
  for await (const page of pagesFrom(reader, readable, { page: first, descending: true })) {
    const { number, turns: said } = read(page);
    const found = spoken(said);
    turns.unshift(...found);
    budget.pages -= 1;
    // Turns overlap: only what a whole page does not reach is a pause.
    for (const turn of [...found].reverse())
      if (turn.start_ms < begins_ms && turn.end_ms > begins_ms - GAP_MS) begins_ms = turn.start_ms;
    const page_ms = number * LIMITS.transcript_page_ms;
    if (begins_ms - GAP_MS > page_ms + LIMITS.window_tolerance_ms || number === 0 || budget.pages <= 0) break;
    await setImmediate(); // a long recording holds nobody up
  }
  let ends_ms = Math.max(to_ms, ...turns.map(({ end_ms }) => end_ms));
  for await (const page of pagesFrom(reader, readable, { page: first + 1 })) {
    const found = spoken(read(page).turns);
    budget.pages -= 1;
    const [next] = found;
    if (next !== undefined && next.start_ms >= Math.max(ends_ms, to_ms) + GAP_MS) break;
    turns.push(...found);
    ends_ms = Math.max(ends_ms, ...found.map(({ end_ms }) => end_ms));
    if (budget.pages <= 0) break;
    await setImmediate();
  }
  const waiting = [...(transcript?.waiting ?? []), ...(transcript?.window == null ? [] : [transcript.window])];
  return {
    stream_id: stream.id,
    source_id: stream.source_id,
    captured_at_ms: Date.parse(stream.captured_at),
    turns,
    waiting: waiting.map((audio): [number, number] => [audio.from_ms, audio.to_ms]),
    came_to_ms: cameTo(readable),
  };
}

function cameTo({ stream, transcript }: ReadableTranscript): number {
  if (stream.end_ms !== null && stream.open.length === 0 && stream.unprocessed === 0) return Number.POSITIVE_INFINITY;
  return Math.max(0, ...(transcript?.covered ?? []).map(([, to_ms]) => to_ms));
}

function spoken(turns: readonly PageTurn[]): SpokenTurn[] {
  return turns.map(({ start_ms, end_ms, text }) => ({ start_ms, end_ms, words: countWords(text) }));
}

/** The start and end of the turns, by the clock. */
function edgesOf(streams: readonly TranscribedStream[]): { from_ms: number; to_ms: number } | null {
  const all = streams.flatMap(({ captured_at_ms, turns }) =>
    turns.map(({ start_ms, end_ms }) => [captured_at_ms + start_ms, captured_at_ms + end_ms] as const),
  );
  if (all.length === 0) return null;
  return all.reduce(
    ({ from_ms, to_ms }, [start, end]) => ({ from_ms: Math.min(from_ms, start), to_ms: Math.max(to_ms, end) }),
    {
      from_ms: Number.POSITIVE_INFINITY,
      to_ms: Number.NEGATIVE_INFINITY,
    },
  );
}

type Neighbourhood = {
  reader: StreamReader;
  stream: Stream;
  pipeline_id: string | null;
  budget: Budget;
  descending: boolean;
};

/** Other recordings of the same source, session and workspace, the nearest first. */
async function* neighbours({
  reader,
  stream,
  pipeline_id,
  budget,
  descending,
}: Neighbourhood): AsyncGenerator<ReadableTranscript> {
  const place = { owner: stream.account_id, partition: partitionOfId(stream.account_id) };
  let after = { order: Date.parse(stream.captured_at), member: stream.id };
  for (;;) {
    const page = { after, descending, limit: STREAMS_STEP };
    const rows = await reader.store.list(place, transcriptIndexOf(stream.source_id), page);
    for (const { member } of rows) {
      budget.streams -= 1;
      if (budget.streams < 0) return;
      const readable = await transcriptIn(reader, { stream_id: member, pipeline_id });
      if (readable !== null && !isPipelineOutput(readable) && isTogether(readable.stream, stream)) yield readable;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < STREAMS_STEP) return;
    after = { order: last.order, member: last.member };
  }
}

function isTogether(one: Stream, other: Stream): boolean {
  const epochOf = ({ recorder }: Stream) => recorder?.binding_epoch ?? null;
  return !one.imported && one.workspace_id === other.workspace_id && epochOf(one) === epochOf(other);
}
