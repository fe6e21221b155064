import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Test } from 'tap';
import { audioKey } from '../../../src/engine/blobs/blob_keys.js';
import {
  type BlobStore,
  BlobStoreUnavailable,
  type PutResult,
  SMALL_BLOB_BYTES_MAX,
} from '../../../src/engine/blobs/blob_store.js';
import type { ChunkBytes } from '../../../src/engine/blobs/segment_record.js';

/** A store under test, and what only its kind can tell. */
export interface StoreUnderTest {
  store: BlobStore;
  /** Names of whatever lies there besides finished blobs. */
  leftovers(): Promise<string[]>;
}

const sizes = [0, 1, 65_536, SMALL_BLOB_BYTES_MAX - 1, SMALL_BLOB_BYTES_MAX, SMALL_BLOB_BYTES_MAX + 1, 3_500_000];

export function expectationOf(bytes: Buffer) {
  return { size_bytes: bytes.length, sha256_hex: createHash('sha256').update(bytes).digest('hex') };
}

/** In parts of `part_bytes`, as a socket would give them. */
export function streamOf(bytes: Buffer, part_bytes = 16_384): Readable {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += part_bytes) parts.push(bytes.subarray(at, at + part_bytes));
  return Readable.from(parts, { objectMode: false });
}

const STREAM = '01970000-0000-7000-8000-0000000000a5';

/** A chunk of a stream, with a reference of its own. */
export function chunkOf(bytes: Buffer, stream_id = STREAM): ChunkBytes {
  return { stream_id, source_chunk_ref: randomUUID(), bytes };
}

/** Appends chunks; gives the key of each. */
export async function appendAll(store: BlobStore, chunks: readonly ChunkBytes[]): Promise<string[]> {
  const places = await store.append(chunks);
  return chunks.map(({ stream_id, bytes: { length: size_bytes } }, at) =>
    audioKey(stream_id, { place: places[at] as string, size_bytes }),
  );
}

/** Ranges of 100,000 bytes. */
function rangesOf(bytes: Buffer): { range: { start?: number; end?: number }; wanted: Buffer }[] {
  return [
    { range: {}, wanted: bytes },
    { range: { start: 0, end: 0 }, wanted: bytes.subarray(0, 1) },
    { range: { start: 99_999 }, wanted: bytes.subarray(99_999) },
    { range: { start: 99_999, end: 99_999 }, wanted: bytes.subarray(99_999) },
    { range: { start: 10, end: 70_009 }, wanted: bytes.subarray(10, 70_010) },
    { range: { start: 99_990, end: 200_000 }, wanted: bytes.subarray(99_990) },
    { range: { end: 4 }, wanted: bytes.subarray(0, 5) },
    { range: { start: 100_000 }, wanted: Buffer.alloc(0) },
    { range: { start: 200_000, end: 300_000 }, wanted: Buffer.alloc(0) },
    { range: { start: 5, end: 4 }, wanted: Buffer.alloc(0) },
  ];
}

/** What every blob store must do. `setUp` gives an empty one. */
export function blobStoreContract(t: Test, setUp: (t: Test) => Promise<StoreUnderTest>): void {
  const read = async (store: BlobStore, key: string, range?: { start?: number; end?: number }) => {
    const blob = await store.open(key, range);
    return blob === null ? null : buffer(blob.stream);
  };
  const keysOf = async (store: BlobStore, prefix?: string) => {
    const keys: string[] = [];
    for await (const key of store.list(prefix)) keys.push(key);
    return keys.sort();
  };

  t.test('H-023 bytes that match size and hash are kept as they are', async (t) => {
    const { store, leftovers } = await setUp(t);
    for (const size of sizes) {
      const bytes = randomBytes(size);
      const key = `p000/stream/chunk-${size}`;
      t.equal(await store.has(key), false);
      t.equal(await store.open(key), null);
      const put = await store.put(key, streamOf(bytes), expectationOf(bytes));
      t.match(put, { ok: true });
      t.equal(await store.has(key), true);
      const blob = await store.open(key);
      t.equal(blob?.size_bytes, size);
      t.ok(blob && bytes.equals(await buffer(blob.stream)), `${size} bytes come back`);
    }
    t.strictSame(await leftovers(), []);
  });

  t.test('H-023 chunks that are appended together are read at their places, whatever their sizes', async (t) => {
    const { store, leftovers } = await setUp(t);
    const chunks = [...sizes, 100, 200].map((size) => chunkOf(randomBytes(size)));
    const keys = await appendAll(store, chunks);
    t.equal(new Set(keys).size, chunks.length);
    for (const [at, { bytes }] of chunks.entries()) {
      t.equal(await store.has(keys[at] as string), true);
      const blob = await store.open(keys[at] as string);
      t.equal(blob?.size_bytes, bytes.length);
      t.ok(blob && bytes.equals(await buffer(blob.stream)), `${bytes.length} bytes come back`);
    }
    const [again] = await appendAll(store, chunks.slice(-1));
    t.not(again, keys.at(-1), 'a repeat has a place of its own');
    t.strictSame(await store.append([]), []);
    t.strictSame(await leftovers(), []);
  });

  t.test('a range of appended bytes is read, both ends included', async (t) => {
    const { store } = await setUp(t);
    const bytes = randomBytes(100_000);
    const [, key] = (await appendAll(store, [chunkOf(randomBytes(10)), chunkOf(bytes), chunkOf(randomBytes(10))])) as [
      string,
      string,
    ];
    for (const { range, wanted } of rangesOf(bytes)) {
      const blob = await store.open(key, range);
      t.equal(blob?.size_bytes, 100_000);
      t.ok(blob && wanted.equals(await buffer(blob.stream)), JSON.stringify(range));
    }
  });

  t.test('appended bytes go one by one, and what lies beside them stays where it is', async (t) => {
    const { store } = await setUp(t);
    const chunks = [10, 50_000, 20, 30_000].map((size) => chunkOf(randomBytes(size)));
    const keys = (await appendAll(store, chunks)) as [string, string, string, string];
    const left = async () => {
      const all = await Promise.all(keys.map(async (key) => read(store, key)));
      return all.map((bytes, at) => bytes?.equals(chunks[at]?.bytes as Buffer) ?? false);
    };
    await store.remove([keys[1]]);
    t.strictSame(await left(), [true, false, true, true]);
    await store.remove([keys[1], keys[0], keys[0]]);
    t.strictSame(await left(), [false, false, true, true]);
    await Promise.all([store.remove([keys[2]]), store.remove([keys[3]])]);
    t.strictSame(await left(), [false, false, false, false]);
    t.equal(await store.open(keys[0]), null);
    t.equal(await store.has(keys[3]), false);
    t.strictSame(await keysOf(store), []);
  });

  t.test('H-023 the hash may be given in either case, the stream be any iterable', async (t) => {
    const { store } = await setUp(t);
    const bytes = randomBytes(1_000);
    const { size_bytes, sha256_hex } = expectationOf(bytes);
    const parts = (async function* () {
      yield bytes.subarray(0, 400);
      yield Buffer.alloc(0);
      yield bytes.subarray(400);
    })();
    t.match(await store.put('p/s/c', parts, { size_bytes, sha256_hex: sha256_hex.toUpperCase() }), { ok: true });
    t.ok(bytes.equals((await read(store, 'p/s/c')) as Buffer));
  });

  t.test('H-023 one byte too few, one too many, or one that is wrong keeps nothing', async (t) => {
    const { store, leftovers } = await setUp(t);
    for (const size of sizes.filter((size) => size > 0)) {
      const bytes = randomBytes(size);
      const expected = expectationOf(bytes);
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(size - 1) ^ 1, size - 1);
      const put = (body: Buffer) => store.put('p/s/c', streamOf(body), expected);
      t.strictSame(await put(bytes.subarray(1)), { ok: false, reason: 'size' });
      t.strictSame(await put(Buffer.concat([bytes, Buffer.of(0)])), { ok: false, reason: 'size' });
      t.strictSame(await put(flipped), { ok: false, reason: 'checksum' });
      t.equal(await store.has('p/s/c'), false);
    }
    t.strictSame(await leftovers(), []);
    t.strictSame(await keysOf(store), []);
  });

  t.test('H-023 a refused put leaves what was there', async (t) => {
    const { store } = await setUp(t);
    const bytes = randomBytes(1_000);
    await store.put('p/s/c', streamOf(bytes), expectationOf(bytes));
    t.match(await store.put('p/s/c', streamOf(randomBytes(1_000)), expectationOf(bytes)), { ok: false });
    t.ok(bytes.equals((await read(store, 'p/s/c')) as Buffer));
    t.match(
      await store.put('p/s/c', streamOf(bytes), expectationOf(bytes)),
      { ok: true },
      'and the same again is fine',
    );
  });

  t.test('H-023 a body without end is read no further than shows that it is too long', async (t) => {
    const { store } = await setUp(t);
    let given = 0;
    const endless = new Readable({
      highWaterMark: 1,
      read() {
        given += 1;
        this.push(Buffer.alloc(1_000));
      },
    });
    t.strictSame(await store.put('p/s/c', endless, expectationOf(Buffer.alloc(10_000))), { ok: false, reason: 'size' });
    t.ok(given <= 13, `${given} thousand bytes were taken`);
    t.notOk(endless.destroyed, 'whoever gave the stream may still answer on it');
    endless.destroy();
  });

  t.test('H-023 a stream that breaks off keeps nothing', async (t) => {
    const { store, leftovers } = await setUp(t);
    for (const size of sizes.filter((size) => size > 1)) {
      const bytes = randomBytes(size);
      for (const error of [undefined, new Error('connection reset')]) {
        const stream = new PassThrough();
        const result = store.put('p/s/c', stream, expectationOf(bytes));
        stream.write(bytes.subarray(0, size / 2), () => stream.destroy(error));
        stream.resume().pause();
        t.strictSame(await result, { ok: false, reason: 'aborted' });
      }
    }
    const dead = new PassThrough();
    dead.destroy();
    t.strictSame(await store.put('p/s/c', dead, expectationOf(Buffer.of(1))), { ok: false, reason: 'aborted' });
    t.strictSame(await leftovers(), []);
    t.equal(await store.has('p/s/c'), false);
  });

  t.test('H-023 twenty puts of one key at once, half of them broken off, leave one whole blob', async (t) => {
    const { store, leftovers } = await setUp(t);
    for (const size of [65_536, 2_000_000]) {
      const bytes = randomBytes(size);
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, at) => {
          if (at % 2 === 0) return store.put('p/s/c', streamOf(bytes), expectationOf(bytes));
          const half = async function* () {
            yield bytes.subarray(0, size / 2);
            throw new Error('connection reset');
          };
          return store.put('p/s/c', Readable.from(half()), expectationOf(bytes));
        }),
      );
      t.strictSame(
        results.map((result) => result.ok),
        results.map((_, at) => at % 2 === 0),
      );
      t.ok(bytes.equals((await read(store, 'p/s/c')) as Buffer));
    }
    t.strictSame(await leftovers(), []);
  });

  t.test('H-023 whoever reads while puts go on sees one whole content', async (t) => {
    const { store } = await setUp(t);
    const contents = Array.from({ length: 4 }, () => randomBytes(100_000));
    await store.put('p/s/c', streamOf(contents[0] as Buffer), expectationOf(contents[0] as Buffer));
    let is_over = false;
    const puts = Promise.all(
      contents.map(async (bytes) => {
        for (let at = 0; at < 20; at++) await store.put('p/s/c', streamOf(bytes), expectationOf(bytes));
      }),
    ).finally(() => {
      is_over = true;
    });
    let mixed = 0;
    while (!is_over) {
      // Some object stores find nothing in the moment in which one content takes the place of another.
      const bytes = (await read(store, 'p/s/c')) ?? (await read(store, 'p/s/c'));
      if (bytes === null || !contents.some((content) => content.equals(bytes))) mixed += 1;
    }
    await puts;
    t.equal(mixed, 0);
  });

  t.test('many puts into one and into many folders at once are all kept', async (t) => {
    const { store } = await setUp(t);
    const bytes = randomBytes(5_000);
    const keys = Array.from({ length: 200 }, (_, at) => `p${at % 3}/s${at % 7}/c${at}`);
    const put = (key: string) => store.put(key, streamOf(bytes), expectationOf(bytes));
    // A bucket on a busy machine may be away for a while: whoever stores comes again.
    const orAgain = async (key: string, tries_left = 10): Promise<PutResult> =>
      put(key).catch((error: unknown) => {
        if (tries_left === 0 || !(error instanceof BlobStoreUnavailable)) throw error;
        return orAgain(key, tries_left - 1);
      });
    const results = await Promise.all(keys.map((key) => orAgain(key)));
    t.ok(results.every((result) => result.ok));
    t.strictSame(await keysOf(store), [...keys].sort());
    t.strictSame(await keysOf(store, 'p1'), keys.filter((key) => key.startsWith('p1/')).sort());
    t.strictSame(await keysOf(store, 'p1/s9'), []);
  });

  t.test('a range of bytes is read, both ends included', async (t) => {
    const { store } = await setUp(t);
    const bytes = randomBytes(100_000);
    await store.put('p/s/c', streamOf(bytes), expectationOf(bytes));
    for (const { range, wanted } of rangesOf(bytes)) {
      const blob = await store.open('p/s/c', range);
      t.equal(blob?.size_bytes, 100_000);
      t.ok(blob && wanted.equals(await buffer(blob.stream)), JSON.stringify(range));
    }
    for (const range of [{ start: -1 }, { start: 0.5 }, { end: Number.NaN }]) {
      await t.rejects(store.open('p/s/c', range), { name: 'RangeError' });
    }
    t.equal(await store.open('p/s/other', { start: 0 }), null);
  });

  t.test('what is removed is gone, and nothing else', async (t) => {
    const { store } = await setUp(t);
    const bytes = randomBytes(100);
    const put = (key: string) => store.put(key, streamOf(bytes), expectationOf(bytes));
    for (const key of ['p1/s1/a', 'p1/s1/b', 'p1/s10/a', 'p1/s2/a', 'p2/s1/a']) await put(key);
    await store.remove(['p1/s1/a']);
    t.equal(await store.has('p1/s1/a'), false);
    await store.remove(['p1/s1/a', 'p9/s9/a']);
    await store.remove([]);
    await store.removeFolder('p1/s1');
    await store.removeFolder('p1/s1');
    t.strictSame(await keysOf(store), ['p1/s10/a', 'p1/s2/a', 'p2/s1/a']);
    t.match(await put('p1/s1/a'), { ok: true }, 'a removed folder can be filled again');
    await store.removeFolder('p1');
    t.strictSame(await keysOf(store), ['p2/s1/a']);
    t.match(await put('p1/s1/a'), { ok: true });
  });

  t.test('many of several folders go at once, and no others', async (t) => {
    const { store } = await setUp(t);
    const keys = ['p/s1', 'p/s2', 'q/s1'].flatMap((folder) => Array.from({ length: 8 }, (_, at) => `${folder}/c${at}`));
    for (const [at, key] of keys.entries()) {
      const bytes = randomBytes(at % 4 === 0 ? 300_000 : 100);
      await store.put(key, streamOf(bytes), expectationOf(bytes));
    }
    const goes = keys.filter((key) => !key.endsWith('3') && !key.endsWith('4'));
    await store.remove([...goes, 'p/s1/none', ...goes.slice(0, 2)]);
    const stays = keys.filter((key) => !goes.includes(key));
    t.strictSame((await keysOf(store)).sort(), stays);
    for (const key of stays) t.ok(await read(store, key));
    await store.remove(stays);
    t.strictSame(await keysOf(store), []);
  });

  t.test('what has been there for long can be removed, what was put just now is spared', async (t) => {
    const { store } = await setUp(t);
    const bytes = randomBytes(100);
    const put = (key: string) => store.put(key, streamOf(bytes), expectationOf(bytes));
    for (const key of ['p/s/a', 'p/s/b']) await put(key);
    t.equal(await store.removeOlder('p/s/a', 3_600_000), 'young');
    t.equal(await store.has('p/s/a'), true);
    t.equal(await store.removeOlder('p/s/a', 0), 'removed');
    t.equal(await store.removeOlder('p/s/a', 0), 'absent');
    t.equal(await store.removeOlder('p9/s9/a', 0), 'absent');
    t.strictSame(await keysOf(store), ['p/s/b']);
    t.equal(await store.removeOlder('p/s/b', 0), 'removed');
    t.match(await put('p/s/a'), { ok: true });
    t.strictSame(await keysOf(store), ['p/s/a']);
  });

  t.test("a store is the first one's who claimed it, and knows its partitions", async (t) => {
    const { store } = await setUp(t);
    t.strictSame(await store.partitions(), []);
    t.equal(await store.claim('first'), 'first');
    t.equal(await store.claim('second'), 'first');
    const bytes = randomBytes(10);
    for (const key of ['p1/s/a', 'p1/t/a', 'p2/s/a']) await store.put(key, streamOf(bytes), expectationOf(bytes));
    t.strictSame((await store.partitions()).sort(), ['p1', 'p2']);
    t.strictSame(await keysOf(store), ['p1/s/a', 'p1/t/a', 'p2/s/a'], 'whose it is is no blob');
  });

  t.test('only partition/stream/chunk names blobs', async (t) => {
    const { store } = await setUp(t);
    const one = Buffer.of(1);
    const keys = [
      '',
      'a',
      'a/b',
      'a/b/c/d',
      '../b/c',
      'a/../c',
      'a/b/..',
      './b/c',
      '/b/c',
      'a//c',
      'a/b/',
      '/a/b/c',
      'a/b/c.tmp',
      'a/b/c\0',
      'a/b/c\n',
      'a\\b\\c',
      'a/b/%2e%2e',
      'a/b/é',
      `a/b/${'c'.repeat(101)}`,
    ];
    for (const key of keys) {
      const calls: (() => Promise<unknown>)[] = [
        () => store.put(key, streamOf(one), expectationOf(one)),
        () => store.open(key),
        () => store.has(key),
        () => store.remove(['a/b/c', key]),
        () => store.removeOlder(key, 0),
      ];
      for (const call of calls) {
        await t.rejects(call(), { name: 'RangeError' }, JSON.stringify(key));
      }
    }
    for (const prefix of ['', '..', 'a/..', '/', 'a/', 'a/b/c', '.']) {
      await t.rejects(store.removeFolder(prefix), { name: 'RangeError' }, JSON.stringify(prefix));
      await t.rejects(keysOf(store, prefix), { name: 'RangeError' }, JSON.stringify(prefix));
    }
    const { size_bytes, sha256_hex } = expectationOf(one);
    await t.rejects(store.put('a/b/c', streamOf(one), { size_bytes: -1, sha256_hex }), { name: 'RangeError' });
    await t.rejects(store.put('a/b/c', streamOf(one), { size_bytes, sha256_hex: 'ff' }), { name: 'RangeError' });
    t.strictSame(await keysOf(store), []);
  });
}
