import { z } from 'zod';
import type { Suggestion } from '../../../../actors/insights/library_state.js';
import { STREAMS } from '../../../../actors/recordings/stream.js';
import { TRANSCRIPTS } from '../../../../actors/transcripts/transcript_state.js';
import { listCursor, type Position } from '../../../access/cursors.js';
import type { Principal } from '../../../access/principal.js';
import { date as dateShape, moment } from '../../../access/response_schemas.js';
import { DAY_MS, isDate } from '../../../domain/dates.js';
import { libraryId, partitionOfId } from '../../../domain/ids.js';
import { LIMITS } from '../../../domain/limits.js';
import { orNull, Refused, refuse } from '../../../domain/refusals.js';
import { dayBounds } from '../../../engine/time/time_zone.js';
import { clockOf } from '../../accounts/account_clock.js';
import { type StreamView, streamShape, viewStream } from '../../recordings/streams.js';
import type { FeatureServices } from '../../services.js';
import { type SuggestionView, suggestionShape } from '../library/insight_shapes.js';
import { type FoundItem, librariesOf } from './insight_access.js';
import { listItems } from './insight_lists.js';
import { InsightReader, viewEach } from './insight_reader.js';
import { conversationsOn, suggestionsOf, TASKS } from './stream_summary.js';
import { withSuggestedTitles } from './stream_titles.js';

/** A day of an account: recordings, decisions, promises, and what is due. Rule K-186; docs/choices.md, "Insights". */

const NO_DAY = refuse('BAD_REQUEST', 'The day is none.', {
  details: [{ path: 'date', message: 'must be a day of the calendar, such as 2026-12-07' }],
});
/** The number of pages of suggestions that are read to find those due. */
const PAGES_LOOKED = 5;

export const dayShape = z
  .strictObject({
    date: dateShape.describe('The day.'),
    time_zone: z.string().describe('By whose clocks it begins and ends.'),
    from: moment.describe('When it begins.'),
    until: moment.describe('When the next one does.'),
    recordings: z
      .array(streamShape)
      .describe('What was recorded that day, in order, each with `title_suggested` and `first_line`.'),
    decisions: z.array(suggestionShape).describe('What was decided that day, in the order in which it was said.'),
    tasks_made: z.array(suggestionShape).describe('Tasks, follow-ups and reminders of that day, in the same order.'),
    tasks_due: z
      .array(suggestionShape)
      .describe('What is due that day, whenever it was said and whatever became of it, the earliest first.'),
    tasks_overdue: z
      .array(suggestionShape)
      .describe('What was due before that day and is still open or accepted, the earliest first.'),
    complete: z
      .boolean()
      .describe('False where the day has more than is shown, or more was to be looked through for what is due.'),
  })
  .meta({ id: 'Day' });

export type DayView = z.infer<typeof dayShape>;

type DayServices = Pick<FeatureServices, 'actors' | 'runtime' | 'store'>;
type Bounds = { from_ms: number; until_ms: number };

/** A day of the caller's own recordings, in the zone that is asked for, that of the profile, or UTC. */
export async function readDay(
  services: DayServices,
  who: Principal,
  { date, time_zone: asked }: { date: string; time_zone?: string | undefined },
): Promise<DayView> {
  if (!isDate(date)) throw new Refused(NO_DAY);
  const { time_zone: own } = await clockOf(services, who.account_id, undefined);
  const time_zone = asked ?? own ?? 'UTC';
  const bounds = dayBounds(date, { time_zone, utc_offset_min: 0 });
  const recorded = await recordingsOn(services, who, bounds);
  const reading = new InsightReader(services, who);
  const said = await saidOn(services, who, { streams: recorded.streams, bounds, reading });
  const due = await dueOn(services, who, { date, bounds, reading });
  const shown = (items: SuggestionView[]) => items.slice(0, LIMITS.day_items_max);
  return {
    date,
    time_zone,
    from: new Date(bounds.from_ms).toISOString(),
    until: new Date(bounds.until_ms).toISOString(),
    recordings: await withSuggestedTitles(services, who, recorded.streams),
    decisions: shown(said.filter(({ kind }) => kind === 'decision')),
    tasks_made: shown(said.filter(({ kind }) => TASKS.has(kind))),
    tasks_due: due.on_day,
    tasks_overdue: due.overdue,
    complete: recorded.complete && due.complete && said.length <= LIMITS.day_items_max,
  };
}

/**
 * The recordings of a day: those that began on it, and those that went on from the day before. Recordings with text are
 * found by their start, others by when they were registered.
 */
async function recordingsOn(
  services: DayServices,
  who: Principal,
  bounds: Bounds,
): Promise<{ streams: StreamView[]; complete: boolean }> {
  const { account_id: owner } = who;
  const place = { owner, partition: partitionOfId(owner) };
  const limit = LIMITS.day_recordings_max + 1;
  const page = { after: { order: bounds.until_ms, member: '' }, descending: true, limit };
  const lists = await Promise.all([TRANSCRIPTS, STREAMS].map((index) => services.store.list(place, index, page)));
  const begins_ms = bounds.from_ms - DAY_MS;
  const near = lists.map((rows) => rows.filter(({ order }: Position) => order >= begins_ms));
  const ids = [...new Set(near.flat().map(({ member }) => member))];
  const found = await Promise.all(ids.map((id) => orNull(viewStream(services, who, id), 'NOT_FOUND')));
  const streams = found
    .filter((stream) => stream !== null)
    .filter((stream) => isOn(stream, bounds))
    .sort((a, b) => (a.captured_at < b.captured_at ? -1 : a.captured_at > b.captured_at ? 1 : a.id < b.id ? -1 : 1));
  return {
    streams: streams.slice(0, LIMITS.day_recordings_max),
    complete: streams.length <= LIMITS.day_recordings_max && near.every((rows) => rows.length < limit),
  };
}

function isOn({ captured_at, end_ms, last_stored_at }: StreamView, { from_ms, until_ms }: Bounds): boolean {
  const began_ms = Date.parse(captured_at);
  const ended_ms = end_ms === undefined ? Date.parse(last_stored_at ?? captured_at) : began_ms + end_ms;
  return began_ms < until_ms && (began_ms >= from_ms || ended_ms > from_ms);
}

/** Lists suggestions of these recordings that were said on that day. */
async function saidOn(
  services: DayServices,
  { account_id }: Principal,
  { streams, bounds, reading }: { streams: readonly StreamView[]; bounds: Bounds; reading: InsightReader },
): Promise<SuggestionView[]> {
  const said = new Map<string, SuggestionView>();
  for (const { id: stream_id, workspace_id, captured_at } of streams) {
    const place = { library_id: libraryId(account_id, workspace_id), account_id, workspace_id };
    const conversations = await conversationsOn(services, { place, stream_id, reading });
    const suggestions = await suggestionsOf(services, { place, stream_id, reading, conversations });
    for (const one of suggestions) {
      const start_ms = one.evidence.find((span) => span.stream_id === stream_id)?.start_ms ?? 0;
      const at_ms = Date.parse(captured_at) + start_ms;
      if (at_ms >= bounds.from_ms && at_ms < bounds.until_ms) said.set(one.id, one);
    }
  }
  return [...said.values()];
}

/** Finds suggestions that are due on that day, and open ones that were due before. */
async function dueOn(
  services: DayServices,
  who: Principal,
  { date, bounds, reading }: { date: string; bounds: Bounds; reading: InsightReader },
): Promise<{ on_day: SuggestionView[]; overdue: SuggestionView[]; complete: boolean }> {
  const libraries = await librariesOf(services, who, undefined);
  const own = libraries.filter(({ account_id }) => account_id === who.account_id);
  const found: FoundItem<'suggestion'>[] = [];
  let cursor: Position | undefined;
  let is_over = false;
  for (let pages = 0; pages < PAGES_LOOKED && !is_over; pages++) {
    const passes = ({ item }: FoundItem<'suggestion'>) =>
      item.pipeline_id === null && dueness(item, { date, bounds }) !== null;
    const limit = LIMITS.day_items_max;
    const page = await listItems(services, {
      kind: 'suggestion',
      libraries: own,
      limit,
      cursor,
      narrow: true,
      passes,
      reading,
    });
    found.push(...page.rows);
    is_over = page.cursor === null;
    cursor = page.cursor === null ? undefined : listCursor.parse(page.cursor);
  }
  const sorted = found.sort((a, b) => (a.item.due_at_ms ?? 0) - (b.item.due_at_ms ?? 0));
  const of = (wanted: Dueness) => sorted.filter(({ item }) => dueness(item, { date, bounds }) === wanted);
  const lists = [of('due'), of('overdue')] as const;
  const [on_day, overdue] = await Promise.all(
    lists.map((rows) => viewEach(rows.slice(0, LIMITS.day_items_max), (row) => reading.suggestion(row))),
  );
  const complete = is_over && lists.every((rows) => rows.length <= LIMITS.day_items_max);
  return { on_day: on_day ?? [], overdue: overdue ?? [], complete };
}

type Dueness = 'due' | 'overdue';

/** Null for any other suggestion, and for one that is dismissed or withdrawn. */
function dueness(item: Suggestion, { date, bounds }: { date: string; bounds: Bounds }): Dueness | null {
  const { status, due_at_ms } = item;
  if (due_at_ms === null || status === 'withdrawn' || status === 'dismissed') return null;
  const day = item.due_date;
  if (day === null ? due_at_ms >= bounds.from_ms && due_at_ms < bounds.until_ms : day === date) return 'due';
  const is_before = day === null ? due_at_ms < bounds.from_ms : day < date;
  return is_before && status !== 'completed' ? 'overdue' : null;
}
