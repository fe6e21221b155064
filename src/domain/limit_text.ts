/** Limits in words, for texts that say one: `ten minutes`, `24 hours`, `64 KiB`, `1,000`. */

const WORDS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'];
const SPANS = [
  [24 * 60 * 60_000, 'days'],
  [60 * 60_000, 'hours'],
  [60_000, 'minutes'],
  [1_000, 'seconds'],
] as const;
const SIZES = [
  [1024 ** 3, 'GiB'],
  [1024 ** 2, 'MiB'],
  [1024, 'KiB'],
] as const;

/** Numbers up to twelve as words, the others as digits. */
export function countInWords(count: number): string {
  return WORDS[count] ?? count.toLocaleString('en-US');
}

/** A duration in whole units: the largest unit of which it has at least two, so a day is `24 hours`. */
export function durationInWords(ms: number): string {
  const [unit_ms, unit] = SPANS.find(([one_ms]) => ms % one_ms === 0 && ms > one_ms) ?? [1, 'ms'];
  return `${countInWords(ms / unit_ms)} ${unit}`;
}

/** A size in whole units, the largest that fits. */
export function sizeInWords(bytes: number): string {
  const [unit_bytes, unit] = SIZES.find(([one]) => bytes % one === 0) ?? [1, 'bytes'];
  return `${(bytes / unit_bytes).toLocaleString('en-US')} ${unit}`;
}
