import { FLAGS, NO_GRANULE, NotOgg, type OggPage, pagesOf } from './ogg.js';

/** Opus in Ogg (RFC 7845). Samples are counted at 48 kHz, whatever the input was. */

/** The facts of a file that decide whether others can follow it as one stream. */
export type OpusFile = {
  /** The identification header, with what may differ between files that follow each other set to 0. */
  format: string;
  /** Of the pages before the first audio. */
  header_bytes: number;
  header_pages: number;
  audio_bytes: number;
  audio_pages: number;
  samples: number;
  /** Samples at its start that are not to be heard where it is the start of a stream. */
  pre_skip: number;
  /** Samples of the last page that it says are not to be heard. */
  trimmed: number;
};

/** Ogg of another codec. */
export class NotOpus extends NotOgg {
  override name = 'NotOpus';
}

/** Samples of a frame, by the configuration in a packet's first byte (RFC 6716, 3.1). */
const FRAME_SAMPLES = [
  ...[480, 960, 1920, 2880, 480, 960, 1920, 2880, 480, 960, 1920, 2880], // SILK
  ...[480, 960, 480, 960], // both
  ...[120, 240, 480, 960, 120, 240, 480, 960, 120, 240, 480, 960, 120, 240, 480, 960], // CELT
];
const PACKET_SAMPLES_MAX = 5_760;
const HEAD_BYTES_MIN = 19;
const PRE_SKIP_AT = 10;
/** Of the identification header: pre-skip and input sample rate, which do not matter to what follows. */
const MAY_DIFFER = { from: PRE_SKIP_AT, to: 16 };

/** Reads a whole file. Throws NotOgg for what is no sound Opus in Ogg, or more than that. */
export async function readOpus(pieces: AsyncIterable<Buffer>): Promise<OpusFile> {
  const clock = new PacketClock();
  const nothing = {
    header_bytes: 0,
    header_pages: 0,
    audio_bytes: 0,
    audio_pages: 0,
    samples: 0,
    pre_skip: 0,
    trimmed: 0,
  };
  const found: OpusFile = { format: '', ...nothing };
  let serial: number | null = null;
  let is_tagged = false;
  let begins_at: bigint | null = null;
  let last: { page: OggPage; samples: number } | null = null;
  let is_counted = true;
  for await (const page of pagesOf(pieces)) {
    if (!page.is_sound()) throw new NotOgg('has a damaged page');
    serial ??= page.serial;
    const is_first = found.header_pages === 0;
    if (page.serial !== serial || is_first !== ((page.flags & FLAGS.first) !== 0))
      throw new NotOgg('holds more than one stream');
    if (is_first) {
      found.format = formatOf(page.body);
      found.pre_skip = page.body.readUInt16LE(PRE_SKIP_AT);
    }
    if (is_first || !is_tagged) {
      if (!is_first && found.header_pages === 1 && page.body.toString('latin1', 0, 8) !== 'OpusTags')
        throw new NotOgg('has no OpusTags');
      is_tagged = !is_first && page.lacing.some((length) => length < 255);
      if (is_tagged && page.lacing.findIndex((length) => length < 255) < page.lacing.length - 1)
        throw new NotOgg('has audio on the page of its tags');
      found.header_bytes += page.bytes.length;
      found.header_pages += 1;
      continue;
    }
    // Only the last page may end before its packets do.
    if (
      last !== null &&
      last.page.granule !== NO_GRANULE &&
      last.page.granule !== (begins_at ?? 0n) + BigInt(clock.samples)
    )
      is_counted = false;
    const before = clock.samples;
    const ended = clock.pass(page);
    // A file that was cut from a longer one does not begin at 0.
    if (begins_at === null && ended && page.granule !== NO_GRANULE) {
      const rest = page.granule - BigInt(clock.samples - before);
      begins_at = rest < 0n ? 0n : rest;
    }
    found.audio_bytes += page.bytes.length;
    found.audio_pages += 1;
    last = { page, samples: clock.samples - before };
  }
  if (found.audio_pages === 0) throw new NotOgg('holds no audio');
  found.samples = clock.samples;
  if (is_counted && last !== null)
    found.trimmed = trimmedBy(last, { samples: clock.samples, begins_at: begins_at ?? 0n });
  return found;
}

/** Frames that the last page cuts off its own packets (RFC 7845, 4.5); a position that says more, or nothing, is wrong. */
function trimmedBy(
  last: { page: OggPage; samples: number },
  { samples, begins_at }: { samples: number; begins_at: bigint },
): number {
  const { flags, granule } = last.page;
  if ((flags & FLAGS.last) === 0 || granule === NO_GRANULE || granule === 0n) return 0;
  const trimmed = samples - Number(granule - begins_at);
  return trimmed > 0 && trimmed <= last.samples ? trimmed : 0;
}

function formatOf(head: Buffer): string {
  if (head.toString('latin1', 0, 8) !== 'OpusHead' || head.length < HEAD_BYTES_MIN) throw new NotOpus('is not Opus');
  return Buffer.from(head).fill(0, MAY_DIFFER.from, MAY_DIFFER.to).toString('latin1');
}

/** Counts the samples of packets as their pages pass. */
export class PacketClock {
  /** Of all packets that have ended. */
  samples = 0;
  /** Of the packet that continues on the next page. */
  #open: number | null = null;

  /** Whether a packet ends on the page. */
  pass(page: OggPage): boolean {
    const { body, lacing } = page;
    let ended = false;
    let at = 0;
    for (const length of lacing) {
      this.#open ??= packetSamples(body, at, length);
      at += length;
      if (length === 255) continue;
      this.samples += this.#open;
      this.#open = null;
      ended = true;
    }
    return ended;
  }
}

function packetSamples(body: Buffer, at: number, length: number): number {
  if (length === 0) return 0;
  const first = body[at] as number;
  const code = first & 3;
  const frames = code === 0 ? 1 : code < 3 ? 2 : length < 2 ? 0 : (body[at + 1] as number) & 0x3f;
  return Math.min(PACKET_SAMPLES_MAX, frames * (FRAME_SAMPLES[first >> 3] as number));
}
