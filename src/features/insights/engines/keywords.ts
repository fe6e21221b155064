import { cleanText } from './clean_text.js';
import type { InputPerson, InputTurn } from './insight_input.js';
import { stems, wordsOf } from './stems.js';

/** The keywords of a conversation: words that it says often and that are rare in most conversations. */

const WORD_CHARS_MIN = 3;
/** A phrase of two words weighs more than each of them. */
const PAIR_WEIGHT = 2.5;
/** Words that say how something is said, not what: in every conversation, of the languages that are heard most. */
const COMMON = new Set(
  `one two three four five six seven eight nine ten hundred need needs meeting talk talking ah alright basically er erm gonna gotta guess hm hmm huh kinda mhm mm mmm nope obviously point sort sorta stuff uh uhh uhm
umm wanna whatever whether yep yup actual actually bit certain certainly definitely different exactly fact far feel fine
hard maybe number particular possible question second side start suppose sure thinking told true understand used using
word words work working wrong a about after again all also always am an and another any anything are around as at away back be because been before
being but by came can cannot come could day did do does doing done down each even every everything few find first for
from gave get getting give go goes going gone good got great had has have having he hear hello her here hers hey him his
how i if in into is it its just keep kind know last later least let like little long look lot made make many may maybe me
mean might mine more most much must my never new next nice no not nothing now of off oh ok okay on once one only or other
our out over own people perhaps please probably put quite rather really right said same saw say see seem send she should
since so some something sometimes soon sorry still such sure take tell than thank thanks that the their them then there
these they thing things think this those though thought through time to today together tomorrow too took two um up us use
very wait want was way we well went were what when where which while who whole why will with without won would yeah year
yes yesterday yet you your yours
aber als also am an auch auf aus bei bin bis da dann das dass dem den der die dir doch du durch ein eine einen einer
er es für ganz gut hab habe haben hat hier ich ihr im immer in ist ja jetzt kann kein können machen mal man mehr mein mich
mir mit nach nicht noch nur oder schon sehr sein sich sie sind so um und uns vom von vor war was weil wenn wer wie wieder
wir wird zu zum zur
avec bien ça ce cette c'est comme dans de des du elle en est et être fait faire il ils je j'ai la le les leur lui mais me
même moi mon ne non nous on ou où oui par pas plus pour qu quand que qui se si son sur te tout tu un une va vous y
al algo así bien como con cuando de del el ella en entonces era es esa ese eso está este esto fue hay la las lo los más me
mi muy no nos o para pero porque por que qué se ser si sí sin son su también tengo tiene todo un una uno vamos ya yo`.split(
    /\s+/,
  ),
);

type Candidate = { words: string; stem: string; weight: number; first: number };

/** Words and pairs of words, the weightiest first, as they were said. */
export function keywords(
  turns: readonly InputTurn[],
  { people, count, language }: { people: readonly InputPerson[]; count: number; language: string | null },
): string[] {
  const found = new Map<string, Candidate>();
  const unwanted = new Set([
    ...calendarWords(language),
    ...people.flatMap(({ name }) => wordsOf((name ?? '').toLowerCase())),
  ]);
  const add = (words: string, weight: number, first: number) => {
    const stem = [...stems(words, language)].join(' ');
    const known = found.get(stem);
    if (known === undefined) found.set(stem, { words, stem, weight, first });
    else known.weight += weight;
  };
  for (const { number, text } of turns) {
    // Signs end a phrase.
    for (const part of cleanText(text)
      .toLowerCase()
      .split(/[^\p{L}\p{N}\p{M}'’\s-]+/u)) {
      let before: string | null = null;
      for (const word of wordsOf(part)) {
        const is_weighty =
          word.length >= WORD_CHARS_MIN &&
          !COMMON.has(word) &&
          !unwanted.has(word) &&
          /^\p{L}[\p{L}\p{M}]*$/u.test(word);
        if (is_weighty) add(word, 1 + Math.min(word.length, 12) / 12, number);
        if (is_weighty && before !== null) add(`${before} ${word}`, PAIR_WEIGHT, number);
        before = is_weighty ? word : null;
      }
    }
  }
  const chosen: Candidate[] = [];
  const sorted = [...found.values()].sort(
    (a, b) => b.weight - a.weight || a.first - b.first || (a.stem < b.stem ? -1 : 1),
  );
  for (const one of sorted) {
    if (chosen.length >= count) break;
    // A word of a phrase that is there already says nothing more, nor does a phrase that was said once.
    const is_said = chosen.some(({ stem }) => stem.split(' ').some((word) => one.stem.split(' ').includes(word)));
    if (!is_said && !(one.stem.includes(' ') && one.weight <= PAIR_WEIGHT)) chosen.push(one);
  }
  return chosen.map(({ words }) => words);
}

/** Names of days and months in a language, as its texts have them. */
function calendarWords(language: string | null): string[] {
  const tag = language !== null && Intl.DateTimeFormat.supportedLocalesOf(language).length > 0 ? language : 'en';
  const days = new Intl.DateTimeFormat(tag, { weekday: 'long', timeZone: 'UTC' });
  const months = new Intl.DateTimeFormat(tag, { month: 'long', timeZone: 'UTC' });
  const names = [
    ...Array.from({ length: 7 }, (_, day) => days.format(Date.UTC(2026, 0, 1 + day))),
    ...Array.from({ length: 12 }, (_, month) => months.format(Date.UTC(2026, month, 1))),
  ];
  return names.flatMap((name) => wordsOf(name.toLowerCase()));
}
