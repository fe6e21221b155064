import { LIMITS } from '../../../domain/limits.js';
import { stemmerOf } from '../../../domain/search/stemmers.js';
import type { ServerKeys } from '../../../engine/secrets/server_keys.js';

/**
 * Stems of a text as keyed hashes: two texts that say the same share most of them, and whoever reads them without the
 * key learns no word.
 */

const PURPOSE = 'stem';
const HASH_BYTES = 6;
const SEGMENTER = new Intl.Segmenter('en', { granularity: 'word' });

/**
 * Hashes of a text's stems, each once, sorted. They are made with the oldest server key: with the current one, texts from
 * before a rotation would be like no text from after it. Of a long text the lowest hashes are kept, which is a sample
 * that does not depend on the order of words.
 */
export function stemsOf(keys: Pick<ServerKeys, 'keyIds' | 'keyedHashWith'>, text: string, language: string | null) {
  const [oldest = ''] = keys.keyIds();
  const hashes = new Set<string>();
  for (const stem of stems(text, language)) {
    const mac = keys.keyedHashWith(oldest, PURPOSE, stem);
    if (mac === null) throw new Error('the oldest server key is gone');
    hashes.add(Buffer.from(mac.subarray(0, HASH_BYTES)).toString('base64url'));
  }
  return [...hashes].sort().slice(0, LIMITS.item_stems_max);
}

/** Without words, such as a line of signs, the text itself is its only stem. */
export function stems(text: string, language: string | null): Set<string> {
  const { stem } = stemmerOf(language);
  const plain = text.normalize('NFKC').toLowerCase();
  const found = new Set(wordsOf(plain).map(stem));
  return found.size > 0 ? found : new Set([plain.trim()]);
}

/** Words as a reader sees them, also in scripts without spaces. The text is in lower case already, or is to stay as it is. */
export function wordsOf(text: string): string[] {
  return [...SEGMENTER.segment(text)].flatMap(({ segment, isWordLike }) => (isWordLike === true ? [segment] : []));
}
