import type { EventType } from '../../src/domain/event_types.js';
import { insightId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import { dueIndex } from '../../src/domain/retention.js';
import { BLOCKS } from '../../src/domain/search/places.js';
import type { Decision, Effect, Facts } from '../actor.js';
import { dueIndexEffects } from '../job.js';
import { pipelineOf } from './context_state.js';
import {
  entryOf,
  feedbackGiven,
  ITEMS,
  isSameItem,
  type LibraryOwner,
  OF_SESSION,
  oldestRevision,
  orderOf,
  sessionOrder,
  textKey,
} from './item_records.js';
import { blockEffects, itemBlock } from './library_block.js';
import {
  HAND_REFS,
  INSIGHTS_INDEX,
  type Insights,
  type ItemKind,
  type Items,
  insightKey,
  type Library,
  type Memory,
  type Revision,
  type Span,
  type Suggestion,
  type Suppressed,
} from './library_state.js';
import { LIBRARY_MEMBER, WITHDRAWAL_INDEX } from './withdrawal_index.js';

/** Storage of a library's items: the records of each, what is deleted with it, and its events. */

const SUPPRESSED_PER_STREAM_MAX = 200; // ours: what people did not want to see again; the oldest is forgotten

export const NO_LIBRARY = refuse('NOT_FOUND', 'There is no such library.');
/** The list of an account's libraries. */
export const LIBRARIES = 'libraries';
const COLLECTIONS = [
  ...Object.values(ITEMS),
  ...Object.values(OF_SESSION),
  ...['expired', 'revisions', 'feedback', 'texts', 'suppressed', 'spans', 'unsettled', 'jobs', 'runs'],
  ...['groups', HAND_REFS, 'deleted_speech', BLOCKS],
  ...['moving', 'moved', 'arrived'],
];
const NO_INSIGHTS: Insights = {
  given: { conversation: 0, memory: 0, suggestion: 0, group: 0 },
  due_ms: null,
  oldest_ms: null,
  published: [],
};

/** The state of a new library. */
export function begin(
  { account_id, workspace_id }: LibraryOwner,
  { self, now_ms }: Facts,
): { library: Library; effects: Effect[] } {
  const listed = { owner: account_id, index: LIBRARIES, member: self, order: now_ms };
  return { library: { account_id, workspace_id, sweep: null }, effects: [{ effect: 'add_to_index', ...listed }] };
}

/** Deletes everything that was made of turns. */
export function forgetInsights({ account_id, workspace_id }: LibraryOwner, member: string): Effect[] {
  return [
    ...COLLECTIONS.map((collection): Effect => ({ effect: 'delete_collection', collection })),
    { effect: 'remove_from_index', ...INSIGHTS_INDEX, member },
    { effect: 'remove_from_index', ...WITHDRAWAL_INDEX, member: LIBRARY_MEMBER + member },
    { effect: 'remove_from_index', owner: account_id, index: dueIndex('insights', workspace_id), member },
  ];
}

/** The writes of one decision: items with their records, and the library's next state. */
export class Writing {
  insights: Insights;
  readonly effects: Effect[] = [];
  readonly #written = new Map<string, unknown>();
  /** The ids of items that were made in another library, by entry. */
  readonly #kept_ids = new Map<string, string>();

  readonly #silent: boolean;

  /** `silent`: without events. */
  constructor(
    readonly library: Library,
    readonly facts: Facts,
    { silent = false }: { silent?: boolean } = {},
  ) {
    this.#silent = silent;
    this.insights = library.insights ?? NO_INSIGHTS;
  }

  /** The next number of a kind. */
  give(kind: keyof Insights['given']): number {
    const number = this.insights.given[kind] + 1;
    this.insights = { ...this.insights, given: { ...this.insights.given, [kind]: number } };
    return number;
  }

  create<Kind extends ItemKind>(kind: Kind, number: number, item: Items[Kind]): void {
    this.#put(kind, number, item);
    const { session_id } = item;
    if (session_id !== null) {
      const order = sessionOrder(session_id);
      this.write(OF_SESSION[kind], `${session_id}:${insightKey(number)}`, { value: 1, order });
    }
    if (kind === 'memory') this.#index(number, item as Memory);
    if (kind === 'suggestion' && (item as Suggestion).made_by === 'person') this.#countByHand(1);
  }

  /** Writes an item with its next revision, and keeps the former values. */
  change<Kind extends ItemKind>(kind: Kind, number: number, change: Change<Items[Kind]>): Items[Kind] {
    const { was, by, changed_fields } = change;
    const { now_ms } = this.facts;
    const is = { ...was, ...change.fields, revision: was.revision + 1, updated_at_ms: now_ms } as Items[Kind];
    const before: Revision = { revision: was.revision, at_ms: now_ms, by, changed_fields, item: was };
    const entry = entryOf(kind, number);
    const order = orderOf(kind, number);
    this.write('revisions', `${entry}.${insightKey(was.revision)}`, { value: before, order });
    const forgotten = was.revision - LIMITS.revisions_kept_max;
    if (forgotten > 0) this.drop('revisions', `${entry}.${insightKey(forgotten)}`);
    this.#put(kind, number, is);
    if (kind === 'memory') {
      const memory = was as Memory;
      const became = is as Memory;
      if (memory.stems !== became.stems || memory.state !== became.state) {
        if (memory.state === 'active') this.drop('texts', textKey(memory.pipeline_id, memory.stems));
        this.#index(number, became);
      }
    }
    return is;
  }

  /** Writes an item with its next revision, without its former values. */
  replace<Kind extends ItemKind>(kind: Kind, number: number, item: Items[Kind]): Items[Kind] {
    const is = { ...item, revision: item.revision + 1, updated_at_ms: this.facts.now_ms };
    this.forgetRevisions(kind, number, item);
    this.#put(kind, number, is);
    return is;
  }

  forgetRevisions(kind: ItemKind, number: number, item: { revision: number }): void {
    const entry = entryOf(kind, number);
    for (let at = oldestRevision(item); at < item.revision; at++) this.drop('revisions', `${entry}.${insightKey(at)}`);
  }

  /** Moves an item's clock, without a revision. */
  touch<Kind extends ItemKind>(kind: Kind, number: number, item: Items[Kind]): Items[Kind] {
    const is = { ...item, updated_at_ms: this.facts.now_ms };
    this.#put(kind, number, is);
    return is;
  }

  /** Deletes an item with all its records. */
  remove<Kind extends ItemKind>(kind: Kind, number: number, item: Items[Kind]): void {
    const entry = entryOf(kind, number);
    this.#noteId(entry, item);
    this.drop(ITEMS[kind], insightKey(number));
    this.effects.push(...blockEffects(this.facts.self, entry, null));
    this.forgetRevisions(kind, number, item);
    if (kind === 'suggestion') {
      const { made_by, ref } = item as Suggestion;
      if (made_by === 'person') this.#countByHand(-1);
      if (ref !== undefined) this.drop(HAND_REFS, ref);
      const given = feedbackGiven(item as Suggestion);
      for (let at = Math.max(1, given - LIMITS.feedback_kept_max + 1); at <= given; at++)
        this.drop('feedback', `${entry}.${insightKey(at)}`);
    }
    if (kind === 'memory') {
      const { pipeline_id, stems, state } = item as Memory;
      if (state === 'active') this.drop('texts', textKey(pipeline_id, stems));
    }
    if (kind === 'conversation') this.drop('jobs', insightKey(number));
    if (item.session_id !== null) this.drop(OF_SESSION[kind], `${item.session_id}:${insightKey(number)}`);
  }

  /** Deletes an item for retention, and keeps the record that it existed. */
  expire<Kind extends ItemKind>(kind: Kind, number: number, item: Items[Kind]): void {
    this.remove(kind, number, item);
    this.write('expired', entryOf(kind, number), { value: this.facts.now_ms });
  }

  addFeedback(number: number, item: Suggestion, value: unknown): void {
    const entry = entryOf('suggestion', number);
    const given = feedbackGiven(item);
    this.write('feedback', `${entry}.${insightKey(given)}`, { value, order: orderOf('suggestion', number) });
    const forgotten = given - LIMITS.feedback_kept_max;
    if (forgotten > 0) this.drop('feedback', `${entry}.${insightKey(forgotten)}`);
  }

  /** Keeps runs from making this item again. The message must have asked for `suppressedOf` its spans. */
  suppress(what: { kind: ItemKind; number: number; pipeline_id: string | null }, spans: Span[], stems: string[]): void {
    for (const stream_id of new Set(spans.map((span) => span.stream_id))) {
      const of_stream = spans
        .filter((span) => span.stream_id === stream_id)
        .map(({ start_ms, end_ms }) => ({ ...what, start_ms, end_ms, stems }));
      const kept = this.#suppressedOn(stream_id).filter((one) => !isSameItem(one, what));
      this.#putSuppressed(stream_id, [...kept, ...of_stream].slice(-SUPPRESSED_PER_STREAM_MAX));
    }
  }

  /** Allows runs to make this item again. */
  unsuppress(what: { kind: ItemKind; number: number }, spans: Span[]): void {
    for (const stream_id of new Set(spans.map((span) => span.stream_id))) {
      const before = this.#suppressedOn(stream_id);
      const kept = before.filter((one) => !isSameItem(one, what));
      if (kept.length < before.length) this.#putSuppressed(stream_id, kept);
    }
  }

  event(type: EventType, number: number, data: Record<string, unknown>): void {
    if (this.#silent) return;
    const [kind] = type.split('.') as [ItemKind];
    const { account_id } = this.library;
    const resource_id = this.#kept_ids.get(entryOf(kind, number)) ?? insightId(this.facts.self, kind, number);
    this.effects.push({ effect: 'append_event', account_id, type, resource_id, data });
  }

  /** Events of suggestions name the pipeline. Other items of a pipeline that is not the default one have no events. */
  suggestionEvent(
    type: 'suggestion.created' | 'suggestion.updated' | 'suggestion.deleted',
    number: number,
    { item, data = {} }: { item: Pick<Suggestion, 'pipeline_id' | 'pipeline'>; data?: Record<string, unknown> },
  ): void {
    this.event(type, number, { ...data, pipeline_id: pipelineOf(item, this.library) });
  }

  /** Schedules work for a worker. */
  due(at_ms: number): void {
    const { due_ms } = this.insights;
    if (due_ms === null || at_ms < due_ms) this.setDue(at_ms);
  }

  setDue(due_ms: number | null): void {
    if (due_ms === this.insights.due_ms) return;
    this.insights = { ...this.insights, due_ms };
    this.effects.push(...dueIndexEffects({ ...INSIGHTS_INDEX, member: this.facts.self }, { is_ms: due_ms }));
  }

  setOldest(oldest_ms: number | null): void {
    if (oldest_ms === this.insights.oldest_ms) return;
    this.insights = { ...this.insights, oldest_ms };
    const { account_id, workspace_id } = this.library;
    const place = { owner: account_id, index: dueIndex('insights', workspace_id), member: this.facts.self };
    this.effects.push(...dueIndexEffects(place, { is_ms: oldest_ms }));
  }

  /** A record after the writes so far. */
  record<T>(collection: string, id: string): T | undefined {
    const key = `${collection} ${id}`;
    if (this.#written.has(key)) return this.#written.get(key) as T | undefined;
    return this.facts.record<T>(collection, id);
  }

  write(collection: string, id: string, record: { value: unknown; order?: number }): void {
    this.#written.set(`${collection} ${id}`, record.value);
    this.effects.push({ effect: 'put_record', collection, id, ...record });
  }

  drop(collection: string, id: string): void {
    this.#written.set(`${collection} ${id}`, undefined);
    this.effects.push({ effect: 'delete_record', collection, id });
  }

  done<Reply>(reply: Reply): Decision<Library, Reply> {
    return { reply, ...this.changed() };
  }

  changed(): { next: Library; effects: Effect[] } {
    return { next: { ...this.library, insights: this.insights }, effects: this.effects };
  }

  /** Writes an item as it is: nothing of it changed that has a clock. */
  keep<Kind extends ItemKind>(kind: Kind, number: number, item: Items[Kind]): void {
    this.#put(kind, number, item);
  }

  #noteId(entry: string, { kept_id }: { kept_id?: string }): void {
    if (kept_id !== undefined) this.#kept_ids.set(entry, kept_id);
  }

  #put<Kind extends ItemKind>(kind: Kind, number: number, item: Items[Kind]): void {
    this.#noteId(entryOf(kind, number), item);
    this.write(ITEMS[kind], insightKey(number), { value: item, order: item.updated_at_ms });
    this.effects.push(...blockEffects(this.facts.self, entryOf(kind, number), itemBlock(kind, item)));
    const { oldest_ms } = this.insights;
    if (oldest_ms === null || item.updated_at_ms < oldest_ms) this.setOldest(item.updated_at_ms);
  }

  #countByHand(more: 1 | -1): void {
    this.insights = { ...this.insights, by_hand: Math.max(0, (this.insights.by_hand ?? 0) + more) };
  }

  #index(number: number, { state, pipeline_id, stems }: Memory): void {
    if (state === 'active') this.write('texts', textKey(pipeline_id, stems), { value: number });
  }

  #suppressedOn(stream_id: string): Suppressed[] {
    return this.record<Suppressed[]>('suppressed', stream_id) ?? [];
  }

  #putSuppressed(stream_id: string, all: Suppressed[]): void {
    if (all.length === 0) this.drop('suppressed', stream_id);
    else this.write('suppressed', stream_id, { value: all });
  }
}

export type Change<Item> = { was: Item; fields: Partial<Item>; by: Revision['by']; changed_fields: string[] };

/** A change that a person made and that callers see. */
export function act(
  writing: Writing,
  number: number,
  { was, fields, changed_fields }: { was: Suggestion; fields: Partial<Suggestion>; changed_fields: string[] },
): Suggestion {
  const state_version = was.state_version + 1;
  const seen = { ...fields, touched: true, state_version };
  const item = writing.change('suggestion', number, { was, fields: seen, by: 'person', changed_fields });
  writing.suggestionEvent('suggestion.updated', number, { item, data: { changed_fields, state_version } });
  return item;
}
