import type { Stream } from '../../../actors/recordings/stream_state.js';
import { contactOf } from '../../../actors/transcripts/transcript_attribution.js';
import type { PageTurn, TranscriptPage } from '../../../actors/transcripts/transcript_page.js';
import { pageKey } from '../../../actors/transcripts/transcript_page.js';
import type { PipelineOutputKey, Speaker, Transcript } from '../../../actors/transcripts/transcript_state.js';
import { ownerOfPipeline, pipelineOutputId } from '../../domain/ids.js';
import { orNull, Refused, refuse } from '../../domain/refusals.js';
import type { Actors } from '../../engine/runtime/actors.js';
import type { CacheKind } from '../../engine/runtime/caches.js';
import type { Runtime } from '../../engine/runtime/runtime.js';

/** Transcripts page by page, and who speaks in them, for whoever may read them: requests, and what looks into them. */

const PAGES_STEP = 2;
/** Of all that is kept of transcripts, in turns: whoever reads one reads on. */
const TURNS_KEPT_MAX = 150_000;
const SPEAKERS_KEPT_MAX = 2_000;
const NAMES_STEP = 200;
const NO_STREAM = refuse('NOT_FOUND', 'There is no such stream.');

/** The services by which transcripts are read, for callers that may read them. */
export type TranscriptReader = {
  actors: Pick<Actors, 'transcript' | 'source' | 'contacts'>;
  runtime: Pick<Runtime, 'invalidations' | 'caches'>;
};

/**
 * A stream's transcript, or a pipeline's own, with what is known of its speakers; `transcript` is null while there is
 * none. `id`: the transcript's.
 */
export type ReadableTranscript = {
  id: string;
  stream: Stream;
  transcript: Transcript | null;
  speakers: ReadonlyMap<number, Speaker>;
};

/**
 * Which transcript: that of the default pipeline, or of another. `or_default`: where that one has none of its own, which
 * reads what the default one heard.
 */
export type OfPipeline = { pipeline_id: string | null; or_default: boolean };
const DEFAULT: OfPipeline = { pipeline_id: null, or_default: true };

/** The stream's transcript, for a caller that may read it; NOT_FOUND where its source is deleted. */
export async function readableTranscriptOf(
  reader: TranscriptReader,
  stream: Stream,
  { pipeline_id, or_default }: OfPipeline = DEFAULT,
): Promise<ReadableTranscript> {
  const source = await orNull(reader.actors.source(stream.source_id).view(), 'NOT_FOUND');
  if (source?.status === 'deleted') throw new Refused(NO_STREAM);
  const nothing = { id: stream.id, stream, transcript: null, speakers: new Map() };
  if (!stream.transcribed) return nothing;
  const output = pipeline_id === null ? null : await pipelineOutputOf(reader, { stream_id: stream.id, pipeline_id });
  if (output === null && !or_default) return nothing;
  const id = output?.id ?? stream.id;
  const transcript = output?.transcript ?? (await orNull(reader.actors.transcript(stream.id).view(), 'NOT_FOUND'));
  if (transcript === null) return nothing;
  const speakers = await speakersOf(reader, id, transcript.revision);
  return { id, stream, transcript, speakers };
}

/** A pipeline's own transcript of a stream; null where it has none. */
async function pipelineOutputOf(
  { actors }: Pick<TranscriptReader, 'actors'>,
  { stream_id, pipeline_id }: PipelineOutputKey,
): Promise<{ id: string; transcript: Transcript } | null> {
  const pipeline = ownerOfPipeline(pipeline_id);
  if (pipeline === null) return null;
  const id = pipelineOutputId(stream_id, pipeline.number);
  const transcript = await orNull(actors.transcript(id).view(), 'NOT_FOUND');
  if (transcript === null) return null;
  const { pipeline_output } = transcript;
  return pipeline_output?.stream_id === stream_id && pipeline_output.pipeline_id === pipeline_id
    ? { id, transcript }
    : null;
}

/** By transcript and revision: what is read of a transcript stays as it is until that rises. */
const SPEAKERS: CacheKind<ReadonlyMap<number, Speaker>> = { max: SPEAKERS_KEPT_MAX };
const PAGES: CacheKind<TranscriptPage[]> = {
  max: TURNS_KEPT_MAX,
  sizeOf: (pages) => 1 + turnsOf(pages),
};
/** In a key: all pages of a short transcript, of which any others are a part. */
const WHOLE = 'whole';

async function speakersOf({ actors, runtime }: TranscriptReader, stream_id: string, revision: number) {
  const keyOf = (at: number) => `${runtime.invalidations} ${stream_id} ${at}`;
  const cache = runtime.caches.of(SPEAKERS);
  const known = cache.get(keyOf(revision));
  if (known !== undefined) return known;
  const read = await actors.transcript(stream_id).speakers();
  cache.set(keyOf(read.revision), read.speakers);
  return read.speakers;
}

/** Pages of a transcript one after the other, from the one that is named on. */
export async function* pagesFrom(
  reader: TranscriptReader,
  { id, transcript }: ReadableTranscript,
  { page, descending = false }: { page: number; descending?: boolean },
): AsyncGenerator<TranscriptPage> {
  if (transcript === null) return;
  for (let from = page; ; ) {
    const pages = await pagesAt(reader, { id, transcript }, { from, descending, limit: PAGES_STEP });
    yield* pages;
    const last = pages.at(-1);
    if (last === undefined || pages.length < PAGES_STEP) return;
    from = descending ? last.number - 1 : last.number + 1;
  }
}

/** So many of a transcript's pages, from the one that is named on. */
export async function somePages(
  reader: TranscriptReader,
  { id, transcript }: ReadableTranscript,
  { page: from, limit }: { page: number; limit: number },
): Promise<TranscriptPage[]> {
  if (transcript === null) return [];
  return pagesAt(reader, { id, transcript }, { from, limit, descending: false });
}

async function pagesAt(
  { actors, runtime }: TranscriptReader,
  { id, transcript: { revision, turns } }: { id: string; transcript: Transcript },
  { from, descending, limit }: PagesQuery,
): Promise<TranscriptPage[]> {
  const cache = runtime.caches.of(PAGES);
  const keyOf = (of: string, at: number) => `${runtime.invalidations} ${id} ${at} ${of}`;
  const asked = `${from} ${limit} ${descending}`;
  const whole = cache.get(keyOf(WHOLE, revision));
  if (whole !== undefined) return somePagesOf(whole, { from, descending, limit });
  const known = cache.get(keyOf(asked, revision));
  if (known !== undefined) return known;
  const before = descending ? from + 1 : from - 1;
  const after = { order: before, id: pageKey(Math.max(0, before)) };
  const read = await actors.transcript(id).pages({ range: { after, descending, limit } });
  const is_whole = !descending && read.revision === revision && turnsOf(read.pages) === turns;
  cache.set(keyOf(is_whole ? WHOLE : asked, read.revision), read.pages);
  return read.pages;
}

type PagesQuery = { from: number; descending: boolean; limit: number };

function somePagesOf(whole: readonly TranscriptPage[], { from, descending, limit }: PagesQuery): TranscriptPage[] {
  const pages = whole.filter(({ number }) => (descending ? number <= from : number >= from));
  return (descending ? pages.reverse() : pages).slice(0, limit);
}

function turnsOf(pages: readonly TranscriptPage[]): number {
  return pages.reduce((sum, { turns }) => sum + turns.length, 0);
}

/** Contacts as they are now, by the id that a turn holds: null for one that is gone. */
export type Contacts = Readonly<Record<string, { id: string; name: string | null } | null>>;

/** Who the turns are by. */
export async function namesOf(
  { actors }: Pick<TranscriptReader, 'actors'>,
  { stream, speakers }: ReadableTranscript,
  turns: readonly Pick<PageTurn, 'speaker' | 'contact_id'>[],
): Promise<Contacts> {
  const wanted = new Set(turns.map((turn) => contactOf(speakers, turn)).filter((id) => id !== null));
  const ids = [...wanted];
  let found: Contacts = {};
  for (let at = 0; at < ids.length; at += NAMES_STEP) {
    const resolved = await actors.contacts(stream.account_id).resolve({ ids: ids.slice(at, at + NAMES_STEP) });
    found = { ...found, ...resolved.contacts };
  }
  return found;
}
