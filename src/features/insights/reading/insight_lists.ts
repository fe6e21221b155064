import { type ItemKind, type Items, insightKey } from '../../../../actors/insights/library_state.js';
import { type Position, writeCursor } from '../../../access/cursors.js';
import { insightId, placeOfInsight } from '../../../domain/ids.js';
import { LIMITS } from '../../../domain/limits.js';
import { orNull } from '../../../domain/refusals.js';
import type { FeatureServices } from '../../services.js';
import type { FoundItem, LibraryPlace } from './insight_access.js';
import type { InsightReader } from './insight_reader.js';

/**
 * Lists of items of many libraries, by time of change and id, the newest first. A page reads from each library at most
 * as many items as it may show.
 */

/** Sorts before and behind all record ids. */
const [FIRST, LAST] = ['', '~'];

export type ListQuery<Kind extends ItemKind> = {
  kind: Kind;
  libraries: readonly LibraryPlace[];
  limit: number;
  cursor: Position | undefined;
  /** Whether the filter passes few items, so that many are read at once. */
  narrow: boolean;
  passes: (row: FoundItem<Kind>) => Promise<boolean> | boolean;
  reading: Pick<InsightReader, 'standing'>;
};

type ItemRow<Kind extends ItemKind> = FoundItem<Kind> & Position;

/** A page of a list. It ends early, with a cursor, after many items of which few pass. */
export async function listItems<Kind extends ItemKind>(
  services: Pick<FeatureServices, 'actors'>,
  { kind, libraries, limit, cursor, narrow, passes, reading }: ListQuery<Kind>,
): Promise<{ rows: ItemRow<Kind>[]; cursor: string | null }> {
  const shared = Math.ceil(LIMITS.items_scanned_max / Math.max(1, libraries.length));
  const step = narrow ? Math.max(limit + 1, Math.min(LIMITS.items_step_max, shared)) : Math.min(limit + 1, shared);
  const runs = libraries.map((place) => new LibraryWalk(services, { kind, place, step, cursor }));
  const rows: ItemRow<Kind>[] = [];
  let last: Position | null = null;
  for (let looked = 0; ; looked++) {
    await Promise.all(runs.map((run) => run.fill()));
    const run = firstOf(runs);
    const row = run?.head;
    if (run === null || row === undefined) return { rows, cursor: null };
    // One more than the page holds, or looked at enough.
    if (looked >= LIMITS.items_scanned_max) return { rows, cursor: last === null ? null : writeCursor(last) };
    const shown = await shownOf(row, { kind, passes, reading });
    if (shown !== null && rows.length === limit) return { rows, cursor: last === null ? null : writeCursor(last) };
    if (shown !== null) rows.push(shown);
    last = { order: row.order, member: row.member };
    run.shift();
  }
}

/** The row as callers see it; null if it does not pass. Evidence is read only for rows that pass otherwise. */
async function shownOf<Kind extends ItemKind>(
  row: ItemRow<Kind>,
  { kind, passes, reading }: Pick<ListQuery<Kind>, 'kind' | 'passes' | 'reading'>,
): Promise<ItemRow<Kind> | null> {
  if (!(await passes(row))) return null;
  const standing = await reading.standing(kind, row);
  if (standing === null || standing === row) return standing;
  return (await passes(standing)) ? standing : null;
}

/** The library whose next item comes first. */
function firstOf<Kind extends ItemKind>(runs: LibraryWalk<Kind>[]): LibraryWalk<Kind> | null {
  let first: LibraryWalk<Kind> | null = null;
  for (const run of runs) {
    const [one, other] = [run.head, first?.head];
    if (one === undefined) continue;
    if (other === undefined || one.order > other.order || (one.order === other.order && isBehind(one, other)))
      first = run;
  }
  return first;
}

/** Reads the items of a library behind a place, as many as a page may need. */
class LibraryWalk<Kind extends ItemKind> {
  readonly #services: Pick<FeatureServices, 'actors'>;
  readonly #kind: Kind;
  readonly #place: LibraryPlace;
  readonly #step: number;
  #after: { order: number; id: string } | undefined;
  #rows: ItemRow<Kind>[] = [];
  #is_over = false;

  constructor(
    services: Pick<FeatureServices, 'actors'>,
    asked: { kind: Kind; place: LibraryPlace; step: number; cursor: Position | undefined },
  ) {
    this.#services = services;
    this.#kind = asked.kind;
    this.#place = asked.place;
    this.#step = asked.step;
    this.#after = asked.cursor === undefined ? undefined : placeAfter(asked.place.library_id, asked.cursor);
  }

  get head(): ItemRow<Kind> | undefined {
    return this.#rows[0];
  }

  shift(): void {
    this.#rows.shift();
  }

  async fill(): Promise<void> {
    if (this.#rows.length > 0 || this.#is_over) return;
    const { library_id } = this.#place;
    const range = { after: this.#after, descending: true, limit: this.#step };
    const asked = this.#services.actors.library(library_id).list({ kind: this.#kind, range });
    // One that is not there any more has nothing.
    const { items, last, looked } = (await orNull(asked, 'NOT_FOUND')) ?? { items: [], last: null, looked: 0 };
    this.#rows = items.map(({ number, order, item }) => ({
      place: this.#place,
      number,
      item: item as Items[Kind],
      order,
      member: insightId(library_id, this.#kind, number),
    }));
    this.#after = last ?? undefined;
    this.#is_over = last === null || looked < this.#step;
  }
}

/** At the same time, libraries come one after the other, by their ids. */
function isBehind(one: ItemRow<ItemKind>, other: ItemRow<ItemKind>): boolean {
  const [own, others] = [one.place.library_id, other.place.library_id];
  return own === others ? one.number > other.number : own > others;
}

/** The place in a library behind an item of any library. */
function placeAfter(library_id: string, { order, member }: Position): { order: number; id: string } {
  const last = placeOfInsight(member);
  if (last?.library_id !== library_id) return { order, id: library_id < (last?.library_id ?? '') ? LAST : FIRST };
  return { order, id: insightKey(last.number) };
}
