/** Pages of Ogg (RFC 3533) as bytes, and the packets in them. */

const HEAD_BYTES = 27;
const PAGE_BYTES_MAX = HEAD_BYTES + 255 + 255 * 255;
const AT = { version: 4, flags: 5, granule: 6, serial: 14, sequence: 18, crc: 22, segments: 26 };
export const FLAGS = { continued: 1, first: 2, last: 4 };
/** The granule position of a page on which no packet ends. */
export const NO_GRANULE = 0xffff_ffff_ffff_ffffn;

/** The bytes are no Ogg, or are damaged; the message completes "it …". */
export class NotOgg extends Error {
  override name = 'NotOgg';
}

/** One page; setters change its bytes, and `seal` makes its checksum right again. */
export class OggPage {
  constructor(readonly bytes: Buffer) {}

  get flags(): number {
    return this.bytes[AT.flags] as number;
  }
  set flags(flags: number) {
    this.bytes[AT.flags] = flags;
  }
  get granule(): bigint {
    return this.bytes.readBigUInt64LE(AT.granule);
  }
  set granule(granule: bigint) {
    this.bytes.writeBigUInt64LE(granule, AT.granule);
  }
  get serial(): number {
    return this.bytes.readUInt32LE(AT.serial);
  }
  set serial(serial: number) {
    this.bytes.writeUInt32LE(serial, AT.serial);
  }
  set sequence(sequence: number) {
    this.bytes.writeUInt32LE(sequence >>> 0, AT.sequence);
  }

  /** The lengths of its parts of packets; one of 255 continues in the next part. */
  get lacing(): Buffer {
    return this.bytes.subarray(HEAD_BYTES, HEAD_BYTES + (this.bytes[AT.segments] as number));
  }
  get body(): Buffer {
    return this.bytes.subarray(HEAD_BYTES + (this.bytes[AT.segments] as number));
  }

  is_sound(): boolean {
    return this.bytes.readUInt32LE(AT.crc) === checksum(this.bytes);
  }
  seal(): void {
    this.bytes.writeUInt32LE(checksum(this.bytes), AT.crc);
  }
}

/** Bytes that memory cards hold behind the end of a file. */
const FILLERS: ReadonlySet<number | undefined> = new Set([0, 0xff]);

/** The pages of a file, each with bytes of its own. Throws NotOgg. */
export async function* pagesOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<OggPage> {
  let held: Buffer = Buffer.alloc(0);
  let pages = 0;
  for await (const piece of pieces) {
    held = held.length === 0 ? piece : Buffer.concat([held, piece]);
    let at = 0;
    for (;;) {
      if (pages > 0 && isFiller(held.subarray(at))) {
        at = held.length - 1;
        break;
      }
      const length = pageBytes(held.subarray(at));
      if (length === null || held.length - at < length) break;
      yield new OggPage(Buffer.from(held.subarray(at, at + length)));
      pages += 1;
      at += length;
    }
    held = held.subarray(at);
    if (held.length > PAGE_BYTES_MAX) throw new NotOgg('has a page that does not end');
  }
  if (held.length > 0 && !(pages > 0 && isFiller(held))) throw new NotOgg('ends within a page');
}

/** One byte of it is kept, so that what follows must be the same. */
function isFiller(bytes: Buffer): boolean {
  return FILLERS.has(bytes[0]) && bytes.equals(Buffer.alloc(bytes.length, bytes[0]));
}

/** The length of the page that begins here; null where too little of it is known. */
function pageBytes(bytes: Buffer): number | null {
  const known = Math.min(bytes.length, 4);
  if (bytes.toString('latin1', 0, known) !== 'OggS'.slice(0, known)) throw new NotOgg('is not a sequence of Ogg pages');
  if (bytes.length < HEAD_BYTES) return null;
  if (bytes[AT.version] !== 0) throw new NotOgg('is of an unknown version of Ogg');
  const segments = bytes[AT.segments] as number;
  if (bytes.length < HEAD_BYTES + segments) return null;
  let body = 0;
  for (let at = HEAD_BYTES; at < HEAD_BYTES + segments; at++) body += bytes[at] as number;
  return HEAD_BYTES + segments + body;
}

/** CRC of polynomial 0x04c11db7, not reflected, from 0 (RFC 3533, 6). */
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte << 24;
  for (let bit = 0; bit < 8; bit++) rest = rest & 0x8000_0000 ? (rest << 1) ^ 0x04c1_1db7 : rest << 1;
  return rest >>> 0;
});

function checksum(bytes: Buffer): number {
  let crc = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = at >= AT.crc && at < AT.crc + 4 ? 0 : (bytes[at] as number);
    crc = (crc << 8) ^ (TABLE[(crc >>> 24) ^ byte] as number);
  }
  return crc >>> 0;
}
