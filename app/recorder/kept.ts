import { say } from '../language/say.js';

/**
 * The audio that is recorded and not yet on the server, in this browser's own storage, where it outlives a reload and a
 * crash. It belongs to the account that recorded it, and is erased when that signs out.
 */

export type KeptRecording = {
  stream_id: string;
  account_id: string;
  /** When its timeline begins, ms since 1970. */
  captured_at_ms: number;
  /** The number of its next chunk. */
  sequence: number;
  /** Where its last chunk ends, ms of the timeline. */
  end_ms: number;
};

/** A chunk without its bytes. `ref`: the reference by which the server knows it again. */
export type ChunkHead = { ref: string; sequence: number; start_ms: number; end_ms: number; size_bytes: number };

type StoredRecording = KeptRecording & { bytes: number };
type StoredChunk = ChunkHead & { stream_id: string; bytes: Uint8Array<ArrayBuffer> };

/** Of all recordings together: four and a half hours at 16 kHz. */
export const KEPT_BYTES_MAX = 500 * 1024 * 1024;
const NAME = 'spool.recorder';
const [RECORDINGS, CHUNKS] = ['recordings', 'chunks'] as const;

/** Whoever was here has signed out: nothing is kept any more until the page is loaded anew. */
let is_forgotten = false;
let opening: Promise<IDBDatabase> | null = null;
let database: IDBDatabase | null = null;
/** Bytes that are kept of each recording. */
const sizes = new Map<string, number>();

/**
 * Keeps a chunk together with how far its recording has come. It is begun at once, so that a page that goes still does it.
 * Rejects where the browser stores nothing.
 */
export function keepChunk(
  recording: KeptRecording,
  head: ChunkHead,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<'kept' | 'full'> {
  const { stream_id } = recording;
  return change(async (recordings, chunks) => {
    if (is_forgotten) throw new Error(say('Nobody is signed in.'));
    const kept_bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    if (kept_bytes + bytes.length > KEPT_BYTES_MAX) return 'full';
    sizes.set(stream_id, (sizes.get(stream_id) ?? 0) + bytes.length);
    chunks.put({ ...head, stream_id, bytes } satisfies StoredChunk);
    recordings.put({ ...recording, bytes: sizes.get(stream_id) ?? 0 } satisfies StoredRecording);
    chunks.transaction.commit();
    return 'kept';
  });
}

/** Keeps how far a recording has come. */
export function keepRecording(recording: KeptRecording): Promise<void> {
  return change(async (recordings) => {
    recordings.put({ ...recording, bytes: sizes.get(recording.stream_id) ?? 0 } satisfies StoredRecording);
  });
}

/** Null where it is not there any more. */
export function readKept(stream_id: string, sequence: number): Promise<Uint8Array<ArrayBuffer> | null> {
  return change(async (_, chunks) => {
    const chunk = await answerOf<StoredChunk | undefined>(chunks.get([stream_id, sequence]));
    return chunk?.bytes ?? null;
  });
}

export function forgetChunk(stream_id: string, { sequence, size_bytes }: ChunkHead): Promise<void> {
  return change(async (recordings, chunks) => {
    const recording = await answerOf<StoredRecording | undefined>(recordings.get(stream_id));
    chunks.delete([stream_id, sequence]);
    if (recording === undefined) return;
    sizes.set(stream_id, Math.max(0, (sizes.get(stream_id) ?? 0) - size_bytes));
    recordings.put({ ...recording, bytes: sizes.get(stream_id) ?? 0 } satisfies StoredRecording);
  });
}

/** A recording with all of its chunks. */
export function forgetRecording(stream_id: string): Promise<void> {
  return change(async (recordings, chunks) => {
    sizes.delete(stream_id);
    recordings.delete(stream_id);
    chunks.delete(IDBKeyRange.bound([stream_id], [stream_id, Number.POSITIVE_INFINITY]));
  });
}

/** Everything, whosever it is. Where the browser stores nothing there is nothing to forget. */
export async function forgetKept(): Promise<void> {
  is_forgotten = true;
  await change(async (recordings, chunks) => {
    sizes.clear();
    recordings.clear();
    chunks.clear();
  }).catch(() => {});
}

/** The recordings of an account that were not finished in this browser, and what of each is not sent. */
export async function keptOf(account_id: string): Promise<{ recording: KeptRecording; chunks: ChunkHead[] }[]> {
  const under_way = await heldElsewhere();
  return change(async (recordings, chunks) => {
    const all = await answerOf<StoredRecording[]>(recordings.getAll());
    const mine = all.filter((one) => one.account_id === account_id && !under_way.has(lockOf(one.stream_id)));
    return Promise.all(
      mine.map(async ({ bytes: _, ...recording }) => {
        const { stream_id } = recording;
        const heads: ChunkHead[] = [];
        const range = IDBKeyRange.bound([stream_id], [stream_id, Number.POSITIVE_INFINITY]);
        await each<StoredChunk>(chunks.openCursor(range), ({ bytes: _, stream_id: __, ...head }) => heads.push(head));
        return { recording, chunks: heads };
      }),
    );
  }).catch(() => []);
}

/** While a tab has a recording under way, no other offers it. Gives what ends that. */
export function hold(stream_id: string): () => void {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  void navigator.locks?.request(lockOf(stream_id), () => released);
  return release;
}

async function heldElsewhere(): Promise<ReadonlySet<string | undefined>> {
  const { held = [] } = (await navigator.locks?.query()) ?? {};
  return new Set(held.map(({ name }) => name));
}

function lockOf(stream_id: string): string {
  return `${NAME}.${stream_id}`;
}

type Work<T> = (recordings: IDBObjectStore, chunks: IDBObjectStore) => Promise<T>;

/** One transaction: all of it or nothing. Within it only its own requests may be waited for. */
function change<T>(work: Work<T>): Promise<T> {
  if (database !== null) return changeIn(database, work);
  opening ??= open();
  return opening.then((opened) => changeIn(opened, work));
}

async function changeIn<T>(opened: IDBDatabase, work: Work<T>): Promise<T> {
  const transaction = opened.transaction([RECORDINGS, CHUNKS], 'readwrite');
  const done = new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error(say('The browser stored nothing.')));
  });
  const worked = work(transaction.objectStore(RECORDINGS), transaction.objectStore(CHUNKS));
  const [result] = await Promise.all([worked, done]);
  return result;
}

async function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(NAME, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(RECORDINGS, { keyPath: 'stream_id' });
    request.result.createObjectStore(CHUNKS, { keyPath: ['stream_id', 'sequence'] });
  };
  const opened = await answerOf<IDBDatabase>(request);
  const all = await answerOf<StoredRecording[]>(opened.transaction(RECORDINGS).objectStore(RECORDINGS).getAll());
  for (const { stream_id, bytes } of all) sizes.set(stream_id, bytes);
  database = opened;
  return opened;
}

function answerOf<T>(request: IDBRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result as T);
    request.onerror = () => reject(request.error);
  });
}

function each<T>(request: IDBRequest<IDBCursorWithValue | null>, take: (value: T) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
      const cursor = request.result;
      if (cursor === null) return resolve();
      take(cursor.value as T);
      cursor.continue();
    };
  });
}
