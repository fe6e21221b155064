/** Numbers and ordinals as they are said or written. */

const UNITS = words(
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen',
  0,
);
const ORDINALS = words(
  'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth',
  1,
);
const TENS = new Map([
  ['twenty', 20],
  ['thirty', 30],
  ['forty', 40],
  ['fifty', 50],
]);

function words(list: string, from: number): Map<string, number> {
  return new Map(list.split(' ').map((word, at) => [word, at + from]));
}

type NumberFound = { value: number; to: number };

/** "twenty two", "22" from that word on; null where no number of less than 60 begins. */
export function numberAt(list: readonly string[], at: number): NumberFound | null {
  const word = list[at] ?? '';
  if (/^\d{1,2}$/.test(word)) return { value: Number(word), to: at + 1 };
  const unit = UNITS.get(word);
  if (unit !== undefined) return { value: unit, to: at + 1 };
  const tens = TENS.get(word);
  if (tens === undefined) return null;
  const more = UNITS.get(list[at + 1] ?? '') ?? 0;
  return more > 0 && more < 10 ? { value: tens + more, to: at + 2 } : { value: tens, to: at + 1 };
}

/** "twenty second", "22nd": a day of a month. */
export function ordinalAt(list: readonly string[], at: number): NumberFound | null {
  const word = list[at] ?? '';
  const digits = /^(\d{1,2})(?:st|nd|rd|th)$/.exec(word);
  if (digits !== null) return { value: Number(digits[1]), to: at + 1 };
  if (word === 'thirtieth') return { value: 30, to: at + 1 };
  const plain = ORDINALS.get(word);
  if (plain !== undefined) return { value: plain, to: at + 1 };
  const tens = TENS.get(word);
  const unit = ORDINALS.get(list[at + 1] ?? '');
  if (tens === undefined || unit === undefined || unit > 9) return null;
  return { value: tens + unit, to: at + 2 };
}
