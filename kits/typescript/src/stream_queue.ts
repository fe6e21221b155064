import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readJson, removeHalfWritten, syncFolder, writeDurably } from './durable_files.js';

/** What a device has recorded and the server does not have yet, one folder for a stream. It survives kill -9 and power cuts. */

export type StreamHead = {
  source_stream_ref: string;
  captured_at: string;
  clock_uncertainty_ms: number;
  /** Under which it was recorded; it is sent under the same. */
  binding_epoch: string;
};

/** All of an intent that is not the stream's. */
export type ChunkHead = {
  source_chunk_ref: string;
  sequence: number;
  source_start_ms: number;
  publication_start_ms: number;
  source_end_ms: number;
  codec: string;
  container: string;
  sample_rate_hz?: number;
  channels?: number;
  size_bytes: number;
  sha256: string;
  /** Of plain samples: the frame behind its last one. */
  end_frame?: number;
};

const HEAD_FILE = 'stream.json';
const END_FILE = 'end.json';
const REFUSAL_FILE = 'refusal.json';
const CHUNK_FILE = /^(\d{10})\.chunk$/;
const NEWLINE = 0x0a;
const HEAD_BYTES_MAX = 4_096;
/** A folder that is being removed. */
const REMOVED_PREFIX = 'removed-';

export class StreamQueue {
  readonly head: StreamHead;
  readonly #folder: string;
  readonly #chunks = new Map<number, ChunkHead>();
  /** On the server. The last one's file stays until there is a next, as it says how far the recording has come. */
  readonly #sent = new Set<number>();
  #end_ms: number | null;

  private constructor(folder: string, head: StreamHead, end_ms: number | null) {
    this.#folder = folder;
    this.head = head;
    this.#end_ms = end_ms;
  }

  static async create(parent: string, head: StreamHead): Promise<StreamQueue> {
    const folder = join(parent, head.source_stream_ref);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeDurably(join(folder, HEAD_FILE), JSON.stringify(head));
    await syncFolder(parent);
    return new StreamQueue(folder, head, null);
  }

  /** Null where the program ended before the stream's head was written. */
  static async open(folder: string): Promise<StreamQueue | null> {
    await removeHalfWritten(folder);
    const head = await readJson<StreamHead>(join(folder, HEAD_FILE));
    if (head === null) return null;
    const end = await readJson<{ end_ms: number }>(join(folder, END_FILE));
    const queue = new StreamQueue(folder, head, end?.end_ms ?? null);
    for (const name of (await readdir(folder)).sort()) {
      const sequence = CHUNK_FILE.exec(name)?.[1];
      if (sequence !== undefined) queue.#chunks.set(Number(sequence), await headOf(join(folder, name)));
    }
    return queue;
  }

  get end_ms(): number | null {
    return this.#end_ms;
  }

  get last(): ChunkHead | null {
    return [...this.#chunks.values()].at(-1) ?? null;
  }

  /** What is to be sent, in its order. */
  get waiting(): ChunkHead[] {
    return [...this.#chunks.values()].filter(({ sequence }) => !this.#sent.has(sequence));
  }

  /** Resolves once it is on disk. */
  async add(
    of: Omit<ChunkHead, 'source_chunk_ref' | 'sequence' | 'size_bytes' | 'sha256'>,
    bytes: Uint8Array,
  ): Promise<void> {
    const sequence = (this.last?.sequence ?? -1) + 1;
    const head: ChunkHead = {
      // The same chunk of the same stream has the same name, whoever makes it anew.
      source_chunk_ref: referenceOf(this.head.source_stream_ref, String(sequence)),
      ...{ sequence, ...of, size_bytes: bytes.length },
      sha256: createHash('sha256').update(bytes).digest('hex'),
    };
    await writeDurably(this.#file(sequence), `${JSON.stringify(head)}\n`, bytes);
    this.#chunks.set(sequence, head);
    await this.#removeSent();
  }

  async read(sequence: number): Promise<{ head: ChunkHead; bytes: Uint8Array }> {
    const content = await readFile(this.#file(sequence));
    const at = content.indexOf(NEWLINE);
    return { head: JSON.parse(content.toString('utf8', 0, at)) as ChunkHead, bytes: content.subarray(at + 1) };
  }

  /** Lets go of a chunk that the server has. */
  async sent(sequence: number): Promise<void> {
    this.#sent.add(sequence);
    await this.#removeSent();
  }

  /** Says where the stream ends, once: what was said first stays. */
  async end(end_ms: number): Promise<void> {
    if (this.#end_ms !== null) return;
    await writeDurably(join(this.#folder, END_FILE), JSON.stringify({ end_ms }));
    this.#end_ms = end_ms;
  }

  /** Puts a chunk that the server refuses for good aside. */
  async putChunkAside(sequence: number, refused: string, why: object): Promise<void> {
    const folder = join(refused, this.head.source_stream_ref);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeDurably(join(folder, `${sequence}.${REFUSAL_FILE}`), JSON.stringify(why));
    // The head stays here as long as it is the last one.
    await writeDurably(join(folder, basename(this.#file(sequence))), await readFile(this.#file(sequence)));
    await this.sent(sequence);
  }

  /** Puts all of the stream aside. */
  async putAside(refused: string, why: object): Promise<void> {
    await mkdir(refused, { recursive: true, mode: 0o700 });
    await writeDurably(join(this.#folder, REFUSAL_FILE), JSON.stringify(why));
    await rename(this.#folder, join(refused, `${this.head.source_stream_ref}-${Date.now()}`));
    await syncFolder(dirname(this.#folder));
  }

  /** The server has all of it. */
  async remove(): Promise<void> {
    const aside = join(dirname(this.#folder), REMOVED_PREFIX + basename(this.#folder));
    await rename(this.#folder, aside);
    await syncFolder(dirname(this.#folder));
    await rm(aside, { recursive: true, force: true });
  }

  async #removeSent(): Promise<void> {
    const last = this.last?.sequence;
    for (const sequence of this.#sent) {
      if (sequence === last) continue;
      this.#sent.delete(sequence);
      this.#chunks.delete(sequence);
      await rm(this.#file(sequence), { force: true });
    }
  }

  #file(sequence: number): string {
    return join(this.#folder, `${String(sequence).padStart(10, '0')}.chunk`);
  }
}

/** The line before a chunk's bytes. */
async function headOf(path: string): Promise<ChunkHead> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES_MAX), 0, HEAD_BYTES_MAX, 0);
    return JSON.parse(buffer.toString('utf8', 0, buffer.subarray(0, bytesRead).indexOf(NEWLINE))) as ChunkHead;
  } finally {
    await file.close();
  }
}

/** All streams of a folder, the oldest first; what was being removed goes. */
export async function openStreams(folder: string): Promise<StreamQueue[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found: StreamQueue[] = [];
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (!(await stat(path)).isDirectory()) continue;
    const queue = name.startsWith(REMOVED_PREFIX) ? null : await StreamQueue.open(path);
    if (queue === null) await rm(path, { recursive: true, force: true });
    else found.push(queue);
  }
  return found.sort((a, b) => a.head.captured_at.localeCompare(b.head.captured_at));
}

/** A UUID that follows from words, such as the name of a file: whoever begins anew says the same. */
export function referenceOf(...words: string[]): string {
  const hash = createHash('sha256').update(words.join('\n')).digest();
  hash[6] = ((hash[6] as number) & 0x0f) | 0x80; // version 8
  hash[8] = ((hash[8] as number) & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}
