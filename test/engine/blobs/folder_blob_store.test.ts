import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import t, { type Test } from 'tap';
import type { PutResult } from '../../../src/engine/blobs/blob_store.js';
import { openFolderBlobStore } from '../../../src/engine/blobs/folder_blob_store.js';
import { tempFolder } from '../../fixtures/temp_folder.js';
import { until } from '../../fixtures/until.js';
import { blobStoreContract, expectationOf, streamOf } from './blob_store_contract.js';

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

async function setUp(t: Test, machineMs?: () => number) {
  const folder = path.join(tempFolder(t), 'deep', 'blobs');
  const store = await openFolderBlobStore(folder, machineMs === undefined ? {} : { machineMs });
  return {
    folder,
    store,
    leftovers: async () => (await filesOf(folder)).filter((name) => !/^[A-Za-z0-9_-]+(\.seg)?$/.test(name)),
  };
}

t.test('a folder is a blob store', async (t) => blobStoreContract(t, setUp));

t.test('H-023 what a crash left behind is swept, what is being written is not', async (t) => {
  let now_ms = Date.now();
  const { folder, store, leftovers } = await setUp(t, () => now_ms);
  const bytes = randomBytes(2_000_000);
  await store.put('p/s/whole', streamOf(bytes), expectationOf(bytes));
  await writeFile(path.join(folder, 'p', 's', '.0197-left.tmp'), 'half');
  await mkdir(path.join(folder, 'p', 's2'));
  await writeFile(path.join(folder, 'p', 's2', '.0198-left.tmp'), 'half');
  for (const left of ['s/.0197-left.tmp', 's2/.0198-left.tmp']) {
    await utimes(path.join(folder, 'p', left), new Date(now_ms - 7_200_000), new Date(now_ms - 7_200_000));
  }
  const stream = new PassThrough();
  const put = store.put('p/s/slow', stream, expectationOf(bytes));
  for (const at of [0, 500_000]) {
    stream.write(bytes.subarray(at, at + 500_000));
    await until('it is taken', () => stream.readableLength === 0);
  }
  const deadline_ms = performance.now() + 10_000;
  while ((await leftovers()).length < 3) {
    if (performance.now() > deadline_ms) throw new Error('the slow put has not begun to write');
  }
  t.equal(await store.sweepTemporary(3 * 3_600_000), 0, 'too young');
  t.equal(await store.sweepTemporary(3_600_000), 2);
  stream.end(bytes.subarray(1_000_000));
  t.match(await put, { ok: true });
  now_ms += 86_400_000;
  t.equal(await store.sweepTemporary(3_600_000), 0);
  t.strictSame((await filesOf(folder)).sort(), ['slow', 'whole']);
});

t.test('leftovers and foreign files are no blobs', async (t) => {
  const { folder, store } = await setUp(t);
  await mkdir(path.join(folder, 'p', 's', 'deeper'), { recursive: true });
  for (const file of ['x', 'p/x', 'p/s/.a.tmp', 'p/s/a.txt', 'p/s/deeper/x'])
    await writeFile(path.join(folder, file), 'x');
  for await (const key of store.list()) t.fail(key);
  t.equal(await store.has('p/s/deeper'), false);
  t.equal(await store.open('x/y/z'), null);
});

t.test('a folder that somebody else removes is made again', async (t) => {
  const { folder, store } = await setUp(t);
  const bytes = randomBytes(100);
  const put = () => store.put('p/s/c', streamOf(bytes), expectationOf(bytes));
  await put();
  for (const removed of [['p', 's'], ['p']]) {
    await rm(path.join(folder, ...removed), { recursive: true });
    t.equal(await store.has('p/s/c'), false);
    t.match(await put(), { ok: true });
    t.equal(await store.has('p/s/c'), true);
  }
});

t.test('only the owner can read what lies there', async (t) => {
  const { folder, store } = await setUp(t);
  const bytes = randomBytes(100);
  const large = randomBytes(300_000);
  await store.put('p/s/c', streamOf(bytes), expectationOf(bytes));
  await store.put('p/s/d', streamOf(large), expectationOf(large));
  t.equal((await stat(path.join(folder, 'p', 's'))).mode & 0o777, 0o700);
  const files = await readdir(path.join(folder, 'p', 's'));
  t.equal(files.length, 2);
  for (const file of files) t.equal((await stat(path.join(folder, 'p', 's', file))).mode & 0o777, 0o600, file);
});

t.test('a store that can not write says so instead of refusing the bytes', async (t) => {
  const { folder, store } = await setUp(t);
  const bytes = randomBytes(100);
  await mkdir(path.join(folder, 'p'), { recursive: true });
  await writeFile(path.join(folder, 'p', 's'), 'a file in the way');
  await t.rejects(store.put('p/s/c', streamOf(bytes), expectationOf(bytes)), { code: 'ENOTDIR' });
  await mkdir(path.join(folder, 'q', 's', 'c'), { recursive: true });
  const large = randomBytes(300_000);
  await t.rejects(store.put('q/s/c', streamOf(large), expectationOf(large)), { code: 'EISDIR' });
  t.strictSame(await readdir(path.join(folder, 'q', 's')), ['c']);
});

t.test('H-023 a request that breaks off keeps nothing, one that is too long can still be answered', async (t) => {
  const { store, leftovers } = await setUp(t);
  const bytes = randomBytes(2_000_000);
  const results: PutResult[] = [];
  const server = http.createServer(async (request, response) => {
    const result = await store.put('p/s/c', request, expectationOf(bytes));
    results.push(result);
    response.writeHead(result.ok ? 200 : 400, { connection: 'close' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const start = (length: number) => {
    const request = http.request({ port, host: '127.0.0.1', method: 'PUT', headers: { 'content-length': length } });
    request.on('error', () => {});
    return request;
  };

  const cut = start(bytes.length);
  cut.write(bytes.subarray(0, 1_500_000));
  const deadline_ms = performance.now() + 10_000;
  while ((await leftovers()).length === 0) {
    if (performance.now() > deadline_ms) throw new Error('the put has not begun to write');
  }
  cut.destroy();
  while (results.length === 0 && performance.now() < deadline_ms) await leftovers();
  t.strictSame(results, [{ ok: false, reason: 'aborted' }]);
  t.strictSame(await leftovers(), []);

  const long = start(bytes.length + 1).end(Buffer.concat([bytes, Buffer.of(0)]));
  const [refused] = await once(long, 'response');
  t.equal(refused.statusCode, 400);
  const right = start(bytes.length).end(bytes);
  const [taken] = await once(right, 'response');
  t.equal(taken.statusCode, 200);
  t.match(results.slice(1), [{ ok: false, reason: 'size' }, { ok: true }]);
});
