/** Days and times that a sentence takes back: "not tomorrow but on Monday", "at nine, no, at ten". */

type Mention = { from: number; to: number };

/** May stand between "not" and what is denied. */
const BEFORE_DENIED = new Set(['on', 'by', 'at', 'in', 'for', 'the', 'this', 'from']);
/** May stand between what is taken back and what takes its place. */
const BETWEEN = new Set(
  `, . ; no sorry wait rather actually better correction oh or well i mean meant make that it scratch let's say not but on by at in for the this
   until before around`.split(/\s+/),
);
const TAKES_BACK =
  /\b(?:no|sorry|wait|rather|actually|better|correction|i mean|i meant|make (?:that|it)|scratch that)\b/u;
const SIGN = /^[,.;?!]$/u;
const NEGATION = /^(?:not|never|\w+n't)$/u;

/** The mentions that stand, in their order. `others`: times beside days, or days beside times. */
export function standing<One extends Mention>(
  words: readonly string[],
  mentions: readonly One[],
  others: readonly Mention[],
): One[] {
  const sorted = [...mentions].sort((a, b) => a.from - b.from);
  const isBeside = (at: number) => others.some(({ from, to }) => at >= from && at < to);
  return sorted.filter((one, at) => {
    const next = sorted.slice(at + 1).find(({ from }) => from >= one.to);
    return !isDenied(words, one, isBeside) && (next === undefined || !isReplaced(words, one, next, isBeside));
  });
}

type IsBeside = (at: number) => boolean;

function isDenied(words: readonly string[], { from }: Mention, isBeside: IsBeside): boolean {
  let at = from - 1;
  while (BEFORE_DENIED.has(words[at] ?? '') || (at >= 0 && isBeside(at))) at--;
  const [before, word] = [words[at - 1] ?? '', words[at] ?? ''];
  if (word === 'not') return before !== 'why';
  return (word === 'of' && before === 'instead') || (word === 'than' && before === 'rather');
}

function isReplaced(
  words: readonly string[],
  { from: begin, to }: Mention,
  { from }: Mention,
  isBeside: IsBeside,
): boolean {
  const between = words.slice(to, from).filter((_, at) => !isBeside(to + at));
  if (!between.every((word) => BETWEEN.has(word))) return false;
  if (TAKES_BACK.test(between.join(' '))) return true;
  return between.includes('but') && isNegated(words, begin);
}

/** "I won't come tomorrow but on Friday" */
function isNegated(words: readonly string[], from: number): boolean {
  for (let at = from - 1; at >= 0 && !SIGN.test(words[at] ?? ''); at--) if (NEGATION.test(words[at] ?? '')) return true;
  return false;
}
