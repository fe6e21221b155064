import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import t, { type Test } from 'tap';
import { isKey } from '../../../src/engine/blobs/blob_store.js';
import { openS3BlobStore } from '../../../src/engine/blobs/s3_blob_store.js';
import type { S3Location } from '../../../src/engine/blobs/s3_location.js';
import { type S3Server, startS3Server } from '../../fixtures/s3_server.js';
import { until } from '../../fixtures/until.js';
import { blobStoreContract, expectationOf, streamOf } from './blob_store_contract.js';

const warn = () => {};

const server = await startS3Server();
if (server !== null) {
  t.teardown(() => server.end());
  await runWith(server);
}

async function runWith({ endpoint, bucket, client }: S3Server): Promise<void> {
  const place = { bucket, endpoint, region: null, path_style: true };

  async function setUp(t: Test) {
    const prefix = `${randomUUID()}/`;
    // Fewer at a time than some tests have, so that listings and removals of several pages are met.
    const store = await openS3BlobStore({ ...place, prefix }, { warn, batch_max: 30 });
    t.teardown(() => store.close());
    return {
      store,
      async leftovers() {
        const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix }));
        return Contents.map(({ Key }) => (Key as string).slice(prefix.length)).filter((name) => !isKey(name));
      },
    };
  }

  t.test('a bucket is a blob store', async (t) => blobStoreContract(t, setUp));

  t.test('a folder of many pages is removed whole, and stores of one bucket do not see each other', async (t) => {
    const { store } = await setUp(t);
    const { store: other } = await setUp(t);
    const bytes = randomBytes(10);
    const put = (key: string) => store.put(key, streamOf(bytes), expectationOf(bytes));
    await Promise.all(Array.from({ length: 61 }, (_, at) => put(`p/s/c${at}`)));
    await put('p/s1/c');
    for await (const key of other.list()) t.fail(key);
    await other.removeFolder('p');
    await store.removeFolder('p/s');
    const left: string[] = [];
    for await (const key of store.list()) left.push(key);
    t.strictSame(left, ['p/s1/c']);
  });

  t.test('a bucket that is not there, or whose keys are wrong, stops the start with what to do', async (t) => {
    const open = (other: Partial<S3Location>) => openS3BlobStore({ ...place, prefix: '', ...other }, { warn });
    await t.rejects(open({ bucket: 'no-such-bucket' }), {
      name: 'UnusableBucket',
      message: /bucket no-such-bucket .* NoSuchBucket, status 404\. Make the bucket/,
    });
    const secret = process.env.AWS_SECRET_ACCESS_KEY;
    process.env.AWS_SECRET_ACCESS_KEY = 'wrong';
    t.teardown(() => {
      process.env.AWS_SECRET_ACCESS_KEY = secret;
    });
    await t.rejects(open({}), { message: /SignatureDoesNotMatch, status 403\. Check AWS_SECRET_ACCESS_KEY/ });
  });
}

/** A store that answers as a test says, after its start has been let through. */
async function faulty(t: Test, answer: http.RequestListener) {
  process.env.AWS_ACCESS_KEY_ID = 'key';
  process.env.AWS_SECRET_ACCESS_KEY = 'secret';
  let is_open = false;
  const server = http.createServer((request, response) => {
    if (is_open) return answer(request, response);
    request.resume();
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const store = await openS3BlobStore(
    { bucket: 'bucket', endpoint, region: null, path_style: true, prefix: '' },
    { warn },
  );
  is_open = true;
  t.teardown(async () => {
    await store.close();
    server.closeAllConnections();
    server.close();
  });
  return store;
}

const small = randomBytes(1_000);
const large = randomBytes(2_000_000);

t.test('H-023 a store that is busy is asked again, so often and no more', async (t) => {
  let tries = 0;
  let busy = 2;
  const store = await faulty(t, (request, response) => {
    tries += 1;
    request.resume().on('end', () => {
      response.statusCode = busy-- > 0 ? 500 : 200;
      response.end(response.statusCode === 500 ? '<Error><Code>InternalError</Code></Error>' : '');
    });
  });
  t.match(await store.put('p/s/c', streamOf(small), expectationOf(small)), { ok: true });
  t.equal(tries, 3);
  busy = Number.POSITIVE_INFINITY;
  const failed = { name: 'BlobStoreUnavailable', code: 'BLOB_STORE_UNAVAILABLE', message: /InternalError, status 500/ };
  await t.rejects(store.put('p/s/c', streamOf(small), expectationOf(small)), failed);
  t.equal(tries, 6);
  await t.rejects(store.put('p/s/c', streamOf(large), expectationOf(large)), failed);
  t.equal(tries, 7, 'what passes through can not be sent again');
  await t.rejects(store.has('p/s/c'), { name: 'BlobStoreUnavailable' });
  await t.rejects(store.open('p/s/c'), failed);
});

t.test('H-023 a store that breaks off, or has lost its bucket, keeps nothing and says nothing is there', async (t) => {
  const store = await faulty(t, (request, response) => {
    if (request.method === 'PUT') return void request.once('data', () => request.socket.destroy());
    response.writeHead(404).end('<Error><Code>NoSuchBucket</Code></Error>');
  });
  for (const bytes of [small, large])
    await t.rejects(store.put('p/s/c', streamOf(bytes), expectationOf(bytes)), { name: 'BlobStoreUnavailable' });
  await t.rejects(store.open('p/s/c'), { message: /NoSuchBucket/ });
});

t.test('H-023 the store is told hash and length beforehand, so that it checks them as well', async (t) => {
  const seen: http.IncomingHttpHeaders[] = [];
  const store = await faulty(t, (request, response) => {
    seen.push(request.headers);
    request.resume().on('end', () => response.end());
  });
  for (const bytes of [small, large]) {
    const { size_bytes, sha256_hex } = expectationOf(bytes);
    await store.put('p/s/c', streamOf(bytes), { size_bytes, sha256_hex: sha256_hex.toUpperCase() });
    t.match(seen.at(-1), {
      'content-length': String(size_bytes),
      'x-amz-content-sha256': sha256_hex,
      'x-amz-checksum-sha256': Buffer.from(sha256_hex, 'hex').toString('base64'),
      authorization: /SignedHeaders=[^,]*x-amz-content-sha256/,
    });
  }
});

t.test('H-023 wrong bytes never reach the store whole, whether it checks them or not', async (t) => {
  const seen: { bytes: number; announced: number; is_whole: boolean }[] = [];
  const store = await faulty(t, (request, response) => {
    const one = { bytes: 0, announced: Number(request.headers['content-length']), is_whole: false };
    seen.push(one);
    request.on('data', (part: Buffer) => {
      one.bytes += part.length;
    });
    request.on('end', () => {
      one.is_whole = request.complete;
      response.end();
    });
  });
  const wrong = Buffer.from(large);
  wrong.writeUInt8(wrong.readUInt8(0) ^ 1, 0);
  t.strictSame(await store.put('p/s/c', streamOf(wrong), expectationOf(large)), { ok: false, reason: 'checksum' });
  t.strictSame(await store.put('p/s/c', streamOf(small), expectationOf(large)), { ok: false, reason: 'size' });
  const cut = new PassThrough();
  const put = store.put('p/s/c', cut, expectationOf(large));
  cut.write(large.subarray(0, 500_000));
  await until('the store has some of it', () => (seen.at(-1)?.bytes ?? 0) > 100_000);
  cut.destroy();
  t.strictSame(await put, { ok: false, reason: 'aborted' });
  t.ok(seen.length > 0);
  for (const { bytes, announced, is_whole } of seen) {
    t.equal(announced, large.length);
    t.ok(bytes < announced, `${bytes} of ${announced}`);
    t.notOk(is_whole);
  }
});

t.test('a store that keeps versions is warned of, one that nobody runs stops the start', async (t) => {
  const versioning = http.createServer((request, response) => {
    request.resume();
    response.end(
      request.url?.includes('versioning')
        ? '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'
        : '',
    );
  });
  versioning.listen(0, '127.0.0.1');
  await once(versioning, 'listening');
  const endpoint = `http://127.0.0.1:${(versioning.address() as AddressInfo).port}`;
  const place = { bucket: 'bucket', endpoint, region: null, path_style: true, prefix: '' };
  const warnings: string[] = [];
  const store = await openS3BlobStore(place, { warn: (text) => warnings.push(text) });
  await store.close();
  t.equal(warnings.length, 1);
  versioning.closeAllConnections();
  versioning.close();
  await once(versioning, 'close');
  await t.rejects(openS3BlobStore(place, { warn }), { message: /ECONNREFUSED\. Check the endpoint of BLOB_URL/ });
});
