import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import type { AppendedClaims, BlobStore } from '../../../src/engine/blobs/blob_store.js';
import { DISK } from '../../../src/engine/blobs/disk.js';
import { type FolderBlobStoreOptions, openFolderBlobStore } from '../../../src/engine/blobs/folder_blob_store.js';
import { encodeHeader, RECORD_HEADER_BYTES } from '../../../src/engine/blobs/segment_record.js';
import { SEGMENT_HEAD_BYTES } from '../../../src/engine/blobs/segment_scan.js';
import { tempFolder } from '../../fixtures/temp_folder.js';
import { until } from '../../fixtures/until.js';
import { appendAll, chunkOf, expectationOf } from './blob_store_contract.js';
import type { BlobQuestion } from './blob_store_process.js';
import { ageRecords, bytesNamed, hashesOf, segmentsIn } from './segments.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const OTHER_STREAM = '01970000-0000-7000-8000-0000000000b6';
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

async function append(store: BlobStore, bytes: Buffer): Promise<string> {
  const [key] = await appendAll(store, [chunkOf(bytes)]);
  return key as string;
}

async function read(store: BlobStore, key: string): Promise<Buffer | null> {
  const blob = await store.open(key);
  return blob === null ? null : buffer(blob.stream);
}

const holds = async (store: BlobStore, key: string, bytes: Buffer) => (await read(store, key))?.equals(bytes) ?? false;

function onlySegment(folder: string): string {
  const [segment, ...others] = segmentsIn(folder);
  if (segment === undefined || others.length > 0) throw new Error(`${others.length + 1} segments`);
  return segment;
}

/** Claims the places of these keys. */
const claimsOf =
  (keys: readonly string[]): AppendedClaims =>
  async (_, appended) =>
    appended.map(({ place }) => keys.some((key) => key.includes(`/${place}-`)));

async function sweep(store: BlobStore, claimed: readonly string[], older_than_ms = HOUR_MS): Promise<number> {
  let removed = 0;
  for await (const count of store.sweepAppended(older_than_ms, claimsOf(claimed))) removed += count;
  return removed;
}

/** Stores that erase in one segment at the same moment may leave an empty one to the sweep. */
async function settle(folder: string, store: BlobStore): Promise<void> {
  for (const segment of segmentsIn(folder)) {
    ageRecords(segment, 2 * HOUR_MS);
    utimesSync(segment, new Date(Date.now() - 2 * HOUR_MS), new Date(Date.now() - 2 * HOUR_MS));
  }
  await sweep(store, []);
}

t.test('H-023 a segment cut at any byte holds what was whole, and nothing is appended to it', async (t) => {
  const { folder, store, open } = await setUp(t);
  const all = ['a', 'b', 'c'].map((name) => bytesNamed(name, 20));
  const keys: string[] = [];
  for (const bytes of all) keys.push(await append(store, bytes));
  const segment = onlySegment(folder);
  const whole = readFileSync(segment);
  const step = RECORD_HEADER_BYTES + 20;
  t.equal(whole.length, SEGMENT_HEAD_BYTES + 3 * step);
  const wrong: string[] = [];
  for (let cut = 0; cut <= whole.length; cut++) {
    writeFileSync(segment, whole.subarray(0, cut));
    const kept = Math.max(0, Math.floor((cut - SEGMENT_HEAD_BYTES) / step));
    const reader = await open();
    for (const [at, key] of keys.entries()) {
      const found = await read(reader, key);
      if (at < kept ? !found?.equals(all[at] as Buffer) : found !== null) wrong.push(`${at} at ${cut}`);
      if ((await reader.has(key)) !== at < kept) wrong.push(`has ${at} at ${cut}`);
    }
  }
  t.strictSame(wrong, []);
  writeFileSync(segment, whole.subarray(0, -7));
  const next = await open();
  const key = await append(next, all[2] as Buffer);
  t.ok(await holds(next, key, all[2] as Buffer));
  t.equal(segmentsIn(folder).length, 2);
  ageRecords(segment, 2 * HOUR_MS);
  t.equal(await sweep(next, keys.slice(0, 1)), 1, 'the sweep passes over what a crash cut off');
});

t.test('bytes that look like records are none, and a place is of its stream alone', async (t) => {
  const { folder, store, open } = await setUp(t);
  const forged = encodeHeader({
    ...chunkOf(Buffer.alloc(0)),
    at_ms: 0,
    size_bytes: 10,
    is_erased: false,
  });
  const bytes = Buffer.concat(Array.from({ length: 20 }, () => [forged, Buffer.alloc(10)]).flat());
  const keys = [await append(store, bytes), await append(store, bytes)];
  ageRecords(onlySegment(folder), 2 * HOUR_MS);
  t.equal(await sweep(await open(), keys), 0);
  for (const key of keys) t.ok(await holds(store, key, bytes));
  t.equal(await store.open((keys[0] as string).replace(/a5\/.*?a5\//, `b6/${OTHER_STREAM}/`)), null);
  t.equal(await store.open((keys[0] as string).replace(/-\d+$/, '-10')), null, 'and of its size');
});

t.test('a damaged header is said, its segment is kept, and what can be read of it is', async (t) => {
  const said: Record<string, unknown>[] = [];
  const { folder, store, open } = await setUp(t, { warn: (details) => said.push(details) });
  const all = ['a', 'b', 'c'].map((name) => bytesNamed(name, 1_000));
  const keys: string[] = [];
  for (const bytes of all) keys.push(await append(store, bytes));
  ageRecords(onlySegment(folder), 2 * HOUR_MS);
  const segment = onlySegment(folder);
  const content = readFileSync(segment);
  const second = SEGMENT_HEAD_BYTES + RECORD_HEADER_BYTES + 1_000;
  content.writeUInt8(content.readUInt8(second + 30) ^ 1, second + 30);
  writeFileSync(segment, content);
  const other = await open();
  t.strictSame(await Promise.all(keys.map((key, at) => holds(other, key, all[at] as Buffer))), [true, false, true]);
  t.equal(await sweep(other, []), 1, 'what lies behind the damage is not seen');
  t.match(said, [{ segment: basename(segment, '.seg'), damaged_at: second }]);
  await other.remove(keys);
  t.notOk(readFileSync(segment).includes((all[2] as Buffer).subarray(0, 64)), 'what is removed is overwritten');
});

t.test('what is removed is not on the disk any more, and its segment goes with its last', async (t) => {
  const { folder, store, open } = await setUp(t);
  const [a, b] = ['a', 'b'].map((name) => bytesNamed(name, 20_000)) as [Buffer, Buffer];
  const keys = [await append(store, a), await append(store, b)] as [string, string];
  await store.remove([keys[0]]);
  t.equal(await store.open(keys[0]), null);
  const left = readFileSync(onlySegment(folder));
  t.equal(left.indexOf(a.subarray(0, 64)), -1);
  t.ok(left.indexOf(b) > 0);
  const other = await open();
  await other.remove([keys[1]]);
  t.strictSame(segmentsIn(folder), []);
  // The first one still has the removed segment open.
  const key = await append(store, b);
  for (const one of [store, other]) t.ok(await holds(one, key, b));
  await store.remove([key]);
  t.strictSame(segmentsIn(folder), [], 'its own open one as well');
  t.ok(await holds(store, await append(store, a), a));
});

t.test('a removal of a segment that was cut off is finished', async (t) => {
  const { folder, store, open } = await setUp(t);
  const bytes = bytesNamed('a', 5_000);
  const key = await append(store, bytes);
  const segment = onlySegment(folder);
  renameSync(segment, segment.replace('.seg', '.gone'));
  const other = await open();
  t.equal(await other.open(key), null);
  t.equal(await sweep(other, [key]), 0);
  t.ok(await holds(other, key, bytes), 'what still lives in it is found again');
  mkdirSync(join(folder, 'segments'), { recursive: true });
  const empty = join(folder, 'segments', '0mbc123450abcdefg.seg');
  writeFileSync(empty, '');
  t.equal(await sweep(other, [key]), 0);
  t.equal(segmentsIn(folder).length, 2, 'somebody may be about to write to it');
  utimesSync(empty, new Date(Date.now() - 2 * HOUR_MS), new Date(Date.now() - 2 * HOUR_MS));
  await sweep(other, [key]);
  t.strictSame(segmentsIn(folder), [segment]);
});

t.test('bytes that nobody claims are erased once they are old, and a segment is checked once a month', async (t) => {
  let now_ms = Date.now();
  const { store, open } = await setUp(t, { machineMs: () => now_ms });
  const keys: string[] = [];
  for (const name of ['a', 'b', 'c']) keys.push(await append(store, bytesNamed(name, 1_000)));
  const other = await open();
  const left = async () => [...(await hashesOf(other, keys)).keys()].map((key) => keys.indexOf(key));
  t.equal(await sweep(other, []), 0, 'too young');
  now_ms += 2 * HOUR_MS;
  t.equal(await sweep(other, keys.slice(1)), 1);
  t.strictSame(await left(), [1, 2]);
  t.equal(await sweep(other, keys.slice(1)), 0);
  t.equal(await sweep(other, []), 0, 'checked');
  now_ms += 31 * DAY_MS;
  t.equal(await sweep(other, keys.slice(2)), 1);
  t.strictSame(await left(), [2]);
});

t.test('H-023 nothing is acknowledged before it is on disk; who waits shares one sync', async (t) => {
  const syncs: { fd: number; end: () => void }[] = [];
  const { store } = await setUp(t, { disk: { sync: (fd) => new Promise((end) => syncs.push({ fd, end })) } });
  const acknowledged: number[] = [];
  const appends = Array.from({ length: 10 }, (_, at) =>
    append(store, bytesNamed(`${at}`, 2_000)).then(() => acknowledged.push(at)),
  );
  await until('the first sync is asked for', () => syncs.length === 1);
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
  await Promise.all(appends);
  t.equal(syncs.length, 2);
});

t.test('H-023 chunks that are appended together share one sync', async (t) => {
  let syncs = 0;
  const { store } = await setUp(t, {
    disk: {
      sync: (fd) => {
        syncs += 1;
        return DISK.sync(fd);
      },
    },
  });
  await store.append(Array.from({ length: 64 }, (_, index) => chunkOf(bytesNamed(`c${index}`, 1_000))));
  t.equal(syncs, 1);
});

t.test('a segment that is large or old enough is followed by another', async (t) => {
  let now_ms = Date.now();
  const { folder, store } = await setUp(t, { segment_bytes_max: 100_000, machineMs: () => now_ms });
  const keys: string[] = [];
  for (let at = 0; at < 20; at++) keys.push(await append(store, bytesNamed(`${at}`, 20_000)));
  t.equal(segmentsIn(folder).length, 4);
  for (const [at, key] of keys.entries()) t.ok(await holds(store, key, bytesNamed(`${at}`, 20_000)));
  await append(store, bytesNamed('young', 10));
  t.equal(segmentsIn(folder).length, 5);
  now_ms += HOUR_MS;
  await append(store, bytesNamed('old', 10));
  t.equal(segmentsIn(folder).length, 6);
});

t.test('of a segment that is mostly erased the rest stays where it is, and the disk gets its room back', async (t) => {
  const { folder, store, open } = await setUp(t);
  const all = Array.from({ length: 64 }, (_, at) => bytesNamed(`${at}`, 100_000));
  const keys = await appendAll(
    store,
    all.map((bytes) => chunkOf(bytes)),
  );
  const roomOf = () => statSync(onlySegment(folder)).blocks * 512;
  const before = roomOf();
  const stays = [3, 4, 40];
  const other = await open();
  await other.remove(keys.filter((_, at) => !stays.includes(at)));
  t.ok(roomOf() < before / 4, `${roomOf()} of ${before} bytes`);
  for (const one of [store, other, await open()]) {
    for (const [at, key] of keys.entries())
      t.equal(await holds(one, key, all[at] as Buffer), stays.includes(at), String(at));
  }
  const late = await append(store, bytesNamed('late', 500));
  t.ok(await holds(other, late, bytesNamed('late', 500)), 'who appends goes on elsewhere');
  await store.remove(stays.map((at) => keys[at] as string));
  t.equal(segmentsIn(folder).length, 1);
});

for (const who of ['another store', 'the same store'])
  t.test(`what is on its way into a segment that ${who} empties meanwhile is written again`, async (t) => {
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
    const key = await append(store, bytesNamed('a', 500));
    is_holding = true;
    const late = append(store, bytesNamed('b', 500));
    await until('it is about to be written', () => held !== null);
    is_holding = false;
    await (who === 'the same store' ? store : other).remove([key]);
    (held as unknown as () => void)();
    for (const one of [store, other, await open()]) t.ok(await holds(one, await late, bytesNamed('b', 500)));
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
  const kept: string[] = [];
  for (const is_used of [false, true]) {
    for (const [kind, code] of rows) {
      if (is_used) kept.push(await append(store, bytesNamed('kept', 2_000)));
      const segments = segmentsIn(folder).length;
      trouble = kind;
      for (let tries = 0; tries < 3; tries++) {
        wrote_short = false;
        const appends = ['a', 'b', 'c'].map((name) => append(store, bytesNamed(name, 2_000)));
        for (const one of appends) await t.rejects(one, { code });
      }
      trouble = 'none';
      t.equal(segmentsIn(folder).length, segments, 'no litter');
      kept.push(await append(store, bytesNamed('kept', 2_000)));
      const reopened = await open();
      for (const key of kept) t.ok(await holds(reopened, key, bytesNamed('kept', 2_000)), key);
    }
  }
  for (const segment of segmentsIn(folder)) ageRecords(segment, 2 * HOUR_MS);
  t.equal(await sweep(await open(), kept), 0, 'and leaves nothing behind');
});

t.test('200 appends at once beside removals, by two stores on one folder', async (t) => {
  const { folder, store, open } = await setUp(t, { segment_bytes_max: 300_000 });
  const other = await open();
  const bytesOf = (at: number) => bytesNamed(`${at}`, 100 + ((at * 7_919) % 60_000));
  const goes = await Promise.all(Array.from({ length: 67 }, (_, at) => append(at % 2 ? store : other, bytesOf(at))));
  const stays = new Map<string, number>();
  await Promise.all([
    ...Array.from({ length: 67 }, async (_, at) => stays.set(await append(at % 2 ? store : other, bytesOf(at)), at)),
    ...goes.map((key, at) => (at % 3 ? store : other).remove([key])),
    ...Array.from({ length: 67 }, async (_, at) => {
      const key = await append(at % 2 ? store : other, bytesOf(at));
      await (at % 2 ? other : store).remove([key]);
      if (at % 3 === 0) stays.set(await append(store, bytesOf(at)), at);
    }),
  ]);
  for (const one of [store, other, await open()]) {
    for (const [key, at] of stays) if (!(await holds(one, key, bytesOf(at)))) t.fail(key);
    for (const key of goes) if ((await one.open(key)) !== null) t.fail(`${key} is there`);
  }
  await Promise.all([...stays.keys()].map((key, at) => (at % 2 ? store : other).remove([key])));
  await settle(folder, store);
  t.strictSame(segmentsIn(folder), []);
});

t.test(
  'who empties a segment, or writes it anew, beside somebody who appends to it loses nothing of theirs',
  async (t) => {
    for (const size of [500, 1_500_000]) {
      const { store, open } = await setUp(t);
      const other = await open();
      const kept: string[] = [];
      for (let round = 0; round < (size === 500 ? 60 : 15); round++) {
        const going = await append(store, bytesNamed(`x${round}`, size));
        // The only record of the segment goes, or most of it, while the next is on its way into it.
        const [, key] = await Promise.all([
          other.remove([going]),
          append(store, bytesNamed(`${round}`, 500)),
          other.remove([going]),
        ]);
        kept.push(key);
      }
      for (const one of [store, other, await open()])
        for (const [round, key] of kept.entries())
          if (!(await holds(one, key, bytesNamed(`${round}`, 500)))) t.fail(`${round}`);
    }
  },
);

t.test('what two stores erase in one segment is gone, also while one of them writes it anew', async (t) => {
  const { folder, store, open } = await setUp(t);
  const other = await open();
  for (let round = 0; round < 8; round++) {
    const all = Array.from({ length: 40 }, (_, at) => bytesNamed(`${round} ${at}`, 120_000));
    const keys = await appendAll(
      store,
      all.map((bytes) => chunkOf(bytes)),
    );
    const goes = keys.slice(0, 38);
    await Promise.all(goes.map((key, at) => (at % 2 ? store : other).remove([key])));
    const content = Buffer.concat(segmentsIn(folder).map((segment) => readFileSync(segment)));
    for (const [at, bytes] of all.entries())
      if (content.includes(bytes.subarray(0, 64)) !== at >= 38) t.fail(`${round}: ${at}`);
    for (const at of [38, 39]) t.ok(await holds(other, keys[at] as string, all[at] as Buffer));
    await store.remove(keys.slice(38));
  }
  await settle(folder, store);
  t.strictSame(segmentsIn(folder), []);
});

type Said = { key?: string; name?: string; size?: number; failed?: string };
type Acknowledged = { key: string; name: string; size: number };

function listen(child: ChildProcess) {
  const acknowledged: Acknowledged[] = [];
  const failed: string[] = [];
  child.on('message', ({ key, name = '', size = 0, failed: code }: Said) => {
    if (key !== undefined) acknowledged.push({ key, name, size });
    else failed.push(code as string);
  });
  return { acknowledged, failed };
}

/** What was acknowledged is there, whole. */
async function areThere(t: Test, folder: string, acknowledged: readonly Acknowledged[]): Promise<void> {
  const store = await openFolderBlobStore(folder);
  const wrong: string[] = [];
  for (const { key, name, size } of acknowledged)
    if (!(await holds(store, key, bytesNamed(name, size)))) wrong.push(name);
  t.strictSame(wrong, []);
  for (const segment of segmentsIn(folder)) ageRecords(segment, 2 * HOUR_MS);
  await sweep(
    store,
    acknowledged.map(({ key }) => key),
  );
  for (const { key } of acknowledged.slice(-5)) t.ok(await store.has(key), 'also after a sweep');
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
    append: async (name: string, bytes = 3_000) => (await ask({ ask: 'append', name, bytes })) as string,
    read: (key: string) => ask({ ask: 'read', key }),
    remove: (key: string) => ask({ ask: 'remove', key }),
    sweep: (older_than_ms: number, claimed: string[]) => ask({ ask: 'sweep', older_than_ms, claimed }),
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
  const hashOf = (name: string) => expectationOf(bytesNamed(name, 3_000)).sha256_hex;
  const [a, b] = [await one.append('a'), await one.append('b')];
  t.equal(await two.read(a), hashOf('a'));
  await two.remove(a);
  t.equal(await one.read(a), null, 'removed for whoever appended it');
  await two.remove(b);
  const d = await one.append('d');
  t.equal(await two.read(d), hashOf('d'), 'whose segment was emptied beside it');
  const sweeping = two.sweep(0, [d]);
  const e = await one.append('e');
  await sweeping;
  t.equal(await two.read(d), hashOf('d'), 'a sweep takes nothing that is claimed');

  await one.kill();
  const next = askedProcess(t, folder);
  const f = await next.append('f');
  t.equal(await next.read(d), hashOf('d'), 'what the killed one left');
  t.equal(await two.read(f), hashOf('f'));
  for (const key of [d, e]) await next.remove(key);
  t.equal(await two.read(f), hashOf('f'));
  t.equal(segmentsIn(folder).length, 1, "the killed one's segments are gone");
});

t.test('H-023 a file that can grow no more, for real', async (t) => {
  const folder = tempFolder(t);
  // Files may be of 200 KB; a write beyond that is short, the next fails.
  const shell = 'trap "" XFSZ; ulimit -f 200; exec "$@"';
  const child = spawn('bash', ['-c', shell, 'bash', process.execPath, PUTTING, folder, 'full', '30000'], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const heard = listen(child);
  await until('some have failed', () => heard.failed.length > 20 && heard.acknowledged.length > 20);
  child.kill('SIGKILL');
  await once(child, 'close');
  t.strictSame([...new Set(heard.failed)], ['EFBIG']);
  await areThere(t, folder, heard.acknowledged);
});
