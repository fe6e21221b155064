import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import type { BlobStore } from '../../../src/engine/blobs/blob_store.js';
import { DISK } from '../../../src/engine/blobs/disk.js';
import { type FolderBlobStoreOptions, openFolderBlobStore } from '../../../src/engine/blobs/folder_blob_store.js';
import { encodeHeader, RECORD_HEADER_BYTES } from '../../../src/engine/blobs/segment_record.js';
import { tempFolder } from '../../fixtures/temp_folder.js';
import { until } from '../../fixtures/until.js';
import { expectationOf, streamOf } from './blob_store_contract.js';
import type { BlobQuestion } from './blob_store_process.js';
import { ageRecords, bytesNamed, hashesOf, isRemoved, isSegment, segmentsIn } from './segments.js';

const HOUR_MS = 3_600_000;
const PUTTING = fileURLToPath(new URL('./putting_process.js', import.meta.url));
const ASKED = fileURLToPath(new URL('./blob_store_process.js', import.meta.url));

async function setUp(t: Test, options: FolderBlobStoreOptions = {}) {
  const folder = tempFolder(t);
  const open = async (more: FolderBlobStoreOptions = {}) => {
    const store = await openFolderBlobStore(folder, { ...options, ...more });
    t.teardown(() => store.close());
    return store;
  };
  return { folder, store: await open(), open };
}

const put = (store: BlobStore, key: string, bytes: Buffer) => store.put(key, streamOf(bytes), expectationOf(bytes));

async function read(store: BlobStore, key: string): Promise<Buffer | null> {
  const blob = await store.open(key);
  return blob === null ? null : buffer(blob.stream);
}

async function keysOf(store: BlobStore, prefix?: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of store.list(prefix)) keys.push(key);
  return keys.sort();
}

function onlySegment(folder: string): string {
  const [segment, ...others] = segmentsIn(folder);
  if (segment === undefined || others.length > 0) throw new Error(`${others.length + 1} segments`);
  return segment;
}

t.test('H-023 a segment cut at any byte holds what was whole, and what comes then is kept', async (t) => {
  const { folder, store } = await setUp(t);
  const blobs = ['a', 'b', 'c'].map((name) => ({ name, bytes: bytesNamed(name, 20) }));
  for (const { name, bytes } of blobs) await put(store, `p/s/${name}`, bytes);
  const whole = readFileSync(onlySegment(join(folder, 'p', 's')));
  const step = RECORD_HEADER_BYTES + 20;
  t.equal(whole.length, 3 * step);
  const wrong: string[] = [];
  for (let cut = step; cut <= whole.length; cut++) {
    const stream = `p/cut${cut}`;
    mkdirSync(join(folder, stream));
    writeFileSync(join(folder, stream, '00000000-0000-4000-8000-000000000000.seg'), whole.subarray(0, cut));
    const kept = blobs.slice(0, Math.floor(cut / step));
    const wanted = kept.map(({ name }) => `${stream}/${name}`);
    if ((await keysOf(store, stream)).join() !== wanted.join()) wrong.push(`list at ${cut}`);
    for (const { name, bytes } of blobs.slice(1)) {
      const found = await read(store, `${stream}/${name}`);
      const is_kept = kept.some((one) => one.name === name);
      if (is_kept ? !found?.equals(bytes) : found !== null) wrong.push(`${name} at ${cut}`);
    }
    if (cut % 40 !== 0) continue;
    await put(store, `${stream}/c`, blobs[2]?.bytes as Buffer);
    const after = new Set([...wanted, `${stream}/c`]);
    if ((await keysOf(store, stream)).join() !== [...after].join()) wrong.push(`list after a put at ${cut}`);
    if (!(await read(store, `${stream}/c`))?.equals(blobs[2]?.bytes as Buffer)) wrong.push(`read at ${cut}`);
  }
  t.strictSame(wrong, []);
});

t.test('bytes that look like records are none', async (t) => {
  const { store, open } = await setUp(t);
  const header = {
    name: 'forged',
    at_ms: Date.now(),
    size_bytes: 10,
    sha256_hex: '0'.repeat(64),
    state: 'live' as const,
  };
  const bytes = Buffer.concat(Array.from({ length: 20 }, () => [encodeHeader(header), Buffer.alloc(10)]).flat());
  for (const name of ['a', 'b']) await put(store, `p/s/${name}`, bytes);
  await put(store, 'p/s/empty', Buffer.alloc(0));
  const other = await open();
  t.strictSame(await keysOf(other), ['p/s/a', 'p/s/b', 'p/s/empty']);
  t.equal(await other.has('p/s/forged'), false);
  t.ok(bytes.equals((await read(other, 'p/s/b')) as Buffer));
});

t.test('a damaged header ends its segment, which is said and kept', async (t) => {
  const said: Record<string, unknown>[] = [];
  const warn = (details: Record<string, unknown>) => said.push(details);
  const { folder, store, open } = await setUp(t, { warn });
  for (const name of ['a', 'b', 'c']) await put(store, `p/s/${name}`, bytesNamed(name, 1_000));
  const segment = onlySegment(join(folder, 'p', 's'));
  const bytes = readFileSync(segment);
  const second = RECORD_HEADER_BYTES + 1_000;
  bytes.writeUInt8(bytes.readUInt8(second + 30) ^ 1, second + 30);
  writeFileSync(segment, bytes);
  const other = await open();
  t.strictSame(await keysOf(other), ['p/s/a']);
  for (const name of ['a', 'b', 'c', 'b']) t.equal(await other.has(`p/s/${name}`), name === 'a');
  t.strictSame(said, [{ segment: segment.slice(-40), stream: 's', damaged_at: second }], 'once');
  await put(other, 'p/s/b', bytesNamed('b', 1_000));
  t.ok(bytesNamed('b', 1_000).equals((await read(other, 'p/s/b')) as Buffer), 'a repeat heals');
  t.ok(await isRemoved(other, 'p/s/a'));
  t.equal(segmentsIn(join(folder, 'p', 's')).length, 2, 'what lies behind the damage is kept');
});

t.test('what is removed is not on the disk any more, and its segment goes with its last', async (t) => {
  const { folder, store } = await setUp(t);
  const [a, b] = ['a', 'b'].map((name) => bytesNamed(name, 20_000)) as [Buffer, Buffer];
  await put(store, 'p/s/a', a);
  await put(store, 'p/s/b', b);
  t.ok(await isRemoved(store, 'p/s/a'));
  t.equal(await store.has('p/s/a'), false);
  const left = readFileSync(onlySegment(join(folder, 'p', 's')));
  t.equal(left.indexOf(a.subarray(0, 64)), -1);
  t.ok(left.indexOf(b) > 0);
  t.equal(await store.removeOlder('p/s/b', HOUR_MS), 'young');
  ageRecords(onlySegment(join(folder, 'p', 's')), 2 * HOUR_MS);
  const other = await openFolderBlobStore(folder);
  t.equal(await other.removeOlder('p/s/b', HOUR_MS), 'removed');
  t.strictSame(readdirSync(join(folder, 'p')), [], 'and the folder');
  // The first one still has the removed segment open.
  await put(store, 'p/s/b', b);
  for (const one of [store, other]) t.ok(b.equals((await read(one, 'p/s/b')) as Buffer));
});

t.test('a removal that was cut off is finished, a segment without records goes', async (t) => {
  const { folder, store, open } = await setUp(t);
  const [a, b] = ['a', 'b'].map((name) => bytesNamed(name, 5_000)) as [Buffer, Buffer];
  await put(store, 'p/s/a', a);
  await put(store, 'p/s/b', b);
  const segment = onlySegment(join(folder, 'p', 's'));
  const bytes = readFileSync(segment);
  bytes.write('D', 5);
  writeFileSync(segment, bytes);
  mkdirSync(join(folder, 'p', 't'));
  const empty = join(folder, 'p', 't', '00000000-0000-4000-8000-000000000000.seg');
  writeFileSync(empty, '');
  const other = await open();
  t.strictSame(await keysOf(other), ['p/s/b']);
  t.equal(await other.sweepTemporary(HOUR_MS), 0, 'too young');
  t.ok(readFileSync(segment).includes(a.subarray(0, 64)));
  ageRecords(segment, 2 * HOUR_MS);
  utimesSync(empty, new Date(Date.now() - 2 * HOUR_MS), new Date(Date.now() - 2 * HOUR_MS));
  t.equal(await other.sweepTemporary(HOUR_MS, 'p'), 1);
  t.notOk(readFileSync(segment).includes(a.subarray(0, 64)));
  t.strictSame(segmentsIn(join(folder, 'p', 't')), []);
  t.strictSame(await keysOf(store), ['p/s/b']);
});

t.test('contents beside a segment say what lies there until it changes', async (t) => {
  const { folder, store, open } = await setUp(t);
  const [stream, then] = [join(folder, 'p', 's'), new Date(Math.floor(Date.now() / 1000) * 1000 - 2 * HOUR_MS)];
  const all = Array.from({ length: 30 }, (_, at) => `p/s/${String(at).padStart(2, '0')}`);
  for (const key of all) await put(store, key, bytesNamed(key, 300));
  const segment = onlySegment(stream);
  const contents = segment.replace('.seg', '.contents');
  const sweepLater = async () => {
    utimesSync(segment, then, then);
    t.equal(await store.sweepTemporary(HOUR_MS), 0);
    t.ok(existsSync(contents));
  };
  await store.sweepTemporary(HOUR_MS);
  t.notOk(existsSync(contents), 'while it may still grow');
  await sweepLater();

  // What they say counts for lists; what is read is looked at where it lies.
  const bytes = readFileSync(segment);
  writeFileSync(segment, Buffer.concat([bytes.subarray(0, 5), Buffer.from('Z'), bytes.subarray(6)]));
  utimesSync(segment, then, then);
  t.strictSame(await keysOf(await open()), all);
  t.equal(await (await open()).open(all[0] as string), null);
  writeFileSync(segment, bytes);
  t.equal(await (await open()).has(all[0] as string), true);

  await sweepLater();
  t.ok(await isRemoved(await open(), all[3] as string));
  const left = all.filter((_, at) => at !== 3);
  for (const one of [store, await open()]) t.strictSame(await keysOf(one), left);
  await sweepLater();
  await put(store, 'p/s/more', bytesNamed('more', 300));
  for (const one of [store, await open()]) t.strictSame(await keysOf(one), [...left, 'p/s/more']);
  await sweepLater();
  const damaged = readFileSync(contents);
  damaged.write('Z', 24 + 5);
  writeFileSync(contents, damaged);
  t.strictSame(await keysOf(await open()), [...left, 'p/s/more']);
  await sweepLater();
  const other = await open();
  for (const key of [...left, 'p/s/more']) t.ok(await isRemoved(other, key));
  t.strictSame(readdirSync(stream), []);
  writeFileSync(contents, damaged);
  await store.sweepTemporary(HOUR_MS);
  t.strictSame(readdirSync(stream), [], 'contents of nothing go');
});

t.test('H-023 nothing is acknowledged before it is on disk; who waits shares one sync', async (t) => {
  const syncs: { fd: number; end: () => void }[] = [];
  const { store } = await setUp(t, { disk: { sync: (fd) => new Promise((end) => syncs.push({ fd, end })) } });
  const acknowledged: number[] = [];
  const puts = Array.from({ length: 10 }, (_, at) =>
    put(store, `p/s/${at}`, bytesNamed(`${at}`, 2_000)).then(() => acknowledged.push(at)),
  );
  await until('the first sync is asked for', () => syncs.length === 1);
  // The others have been written by nobody yet, or wait; none is acknowledged.
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
  t.strictSame(acknowledged, []);
  t.equal(syncs.length, 1);
  syncs[0]?.end();
  await until('the second sync is asked for', () => syncs.length === 2);
  const first = acknowledged.length;
  t.ok(first >= 1 && first < 10, `${first} shared the first`);
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
  t.equal(acknowledged.length, first);
  syncs[1]?.end();
  await Promise.all(puts);
  t.equal(syncs.length, 2);
});

t.test('H-023 small blobs that are put together share one sync', async (t) => {
  let syncs = 0;
  const { store } = await setUp(t, {
    disk: {
      sync: (fd) => {
        syncs += 1;
        return DISK.sync(fd);
      },
    },
  });
  const blobs = Array.from({ length: 64 }, (_, index) => {
    const bytes = bytesNamed(`c${index}`, 1_000);
    return { key: `p/s/c${index}`, bytes, sha256_hex: expectationOf(bytes).sha256_hex };
  });
  await store.putAll(blobs);
  t.equal(syncs, 1);
});

t.test('a repeat adds nothing; one after long does, and the earlier is swept', async (t) => {
  let now_ms = Date.now();
  const { folder, store } = await setUp(t, { machineMs: () => now_ms });
  const bytes = bytesNamed('a', 30_000);
  const size = () => statSync(onlySegment(join(folder, 'p', 's'))).size;
  await put(store, 'p/s/a', bytes);
  const once_bytes = size();
  for (let at = 0; at < 50; at++) t.match(await put(store, 'p/s/a', bytes), { ok: true });
  t.equal(size(), once_bytes);
  await put(store, 'p/s/a', bytesNamed('other', 30_000));
  t.equal(size(), 2 * once_bytes, 'other bytes are not a repeat');
  t.ok(bytesNamed('other', 30_000).equals((await read(store, 'p/s/a')) as Buffer));
  now_ms += HOUR_MS;
  await put(store, 'p/s/a', bytes);
  t.equal(size(), 3 * once_bytes);
  t.equal(await store.removeOlder('p/s/a', HOUR_MS / 2), 'young', 'put again');
  t.equal(await store.sweepTemporary(HOUR_MS / 2), 2);
  t.ok(bytes.equals((await read(store, 'p/s/a')) as Buffer));
  await store.remove(['p/s/a']);
  t.strictSame(segmentsIn(join(folder, 'p', 's')), []);
});

t.test('a name that is a file and a record', async (t) => {
  const { folder, store, open } = await setUp(t);
  const [small, large] = [bytesNamed('small', 1_000), bytesNamed('large', 300_000)];
  const isRead = async (bytes: Buffer) => {
    for (const one of [store, await open()]) t.ok(bytes.equals((await read(one, 'p/s/a')) as Buffer), 'the last put');
    t.strictSame(await keysOf(store), ['p/s/a']);
  };
  await put(store, 'p/s/a', small);
  await put(store, 'p/s/a', large);
  await isRead(large);
  await put(store, 'p/s/a', small);
  await isRead(small);
  await put(store, 'p/s/a', large);
  t.ok(await isRemoved(store, 'p/s/a'));
  t.strictSame(await keysOf(store), []);
  t.strictSame(readdirSync(join(folder, 'p', 's')), []);
  // From before there were segments.
  mkdirSync(join(folder, 'p', 'old'));
  writeFileSync(join(folder, 'p', 'old', 'a'), large.subarray(0, 500));
  await put(store, 'p/old/a', small);
  t.ok(small.equals((await read(store, 'p/old/a')) as Buffer));
});

t.test('many records are erased at once, also where another store was faster with one of them', async (t) => {
  const { folder, store, open } = await setUp(t);
  const other = await open();
  const all = Array.from({ length: 8 }, (_, at) => `p/s/${at}`);
  const bytesOf = (key: string) => bytesNamed(key, 10_000);
  for (const key of all) await put(store, key, bytesOf(key));
  await other.remove(['p/s/3']);
  await store.remove(all.slice(1, 6));
  const content = readFileSync(onlySegment(join(folder, 'p', 's')));
  for (const key of all)
    t.equal(content.includes(bytesOf(key).subarray(0, 64)), ['p/s/0', 'p/s/6', 'p/s/7'].includes(key), key);
  for (const one of [store, other, await open()]) {
    t.strictSame((await keysOf(one)).sort(), ['p/s/0', 'p/s/6', 'p/s/7']);
    for (const key of await keysOf(one)) t.ok(bytesOf(key).equals((await read(one, key)) as Buffer));
  }
  await store.remove(all);
  t.strictSame(segmentsIn(join(folder, 'p', 's')), []);
});

t.test('a segment that is large enough is followed by another', async (t) => {
  const { folder, store } = await setUp(t, { segment_bytes_max: 100_000 });
  for (let at = 0; at < 20; at++) await put(store, `p/s/${at}`, bytesNamed(`${at}`, 20_000));
  t.equal(segmentsIn(join(folder, 'p', 's')).length, 4);
  for (let at = 0; at < 20; at++) t.ok(bytesNamed(`${at}`, 20_000).equals((await read(store, `p/s/${at}`)) as Buffer));
});

t.test('of many streams few files are open, and each goes on in its own', async (t) => {
  const { folder, store } = await setUp(t, { open_files_max: 3 });
  const streams = Array.from({ length: 12 }, (_, at) => `p/s${at}`);
  const segmentOf = (fd: string) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return ''; // the one of the listing
    }
  };
  const openOnes = () =>
    readdirSync('/proc/self/fd').filter((fd) => isSegment(segmentOf(fd)) && segmentOf(fd).startsWith(folder)).length;
  for (const name of ['a', 'b', 'c']) {
    await Promise.all(streams.map((stream) => put(store, `${stream}/${name}`, bytesNamed(name, 1_000))));
    if (process.platform === 'linux') await until('the others are closed', () => openOnes() <= 3);
  }
  for (const stream of streams) {
    onlySegment(join(folder, stream));
    for (const name of ['a', 'b', 'c'])
      t.ok(bytesNamed(name, 1_000).equals((await read(store, `${stream}/${name}`)) as Buffer));
  }
});

t.test('what is on its way into a segment that goes meanwhile is written again', async (t) => {
  let held: (() => void) | null = null;
  let is_holding = false;
  const { store, open } = await setUp(t, {
    disk: {
      async write(fd, parts, at) {
        if (is_holding) await new Promise<void>((go) => (held = go));
        return DISK.write(fd, parts, at);
      },
    },
  });
  const other = await open({ disk: {} });
  await put(store, 'p/s/a', bytesNamed('a', 500));
  is_holding = true;
  const late = put(store, 'p/s/b', bytesNamed('b', 500));
  await until('it is about to be written', () => held !== null);
  is_holding = false;
  t.ok(await isRemoved(other, 'p/s/a'));
  (held as unknown as () => void)();
  t.match(await late, { ok: true });
  for (const one of [store, other, await open()]) t.strictSame(await keysOf(one), ['p/s/b']);
});

t.test('H-023 a disk that is full or broken acknowledges nothing, and harms nothing that lies there', async (t) => {
  let trouble: 'none' | 'short' | 'write' | 'sync' = 'none';
  const fail = (code: string) => Promise.reject(Object.assign(new Error(code), { code }));
  let wrote_short = false;
  const { folder, store, open } = await setUp(t, {
    disk: {
      write(fd, parts, at) {
        if (trouble === 'write' || (trouble === 'short' && wrote_short)) return fail('ENOSPC');
        if (trouble !== 'short') return DISK.write(fd, parts, at);
        wrote_short = true;
        return DISK.write(fd, [(parts[0] as Buffer).subarray(0, 100)], at);
      },
      sync: (fd) => (trouble === 'sync' ? fail('EIO') : DISK.sync(fd)),
    },
  });
  const rows = [
    ['short', 'ENOSPC'],
    ['write', 'ENOSPC'],
    ['sync', 'EIO'],
  ] as const;
  for (const stream of ['fresh', 'used']) {
    for (const [kind, code] of rows) {
      const key = (name: string) => `p/${stream}-${kind}/${name}`;
      const kept: string[] = [];
      if (stream === 'used') {
        await put(store, key('before'), bytesNamed('before', 2_000));
        kept.push(key('before'));
      }
      trouble = kind;
      for (let tries = 0; tries < 3; tries++) {
        wrote_short = false;
        const puts = ['a', 'b', 'c'].map((name) => put(store, key(name), bytesNamed(name, 2_000)));
        for (const one of puts) await t.rejects(one, { code });
      }
      trouble = 'none';
      t.strictSame(await keysOf(await open(), `p/${stream}-${kind}`), kept);
      t.equal(segmentsIn(join(folder, `p/${stream}-${kind}`)).length, kept.length, 'no litter');
      for (const name of ['a', 'b', 'c']) t.match(await put(store, key(name), bytesNamed(name, 2_000)), { ok: true });
      const reopened = await open();
      for (const name of [...(stream === 'used' ? ['before'] : []), 'a', 'b', 'c'])
        t.ok(bytesNamed(name, 2_000).equals((await read(reopened, key(name))) as Buffer), key(name));
    }
  }
});

t.test('200 puts at once beside removals, by two stores on one folder', async (t) => {
  const { folder, store, open } = await setUp(t, { segment_bytes_max: 300_000 });
  const other = await open();
  const [stays, goes, both] = [0, 1, 2].map((group) =>
    Array.from({ length: 67 }, (_, at) => `p/s${at % 3}/${group}-${at}`),
  ) as [string[], string[], string[]];
  const bytesOf = (key: string) => bytesNamed(key, 100 + ((key.length * 7_919 + Number(key.slice(7)) * 997) % 60_000));
  await Promise.all(goes.map((key, at) => put(at % 2 ? store : other, key, bytesOf(key))));
  const ends = new Set<string>();
  await Promise.all([
    ...stays.map((key, at) => put(at % 2 ? store : other, key, bytesOf(key)).then(({ ok }) => t.ok(ok))),
    ...goes.map((key, at) => (at % 3 ? store : other).remove([key])),
    ...both.map(async (key, at) => {
      await put(at % 2 ? store : other, key, bytesOf(key));
      await (at % 2 ? other : store).remove([key]);
      if (at % 3 === 0) {
        await put(store, key, bytesOf(key));
        ends.add(key);
      }
    }),
  ]);
  const wanted = [...stays, ...ends].sort();
  for (const one of [store, other, await open()]) {
    const hashes = await hashesOf(one);
    t.strictSame([...hashes.keys()].sort(), wanted);
    for (const key of wanted) t.equal(hashes.get(key), expectationOf(bytesOf(key)).sha256_hex);
  }
  for (const key of wanted) t.ok(await isRemoved(key.length % 2 ? store : other, key));
  for (const stream of ['s0', 's1', 's2']) t.strictSame(segmentsIn(join(folder, 'p', stream)), []);
});

t.test('who empties a segment beside somebody who appends to it loses nothing of theirs', async (t) => {
  const { store, open } = await setUp(t);
  const other = await open();
  for (let round = 0; round < 60; round++) {
    await put(store, 'p/s/x', bytesNamed(`x${round}`, 500));
    // The only record of the segment goes while the next is on its way into it.
    const [, kept] = await Promise.all([
      other.remove(['p/s/x']),
      put(store, `p/s/${round}`, bytesNamed(`${round}`, 500)),
    ]);
    t.ok(kept.ok);
    for (const one of [store, other])
      if (!bytesNamed(`${round}`, 500).equals((await read(one, `p/s/${round}`)) ?? Buffer.of())) t.fail(`${round}`);
  }
  t.equal((await keysOf(await open())).length, 60);
});

t.test('puts beside the removal of their stream and partition are kept or gone, never half', async (t) => {
  const { store, open } = await setUp(t);
  const other = await open();
  for (let round = 0; round < 10; round++) {
    const puts = Array.from({ length: 20 }, (_, at) =>
      put(at % 2 ? store : other, `p/s/${at}`, bytesNamed(`${at}`, 3_000)).catch(() => null),
    );
    await store.removeFolder(round % 2 ? 'p' : 'p/s');
    await Promise.all(puts);
    for (const [key, sha256] of await hashesOf(other)) {
      if (sha256 !== expectationOf(bytesNamed(key.slice(4), 3_000)).sha256_hex) t.fail(key);
    }
    await store.removeFolder('p/s');
    t.strictSame(await keysOf(other), []);
    t.ok((await put(store, 'p/s/after', bytesNamed('after', 10))).ok);
    t.ok((await put(other, 'p/s/after2', bytesNamed('after', 10))).ok);
    t.strictSame(await keysOf(store), ['p/s/after', 'p/s/after2']);
  }
});

type Said = { key?: string; failed?: string };

function listen(child: ChildProcess) {
  const acknowledged: string[] = [];
  const failed: string[] = [];
  child.on('message', ({ key, failed: code }: Said) => {
    if (key !== undefined) acknowledged.push(key);
    else failed.push(code as string);
  });
  return { acknowledged, failed };
}

/** All blobs are whole, and those that were acknowledged are there. Names end in how many bytes they have. */
async function areThere(t: Test, folder: string, acknowledged: string[]): Promise<void> {
  const store = await openFolderBlobStore(folder);
  const hashes = await hashesOf(store);
  const hashOf = (key: string) => expectationOf(bytesNamed(key, Number(/^.*-(\d+)-\d+$/.exec(key)?.[1]))).sha256_hex;
  t.strictSame(
    acknowledged.filter((key) => !hashes.has(key)),
    [],
    'what was acknowledged is there',
  );
  t.strictSame(
    [...hashes].filter(([key, sha256]) => sha256 !== hashOf(key)),
    [],
    'and nothing that is not whole',
  );
  for (const key of acknowledged.slice(-5)) t.ok(await store.has(key));
}

t.test('H-023 two processes on one folder, killed in the middle, lose nothing that was acknowledged', async (t) => {
  const folder = tempFolder(t);
  const sizes = [3_000, 60_000];
  const children = sizes.map((size) => fork(PUTTING, [folder, `by-${size}`, String(size)], { execArgv: [] }));
  const heard = children.map(listen);
  await until('both have put some', () => heard.every((one) => one.acknowledged.length > 40));
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(children.map((child) => once(child, 'close')));
  await areThere(
    t,
    folder,
    heard.flatMap((one) => one.acknowledged),
  );
});

function askedProcess(t: Test, folder: string) {
  const child = fork(ASKED, [folder], { execArgv: [] });
  t.teardown(() => child.kill('SIGKILL'));
  let asked = 0;
  const ask = async (question: BlobQuestion): Promise<unknown> => {
    const number = asked++;
    child.send({ number, question });
    for (;;) {
      const [said] = (await once(child, 'message')) as [{ number: number; answer: unknown }];
      if (said.number === number) return said.answer;
    }
  };
  return {
    put: (key: string, bytes = 3_000) => ask({ ask: 'put', key, bytes }),
    read: (key: string) => ask({ ask: 'read', key }),
    remove: (key: string) => ask({ ask: 'remove', key }),
    sweep: (older_than_ms: number) => ask({ ask: 'sweep', older_than_ms }),
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}

t.test('H-023 processes read, remove and sweep what another appended, also after it was killed', async (t) => {
  const folder = tempFolder(t);
  const one = askedProcess(t, folder);
  const two = askedProcess(t, folder);
  const hashOf = (key: string, bytes = 3_000) => expectationOf(bytesNamed(key, bytes)).sha256_hex;
  const large = 400_000;
  t.ok((await one.put('p/s/a')) && (await one.put('p/s/b')) && (await one.put('p/s/large', large)));
  t.equal(await two.read('p/s/a'), hashOf('p/s/a'), 'found without having been told');
  t.ok(await one.put('p/s/c'));
  t.equal(await two.read('p/s/c'), hashOf('p/s/c'), 'and what was appended since');
  t.equal(await two.read('p/s/large'), hashOf('p/s/large', large));
  t.equal(await two.remove('p/s/a'), true);
  t.equal(await one.read('p/s/a'), null, 'removed for whoever put it');
  t.equal(await two.remove('p/s/b'), true);
  t.equal(await two.remove('p/s/c'), true);
  t.ok(await one.put('p/s/d'), 'whose segment was emptied beside it');
  t.equal(await two.read('p/s/d'), hashOf('p/s/d'));
  const sweeping = two.sweep(0);
  t.ok(await one.put('p/s/e'));
  await sweeping;
  for (const key of ['p/s/d', 'p/s/e']) t.equal(await two.read(key), hashOf(key), 'a sweep takes nothing that lives');

  await one.kill();
  const next = askedProcess(t, folder);
  t.ok(await next.put('p/s/f'));
  for (const key of ['p/s/d', 'p/s/e']) t.equal(await next.read(key), hashOf(key), 'what the killed one left');
  t.equal(await two.read('p/s/f'), hashOf('p/s/f'));
  for (const key of ['p/s/d', 'p/s/e', 'p/s/large']) t.equal(await next.remove(key), true);
  await two.sweep(0);
  t.equal(await two.read('p/s/f'), hashOf('p/s/f'));
  t.equal(segmentsIn(join(folder, 'p', 's')).length, 1, "the killed one's segments are gone");
});

t.test('H-023 a file that can grow no more, for real', async (t) => {
  const folder = tempFolder(t);
  // Files may be of 200 KB; a write beyond that is short, the next fails.
  const shell = 'trap "" XFSZ; ulimit -f 200; exec "$@"';
  const child = spawn('bash', ['-c', shell, 'bash', process.execPath, PUTTING, folder, 'full-30000', '30000'], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const heard = listen(child);
  await until('some have failed', () => heard.failed.length > 20 && heard.acknowledged.length > 20);
  child.kill('SIGKILL');
  await once(child, 'close');
  t.strictSame([...new Set(heard.failed)], ['EFBIG']);
  await areThere(t, folder, heard.acknowledged);
});
