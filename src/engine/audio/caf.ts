import type { ByteSource } from './wav.js';

/** Core Audio Format: packets of a codec, as messages and voice memos of Apple have them, put into MP4 for decoders. */

type CafChunk = { type: string; body: number; size: number };

/** The description of the audio, as in `desc`. */
type CafFormat = { rate: number; codec: string; packet_bytes: number; packet_frames: number; channels: number };

const CHUNKS_MAX = 1_000;
/** Six hours in packets of 20 ms take 2 MB. */
const PACKET_TABLE_BYTES_MAX = 8 * 1024 * 1024;
const COOKIE_BYTES_MAX = 64 * 1024;
/** Of the packet table, before the sizes. */
const TABLE_HEAD_BYTES = 24;
const EDIT_COUNT_BYTES = 4;
const OPUS_RATE = 48_000;
/** By the codec: the entry of the samples in MP4, and the box that tells a decoder of them. */
const ENTRIES: Record<
  string,
  (of: { cookie: Buffer; channels: number; priming: number }) => { type: string; about: Buffer }
> = {
  alac: ({ cookie }) => ({ type: 'alac', about: box('alac', Buffer.alloc(4), alacConfig(cookie)) }),
  'aac ': ({ cookie }) => ({ type: 'mp4a', about: box('esds', Buffer.alloc(4), cookie) }),
  opus({ channels, priming }) {
    const about = Buffer.alloc(11);
    about[1] = channels;
    about.writeUInt16BE(Math.min(priming, 0xffff), 2);
    about.writeUInt32BE(OPUS_RATE, 4);
    return { type: 'Opus', about: box('dOps', about) };
  },
};

/** The codec of a file that begins with these bytes, as its four letters; null where it is no CAF. */
export function cafCodec(head: Uint8Array): string | null {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  if (bytes.length < 52 || bytes.toString('latin1', 0, 4) !== 'caff' || bytes.toString('latin1', 8, 12) !== 'desc')
    return null;
  return bytes.toString('latin1', 28, 32);
}

/** The head of an MP4 with the packets of a CAF, and where these lie; null for one whose samples decoders read, or nobody. */
export async function cafAsMp4(source: ByteSource): Promise<{ head: Buffer; from: number; to: number } | null> {
  const chunks = await chunksOf(source);
  const bytesOf = async (type: string, bytes_max: number) => {
    const found = chunks.find((chunk) => chunk.type === type);
    return found === undefined ? Buffer.alloc(0) : source.read(found.body, Math.min(found.size, bytes_max));
  };
  const format = formatIn(await bytesOf('desc', 32));
  const data = chunks.find(({ type }) => type === 'data');
  const entry = format === null ? undefined : ENTRIES[format.codec];
  if (format === null || entry === undefined || data === undefined || data.size <= EDIT_COUNT_BYTES) return null;
  const table = await bytesOf('pakt', PACKET_TABLE_BYTES_MAX);
  const [from, to] = [data.body + EDIT_COUNT_BYTES, data.body + data.size];
  const sizes = packetSizes(table, { format, bytes: to - from });
  const priming = table.length < TABLE_HEAD_BYTES ? 0 : Math.max(0, table.readInt32BE(16));
  const { channels } = format;
  const about = entry({ cookie: await bytesOf('kuki', COOKIE_BYTES_MAX), channels, priming });
  const ftyp = box('ftyp', Buffer.from('M4A '), Buffer.alloc(4));
  // Where the samples begin stands in the index, whose size is the same with any number.
  const head_bytes = ftyp.length + movie({ format, about, sizes, from: 0 }).length + 8;
  const mdat = Buffer.alloc(8);
  mdat.writeUInt32BE(to - from + 8 > 0xffff_ffff ? 0 : to - from + 8, 0);
  mdat.write('mdat', 4, 'latin1');
  return { head: Buffer.concat([ftyp, movie({ format, about, sizes, from: head_bytes }), mdat]), from, to };
}

async function chunksOf(source: ByteSource): Promise<CafChunk[]> {
  const chunks: CafChunk[] = [];
  for (let at = 8; chunks.length < CHUNKS_MAX; ) {
    const head = await source.read(at, 12);
    if (head.length < 12) break;
    const [said, body] = [head.readBigInt64BE(4), at + 12];
    const rest = source.size_bytes - body;
    const size = said < 0n || said > BigInt(rest) ? rest : Number(said);
    chunks.push({ type: head.toString('latin1', 0, 4), body, size });
    at = body + size;
  }
  return chunks;
}

function formatIn(desc: Buffer): CafFormat | null {
  if (desc.length < 32) return null;
  return {
    rate: desc.readDoubleBE(0),
    codec: desc.toString('latin1', 8, 12),
    packet_bytes: desc.readUInt32BE(16),
    packet_frames: desc.readUInt32BE(20),
    channels: desc.readUInt32BE(24),
  };
}

/** Of each packet, as far as they are in the file. Each is written in bytes of seven bits, and its frames behind it where they differ. */
function packetSizes(table: Buffer, { format, bytes }: { format: CafFormat; bytes: number }): number[] {
  const { packet_bytes, packet_frames } = format;
  if (packet_bytes > 0) return Array.from({ length: Math.floor(bytes / packet_bytes) }, () => packet_bytes);
  const sizes: number[] = [];
  let [at, left] = [TABLE_HEAD_BYTES, bytes];
  const next = () => {
    let value = 0;
    for (let more = true; more && at < table.length; at++) {
      const byte = table[at] as number;
      value = value * 128 + (byte & 0x7f);
      more = (byte & 0x80) !== 0;
    }
    return value;
  };
  while (at < table.length) {
    const size = next();
    if (packet_frames === 0) next();
    if (size === 0 || size > left) break;
    left -= size;
    sizes.push(size);
  }
  return sizes;
}

type Track = { format: CafFormat; about: { type: string; about: Buffer }; sizes: readonly number[]; from: number };

/** The index of an MP4 of one track, whose samples all lie together (ISO/IEC 14496-12). */
function movie({ format: { rate, packet_frames, channels }, about: { type, about }, sizes, from }: Track): Buffer {
  const entry = Buffer.alloc(28);
  entry.writeUInt16BE(1, 6);
  entry.writeUInt16BE(channels & 0xffff, 16);
  entry.writeUInt16BE(16, 18);
  entry.writeUInt16BE(Math.floor(rate) & 0xffff, 24);
  const sample_sizes = Buffer.alloc(sizes.length * 4);
  for (const [index, size] of sizes.entries()) sample_sizes.writeUInt32BE(size, index * 4);
  const table = box(
    'stbl',
    box('stsd', numbers(0, 1), box(type, entry, about)),
    box('stts', numbers(0, 1, sizes.length, packet_frames)),
    box('stsc', numbers(0, 1, 1, sizes.length, 1)),
    box('stsz', numbers(0, 0, sizes.length), sample_sizes),
    box('stco', numbers(0, 1, from)),
  );
  const handler = box('hdlr', numbers(0, 0), Buffer.from('soun'), Buffer.alloc(13));
  const clock = box('mdhd', numbers(0, 0, 0, Math.floor(rate) >>> 0, 0, 0));
  return box('moov', box('trak', box('mdia', clock, handler, box('minf', table))));
}

/** Apple writes the boxes `frma` and `alac` before it, or nothing. */
function alacConfig(cookie: Buffer): Buffer {
  return cookie.toString('latin1', 4, 8) === 'frma' ? cookie.subarray(24) : cookie;
}

function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}

function box(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8, 0);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
}
