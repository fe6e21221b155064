import { LIMITS } from '../../../domain/limits.js';
import type { Slices } from '../../../engine/time/slices.js';
import { hashedRow } from '../learned/feature_bag.js';
import { answersOf } from '../learned/hashed_model.js';
import { type Chances, chosenItems, type ItemKind, type ItemPlace } from '../learned/item_finder.js';
import { SAID_BEFORE_MAX, saidFeatures } from '../learned/said_ranking.js';
import type { TalkModel } from '../learned/talk_model.js';
import type { InsightInput } from './insight_input.js';
import { matterStems, shownSentence } from './item_text.js';
import { itemWords } from './item_words.js';
import type { Note } from './memo.js';
import { OFFERS, taskOwner } from './owners.js';
import type { Sentence } from './sentences.js';
import { SpokenDates, type SpokenDue } from './spoken_dates.js';
import type { SpokenTalk, SpokenUnit } from './spoken_units.js';
import type { NewSuggestion } from './suggestion_changes.js';

/** Suggestions: what the finder found, as a sentence, with who is to do it and when it is due. */

/** Two items that share so much of what they are about are one. */
const SAME_MATTER_MIN = 0.8;
/** How often a word of an item is said at most, on average. */
const REPEATED_MAX = 3;
/** So many sentences before, a time of the same day may have been said. */
const TIME_SENTENCES = 3;
const FOLLOW_UP =
  /\b(?:get back to|come back to (?:you|them|him|her)|follow(?:ing)? up|report back|let (?:you|them|him|her|everybody|everyone) know|keep (?:you|them) posted|check back|circle back|chase)\b/i;

/** Answers that it is done: "Yes, I paid it on Monday." */
const SAYS_DONE =
  /^(?:(?:yes|yeah|yep|no|oh|well|sure|okay|ok|and|already),? )*(?:i|we|he|she|they)(?:['’]ve| have|['’]s| has)? (?:already |just |only )*(?:\p{L}{2,}ed|paid|sent|did|done|took|taken|got|bought|made|told|gave|wrote|left|brought|found|went|sold|spoke|rang)\b(?! to\b)(?!.*(?:['’](?:ll|d)|\bwill|going to|need to|have to|must|should)\b)/iu;

type ItemsInput = Pick<InsightInput, 'people' | 'suggestion_kinds' | 'time_zone'>;
/** `notes`: those of a memo; null for a conversation. */
type HeardTalk = { talk: SpokenTalk; sentences: readonly Sentence[]; chances: Chances; notes: readonly Note[] | null };
/** The sentence with which it became an item, and those that say what it is. */
type SaidItem = ItemPlace & { own: Sentence; said: Sentence; context: Sentence | null };

export async function itemsIn(
  heard: HeardTalk,
  input: ItemsInput,
  model: TalkModel,
  slices: Slices,
): Promise<NewSuggestion[]> {
  const dates = new SpokenDates(input.time_zone);
  for (const sentence of heard.sentences) {
    dates.read(sentence);
    await slices.pause();
  }
  const kept: NewSuggestion[] = [];
  for (const said of saidItems(heard, model)) {
    if (kept.length >= LIMITS.suggestions_per_result_max) break;
    const item = suggestionOf(said, heard, { input, dates });
    await slices.pause();
    if (item === null) continue;
    const same = kept.find((one) => isSameMatter(one, item));
    if (same === undefined) kept.push(item);
    else repeat(same, item);
  }
  return kept;
}

function saidItems({ talk, sentences, chances, notes }: HeardTalk, model: TalkModel): SaidItem[] {
  if (notes !== null)
    return notes.map((note) => ({ ...note, chance: 1, said: note.own, context: contextOf(note, sentences) }));
  return chosenItems(chances, model.items.bounds).map((place) => ({ ...place, ...saidOf(place, talk, model) }));
}

/** An item that is said again gives the day and the owner that the first one lacks. */
function repeat(same: NewSuggestion, item: NewSuggestion): void {
  same.owner ??= item.owner;
  if (same.due_at === null && same.due_date === null)
    Object.assign(same, { due_at: item.due_at, due_date: item.due_date });
  same.evidence = [...(same.evidence ?? []), ...(item.evidence ?? [])].slice(0, LIMITS.evidence_spans_max);
}

/** The sentence before a note, which may say what its pronouns mean. */
function contextOf({ own }: Note, sentences: readonly Sentence[]): Sentence | null {
  const before = sentences[own.place - 1];
  return before !== undefined && matterStems(before.text).size > 1 ? before : null;
}

/** The sentence that says what an item is about, and one before it that may say what its pronouns mean. */
function saidOf(place: ItemPlace, talk: SpokenTalk, { said, words }: TalkModel): Omit<SaidItem, keyof ItemPlace> {
  const ranked: { sentence: Sentence; worth: number }[] = [];
  for (let distance = 0; distance <= Math.min(SAID_BEFORE_MAX, place.at); distance++) {
    const { sentences } = talk.utterances[place.at - distance] as SpokenUnit;
    for (const [at, sentence] of sentences.entries()) {
      const is_last = at === sentences.length - 1;
      const bag = saidFeatures({ ...place, distance, text: sentence.text, is_last }, talk, words);
      ranked.push({ sentence, worth: answersOf(said, hashedRow(bag, said.bits, null))[0] ?? 0 });
    }
  }
  ranked.sort((a, b) => b.worth - a.worth);
  const { sentences } = talk.utterances[place.at] as SpokenUnit;
  const best = ranked[0]?.sentence as Sentence;
  const offer = place.kind === 'task' ? sentences.find(({ text }) => OFFERS.test(text.toLowerCase())) : undefined;
  const own = offer ?? ranked.find(({ sentence }) => sentences.includes(sentence))?.sentence ?? best;
  const context = ranked.find(({ sentence }) => sentence.place < best.place && matterStems(sentence.text).size > 1);
  return { own, said: best, context: context?.sentence ?? null };
}

function suggestionOf(
  { kind, at, own, said, context }: SaidItem,
  { talk, sentences, notes }: HeardTalk,
  { input, dates }: { input: ItemsInput; dates: SpokenDates },
): NewSuggestion | null {
  const names = input.people.flatMap(({ name }) => (name ?? '').split(/\s+/)).filter((name) => name !== '');
  const { plain, parts } = itemWords({ kind, own, said, context }, names);
  if (!namesMatter(plain)) return null;
  const shown_kind = kind === 'task' && FOLLOW_UP.test(plain) ? 'follow_up' : kind;
  if (!input.suggestion_kinds.includes(shown_kind)) return null;
  const is_task = kind === 'task';
  const owner = is_task ? taskOwner(own, said, input.people) : null;
  const is_answer = sentences[own.place - 1]?.text.endsWith('?') === true;
  if (is_task && is_answer && SAYS_DONE.test(own.text)) return null;
  const beside = (talk.utterances[at] as SpokenUnit).sentences.filter((one) => !parts.includes(one));
  const between = sentences.slice(said.place + 1, own.place);
  const due_in = [...(kind === 'reminder' ? [said, own] : [own, said]), ...beside, ...between];
  const before = sentences.slice(Math.max(0, said.place - TIME_SENTENCES), said.place);
  const due = kind === 'question' ? null : notes === null ? dates.due(due_in, before) : dueOfNote(own, input);
  const requester = is_task && said.speaker !== owner && own !== said ? said.speaker : null;
  const evidence = [...parts].sort((a, b) => a.place - b.place).flatMap((one) => one.evidence);
  return {
    op: 'new',
    kind: shown_kind,
    text: shownSentence(plain, names),
    due_at: due?.due_at ?? null,
    due_date: due?.due_date ?? null,
    owner,
    requester,
    evidence: distinct(evidence).slice(0, LIMITS.evidence_spans_max),
  };
}

/** Notes of a memo have nothing to do with each other: each says its own day and time. */
function dueOfNote(own: Sentence, { time_zone }: ItemsInput): SpokenDue | null {
  const dates = new SpokenDates(time_zone);
  dates.read(own);
  return dates.due([own]);
}

/** Whether it is a sentence about something: not a sound, nor the same words over and over. */
function namesMatter(plain: string): boolean {
  const words = plain.toLowerCase().split(' ');
  return matterStems(plain).size > 0 && new Set(words).size * REPEATED_MAX >= words.length;
}

function distinct(evidence: Sentence['evidence']): Sentence['evidence'] {
  return evidence.filter(
    ({ turn, quote }, at) => evidence.findIndex((one) => one.turn === turn && one.quote === quote) === at,
  );
}

const GROUP: Record<string, ItemKind> = { follow_up: 'task' };

function isSameMatter(one: NewSuggestion, other: NewSuggestion): boolean {
  if ((GROUP[one.kind] ?? one.kind) !== (GROUP[other.kind] ?? other.kind)) return false;
  if (one.text === other.text) return true;
  const [own, others] = [matterStems(one.text), matterStems(other.text)];
  const shared = [...own].filter((stem) => others.has(stem)).length;
  return shared > 1 && shared >= Math.max(own.size, others.size) * SAME_MATTER_MIN;
}
