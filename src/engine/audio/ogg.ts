/** Pages of Ogg (RFC 3533) as bytes, and the parts of packets in them. */

const HEAD_BYTES = 27;
const AT = { version: 4, flags: 5, granule: 6, serial: 14, sequence: 18, crc: 22, segments: 26 };
export const FLAGS = { continued: 1, first: 2, last: 4 };
/** The granule position of a page on which no packet ends. */
export const NO_GRANULE = 0xffff_ffff_ffff_ffffn;
const CAPTURE = Buffer.from('OggS', 'latin1');
/** Bytes of damaged pages beyond those of sound ones: each costs a checksum of bytes that are looked at again. */
const DAMAGED_BYTES_MAX = 4 * 1024 * 1024;

/** The bytes are no Ogg, or are damaged; the message completes "it …". */
export class NotOgg extends Error {
  override name = 'NotOgg';
}

type PageHead = { flags: number; granule: bigint; serial: number; sequence: number };

/** One page; setters change its bytes, and `seal` makes its checksum right again. */
export class OggPage {
  /** Whether bytes before it were no sound page. */
  constructor(
    readonly bytes: Buffer,
    readonly after_damage = false,
  ) {}

  /** A page of such parts of packets, with its checksum. */
  static of(
    { lacing, body }: Pick<OggPage, 'lacing' | 'body'>,
    { flags, granule, serial, sequence }: PageHead,
  ): OggPage {
    const page = new OggPage(Buffer.concat([Buffer.alloc(HEAD_BYTES), lacing, body]));
    CAPTURE.copy(page.bytes);
    page.bytes[AT.segments] = lacing.length;
    Object.assign(page, { flags, granule, serial, sequence });
    page.seal();
    return page;
  }

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
  get sequence(): number {
    return this.bytes.readUInt32LE(AT.sequence);
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

  /** A page of some of its parts of packets, from one up to another. */
  partsOf(from: number, to: number): OggPage {
    const bytesTo = (part: number) => this.lacing.subarray(0, part).reduce((sum, length) => sum + length, 0);
    const parts = { lacing: this.lacing.subarray(from, to), body: this.body.subarray(bytesTo(from), bytesTo(to)) };
    const { granule, serial, sequence } = this;
    return OggPage.of(parts, { flags: this.flags & (from > 0 ? ~FLAGS.continued : 0xff), granule, serial, sequence });
  }

  is_sound(): boolean {
    return this.bytes.readUInt32LE(AT.crc) === checksum(this.bytes);
  }
  seal(): void {
    this.bytes.writeUInt32LE(checksum(this.bytes), AT.crc);
  }
}

/**
 * The sound pages of a file, each with bytes of its own. What lies between them, and what a file ends with, is passed
 * over: damaged pages, a page that was cut off, what memory cards hold behind a file. Throws NotOgg.
 */
export async function* pagesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<OggPage> {
  const reader = new PageReader();
  for await (const piece of pieces) yield* reader.push(piece);
  yield* reader.end();
}

/** The bytes of the sound pages of a file, for a decoder that gives up at anything else. Throws NotOgg. */
export async function* soundPages(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const { bytes } of pagesOf(pieces)) yield bytes;
}

class PageReader {
  #held: Buffer = Buffer.alloc(0);
  #begun = false;
  #after_damage = false;
  #sound_bytes = 0;
  #damaged_bytes = 0;

  *push(piece: Uint8Array, is_last = false): Generator<OggPage> {
    this.#held = Buffer.concat([this.#held, piece]);
    let at = 0;
    for (;;) {
      const rest = this.#held.subarray(at);
      if (rest.length === 0) break;
      const length = pageBytes(rest);
      if (!this.#begun && length === 0) throw new NotOgg('is not a sequence of Ogg pages');
      this.#begun = true;
      if (!is_last && (length === null || length > rest.length)) break;
      if (length === null || length > rest.length || length === 0) {
        at += this.#pass(rest);
        continue;
      }
      const page = new OggPage(Buffer.from(rest.subarray(0, length)), this.#after_damage);
      if (!page.is_sound()) {
        this.#damaged_bytes += length;
        if (this.#damaged_bytes > this.#sound_bytes + DAMAGED_BYTES_MAX) throw new NotOgg('has too many damaged pages');
        at += this.#pass(rest);
        continue;
      }
      yield page;
      this.#after_damage = false;
      this.#sound_bytes += length;
      at += length;
    }
    this.#held = this.#held.subarray(at);
  }

  end(): Generator<OggPage> {
    return this.push(Buffer.alloc(0), true);
  }

  /** Bytes up to where the next page may begin. */
  #pass(rest: Buffer): number {
    this.#after_damage = true;
    const next = rest.indexOf(CAPTURE, 1);
    return next >= 0 ? next : Math.max(1, rest.length - CAPTURE.length + 1);
  }
}

/** The length of the page that begins here; null where too little of it is known, 0 where none begins. */
function pageBytes(bytes: Buffer): number | null {
  const known = Math.min(bytes.length, CAPTURE.length);
  if (!bytes.subarray(0, known).equals(CAPTURE.subarray(0, known))) return 0;
  if (bytes.length < HEAD_BYTES) return null;
  if (bytes[AT.version] !== 0) return 0;
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
