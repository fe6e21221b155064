import {
  type Decision,
  DONE,
  type DoneDecision,
  type Effect,
  given,
  messagesOf,
  type Read,
  type RecordQuery,
} from '../actor.js';
import { itemIn, itemRecord } from './item_records.js';
import { conversationEvent, takeAway } from './library_edits.js';
import { NO_LIBRARY, Writing } from './library_items.js';
import { spansOf } from './library_spans.js';
import type { Conversation, DeletedSpeech, ItemKind, Items, Library, Memory, Suggestion } from './library_state.js';
import { summaryOf } from './summary.js';
import { LIBRARY_MEMBER, WITHDRAWAL_INDEX } from './withdrawal_index.js';

/**
 * Withdraws items whose speech people have deleted (docs/areas.md, "Deleted speech"). An item that a person accepted
 * or edited is that person's own and stays.
 */

/** Whether a part of a conversation still has evidence, and the sentences of its summary that must go. */
export type ForgottenSpeech = { is_left: boolean; gone_sentences?: number[] };
/** An item that rests on deleted speech, as a worker read it. */
export type ForgottenItem = { kind: ItemKind; number: number; revision: number } & Partial<ForgottenSpeech>;
/** `silent`: its source is deleted, so no event follows. */
type Withdrawal = { items: ForgottenItem[]; silent: boolean };

const ofLibrary = given((state: Library | null) => state ?? NO_LIBRARY);
/** The fields of a suggestion that a person makes their own by setting them. */
const EDITED_FIELDS: ReadonlySet<string> = new Set(['text', 'due_at', 'due_date', 'roles']);

/** The item without what was taken from speech; unchanged if it is a person's own, null if nothing is left. */
export function withoutSpeech<Kind extends ItemKind>(
  kind: Kind,
  item: Items[Kind],
  { is_left, gone_sentences }: ForgottenSpeech,
): Items[Kind] | null {
  if (kind === 'suggestion') return withoutText(item as Suggestion) as Items[Kind];
  if (kind === 'memory') return (item as Memory).protected ? item : null;
  const conversation = item as Conversation;
  if (is_left && conversation.protected_fields.includes('summary')) return item;
  if (is_left && gone_sentences !== undefined) return withoutSentences(conversation, gone_sentences) as Items[Kind];
  return is_left || conversation.protected_fields.length > 0 ? (untold(conversation) as Items[Kind]) : null;
}

function withoutText(item: Suggestion): Suggestion {
  const is_own =
    item.status === 'accepted' ||
    item.status === 'completed' ||
    item.protected_fields.some((field) => EDITED_FIELDS.has(field));
  if (is_own || (item.status === 'withdrawn' && item.text === '')) return item;
  return { ...item, status: 'withdrawn', text: '', due_at_ms: null, due_date: null, stems: [] };
}

/** A conversation without its speech; a title that a person gave stays. */
function untold(item: Conversation): Conversation {
  const title = item.protected_fields.includes('title') ? item.title : null;
  const is_untold = item.title === title && item.summary === null && item.topics.length === 0;
  return is_untold ? item : { ...withoutRecordings(item), title, summary: null, sentences: [], topics: [] };
}

function withoutSentences(item: Conversation, gone: readonly number[]): Conversation {
  const sentences = item.sentences.filter((_, at) => !gone.includes(at));
  return { ...withoutRecordings(item), summary: summaryOf(sentences), sentences };
}

/** The built-in engine writes the summaries of single recordings, whichever engine made the rest. */
function withoutRecordings({ by_recording: _, ...item }: Conversation): Conversation {
  return item;
}

export const withdrawalMessages = messagesOf<Library>()({
  /**
   * Removes deleted speech from these items. An item that has changed since the worker read it is left for the next
   * look.
   */
  withdraw: {
    records: ({ items }: Withdrawal) => items.map(({ kind, number }) => itemRecord(kind, number)),
    further: ({ items }: Withdrawal, _state, read: Read): RecordQuery[] =>
      items.flatMap(({ kind, number }) =>
        kind === 'conversation' ? spansOf(itemIn(read, kind, number)?.parts ?? []) : [],
      ),
    decide: ofLibrary((state, { items, silent }: Withdrawal, facts): DoneDecision<Library> => {
      const writing = new Writing(state, facts, { silent });
      for (const forgotten of items) {
        const item = itemIn(facts, forgotten.kind, forgotten.number);
        if (item?.revision === forgotten.revision) withdraw(writing, forgotten);
      }
      return writing.effects.length === 0 ? { reply: DONE } : writing.done(DONE);
    }),
  },

  /** A source is deleted: items that rest on its recordings are to be withdrawn. */
  forget_source: {
    records: ({ source_id }: { source_id: string }) => deletedSpeechOf(source_id),
    decide(state, { source_id }: { source_id: string }, facts): DoneDecision<Library> {
      if (state?.insights === undefined) return { reply: DONE };
      const writing = new Writing(state, facts);
      noteDeleted(writing, { of: 'source', id: source_id });
      return writing.done(DONE);
    },
  },

  /** The speech that was deleted first and whose items are still to be withdrawn. */
  deleted_speech: {
    records: () => [{ collection: 'deleted_speech', range: { limit: 1 } }],
    decide(state, _: unknown, facts): Decision<Library, { next: DeletedSpeech | null }> {
      const [first] = facts.range<DeletedSpeech>('deleted_speech');
      const gone: Effect = { effect: 'remove_from_index', ...WITHDRAWAL_INDEX, member: LIBRARY_MEMBER + facts.self };
      if (first === undefined) return { reply: { next: null }, effects: state === null ? [] : [gone] };
      return { reply: { next: first.value } };
    },
  },

  /** Removes the note of deleted speech once all its items are withdrawn, unless more was deleted since. */
  withdrawn: {
    records: ({ id }: DeletedSpeech) => deletedSpeechOf(id),
    decide: ofLibrary((state, { id, count }: DeletedSpeech, facts): DoneDecision<Library> => {
      if (facts.record<DeletedSpeech>('deleted_speech', id)?.count !== count) return { reply: DONE };
      const writing = new Writing(state, facts);
      writing.drop('deleted_speech', id);
      return writing.done(DONE);
    }),
  },
});

export function deletedSpeechOf(id: string): RecordQuery[] {
  return [{ collection: 'deleted_speech', id }];
}

/** Notes deleted speech for a worker. The message must have asked for `deletedSpeechOf` it. */
export function noteDeleted(writing: Writing, { of, id }: Pick<DeletedSpeech, 'of' | 'id'>): void {
  const { now_ms, self } = writing.facts;
  const count = (writing.record<DeletedSpeech>('deleted_speech', id)?.count ?? 0) + 1;
  writing.write('deleted_speech', id, { value: { of, id, count }, order: now_ms });
  writing.effects.push({
    effect: 'add_to_index',
    ...WITHDRAWAL_INDEX,
    member: LIBRARY_MEMBER + self,
    order: now_ms,
  });
}

/**
 * Empties a conversation in which the built-in engine repeats turns, until it is made anew. Returns whether it is one.
 */
export function untell(writing: Writing, number: number): boolean {
  const item = itemIn(writing.facts, 'conversation', number);
  if (item?.made_by !== 'extractive') {
    if (item?.by_recording?.[0] !== undefined) writing.touch('conversation', number, withoutRecordings(item));
    return false;
  }
  withdraw(writing, { kind: 'conversation', number, is_left: true });
  return true;
}

function withdraw(writing: Writing, { kind, number, is_left = false, ...gone }: Omit<ForgottenItem, 'revision'>): void {
  const was = itemIn(writing.facts, kind, number);
  if (was === undefined) return;
  const is = withoutSpeech(kind, was, { is_left, ...gone });
  if (is === null) {
    takeAway(writing, { kind, number, item: was });
    return;
  }
  if (is === was) {
    writing.forgetRevisions(kind, number, was);
    return;
  }
  const changed_fields = changedFields(was, is);
  if ('state_version' in is) {
    const state_version = is.state_version + 1;
    const item = writing.replace('suggestion', number, { ...is, state_version });
    writing.suggestionEvent('suggestion.updated', number, { item, data: { changed_fields, state_version } });
  } else {
    const item = writing.replace('conversation', number, is as Conversation);
    conversationEvent(writing, 'conversation.updated', { number, item, changed_fields });
  }
}

const SHOWN: Readonly<Record<string, string>> = {
  due_at_ms: 'due_at',
  due_date: 'due_date',
  sentences: 'summary_sentences',
  ...Object.fromEntries(['status', 'text', 'title', 'summary', 'topics'].map((name) => [name, name])),
};

function changedFields(was: Items[ItemKind], is: Items[ItemKind]): string[] {
  const before = was as unknown as Record<string, unknown>;
  const isEmpty = (value: unknown) => value == null || (Array.isArray(value) && value.length === 0);
  return Object.entries(is)
    .filter(([name, value]) => name in SHOWN && before[name] !== value && !(isEmpty(before[name]) && isEmpty(value)))
    .map(([name]) => SHOWN[name] as string)
    .sort();
}
