import { fork } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import t from 'tap';
import {
  activateServerKey,
  equalBytes,
  introducedServerKeys,
  introduceServerKey,
  openServerKeys,
} from '../../../src/engine/secrets/server_keys.js';
import { tempFolder } from '../../fixtures/temp_folder.js';

const opening_process = fileURLToPath(new URL('./opening_process.js', import.meta.url));

/** As after a rotation that is over. */
async function addServerKey(folder: string): Promise<string> {
  const { key_id } = await introduceServerKey(folder, 0);
  await activateServerKey(folder, key_id);
  return key_id;
}

const text = (bytes: Uint8Array | null) => (bytes === null ? null : Buffer.from(bytes).toString());

t.test('the first opening makes one key that only its owner can read', async (t) => {
  const folder = path.join(tempFolder(t), 'deep', 'keys');
  const keys = await openServerKeys(folder);
  t.match(keys.currentKeyId(), /^[0-9a-f]{8}$/);
  t.equal((await stat(folder)).mode & 0o777, 0o700);
  t.strictSame(await readdir(folder), ['server_key_0001.key']);
  t.equal((await stat(path.join(folder, 'server_key_0001.key'))).mode & 0o777, 0o600);
  const again = await openServerKeys(folder);
  t.equal(again.fingerprint(), keys.fingerprint());
  t.strictSame(again.keyedHash('code', 'a'), keys.keyedHash('code', 'a'));
});

t.test('a folder that others can read is closed to them', async (t) => {
  const folder = path.join(tempFolder(t), 'keys');
  await mkdir(folder);
  await chmod(folder, 0o755);
  await openServerKeys(folder);
  t.equal((await stat(folder)).mode & 0o777, 0o700);
});

t.test('openings at once, in one process and in several, end up with one key', async (t) => {
  const folder = path.join(tempFolder(t), 'keys');
  const children = Array.from({ length: 4 }, () => {
    const child = fork(opening_process, [folder]);
    return new Promise<string>((resolve, reject) => {
      child.on('message', (message: { opened?: string }) => message.opened && resolve(message.opened));
      // A message may come after the exit, and never after the end of the channel.
      child.once('disconnect', () => reject(new Error(`ended with ${child.exitCode} before it said anything`)));
    });
  });
  const here = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const keys = await openServerKeys(folder);
      return `${keys.fingerprint()} ${keys.currentKeyId()}`;
    }),
  );
  t.equal(new Set([...here, ...(await Promise.all(children))]).size, 1);
  t.strictSame(await readdir(folder), ['server_key_0001.key']);
});

t.test('the boundaries between purpose and parts count', async (t) => {
  const keys = await openServerKeys(path.join(tempFolder(t), 'keys'));
  const mac = (...all: [string, ...string[]]) => Buffer.from(keys.keyedHash(...all).mac).toString('hex');
  const words = fc.array(fc.string(), { maxLength: 4 });
  fc.assert(
    fc.property(fc.string(), words, fc.string(), words, (p, ps, q, qs) => {
      const same = JSON.stringify([p, ...ps]) === JSON.stringify([q, ...qs]);
      return (mac(p, ...ps) === mac(q, ...qs)) === same;
    }),
  );
  t.not(mac('p', 'ab', 'c'), mac('p', 'a', 'bc'));
  t.not(mac('p', 'a'), mac('p', 'a', ''));
  t.not(mac('pa'), mac('p', 'a'));
  t.strictSame(keys.keyedHash('p', 'é'), keys.keyedHash('p', Buffer.from('é')));
});

t.test('after a rotation the new key is current and what older keys made stays readable', async (t) => {
  const folder = path.join(tempFolder(t), 'keys');
  const before = await openServerKeys(folder);
  const sealed = before.seal('mail', Buffer.from('hello'));
  const hash = before.keyedHash('code', 'x');
  const added = await addServerKey(folder);
  const after = await openServerKeys(folder);
  t.equal(after.currentKeyId(), added);
  t.not(after.currentKeyId(), before.currentKeyId());
  t.equal(after.fingerprint(), before.fingerprint(), 'the oldest key names the set');
  t.equal(text(after.unseal('mail', sealed)), 'hello');
  t.strictSame(after.keyedHashWith(hash.key_id, 'code', 'x'), hash.mac);
  t.notSame(after.keyedHash('code', 'x').mac, hash.mac);
});

t.test('a process that runs through a rotation reads what the others make with the new key', async (t) => {
  const folder = path.join(tempFolder(t), 'keys');
  let now_ms = 0;
  const running = await openServerKeys(folder, { monotonicMs: () => now_ms });
  const added = await addServerKey(folder);
  const sealed = (await openServerKeys(folder)).seal('mail', Buffer.from('hello'));
  t.equal(running.unseal('mail', sealed), null, 'the folder was read less than a second ago');
  now_ms = 1_000;
  t.equal(text(running.unseal('mail', sealed)), 'hello');
  t.equal(running.currentKeyId(), added);
  t.equal(running.keyedHashWith('00000000', 'code', 'x'), null);
});

t.test('a key that is introduced is read by all, and written with when it is active', async (t) => {
  const folder = path.join(tempFolder(t), 'keys');
  let now_ms = 0;
  const [here, there] = [await openServerKeys(folder), await openServerKeys(folder, { monotonicMs: () => now_ms })];
  const [first] = here.keyIds();
  const { key_id } = await introduceServerKey(folder, 5_000);
  t.same(await introducedServerKeys(folder), [{ key_id, since_ms: 5_000 }]);
  now_ms += 1_000;
  t.same(there.keyIds(), [first, key_id], 'who asks for all keys gets it, told or not');
  t.equal(there.currentKeyId(), first);
  t.equal((await openServerKeys(folder)).currentKeyId(), first, 'nor does one that starts write with it');
  await activateServerKey(folder, key_id);
  await activateServerKey(folder, key_id);
  t.same(await introducedServerKeys(folder), []);
  here.reread();
  t.equal(here.currentKeyId(), key_id);
  const sealed = here.seal('mail', Buffer.from('hello'));
  t.equal(there.currentKeyId(), first, 'until it looks again it writes with the old one');
  t.equal(text(there.unseal('mail', sealed)), 'hello', 'and reads what others write with the new one');
  await t.rejects(activateServerKey(folder, '00000000'), /no key 00000000/);
});

t.test('rotations at once each add a key', async (t) => {
  const folder = path.join(tempFolder(t), 'keys');
  await openServerKeys(folder);
  const ids = await Promise.all(Array.from({ length: 8 }, () => addServerKey(folder)));
  t.equal(new Set(ids).size, 8);
  t.same(await introducedServerKeys(folder), []);
  t.equal((await readdir(folder)).length, 9);
});

t.test('a mark that a killed process left behind hides no key', async (t) => {
  const folder = path.join(tempFolder(t), 'keys');
  await openServerKeys(folder);
  await writeFile(path.join(folder, 'server_key_0002.introduced'), '1\n');
  const added = await addServerKey(folder);
  t.equal((await openServerKeys(folder)).currentKeyId(), added);
});

t.test('what is sealed opens only unchanged and for its purpose', async (t) => {
  const folder = path.join(tempFolder(t), 'keys');
  const keys = await openServerKeys(folder);
  for (const plaintext of [Buffer.alloc(0), Buffer.from('x'), Buffer.alloc(100_000, 7)]) {
    const sealed = keys.seal('mail', plaintext);
    t.equal(sealed.length, plaintext.length + 37);
    t.ok(equalBytes(keys.unseal('mail', sealed) as Uint8Array, plaintext));
    t.equal(keys.unseal('other', sealed), null);
  }
  const sealed = keys.seal('mail', Buffer.from('482913'));
  t.notSame(keys.seal('mail', Buffer.from('482913')), sealed, 'equal plaintexts look different');
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    if (keys.unseal('mail', changed) !== null) t.fail(`byte ${at} may change`);
    if (keys.unseal('mail', sealed.subarray(0, at)) !== null) t.fail(`may be cut to ${at}`);
  }
  t.equal(keys.unseal('mail', Buffer.concat([sealed, Buffer.of(0)])), null);
  const others = await openServerKeys(path.join(tempFolder(t), 'others'));
  t.equal(others.unseal('mail', sealed), null);
  t.not(others.fingerprint(), keys.fingerprint());
});

t.test('a damaged key file stops the start and is named without its content', async (t) => {
  const folder = path.join(tempFolder(t), 'keys');
  await openServerKeys(folder);
  const file = path.join(folder, 'server_key_0001.key');
  const whole = await readFile(file, 'latin1');
  const secret = whole.trim().split(' ')[2] as string;
  const flipped = `${secret[0] === 'A' ? 'B' : 'A'}${secret.slice(1)}`;
  for (const damaged of ['', whole.slice(0, -2), `${whole}x`, whole.replace(secret, flipped)]) {
    await writeFile(file, damaged);
    const error = await openServerKeys(folder).then(
      () => null,
      (reason: Error) => reason,
    );
    t.match(error?.message, /server_key_0001\.key is damaged/);
    t.notMatch(error?.message, secret.slice(4, 12));
    t.equal(await readFile(file, 'latin1'), damaged, 'and nothing is made in its place');
  }
});

t.test('bytes are equal or not, whatever their lengths', async (t) => {
  t.ok(equalBytes(Buffer.from('ab'), Buffer.from('ab')));
  t.ok(equalBytes(Buffer.alloc(0), Buffer.alloc(0)));
  t.notOk(equalBytes(Buffer.from('ab'), Buffer.from('ac')));
  t.notOk(equalBytes(Buffer.from('ab'), Buffer.from('abc')));
});
