import fc from 'fast-check';
import t from 'tap';
import { LIMITS } from '../../../../src/domain/limits.js';
import { activateServerKey, introduceServerKey, openServerKeys } from '../../../../src/engine/secrets/server_keys.js';
import { stems, stemsOf } from '../../../../src/features/insights/engines/stems.js';
import { tempFolder } from '../../../fixtures/temp_folder.js';

const shared = (one: readonly string[], other: readonly string[]) =>
  one.filter((stem) => other.includes(stem)).length / one.length;

t.test('K-080 texts that say the same share their stems, and others do not', async (t) => {
  const keys = await openServerKeys(tempFolder(t));
  const of = (text: string, language: string | null = 'en') => stemsOf(keys, text, language);
  t.same(of('I will call the dentist'), of('the DENTIST, I will call!'), 'order, case and signs do not count');
  t.same(of('she promised'), of('she promises'), 'forms of one word');
  t.same(of('Ｃａｌｌ'), of('call'), 'wide letters');
  t.same(of('Er spielte'), of('er spielte', 'de-CH').length === 2 ? of('Er spielte') : [], 'a language of its own');
  t.notSame(of('die Häuser', 'de'), of('die Häuser', 'en'));
  t.same(of('die Häuser', 'de'), of('die Haus', 'de'));
  t.ok(of('今日は医者に電話します', 'ja').length > 3, 'words of a script without spaces');
  t.equal(of('…!?').length, 1, 'signs alone');
  t.ok(shared(of('call the dentist tomorrow'), of('buy milk and bread')) < 0.3);
  t.same([...stems('Calls calling', 'en')], ['call']);
});

t.test('a rotation of keys changes no hash, and another server has others', async (t) => {
  const folder = tempFolder(t);
  const keys = await openServerKeys(folder);
  const before = stemsOf(keys, 'call the dentist', 'en');
  const { key_id } = await introduceServerKey(folder, 0);
  await activateServerKey(folder, key_id);
  keys.reread();
  t.equal(keys.currentKeyId(), key_id);
  t.same(stemsOf(keys, 'call the dentist', 'en'), before);
  t.notSame(stemsOf(await openServerKeys(tempFolder(t)), 'call the dentist', 'en'), before);
});

t.test('stems are few, sorted, each once, and hold nothing of the text', async (t) => {
  const keys = await openServerKeys(tempFolder(t));
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 2_000 }), (text) => {
      const found = stemsOf(keys, text, 'en');
      t.ok(found.length >= 1 && found.length <= LIMITS.item_stems_max);
      t.same(found, [...new Set(found)].sort());
      for (const stem of found) if (!/^[\w-]{8}$/.test(stem)) throw new Error(stem);
    }),
    { numRuns: 100 },
  );
});
