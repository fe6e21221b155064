import { createHash, randomBytes } from 'node:crypto';
import t from 'tap';
import { Sha256 } from '../../kits/typescript/src/sha256.js';

t.test('SHA-256 of bytes that come in pieces', async (t) => {
  for (let length = 0; length < 300; length++) {
    const bytes = randomBytes(length);
    const hash = new Sha256();
    for (let at = 0; at < length; at += 37) hash.update(bytes.subarray(at, at + 37));
    t.equal(hash.hex(), createHash('sha256').update(bytes).digest('hex'), `${length} bytes`);
  }
  const large = Buffer.alloc(600 * 1024 * 1024);
  const hash = new Sha256();
  for (let at = 0; at < large.length; at += 1 << 20) hash.update(large.subarray(at, at + (1 << 20)));
  t.equal(hash.hex(), createHash('sha256').update(large).digest('hex'), 'of more bits than 32 can count');
});
