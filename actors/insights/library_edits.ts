import { isRefusal, type Refusal } from '../../src/domain/refusals.js';
import { type Decision, DONE, type DoneDecision, given, messagesOf, type Read, type RecordQuery } from '../actor.js';
import { keptPipeline } from './context_state.js';
import { itemIn, itemOr, itemRecords, type LibraryOwner, NO_ITEM_HERE, suppressedOf } from './item_records.js';
import { groupRecords, leave } from './library_groups.js';
import { begin, Writing } from './library_items.js';
import { spansOf, withoutConversation } from './library_spans.js';
import type {
  Conversation,
  ItemKind,
  Items,
  Library,
  Memory,
  MemoryKind,
  Span,
  SummarySentence,
} from './library_state.js';
import { summaryOf } from './summary.js';

/** Changes and deletions of conversations and memories by people. */

const ofLibrary = given((state: Library | null) => state ?? NO_ITEM_HERE);

/** `pipeline`: the number of the default one. */
type NewMemory = LibraryOwner & { text: string; kind: MemoryKind; stems: string[]; pipeline?: number };
/** `stems`: those of the text, if there is one. */
type MemoryEdit = {
  number: number;
  text?: string | undefined;
  stems?: string[] | undefined;
  kind?: MemoryKind | undefined;
};
/** Absent members stay. `sentences`: of the summary; null gives it back to the pipeline. */
type ConversationEdit = { number: number; title?: string; sentences?: SummarySentence[] | null };
type Deletion = { kind: ItemKind; number: number };

export const editMessages = messagesOf<Library>()({
  edit_conversation: {
    records: ({ number }: ConversationEdit) => itemRecords('conversation', number),
    decide: ofLibrary(
      (state, { number, title, sentences }: ConversationEdit, facts): Decision<Library, { item: Conversation }> => {
        const was = itemOr(facts, 'conversation', number);
        if (isRefusal(was)) return { reply: was };
        const fields: Partial<Conversation> = {};
        if (title !== undefined && title !== was.title) fields.title = title;
        if (sentences === null) return released(new Writing(state, facts), { number, was });
        if (sentences !== undefined && JSON.stringify(sentences) !== JSON.stringify(was.sentences))
          Object.assign(fields, { sentences, summary: summaryOf(sentences) });
        const changed_fields = Object.keys(fields).filter((field) => field !== 'sentences');
        if (Object.keys(fields).length === 0) return { reply: { item: was } };
        const writing = new Writing(state, facts);
        fields.protected_fields = [...new Set([...was.protected_fields, ...changed_fields])];
        const item = writing.change('conversation', number, { was, fields, by: 'person', changed_fields });
        conversationEvent(writing, 'conversation.updated', { number, item, changed_fields });
        return writing.done({ item });
      },
    ),
  },

  /** Adds a memory that a person wrote; makes the library where there is none. */
  create_memory(
    state,
    { text, kind, stems, pipeline, ...place }: NewMemory,
    facts,
  ): Decision<Library, { number: number; item: Memory }> {
    const { library, effects } = state === null ? begin(place, facts) : { library: state, effects: [] };
    const writing = new Writing(library, facts);
    writing.effects.push(...effects);
    const number = writing.give('memory');
    const item: Memory = {
      pipeline_id: null,
      ...keptPipeline(pipeline),
      session_id: null,
      revision: 1,
      protected_fields: ['kind', 'text'],
      created_at_ms: facts.now_ms,
      updated_at_ms: facts.now_ms,
      text,
      kind,
      contact_id: null,
      state: 'active',
      superseded_by: null,
      origin: 'manual',
      protected: true,
      evidence: [],
      stems,
    };
    writing.create('memory', number, item);
    writing.event('memory.created', number, { revision: 1 });
    return writing.done({ number, item });
  },

  edit_memory: {
    records: ({ number }: MemoryEdit) => itemRecords('memory', number),
    decide: ofLibrary(
      (state, { number, text, stems, kind }: MemoryEdit, facts): Decision<Library, { item: Memory }> => {
        const was = itemOr(facts, 'memory', number);
        if (isRefusal(was)) return { reply: was };
        const fields: Partial<Memory> = { protected: true };
        const changed_fields: string[] = [];
        if (kind !== undefined && kind !== was.kind) {
          fields.kind = kind;
          changed_fields.push('kind');
        }
        if (text !== undefined && text !== was.text) {
          Object.assign(fields, { text, stems: stems ?? [], made_stems: was.made_stems ?? was.stems });
          changed_fields.push('text');
        }
        if (changed_fields.length === 0) return { reply: { item: was } };
        fields.protected_fields = [...new Set([...was.protected_fields, ...changed_fields])];
        const writing = new Writing(state, facts);
        const item = writing.change('memory', number, { was, fields, by: 'person', changed_fields });
        memoryEvent(writing, 'memory.updated', { number, item, changed_fields });
        return writing.done({ item });
      },
    ),
  },

  /** Deletes an item for good; no run brings it back. */
  delete: {
    records: ({ kind, number }: Deletion) => itemRecords(kind, number),
    further: ({ kind, number }: Deletion, _state, read: Read): RecordQuery[] => {
      const spans = spansIn(itemIn(read, kind, number));
      return [
        ...suppressedOf(spans),
        ...(kind === 'conversation' ? spansOf(spans) : []),
        ...(kind === 'suggestion' ? groupRecords([number], null, read) : []),
      ];
    },
    decide: ofLibrary((state, { kind, number }: Deletion, facts): DoneDecision<Library> => {
      const item = itemOr(facts, kind, number);
      if (isRefusal(item)) return { reply: item as Refusal };
      // From here on it succeeds.
      const writing = new Writing(state, facts);
      const what = { kind, number, pipeline_id: item.pipeline_id };
      const stems = 'stems' in item ? (item.made_stems ?? item.stems) : [];
      writing.suppress(what, spansIn(item), stems);
      takeAway(writing, { kind, number, item });
      if ('group' in item && item.group !== null) leave(writing, item.group, [number]);
      return writing.done(DONE);
    }),
  },
});

/** Leaves the summary to the next run. */
function released(
  writing: Writing,
  { number, was }: { number: number; was: Conversation },
): Decision<Library, { item: Conversation }> {
  if (!was.protected_fields.includes('summary')) return { reply: { item: was } };
  const item = { ...was, protected_fields: was.protected_fields.filter((field) => field !== 'summary') };
  writing.touch('conversation', number, item);
  return writing.done({ item });
}

/**
 * Removes an item with its event. `run_id`: the run that removed it; absent for a person. The message must have asked
 * for the spans of its streams.
 */
export function takeAway(
  writing: Writing,
  { kind, number, item, run_id }: { kind: ItemKind; number: number; item: Items[ItemKind]; run_id?: string },
): void {
  writing.remove(kind, number, item);
  if ('parts' in item) {
    withoutConversation(writing, number, item.parts);
    conversationEvent(writing, 'conversation.deleted', { number, item, run_id });
  } else if ('state_version' in item) writing.suggestionEvent('suggestion.deleted', number, { item });
  else memoryEvent(writing, 'memory.deleted', { number, item });
}

/**
 * The event of a conversation; none for a pipeline that is not the default one. `run_id`: the run that changed it;
 * absent for a person.
 */
export function conversationEvent(
  writing: Writing,
  type: 'conversation.created' | 'conversation.updated' | 'conversation.deleted',
  {
    number,
    item: { pipeline_id, revision, parts },
    changed_fields,
    run_id,
  }: {
    number: number;
    item: Pick<Conversation, 'pipeline_id' | 'revision' | 'parts'>;
    changed_fields?: string[];
    run_id?: string | undefined;
  },
): void {
  if (pipeline_id !== null) return;
  writing.event(type, number, {
    ...(run_id !== undefined && { run_id }),
    revision,
    source_id: parts[0]?.source_id,
    ...(changed_fields !== undefined && { changed_fields }),
  });
}

/** The event of a memory, by the same rules. */
export function memoryEvent(
  writing: Writing,
  type: 'memory.created' | 'memory.updated' | 'memory.deleted',
  { number, item, changed_fields }: { number: number; item: Memory; changed_fields?: string[] },
): void {
  if (item.pipeline_id !== null) return;
  const data = { revision: item.revision };
  writing.event(type, number, changed_fields === undefined ? data : { ...data, changed_fields });
}

function spansIn(item: Items[ItemKind] | undefined): Span[] {
  if (item === undefined) return [];
  return 'parts' in item ? item.parts : item.evidence;
}
