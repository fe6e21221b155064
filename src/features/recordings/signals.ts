import { z } from 'zod';
import { NOTE_TYPE } from '../../../actors/recordings/note_blocks.js';
import { payloadKey } from '../../../actors/recordings/signals.js';
import type { ListedSignal, PostedSignal } from '../../../actors/recordings/signals_state.js';
import type { Stream } from '../../../actors/recordings/stream_state.js';
import { type Page, type PageQuery, type Position, pageOf, writeCursor } from '../../access/cursors.js';
import type { Principal } from '../../access/principal.js';
import { count, id, moment } from '../../access/response_schemas.js';
import { LIMITS } from '../../domain/limits.js';
import { isRefused, orRefused, Refused, refuse } from '../../domain/refusals.js';
import type { NotePlace } from '../../domain/search/places.js';
import { randomBytes } from '../../engine/random/random.js';
import type { Fence } from '../../engine/store/store.js';
import type { FeatureServices } from '../services.js';
import { noteText } from './note_text.js';
import { readSignals } from './signal_batch.js';
import { readableStream, writableStream } from './stream_access.js';

/** Signals on a stream's timeline. docs/rules.md, "Stream signals". */

const SIGNALS_STAGED_BYTES_MAX = 128 * 1024; // ours: payloads written by one commit, see actors/recordings/signals.ts

export const READS_SIGNALS = ['turns:read'] as const;

const NO_NOTE = refuse('NOT_FOUND', 'There is no such note.');
const NOTE_CHARS_SEARCHED_MAX = 2_000; // ours: of a note, found by search
const SCAN_STEP = 500;
/** Bytes of payloads that are read at once. */
const PAYLOADS_STEP_BYTES = 1024 * 1024;
const REQUEST_BYTES = 6;

export const signalShape = z
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

/** `payload_text`: the payload as it was sent, in JSON; null once it has expired. */
export type SignalView = Omit<z.infer<typeof signalShape>, 'payload'> & { payload_text: string | null };

type SignalQuery = PageQuery & {
  type?: string | undefined;
  from_ms?: number | undefined;
  to_ms?: number | undefined;
};

/** Attaches signals to the caller's stream: all of them, or none. `body`: the bytes of a batch, as signalsForm says. */
export async function postSignals(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { stream_id, body }: { stream_id: string; body: readonly Uint8Array[] },
): Promise<SignalView[]> {
  const signals = await readSignals(stream_id, body);
  const stream = await writableStream(services, who, stream_id);
  // Not after the stream has gone: who erases it has seen to its signals then.
  const fences: Fence[] = [...who.fences, { fence: 'open', id: stream.id }];
  const stored = await storeSignals(services, { stream, signals, fences });
  return viewsOf(services, stream.id, stored);
}

/** A page of the signals of a stream that the caller may read, by their start. */
export async function listSignals(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { stream_id, ...query }: SignalQuery & { stream_id: string },
): Promise<Page<SignalView>> {
  const stream = await readableStream(services, who, stream_id);
  const { rows, cursor } = await pageOfSignals(services, stream.id, query);
  const items = await viewsOf(services, stream.id, { signals: rows, texts: new Map() });
  return { items, cursor };
}

/** A note that the caller may read, as search finds it. NOT_FOUND where there is none any more. */
export async function readableNote(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { stream_id, signal_id: id }: NotePlace,
): Promise<{ start_ms: number; text: string; started_at: string }> {
  const stream = await readableStream(services, who, stream_id);
  const note = await readNote(services, { stream_id, id });
  if (note === null) throw new Refused(NO_NOTE);
  return { ...note, started_at: new Date(Date.parse(stream.captured_at) + note.start_ms).toISOString() };
}

/** The note of that id and its text, as search finds it; null where there is none any more. */
export async function readNote(
  { actors }: Pick<FeatureServices, 'actors'>,
  { stream_id, id }: { stream_id: string; id: string },
): Promise<{ start_ms: number; text: string } | null> {
  const { signal } = await actors.signals(stream_id).one({ id });
  if (signal?.payload.state !== 'available' || signal.payload.key === null) return null;
  const { payloads } = await actors.signals(stream_id).payloads({ keys: [signal.payload.key] });
  const text = noteText(payloads[signal.payload.key] ?? null, NOTE_CHARS_SEARCHED_MAX);
  return text === null ? null : { start_ms: signal.start_ms, text };
}

/** Signals, and the payloads of those that are known already, by their keys. */
type SignalTexts = { signals: readonly ListedSignal[]; texts: Map<string, string> };

/** Stores a batch with one commit, after staging payloads that would make the commit too large. */
async function storeSignals(
  services: Pick<FeatureServices, 'actors'>,
  { stream, signals, fences }: { stream: Stream; signals: PostedSignal[]; fences: Fence[] },
): Promise<SignalTexts> {
  const { id: stream_id, account_id, workspace_id } = stream;
  const actor = services.actors.signals(stream_id);
  const request = Buffer.from(randomBytes(REQUEST_BYTES)).toString('hex');
  const bytes = signals.reduce((sum, { payload_bytes }) => sum + payload_bytes, 0);
  const staged = bytes > SIGNALS_STAGED_BYTES_MAX;
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
  const notes = signals.flatMap(({ id, start_ms, type, payload }) => {
    const text = type === NOTE_TYPE ? noteText(payload, NOTE_CHARS_SEARCHED_MAX) : null;
    return text === null ? [] : [{ id, start_ms, text }];
  });
  const { captured_at, source_id } = stream;
  const noted = notes.length === 0 ? undefined : { captured_at_ms: Date.parse(captured_at), source_id, notes };
  const posting = actor.post({ account_id, workspace_id, request, signals: batch, staged, noted }, fences);
  const posted = await (staged ? posting.catch(abandon) : posting);
  const texts = signals.flatMap(({ payload }, part): [string, string][] =>
    payload === null ? [] : [[payloadKey(request, part), payload]],
  );
  return { signals: posted.signals, texts: new Map(texts) };

  /** Removes staged payloads at once if possible; the sweep finds the rest. */
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
    if (bytes + payload_bytes > SIGNALS_STAGED_BYTES_MAX) {
      yield piece;
      [piece, bytes] = [[], 0];
    }
    piece.push({ part, text, bytes: payload_bytes });
    bytes += payload_bytes;
  }
  if (piece.length > 0) yield piece;
}

/**
 * A page of what passes the filters, in the order of start, then id. Looks over the light records from where the first
 * one could be that ends late enough; gives up, with its cursor, when it has looked over many and found few.
 */
async function pageOfSignals(
  { actors }: Pick<FeatureServices, 'actors'>,
  stream_id: string,
  { limit, cursor, type, from_ms = 0, to_ms = Number.MAX_SAFE_INTEGER }: SignalQuery,
): Promise<{ rows: (ListedSignal & Position)[]; cursor: string | null }> {
  const extent = await actors.signals(stream_id).extent();
  const first = { order: from_ms - extent.longest_ms, id: '' };
  let after = cursor === undefined || cursor.order < first.order ? first : { order: cursor.order, id: cursor.member };
  const found: (ListedSignal & Position)[] = [];
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

/** The signals with their payloads; reads those payloads that are not in memory. */
async function viewsOf(
  { actors }: Pick<FeatureServices, 'actors'>,
  stream_id: string,
  { signals, texts }: SignalTexts,
): Promise<SignalView[]> {
  for (const keys of stepsOf(signals, texts)) {
    const read = await actors.signals(stream_id).payloads({ keys });
    for (const [key, text] of Object.entries(read.payloads)) texts.set(key, text);
  }
  return signals.map((signal) => signalView(signal, texts));
}

/** The keys of payloads that are not in memory, in steps. */
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

function signalView(signal: ListedSignal, texts: ReadonlyMap<string, string>): SignalView {
  const { payload, end_ms } = signal;
  const is_there = payload.state === 'available';
  return {
    id: signal.id,
    ref: signal.ref,
    type: signal.type,
    start_ms: signal.start_ms,
    ...(end_ms === null ? {} : { end_ms }),
    payload_state: is_there
      ? { state: 'available', removed_at: null }
      : { state: 'expired', removed_at: new Date(payload.removed_at_ms).toISOString() },
    created_at: new Date(signal.created_at_ms).toISOString(),
    payload_text: is_there ? (payload.key === null ? '{}' : (texts.get(payload.key) ?? null)) : null,
  };
}
