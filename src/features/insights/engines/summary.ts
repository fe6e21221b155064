import type { InputPerson, RawSentence } from './insight_input.js';
import { capitalized, plainSentence, shownSentence } from './item_text.js';
import type { Sentence } from './sentences.js';
import type { Subject } from './subjects.js';
import type { NewSuggestion } from './suggestion_changes.js';

/** The sentences of a summary: decisions, and what was said of the weightiest subjects. */

const SENTENCES = { usual: 3, max: 5 };
const ANNOUNCED_MAX = 3;
const DECISIONS_MAX = 4;
const TEXT_CHARS_MAX = 260;
const WORDS = { min: 7, max: 40 };
const ASSENT_WORDS_MAX = 2;
/** A sentence's weight is divided by its length in characters to this power. */
const LENGTH_DAMPS = 0.35;
/** Of a subject that a chosen sentence has named already. */
const REPEATED_WEIGHT = 0.25;

/** Without one of these it is part of a sentence. */
const HAS_VERB =
  /\b(?:is|are|was|were|has|have|had|will|can|must|need|needs|want|wants|do|does|did|get|gets|got|go|goes|went|take|takes|took|make|makes|made|come|comes|came|said|says)\b|['’](?:s|re|ve|ll|m)\b|\b(?:i|we|you|he|she|they|it)\s/iu;
/** A figure, in digits or words. */
const NUMBER =
  /\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|half)\b/iu;
/** Begins with what another sentence has named. */
const POINTS_BACK =
  /^(?:(?:and|but|so|well|yes|no|okay|oh|then|right),? )*(?:that|this|it|they|he|she|those|these)(?:['’]\w+)?\s/iu;
/** Asked, proposed, supposed, or said of what did not come about. */
const UNSETTLED =
  /\?$|\b(?:maybe|perhaps|could|might|would|should|shall|what if|what about|how about|or we|if i|if we|if you|i'd|we'd|you'd|i say|i think|i thought|i mean|or the|or they|suppose|wish|no idea|don't know|not sure|let me|please|thank|sorry)\b/iu;

/**
 * Two to five sentences: what the conversation announces, what was decided, then what says most of the weightiest subjects;
 * in the order in which they were said.
 */
export function summaryOf({
  sentences,
  subjects,
  items,
  people,
}: {
  sentences: readonly Sentence[];
  subjects: readonly Subject[];
  items: readonly NewSuggestion[];
  people: readonly InputPerson[];
}): RawSentence[] {
  const names = people.flatMap(({ name }) => (name === null ? [] : (name.split(' ', 1)[0] ?? [])));
  const opening = openingOf(sentences, subjects);
  const named = namedIn(opening, subjects);
  const decisions = items.flatMap((item) =>
    item.kind === 'decision' ? [{ text: settledText(item.text), evidence: item.evidence }] : [],
  );
  const chosen = heaviest(decisions, subjects, { most: DECISIONS_MAX, damps: 0, named: new Set() });
  for (const subject of namedIn(chosen, subjects)) named.add(subject);
  const taken = new Set([...opening, ...items].flatMap(({ evidence = [] }) => evidence.map(({ turn }) => turn)));
  const plain = sentences
    .filter(({ text, turns }) => isStatement(text) && !turns.some((turn) => taken.has(turn)))
    .map(({ text, evidence }) => ({ text: shownSentence(plainSentence(text), names), evidence }));
  const tasks = items.flatMap(({ kind, text, evidence }) => (kind === 'task' ? [{ text, evidence }] : []));
  const decided = namedIn(chosen, subjects);
  const behind = plain.filter(({ text }) => NUMBER.test(text) && namesOneOf(text, decided));
  const length = opening.length + chosen.length;
  const context = length < SENTENCES.max ? heaviest(behind, subjects, { most: 1, damps: LENGTH_DAMPS, named }) : [];
  const left = [...plain.filter((one) => !context.includes(one)), ...tasks];
  const most = SENTENCES.usual - length - context.length;
  const more = [...context, ...(most > 0 ? heaviest(left, subjects, { most, damps: LENGTH_DAMPS, named }) : [])];
  const first = ({ evidence = [] }: RawSentence) => evidence[0]?.turn ?? 0;
  return [
    ...opening,
    ...[...chosen, ...more].map(({ text, evidence = [] }) => ({ text, evidence })).sort((a, b) => first(a) - first(b)),
  ];
}

/** Says the subjects that somebody has announced. */
function openingOf(sentences: readonly Sentence[], subjects: readonly Subject[]): RawSentence[] {
  const announced = subjects.filter(({ is_announced }) => is_announced).slice(0, ANNOUNCED_MAX);
  const places = new Set(announced.map(({ first }) => Math.floor(first)));
  const said = announced.sort((a, b) => a.first - b.first).map((subject) => subject.said);
  const last = said.pop();
  if (last === undefined) return [];
  const evidence = sentences.filter(({ place }) => places.has(place)).flatMap((sentence) => sentence.evidence);
  return [{ text: `It is about ${said.length === 0 ? last : `${said.join(', ')} and ${last}`}.`, evidence }];
}

/** A decision without the proposal that it answers; "what about" that is its matter comes first. */
function settledText(text: string): string {
  const [, matter = '', decided] = /^(.+?): (.+)$/u.exec(text) ?? [];
  if (decided === undefined) return text;
  const [, about] = /^(?:what|how) about (.+?)[.?]*$/iu.exec(matter) ?? [];
  if (about !== undefined) return `${capitalized(about)}: ${decided}`;
  // Who only says yes decides what was proposed.
  if (decided.split(' ').length <= ASSENT_WORDS_MAX) return `${matter}.`;
  return UNSETTLED.test(matter) ? capitalized(decided) : text;
}

function isStatement(text: string): boolean {
  const words = text.split(' ').length;
  return (
    words >= WORDS.min &&
    words <= WORDS.max &&
    text.length <= TEXT_CHARS_MAX &&
    HAS_VERB.test(text) &&
    !POINTS_BACK.test(text) &&
    !UNSETTLED.test(text)
  );
}

/** One after another, each weighed by what those before it have not named. */
function heaviest<One extends RawSentence>(
  from: readonly One[],
  subjects: readonly Subject[],
  { most, damps, named }: { most: number; damps: number; named: Set<Subject> },
): One[] {
  const left = from.map((one) => ({ one, subjects: subjects.filter((subject) => names(one.text, subject)) }));
  const chosen: One[] = [];
  while (chosen.length < most && left.length > 0) {
    let [best, best_weight] = [0, -1];
    for (const [at, { one, subjects: own }] of left.entries()) {
      const sum = own.reduce((all, subject) => all + subject.weight * (named.has(subject) ? REPEATED_WEIGHT : 1), 0);
      const weight = sum / one.text.length ** damps;
      if (weight > best_weight) [best, best_weight] = [at, weight];
    }
    const [taken] = left.splice(best, 1);
    if (taken === undefined) break;
    chosen.push(taken.one);
    for (const subject of taken.subjects) named.add(subject);
  }
  return chosen;
}

function namesOneOf(text: string, subjects: ReadonlySet<Subject>): boolean {
  return [...subjects].some((subject) => names(text, subject));
}

function namedIn(chosen: readonly RawSentence[], subjects: readonly Subject[]): Set<Subject> {
  return new Set(subjects.filter((subject) => chosen.some(({ text }) => names(text, subject))));
}

function names(text: string, { text: subject }: Subject): boolean {
  return text.toLowerCase().includes(subject.toLowerCase());
}
