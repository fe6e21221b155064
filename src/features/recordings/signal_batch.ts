import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import type { PostedSignal } from '../../../actors/recordings/signals_state.js';
import { whole } from '../../access/request_schemas.js';
import { signalId } from '../../domain/ids.js';
import { LIMITS } from '../../domain/limits.js';
import { type Refusal, type RefusalDetail, Refused, refuse, throwRefusal } from '../../domain/refusals.js';
import { NotReadable } from '../../engine/wire/document.js';
import { NotUtf8, textOf } from '../../engine/wire/json.js';
import { JsonReader, type SentValue, TooLong } from '../../engine/wire/json_reader.js';
import { parseGiven } from '../../engine/wire/schema_faults.js';

/** A batch of signals, read from its bytes, so that each payload keeps the text that was sent. */

const SIGNAL_REF_CHARS_MAX = 128; // ours
const SIGNAL_TYPE_CHARS_MAX = 128; // ours

/** Between two pauses that let others have their turn: whichever comes first. */
const CHARS_AT_ONCE = 64 * 1024;
const SIGNALS_AT_ONCE = 32;
const DETAILS_MAX = 20;
const EMPTY: SentValue = { text: '{}', canonical: '{}', bytes: 2 };

const TYPE_RULE = `must be a lowercase dotted name of at most ${SIGNAL_TYPE_CHARS_MAX} characters, such as meeting.started`;
export const signalType = z
  .string(TYPE_RULE)
  .max(SIGNAL_TYPE_CHARS_MAX, TYPE_RULE)
  .regex(/^[a-z0-9][a-z0-9_-]*(\.[a-z0-9][a-z0-9_-]*)*$/, TYPE_RULE);

const REF_RULE = `must be 1 to ${SIGNAL_REF_CHARS_MAX} characters`;
const PAYLOAD_OBJECT = 'must be a JSON object';
const PAYLOAD_SIZE = `must be at most ${LIMITS.signal_payload_bytes_max} bytes of JSON, without space and needless escapes`;
const COUNT = `must hold 1 to ${LIMITS.signals_per_request_max} signals`;

/** All fields of a signal but its payload. */
const FIELDS = z
  .object(
    {
      ref: z
        .string(REF_RULE)
        .refine((ref) => ref.length > 0 && [...ref].length <= SIGNAL_REF_CHARS_MAX && ref.isWellFormed(), REF_RULE)
        .describe('A name of your own, unique within the stream: the same again changes nothing.'),
      type: signalType.describe('What happened, as a dotted name.'),
      start_ms: whole({ min: 0 }).describe("When it began, in ms on the stream's timeline."),
      end_ms: whole({ min: 0 }).optional().describe('When it was over, in ms; left out for what has no length.'),
    },
    'must be an object',
  )
  .refine(({ start_ms, end_ms }) => end_ms === undefined || end_ms >= start_ms, {
    path: ['end_ms'],
    message: 'must not be before start_ms',
  });

/** A batch in the form of the reference. Payloads are read separately, to keep their text. */
export const signalsForm = z.object({
  signals: z
    .array(
      FIELDS.safeExtend({
        payload: z
          .record(z.string(), z.unknown())
          .optional()
          .describe(
            `Comes back letter for letter; at most ${LIMITS.signal_payload_bytes_max} bytes of JSON, without space and needless escapes.`,
          ),
      }),
    )
    .min(1)
    .max(LIMITS.signals_per_request_max)
    .describe('Stored as a whole or not at all.'),
});

type Item = { fields: unknown; payload: SentValue | { wrong: string } };

/** The signals of a body in the order sent, or the first fault of the body. */
export async function readSignals(stream_id: string, pieces: readonly Uint8Array[]): Promise<PostedSignal[]> {
  const json = new JsonReader(textOf(pieces));
  const signals: PostedSignal[] = [];
  const wrong: RefusalDetail[] = [];
  let paused_at = 0;
  let index = 0;
  try {
    for (const item of itemsOf(json)) {
      const found = checked(stream_id, item);
      if ('wrong' in found)
        wrong.push(...found.wrong.map(({ path, message }) => ({ path: `signals.${index}${path}`, message })));
      else signals.push(found.signal);
      index += 1;
      if (index > LIMITS.signals_per_request_max || wrong.length >= DETAILS_MAX) break;
      if (json.characters - paused_at < CHARS_AT_ONCE && index % SIGNALS_AT_ONCE > 0) continue;
      paused_at = json.characters;
      await setImmediate();
    }
  } catch (error) {
    if (!(error instanceof NotReadable)) throw error;
    if (error instanceof NotUtf8) throw new Refused(malformed([{ path: '', message: 'must be valid UTF-8' }]));
    if (error instanceof TooLong)
      throw new Refused(malformed([...wrong, { path: `signals.${index}.payload`, message: PAYLOAD_SIZE }]));
    const path = index === 0 ? '' : `signals.${index}`;
    throw new Refused(
      refuse('BAD_REQUEST', `The body is not valid JSON: ${error.message}.`, {
        details: [{ path, message: error.message }],
      }),
    );
  }
  if (index === 0 || index > LIMITS.signals_per_request_max) wrong.unshift({ path: 'signals', message: COUNT });
  return wrong.length > 0 ? throwRefusal(malformed(wrong.slice(0, DETAILS_MAX))) : signals;
}

function malformed(details: RefusalDetail[]): Refusal {
  const [first] = details;
  const where = first?.path === '' ? 'The body' : first?.path;
  return refuse('BAD_REQUEST', `${where}: ${first?.message}.`, { details });
}

/** The members of `signals` in order; other members of the body are skipped. */
function* itemsOf(json: JsonReader): Generator<Item> {
  if (json.peek() !== '{') throw new NotReadable('the body is no object');
  for (const key of keysOf(json)) {
    if (key !== 'signals') json.value();
    else if (!json.take('[')) throw new NotReadable('signals is no array');
    else if (!json.take(']')) {
      do yield itemOf(json);
      while (json.take(','));
      json.expect(']');
    }
  }
  if (json.peek() !== '') throw new NotReadable('text follows the end of the body');
}

/** Stands behind each key of an object in turn; whoever is notified of it reads its value. */
function* keysOf(json: JsonReader): Generator<string> {
  const seen = new Set<string>();
  json.expect('{');
  if (json.take('}')) return;
  do {
    const key = json.key();
    if (seen.has(key)) throw new NotReadable('the key occurs twice');
    seen.add(key);
    yield key;
  } while (json.take(','));
  json.expect('}');
}

function itemOf(json: JsonReader): Item {
  if (json.peek() !== '{') return { fields: json.value(), payload: EMPTY };
  const fields: Record<string, unknown> = {};
  let payload: Item['payload'] = EMPTY;
  for (const key of keysOf(json)) {
    const first = json.peek();
    if (key !== 'payload') {
      const value = json.value();
      if (Object.hasOwn(FIELDS.shape, key)) fields[key] = value;
    } else if (first === '{') payload = json.valueAsSent(LIMITS.signal_payload_bytes_max);
    else {
      json.value();
      if (first !== 'n') payload = { wrong: PAYLOAD_OBJECT };
    }
  }
  return { fields, payload };
}

function checked(stream_id: string, { fields, payload }: Item): { signal: PostedSignal } | { wrong: RefusalDetail[] } {
  const parsed = parseGiven(FIELDS, fields);
  const issues = parsed.success ? [] : parsed.error.issues;
  const wrong = issues.map(({ path, message }) => ({ path: path.map((step) => `.${String(step)}`).join(''), message }));
  if ('wrong' in payload) wrong.push({ path: '.payload', message: payload.wrong });
  if (!parsed.success || 'wrong' in payload) return { wrong };
  const { ref, type, start_ms, end_ms = null } = parsed.data;
  const content = digest(JSON.stringify([type, start_ms, end_ms]), payload.canonical).toString('base64url');
  const is_empty = payload.canonical === '{}';
  return {
    signal: {
      id: signalId(stream_id, digest(stream_id, ref)),
      ref,
      type,
      start_ms,
      end_ms,
      content,
      payload: is_empty ? null : payload.text,
      payload_bytes: is_empty ? 0 : Buffer.byteLength(payload.text),
    },
  };
}

/** 18 bytes: 24 characters. */
function digest(...parts: string[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\n');
  return hash.digest().subarray(0, 18);
}
