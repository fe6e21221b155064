import { streamOfChunk } from '../../src/domain/ids.js';
import type { Interval } from '../../src/domain/intervals.js';
import { type Refusal, refuse } from '../../src/domain/refusals.js';
import { type Effect, given } from '../actor.js';

/**
 * `going`: it or its workspace is deleted and its content is being removed; no caller sees it. `deleted`: by its owner.
 * `forgotten`: the rest of a recorder's deleted stream, so that its reference begins no other.
 */
export type StreamState =
  | Stream
  | (Omit<Stream, 'status'> & { status: 'going'; deleted: boolean })
  | { status: 'forgotten'; account_id: string };

/** A recording's timeline: its chunks, and where it ends, which is set once. All times in it are ms since its start. */
export type Stream = {
  status: 'kept';
  id: string;
  account_id: string;
  workspace_id: string;
  /** The workspace that it is being moved from, while what is made of it follows; absent otherwise. */
  moving_from?: string | undefined;
  source_id: string;
  /** The device that uploads it; null for an app. */
  recorder: StreamRecorder | null;
  captured_at: string;
  /** The offset of the recording's clocks from UTC, minutes; null if unknown. */
  utc_offset_min: number | null;
  /** Whether it is an imported file, whose speech belongs to no other recording. */
  imported: boolean;
  transcript_revision: number;
  title: string | null;
  /** The owner's star and tags; absent until one is set. */
  starred?: boolean | undefined;
  tags?: readonly string[] | undefined;
  created_at_ms: number;
  end_ms: number | null;
  /** The number of chunks ever registered; chunks are numbered from 1. */
  chunks: number;
  stored_chunks: number;
  stored_bytes: number;
  /** The latest end of stored chunks. With the open intents it bounds a new end. */
  stored_until_ms: number;
  /** When bytes of a chunk last arrived; null before. */
  last_stored_at_ms: number | null;
  /** Intents whose bytes have not arrived. */
  open: OpenIntent[];
  /** Stored chunks that are not processed, and those of them that a worker has claimed. */
  unprocessed: number;
  claims: ChunkClaim[];
  /** When the first upload of its kept chunks began; null without any. */
  oldest_audio_ms: number | null;
  /** The number of expired chunks, and their spans on the timeline. */
  expired_chunks: number;
  audio_expired: Interval[];
  /** Whether its transcript knows of it. */
  transcribed: boolean;
  /** The number of processed chunks that its transcript does not know of, since there was no engine then. */
  untold: number;
  /** When its transcript was last told of audio that came with a request, and the audio since then. */
  told_at_ms: number | null;
  to_tell: { intervals: Interval[]; window_ms: number } | null;
  /** The parts of its timeline that its owner deleted, and those whose removal is under way; absent without any. */
  deleted_parts?: Interval[] | undefined;
  parts_going?: DeletedPart[] | undefined;
  /** The number of chunks of which a part was silenced; absent without any. */
  silenced_chunks?: number | undefined;
};

/** `asked`: the part that was to go. `goes`: the part that goes, which is longer where chunks can only go whole. */
export type DeletedPart = { asked: Interval; goes: Interval };

/** The device and binding epoch, and the device's own reference for the stream. */
export type StreamRecorder = {
  device_id: string;
  binding_epoch: string;
  source_stream_ref: string;
  clock_uncertainty_ms: number;
};

/** A chunk that a worker has claimed until its lease ends. */
export type ChunkClaim = { number: number; token: string; until_ms: number };

export type OpenIntent = { number: number; end_ms: number; asked_at_ms: number };

/** The announcement of a chunk, before its upload. */
export type ChunkIntent = {
  source_chunk_ref: string;
  sequence: number;
  source_start_ms: number;
  publication_start_ms: number;
  source_end_ms: number;
  codec: string;
  container: string;
  /** For raw samples, which do not carry it; absent if unknown. */
  sample_rate_hz?: number | undefined;
  channels?: number | undefined;
  size_bytes: number;
  sha256: string;
};

/**
 * The state of the upload. `expired`: the bytes never arrived, or they were stored, and retention or their owner removed
 * them.
 */
export type ChunkStatus = 'awaiting_upload' | 'stored' | 'expired';

/** Collection `chunks`, by number in hexadecimal, in the order of `source_start_ms`. */
export type Chunk = ChunkIntent & {
  chunk_id: string;
  status: ChunkStatus;
  registered_at_ms: number;
  upload_started_at_ms: number | null;
  stored_at_ms: number | null;
  /** Where its bytes lie (`audioKey`); null before they arrived and after they were erased. */
  place: string | null;
  /** The size and hash that its uploader announced, where a part of it was silenced since. */
  announced?: { size_bytes: number; sha256: string };
  /** The result of processing and the token of its claim; absent before. */
  result?: ChunkResult;
  processed_by?: string;
};

/** `checked`: header and duration were compared with the intent. */
export type ChunkResult =
  | { status: 'processed'; checked: boolean }
  | { status: 'failed'; failure: { code: string; message: string } };

/**
 * `silent`: its source is deleted, so that no event is recorded. Otherwise the commit is fenced by the source's open
 * id.
 */
export type EventSilence = { silent: boolean };

/** Rule H-037. */
export function streamEvent(
  { id, account_id, source_id }: Stream,
  type: 'stream.created' | 'stream.updated' | 'stream.deleted',
  { silent }: EventSilence,
  changed_fields?: string[],
): Effect[] {
  const data = changed_fields === undefined ? { source_id } : { changed_fields, source_id };
  return silent ? [] : [{ effect: 'append_event', account_id, type, resource_id: id, data }];
}

/** Refuses messages to a stream that does not exist or was deleted. */
export const keptStream = given((state: StreamState | null) => (state?.status === 'kept' ? state : noStream(state)));
const NO_STREAM = refuse('NOT_FOUND', 'There is no such stream.');
export const RECORDING_DELETED = refuse('NOT_FOUND', 'This recording was deleted; nothing of it is taken any more.');

export function noStream(state: StreamState | null): Refusal {
  const is_deleted = state?.status === 'forgotten' || (state?.status === 'going' && state.deleted);
  return is_deleted ? RECORDING_DELETED : NO_STREAM;
}

/** The record id of a chunk: fixed width, so that ids sort as numbers. */
export function chunkKey(number: number): string {
  return number.toString(16).padStart(8, '0');
}

export function putChunk(number: number, chunk: Chunk): Effect {
  return {
    effect: 'put_record',
    collection: 'chunks',
    id: chunkKey(number),
    value: chunk,
    order: chunk.source_start_ms,
  };
}

/** The status of a chunk as callers see it: the result of processing counts before the state of the upload. */
export function statusOf(chunk: Chunk, { claims }: Stream, now_ms: number): ChunkStanding {
  if (chunk.result !== undefined) return chunk.result.status;
  const number = streamOfChunk(chunk.chunk_id)?.number;
  const is_claimed = claims.some((claim) => claim.number === number && now_ms < claim.until_ms);
  return is_claimed ? 'processing' : chunk.status;
}

export type ChunkStanding = ChunkStatus | 'processing' | ChunkResult['status'];

/** A chunk whose audio can be read. */
export type StoredChunk = Chunk & { place: string };

export function isStored<Found extends Chunk>(chunk: Found): chunk is Found & StoredChunk {
  return chunk.status === 'stored' && chunk.place !== null;
}

/** Whether its bytes were stored and are removed. */
export function hasExpired({ status, stored_at_ms }: Chunk): boolean {
  return status === 'expired' && stored_at_ms !== null;
}

/** The reason why processing failed; null otherwise. */
export function failureOf({ result }: Chunk): { code: string; message: string } | null {
  return result?.status === 'failed' ? result.failure : null;
}
