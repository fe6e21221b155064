/** Numbers as people say and write them in English: "twenty two" and 22 are one, "the seventh" and "7th" too. */

/** A number in a row of words: the place of its first word, and of the word behind it. */
export type SpokenNumber = { value: number; is_ordinal: boolean; from: number; to: number };

const UNITS =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const ORDINAL_UNITS =
  'zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth'.split(
    ' ',
  );
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const ORDINAL_TENS = 'twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth'.split(' ');
const TEN = 10;
const [HUNDRED, THOUSAND] = [100, 1_000];
const DIGITS = /^(\d{1,6})(st|nd|rd|th)?$/;

const CARDINALS = new Map<string, number>([
  ...UNITS.map((word, value) => [word, value] as const),
  ...TENS.map((word, at) => [word, (at + 2) * TEN] as const),
]);
const ORDINALS = new Map<string, number>([
  ...ORDINAL_UNITS.map((word, value) => [word, value] as const),
  ...ORDINAL_TENS.map((word, at) => [word, (at + 2) * TEN] as const),
]);
const SCALES = new Map([
  ['hundred', HUNDRED],
  ['thousand', THOUSAND],
]);

/** All numbers that the words say, the longest at each place. */
export function numbersIn(words: readonly string[]): SpokenNumber[] {
  const found: SpokenNumber[] = [];
  for (let at = 0; at < words.length; ) {
    const number = numberAt(words, at);
    if (number !== null) found.push(number);
    at = number?.to ?? at + 1;
  }
  return found;
}

function numberAt(words: readonly string[], from: number): SpokenNumber | null {
  const word = words[from] ?? '';
  const digits = DIGITS.exec(word);
  if (digits !== null) return { value: Number(digits[1]), is_ordinal: digits[2] !== undefined, from, to: from + 1 };
  if (!CARDINALS.has(word) && !ORDINALS.has(word) && !(word === 'a' && SCALES.has(words[from + 1] ?? ''))) return null;
  let [total, group, at] = [0, 0, from];
  let last = Number.POSITIVE_INFINITY;
  for (; at < words.length; at++) {
    const one = words[at] as string;
    const scale = SCALES.get(one);
    const [cardinal, ordinal] = [CARDINALS.get(one), ORDINALS.get(one)];
    if (one === 'a' && at === from) group = 1;
    else if (scale !== undefined && (group > 0 || total > 0)) {
      if (scale === THOUSAND) [total, group] = [(total + group) * THOUSAND, 0];
      else group *= scale;
      last = scale;
    } else if (one === 'and' && group >= HUNDRED && CARDINALS.has(words[at + 1] ?? '')) continue;
    else {
      const value = cardinal ?? ordinal;
      if (value === undefined || !isPart(value, last, group)) break;
      group += value;
      last = value;
      if (ordinal !== undefined) return { value: total + group, is_ordinal: true, from, to: at + 1 };
    }
  }
  return at === from ? null : { value: total + group, is_ordinal: false, from, to: at };
}

/** Whether a number goes on with that value: "twenty" with "two", "hundred" with both. */
function isPart(value: number, last: number, group: number): boolean {
  if (group === 0 || last >= HUNDRED) return value < HUNDRED;
  return last >= 2 * TEN && last % TEN === 0 && value > 0 && value < TEN;
}
