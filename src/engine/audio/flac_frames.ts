/**
 * FLAC in slices of whole frames. The decoder loses samples where a slice ends within a frame, and a frame of silence is 13
 * bytes for up to 65,535 samples: a slice is bounded by what it becomes. RFC 9639.
 */

const MARK = Buffer.from('fLaC', 'latin1');
const BLOCK_HEAD_BYTES = 4;
/** The longest head of a frame: 4 bytes, a number of 7, the size of the block and the rate of 2 each, and its check. */
const FRAME_HEAD_BYTES_MAX = 16;
/** No frame is larger: 65,535 samples of 8 channels of 32 bits. So many bytes without a frame are passed on as they are. */
const FRAME_BYTES_MAX = 4 * 1024 * 1024;

type Frame = { samples: number; number: number; form: number };

/** Slices that become at most about so many samples of one channel. */
export async function* flacSlices(pieces: AsyncIterable<Uint8Array>, samples_max: number): AsyncGenerator<Uint8Array> {
  let held: Buffer = Buffer.alloc(0);
  let [at, samples] = [0, 0];
  let before: Frame | null = null;
  /** Bytes of the metadata that are still to come; null where it is not known where the frames begin. */
  let head_left: number | null = null;
  for await (const piece of pieces) {
    held = held.length === 0 ? Buffer.from(piece) : Buffer.concat([held, piece]);
    if (head_left === null) head_left = metadataBytes(held);
    if (head_left === null) {
      if (held.length <= FRAME_BYTES_MAX) continue;
      head_left = 0; // without metadata
    }
    if (head_left > 0) {
      const passed = Math.min(head_left, held.length);
      yield Uint8Array.from(held.subarray(0, passed));
      head_left -= passed;
      held = held.subarray(passed);
      if (head_left > 0) continue;
    }
    for (; at + FRAME_HEAD_BYTES_MAX <= held.length; at++) {
      if (held[at] !== 0xff || ((held[at + 1] as number) & 0xfe) !== 0xf8) continue;
      const frame = frameAt(held, at);
      if (frame === null || !follows(frame, before)) continue;
      if (at > 0 && samples + frame.samples > samples_max) {
        yield Uint8Array.from(held.subarray(0, at));
        held = held.subarray(at);
        [at, samples] = [0, 0];
      }
      samples += frame.samples;
      before = frame;
    }
    if (held.length > FRAME_BYTES_MAX) {
      yield Uint8Array.from(held);
      held = Buffer.alloc(0);
      [at, samples] = [0, 0];
    }
  }
  if (held.length > 0) yield Uint8Array.from(held);
}

/** The length of the metadata before the frames; null where more is needed to know it. */
function metadataBytes(held: Buffer): number | null {
  const mark = held.indexOf(MARK);
  if (mark < 0) return null;
  let at = mark + MARK.length;
  for (;;) {
    if (at + BLOCK_HEAD_BYTES > held.length) return null;
    const head = held.readUInt32BE(at);
    at += BLOCK_HEAD_BYTES + (head & 0xff_ffff);
    if (head >>> 31 === 1) return at;
  }
}

/** A frame of the same form comes behind another; samples are counted by frames or one by one. */
function follows(frame: Frame, before: Frame | null): boolean {
  if (before === null) return true;
  return frame.form === before.form && frame.number > before.number && frame.number <= before.number + before.samples;
}

/** The frame whose head is there; null where there is none. */
function frameAt(bytes: Buffer, at: number): Frame | null {
  const [second, third, fourth] = [bytes[at + 1], bytes[at + 2], bytes[at + 3]] as [number, number, number];
  const [size_code, rate_code, channel_code] = [third >> 4, third & 0x0f, fourth >> 4];
  if (size_code === 0 || rate_code === 15 || channel_code > 10 || (fourth & 1) === 1) return null;
  const coded = codedNumber(bytes, at + 4);
  if (coded === null) return null;
  let end = coded.end;
  let samples = size_code === 1 ? 192 : size_code <= 5 ? 576 << (size_code - 2) : 256 << (size_code - 8);
  if (size_code === 6) samples = (bytes[end++] as number) + 1;
  if (size_code === 7) {
    samples = bytes.readUInt16BE(end) + 1;
    end += 2;
  }
  if (rate_code === 12) end += 1;
  if (rate_code === 13 || rate_code === 14) end += 2;
  if (checkOf(bytes, at, end) !== bytes[end]) return null;
  // The channels may be stored as differences in one frame and not in the next.
  const channels = channel_code <= 7 ? channel_code + 1 : 2;
  return {
    samples,
    number: coded.number,
    form: (second << 24) | (rate_code << 16) | (channels << 8) | (fourth & 0x0f),
  };
}

/** A number as UTF-8 would write it, of up to 36 bits. */
function codedNumber(bytes: Buffer, at: number): { number: number; end: number } | null {
  const first = bytes[at] as number;
  if (first < 0x80) return { number: first, end: at + 1 };
  const more = Math.clz32(~(first << 24)) - 1;
  if (more < 1 || more > 6) return null;
  let number = first & (0x3f >> more);
  for (let index = 1; index <= more; index++) {
    const byte = bytes[at + index] as number;
    if ((byte & 0xc0) !== 0x80) return null;
    number = number * 64 + (byte & 0x3f);
  }
  return { number, end: at + 1 + more };
}

/** CRC-8 with the polynomial 0x07. */
function checkOf(bytes: Buffer, from: number, to: number): number {
  let check = 0;
  for (let at = from; at < to; at++) {
    check ^= bytes[at] as number;
    for (let bit = 0; bit < 8; bit++) check = ((check << 1) ^ ((check & 0x80) === 0 ? 0 : 0x07)) & 0xff;
  }
  return check;
}
