import type { Interval } from '../../domain/intervals.js';
import { FLAGS, NO_GRANULE, NotOgg, OggPage, pagesOf } from './ogg.js';

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
  /** Samples that stand for lost pages. */
  lost: Interval[];
};

/** Ogg of another codec, or of several. */
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
/** Packets of one byte, a frame that was not sent (RFC 6716, 3.1), the longest first. */
const SILENCE = [31, 28].map((configuration) => {
  return { first_byte: configuration << 3, samples: FRAME_SAMPLES[configuration] as number };
});
/** Of lost pages that silence stands for: a larger one is rather a wrong position. */
const LOST_SAMPLES_MAX = 600 * 48_000; // ours: ten minutes
const PAGE_PARTS_MAX = 255;
const HEAD_BYTES_MIN = 19;
const PRE_SKIP_AT = 10;
const MAPPING_AT = 18;
/** Of the identification header: pre-skip and input sample rate, which do not matter to what follows. */
const MAY_DIFFER = { from: PRE_SKIP_AT, to: 16 };

/** `lost`: silence in the place of lost pages. */
export type OpusPage = { page: OggPage; is: 'header' | 'audio' | 'lost' };

/**
 * The pages of a file, as one logical stream wherever that is possible: headers, then audio. Packets that are not whole are
 * left out, silence stands for lost pages where positions tell how long they were, and streams of one format that follow
 * each other are one. A stream of another format begins with its headers. Everything that reads such a file reads it
 * by this. Numbers, positions and flags stay those of the file. Throws NotOgg.
 */
export async function* opusPages(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<OpusPage> {
  const mending = new OpusMending();
  for await (const page of pagesOf(pieces)) yield* mending.pass(page);
  yield* mending.end();
}

/** `is_repeated`: it goes on with the format of the one before. `is_plain`: a packet holds one Opus stream. */
type MendedStream = {
  serial: number;
  format: string;
  is_repeated: boolean;
  is_plain: boolean;
  stage: 'begun' | 'tags' | 'audio';
};

class OpusMending {
  #stream: MendedStream | null = null;
  /** The last page of audio, until what follows tells whether its last packet is whole. */
  #held: OggPage | null = null;
  #clock = new PacketClock();
  /** Where the held page ends by its position, or by what was counted since the last one that has any. */
  #reached: bigint | null = null;
  #sequence = 0;

  *pass(page: OggPage): Generator<OpusPage> {
    if ((page.flags & FLAGS.first) !== 0) {
      yield* this.#begin(page);
      return;
    }
    if (this.#stream === null) throw new NotOpus('is not Opus');
    if (page.serial !== this.#stream.serial) return;
    // Whoever gets a page may change it.
    const { sequence } = page;
    if (this.#stream.stage === 'audio') yield* this.#audio(page);
    else yield* this.#tags(page);
    this.#sequence = sequence;
  }

  *end(): Generator<OpusPage> {
    if (this.#stream === null) throw new NotOpus('is not Opus');
    yield* this.#finish(null);
  }

  /** A stream of another codec is passed over, and one that lies beside the first. */
  *#begin(page: OggPage): Generator<OpusPage> {
    const format = formatOf(page.body);
    if (format === null || this.#stream?.stage === 'begun') return;
    yield* this.#finish(null);
    const is_repeated = this.#stream?.format === format;
    const is_plain = page.body[MAPPING_AT] === 0;
    this.#stream = { serial: page.serial, format, is_repeated, is_plain, stage: 'begun' };
    this.#clock = new PacketClock();
    this.#reached = null;
    if (!is_repeated) yield { page, is: 'header' };
  }

  *#tags(page: OggPage): Generator<OpusPage> {
    const stream = this.#stream as MendedStream;
    if (stream.stage === 'begun' && page.body.toString('latin1', 0, 8) !== 'OpusTags') {
      if (!stream.is_repeated) throw new NotOgg('has no OpusTags');
      stream.stage = 'audio';
      yield* this.#audio(page);
      return;
    }
    const end = page.lacing.findIndex((length) => length < 255) + 1;
    const audio = end > 0 && end < page.lacing.length ? page.partsOf(end, page.lacing.length) : null;
    stream.stage = end > 0 ? 'audio' : 'tags';
    if (!stream.is_repeated) yield { page: audio === null ? page : page.partsOf(0, end), is: 'header' };
    if (audio !== null) yield* this.#audio(audio);
  }

  *#audio(page: OggPage): Generator<OpusPage> {
    const may_be_lost = page.after_damage || page.sequence !== (this.#sequence + 1) >>> 0;
    const lost = may_be_lost ? this.#lostBefore(page) : null;
    if (lost === null) {
      yield* this.#release(page);
      this.#count(page);
      return;
    }
    yield* this.#finish(lost.rest);
    for (const silent of this.#silence(page, lost.samples)) yield { page: silent, is: 'lost' };
    this.#clock = new PacketClock();
    if (lost.rest !== null) this.#count(lost.rest);
  }

  /** How much was lost before a page, and what of it is whole; null where nothing shows that anything was. */
  #lostBefore(page: OggPage): { samples: number; rest: OggPage | null } | null {
    const is_continued = (page.flags & FLAGS.continued) !== 0;
    const from = is_continued ? page.lacing.findIndex((length) => length < 255) + 1 : 0;
    const is_broken = is_continued && (from === 0 || from === page.lacing.length);
    const rest = is_broken ? null : from === 0 ? page : page.partsOf(from, page.lacing.length);
    const clock = new PacketClock();
    if (rest !== null) clock.pass(rest);
    const is_placed = this.#reached !== null && page.granule !== NO_GRANULE;
    const samples = is_placed ? Number(page.granule - (this.#reached ?? 0n)) - clock.samples : 0;
    return page.after_damage || samples > 0 ? { samples, rest } : null;
  }

  *#silence({ serial, sequence }: OggPage, samples: number): Generator<OggPage> {
    // Packets of several Opus streams are longer.
    if (samples > LOST_SAMPLES_MAX || this.#stream?.is_plain !== true) return;
    for (const silence of SILENCE) {
      for (let packets = Math.floor(samples / silence.samples); packets > 0; packets -= PAGE_PARTS_MAX) {
        const count = Math.min(packets, PAGE_PARTS_MAX);
        const parts = { lacing: Buffer.alloc(count, 1), body: Buffer.alloc(count, silence.first_byte) };
        this.#reached = (this.#reached ?? 0n) + BigInt(count * silence.samples);
        yield OggPage.of(parts, { flags: 0, granule: this.#reached, serial, sequence });
      }
      samples %= silence.samples;
    }
  }

  #count(page: OggPage): void {
    const before = this.#clock.samples;
    this.#clock.pass(page);
    const counted = this.#reached === null ? null : this.#reached + BigInt(this.#clock.samples - before);
    this.#reached = page.granule === NO_GRANULE ? counted : page.granule;
  }

  /** Gives what is whole of the held page, behind which something else follows. */
  *#finish(next: OggPage | null): Generator<OpusPage> {
    this.#held = wholePackets(this.#held);
    yield* this.#release(next);
  }

  /** Gives the held page, and holds another one. */
  *#release(next: OggPage | null): Generator<OpusPage> {
    if (this.#held !== null) yield { page: this.#held, is: 'audio' };
    this.#held = next;
  }
}

/** A page without the beginning of a packet that does not end on it; null where nothing is left. */
function wholePackets(page: OggPage | null): OggPage | null {
  if (page === null || (page.lacing.at(-1) ?? 0) < 255) return page;
  const end = page.lacing.findLastIndex((length) => length < 255) + 1;
  return end === 0 ? null : page.partsOf(0, end);
}

/** Counts the audio of one stream. */
class OpusTally {
  readonly #clock = new PacketClock();
  #begins_at: bigint | null = null;
  #last: { page: OggPage; samples: number } | null = null;
  /** Whether positions say what was counted. */
  #is_counted = true;

  get samples(): number {
    return this.#clock.samples;
  }

  /** Whether a packet ends on the page. */
  pass(page: OggPage): boolean {
    // Only the last page may end before its packets do.
    const reached = (this.#begins_at ?? 0n) + BigInt(this.samples);
    const granule = this.#last?.page.granule ?? NO_GRANULE;
    if (granule !== NO_GRANULE && granule !== reached) this.#is_counted = false;
    const before = this.samples;
    const ended = this.#clock.pass(page);
    // A file that was cut from a longer one does not begin at 0.
    if (this.#begins_at === null && ended && page.granule !== NO_GRANULE) {
      const rest = page.granule - BigInt(this.samples - before);
      this.#begins_at = rest < 0n ? 0n : rest;
    }
    this.#last = { page, samples: this.samples - before };
    return ended;
  }

  /** Samples that the last page cuts off its own packets (RFC 7845, 4.5); a position that says more, or nothing, is wrong. */
  get trimmed(): number {
    if (!this.#is_counted || this.#last === null) return 0;
    const { page, samples } = this.#last;
    if ((page.flags & FLAGS.last) === 0 || page.granule === NO_GRANULE || page.granule === 0n) return 0;
    const trimmed = this.samples - Number(page.granule - (this.#begins_at ?? 0n));
    return trimmed > 0 && trimmed <= samples ? trimmed : 0;
  }
}

/** Reads a whole file. Throws NotOgg for what is no Opus in Ogg, or of several formats. */
export async function readOpus(pieces: AsyncIterable<Buffer>): Promise<OpusFile> {
  const tally = new OpusTally();
  const of_pages = { header_bytes: 0, header_pages: 0, audio_bytes: 0, audio_pages: 0 };
  const lost: Interval[] = [];
  let head: Buffer | null = null;
  for await (const { page, is } of opusPages(pieces)) {
    if (is === 'header') {
      if (of_pages.audio_pages > 0) throw new NotOpus('holds streams of several formats');
      head ??= page.body;
      of_pages.header_bytes += page.bytes.length;
      of_pages.header_pages += 1;
      continue;
    }
    const before = tally.samples;
    tally.pass(page);
    if (is === 'lost') lost.push([before, tally.samples]);
    of_pages.audio_bytes += page.bytes.length;
    of_pages.audio_pages += 1;
  }
  if (head === null || of_pages.audio_pages === 0) throw new NotOgg('holds no audio');
  const { samples, trimmed } = tally;
  const pre_skip = head.readUInt16LE(PRE_SKIP_AT);
  return { format: formatOf(head) as string, ...of_pages, samples, pre_skip, trimmed, lost };
}

/** The bytes of a file for a decoder: streams that begin, go on and end as they should. Throws NotOgg. */
export async function* soundOpus(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let tally = new OpusTally();
  let serial = 0;
  let sequence = 0;
  let held: { page: OggPage; granule: bigint } | null = null;
  const placed = (page: OggPage, granule: bigint, flags: number): Buffer => {
    placePage(page, { serial, sequence, granule, flags });
    sequence += 1;
    return page.bytes;
  };
  const last = () => (held === null ? [] : [placed(held.page, BigInt(tally.samples - tally.trimmed), FLAGS.last)]);
  for await (const { page, is } of opusPages(pieces)) {
    if (is === 'header') {
      const is_first = (page.flags & FLAGS.first) !== 0;
      if (is_first) {
        yield* last();
        [tally, held, serial, sequence] = [new OpusTally(), null, serial + 1, 0];
      }
      yield placed(page, 0n, is_first ? FLAGS.first : page.flags & FLAGS.continued);
      continue;
    }
    if (held !== null) yield placed(held.page, held.granule, 0);
    const ended = tally.pass(page);
    held = { page, granule: ended ? BigInt(tally.samples) : NO_GRANULE };
  }
  yield* last();
}

/** Gives a page its place in another stream. Whether it continues a packet stays. */
export function placePage(
  page: OggPage,
  { flags, ...place }: Pick<OggPage, 'serial' | 'sequence' | 'granule' | 'flags'>,
): void {
  Object.assign(page, place, { flags: flags | (page.flags & FLAGS.continued) });
  page.seal();
}

/** Null for the head of another codec. */
function formatOf(head: Buffer): string | null {
  if (head.toString('latin1', 0, 8) !== 'OpusHead' || head.length < HEAD_BYTES_MIN) return null;
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

/** The samples of a packet, by its first bytes. */
export function packetSamples(body: Buffer, at: number, length: number): number {
  if (length === 0) return 0;
  const first = body[at] as number;
  const code = first & 3;
  const frames = code === 0 ? 1 : code < 3 ? 2 : length < 2 ? 0 : (body[at + 1] as number) & 0x3f;
  return Math.min(PACKET_SAMPLES_MAX, frames * (FRAME_SAMPLES[first >> 3] as number));
}
