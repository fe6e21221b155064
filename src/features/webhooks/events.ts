import { z } from 'zod';
import { type EventView, eventView, sequenceOf } from '../../access/events.js';
import type { Principal } from '../../access/principal.js';
import { partitionOfId } from '../../domain/ids.js';
import { LIMITS } from '../../domain/limits.js';
import { type Refusal, Refused, refuse } from '../../domain/refusals.js';
import type { LoggedEvent, LogHead, Store } from '../../engine/store/store.js';
import type { FeatureServices as Services } from '../services.js';

/** Account events. docs/rules.md, "Account events". */

/** A reader's position in a log: the log, the last event and the filter. The two kinds don't mix. */
type Position = { kind: 'history' | 'polling'; log_name: string; id: string; type: string | null };

const position_form = z.tuple([
  z.enum(['history', 'polling']),
  z.string(),
  z.string().regex(/^\d{1,16}-\d{1,16}$/),
  z.string().nullable(),
]);
const SCAN_STEP = 500;
const AFTER_RULE = 'must be latest, 0, or a cursor that forward polling returned';
const CURSOR_RULE = 'must be a cursor that this list returned';

type EventQuery = {
  limit: number;
  type?: string | null | undefined;
  after?: string | undefined;
  cursor?: string | undefined;
};

type EventPage = { items: EventView[]; cursor: string | null };

/** A page of an account's events: forward from `after`, else backward from `cursor` or the newest. */
export async function listEvents(
  { store }: Pick<Services, 'store'>,
  { account_id }: Pick<Principal, 'account_id'>,
  { limit, type = null, after, cursor }: EventQuery,
): Promise<EventPage> {
  if (after !== undefined && cursor !== undefined) throw new Refused(wrong('cursor', 'cannot be combined with after'));
  const place = { account_id, partition: partitionOfId(account_id) };
  const head = await store.logHead(place, type);
  const reader = { store, place, head, type, limit };
  return after === undefined ? history(reader, cursor) : polling(reader, after);
}

type Reader = {
  store: Store;
  place: { account_id: string; partition: number };
  head: LogHead | null;
  type: string | null;
  limit: number;
};

/** Newest first; the cursor is null on the last page. */
async function history(reader: Reader, cursor: string | undefined): Promise<EventPage> {
  const { head, type, limit } = reader;
  if (head === null) return { items: [], cursor: null };
  let from = '+';
  if (cursor !== undefined) {
    const position = readPosition(cursor, 'history', reader);
    if (position === null) throw new Refused(wrong('cursor', CURSOR_RULE));
    from = `(${position.id}`;
  }
  if (head.last_id_of_type === null) return { items: [], cursor: null };
  const { found, stopped_at } = await scan(reader, { from, to: '-', descending: true, want: limit + 1 });
  const page = found.slice(0, limit);
  const end = found.length > limit ? page.at(-1)?.id : stopped_at;
  const next = end === undefined ? null : writePosition({ kind: 'history', log_name: head.name, id: end, type });
  return { items: page.map(eventView), cursor: next };
}

/** Oldest first from a cursor on; there is always a cursor to continue with, and an empty page keeps the position. */
async function polling(reader: Reader, after: string): Promise<EventPage> {
  const { store, place, head, type, limit } = reader;
  const at = (id: string | null | undefined, log_name: string) =>
    id ? writePosition({ kind: 'polling', log_name, id, type }) : '0';
  if (after === 'latest') {
    if (head === null || head.last_id_of_type === null) return { items: [], cursor: '0' };
    const id = head.last_id_of_type;
    const [kept] = await store.events(place, { from: id, to: id, descending: false, limit: 1 });
    return { items: [], cursor: kept === undefined ? '0' : at(id, head.name) };
  }
  let from = '-';
  if (after !== '0') {
    const position = readPosition(after, 'polling', reader);
    if (position === null || head === null) throw new Refused(wrong('after', AFTER_RULE));
    // Nothing of this type lies behind the position: the log need not be read to know it.
    if (head.last_id_of_type === null || sequenceOf(head.last_id_of_type) <= sequenceOf(position.id))
      return { items: [], cursor: after };
    from = `(${position.id}`;
  }
  if (head === null || head.last_id_of_type === null) return { items: [], cursor: '0' };
  const { found, stopped_at } = await scan(reader, { from, to: '+', descending: false, want: limit });
  const end = found.at(-1)?.id ?? stopped_at;
  return { items: found.map(eventView), cursor: end === undefined ? after : at(end, head.name) };
}

/**
 * Reads until `want` events of the type are found, the log ends, or the most events were read; then `stopped_at` is the
 * event after which to continue.
 */
async function scan(
  { store, place, type }: Reader,
  range: { from: string; to: string; descending: boolean; want: number },
): Promise<{ found: LoggedEvent[]; stopped_at?: string }> {
  const found: LoggedEvent[] = [];
  let { from } = range;
  for (let seen = 0; seen < LIMITS.event_scan_max; ) {
    const step = type === null ? range.want - found.length : SCAN_STEP;
    const events = await store.events(place, { from, to: range.to, descending: range.descending, limit: step });
    for (const event of events) {
      if (type === null || event.type === type) found.push(event);
      if (found.length >= range.want) return { found };
    }
    const last = events.at(-1);
    if (last === undefined || events.length < step) return { found };
    from = `(${last.id}`;
    seen += events.length;
    if (seen >= LIMITS.event_scan_max) return { found, stopped_at: last.id };
  }
  return { found };
}

function writePosition({ kind, log_name, id, type }: Position): string {
  return Buffer.from(JSON.stringify([kind, log_name, id, type])).toString('base64url');
}

/** The position behind a cursor; null for one of another kind, filter or log, or ahead of the log. */
function readPosition(text: string, kind: Position['kind'], { head, type }: Reader): Position | null {
  if (!/^[A-Za-z0-9_-]{1,400}$/.test(text)) return null;
  let parsed: ReturnType<typeof position_form.safeParse>;
  try {
    parsed = position_form.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString()));
  } catch {
    return null;
  }
  if (!parsed.success) return null;
  const [found_kind, log_name, id, found_type] = parsed.data;
  if (found_kind !== kind || found_type !== type || head === null || log_name !== head.name) return null;
  if (head.last_id === null || sequenceOf(id) > sequenceOf(head.last_id)) return null;
  return { kind, log_name, id, type };
}

function wrong(path: string, message: string): Refusal {
  return refuse('BAD_REQUEST', `${path} ${message}.`, { details: [{ path, message }] });
}
