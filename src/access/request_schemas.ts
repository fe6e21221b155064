import { z } from 'zod';
import { isDate } from '../domain/dates.js';
import { EVENT_TYPE_FORM } from '../domain/event_types.js';
import { holdsHiddenMarks, isSeen } from '../domain/hidden_marks.js';
import { isId } from '../domain/ids.js';
import { LIMITS } from '../domain/limits.js';
import { readEmail } from './typed_email.js';

/** Forms that several routes share. Error texts state the rule; the path is added when they are rendered. */

const SAFE = Number.MAX_SAFE_INTEGER;

/** A UUID in any letter case, turned into its canonical form; CBOR may send its 16 bytes. */
export const uuid = z.preprocess(
  (value) =>
    value instanceof Uint8Array && value.length === 16
      ? uuidOfBytes(value)
      : typeof value === 'string'
        ? value.toLowerCase()
        : value,
  z.string('must be a UUID').refine(isId, 'must be a UUID').meta({ format: 'uuid' }),
);

/** The fields that most bodies of devices hold. */
export const bindingEpoch = uuid.describe('Of the binding that the device recorded under.');
export const sourceStreamRef = uuid.describe("The device's own name for the stream.");

/** A SHA-256 as 64 hexadecimal digits, turned into lower case; CBOR may send its 32 bytes. */
export const sha256 = z.preprocess(
  (value) =>
    value instanceof Uint8Array && value.length === 32
      ? Buffer.from(value).toString('hex')
      : typeof value === 'string'
        ? value.toLowerCase()
        : value,
  z.string('must be 64 hexadecimal digits').regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits'),
);

const BYTES_RULE = 'must be a byte string, in JSON as base64';
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Bytes: a byte string of CBOR, or base64 with its padding. At least one. */
export const bytes = z
  .preprocess(
    (value) => (typeof value === 'string' ? bytesOfBase64(value) : value),
    z.instanceof(Uint8Array, { error: BYTES_RULE }).refine(({ length }) => length > 0, 'must not be empty'),
  )
  .meta({ type: 'string', contentEncoding: 'base64' });

function bytesOfBase64(text: string): Buffer | string {
  return text.length % 4 === 0 && BASE64.test(text) ? Buffer.from(text, 'base64') : text;
}

/** A whole number within bounds; 1.0 counts as one. */
/** The workspace that a new recording belongs to. */
export const intoWorkspace = uuid
  .optional()
  .describe(
    'What it belongs to: a workspace of the account, whose members may then read it; the private one where absent.',
  );

export function whole({ min, max = SAFE }: { min: number; max?: number }) {
  const rule = `must be a whole number from ${min} to ${max}`;
  return z
    .number(rule)
    .refine((value) => Number.isSafeInteger(value) && value >= min && value <= max, rule)
    .meta({ type: 'integer', minimum: min, ...(max === SAFE ? {} : { maximum: max }) });
}

const TIMESTAMP_FORM = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;
const YEAR_9999_END_MS = Date.UTC(10_000, 0) - 1;
const TIMESTAMP_RULE = 'must be an ISO 8601 timestamp with an offset, such as 2026-01-31T08:30:00.000Z';

/** An ISO 8601 timestamp with an offset, turned into UTC with milliseconds. */
export const timestamp = z
  .string(TIMESTAMP_RULE)
  .refine(isTimestamp, TIMESTAMP_RULE)
  .transform((text) => new Date(text).toISOString())
  .meta({ format: 'date-time' });

const DATE_RULE = 'must be a day of the calendar, such as 2026-12-07';

/** A day without a time. */
export const calendarDay = z.string(DATE_RULE).refine(isDate, DATE_RULE).meta({ format: 'date' });

/**
 * The time at which a recording began, and the minutes by which the clocks there were ahead of UTC; 0 if the text says
 * `Z`.
 */
export const capturedAt = z
  .string(TIMESTAMP_RULE)
  .refine(isTimestamp, TIMESTAMP_RULE)
  .transform((text) => ({ captured_at: new Date(text).toISOString(), utc_offset_min: offsetIn(text) }))
  .meta({ format: 'date-time' })
  .describe(
    'When its timeline begins. Its offset says the local time there: what is due “tomorrow at five” is due by that.',
  );

function offsetIn(text: string): number {
  const [, sign, hours, minutes] = /([+-])(\d{2}):(\d{2})$/.exec(text) ?? [];
  const offset_min = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
  return sign === '-' && offset_min > 0 ? -offset_min : offset_min;
}

function isTimestamp(text: string): boolean {
  const parts = TIMESTAMP_FORM.exec(text);
  if (parts === null) return false;
  const [, year, month, day, hour, minute, second] = parts.map(Number);
  const date = new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, day ?? 0, hour ?? 0, minute ?? 0, second ?? 0));
  // A date that rolls over, hour 24 and leap seconds are not the same text again; in UTC the year may need a fifth digit.
  return Date.parse(text) <= YEAR_9999_END_MS && date.toISOString().startsWith(text.slice(0, 19));
}

/** Whether the text of a query is a whole number within bounds; it has no more digits than the largest. */
function isWholeText(text: string, { min, max = SAFE }: { min: number; max?: number }): boolean {
  return /^\d+$/.test(text) && text.length <= String(max).length && Number(text) >= min && Number(text) <= max;
}

/** A time in a query, in ms of a timeline. */
export const timeInQuery = z
  .string()
  .refine((text) => isWholeText(text, { min: 0 }), 'must be a whole number from 0')
  .transform(Number)
  .meta({ type: 'integer', minimum: 0 })
  .optional();

/** `limit` of a list; one that is out of range is refused. */
export const listLimit = z
  .string()
  .optional()
  .refine(
    (text) => text === undefined || isWholeText(text, { min: 1, max: LIMITS.list_limit_max }),
    `must be a whole number from 1 to ${LIMITS.list_limit_max}`,
  )
  .transform((text) => (text === undefined ? LIMITS.list_limit_default : Number(text)))
  .meta({
    type: 'integer',
    minimum: 1,
    maximum: LIMITS.list_limit_max,
    description: `How many items a page has at most; ${LIMITS.list_limit_default} when absent.`,
  });

/** Text of 1 to `max` characters (code points) after trimming, in one line, which people see. */
export function trimmedText(max: number) {
  const rule = 'must be one line without control characters, marks of direction or characters without width';
  return trimmed(max, (text) => /[\p{Cc}\p{Zl}\p{Zp}]/u.test(text) || !isPlainlySeen(text), rule);
}

/** As `trimmedText`, of several lines. */
export function trimmedLines(max: number) {
  const rule = 'must not hold control characters, marks of direction or characters without width';
  return trimmed(max, (text) => /(?![\n\t])\p{Cc}/u.test(text) || !isPlainlySeen(text), rule);
}

/** The same in one line, with marks that can't be seen: it is searched by, or they are taken out later. */
export function trimmedQuery(max: number) {
  return trimmed(max, (text) => /\p{Cc}/u.test(text), 'must be one line without control characters');
}

function trimmed(max: number, isRefused: (text: string) => boolean, rule: string) {
  const length = `must be 1 to ${max} characters after trimming`;
  return z
    .string(length)
    .transform((text) => text.trim())
    .refine((text) => text.length > 0 && [...text].length <= max, { error: length, abort: true })
    .refine((text) => text.isWellFormed() && !isRefused(text), rule)
    .meta({ minLength: 1, maxLength: max });
}

function isPlainlySeen(text: string): boolean {
  return isSeen(text) && !holdsHiddenMarks(text);
}

export const languageTag = z
  .string('must be a BCP 47 tag, such as en or pt-BR')
  .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,7}$/, 'must be a BCP 47 tag, such as en or pt-BR');

/** A failure's name, for programs. */
export const failureCode = z
  .string('must be a code such as BAD_AUDIO')
  .regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'must be a code of upper-case letters, digits and underscores, such as BAD_AUDIO');

const MEDIA_NAME = `must be 1 to ${LIMITS.media_name_chars_max} printable characters, such as opus`;

/** Name of a codec or container, kept as it was sent, with its parameters if there are any. */
export const mediaName = z
  .string(MEDIA_NAME)
  .refine(
    (text) => text.trim() !== '' && [...text].length <= LIMITS.media_name_chars_max && !/\p{C}/u.test(text),
    MEDIA_NAME,
  )
  .meta({ minLength: 1, maxLength: LIMITS.media_name_chars_max });

/**
 * The name of a file in a form that every system can save: one line, without folder separators, without characters that
 * change the direction of text or are invisible, and never the name of a folder itself.
 */
export function fileName(max: number) {
  const rule = `must be 1 to ${max} characters after trimming, without / and \\, and none that controls how text is shown`;
  return z
    .string(rule)
    .transform((text) => text.trim())
    .refine(
      (text) =>
        text.length > 0 &&
        [...text].length <= max &&
        text.isWellFormed() &&
        !/[/\\\p{Cc}\p{Zl}\p{Zp}]/u.test(text) &&
        isPlainlySeen(text) &&
        !/^\.+$/.test(text),
      rule,
    )
    .meta({ minLength: 1, maxLength: max });
}

const MEDIA_TYPE = `must be a media type such as application/pdf, of at most ${LIMITS.media_type_chars_max} characters`;
const TOKEN = "[A-Za-z0-9!#$%&'*+.^_`|~-]+";
const MEDIA_TYPE_FORM = new RegExp(
  `^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}(?:[ ]?;[ ]?${TOKEN}=(?:${TOKEN}|"[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]*"))*$`,
);

/** A media type (RFC 6838, 4.2), with its parameters if there are any. */
export const mediaType = z
  .string(MEDIA_TYPE)
  .refine((text) => text.length <= LIMITS.media_type_chars_max && MEDIA_TYPE_FORM.test(text), MEDIA_TYPE)
  .meta({ minLength: 3, maxLength: LIMITS.media_type_chars_max });

/** A filter by the type of events. */
export const eventTypeName = z.string().regex(EVENT_TYPE_FORM, 'must be the name of an event type');

/** An email address, in the one form of its mailbox. */
export const emailAddress = z
  .string('must be an email address')
  .transform((text, context) => {
    const email = readEmail(text);
    if (email !== null) return email;
    context.addIssue({ code: 'custom', message: 'must be an email address', input: text });
    return z.NEVER;
  })
  .meta({ format: 'email', maxLength: LIMITS.email_chars_max });

function uuidOfBytes(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
