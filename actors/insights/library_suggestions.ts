import { LIMITS } from '../../src/domain/limits.js';
import { isRefusal, type Refusal, refuse } from '../../src/domain/refusals.js';
import { mayBecome } from '../../src/domain/suggestions.js';
import { type Decision, type Facts, given, messagesOf, type Read, type RecordQuery } from '../actor.js';
import { feedbackGiven, itemIn, itemOr, itemRecord, itemRecords, NO_ITEM_HERE, suppressedOf } from './item_records.js';
import { type Grouped, type GroupOf, groupRecords, join, move } from './library_groups.js';
import { act, Writing } from './library_items.js';
import type {
  FeedbackVerdict,
  Library,
  Rating,
  Roles,
  Suggestion,
  SuggestionKind,
  SuggestionStatus,
} from './library_state.js';

/** Changes of suggestions by people. After any of them no run withdraws the suggestion. */

const TOO_MANY = refuse('CONFLICT', `At most ${LIMITS.group_members_max} suggestions are grouped at once.`);
const NO_GROUP = refuse('NOT_FOUND', 'There is no such group of suggestions.');

/** `stems`: those of the text, if there is one. */
type SuggestionEdit = {
  number: number;
  state_version: number;
  kind?: SuggestionKind | undefined;
  text?: string | undefined;
  stems?: string[] | undefined;
  due_at_ms?: number | null | undefined;
  /** Given with `due_at_ms`, which is its noon; absent beside a time. */
  due_date?: string | null | undefined;
  roles?: Partial<Roles> | undefined;
  status?: SuggestionStatus | undefined;
};
type Review = { number: number; state_version: number; verdict: FeedbackVerdict; note: string | null };
type GivenFeedback = { number: number; rating: Rating; comment: string | null };
type Grouping = { numbers: number[]; group: number | null };
type Shown = Decision<Library, { item: Suggestion }>;

const ofLibrary = given((state: Library | null) => state ?? NO_ITEM_HERE);

export const suggestionMessages = messagesOf<Library>()({
  edit_suggestion: {
    records: ({ number }: SuggestionEdit) => itemRecords('suggestion', number),
    further: suppressedNear,
    decide: ofLibrary((state, edit: SuggestionEdit, facts): Shown => {
      const was = ofVersion(edit, facts);
      if (isRefusal(was)) return { reply: was };
      const { fields, changed_fields } = editOf(was, edit);
      if (changed_fields.length === 0) return { reply: { item: was } };
      const { status } = edit;
      if (status !== undefined && status !== was.status && !mayBecome(was.status, status))
        return { reply: refuse('CONFLICT', `A suggestion that is ${was.status} can not become ${status}.`) };
      // From here on it succeeds.
      const writing = new Writing(state, facts);
      const protected_fields = [...new Set([...was.protected_fields, ...changed_fields])];
      const item = act(writing, edit.number, { was, fields: { ...fields, protected_fields }, changed_fields });
      const what = { kind: 'suggestion' as const, number: edit.number, pipeline_id: was.pipeline_id };
      if (item.status === 'dismissed') writing.suppress(what, item.evidence, item.made_stems ?? item.stems);
      else if (was.status === 'dismissed') writing.unsuppress(what, item.evidence);
      return writing.done({ item });
    }),
  },

  review: {
    records: ({ number }: Review) => itemRecords('suggestion', number),
    decide: ofLibrary((state, { number, state_version, verdict, note }: Review, facts): Shown => {
      const was = ofVersion({ number, state_version }, facts);
      if (isRefusal(was)) return { reply: was };
      if (was.review?.verdict === verdict && was.review.note === note) return { reply: { item: was } };
      const writing = new Writing(state, facts);
      const review = { verdict, note, at_ms: facts.now_ms };
      const item = act(writing, number, { was, fields: { review }, changed_fields: ['review'] });
      return writing.done({ item });
    }),
  },

  /** Records no event, but counts as a change for retention. */
  feedback: {
    records: ({ number }: GivenFeedback) => itemRecords('suggestion', number),
    decide: ofLibrary((state, { number, rating, comment }: GivenFeedback, facts): Decision<Library, FeedbackReply> => {
      const was = itemOr(facts, 'suggestion', number);
      if (isRefusal(was)) return { reply: was };
      const writing = new Writing(state, facts);
      const feedback = { ...was.feedback, [rating]: was.feedback[rating] + 1 };
      const item = writing.touch('suggestion', number, { ...was, feedback, touched: true });
      const created_at_ms = facts.now_ms;
      writing.addFeedback(number, item, { rating, comment, created_at_ms });
      return writing.done({ number: feedbackGiven(item), created_at_ms, item });
    }),
  },

  /** Puts suggestions together, in a new group if none is named. */
  group: {
    records: ({ numbers }: Grouping) => numbersIn(numbers).flatMap((number) => itemRecords('suggestion', number)),
    further: ({ numbers, group }: Grouping, _state, read: Read) => groupRecords(numbersIn(numbers), group, read),
    decide: ofLibrary((state, { numbers, group }: Grouping, facts): Decision<Library, GroupOf> => {
      const all = several(numbers, facts);
      if (isRefusal(all)) return { reply: all };
      const writing = new Writing(state, facts);
      if (group !== null && group > writing.insights.given.group) return { reply: NO_GROUP };
      const reply = join(writing, all, group ?? commonGroup(all));
      return writing.effects.length === 0 ? { reply } : writing.done(reply);
    }),
  },

  separate: {
    records: ({ numbers }: Pick<Grouping, 'numbers'>) =>
      numbersIn(numbers).flatMap((number) => itemRecords('suggestion', number)),
    further: ({ numbers }: Pick<Grouping, 'numbers'>, _state, read: Read) =>
      groupRecords(numbersIn(numbers), null, read),
    decide: ofLibrary(
      (state, { numbers }: Pick<Grouping, 'numbers'>, facts): Decision<Library, Pick<GroupOf, 'items'>> => {
        const all = several(numbers, facts);
        if (isRefusal(all)) return { reply: all };
        const writing = new Writing(state, facts);
        const items = move(writing, all, null);
        return writing.effects.length === 0 ? { reply: { items } } : writing.done({ items });
      },
    ),
  },
});

type FeedbackReply = { number: number; created_at_ms: number; item: Suggestion };

/** The members of an edit that differ from the present values. */
function editOf(
  was: Suggestion,
  { kind, text, stems, due_at_ms, due_date = null, roles, status }: SuggestionEdit,
): { fields: Partial<Suggestion>; changed_fields: string[] } {
  const fields: Partial<Suggestion> = {};
  const changed_fields: string[] = [];
  if (kind !== undefined && kind !== was.kind) {
    fields.kind = kind;
    changed_fields.push('kind');
  }
  if (text !== undefined && text !== was.text) {
    // A run that finds the former text again has found the same.
    Object.assign(fields, { text, stems: stems ?? [], made_stems: was.made_stems ?? was.stems });
    changed_fields.push('text');
  }
  if (due_at_ms !== undefined && due_at_ms !== was.due_at_ms) {
    fields.due_at_ms = due_at_ms;
    changed_fields.push('due_at');
  }
  if (due_at_ms !== undefined && due_date !== was.due_date) {
    fields.due_date = due_date;
    changed_fields.push('due_date');
  }
  const { owner_contact_id = was.roles.owner_contact_id, requester_contact_id = was.roles.requester_contact_id } =
    roles ?? {};
  if (owner_contact_id !== was.roles.owner_contact_id || requester_contact_id !== was.roles.requester_contact_id) {
    fields.roles = { owner_contact_id, requester_contact_id };
    changed_fields.push('roles');
  }
  if (status !== undefined && status !== was.status) {
    fields.status = status;
    changed_fields.push('status');
  }
  return { fields, changed_fields };
}

/** The suggestion, if it is still as the person saw it. */
function ofVersion(
  { number, state_version }: Pick<Review, 'number' | 'state_version'>,
  facts: Facts,
): Suggestion | Refusal {
  const was = itemOr(facts, 'suggestion', number);
  if (isRefusal(was) || was.state_version === state_version) return was;
  return refuse('CONFLICT', 'The suggestion has changed since: state_version is another one now.', {
    extra: { state_version: was.state_version },
  });
}

function suppressedNear({ number }: { number: number }, _: Library | null, read: Read): RecordQuery[] {
  const item = itemIn(read, 'suggestion', number);
  return item === undefined ? [] : [itemRecord('suggestion', number), ...suppressedOf(item.evidence)];
}

function numbersIn(numbers: number[]): number[] {
  return [...new Set(numbers)].slice(0, LIMITS.group_members_max);
}

/** All of them, or the first refusal. */
function several(numbers: number[], facts: Facts): Grouped[] | Refusal {
  if (new Set(numbers).size > LIMITS.group_members_max) return TOO_MANY;
  const all: Grouped[] = [];
  for (const number of numbersIn(numbers)) {
    const item = itemOr(facts, 'suggestion', number);
    if (isRefusal(item)) return item;
    all.push({ number, item });
  }
  return all;
}

/** The group that all these suggestions are in; null if there is none. */
function commonGroup(all: Grouped[]): number | null {
  const [first] = all;
  const group = first?.item.group ?? null;
  return all.every(({ item }) => item.group === group) ? group : null;
}
