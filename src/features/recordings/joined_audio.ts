import { Readable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import {
  type Chunk,
  isStored,
  type StoredChunk as StoredAudio,
  type Stream,
} from '../../../actors/recordings/stream_state.js';
import type { Principal } from '../../access/principal.js';
import type { Interval } from '../../domain/intervals.js';
import { LIMITS } from '../../domain/limits.js';
import { CONTENT_MISSING, Refused, refuse, throwRefusal } from '../../domain/refusals.js';
import { playedType } from '../../engine/audio/audio_file.js';
import {
  type AudioReader,
  type JoinedFile,
  joinChunks,
  type NotJoined,
  readJoined,
  type StoredChunk,
} from '../../engine/audio/joined_file.js';
import { isPlayedWav } from '../../engine/audio/wav.js';
import { audioKey } from '../../engine/blobs/blob_keys.js';
import type { BlobStore, ByteContent, ByteRange } from '../../engine/blobs/blob_store.js';
import { type PoolBounds, SharedPool } from '../../engine/pools/shared_pool.js';
import { joinDecoded, type TimedChunk } from '../../engine/speech/joined_decoded.js';
import type { FeatureServices } from '../services.js';
import type { MissingAudio } from './missing_audio.js';
import { readableStream } from './stream_access.js';

/**
 * A whole stream as one file: its stored chunks, whole and one after the other, in the order of their start and then of
 * their sequence; chunks that cannot follow each other as they are become samples. Nothing is put in where audio is missing, and nothing taken out where chunks overlap: how much of
 * both there is stands beside it. Other chunks, expired ones and those still to come, are passed over.
 */

const LIST_STEP = 1_000;
/** The number of chunks in all remembered joined files. A player asks for many ranges of one file. */
const CHUNKS_KEPT_MAX = 200_000;
/** Files that are examined at once: each reads much. */
const JOINS: PoolBounds = {
  places_max: 4,
  share_max: 1,
  waiting_max: 256,
  waiting_share_max: 16,
  wait_ms_max: 20_000,
};
const TOO_MANY_CHUNKS = refuse(
  'CONFLICT',
  `A joined file has at most ${LIMITS.joined_chunks_max} chunks; fetch them one by one.`,
);

export const AUDIO_EXPIRED = refuse('CONTENT_EXPIRED', 'The workspace does not keep this audio any longer.');

export type JoinedAudioServices = Pick<FeatureServices, 'actors' | 'blobs' | 'decoded'> & {
  joined_files: JoinedFiles;
  lost_audio: MissingAudio;
};
/** `losses`: the number of losses known when it was made. */
type Joined = {
  file: JoinedFile;
  chunks: number;
  lost: number;
  losses: number;
  missing_ms: number;
  overlap_ms: number;
  /** Where the chunks lie on the timeline, in the order of the file. */
  spans: readonly Interval[];
};

/** A file without chunks whose bytes were missing is made again after this time: the bytes may have been restored. */
const KEPT_WITH_LOSS_MS = 60_000;

/** Waveforms that are made at once: each reads and decodes all of a recording. */
const WAVEFORMS: PoolBounds = {
  places_max: 2,
  share_max: 1,
  waiting_max: 128,
  waiting_share_max: 8,
  wait_ms_max: 120_000,
};

/** The joined files of a server that were examined lately, or are being examined. */
export class JoinedFiles {
  /** Places for examining the chunks of a recording. */
  readonly pool = new SharedPool('joins', JOINS);
  /** Places for making waveforms. */
  readonly waveforms = new SharedPool('waveforms', WAVEFORMS);
  /** By the stream, how much of it was stored, and how much of that is removed or was silenced: what is stored stays as it is until then. */
  readonly known = new LRUCache<string, Joined>({
    maxSize: CHUNKS_KEPT_MAX,
    sizeCalculation: ({ chunks }) => chunks,
  });
  readonly under_way = new Map<string, { joined: Promise<Joined>; signal: AbortSignal }>();
}

/** The reader of audio that is not decoded. */
const WORKER: AudioReader = { owner: 'worker', signal: new AbortController().signal };

/** Stored chunks as one file. `lost_chunks`: the number of chunks left out since the server has lost their bytes. */
type JoinedContent = ByteContent & { chunks: number; lost_chunks: number };

/**
 * All audio of a stream that the caller may read, and how it covers the time from its beginning. `signal`: aborts when the
 * caller has left.
 */
export async function joinedAudio(
  services: JoinedAudioServices,
  who: Principal,
  { stream_id, signal }: { stream_id: string; signal: AbortSignal },
): Promise<JoinedContent & { file_name: string } & Pick<Joined, 'missing_ms' | 'overlap_ms' | 'spans'>> {
  const stream = await readableStream(services, who, stream_id);
  return joinedStream(services, stream, { owner: who.account_id, signal });
}

/** The same of a stream, whoever asks for it. */
export async function joinedStream(
  services: JoinedAudioServices,
  stream: Stream,
  reader: AudioReader,
): Promise<JoinedContent & { file_name: string } & Pick<Joined, 'missing_ms' | 'overlap_ms' | 'spans'>> {
  const { id, stored_chunks, stored_bytes, expired_chunks } = stream;
  if (stored_chunks === 0 && expired_chunks > 0) throw new Refused(AUDIO_EXPIRED);
  const key = `${id} ${stored_chunks} ${stored_bytes} ${expired_chunks} ${stream.silenced_chunks ?? 0}`;
  const { known } = services.joined_files;
  const kept = known.get(key);
  const is_sound = kept?.losses === services.lost_audio.lossesOf(id);
  const joined = kept !== undefined && is_sound ? kept : await joinOnce(services, { key, stream, reader });
  const { file, chunks, lost, missing_ms, overlap_ms, spans } = joined;
  return {
    size_bytes: file.size_bytes,
    etag: file.etag,
    content_type: file.content_type,
    file_name: `${id}.${file.extension}`,
    chunks,
    lost_chunks: lost,
    missing_ms,
    overlap_ms,
    spans,
    // Bytes that were there before: the next request finds out which are.
    open: async (range) => bytesOf(file, range, reader).once('error', () => known.delete(key)),
  };
}

/** Some chunks of a stream as one file, whole and in this order. */
export async function joinedPart(
  { blobs }: Pick<FeatureServices, 'blobs'>,
  { stream_id, audio }: { stream_id: string; audio: readonly (Omit<StoredChunk, 'key'> & { place: string })[] },
): Promise<JoinedContent> {
  const chunks = audio.map((chunk): StoredChunk => ({ ...chunk, key: audioKey(stream_id, chunk) }));
  const file = await joinChunks(blobs, chunks, WORKER.signal);
  if ('why' in file)
    return file.lost === true ? throwRefusal(CONTENT_MISSING) : throwRefusal(refuse('CONFLICT', file.why));
  const { size_bytes, etag, content_type } = file;
  const joined = file.chunks.length;
  const open = async (range: ByteRange | undefined) => bytesOf(file, range, WORKER);
  return { size_bytes, etag, content_type, chunks: joined, lost_chunks: chunks.length - joined, open };
}

function bytesOf(file: JoinedFile, range: ByteRange | undefined, reader: AudioReader): Readable {
  return Readable.from(readJoined(file, range ?? {}, reader), { objectMode: false });
}

async function joinOnce(
  services: JoinedAudioServices,
  { key, stream, reader }: { key: string; stream: Stream; reader: AudioReader },
): Promise<Joined> {
  const { owner, signal } = reader;
  const { known, pool, under_way } = services.joined_files;
  // A player asks for several ranges at once.
  const name = `${owner} ${key}`;
  const first = under_way.get(name) ?? {
    signal,
    joined: pool.run(owner, () => join(services, stream, reader), { signal }),
  };
  under_way.set(name, first);
  try {
    const joined = await first.joined;
    known.set(key, joined, joined.lost > 0 ? { ttl: KEPT_WITH_LOSS_MS } : {});
    return joined;
  } catch (error) {
    if (signal.aborted || !first.signal.aborted) throw error;
  } finally {
    if (under_way.get(name) === first) under_way.delete(name);
  }
  // Whoever asked first has left.
  return joinOnce(services, { key, stream, reader });
}

async function join(services: JoinedAudioServices, stream: Stream, reader: AudioReader): Promise<Joined> {
  if (stream.stored_chunks > LIMITS.joined_chunks_max) throw new Refused(TOO_MANY_CHUNKS);
  const chunks = await storedChunks(services, stream.id);
  const keyOf = (chunk: StoredAudio) => audioKey(stream.id, chunk);
  const stored = chunks.map((chunk): TimedChunk => {
    return { ...chunk, key: keyOf(chunk), length_ms: chunk.source_end_ms - chunk.source_start_ms };
  });
  const file = await joinedFile(services, stored, reader);
  if ('why' in file && file.lost !== true) throw new Refused(refuse('CONFLICT', file.why));
  const keys = new Set('why' in file ? [] : file.chunks.map(({ key }) => key));
  const joined = chunks.filter((chunk) => keys.has(keyOf(chunk)));
  const [lost] = chunks.filter((chunk) => !keys.has(keyOf(chunk)));
  if (lost !== undefined) await services.lost_audio.confirms(lost.chunk_id);
  if ('why' in file) throw new Refused(CONTENT_MISSING);
  const losses = services.lost_audio.lossesOf(stream.id);
  const spans = joined.map(({ source_start_ms, source_end_ms }): Interval => [source_start_ms, source_end_ms]);
  return { file, chunks: joined.length, lost: chunks.length - joined.length, losses, spans, ...fitOf(joined) };
}

/** A file for players: chunks unchanged if they can follow each other, decoded otherwise. */
async function joinedFile(
  { blobs, decoded }: Pick<FeatureServices, 'blobs' | 'decoded'>,
  stored: readonly TimedChunk[],
  reader: AudioReader,
): Promise<JoinedFile | NotJoined> {
  const single = await singleFile(blobs, stored);
  if (single !== null) return single;
  const plain = await joinChunks(blobs, stored, reader.signal);
  return !('why' in plain) || plain.lost === true ? plain : joinDecoded(decoded, stored, plain, reader);
}

/** The only chunk as its own file; null if there are more chunks, or if not all players can play it. */
async function singleFile(blobs: BlobStore, [only, ...more]: readonly StoredChunk[]): Promise<JoinedFile | null> {
  const type = only === undefined || more.length > 0 ? null : playedType(only.container);
  if (only === undefined || type === null || !(await blobs.has(only.key))) return null;
  const { key, size_bytes, sha256: etag } = only;
  const readAt = async (start: number, length: number) => {
    const blob = await blobs.open(key, { start, end: start + length - 1 });
    return blob === null ? Buffer.alloc(0) : Buffer.concat(await blob.stream.toArray());
  };
  if (type.extension === 'wav' && !(await isPlayedWav({ size_bytes, read: readAt }))) return null;
  const read = async function* (start: number) {
    const blob = await blobs.open(key, { start });
    if (blob === null) throw new Error('a stored chunk has no bytes');
    yield* blob.stream as AsyncIterable<Buffer>;
  };
  return { ...type, size_bytes, etag, segments: [{ size_bytes, read }], chunks: [only] };
}

async function storedChunks({ actors }: Pick<FeatureServices, 'actors'>, stream_id: string): Promise<StoredAudio[]> {
  const found: StoredAudio[] = [];
  let after: { order: number; id: string } | undefined;
  do {
    const listed = await actors.stream(stream_id).list_chunks({ range: { after, limit: LIST_STEP } });
    found.push(...listed.chunks.filter(isStored));
    const last = listed.chunks.at(-1);
    after = listed.chunks.length < LIST_STEP || last === undefined ? undefined : { order: last.order, id: last.member };
  } while (after !== undefined);
  return found.sort((a, b) => a.source_start_ms - b.source_start_ms || a.sequence - b.sequence);
}

/** The missing and the overlapping time of chunks in their order, from 0 to the last end. */
function fitOf(chunks: readonly Chunk[]): { missing_ms: number; overlap_ms: number } {
  let [reached_ms, missing_ms, overlap_ms] = [0, 0, 0];
  for (const { source_start_ms, source_end_ms } of chunks) {
    missing_ms += Math.max(0, source_start_ms - reached_ms);
    overlap_ms += Math.max(0, Math.min(reached_ms, source_end_ms) - source_start_ms);
    reached_ms = Math.max(reached_ms, source_end_ms);
  }
  return { missing_ms, overlap_ms };
}
