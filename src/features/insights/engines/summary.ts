import type { SummaryWorth } from '../learned/summary_scorer.js';
import type { WordTable } from '../learned/word_table.js';
import type { RawSentence } from './insight_input.js';
import { plainSentence, shownSentence } from './item_text.js';
import type { SpokenTalk, SpokenUnit } from './spoken_units.js';

/** The sentences of a summary: what is worth most, and different from what is there already. */

const SENTENCES_MAX = 5;
/** An utterance beside a chosen one joins its sentence from this worth on, if both have at most so many words. */
const JOINED = { worth_min: 0.3, words_max: 30 };
const MATTER_WORDS_MIN = 2;
const TEXT_CHARS_MAX = 320;

type SummaryTalk = { talk: SpokenTalk; worths: readonly SummaryWorth[]; names: readonly string[] };

export function summaryOf({ talk, worths, names }: SummaryTalk, words: WordTable): RawSentence[] {
  const groups = chosenGroups(talk, worths, words);
  return groups.map((group) =>
    sentenceOf(
      group.map((at) => talk.utterances[at] as SpokenUnit),
      names,
    ),
  );
}

/** Utterances by sentence, in the order in which they were said. */
function chosenGroups({ utterances }: SpokenTalk, worths: readonly SummaryWorth[], words: WordTable): number[][] {
  const groups: number[][] = [];
  const [said, taken] = [new Set<string>(), new Set<number>()];
  const wordsOf = (at: number) => (utterances[at]?.text ?? '').split(' ').length;
  const groupBeside = (at: number) =>
    groups.find(
      (group) =>
        (group[0] === at + 1 || group.at(-1) === at - 1) &&
        group.reduce((sum, one) => sum + wordsOf(one), wordsOf(at)) <= JOINED.words_max,
    );
  for (;;) {
    let best: { at: number; worth: number; group: number[] | undefined } | null = null;
    for (const at of utterances.keys()) {
      const { matter, worth: own } = worths[at] as SummaryWorth;
      if (taken.has(at) || matter.words.length < MATTER_WORDS_MIN) continue;
      const fresh = matter.words.reduce((sum, word) => sum + (said.has(word) ? 0 : words.rarity(word)), 0);
      const worth = (own * fresh) / (matter.weight || 1);
      const group = groupBeside(at);
      const is_allowed = group === undefined ? groups.length < SENTENCES_MAX : worth >= JOINED.worth_min;
      if (is_allowed && (best === null || worth > best.worth)) best = { at, worth, group };
    }
    if (best === null) break;
    const { at, group } = best;
    taken.add(at);
    if (group === undefined) groups.push([at]);
    else group.splice(group[0] === at + 1 ? 0 : group.length, 0, at);
    for (const word of (worths[at] as SummaryWorth).matter.words) said.add(word);
  }
  return groups.sort((a, b) => (a[0] as number) - (b[0] as number));
}

function sentenceOf(units: readonly SpokenUnit[], names: readonly string[]): RawSentence {
  const parts = units.flatMap(({ sentences }) => sentences);
  const texts: string[] = [];
  for (const [at, { text, speaker, is_punctuated }] of parts.entries()) {
    const plain = plainSentence(text);
    if (!/\p{L}{2}/u.test(plain)) continue;
    const before = parts[at - 1];
    // Without punctuation a sentence is only a clause: what one person goes on to say is one sentence.
    const goes_on = !is_punctuated && before !== undefined && before.speaker === speaker && texts.length > 0;
    if (goes_on) texts.push(`${texts.pop()}, ${plain}`);
    else texts.push(plain);
  }
  const text = texts.map((one) => shownSentence(one, names)).join(' ');
  return { text: text.slice(0, TEXT_CHARS_MAX), evidence: parts.flatMap(({ evidence }) => evidence) };
}
