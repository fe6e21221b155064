import { createHash, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import yauzl from 'yauzl';
import { Archive } from '../../../src/features/exports/archive.js';
import { unzip } from '../../fixtures/zip.js';

const MIB = 1024 * 1024;

async function* pieces(count: number, bytes: Buffer): AsyncGenerator<Buffer> {
  for (let n = 0; n < count; n++) yield bytes;
}

t.test('K-127 an archive is what went into it, under names of any language', async (t) => {
  const archive = new Archive(Date.UTC(2026, 0, 31));
  const all = buffer(archive.bytes as never);
  const wanted = new Map([
    ['a.ndjson', Buffer.from('{"a":1}\n'.repeat(50_000))],
    ['files/1/Zoë 🦊.txt', randomBytes(100_000)],
    ['empty', Buffer.of()],
  ]);
  for (const [path, bytes] of wanted) {
    const added = await archive.add({ path, from: pieces(1, bytes), compress: path.startsWith('a') });
    t.same(added, { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') });
  }
  await archive.end();
  const zip = await all;
  t.ok(zip.length < 150_000, 'lines are compressed');
  t.same(await unzip(zip), wanted);
});

t.test('K-127 an archive has more files than its short form can count', async (t) => {
  const archive = new Archive(Date.UTC(2026, 0, 31));
  const all = buffer(archive.bytes as never);
  const [count, nothing] = [65_540, Buffer.of()];
  for (let n = 0; n < count; n++) await archive.add({ path: `${n}`, from: pieces(1, nothing), compress: false });
  await archive.end();
  t.equal((await yauzl.fromBufferPromise(await all)).entryCount, count);
});

t.test('K-127 however large an archive is, little of it is in memory', async (t) => {
  const archive = new Archive(Date.UTC(2026, 0, 31));
  const [piece, before] = [Buffer.alloc(MIB, 'x'), process.memoryUsage().rss];
  let [most, length] = [0, 0];
  const reading = (async () => {
    for await (const bytes of archive.bytes) {
      length += bytes.length;
      most = Math.max(most, process.memoryUsage().rss - before);
    }
  })();
  for (const path of ['one', 'two']) await archive.add({ path, from: pieces(250, piece), compress: false });
  await archive.end();
  await reading;
  t.ok(length > 500 * MIB);
  t.ok(most < 150 * MIB, `${Math.round(most / MIB)} MiB`);
});

t.test('K-132 what is broken off ends for whoever writes and whoever reads', async (t) => {
  const archive = new Archive(0);
  const fault = new Error('no more');
  async function* endless(): AsyncGenerator<Buffer> {
    for (;;) yield randomBytes(1_000);
  }
  const adding = archive.add({ path: 'x', from: endless(), compress: true });
  const reading = (async () => {
    let count = 0;
    for await (const _ of archive.bytes) if (++count === 3) archive.destroy(fault);
  })();
  await t.rejects(reading, fault);
  await t.rejects(adding, fault);
  await t.rejects(archive.add({ path: 'y', from: pieces(1, Buffer.of()), compress: true }), fault);

  const unread = new Archive(0);
  const left = unread.add({ path: 'x', from: endless(), compress: true });
  for await (const _ of unread.bytes) break;
  await t.rejects(left, /nobody reads/);

  const broken = new Archive(0);
  async function* breaks(): AsyncGenerator<Buffer> {
    yield randomBytes(10);
    throw fault;
  }
  await t.rejects(broken.add({ path: 'x', from: breaks(), compress: true }), fault);
});
