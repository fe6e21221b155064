import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { backUp } from '../../src/engine/backup/back_up.js';
import { FORM_FILE } from '../../src/engine/process/data_form.js';
import { connectPatiently, TestRedis } from '../fixtures/redis.js';
import { everyKey } from '../fixtures/redis_content.js';
import { TestSpool } from '../fixtures/spool.js';
import { tempFolder } from '../fixtures/temp_folder.js';

const BEFORE = /^\S.* holds data from before version 1\.0, which only commits up to [0-9a-f]{8} open\.$/;
const NEWER = /^\S.* holds data of form 2, and this version opens form 1 alone\.$/;

/** Paths and contents of a folder's files. */
function filesIn(folder: string): [path: string, content: string][] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry): [string, string] => {
      const path = join(entry.parentPath, entry.name);
      return [path, readFileSync(path, 'latin1')];
    })
    .sort();
}

t.test('a data folder of another form is refused, and nothing of it is touched', async (t) => {
  const spool = await TestSpool.start();
  await spool.close();
  t.equal(readFileSync(join(spool.folder, FORM_FILE), 'utf8'), '1\n');
  const old = join(tempFolder(t), 'old');
  cpSync(spool.folder, old, { recursive: true, filter: (path) => !path.includes('lock.') });
  rmSync(spool.folder, { recursive: true });
  rmSync(join(old, FORM_FILE));
  const start = () => TestSpool.start({ DATA_DIR: old });
  const before = filesIn(old);
  await t.rejects(start(), { name: 'CannotStart', message: BEFORE });
  t.same(filesIn(old), before);
  const copy = { data_dir: old, keys_dir: join(old, 'keys'), to: join(tempFolder(t), 'copy') };
  await t.rejects(backUp({ ...copy, audio_elsewhere: false, now_ms: 0 }), { name: 'BackupRefused', message: BEFORE });
  writeFileSync(join(old, FORM_FILE), '2\n');
  await t.rejects(start(), { name: 'CannotStart', message: NEWER });
  writeFileSync(join(old, FORM_FILE), '1\n');
  const again = await TestSpool.start({ DATA_DIR: old });
  await again.close();
});

t.test('a folder in which no server has run yet may hold keys and settings', async (t) => {
  const folder = join(tempFolder(t), 'data');
  mkdirSync(join(folder, 'keys'), { recursive: true });
  writeFileSync(join(folder, 'engines.json'), '{}');
  const spool = await TestSpool.start({ DATA_DIR: folder });
  await spool.close();
  t.equal(readFileSync(join(folder, FORM_FILE), 'utf8'), '1\n');
});

t.test(
  'a Redis of another form is refused, and nothing of it is touched; what others keep in it is no matter',
  async (t) => {
    const server = await new TestRedis().start({ port: true });
    t.teardown(() => server.stop());
    const redis = await connectPatiently({ url: server.url as string });
    t.teardown(() => redis.disconnect());
    const contents = async () => [await everyKey(redis), await redis.call('FUNCTION', 'LIST')];
    const start = () => TestSpool.start({ REDIS_URL: server.url as string });
    await redis.call('FUNCTION', 'FLUSH');
    await redis.set('spool:keys_fingerprint', 'of an old server');
    const before = await contents();
    await t.rejects(start(), { name: 'CannotStart', message: BEFORE });
    t.same(await contents(), before);
    await redis.set('spool:form', '2');
    await t.rejects(start(), { name: 'CannotStart', message: NEWER });

    await redis.flushall();
    await redis.set('sessions:7', 'of another program');
    const spool = await start();
    t.equal(await redis.get('spool:form'), '1');
    await spool.close();
    await spool.open();
    await spool.end();
    t.equal(await redis.get('sessions:7'), 'of another program');
  },
);
