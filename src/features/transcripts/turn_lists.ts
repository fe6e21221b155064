import type { z } from 'zod';
import { contactOf } from '../../../actors/transcripts/transcript_attribution.js';
import { type PageTurn, pageOf as pageAt } from '../../../actors/transcripts/transcript_page.js';
import { TRANSCRIPTS, transcriptIndexOf } from '../../../actors/transcripts/transcript_state.js';
import { otherCursor, type Page, type PageQuery, type Position, writeCursor } from '../../access/cursors.js';
import type { Principal } from '../../access/principal.js';
import { isId, partitionOfId } from '../../domain/ids.js';
import { LIMITS } from '../../domain/limits.js';
import { orNull, orRefused, Refused, refuse, throwRefusal } from '../../domain/refusals.js';
import { ownSource } from '../recordings/sources.js';
import type { FeatureServices } from '../services.js';
import { askWorkspace } from '../workspaces/ask_workspace.js';
import { namesOf, pagesFrom, type ReadableTranscript } from './transcript_pages.js';
import { type FoundTurn, readableTranscript, readTurn, requestedTranscript, viewTurns } from './transcript_reading.js';
import type { TurnView } from './turn_shape.js';

/** Lists of turns: of one stream in the order of its timeline, or of many, the newest first. */

const PAGES_SCANNED_MAX = 64; // ours: pages of transcripts looked at for one page of turns
const FETCHED_AROUND_MS = 60_000; // ours: what was said so long before and after a turn is given with it
const FETCHED_TURNS_MAX = 40; // ours: of these

const STREAMS_STEP = 25;
const NO_CONTACT = refuse('NOT_FOUND', 'There is no such contact.');

/** Of which a list of turns takes one at most. */
const SCOPES = ['stream_id', 'source_id', 'workspace_id', 'contact_id'] as const;

type Scopes = Partial<
  Record<(typeof SCOPES)[number] | 'from_ms' | 'to_ms' | 'pipeline_id' | 'from' | 'to', string | number | undefined>
>;

/** Which filters of a list of turns go together. */
export function checkScopes(query: Scopes, context: z.RefinementCtx): void {
  const wrong = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
  const scopes = SCOPES.filter((name) => query[name] !== undefined);
  if (scopes.length > 1) wrong(scopes[1] as string, `must not be combined with ${scopes[0]}`);
  for (const name of ['from_ms', 'to_ms', 'pipeline_id'] as const)
    if (query[name] !== undefined && query.stream_id === undefined) wrong(name, 'goes with stream_id only');
  for (const name of ['from', 'to'] as const)
    if (query[name] !== undefined && query.stream_id !== undefined)
      wrong(name, 'does not go with stream_id; use from_ms and to_ms');
}

/** Turns of one stream in the order of its timeline, or of many with the newest first. */
export async function listTurns(
  services: Pick<FeatureServices, 'actors' | 'runtime' | 'store'>,
  who: Principal,
  { stream_id, ...query }: Omit<TurnsOfStreamQuery, 'stream_id'> & TurnsQuery & { stream_id?: string | undefined },
): Promise<Page<TurnView>> {
  if (stream_id !== undefined) return turnsOfStream(services, who, { stream_id, ...query });
  const { source_id } = query;
  if (source_id !== undefined) await ownSource(services, { account_id: who.account_id, id: source_id });
  return turnsOfMany(services, who, query);
}

/** A turn, what the same pipeline heard around it (the turn with it), and the recording's title. */
export async function readTurnInContext(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  turn_id: string,
): Promise<{ turn: TurnView; around: TurnView[]; stream_title: string | null }> {
  const turn = await readTurn(services, who, { turn_id, words: false });
  const { stream_id, pipeline_id, start_ms, end_ms } = turn;
  const { stream } = await readableTranscript(services, who, stream_id);
  const page = await turnsOfStream(services, who, {
    stream_id,
    pipeline_id,
    limit: FETCHED_TURNS_MAX,
    from_ms: Math.max(0, start_ms - FETCHED_AROUND_MS),
    to_ms: end_ms + FETCHED_AROUND_MS,
  }).catch(orRefused(null));
  const turns = page?.items ?? [];
  const around = turns.some(({ id }) => id === turn_id) ? turns : [turn, ...turns];
  return { turn, around, stream_title: stream.title };
}

/** Turns of a stream that are not over before `from_ms` and begin by `to_ms`. */
async function turnsOfStream(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  { stream_id, pipeline_id, limit, cursor, from_ms = 0, to_ms = Number.MAX_SAFE_INTEGER }: TurnsOfStreamQuery,
): Promise<Page<TurnView>> {
  const after = cursor === undefined ? null : readInside(cursor.order, cursor.member);
  if (cursor !== undefined && after === null) throw new Refused(otherCursor());
  const readable = await requestedTranscript(services, who, { stream_id, pipeline_id });
  const found: FoundTurn[] = [];
  // A turn that reaches into the time may lie in the page before.
  const begins_ms = after === null ? Math.max(0, from_ms - LIMITS.transcript_page_ms) : after.start_ms;
  const first = Math.min(pageAt(begins_ms), LIMITS.transcript_pages_max);
  let is_over = false;
  for await (const page of pagesFrom(services, readable, { page: first })) {
    for (const turn of page.turns) {
      const is_behind =
        after === null ||
        turn.start_ms > after.start_ms ||
        (turn.start_ms === after.start_ms && turn.serial > after.serial);
      if (turn.start_ms > to_ms) is_over = true;
      if (is_behind && turn.end_ms >= from_ms && turn.start_ms <= to_ms) found.push({ page: page.number, turn });
      if (found.length > limit) break;
    }
    if (is_over || found.length > limit) break;
  }
  const items = await viewTurns(services, who, { readable, turns: found.slice(0, limit) });
  const last = found.length > limit ? found[limit - 1]?.turn : undefined;
  return {
    items,
    cursor: last === undefined ? null : writeCursor({ order: last.start_ms, member: String(last.serial) }),
  };
}

type TurnsOfStreamQuery = PageQuery & {
  stream_id: string;
  pipeline_id?: string | undefined;
  from_ms?: number | undefined;
  to_ms?: number | undefined;
};

/** Where turns are looked for, and which pass. Times are ISO 8601. */
type TurnsQuery = PageQuery & {
  source_id?: string | undefined;
  workspace_id?: string | undefined;
  contact_id?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
};

/** Inside a stream: what begins before this turn; null for nothing any more. */
type Inside = { start_ms: number; serial: number } | null;
type TurnPlace = { order: number; stream_id: string; inside: Inside };

/**
 * Turns of many streams: the newest stream first, and in it the newest turn. Gives up, with its cursor, when it has
 * looked at much and found little.
 */
async function turnsOfMany(
  services: Pick<FeatureServices, 'actors' | 'runtime' | 'store'>,
  who: Principal,
  query: TurnsQuery,
): Promise<Page<TurnView>> {
  const { limit, cursor } = query;
  const begin = cursor === undefined ? null : readPlace(cursor);
  if (cursor !== undefined && begin === null) throw new Refused(otherCursor());
  const contact = await contactAsked(services, who, query.contact_id);
  const items: TurnView[] = [];
  const tally = { pages: 0, streams: 0 };
  let end: TurnPlace | null = null;
  for await (const row of streamsOf(services, who, { ...query, contact_id: contact?.id }, begin)) {
    const place = { order: row.order, stream_id: row.member };
    const inside = begin?.stream_id === row.member ? begin.inside : undefined;
    const readable = inside === null ? null : await orNull(readableTranscript(services, who, row.member), 'NOT_FOUND');
    if (readable !== null) {
      for await (const step of newestSteps(services, readable, { ...query, contact_id: contact?.id, inside })) {
        tally.pages += 1;
        const taken = step.turns.slice(0, limit - items.length);
        const views = await viewTurns(services, who, { readable, turns: taken });
        items.push(...views);
        const last = taken.at(-1)?.turn;
        if (last !== undefined) end = { ...place, inside: { start_ms: last.start_ms, serial: last.serial } };
        if (taken.length < step.turns.length) return { items, cursor: end === null ? null : writePlace(end) };
        if (tally.pages >= PAGES_SCANNED_MAX) return { items, cursor: writePlace({ ...place, inside: step.reached }) };
      }
    }
    tally.streams += 1;
    if (tally.streams >= LIMITS.streams_scanned_max) return { items, cursor: writePlace({ ...place, inside: null }) };
  }
  return { items, cursor: null };
}

type StepsQuery = Pick<TurnsQuery, 'contact_id' | 'from' | 'to'> & { inside: Inside | undefined };

/** The turns of each page of a stream that match, the newest first, and how far that has come. */
export async function* newestSteps(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  readable: ReadableTranscript,
  { contact_id, from, to, inside }: StepsQuery,
): AsyncGenerator<{ turns: FoundTurn[]; reached: Inside }> {
  const { stream, transcript } = readable;
  const begun_ms = Date.parse(stream.captured_at);
  const from_ms = from === undefined ? 0 : Date.parse(from) - begun_ms;
  const to_ms = to === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(to) - begun_ms;
  const last_ms = Math.min(to_ms, inside?.start_ms ?? Number.MAX_SAFE_INTEGER);
  if (transcript === null || last_ms < 0) return;
  const first = Math.min(pageAt(last_ms), LIMITS.transcript_pages_max);
  for await (const page of pagesFrom(services, readable, { page: first, descending: true })) {
    const within = page.turns.filter(
      (turn) => turn.start_ms >= from_ms && turn.start_ms <= to_ms && (inside == null || isBefore(turn, inside)),
    );
    const contacts = contact_id === undefined ? {} : await namesOf(services, readable, within);
    const passing = within.filter((turn) => {
      const held = contactOf(readable.speakers, turn);
      return contact_id === undefined || (held !== null && contacts[held]?.id === contact_id);
    });
    const first_ms = page.number * LIMITS.transcript_page_ms;
    const turns = passing.reverse().map((turn) => ({ page: page.number, turn }));
    yield { turns, reached: { start_ms: first_ms, serial: 0 } };
    if (first_ms <= from_ms) return;
  }
}

function isBefore(turn: PageTurn, { start_ms, serial }: NonNullable<Inside>): boolean {
  return turn.start_ms < start_ms || (turn.start_ms === start_ms && turn.serial < serial);
}

/** The contact of a list's query, as it is now; null where none was asked for. */
export async function contactAsked(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id }: Principal,
  contact_id: string | undefined,
) {
  if (contact_id === undefined) return null;
  const resolved = await actors.contacts(account_id).resolve({ ids: [contact_id] });
  return resolved.contacts[contact_id] ?? throwRefusal(NO_CONTACT);
}

/** Streams that may have such turns, from a place on; one that has none is passed over by whoever reads it. */
export async function* streamsOf(
  services: Pick<FeatureServices, 'actors' | 'store'>,
  { account, account_id }: Principal,
  { source_id, workspace_id, contact_id }: Pick<TurnsQuery, 'source_id' | 'workspace_id' | 'contact_id'>,
  begin: TurnPlace | null,
): AsyncGenerator<Position> {
  const shared = workspace_id !== undefined && workspace_id !== account.private_workspace.id ? workspace_id : null;
  if (begin !== null) yield { order: begin.order, member: begin.stream_id };
  let after = begin === null ? undefined : { order: begin.order, member: begin.stream_id };
  for (;;) {
    const rows = shared === null ? await listed() : await inWorkspace(shared);
    yield* rows;
    after = rows.at(-1);
    if (rows.length < STREAMS_STEP) return;
  }

  function listed(): Promise<Position[]> {
    const of = source_id ?? workspace_id ?? contact_id;
    const list = of === undefined ? TRANSCRIPTS : transcriptIndexOf(of);
    const place = { owner: account_id, partition: partitionOfId(account_id) };
    return services.store.list(place, list, { after, descending: true, limit: STREAMS_STEP });
  }

  async function inWorkspace(id: string): Promise<Position[]> {
    const behind = after === undefined ? undefined : { order: after.order, id: after.member };
    const range = { after: behind, descending: true, limit: STREAMS_STEP };
    const found = await askWorkspace(services, id, (workspace) => workspace.list_streams({ by: account_id, range }));
    return found.streams.map((stream) => ({ order: stream.order, member: stream.id }));
  }
}

function writePlace({ order, stream_id, inside }: TurnPlace): string {
  return writeCursor({
    order,
    member: inside === null ? stream_id : `${stream_id}/${inside.start_ms}/${inside.serial}`,
  });
}

/** Null for a cursor that this list has not written. */
function readPlace({ order, member }: Position): TurnPlace | null {
  const [stream_id = '', start, serial, ...more] = member.split('/');
  if (!isId(stream_id) || !Number.isSafeInteger(order) || more.length > 0) return null;
  if (start === undefined) return { order, stream_id, inside: null };
  const inside = readInside(Number(start), serial ?? '');
  return inside === null ? null : { order, stream_id, inside };
}

function readInside(start_ms: number, serial: string): Inside {
  const is_turn = Number.isSafeInteger(start_ms) && start_ms >= 0 && /^\d{1,9}$/.test(serial);
  return is_turn ? { start_ms, serial: Number(serial) } : null;
}
