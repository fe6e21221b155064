import type { FormPlace } from './spoken_forms.js';

/** Days and times that a sentence takes back: "not tomorrow but on Monday", "at nine, no, at ten". */

/** Between "not" and what is denied stand such words, and times beside days. */
const DENIED = /(?:^|(?<why>why )| )(?:not|instead of|rather than)(?: (?:on|by|at|in|for|an?|the|this|from|#))* $/;
/** Between what is taken back and what takes its place. */
const BETWEEN =
  /^ (?:(?:[,.;#]|no|sorry|wait|rather|actually|better|correction|oh|or|well|i|mean|meant|make|that|it|scratch|let's|say|not|but|on|by|at|in|for|the|this|until|before|around) )*$/;
const TAKES_BACK = / (?:no|sorry|wait|rather|actually|better|correction|i mean|i meant|make (?:that|it)|scratch that) /;
/** "I won't come tomorrow but on Friday" */
const NEGATED = /(?:^| )(?:not|never|\w+n't) [^,.;?!]*$/;

/** The mentions that stand. `others`: times beside days, or days beside times. */
export function standing<One extends FormPlace>(
  text: string,
  mentions: readonly One[],
  others: readonly FormPlace[],
): One[] {
  // A time beside a day is one sign.
  const part = (from: number, to: number) => {
    const inside = others.filter((one) => one.from >= from && one.to <= to);
    return inside.reduceRight(
      (rest, one) => `${rest.slice(0, one.from - from)}#${rest.slice(one.to - from)}`,
      text.slice(from, to),
    );
  };
  const isDenied = ({ from }: One) => {
    const found = DENIED.exec(part(0, from));
    return found !== null && found.groups?.why === undefined;
  };
  const isReplaced = (one: One, next: One | undefined) => {
    const between = next === undefined ? '' : part(one.to, next.from);
    if (!BETWEEN.test(between)) return false;
    return TAKES_BACK.test(between) || (between.includes(' but ') && NEGATED.test(text.slice(0, one.from)));
  };
  return mentions.filter((one, at) => !isDenied(one) && !isReplaced(one, mentions[at + 1]));
}
