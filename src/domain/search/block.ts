import { numberOfStemmer, type Stemmer, stemmerOfNumber } from './stemmers.js';
import type { TextTerms } from './words.js';

/**
 * The search block of a page of turns, or of one item of a library: which terms occur in which of its texts. It is
 * written in the commit that changes these texts, and read as it is stored: nothing is unpacked but what a query asks
 * for.
 *
 *   1  version      1  flags (bit 0: texts of several languages, bit 1: buckets, bit 2: long postings)      6  when it begins, ms since 1970
 *   16 source       2  texts      2  overrides      2  contacts      1  stemmers     4  terms     4  words in all
 *   stemmers        1 each
 *   contacts        16 each
 *   overrides       2 text, 2 contact (number from 1 on; 0: nobody)
 *   texts           8 each: 20 bits start, 17 serial number, 10 words, 13 speaker (4 left)
 *   languages       1 each, where there are several: a number among the stemmers
 *   buckets         2 each, where there are many terms: how many terms are below those with this first byte
 *   terms           4 each, in order; 3 where there are buckets, without the first byte
 *   marks           2 each, 4 where postings are long: where those of every 16th term begin
 *   postings        of each term one after the other, one for each time that it stands in a text: what is added to the
 *                   text before, times two, plus one where it is the term's last
 *
 * Numbers are little-endian, but terms begin with their first byte; postings are of seven bits a byte, the low ones first.
 */
const VERSION = 1;
const HEAD_BYTES = 39;
const ID_BYTES = 16;
const TEXT_BYTES = 8;
const OVERRIDE_BYTES = 4;
const TERM_BYTES = 4;
const MARK_EVERY = 16;
/** From this number of terms on, buckets save more room than they take. */
const BUCKETED_TERMS_MIN = 1_024;
const BUCKETS = 256;
const BUCKET_BYTES = 2;
const MANY_LANGUAGES = 1;
const HAS_BUCKETS = 2;
const LONG_POSTINGS = 4;
/** The length of postings that marks of two bytes can point into. */
const SHORT_POSTINGS_MAX = 2 ** 16;
const MS_HIGH = 2 ** 32;

/** The largest values that a text's eight bytes hold. */
const START_MAX = 2 ** 20 - 1;
const SERIAL_MAX = 2 ** 17 - 1;
const WORDS_MAX = 2 ** 10 - 1;
const SPEAKER_MAX = 2 ** 13 - 1;

/** A turn or an item. `start_ms`: from the start of the block. */
export type BlockText = {
  serial: number;
  start_ms: number;
  speaker: number;
  /** The contact that a person set; null for nobody. Absent if no person set one. */
  contact_id?: string | null | undefined;
  stemmer: Stemmer;
  said: TextTerms;
  /** Terms other than those of its words. */
  marks?: readonly number[];
};

/** Encodes a block; the texts are in the order of their start. */
export function encodeBlock(
  { begins_at_ms, source_id }: { begins_at_ms: number; source_id: string | null },
  texts: readonly BlockText[],
): Uint8Array {
  const stemmers = [...new Set(texts.map(({ stemmer }) => numberOfStemmer(stemmer)))];
  const contacts = [...new Set(texts.flatMap(({ contact_id }) => contact_id ?? []))];
  const overrides = texts.flatMap(({ contact_id }, at) => (contact_id === undefined ? [] : [{ at, contact_id }]));
  const { terms, marks, postings } = indexOf(texts);
  const is_mixed = stemmers.length > 1;
  const is_bucketed = terms.length >= BUCKETED_TERMS_MIN;
  const is_long = postings.length > SHORT_POSTINGS_MAX;
  const bytes = Buffer.alloc(
    HEAD_BYTES +
      stemmers.length +
      contacts.length * ID_BYTES +
      overrides.length * OVERRIDE_BYTES +
      texts.length * (TEXT_BYTES + (is_mixed ? 1 : 0)) +
      (is_bucketed ? BUCKETS * BUCKET_BYTES + terms.length * (TERM_BYTES - 1) : terms.length * TERM_BYTES) +
      marks.length * (is_long ? 4 : 2) +
      postings.length,
  );
  bytes[0] = VERSION;
  bytes[1] = (is_mixed ? MANY_LANGUAGES : 0) + (is_bucketed ? HAS_BUCKETS : 0) + (is_long ? LONG_POSTINGS : 0);
  bytes.writeUIntLE(begins_at_ms, 2, 6);
  if (source_id !== null) bytes.write(source_id.replaceAll('-', ''), 8, 'hex');
  bytes.writeUInt16LE(texts.length, 24);
  bytes.writeUInt16LE(overrides.length, 26);
  bytes.writeUInt16LE(contacts.length, 28);
  bytes[30] = stemmers.length;
  bytes.writeUInt32LE(terms.length, 31);
  bytes.writeUInt32LE(
    texts.reduce((sum, { said }) => sum + Math.min(said.words, WORDS_MAX), 0),
    35,
  );
  let at = HEAD_BYTES;
  for (const stemmer of stemmers) bytes[at++] = stemmer;
  for (const contact of contacts) at += bytes.write(contact.replaceAll('-', ''), at, 'hex');
  for (const override of overrides) {
    bytes.writeUInt16LE(override.at, at);
    bytes.writeUInt16LE(override.contact_id === null ? 0 : contacts.indexOf(override.contact_id) + 1, at + 2);
    at += OVERRIDE_BYTES;
  }
  for (const text of texts) {
    const start = Math.min(Math.max(0, Math.round(text.start_ms)), START_MAX);
    const serial = Math.min(text.serial, SERIAL_MAX);
    const words = Math.min(text.said.words, WORDS_MAX);
    bytes.writeUInt32LE(start + (serial % 2 ** 12) * 2 ** 20, at);
    bytes.writeUInt32LE(
      Math.floor(serial / 2 ** 12) + words * 2 ** 5 + Math.min(text.speaker, SPEAKER_MAX) * 2 ** 15,
      at + 4,
    );
    at += TEXT_BYTES;
  }
  if (is_mixed) for (const { stemmer } of texts) bytes[at++] = stemmers.indexOf(numberOfStemmer(stemmer));
  if (is_bucketed) at = putBuckets(bytes, at, terms);
  else for (const term of terms) at = bytes.writeUInt32BE(term, at);
  for (const mark of marks) at = is_long ? bytes.writeUInt32LE(mark, at) : bytes.writeUInt16LE(mark, at);
  bytes.set(postings, at);
  return bytes;
}

function putBuckets(bytes: Buffer, from: number, terms: readonly number[]): number {
  let at = from + BUCKETS * BUCKET_BYTES;
  let bucket = 0;
  for (const [index, term] of terms.entries()) {
    for (; bucket <= term >>> 24; bucket++) bytes.writeUInt16LE(index, from + bucket * BUCKET_BYTES);
    at = bytes.writeUIntBE(term % 2 ** 24, at, TERM_BYTES - 1);
  }
  for (; bucket < BUCKETS; bucket++) bytes.writeUInt16LE(terms.length, from + bucket * BUCKET_BYTES);
  return at;
}

/** Lists the places of each term. Texts come in order, and sorting by terms keeps that order. */
function indexOf(texts: readonly BlockText[]): { terms: number[]; marks: number[]; postings: number[] } {
  const size = texts.reduce((sum, { said, marks = [] }) => sum + said.terms.length + marks.length, 0);
  const room = roomFor(size);
  let count = 0;
  for (const [at, { said, marks = [] }] of texts.entries()) {
    room.terms.set(said.terms, count);
    room.terms.set(marks, count + said.terms.length);
    const end = count + said.terms.length + marks.length;
    room.texts.fill(at, count, end);
    count = end;
  }
  const found = sortByTerm(room, count);
  const terms: number[] = [];
  const marks: number[] = [];
  const postings: number[] = [];
  let before = 0;
  for (let at = 0; at < count; at++) {
    const term = found.terms[at] as number;
    const text = found.texts[at] as number;
    if (at === 0 || term !== found.terms[at - 1]) {
      if (terms.length % MARK_EVERY === 0) marks.push(postings.length);
      terms.push(term);
      before = 0;
    }
    const is_last = at + 1 === count || found.terms[at + 1] !== term;
    putNumber(postings, (text - before) * 2 + (is_last ? 1 : 0));
    before = text;
  }
  return { terms, marks, postings };
}

function roomFor(size: number): Sorted {
  return { terms: new Uint32Array(size), texts: new Uint16Array(size) };
}

/** Rounds by 11 bits each, the low ones first: each leaves equals in their order. */
function sortByTerm(here: Sorted, count: number): Sorted {
  const aside = roomFor(count);
  const places = new Uint32Array(DIGITS + 1);
  sortRound(here, aside, { places, count, shift: 0 });
  sortRound(aside, here, { places, count, shift: DIGIT_BITS });
  sortRound(here, aside, { places, count, shift: 2 * DIGIT_BITS });
  return aside;
}

const DIGIT_BITS = 11;
const DIGITS = 2 ** DIGIT_BITS;

type Sorted = { terms: Uint32Array; texts: Uint16Array };

/** `places`: room for the beginning of each digit. */
function sortRound(
  { terms, texts }: Sorted,
  to: Sorted,
  { places, count, shift }: { places: Uint32Array; count: number; shift: number },
): void {
  places.fill(0);
  for (let at = 0; at < count; at++) {
    const digit = ((terms[at] as number) >>> shift) & (DIGITS - 1);
    places[digit + 1] = (places[digit + 1] as number) + 1;
  }
  for (let digit = 1; digit <= DIGITS; digit++)
    places[digit] = (places[digit] as number) + (places[digit - 1] as number);
  for (let at = 0; at < count; at++) {
    const term = terms[at] as number;
    const digit = (term >>> shift) & (DIGITS - 1);
    const place = places[digit] as number;
    places[digit] = place + 1;
    to.terms[place] = term;
    to.texts[place] = texts[at] as number;
  }
}

function putNumber(bytes: number[], number: number): void {
  let rest = number;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
}

/** A stored block. Throws RangeError for other bytes. */
export class Block {
  readonly #bytes: Buffer;
  readonly #terms: number;
  readonly #texts_at: number;
  readonly #languages_at: number;
  readonly #is_mixed: boolean;
  readonly #is_bucketed: boolean;
  readonly #is_long: boolean;
  readonly #terms_at: number;
  readonly #marks_at: number;
  readonly #postings_at: number;
  readonly begins_at_ms: number;
  /** The number of texts. */
  readonly texts: number;
  /** The number of words in all texts. */
  readonly words: number;
  readonly stemmers: readonly Stemmer[];
  /** The contact that a person set, by text; null for nobody. Absent if no person set one. */
  readonly contacts: ReadonlyMap<number, string | null>;

  constructor(stored: Uint8Array) {
    const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
    if (bytes.length < HEAD_BYTES || bytes[0] !== VERSION) throw new RangeError('not a block of this version');
    this.#bytes = bytes;
    this.begins_at_ms = bytes.readUInt32LE(2) + bytes.readUInt16LE(6) * MS_HIGH;
    this.texts = bytes.readUInt16LE(24);
    this.#terms = bytes.readUInt32LE(31);
    this.words = bytes.readUInt32LE(35);
    const [overrides, contacts, stemmers] = [bytes.readUInt16LE(26), bytes.readUInt16LE(28), bytes[30] as number];
    this.stemmers = [...bytes.subarray(HEAD_BYTES, HEAD_BYTES + stemmers)].map(stemmerOfNumber);
    const contacts_at = HEAD_BYTES + stemmers;
    const overrides_at = contacts_at + contacts * ID_BYTES;
    this.contacts = overrides === 0 ? NO_CONTACTS : this.#overrides({ contacts_at, overrides_at, overrides });
    this.#texts_at = overrides_at + overrides * OVERRIDE_BYTES;
    this.#languages_at = this.#texts_at + this.texts * TEXT_BYTES;
    const flags = bytes[1] as number;
    this.#is_mixed = (flags & MANY_LANGUAGES) !== 0;
    const buckets_at = this.#languages_at + (this.#is_mixed ? this.texts : 0);
    this.#is_bucketed = (flags & HAS_BUCKETS) !== 0;
    this.#is_long = (flags & LONG_POSTINGS) !== 0;
    this.#terms_at = buckets_at + (this.#is_bucketed ? BUCKETS * BUCKET_BYTES : 0);
    this.#marks_at = this.#terms_at + this.#terms * (this.#is_bucketed ? TERM_BYTES - 1 : TERM_BYTES);
    this.#postings_at = this.#marks_at + Math.ceil(this.#terms / MARK_EVERY) * (this.#is_long ? 4 : 2);
    if (bytes.length < this.#postings_at) throw new RangeError('a block that is cut short');
  }

  get bytes(): number {
    return this.#bytes.length;
  }

  /** Null if the block belongs to no source. */
  get source_id(): string | null {
    const hex = this.#bytes.toString('hex', 8, 24);
    return hex === NO_SOURCE ? null : uuidOf(hex);
  }

  /** The start of a text, ms from the start of the block. */
  start_ms(text: number): number {
    const at = this.#texts_at + text * TEXT_BYTES;
    const bytes = this.#bytes;
    return ((bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16)) & START_MAX;
  }

  serial(text: number): number {
    const at = this.#texts_at + text * TEXT_BYTES;
    return (this.#bytes.readUInt32LE(at) >>> 20) + (this.#bytes.readUInt32LE(at + 4) & 0x1f) * 2 ** 12;
  }

  /** The number of words in a text. */
  length(text: number): number {
    const at = this.#texts_at + text * TEXT_BYTES + 4;
    return (((this.#bytes[at] as number) | ((this.#bytes[at + 1] as number) << 8)) >>> 5) & WORDS_MAX;
  }

  speaker(text: number): number {
    return (this.#bytes.readUInt32LE(this.#texts_at + text * TEXT_BYTES + 4) >>> 15) & SPEAKER_MAX;
  }

  stemmer(text: number): Stemmer {
    const number = this.#is_mixed ? (this.#bytes[this.#languages_at + text] as number) : 0;
    return this.stemmers[number] as Stemmer;
  }

  /**
   * The texts that hold a term: returns their number, puts them in order into `texts` and the term's counts into
   * `counts`. Both must have room for all texts.
   */
  readPostings(term: number, texts: Uint16Array, counts: Uint16Array): number {
    const index = this.#indexOf(term);
    if (index < 0) return 0;
    const bytes = this.#bytes;
    const mark = Math.floor(index / MARK_EVERY);
    let at =
      this.#postings_at +
      (this.#is_long ? bytes.readUInt32LE(this.#marks_at + mark * 4) : bytes.readUInt16LE(this.#marks_at + mark * 2));
    for (let passed = mark * MARK_EVERY; passed < index; passed++) at = this.#behind(at);
    let found = 0;
    for (let text = 0, is_last = false; !is_last; ) {
      let posting = 0;
      for (let shift = 0, more = true; more; at++, shift += 7) {
        const byte = bytes[at] as number;
        posting |= (byte & 0x7f) << shift;
        more = byte > 0x7f;
      }
      is_last = (posting & 1) !== 0;
      const added = posting >>> 1;
      text += added;
      if (added === 0 && found > 0) counts[found - 1] = (counts[found - 1] as number) + 1;
      else {
        texts[found] = text;
        counts[found] = 1;
        found += 1;
      }
    }
    return found;
  }

  /** Where the next term's postings begin. */
  #behind(from: number): number {
    const bytes = this.#bytes;
    for (let at = from; ; ) {
      const first = bytes[at] as number;
      while ((bytes[at++] as number) > 0x7f);
      if ((first & 1) !== 0) return at;
    }
  }

  /** Asked for each word of each block: it reads bytes by themselves, which is quickest. */
  #indexOf(term: number): number {
    const bytes = this.#bytes;
    const first_byte = term >>> 24;
    let low = 0;
    let high = this.#terms - 1;
    if (!this.#is_bucketed) {
      while (low <= high) {
        const middle = (low + high) >>> 1;
        const at = this.#terms_at + middle * TERM_BYTES;
        const found = (bytes[at] as number) - first_byte || this.#lowBytes(at + 1) - (term & 0xffffff);
        if (found === 0) return middle;
        if (found < 0) low = middle + 1;
        else high = middle - 1;
      }
      return -1;
    }
    const bucket = this.#terms_at - (BUCKETS - first_byte) * BUCKET_BYTES;
    low = (bytes[bucket] as number) | ((bytes[bucket + 1] as number) << 8);
    if (first_byte < BUCKETS - 1) high = ((bytes[bucket + 2] as number) | ((bytes[bucket + 3] as number) << 8)) - 1;
    const wanted = term & 0xffffff;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const found = this.#lowBytes(this.#terms_at + middle * (TERM_BYTES - 1));
      if (found === wanted) return middle;
      if (found < wanted) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  #lowBytes(at: number): number {
    const bytes = this.#bytes;
    return ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);
  }

  #overrides(at: { contacts_at: number; overrides_at: number; overrides: number }): Map<number, string | null> {
    const bytes = this.#bytes;
    const found = new Map<number, string | null>();
    for (let one = 0; one < at.overrides; one++) {
      const place = at.overrides_at + one * OVERRIDE_BYTES;
      const number = bytes.readUInt16LE(place + 2);
      const contact_at = at.contacts_at + (number - 1) * ID_BYTES;
      const contact = number === 0 ? null : uuidOf(bytes.toString('hex', contact_at, contact_at + ID_BYTES));
      found.set(bytes.readUInt16LE(place), contact);
    }
    return found;
  }
}

const NO_CONTACTS: ReadonlyMap<number, string | null> = new Map();
const NO_SOURCE = '0'.repeat(32);

function uuidOf(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
