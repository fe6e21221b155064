import { createRequire } from 'node:module';
import { stemmer as english } from '@orama/stemmers/english';
import { LIMITS } from '../../domain/limits.js';
import type { ServerKeys } from '../../secrets/server_keys.js';

/**
 * What a text says, as keyed hashes of its stems: two texts that say the same share most of them, and whoever reads them
 * without the key learns no word.
 */

const PURPOSE = 'stem';
const HASH_BYTES = 6;
const SEGMENTER = new Intl.Segmenter('en', { granularity: 'word' });
const require = createRequire(import.meta.url);

/** By the first subtag of a BCP 47 tag. Whatever is not here is stemmed as English, which leaves other scripts alone. */
const LANGUAGES: Readonly<Record<string, string>> = {
  ...{ ar: 'arabic', bg: 'bulgarian', da: 'danish', de: 'german', el: 'greek', es: 'spanish', fi: 'finnish' },
  ...{ fr: 'french', ga: 'irish', hi: 'indian', hu: 'hungarian', hy: 'armenian', id: 'indonesian', it: 'italian' },
  ...{ lt: 'lithuanian', nb: 'norwegian', ne: 'nepali', nl: 'dutch', nn: 'norwegian', no: 'norwegian' },
  ...{ pt: 'portuguese', ro: 'romanian', ru: 'russian', sa: 'sanskrit', sr: 'serbian', sv: 'swedish', ta: 'tamil' },
  ...{ tr: 'turkish', uk: 'ukrainian' },
};

type Stemmer = (word: string) => string;
const loaded = new Map<string, Stemmer>([['english', english]]);

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
  const stem = stemmerOf(language);
  const plain = text.normalize('NFKC').toLowerCase();
  const found = new Set(wordsOf(plain).map(stem));
  return found.size > 0 ? found : new Set([plain.trim()]);
}

/** Words as a reader sees them, also in scripts without spaces. The text is in lower case already, or is to stay as it is. */
export function wordsOf(text: string): string[] {
  return [...SEGMENTER.segment(text)].flatMap(({ segment, isWordLike }) => (isWordLike === true ? [segment] : []));
}

function stemmerOf(language: string | null): Stemmer {
  const name = LANGUAGES[(language ?? 'en').split('-')[0]?.toLowerCase() ?? ''] ?? 'english';
  const known = loaded.get(name);
  if (known !== undefined) return known;
  // Loaded when first needed: most servers hear few languages.
  const { stemmer } = require(`@orama/stemmers/${name}`) as { stemmer: Stemmer };
  loaded.set(name, stemmer);
  return stemmer;
}
