import type { Stream } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import type { Page } from '../../api/loading.js';
import { compareWords } from '../../language/formats.js';
import { includeAll, includeNotes, recordingName } from '../../recording/stream_names.js';
import type { RecordingFilters } from './filters.js';

/** Order and words by which the list of recordings is looked through here, since the server has it newest first. */

export const SORTS = [
  ['', 'Newest first'],
  ['oldest', 'Oldest first'],
  ['longest', 'Longest first'],
  ['title', 'By title'],
] as const;
export type Sort = (typeof SORTS)[number][0];

const PAGE_ITEMS = 50;
const WHOLE_PAGE_ITEMS = 100;
const WHOLE_ITEMS = 1_000;
/** A page of few that pass is short. */
const WHOLE_PAGES = 20;

export function sortIn(query: URLSearchParams): Sort {
  const wanted = query.get('sort');
  return SORTS.find(([sort]) => sort === wanted)?.[0] ?? '';
}

/** Whether the list as it is sorted and searched is made of all that there is, not of one page. */
export function needsWhole(query: URLSearchParams): boolean {
  return sortIn(query) !== '' || query.has('q');
}

export function loadPage(filters: RecordingFilters, cursor: string | undefined): Promise<Page<Stream>> {
  return api('GET /audio/streams', { query: { limit: PAGE_ITEMS, cursor, ...filters, ...includeAll() } });
}

/** As many pages as make 1,000 recordings. */
export async function loadWhole(filters: RecordingFilters, cursor: string | undefined): Promise<Page<Stream>> {
  const items: Stream[] = [];
  let next = cursor;
  for (let pages = 0; pages < WHOLE_PAGES && items.length < WHOLE_ITEMS; pages++) {
    const query = { limit: WHOLE_PAGE_ITEMS, cursor: next, ...filters, ...includeNotes() };
    const page = await api('GET /audio/streams', { query });
    items.push(...page.items);
    if (page.cursor === null) return { items, cursor: null };
    next = page.cursor;
  }
  return { items, cursor: next ?? null };
}

/** The recordings whose title, first line, people, tags or notes have these words, in an order. */
export function orderedStreams(streams: readonly Stream[], { q, sort }: { q: string; sort: Sort }): Stream[] {
  const wanted = wordsIn(q);
  const found = streams.filter((stream) => {
    const text = folded(textOf(stream));
    return wanted.every((word) => text.includes(word));
  });
  return found.sort((a, b) => comparisons[sort](a, b) || newestFirst(a, b));
}

const newestFirst = (a: Stream, b: Stream) => b.captured_at.localeCompare(a.captured_at);
const comparisons: Record<Sort, (a: Stream, b: Stream) => number> = {
  '': newestFirst,
  oldest: (a, b) => a.captured_at.localeCompare(b.captured_at),
  longest: (a, b) => (b.end_ms ?? 0) - (a.end_ms ?? 0),
  title: (a, b) => compareWords(recordingName(a), recordingName(b)),
};

function textOf(stream: Stream): string {
  const people = (stream.speakers ?? []).map(({ name }) => name ?? '');
  return [
    recordingName(stream),
    stream.first_line ?? '',
    ...people,
    ...(stream.tags ?? []),
    ...(stream.notes ?? []),
  ].join('\n');
}

/** The words of a query, as `folded` leaves them. */
export function wordsIn(query: string): string[] {
  return folded(query)
    .split(/\s+/)
    .filter((word) => word !== '');
}

export function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}
