import t from 'tap';
import {
  pairingCodeId,
  pairingCodeIds,
  parsePairingCode,
  randomPairingCode,
} from '../../../src/engine/secrets/pairing_codes.js';
import { activateServerKey, introduceServerKey, openServerKeys } from '../../../src/engine/secrets/server_keys.js';
import { tempFolder } from '../../fixtures/temp_folder.js';

t.test('H-050 pairing codes have eight characters of 32, each as likely as any other', async (t) => {
  const counts = new Map<string, number>();
  const CODES = 4_000;
  for (let n = 0; n < CODES; n++) {
    const code = randomPairingCode();
    t.equal(parsePairingCode(code), code);
    for (const character of code) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  t.equal([...counts.keys()].sort().join(''), '0123456789ABCDEFGHJKMNPQRSTVWXYZ');
  // 1,000 are expected of each; 200 more or less are six standard deviations.
  for (const [character, count] of counts) t.ok(Math.abs(count - 1_000) < 200, `${character}: ${count}`);
});

t.test('H-051 pairing codes as people type them', async (t) => {
  for (const typed of [
    'K7M2QX0P',
    'k7m2-qx0p',
    ' K7M2 QX0P\n',
    'k7m2-qxop',
    'K-7-M-2-Q-X-O-P',
    'Ｋ７m２‐qx０p',
    '\u200eK7M2\u200b-QX0P\u2060',
  ])
    t.equal(parsePairingCode(typed), 'K7M2QX0P', typed);
  t.equal(parsePairingCode('ilil-1111'), '11111111');
  for (const other of ['', 'K7M2QX0', 'K7M2QX0PP', 'K7M2QX0U', 'K7M2_QX0P', `spc_${'A'.repeat(43)}`])
    t.equal(parsePairingCode(other), null, other);
});

t.test('H-055 a code is found again after a rotation of the keys, and its place does not tell it', async (t) => {
  const folder = tempFolder(t);
  const keys = await openServerKeys(folder);
  const before = pairingCodeId(keys, 'K7M2QX0P');
  t.match(before, /^[0-9a-f]{32}$/);
  const { key_id } = await introduceServerKey(folder, 0);
  await activateServerKey(folder, key_id);
  keys.reread();
  const after = pairingCodeId(keys, 'K7M2QX0P');
  t.not(after, before);
  t.same(pairingCodeIds(keys, 'K7M2QX0P'), [after, before]);
});
