import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { type ListedSignal, type PostedSignal, payloadKey } from '../../actors/recordings/signals.js';
import type { Stream } from '../../actors/recordings/stream_state.js';
import { listCursor, type Position, pageOf, writeCursor } from '../../src/access/cursors.js';
import { listLimit } from '../../src/access/request_schemas.js';
import { count, id, moment, no_cursor, pageShape } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isRefused, orRefused } from '../../src/domain/refusals.js';
import { JsonBytes } from '../../src/edge/http/responses.js';
import { randomBytes } from '../../src/engine/runtime/random.js';
import type { Fence } from '../../src/engine/store/store.js';
import { readSignals, signalsForm, signalType } from '../../src/features/recordings/signal_batch.js';
import { readableStream, WRITES_STREAMS, writableStream } from '../../src/features/recordings/stream_access.js';
import { accountRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** Signals on a stream's timeline. docs/rules.md, "Stream signals". */

const SCAN_STEP = 500;
/** Bytes of payloads that are read at once. */
const PAYLOADS_STEP_BYTES = 1024 * 1024;
const REQUEST_BYTES = 6;
/** Encoded before others get their turn; four megabytes at once would hold up everybody for 50 ms. */
const CHARS_AT_ONCE = 128 * 1024;
const ITEMS = Buffer.from('{"items":[');
const ONE_PAGE = Buffer.from('],"cursor":null}');

/** A time in a query. */
const time = z
  .string()
  .refine((text) => /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)), 'must be a whole number from 0')
  .transform(Number)
  .meta({ type: 'integer', minimum: 0 })
  .optional();

const signalShape = z
  .strictObject({
    id,
    ref: z.string().describe('The name that the sender gave it, unique within the stream.'),
    type: z.string().describe('What happened, as a dotted name.'),
    start_ms: count.describe("When it began, in ms on the stream's timeline."),
    end_ms: count.optional().describe('When it was over, in ms; absent for what has no length.'),
    payload: z.record(z.string(), z.unknown()).nullable().describe('As it was sent; null once it has expired.'),
    payload_state: z
      .strictObject({
        state: z.enum(['available', 'expired']).describe('expired: the workspace does not keep it any longer.'),
        removed_at: moment.nullable().describe('When it was removed; null while it is there.'),
      })
      .describe('Whether the payload is still there.'),
    created_at: moment,
  })
  .meta({ id: 'Signal' });

export const SIGNAL_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'POST',
    path: '/audio/streams/:id/signals',
    summary: "Attaches signals to a stream's timeline.",
    notes:
      'All of them are stored, or none. A ref that is there already with the same content is no new signal; with other content everything is refused.',
    credential: 'account',
    permission: WRITES_STREAMS,
    takes: 'json_pieces',
    body_bytes_max: LIMITS.signals_body_bytes_max,
    body: z.array(z.instanceof(Uint8Array), 'must be an object with signals'),
    answer: z.strictObject({ items: z.array(signalShape), cursor: no_cursor }),
    reads: { body: signalsForm },
    refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
    async handler({ services, who, params, body }) {
      const signals = await readSignals(params.id as string, body);
      const stream = await writableStream(services, who, params.id as string);
      // Not after the stream has gone: who erases it has seen to its signals then.
      const fences: Fence[] = [...who.fences, { fence: 'open', id: stream.id }];
      const posted = await postSignals(services, { stream, signals, fences });
      const items = await itemsOf(services, stream.id, posted);
      return new JsonBytes([ITEMS, ...items, ONE_PAGE]);
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/audio/streams/:id/signals',
    summary: "Signals on a stream's timeline, by their start.",
    credential: 'account',
    permission: ['turns:read'],
    query: z.object({
      limit: listLimit,
      cursor: listCursor,
      type: signalType.optional().describe('Only signals of this type.'),
      from_ms: time.describe("Only signals that are not over before this, in ms on the stream's timeline."),
      to_ms: time.describe('Only signals that begin by then, in ms.'),
    }),
    answer: pageShape(signalShape),
    async handler({ services, who, params, query }) {
      const stream = await readableStream(services, who, params.id as string);
      const page = await pageOfSignals(services, stream.id, query);
      const items = await itemsOf(services, stream.id, { signals: page.rows, texts: new Map() });
      return new JsonBytes([ITEMS, ...items, Buffer.from(`],"cursor":${JSON.stringify(page.cursor)}}`)]);
    },
  }),
];

/** Signals, and the payloads of those that are known already, by their keys. */
type Found = { signals: readonly ListedSignal[]; texts: Map<string, string> };

/** Posts a batch with one commit, after payloads that would make it a large one were written ahead. */
async function postSignals(
  services: Services,
  { stream, signals, fences }: { stream: Stream; signals: PostedSignal[]; fences: Fence[] },
): Promise<Found> {
  const { id: stream_id, account_id, workspace_id } = stream;
  const actor = services.actors.signals(stream_id);
  const request = Buffer.from(randomBytes(REQUEST_BYTES)).toString('hex');
  const bytes = signals.reduce((sum, { payload_bytes }) => sum + payload_bytes, 0);
  const staged = bytes > LIMITS.signals_staged_bytes_max;
  // Their texts lie there already.
  const batch = staged
    ? signals.map((signal) => ({ ...signal, payload: signal.payload === null ? null : '' }))
    : signals;
  if (staged) {
    const compared = await actor.compare(
      { signals: signals.map(({ id, ref, content }) => ({ id, ref, content })) },
      fences,
    );
    for (const payloads of piecesOf(signals, new Set(compared.known)))
      await actor.stage({ request, payloads }, fences).catch(abandon);
  }
  const posting = actor.post({ account_id, workspace_id, request, signals: batch, staged }, fences);
  const posted = await (staged ? posting.catch(abandon) : posting);
  const texts = signals.flatMap(({ payload }, part): [string, string][] =>
    payload === null ? [] : [[payloadKey(request, part), payload]],
  );
  return { signals: posted.signals, texts: new Map(texts) };

  /** What was staged goes at once where that can be done; the sweep finds what is left. */
  async function abandon(error: unknown): Promise<never> {
    if (isRefused(error)) await actor.unstage({ request }, fences).catch(orRefused(null));
    throw error;
  }
}

/** The payloads of new signals, in pieces that one commit may write. */
function* piecesOf(signals: PostedSignal[], known: Set<string>) {
  let piece: { part: number; text: string; bytes: number }[] = [];
  let bytes = 0;
  for (const [part, { id, payload: text, payload_bytes }] of signals.entries()) {
    if (text === null || known.has(id)) continue;
    known.add(id); // a ref that comes twice is written once
    if (bytes + payload_bytes > LIMITS.signals_staged_bytes_max) {
      yield piece;
      [piece, bytes] = [[], 0];
    }
    piece.push({ part, text, bytes: payload_bytes });
    bytes += payload_bytes;
  }
  if (piece.length > 0) yield piece;
}

type Filter = {
  limit: number;
  cursor?: Position | undefined;
  type?: string | undefined;
  from_ms?: number | undefined;
  to_ms?: number | undefined;
};
type Row = ListedSignal & Position;

/**
 * A page of what passes the filters, in the order of start, then id. Looks over the light records from where the first
 * one could be that ends late enough; gives up, with its cursor, when it has looked over many and found few.
 */
async function pageOfSignals(
  { actors }: Services,
  stream_id: string,
  { limit, cursor, type, from_ms = 0, to_ms = Number.MAX_SAFE_INTEGER }: Filter,
): Promise<{ rows: Row[]; cursor: string | null }> {
  const extent = await actors.signals(stream_id).extent();
  const first = { order: from_ms - extent.longest_ms, id: '' };
  let after = cursor === undefined || cursor.order < first.order ? first : { order: cursor.order, id: cursor.member };
  const found: Row[] = [];
  for (let looked = 0; found.length <= limit; ) {
    if (looked >= LIMITS.signals_scanned_max) {
      return { rows: found, cursor: writeCursor({ order: after.order, member: after.id }) };
    }
    const listed = await actors.signals(stream_id).list({ range: { after, limit: SCAN_STEP } });
    const { signals } = listed;
    for (const signal of signals) {
      const passes =
        (type === undefined || signal.type === type) &&
        (signal.end_ms ?? signal.start_ms) >= from_ms &&
        signal.start_ms <= to_ms;
      if (passes) found.push({ ...signal, member: signal.id });
    }
    looked += signals.length;
    const last = signals.at(-1);
    if (last === undefined || signals.length < SCAN_STEP || last.start_ms > to_ms) break;
    after = { order: last.order, id: last.id };
  }
  return pageOf(found, limit);
}

/** The signals as JSON with commas between, their payloads as they were sent; made a piece at a time. */
async function itemsOf({ actors }: Services, stream_id: string, { signals, texts }: Found): Promise<Buffer[]> {
  for (const keys of stepsOf(signals, texts)) {
    const read = await actors.signals(stream_id).payloads({ keys });
    for (const [key, text] of Object.entries(read.payloads)) texts.set(key, text);
  }
  const pieces: Buffer[] = [];
  let text = '';
  for (const [index, signal] of signals.entries()) {
    text += `${index === 0 ? '' : ','}${itemText(signal, texts)}`;
    if (text.length < CHARS_AT_ONCE && index < signals.length - 1) continue;
    pieces.push(Buffer.from(text));
    text = '';
    await setImmediate();
  }
  return pieces;
}

/** The keys of payloads that are not at hand, in steps. */
function* stepsOf(signals: readonly ListedSignal[], texts: ReadonlyMap<string, string>): Generator<string[]> {
  let step: string[] = [];
  let bytes = 0;
  for (const { payload } of signals) {
    if (payload.state !== 'available' || payload.key === null || texts.has(payload.key)) continue;
    step.push(payload.key);
    bytes += payload.bytes;
    if (bytes < PAYLOADS_STEP_BYTES) continue;
    yield step;
    [step, bytes] = [[], 0];
  }
  if (step.length > 0) yield step;
}

function itemText(
  { id, ref, type, start_ms, end_ms, payload, created_at_ms }: ListedSignal,
  texts: Map<string, string>,
) {
  const rest = JSON.stringify({
    ...{ id, ref, type, start_ms },
    ...(end_ms === null ? {} : { end_ms }),
    payload_state:
      payload.state === 'available'
        ? { state: 'available', removed_at: null }
        : { state: 'expired', removed_at: new Date(payload.removed_at_ms).toISOString() },
    created_at: new Date(created_at_ms).toISOString(),
  });
  const text = payload.state === 'expired' ? 'null' : payload.key === null ? '{}' : (texts.get(payload.key) ?? 'null');
  return `${rest.slice(0, -1)},"payload":${text}}`;
}
