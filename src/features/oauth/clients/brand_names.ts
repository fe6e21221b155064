import unhomoglyph from 'unhomoglyph';

/**
 * Letters that are drawn inside a shape, or as small capitals: neither normalisation nor the table of confusable
 * characters takes them for letters. Each row is the code point of its A.
 */
const SHAPES_OF_A = [0x1f150, 0x1f170, 0x1f1e6];
const SMALL_CAPITALS = new Map(
  [...'ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ'].map((letter, index) => [letter, 'abcdefghijklmnopqrstuvwyz'[index] as string]),
);

/**
 * Whether a name reads as if it held one of our own names, in any letter case: also in look-alike letters, with accents,
 * with what does not show in between, or spelled out with spaces or dots (`S.p-o o l`). A name is found anywhere in a
 * word; spelled out, it must begin and end where words do: a glass pool is not Spool.
 */
export function carriesBrand(name: string, brands: readonly string[]): boolean {
  const shown = skeletonOf(name);
  return brands.some((brand) => {
    const letters = [...skeletonOf(brand).replaceAll(' ', '')];
    if (letters.length === 0) return false;
    const spelled_out = new RegExp(`(?:^| )${letters.map(literally).join(' ?')}(?:$| )`, 'u');
    return shown.includes(letters.join('')) || spelled_out.test(shown);
  });
}

/** Reduces a text to its look: plain lower-case letters and digits, with one space for each separator. */
function skeletonOf(text: string): string {
  const letters = [...unmarked(text.normalize('NFKD'))].map(plainLetter).join('');
  // Before letter case goes: a capital i looks like an l only as long as it is one. And again after, for the rest.
  const folded = unhomoglyph(unhomoglyph(letters).toUpperCase().toLowerCase()).toLowerCase();
  return unmarked(folded.normalize('NFKD'))
    .replace(/[i1]/g, 'l')
    .replace(/[^\p{L}\p{N}]+/gu, ' ');
}

/** Removes accents and invisible characters. */
function unmarked(text: string): string {
  return text.replace(/[\p{M}\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]/gu, '');
}

function plainLetter(letter: string): string {
  const code = letter.codePointAt(0) ?? 0;
  const base = SHAPES_OF_A.find((a) => code >= a && code < a + 26);
  if (base !== undefined) return String.fromCodePoint(0x61 + code - base);
  return SMALL_CAPITALS.get(letter) ?? letter;
}

function literally(letter: string): string {
  return letter.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
