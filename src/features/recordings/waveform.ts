import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Principal } from '../../access/principal.js';
import type { Interval } from '../../domain/intervals.js';
import { LIMITS } from '../../domain/limits.js';
import { Refused, refuse } from '../../domain/refusals.js';
import { decoderInput } from '../../engine/audio/decoder_input.js';
import { PeakMeter } from '../../engine/audio/peaks.js';
import { type ByteSource, plainFormat, readWav, type Wav, withHead } from '../../engine/audio/wav.js';
import { waveformKey } from '../../engine/blobs/blob_keys.js';
import type { BlobStore, ByteContent } from '../../engine/blobs/blob_store.js';
import { ProcessFailed } from '../../engine/process/framed_process.js';
import type { FeatureServices } from '../services.js';
import { type JoinedAudioServices, joinedAudio } from './joined_audio.js';

/**
 * The loudness of a stream over its timeline. It is made of the joined file when somebody first asks for it, and kept
 * beside the audio, with a digest of that file: after the audio has changed it is made anew. What removes audio removes it.
 */

const WAVEFORM_MS_MAX = 86_400_000; // ours: 1.4 MB of peaks
const DIGEST_BYTES = 16;
/** The samples that the decoder gives: enough for an outline. */
const DECODED = plainFormat('pcm_s16le', { channels: 1, frames_per_second: 8_000 });
const TOO_LONG = refuse('CONFLICT', 'A recording of more than a day has no waveform.');
const NOT_DECODED = refuse('CONFLICT', 'This audio is not decoded here, so there is no waveform of it.');
const GIVEN_UP = refuse('UNAVAILABLE', 'The audio is not decoded any more.', { retry_after_s: 2 });

type WaveformServices = JoinedAudioServices & Pick<FeatureServices, 'decoders'>;
type DrawnFile = Pick<ByteContent, 'size_bytes' | 'open' | 'content_type'> & { spans: readonly Interval[] };
type WaveformCall = { owner: string; signal: AbortSignal };

/** The waveform of a stream whose audio the caller may read. */
export async function streamWaveform(
  services: WaveformServices,
  who: Principal,
  { stream_id, signal }: { stream_id: string; signal: AbortSignal },
): Promise<ByteContent> {
  const file = await joinedAudio(services, who, { stream_id, signal });
  const drawn = JSON.stringify([file.etag, file.spans]);
  const digest = createHash('sha256').update(drawn).digest().subarray(0, DIGEST_BYTES);
  const call = { owner: who.account_id, signal };
  const peaks =
    (await keptPeaks(services, stream_id, digest)) ??
    (await services.joined_files.waveforms.run(
      who.account_id,
      // Another request may have made it meanwhile.
      async () =>
        (await keptPeaks(services, stream_id, digest)) ?? makePeaks(services, { stream_id, file, digest, call }),
      { signal },
    ));
  return {
    size_bytes: peaks.length,
    etag: digest.toString('hex'),
    content_type: 'application/octet-stream',
    open: async ({ start, end } = { start: 0, end: peaks.length - 1 }) =>
      Readable.from([peaks.subarray(start, end + 1)]),
  };
}

async function keptPeaks(
  { blobs }: Pick<WaveformServices, 'blobs'>,
  stream_id: string,
  digest: Buffer,
): Promise<Buffer | null> {
  const kept = await blobs.open(waveformKey(stream_id));
  if (kept === null) return null;
  const bytes = Buffer.concat(await kept.stream.toArray());
  return bytes.subarray(0, DIGEST_BYTES).equals(digest) ? bytes.subarray(DIGEST_BYTES) : null;
}

async function makePeaks(
  services: WaveformServices,
  { stream_id, file, digest, call }: { stream_id: string; file: DrawnFile; digest: Buffer; call: WaveformCall },
): Promise<Buffer> {
  if (file.spans.some(([, end_ms]) => end_ms > WAVEFORM_MS_MAX)) throw new Refused(TOO_LONG);
  const { actors, blobs } = services;
  const before = await actors.stream(stream_id).view();
  const peaks = await measuredPeaks(services, file, call);
  await put(blobs, stream_id, Buffer.concat([digest, peaks]));
  // Whoever removed audio meanwhile has removed a waveform that was not there yet.
  const after = await actors
    .stream(stream_id)
    .view()
    .catch(() => null);
  const is_same = after?.expired_chunks === before.expired_chunks && after.silenced_chunks === before.silenced_chunks;
  if (!is_same) await blobs.remove([waveformKey(stream_id)]);
  return peaks;
}

async function put(blobs: BlobStore, stream_id: string, bytes: Buffer): Promise<void> {
  const sha256_hex = createHash('sha256').update(bytes).digest('hex');
  const expected = { size_bytes: bytes.length, sha256_hex };
  await blobs.put(waveformKey(stream_id), Readable.from([bytes]), expected);
}

async function measuredPeaks(services: WaveformServices, file: DrawnFile, call: WaveformCall): Promise<Buffer> {
  const source = sourceOf(file);
  const plain = file.content_type === 'audio/wav' ? await readWav(await withHead(source)) : null;
  return plain?.ok === true ? plainPeaks(file, plain.wav, call) : decodedPeaks(services, { file, source }, call);
}

async function plainPeaks(file: DrawnFile, { format, data_offset, frames }: Wav, call: WaveformCall): Promise<Buffer> {
  const meter = new PeakMeter(file.spans, format);
  const end = data_offset + frames * format.frame_bytes - 1;
  for await (const piece of await file.open({ start: data_offset, end })) {
    if (call.signal.aborted) throw new Refused(GIVEN_UP);
    meter.add(piece as Buffer);
  }
  return meter.peaks;
}

async function decodedPeaks(
  { decoders }: Pick<WaveformServices, 'decoders'>,
  { file, source }: { file: DrawnFile; source: ByteSource },
  call: WaveformCall,
): Promise<Buffer> {
  const length_s = file.spans.reduce((sum, [from_ms, to_ms]) => sum + to_ms - from_ms, 0) / 1_000;
  let meter = new PeakMeter(file.spans, DECODED);
  const onPiece = async (piece: Buffer, at: number) => {
    // Decoding may begin anew.
    if (at === 0) meter = new PeakMeter(file.spans, DECODED);
    meter.add(piece);
  };
  try {
    const options = { rate: DECODED.frames_per_second, length_s, length_s_max: LIMITS.decoded_s_max };
    await decoders.decode(() => decoderInput(source), options, { ...call, onPiece });
  } catch (error) {
    if (!(error instanceof ProcessFailed)) throw error;
    throw new Refused(error.code === 'STOPPED' ? GIVEN_UP : NOT_DECODED);
  }
  return meter.peaks;
}

function sourceOf(file: DrawnFile): ByteSource {
  const { size_bytes } = file;
  const read = async (start: number, length: number) => {
    const end = Math.min(size_bytes, start + length) - 1;
    return end < start ? Buffer.alloc(0) : Buffer.concat(await (await file.open({ start, end })).toArray());
  };
  return { size_bytes, read };
}
