import pMap from 'p-map';
import type { Event, Stream } from '../../kits/typescript/src/api.js';
import { placeOfTurn } from '../../src/domain/ids.js';
import type { AccountReader } from './account_reader.js';
import { noteTitle } from './note_text.js';
import type { NoteWriter } from './note_writer.js';
import type { NotesState } from './notes_state.js';

/** As many as a process of the server answers one account at a time. */
const RECORDINGS_AT_ONCE = 8;
/** Of events that are looked through at once; what comes after them is another round. */
const EVENT_PAGES_MAX = 100;
const SAY_EVERY = 1_000;
/** Of more recordings that wait for insights the list is read instead. */
const WAITING_MAX = 200;
/** After these, recordings may have changed without events of their own. */
const RELISTED = new Set<string>([
  'workspace.retention_applied',
  'workspace.deleted',
  'workspace.updated',
  'account.restored',
]);

type SyncDeps = {
  reader: AccountReader;
  writer: NoteWriter;
  state: NotesState;
  signal: AbortSignal;
  /** Tells how many notes have been looked at. */
  progress: (notes: number) => void;
};

/** Brings notes up to date: all of them the first time, afterwards those that events name. */
export class NotesSync {
  readonly #deps: SyncDeps;
  #done = 0;

  constructor(deps: SyncDeps) {
    this.#deps = deps;
  }

  /** Whether there may be more at once. */
  async round(): Promise<boolean> {
    const { state, writer } = this.#deps;
    if (state.cursor === null) {
      await this.#all();
      return true;
    }
    const read = await this.#events(state.cursor);
    if (read === null) {
      state.cursor = null;
      return true;
    }
    if (read.events.length > 0) {
      await writer.begin();
      await this.#follow(read.events);
      await writer.writeDays();
    }
    if (state.cursor !== read.cursor) {
      state.cursor = read.cursor;
      await state.save();
    }
    return read.is_more;
  }

  /** All recordings, from the events of now on. */
  async #all(): Promise<void> {
    const { reader, state, writer } = this.#deps;
    await writer.begin();
    const now = await reader.events('latest');
    await this.#list({}, () => true);
    await writer.writeDays();
    state.cursor = now?.cursor ?? null;
    await state.save();
  }

  async #events(after: string): Promise<{ events: Event[]; cursor: string; is_more: boolean } | null> {
    const events: Event[] = [];
    let cursor = after;
    for (let pages = 1; ; pages++) {
      const page = await this.#deps.reader.events(cursor);
      if (page === null) return null;
      events.push(...page.items);
      cursor = page.cursor;
      if (!page.is_full || pages === EVENT_PAGES_MAX) return { events, cursor, is_more: page.is_full };
    }
  }

  async #follow(events: readonly Event[]): Promise<void> {
    const { state, writer } = this.#deps;
    const named = namedBy(events);
    for (const id of named.deleted) await writer.remove(id);
    const shown = [named.contacts, named.conversations, named.gone].flatMap((ids) => state.showing(ids));
    const first = new Set([...named.streams, ...shown]);
    await this.#refresh(first);
    let must_list = named.relist;
    if (this.#unknown(named.conversations).length > 0) must_list = !(await this.#findConversations(named, first));
    await this.#refresh(await this.#suggestedOn(named.suggestions, first));
    if (must_list) await this.#list({}, (stream) => this.#isOther(stream));
    else for (const source_id of named.sources) await this.#list({ source_id }, (stream) => this.#isOther(stream));
  }

  /**
   * Nobody but developers may ask for a conversation: a new one is one of a recording that waited for it. False where it
   * was not found.
   */
  async #findConversations({ conversations }: NamedThings, done: Set<string>): Promise<boolean> {
    const waiting = [...this.#deps.state.notes].filter(([id, { pending }]) => pending && !done.has(id));
    if (waiting.length > WAITING_MAX) return false;
    await this.#refresh(new Set(waiting.map(([id]) => id)));
    for (const [id] of waiting) done.add(id);
    return this.#unknown(conversations).length === 0;
  }

  /** Recordings of which suggestions are made, but those that are done. Most came with their conversation. */
  async #suggestedOn(suggestions: ReadonlySet<string>, done: ReadonlySet<string>): Promise<Set<string>> {
    const { reader, state } = this.#deps;
    const evidence = await this.#each(this.#unknown(suggestions), (id) => reader.streamsOfSuggestion(id));
    return new Set([...state.showing(suggestions), ...evidence.flat()].filter((id) => !done.has(id)));
  }

  /** Items that no note shows. */
  #unknown(ids: ReadonlySet<string>): string[] {
    if (ids.size === 0) return [];
    const known = new Set([...this.#deps.state.notes.values()].flatMap(({ items }) => items));
    return [...ids].filter((id) => !known.has(id));
  }

  /** Whether a recording in a list is not as its note has it. */
  #isOther(stream: Stream): boolean {
    const note = this.#deps.state.notes.get(stream.id);
    return (
      note === undefined ||
      note.revision !== stream.transcript_revision ||
      note.length_ms !== (stream.end_ms ?? null) ||
      note.title !== noteTitle(stream) ||
      note.first_line !== (stream.first_line ?? null)
    );
  }

  /** Recordings of a list that are wanted; those that are in the list of all no more are removed. */
  async #list(of: { source_id?: string }, isWanted: (stream: Stream) => boolean): Promise<void> {
    const { reader, state } = this.#deps;
    const seen = new Set<string>();
    let next = reader.streams(of);
    for (;;) {
      const { items, cursor } = await next;
      // The next page comes while this one is written.
      if (cursor !== null) next = reader.streams({ ...of, cursor });
      next.catch(() => {});
      for (const { id } of items) seen.add(id);
      await this.#each(items.filter(isWanted), (stream) => this.#write(stream));
      if (cursor === null) break;
    }
    if (of.source_id !== undefined) return;
    await this.#refresh(new Set([...state.notes.keys()].filter((id) => !seen.has(id))));
  }

  async #refresh(ids: ReadonlySet<string>): Promise<void> {
    const { reader, writer } = this.#deps;
    await this.#each([...ids], async (id) => {
      const stream = await reader.stream(id);
      if (stream === null) await writer.remove(id);
      else await this.#write(stream);
    });
  }

  async #write(stream: Stream): Promise<void> {
    const { reader, writer, progress } = this.#deps;
    const content = await reader.content(stream);
    if (content === null) await writer.remove(stream.id);
    else await writer.write(content);
    this.#done += 1;
    if (this.#done % SAY_EVERY === 0) progress(this.#done);
  }

  #each<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> {
    return pMap(items, work, { concurrency: RECORDINGS_AT_ONCE, signal: this.#deps.signal });
  }
}

type NamedThings = Record<
  'streams' | 'deleted' | 'conversations' | 'suggestions' | 'gone' | 'contacts' | 'sources',
  Set<string>
> & {
  relist: boolean;
};

/** The recordings and other things that events name. `gone`: conversations and suggestions that were deleted. */
function namedBy(events: readonly Event[]): NamedThings {
  const named: NamedThings = {
    ...{ streams: new Set(), deleted: new Set(), conversations: new Set(), gone: new Set() },
    ...{ suggestions: new Set(), contacts: new Set(), sources: new Set() },
    relist: false,
  };
  for (const { type, resource, data } of events) {
    const { id } = resource;
    if (type === 'stream.deleted') named.deleted.add(id);
    else if (RELISTED.has(type)) named.relist = true;
    else if (type === 'run.published' && data.source_id !== undefined) named.sources.add(data.source_id);
    else if (resource.type === 'turn') named.streams.add(placeOfTurn(id)?.stream_id ?? id);
    else if (resource.type === 'stream') named.streams.add(id);
    else if (type === 'conversation.deleted' || type === 'suggestion.deleted') named.gone.add(id);
    else if (resource.type === 'conversation') named.conversations.add(id);
    else if (resource.type === 'suggestion') named.suggestions.add(id);
    else if (resource.type === 'contact') named.contacts.add(id);
  }
  for (const id of named.deleted) named.streams.delete(id);
  for (const id of named.gone) for (const items of [named.conversations, named.suggestions]) items.delete(id);
  return named;
}
