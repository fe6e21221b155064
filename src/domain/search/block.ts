import { numberOfStemmer, type Stemmer, stemmerOfNumber } from './stemmers.js';
import type { Terms } from './words.js';

/**
 * What search knows of a page of turns, or of one item of a library: which terms stand in which of its texts. It is
 * written in the commit that changes these texts, and read as it is stored: nothing is unpacked but what a query asks
 * for.
 *
 *   1  version      1  flags (bit 0: texts of several languages)      6  when it begins, ms since 1970
 *   16 source       2  texts      2  overrides      2  contacts      1  stemmers     4  terms     4  words in all
 *   stemmers        1 each
 *   contacts        16 each
 *   overrides       2 text, 2 contact (number from 1 on; 0: nobody)
 *   texts           8 each: 20 bits start, 17 serial number, 10 words, 13 speaker (4 left)
 *   languages       1 each, where there are several: a number among the stemmers
 *   terms           4 each, in order
 *   marks           4 each: where the postings of every 16th term begin
 *   postings        of each term one after the other: what is added to the text before, times four, plus two where it
 *                   stands there more than once, plus one where it is the term's last; then, behind a two, how often
 *
 * Numbers are little-endian; postings are of seven bits a byte, the low ones first.
 */
const VERSION = 1;
const HEAD_BYTES = 39;
const ID_BYTES = 16;
const TEXT_BYTES = 8;
const OVERRIDE_BYTES = 4;
const TERM_BYTES = 4;
const MARK_EVERY = 16;
const MANY_LANGUAGES = 1;
const MS_HIGH = 2 ** 32;
const TERMS = 2 ** 32;

/** The most of each that a text's eight bytes hold. */
const START_MAX = 2 ** 20 - 1;
const SERIAL_MAX = 2 ** 17 - 1;
const WORDS_MAX = 2 ** 10 - 1;
const SPEAKER_MAX = 2 ** 13 - 1;

/** A turn or an item. `start_ms`: since the block begins. */
export type BlockText = {
  serial: number;
  start_ms: number;
  speaker: number;
  /** A person said whose words these are; null: nobody's. */
  contact_id?: string | null | undefined;
  stemmer: Stemmer;
  terms: readonly Terms[];
  /** Terms beside those of its words. */
  marks?: readonly number[];
};

/** The bytes of a block; texts are in the order of their start. */
export function encodeBlock(
  { begins_at_ms, source_id }: { begins_at_ms: number; source_id: string | null },
  texts: readonly BlockText[],
): Uint8Array {
  const stemmers = [...new Set(texts.map(({ stemmer }) => numberOfStemmer(stemmer)))];
  const contacts = [...new Set(texts.flatMap(({ contact_id }) => contact_id ?? []))];
  const overrides = texts.flatMap(({ contact_id }, at) => (contact_id === undefined ? [] : [{ at, contact_id }]));
  const { terms, marks, postings } = indexOf(texts);
  const is_mixed = stemmers.length > 1;
  const bytes = Buffer.alloc(
    HEAD_BYTES +
      stemmers.length +
      contacts.length * ID_BYTES +
      overrides.length * OVERRIDE_BYTES +
      texts.length * (TEXT_BYTES + (is_mixed ? 1 : 0)) +
      (terms.length + marks.length) * TERM_BYTES +
      postings.length,
  );
  bytes[0] = VERSION;
  bytes[1] = is_mixed ? MANY_LANGUAGES : 0;
  bytes.writeUIntLE(begins_at_ms, 2, 6);
  if (source_id !== null) bytes.write(source_id.replaceAll('-', ''), 8, 'hex');
  bytes.writeUInt16LE(texts.length, 24);
  bytes.writeUInt16LE(overrides.length, 26);
  bytes.writeUInt16LE(contacts.length, 28);
  bytes[30] = stemmers.length;
  bytes.writeUInt32LE(terms.length, 31);
  bytes.writeUInt32LE(
    texts.reduce((sum, text) => sum + Math.min(text.terms.length, WORDS_MAX), 0),
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
    const words = Math.min(text.terms.length, WORDS_MAX);
    bytes.writeUInt32LE(start + (serial % 2 ** 12) * 2 ** 20, at);
    bytes.writeUInt32LE(
      Math.floor(serial / 2 ** 12) + words * 2 ** 5 + Math.min(text.speaker, SPEAKER_MAX) * 2 ** 15,
      at + 4,
    );
    at += TEXT_BYTES;
  }
  if (is_mixed) for (const { stemmer } of texts) bytes[at++] = stemmers.indexOf(numberOfStemmer(stemmer));
  for (const term of terms) at = bytes.writeUInt32LE(term, at);
  for (const mark of marks) at = bytes.writeUInt32LE(mark, at);
  bytes.set(postings, at);
  return bytes;
}

function indexOf(texts: readonly BlockText[]): { terms: number[]; marks: number[]; postings: number[] } {
  /** By term: text and count, text and count, … */
  const found = new Map<number, number[]>();
  texts.forEach(({ terms, marks = [] }, at) => {
    const add = (term: number) => {
      if (term === 0) return;
      const places = found.get(term);
      if (places === undefined) found.set(term, [at, 1]);
      else if (places[places.length - 2] === at) places[places.length - 1] = (places[places.length - 1] as number) + 1;
      else places.push(at, 1);
    };
    for (const { word, stem, sound } of terms.slice(0, WORDS_MAX)) {
      add(word);
      add(stem);
      add(sound);
    }
    for (const mark of marks) add(mark);
  });
  const terms = [...found.keys()].sort((a, b) => a - b);
  const marks: number[] = [];
  const postings: number[] = [];
  terms.forEach((term, index) => {
    if (index % MARK_EVERY === 0) marks.push(postings.length);
    const places = found.get(term) as number[];
    let before = 0;
    for (let at = 0; at < places.length; at += 2) {
      const [text, count] = [places[at] as number, places[at + 1] as number];
      const is_last = at + 2 === places.length;
      putNumber(postings, (text - before) * 4 + (count > 1 ? 2 : 0) + (is_last ? 1 : 0));
      if (count > 1) putNumber(postings, count);
      before = text;
    }
  });
  return { terms, marks, postings };
}

function putNumber(bytes: number[], number: number): void {
  let rest = number;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
}

/** A stored block. Throws RangeError for what is none. */
export class Block {
  readonly #bytes: Buffer;
  readonly #terms: number;
  readonly #texts_at: number;
  readonly #languages_at: number;
  readonly #terms_at: number;
  readonly #marks_at: number;
  readonly #postings_at: number;
  readonly begins_at_ms: number;
  /** How many texts it has. */
  readonly texts: number;
  /** Words of all texts. */
  readonly words: number;
  readonly stemmers: readonly Stemmer[];
  /** By text: whom a person named; null: nobody. Absent: nobody said so. */
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
    const is_mixed = ((bytes[1] as number) & MANY_LANGUAGES) !== 0;
    this.#terms_at = this.#languages_at + (is_mixed ? this.texts : 0);
    this.#marks_at = this.#terms_at + this.#terms * TERM_BYTES;
    this.#postings_at = this.#marks_at + Math.ceil(this.#terms / MARK_EVERY) * TERM_BYTES;
    if (bytes.length < this.#postings_at) throw new RangeError('a block that is cut short');
  }

  get bytes(): number {
    return this.#bytes.length;
  }

  /** Null where it is of none. */
  get source_id(): string | null {
    const hex = this.#bytes.toString('hex', 8, 24);
    return hex === NO_SOURCE ? null : uuidOf(hex);
  }

  /** Of a text, ms since the block begins. */
  start_ms(text: number): number {
    return this.#bytes.readUInt32LE(this.#texts_at + text * TEXT_BYTES) & START_MAX;
  }

  serial(text: number): number {
    const at = this.#texts_at + text * TEXT_BYTES;
    return (this.#bytes.readUInt32LE(at) >>> 20) + (this.#bytes.readUInt32LE(at + 4) & 0x1f) * 2 ** 12;
  }

  /** How many words a text has. */
  length(text: number): number {
    return (this.#bytes.readUInt32LE(this.#texts_at + text * TEXT_BYTES + 4) >>> 5) & WORDS_MAX;
  }

  speaker(text: number): number {
    return (this.#bytes.readUInt32LE(this.#texts_at + text * TEXT_BYTES + 4) >>> 15) & SPEAKER_MAX;
  }

  stemmer(text: number): Stemmer {
    const number = this.#languages_at === this.#terms_at ? 0 : (this.#bytes[this.#languages_at + text] as number);
    return this.stemmers[number] as Stemmer;
  }

  /**
   * Where a term stands: so many texts, which are in `texts` then, in order, with how often it stands there in `counts`.
   * Both have room for all texts.
   */
  readPostings(term: number, texts: Uint16Array, counts: Uint16Array): number {
    const index = this.#indexOf(term);
    if (index < 0) return 0;
    const bytes = this.#bytes;
    const mark = Math.floor(index / MARK_EVERY);
    let at = this.#postings_at + bytes.readUInt32LE(this.#marks_at + mark * TERM_BYTES);
    for (let passed = mark * MARK_EVERY; passed < index; passed++) at = this.#behind(at);
    let found = 0;
    for (let text = 0, is_last = false; !is_last; found++) {
      let posting = 0;
      for (let shift = 0, more = true; more; at++, shift += 7) {
        const byte = bytes[at] as number;
        posting |= (byte & 0x7f) << shift;
        more = byte > 0x7f;
      }
      let count = 1;
      if ((posting & 2) !== 0) {
        count = 0;
        for (let shift = 0, more = true; more; at++, shift += 7) {
          const byte = bytes[at] as number;
          count |= (byte & 0x7f) << shift;
          more = byte > 0x7f;
        }
      }
      text += posting >>> 2;
      is_last = (posting & 1) !== 0;
      texts[found] = text;
      counts[found] = count;
    }
    return found;
  }

  /** Where the next term's postings begin. */
  #behind(from: number): number {
    const bytes = this.#bytes;
    for (let at = from; ; ) {
      const first = bytes[at] as number;
      while ((bytes[at++] as number) > 0x7f);
      if ((first & 2) !== 0) while ((bytes[at++] as number) > 0x7f);
      if ((first & 1) !== 0) return at;
    }
  }

  /** Terms are hashes, so that a term's value says about where it is. */
  #indexOf(term: number): number {
    const bytes = this.#bytes;
    let low = 0;
    let high = this.#terms - 1;
    let least = 0;
    let most = TERMS;
    while (low <= high && term >= least && term < most) {
      const guess = low + Math.floor(((term - least) / (most - least)) * (high - low));
      const found = bytes.readUInt32LE(this.#terms_at + guess * TERM_BYTES);
      if (found === term) return guess;
      if (found < term) {
        low = guess + 1;
        least = found + 1;
      } else {
        high = guess - 1;
        most = found;
      }
    }
    return -1;
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
