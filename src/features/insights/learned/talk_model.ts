import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { HashedModel } from './hashed_model.js';
import type { ItemModel } from './item_finder.js';
import type { MemoModel } from './memo_finder.js';
import { WordTable } from './word_table.js';

/** The models that are learned from labelled talks. `npm run spool -- train` writes their file, the server only reads it. */
export type TalkModel = {
  items: ItemModel;
  /** Which sentence says what an item is about. */
  said: HashedModel;
  /** How likely an utterance says a point of a summary, or one that a summary must not say. */
  summary: HashedModel;
  /** The words of a title, and the phrases that they make. */
  title: HashedModel;
  phrases: HashedModel;
  words: WordTable;
  memos: MemoModel;
};

type TableForm = Omit<HashedModel, 'table'> & { from: number };
type FileHeader = {
  version: number;
  items: Omit<ItemModel, 'first'> & { first: TableForm };
  said: TableForm;
  summary: TableForm;
  title: TableForm;
  phrases: TableForm;
  words: { list: string; from: number; dimensions: number };
  memos: { items: TableForm; bound: number; memo: TableForm };
};

/** The file of this release. */
export const TALK_MODEL = fileURLToPath(new URL('./talks.model', import.meta.url));
const VERSION = 2;
const LENGTH_BYTES = 4;

/** A gzip file: the length of a header, the header as JSON, and tables of bytes. Throws for a file of another version. */
export function readTalkModel(path: string): TalkModel {
  const bytes = gunzipSync(readFileSync(path));
  const header_length = bytes.readUInt32BE(0);
  const header = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, LENGTH_BYTES + header_length)) as FileHeader;
  if (header.version !== VERSION) throw new Error(`${path}: version ${header.version}, not ${VERSION}`);
  const tables = bytes.subarray(LENGTH_BYTES + header_length);
  const tableAt = (from: number, length: number) => new Int8Array(tables.buffer, tables.byteOffset + from, length);
  const model = ({ from, ...form }: TableForm): HashedModel => ({
    ...form,
    table: tableAt(from, 2 ** form.bits * form.biases.length),
  });
  const { first, ...items } = header.items;
  const words = header.words.list.split(' ');
  const { from, dimensions } = header.words;
  return {
    items: { ...items, first: model(first) },
    said: model(header.said),
    summary: model(header.summary),
    title: model(header.title),
    phrases: model(header.phrases),
    words: new WordTable(words, tableAt(from, words.length * dimensions), dimensions),
    memos: { ...header.memos, items: model(header.memos.items), memo: model(header.memos.memo) },
  };
}

/** The bytes of the file. Weights become bytes: read again, answers differ a little. */
export function talkModelBytes({ items, said, summary, title, phrases, words, memos }: TalkModel): Buffer {
  const tables: Buffer[] = [];
  let length = 0;
  const add = (table: Int8Array) => {
    tables.push(Buffer.from(table.buffer, table.byteOffset, table.byteLength));
    length += table.byteLength;
    return length - table.byteLength;
  };
  const form = (model: HashedModel): TableForm => {
    const { table, scales, ...rest } = inBytes(model);
    return { ...rest, scales, from: add(table) };
  };
  const { first, ...more } = items;
  const header: FileHeader = {
    version: VERSION,
    items: { ...more, first: form(first) },
    said: form(said),
    summary: form(summary),
    title: form(title),
    phrases: form(phrases),
    words: { list: words.words.join(' '), from: add(words.vectors), dimensions: words.dimensions },
    memos: { ...memos, items: form(memos.items), memo: form(memos.memo) },
  };
  const json = Buffer.from(JSON.stringify(header));
  const size = Buffer.alloc(LENGTH_BYTES);
  size.writeUInt32BE(json.length);
  return gzipSync(Buffer.concat([size, json, ...tables]), { level: 9 });
}

const BYTE_MAX = 127;

/** With weights as bytes. */
function inBytes({ bits, table, biases, scales }: HashedModel): HashedModel & { table: Int8Array } {
  const width = biases.length;
  const most = biases.map(() => 0);
  for (const [at, weight] of table.entries()) {
    const answer = at % width;
    most[answer] = Math.max(most[answer] as number, Math.abs(weight));
  }
  const steps = most.map((one) => (one === 0 ? 1 : one / BYTE_MAX));
  const bytes = new Int8Array(table.length);
  for (const [at, weight] of table.entries()) bytes[at] = Math.round(weight / (steps[at % width] as number));
  return { bits, table: bytes, biases, scales: scales.map((scale, answer) => scale * (steps[answer] as number)) };
}
