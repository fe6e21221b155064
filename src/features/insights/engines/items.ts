import { LIMITS } from '../../../domain/limits.js';
import type { Slices } from '../../../engine/time/slices.js';
import { DecisionFinder } from './decision_items.js';
import { Dialogue } from './dialogue.js';
import { addDueIn, addSaid, type FoundItem } from './found_item.js';
import type { InsightInput } from './insight_input.js';
import { matterStems, shownSentence } from './item_text.js';
import { OpenQuestionFinder } from './open_question_items.js';
import { ReminderFinder } from './reminder_items.js';
import type { Sentence } from './sentences.js';
import { SpokenDates } from './spoken_dates.js';
import type { NewSuggestion } from './suggestion_changes.js';
import { TodoFinder } from './todo_items.js';

/** Suggestions made of the sentences that promise, ask, decide, leave open and remind. */

/** Two items that share so much of what they are about are one. */
const SAME_MATTER_MIN = 0.8;
/** So many sentences before, a time of the same day may have been said. */
const TIME_SENTENCES = 3;

type ItemsInput = Pick<InsightInput, 'people' | 'suggestion_kinds' | 'time_zone'>;

export async function itemsIn(
  sentences: readonly Sentence[],
  input: ItemsInput,
  slices: Slices,
): Promise<NewSuggestion[]> {
  const dialogue = new Dialogue(input.people);
  const dates = new SpokenDates(input.time_zone);
  for (const sentence of sentences) {
    if (dialogue.add(sentence).said !== '') dates.read(sentence);
    await slices.pause();
  }
  const todo = new TodoFinder(dialogue, dates);
  const finders = [
    todo,
    new ReminderFinder(dialogue, dates),
    new DecisionFinder(dialogue, dates),
    new OpenQuestionFinder(dialogue),
  ];
  for (const sentence of dialogue.sentences) {
    for (const finder of finders) finder.look(sentence);
    await slices.pause();
  }
  const found = finders.flatMap(({ items }) => items).filter(({ kind }) => input.suggestion_kinds.includes(kind));
  const items: FoundItem[] = [];
  for (const item of found.sort((a, b) => a.place - b.place)) {
    if (items.length >= LIMITS.suggestions_per_result_max) break;
    if (!isDecided(item, found)) addDistinct(items, item);
    await slices.pause();
  }
  return items.map((item) => suggestionOf(item, { dates, dialogue }));
}

const GROUP = {
  task: 'todo',
  follow_up: 'todo',
  reminder: 'todo',
  decision: 'decision',
  question: 'question',
} as const;

/** "We'll take the train" is no task where it is a decision. */
function isDecided({ kind, text, place }: FoundItem, found: readonly FoundItem[]): boolean {
  if (kind !== 'task' || !/^we\b/i.test(text)) return false;
  return found.some((other) => other.kind === 'decision' && other.place === place);
}

/** Adds an item, or what is said of one that there is already to that one. */
function addDistinct(kept: FoundItem[], item: FoundItem): void {
  const same = kept.find((one) => GROUP[one.kind] === GROUP[item.kind] && isSameMatter(one, item));
  if (same === undefined) {
    kept.push(item);
    return;
  }
  same.owner ??= item.owner;
  addSaid(same, item.said);
  addDueIn(same, item.due_in, { first: false });
}

function isSameMatter(one: FoundItem, other: FoundItem): boolean {
  if (one.kind === other.kind && one.place === other.place) return true;
  const is_shared = one.said.some((sentence) => other.said.includes(sentence));
  if (is_shared && one.kind === other.kind && one.owner === other.owner && one.text === other.text) return true;
  if ((one.kind === 'reminder') !== (other.kind === 'reminder')) return one.text === other.text;
  const [own, others] = [matterStems(one.text), matterStems(other.text)];
  const shared = [...own].filter((stem) => others.has(stem)).length;
  return shared > 1 && shared >= Math.max(own.size, others.size) * SAME_MATTER_MIN;
}

function suggestionOf(item: FoundItem, { dates, dialogue }: { dates: SpokenDates; dialogue: Dialogue }): NewSuggestion {
  const evidence = item.said.flatMap((sentence) => sentence.evidence);
  const distinct_evidence = evidence.filter(
    ({ turn, quote }, at) => evidence.findIndex((one) => one.turn === turn && one.quote === quote) === at,
  );
  const due = item.kind === 'question' ? null : dates.due(item.due_in, dialogue.before(item.place, TIME_SENTENCES));
  return {
    op: 'new',
    kind: item.kind,
    text: shownSentence(item.text, dialogue.names),
    due_at: due?.due_at ?? null,
    due_date: due?.due_date ?? null,
    owner: item.owner,
    requester: item.requester,
    evidence: distinct_evidence.slice(0, LIMITS.evidence_spans_max),
  };
}
