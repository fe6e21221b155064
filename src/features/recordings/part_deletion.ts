import { createHash } from 'node:crypto';
import type { ErasureJob } from '../../../actors/actor.js';
import type { ListedChunk } from '../../../actors/recordings/stream_chunks.js';
import { type DeletedPart, isStored, type StoredChunk, type Stream } from '../../../actors/recordings/stream_state.js';
import { pageOf } from '../../../actors/transcripts/transcript_page.js';
import type { Principal } from '../../access/principal.js';
import { pipelineOutputId, streamOfChunk } from '../../domain/ids.js';
import { type Interval, shared } from '../../domain/intervals.js';
import { LIMITS } from '../../domain/limits.js';
import { nullIfPermanent, orNull, Refused, refuse } from '../../domain/refusals.js';
import { silencedAudio } from '../../engine/audio/silenced_audio.js';
import { audioKey, waveformKey } from '../../engine/blobs/blob_keys.js';
import { putAudio } from '../../engine/blobs/put_audio.js';
import { randomBytes } from '../../engine/random/random.js';
import { CONTENDED } from '../../engine/runtime/runtime_refusals.js';
import type { FeatureServices } from '../services.js';
import { askRecordingEvents, writableStream } from './stream_access.js';

/**
 * Deletes a part of a recording: its audio and what was said in it. The timeline stays as it is, so turns, marks and links
 * keep their places. docs/choices.md, "Recordings".
 */

const LIST_STEP = 1_000;
const NOTHING_THERE = refuse('CONFLICT', 'The recording ends before from_ms.');

type DeletionServices = Pick<FeatureServices, 'actors' | 'blobs'>;
type PartOfStream = { stream_id: string; part: DeletedPart };
type PlacedChunk = ListedChunk & StoredChunk;

/** `preview`: nothing is deleted. */
export type PartDeletion = { stream_id: string; from_ms: number; to_ms: number; preview: boolean };

/**
 * Deletes a part of the caller's recording; gives the part that goes. It is longer than what was asked where audio can
 * only go chunk by chunk.
 */
export async function deletePart(
  services: DeletionServices & { speech_withdrawal: { ofStream(stream: Stream): Promise<void> } },
  who: Principal,
  { stream_id, from_ms, to_ms, preview }: PartDeletion,
): Promise<{ from_ms: number; to_ms: number }> {
  const stream = await writableStream(services, who, stream_id);
  const end_ms = Math.max(stream.end_ms ?? 0, stream.stored_until_ms);
  if (from_ms >= end_ms) throw new Refused(NOTHING_THERE);
  const asked: Interval = [from_ms, Math.min(to_ms, end_ms)];
  const part = { asked, goes: await whatGoes(services, stream.id, asked) };
  if (!preview) {
    const { id, source_id } = stream;
    await askRecordingEvents(services, { stream_id: id, source_id, fences: who.fences }, (actor, silence, fences) =>
      actor.delete_part({ part, ...silence }, fences),
    );
    await removePart(services, { stream_id: id, part });
    await services.speech_withdrawal.ofStream(stream);
  }
  return { from_ms: part.goes[0], to_ms: part.goes[1] };
}

/** Goes on with the deletion of a part that was cut off; does nothing where it is done. */
export async function resumePartDeletion(
  services: DeletionServices,
  { stream_id, part }: Extract<ErasureJob, { job: 'delete_part' }>,
): Promise<void> {
  const stream = await orNull(services.actors.stream(stream_id).view(), 'NOT_FOUND');
  const name = JSON.stringify(part);
  if (stream?.parts_going?.some((one) => JSON.stringify(one) === name) !== true) return;
  await removePart(services, { stream_id, part }).catch(nullIfPermanent);
}

/** Each step may be repeated. What was said goes first. */
async function removePart(services: DeletionServices, { stream_id, part }: PartOfStream): Promise<void> {
  await removeSpeech(services, stream_id, part.goes);
  const stream = services.actors.stream(stream_id);
  const numbers: number[] = [];
  for await (const chunk of chunksIn(services, stream_id, part.asked)) {
    if (isInside(chunk, part.asked) || !(await silencePart(services, { stream_id, chunk, asked: part.asked })))
      numbers.push(numberOf(chunk));
    if (numbers.length === LIMITS.expired_per_commit_max) await removeChunks(services, stream_id, numbers.splice(0));
  }
  if (numbers.length > 0) await removeChunks(services, stream_id, numbers);
  await services.blobs.remove([waveformKey(stream_id)]);
  await stream.part_deleted({ part });
}

async function removeChunks({ actors, blobs }: DeletionServices, stream_id: string, numbers: number[]): Promise<void> {
  const stream = actors.stream(stream_id);
  const { gone } = await stream.remove_chunks({ numbers });
  await blobs.remove(gone.map((chunk) => audioKey(stream_id, chunk)));
  if (gone.length > 0) await stream.audio_erased({ numbers: gone.map(({ number }) => number) });
}

/** From the transcript of the stream and those of further pipelines. */
async function removeSpeech({ actors }: DeletionServices, stream_id: string, part: Interval): Promise<void> {
  const own = await orNull(actors.transcript(stream_id).view(), 'NOT_FOUND');
  if (own === null) return;
  const others = own.pipeline_outputs.map((number) => pipelineOutputId(stream_id, number));
  const heard_ms = Math.max(own.covered.at(-1)?.[1] ?? 0, own.waiting.at(-1)?.to_ms ?? 0, own.window?.to_ms ?? 0);
  const last_page = pageOf(Math.min(part[1], heard_ms) - 1);
  for (const transcript_id of [stream_id, ...others]) {
    for (let page = pageOf(part[0]); page <= last_page; page++) {
      const cut = { page, part };
      const changed = askRecordingEvents(
        { actors },
        { stream_id, source_id: own.source_id, fences: [{ fence: 'open', id: stream_id }] },
        (_, silence, fences) => actors.downstream.transcript(transcript_id).delete_part({ ...cut, ...silence }, fences),
      );
      await orNull(changed, 'NOT_FOUND');
    }
  }
}

/** False for a chunk that can only go as a whole. */
async function silencePart(
  { actors, blobs }: DeletionServices,
  { stream_id, chunk, asked }: { stream_id: string; chunk: PlacedChunk; asked: Interval },
): Promise<boolean> {
  const bytes = await silenced({ blobs }, stream_id, { chunk, asked });
  if (bytes === null) return false;
  const announced = await measured(bytes());
  const { source_chunk_ref, chunk_id } = chunk;
  const expected = { size_bytes: announced.size_bytes, sha256_hex: announced.sha256 };
  // A larger chunk is a blob of its own, whose name must be another one.
  const name = `${chunk_id}-${Buffer.from(randomBytes(4)).toString('hex')}`;
  const put = await putAudio(blobs, { stream_id, chunk_id: name, source_chunk_ref }, { body: bytes(), expected });
  // Another part's deletion has replaced the bytes since they were measured.
  if (!put.ok) throw new Refused(CONTENDED);
  const replaced = { number: numberOf(chunk), was_place: chunk.place, place: put.place, ...announced };
  const { is_taken } = await actors.stream(stream_id).replace_audio(replaced);
  const unused = is_taken ? chunk : { ...announced, place: put.place };
  await blobs.remove([audioKey(stream_id, unused)]);
  return true;
}

function silenced(
  { blobs }: Pick<DeletionServices, 'blobs'>,
  stream_id: string,
  { chunk, asked }: { chunk: PlacedChunk; asked: Interval },
) {
  const { source_start_ms: start_ms, source_end_ms: end_ms } = chunk;
  const span = { from_ms: Math.max(0, asked[0] - start_ms), to_ms: Math.min(end_ms, asked[1]) - start_ms };
  const of = { ...chunk, key: audioKey(stream_id, chunk), length_ms: end_ms - start_ms };
  return silencedAudio(blobs, of, span);
}

async function measured(pieces: AsyncIterable<Buffer>): Promise<{ size_bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let size_bytes = 0;
  for await (const piece of pieces) {
    hash.update(piece);
    size_bytes += piece.length;
  }
  return { size_bytes, sha256: hash.digest('hex') };
}

/** The part that was asked, with the whole of each chunk that reaches into it and can't be cut. */
async function whatGoes(services: DeletionServices, stream_id: string, asked: Interval): Promise<Interval> {
  let [from_ms, to_ms] = asked;
  for await (const chunk of chunksIn(services, stream_id, asked)) {
    if (isInside(chunk, asked) || (await silenced(services, stream_id, { chunk, asked })) !== null) continue;
    from_ms = Math.min(from_ms, chunk.source_start_ms);
    to_ms = Math.max(to_ms, chunk.source_end_ms);
  }
  return [from_ms, to_ms];
}

/** Stored chunks that reach into a part. */
async function* chunksIn(
  { actors }: Pick<DeletionServices, 'actors'>,
  stream_id: string,
  part: Interval,
): AsyncGenerator<PlacedChunk> {
  for (let after: { order: number; id: string } | undefined; ; ) {
    const { chunks } = await actors.stream(stream_id).list_chunks({ range: { after, limit: LIST_STEP } });
    for (const chunk of chunks) if (isStored(chunk) && shared(spanOf(chunk), part) > 0) yield chunk;
    const last = chunks.at(-1);
    if (last === undefined || chunks.length < LIST_STEP || last.order >= part[1]) return;
    after = { order: last.order, id: last.member };
  }
}

function isInside(chunk: PlacedChunk, [from_ms, to_ms]: Interval): boolean {
  return chunk.source_start_ms >= from_ms && chunk.source_end_ms <= to_ms;
}

function spanOf({ source_start_ms, source_end_ms }: PlacedChunk): Interval {
  return [source_start_ms, source_end_ms];
}

function numberOf({ chunk_id }: PlacedChunk): number {
  const place = streamOfChunk(chunk_id);
  if (place === null) throw new Error('a chunk has an id that is none');
  return place.number;
}
