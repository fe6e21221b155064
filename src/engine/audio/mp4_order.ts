import type { ByteSource } from './wav.js';

/**
 * MP4 files with their index (`moov`) before their samples (`mdat`), so that a decoder needs no more than one piece of them
 * at a time. Phones write the index last. ISO/IEC 14496-12.
 */

type Box = { type: string; at: number; head_bytes: number; size_bytes: number };

/** An index of six hours of AAC takes some 5 MB. */
const INDEX_BYTES_MAX = 64 * 1024 * 1024;
const BOXES_MAX = 1_000;
const PIECE_BYTES = 1024 * 1024;
/** Boxes between `moov` and the tables of chunk offsets. */
const CONTAINERS: ReadonlySet<string> = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl']);
const UINT32_MAX = 0xffff_ffff;

/** The file in the order that a decoder needs; as it is where it is in that order already, or is no MP4. */
export async function* mp4InOrder(source: ByteSource): AsyncGenerator<Buffer> {
  const boxes = await boxesOf(source);
  const [moov, mdat] = ['moov', 'mdat'].map((type) => boxes.find((box) => box.type === type));
  const is_ordered = moov === undefined || mdat === undefined || moov.at < mdat.at || moov.size_bytes > INDEX_BYTES_MAX;
  const index = is_ordered ? null : Buffer.from(await source.read(moov.at, moov.size_bytes));
  if (is_ordered || index === null || !moveOffsets(index, moov.size_bytes)) {
    yield* piecesOf(source, 0, source.size_bytes);
    return;
  }
  yield* piecesOf(source, 0, mdat.at);
  yield index;
  yield* piecesOf(source, mdat.at, moov.at);
  yield* piecesOf(source, moov.at + moov.size_bytes, source.size_bytes);
}

/** The boxes of the file itself, or of a box in it, as far as they can be read. */
export async function boxesOf(source: ByteSource, within?: Box): Promise<Box[]> {
  const boxes: Box[] = [];
  const end = within === undefined ? source.size_bytes : within.at + within.size_bytes;
  for (let at = within === undefined ? 0 : within.at + within.head_bytes; at + 8 <= end && boxes.length < BOXES_MAX; ) {
    const box = boxAt(await source.read(at, 16), 0, end - at);
    if (box === null || (at === 0 && box.type !== 'ftyp')) break;
    boxes.push({ ...box, at });
    at += box.size_bytes;
  }
  return boxes;
}

/** The box that begins there, within so many bytes; null where none fits. */
function boxAt(bytes: Buffer, at: number, room: number): Box | null {
  if (at + 8 > bytes.length) return null;
  const type = bytes.toString('latin1', at + 4, at + 8);
  const short = bytes.readUInt32BE(at);
  const is_long = short === 1 && at + 16 <= bytes.length;
  const size_bytes = short === 0 ? room : is_long ? Number(bytes.readBigUInt64BE(at + 8)) : short;
  const head_bytes = is_long ? 16 : 8;
  return size_bytes < head_bytes || size_bytes > room ? null : { type, at, head_bytes, size_bytes };
}

/** Adds to all chunk offsets within an index; false where that is not possible. */
function moveOffsets(index: Buffer, by: number): boolean {
  const waiting = [{ from: 0, to: index.length }];
  for (let span = waiting.pop(); span !== undefined; span = waiting.pop()) {
    for (let at = span.from; at < span.to; ) {
      const box = boxAt(index, at, span.to - at);
      if (box === null) return false;
      const body = { from: at + box.head_bytes, to: at + box.size_bytes };
      if (CONTAINERS.has(box.type)) waiting.push(body);
      if ((box.type === 'stco' || box.type === 'co64') && !moveTable(index.subarray(body.from, body.to), box.type, by))
        return false;
      at += box.size_bytes;
    }
  }
  return true;
}

/** A table: version and flags, the count, then an offset each. */
function moveTable(table: Buffer, type: 'stco' | 'co64', by: number): boolean {
  const width = type === 'stco' ? 4 : 8;
  if (table.length < 8 || table.length < 8 + table.readUInt32BE(4) * width) return false;
  const end = 8 + table.readUInt32BE(4) * width;
  for (let at = 8; at < end; at += width) {
    if (width === 8) table.writeBigUInt64BE(BigInt.asUintN(64, table.readBigUInt64BE(at) + BigInt(by)), at);
    else if (table.readUInt32BE(at) + by > UINT32_MAX) return false;
    else table.writeUInt32BE(table.readUInt32BE(at) + by, at);
  }
  return true;
}

export async function* piecesOf(source: ByteSource, from: number, to: number): AsyncGenerator<Buffer> {
  for (let at = from; at < to; ) {
    const piece = await source.read(at, Math.min(PIECE_BYTES, to - at));
    if (piece.length === 0) return;
    yield piece;
    at += piece.length;
  }
}
