import { boxesOf } from './mp4_order.js';
import { NotOgg, type OggPage, pagesOf } from './ogg.js';
import { type ByteSource, wavChunks } from './wav.js';

/** When a recording began, as recorders write it into its file. */

/** `zone`: minutes east of UTC; `utc` where the file tells the time alone, `local` where it tells the clock alone. */
export type RecordedTime = { ms: number; zone: number | 'utc' | 'local' };

/** 1904-01-01, from which QuickTime counts. */
const QUICKTIME_EPOCH_MS = Date.UTC(1904, 0, 1);
/** Recorders without a battery begin at 1970, 1980 or 2000. */
const EARLIEST_MS = Date.UTC(2001, 0, 1);
/** Of tags that are read. Pictures may be larger, what stands before them is found. */
const TAGS_BYTES_MAX = 1024 * 1024;
const BLOCKS_MAX = 1_000;
const TAG_NAMES = ['CREATION_TIME', 'CREATION_DATE', 'DATE_RECORDED', 'DATETIME', 'DATE'];
const TIME = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2}))?(?:[.,]\d+)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?$/i;

/** Of MP4 and QuickTime, WAV (`bext`, `INFO`), Ogg and FLAC. Null where the file does not tell it. Throws what `read` throws. */
export async function recordedTime(source: ByteSource): Promise<RecordedTime | null> {
  const head = (await source.read(0, 12)).toString('latin1');
  const found = await timeIn(head, source);
  return found !== null && found.ms >= EARLIEST_MS ? found : null;
}

async function timeIn(head: string, source: ByteSource): Promise<RecordedTime | null> {
  if (head.startsWith('OggS')) return timeInTags(await tagsOfOgg(source).catch(noneIfDamaged));
  if (head.startsWith('fLaC')) return timeInTags(await tagsOfFlac(source));
  if (head.startsWith('ID3')) return null;
  if (head.slice(8, 12) === 'WAVE') return timeInWav(source);
  return timeInMovie(source);
}

/** `com.apple.quicktime.creationdate` has the zone, the movie's header only the time. */
async function timeInMovie(source: ByteSource): Promise<RecordedTime | null> {
  const movie = (await boxesOf(source)).find(({ type }) => type === 'moov');
  if (movie === undefined) return null;
  const boxes = await boxesOf(source, movie);
  const bytesOf = async (type: string) => {
    const box = boxes.find((one) => one.type === type);
    return box === undefined ? null : source.read(box.at, Math.min(box.size_bytes, TAGS_BYTES_MAX));
  };
  const named = timeInText(creationDate((await bytesOf('meta')) ?? Buffer.alloc(0)));
  if (named !== null) return named;
  const header = await bytesOf('mvhd');
  if (header === null || header.length < 20) return null;
  const seconds = header[8] === 1 ? Number(header.readBigUInt64BE(12)) : header.readUInt32BE(12);
  return seconds === 0 ? null : { ms: QUICKTIME_EPOCH_MS + seconds * 1_000, zone: 'utc' };
}

/** The value of that key in a box of QuickTime metadata: `keys` names the items of `ilst` by their number. */
function creationDate(meta: Buffer): string {
  const keys = meta.indexOf('keys', 8, 'latin1');
  const list = meta.indexOf('ilst', 8, 'latin1');
  if (keys < 0 || list < 0 || keys + 12 > meta.length) return '';
  let at = keys + 12;
  for (let number = 1; number <= BLOCKS_MAX && at + 8 <= meta.length; number++) {
    const size = meta.readUInt32BE(at);
    if (size < 8) return '';
    if (meta.toString('latin1', at + 8, at + size) === 'com.apple.quicktime.creationdate')
      return itemOf(meta, { list, number });
    at += size;
  }
  return '';
}

function itemOf(meta: Buffer, { list, number }: { list: number; number: number }): string {
  for (let at = list + 4; at + 24 <= meta.length; ) {
    const size = meta.readUInt32BE(at);
    if (size < 24) return '';
    if (meta.readUInt32BE(at + 4) === number) return meta.toString('utf8', at + 24, at + size);
    at += size;
  }
  return '';
}

/** The clock of the recorder, by the broadcast extension (EBU 3285) or the date of `INFO`. */
async function timeInWav(source: ByteSource): Promise<RecordedTime | null> {
  let of_info: RecordedTime | null = null;
  for await (const { tag, body, size } of wavChunks(source)) {
    if (tag === 'bext') {
      const text = (await source.read(body + 320, 18)).toString('latin1');
      const [date, time] = [text.slice(0, 10).replace(/\D/g, '-'), text.slice(10, 18).replace(/\D/g, ':')];
      const found = timeInText(`${date} ${time}`);
      if (found !== null) return found;
    }
    if (tag === 'LIST') {
      const list = (await source.read(body, Math.min(size, TAGS_BYTES_MAX))).toString('latin1');
      const [, date = ''] = /^INFO.*?ICRD.{4}([^\0]*)/s.exec(list) ?? [];
      of_info ??= timeInText(date);
    }
  }
  return of_info;
}

/** The comments of a file, `NAME=value` each. */
async function tagsOfOgg(source: ByteSource): Promise<string[]> {
  // The second packet: it begins on the second page.
  const packet: Buffer[] = [];
  let bytes = 0;
  let first: OggPage | null = null;
  for await (const page of pagesOf(beginningOf(source))) {
    if (first === null || page.serial !== first.serial) {
      first ??= page;
      continue;
    }
    packet.push(page.body);
    bytes += page.body.length;
    if (page.lacing.some((length) => length < 255) || bytes >= TAGS_BYTES_MAX) break;
  }
  const tags = Buffer.concat(packet);
  if (tags.toString('latin1', 0, 8) === 'OpusTags') return commentsIn(tags.subarray(8));
  if (tags.toString('latin1', 1, 7) === 'vorbis') return commentsIn(tags.subarray(7));
  // Of FLAC the packet is a block.
  return commentsIn(tags.subarray(4));
}

function noneIfDamaged(error: unknown): string[] {
  if (error instanceof NotOgg) return [];
  throw error;
}

async function tagsOfFlac(source: ByteSource): Promise<string[]> {
  let at = 4;
  for (let blocks = 0; blocks < BLOCKS_MAX; blocks++) {
    const header = await source.read(at, 4);
    if (header.length < 4) break;
    const [kind, size] = [header.readUInt8(0), header.readUIntBE(1, 3)];
    if ((kind & 0x7f) === 4) return commentsIn(await source.read(at + 4, Math.min(size, TAGS_BYTES_MAX)));
    if ((kind & 0x80) !== 0) break;
    at += 4 + size;
  }
  return [];
}

/** Comments as Vorbis has them: who wrote the file, how many there are, then each behind its length. */
function commentsIn(tags: Buffer): string[] {
  const found: string[] = [];
  const lengthAt = (at: number) => (at + 4 <= tags.length ? tags.readUInt32LE(at) : tags.length);
  for (let at = 4 + lengthAt(0) + 4; at + 4 <= tags.length && found.length < BLOCKS_MAX; at += 4 + lengthAt(at))
    found.push(tags.toString('utf8', at + 4, at + 4 + Math.min(lengthAt(at), 200)));
  return found;
}

function timeInTags(tags: readonly string[]): RecordedTime | null {
  for (const name of TAG_NAMES) {
    const tag = tags.find((one) => one.toUpperCase().startsWith(`${name}=`));
    const found = timeInText(tag?.slice(name.length + 1) ?? '');
    if (found !== null) return found;
  }
  return null;
}

/** A day without a time says nothing of when it began. */
function timeInText(text: string): RecordedTime | null {
  const parts = TIME.exec(text.trim());
  if (parts === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const ms = Date.UTC(year, month - 1, day, hour, minute, second);
  if (new Date(ms).toISOString().slice(0, 10) !== `${parts[1]}-${parts[2]}-${parts[3]}` || hour > 23) return null;
  const zone = parts[7]?.toUpperCase();
  if (zone === undefined) return { ms, zone: 'local' };
  if (zone === 'Z' || zone === 'UTC') return { ms, zone: 'utc' };
  const offset_min = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  const minutes = zone.startsWith('-') ? -offset_min : offset_min;
  return { ms: ms - minutes * 60_000, zone: minutes };
}

async function* beginningOf(source: ByteSource): AsyncGenerator<Buffer> {
  yield await source.read(0, Math.min(2 * TAGS_BYTES_MAX, source.size_bytes));
}
