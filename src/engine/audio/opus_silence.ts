import { type Interval, shared } from '../../domain/intervals.js';
import { FLAGS, OggPage } from './ogg.js';
import { type OpusFile, opusPages, packetSamples, placePage } from './opus.js';

/** Opus in Ogg in which some samples are silent: their packets become frames that were not sent (RFC 6716, 3.1). */

const PAGE_PARTS_MAX = 255;
const MAPPING_AT = 18;
/** The most samples of a packet. The first packet behind silence may repeat the last of what was before it (RFC 6716, 2.1.7). */
const REPEATED_SAMPLES = 2_880;

/** Whether its packets hold one Opus stream each; others can't be made silent. */
export function isPlainOpus({ format }: Pick<OpusFile, 'format'>): boolean {
  return format.charCodeAt(MAPPING_AT) === 0;
}

/** The file with silence between these samples, as one stream whose positions begin at 0. */
export async function* silentOpus(
  pieces: AsyncIterable<Uint8Array>,
  { file, silent }: { file: OpusFile; silent: Interval },
): AsyncGenerator<Buffer> {
  const part: Interval = [silent[0], silent[1] + file.pre_skip + REPEATED_SAMPLES];
  const writing = new PacketPages(file);
  let packet: Buffer[] = [];
  let samples = 0;
  for await (const { page, is } of opusPages(pieces)) {
    if (is === 'header') {
      yield writing.header(page);
      continue;
    }
    let at = 0;
    for (const length of page.lacing) {
      packet.push(page.body.subarray(at, at + length));
      at += length;
      if (length === 255) continue;
      const whole = Buffer.concat(packet);
      const count = packetSamples(whole, 0, whole.length);
      const is_silent = shared([samples, samples + count], part) > 0;
      yield* writing.packet(is_silent ? unsent(whole) : whole, count);
      samples += count;
      packet = [];
    }
    yield* writing.flush();
  }
  yield* writing.end();
}

/** A packet of as many frames, of which none was sent. */
function unsent(packet: Buffer): Buffer {
  const [first = 0, second = 0] = packet;
  const code = first & 3;
  if (code === 0) return Buffer.of(first);
  // Two frames of different lengths become two of the same.
  return code < 3 ? Buffer.of((first & ~3) | 1) : Buffer.of(first, second & 0x3f);
}

/** Puts packets on pages; the last one waits, since it says where the audio ends. */
class PacketPages {
  readonly #end: number;
  #serial: number | null = null;
  #sequence = 0;
  #samples = 0;
  #lacing: number[] = [];
  #body: Buffer[] = [];
  #held: OggPage | null = null;

  constructor({ samples, trimmed }: Pick<OpusFile, 'samples' | 'trimmed'>) {
    this.#end = samples - trimmed;
  }

  header(page: OggPage): Buffer {
    this.#serial ??= page.serial;
    placePage(page, { serial: this.#serial, sequence: this.#sequence++, granule: 0n, flags: page.flags & FLAGS.first });
    return page.bytes;
  }

  *packet(bytes: Buffer, samples: number): Generator<Buffer> {
    const lacing = [...Array<number>(Math.floor(bytes.length / 255)).fill(255), bytes.length % 255];
    if (this.#lacing.length + lacing.length > PAGE_PARTS_MAX) yield* this.flush();
    this.#lacing.push(...lacing);
    this.#body.push(bytes);
    this.#samples += samples;
  }

  *flush(): Generator<Buffer> {
    if (this.#lacing.length === 0) return;
    if (this.#held !== null) yield this.#held.bytes;
    this.#held = this.#page(0, this.#samples);
    this.#lacing = [];
    this.#body = [];
  }

  *end(): Generator<Buffer> {
    const last = this.#held;
    if (last === null) return;
    last.flags = FLAGS.last;
    last.granule = BigInt(this.#end);
    last.seal();
    yield last.bytes;
  }

  #page(flags: number, samples: number): OggPage {
    const parts = { lacing: Buffer.from(this.#lacing), body: Buffer.concat(this.#body) };
    const place = { granule: BigInt(samples), serial: this.#serial ?? 0, sequence: this.#sequence++ };
    return OggPage.of(parts, { flags, ...place });
  }
}
