import { cafAsMp4 } from './caf.js';
import { mp4InOrder, piecesOf } from './mp4_order.js';
import { type ByteSource, wavChunks, wavHeader } from './wav.js';

/** The bytes of files as decoders read them: they take what comes, and know fewer containers than files have. */

/** A chunk of Wave64 begins with 16 bytes of its kind and 8 of its size, and ends at a multiple of 8. */
const W64 = { head_bytes: 24, kind_bytes: 16, first_at: 40, align: 8 };
const W64_KIND = Buffer.from('726966662e91cf11a5d628db04c10000', 'hex');
const CHUNKS_MAX = 1_000;
const FORMAT_BYTES_MAX = 1_024;
const SIZE_MAX = 0xffff_ffff;

/** MP4 with its index first, CAF with compressed packets as MP4, RF64 and Wave64 as WAV; others as they are. */
export async function* decoderInput(source: ByteSource): AsyncGenerator<Buffer> {
  const head = await source.read(0, W64.kind_bytes);
  const kind = head.toString('latin1', 0, 4);
  if (kind === 'caff') {
    const found = await cafAsMp4(source);
    if (found === null) yield* piecesOf(source, 0, source.size_bytes);
    else {
      yield found.head;
      yield* piecesOf(source, found.from, found.to);
    }
    return;
  }
  const samples = isWave64(head)
    ? await samplesIn(source, wave64Chunks(source))
    : kind === 'RF64' || kind === 'BW64'
      ? await samplesIn(source, wavChunks(source))
      : null;
  if (samples === null) {
    yield* mp4InOrder(source);
    return;
  }
  const { format, from, to } = samples;
  yield wavHeader(format, Math.min(to - from, SIZE_MAX - FORMAT_BYTES_MAX));
  yield* piecesOf(source, from, to);
}

export function isWave64(head: Uint8Array): boolean {
  return W64_KIND.equals(head.subarray(0, W64.kind_bytes));
}

type Chunk = { tag: string; body: number; size: number };

/** Null where either is missing. */
async function samplesIn(
  source: ByteSource,
  chunks: AsyncIterable<Chunk>,
): Promise<{ format: Buffer; from: number; to: number } | null> {
  let format: Buffer | null = null;
  for await (const { tag, body, size } of chunks) {
    if (tag === 'fmt ' && size <= FORMAT_BYTES_MAX) format = await source.read(body, size);
    if (tag === 'data') return format && { format, from: body, to: Math.min(source.size_bytes, body + size) };
  }
  return null;
}

async function* wave64Chunks(source: ByteSource): AsyncGenerator<Chunk> {
  for (let [at, seen] = [W64.first_at, 0]; seen < CHUNKS_MAX; seen++) {
    const head = await source.read(at, W64.head_bytes);
    if (head.length < W64.head_bytes) return;
    const said = Number(head.readBigUInt64LE(W64.kind_bytes));
    // A size of nothing was not written: the samples go on to the end.
    const size = said < W64.head_bytes ? source.size_bytes : said - W64.head_bytes;
    yield { tag: head.toString('latin1', 0, 4), body: at + W64.head_bytes, size };
    at += Math.ceil((W64.head_bytes + size) / W64.align) * W64.align;
  }
}
