/** Languages as engines name them: by a BCP 47 tag, such as `pt-BR`, or in English, as Whisper does. */

/** Whisper's names that are not those of Unicode. */
const OTHER_NAMES = {
  bengali: 'bn',
  maori: 'mi',
  nynorsk: 'nn',
  myanmar: 'my',
  tagalog: 'tl',
  valencian: 'ca',
  flemish: 'nl',
  haitian: 'ht',
  letzeburgesch: 'lb',
  pushto: 'ps',
  panjabi: 'pa',
  moldavian: 'ro',
  moldovan: 'ro',
  sinhalese: 'si',
  castilian: 'es',
  mandarin: 'zh',
};
const NAMES = new Map([...namesOfLanguages(), ...Object.entries(OTHER_NAMES)]);
/** A language, then what tells more of it: script, region, variants, extensions. */
const TAG = /^[a-z]{2,3}(-[a-z0-9]{1,8}){0,7}$/;
const TAG_CHARS_MAX = 35;
const UNKNOWN = 'und';

/** A BCP 47 tag; undefined for unknown names and for text that is no tag. */
export function languageTag(language: string | undefined): string | undefined {
  const said = language?.trim().toLowerCase() ?? '';
  const tag = NAMES.get(said) ?? said.replaceAll('_', '-');
  if (tag.length > TAG_CHARS_MAX || !TAG.test(tag) || tag === UNKNOWN) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}

function namesOfLanguages(): [name: string, tag: string][] {
  const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const tags = [...letters.flatMap((one) => letters.map((other) => one + other)), 'haw', 'yue'];
  return tags.flatMap((tag): [string, string][] => {
    const name = names.of(tag);
    // An old code has the name of the new one.
    return name === undefined || Intl.getCanonicalLocales(tag)[0] !== tag ? [] : [[name.toLowerCase(), tag]];
  });
}
