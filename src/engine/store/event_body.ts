import { EVENT_SCHEMA_VERSION } from '../../domain/event_types.js';
import { isId } from '../../domain/ids.js';
import { StoreUnavailable } from './store.js';

/** An account event as it was recorded: all but its sequence, which only the log knows. */
export type RecordedEvent = {
  id: string;
  schema_version: number;
  occurred_at: string;
  account_id: string;
  type: string;
  resource: { type: string; id: string };
  data: Record<string, unknown>;
};

/** The fields beside a body in the log: the account of the log, and the event's type. */
type LogEntry = { account_id: string; type: string; body: Uint8Array };

/** The first byte of the compact form, its version. JSON begins with another. */
const COMPACT = 1;
/** Names of changed fields, by their numbers in the compact form: new ones are appended, none is ever removed. */
const FIELDS = ['contact_id', 'speaker', 'start_ms', 'end_ms', 'text'];

/** Ids of a compact event in their order. The first two are always present. */
const IDS_MAX = 4;
const ID_BYTES = 16;
/**
 * The stored bytes of an id, by the two bits that select them: none, all but part number and partition, all but the
 * partition, all.
 */
const STORED_BYTES = [0, 11, 15, ID_BYTES] as const;
const ABSENT = 0;

const JSON_BEFORE_ID = '{"id":"';
const JSON_BEGINS = 0x7b;

/**
 * The bytes that stand in the log for an event: compact where nothing gets lost, otherwise
 * JSON.
 *
 *   1 │ lengths of the ids, 2 bits each │ ids: event, resource, source_id, run_id │ changed_fields, a byte each
 *
 * Account and type stand beside the body in the log. The time of the event is the time in its id. Of an id in the
 * account's partition the last byte is left out, and the part number before it where that is 0.
 */
export function encodeEvent(event: RecordedEvent): Buffer {
  const { id, ...rest } = event;
  return compact(event) ?? Buffer.from(JSON.stringify({ id, ...rest }));
}

/** Throws if the body is no event. For a body of a newer server, the error says that storage is away. */
export function decodeEvent({ account_id, type, body }: LogEntry): RecordedEvent {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  if (bytes[0] === JSON_BEGINS) return JSON.parse(bytes.toString()) as RecordedEvent;
  if (bytes[0] !== COMPACT) throw newer();
  const { ids, end } = readIds(bytes, account_id);
  const [id, resource_id, source_id, run_id] = ids;
  if (id === undefined || resource_id === undefined) throw new Error('a compact event without its ids');
  const data: RecordedEvent['data'] = {};
  if (end < bytes.length) data.changed_fields = [...bytes.subarray(end)].map(fieldOf);
  if (source_id !== undefined) data.source_id = source_id;
  if (run_id !== undefined) data.run_id = run_id;
  return {
    id,
    schema_version: EVENT_SCHEMA_VERSION,
    occurred_at: new Date(timeOf(id)).toISOString(),
    account_id,
    type,
    resource: { type: resourceType(type), id: resource_id },
    data,
  };
}

/** The id of an event that was just encoded. */
export function eventIdIn({ account_id, body }: Pick<LogEntry, 'account_id' | 'body'>): string {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  if (bytes[0] === COMPACT) return readIds(bytes, account_id).ids[0] ?? '';
  return bytes.toString('latin1', JSON_BEFORE_ID.length, bytes.indexOf('"', JSON_BEFORE_ID.length));
}

/** The type of the resource that an event of this type is about. */
export function resourceType(type: string): string {
  return type.slice(0, type.indexOf('.'));
}

/** The compact form of an event; null if it can't represent the event exactly. */
function compact({ id, schema_version, occurred_at, account_id, type, resource, data }: RecordedEvent): Buffer | null {
  const { source_id, run_id, changed_fields, ...rest } = data;
  if (Object.keys(rest).length > 0 || schema_version !== EVENT_SCHEMA_VERSION) return null;
  const is_derived =
    isId(id) && new Date(timeOf(id)).toISOString() === occurred_at && resource.type === resourceType(type);
  const fields = 'changed_fields' in data ? fieldNumbers(changed_fields) : [];
  if (!is_derived || fields === null) return null;
  const parts: Buffer[] = [];
  let lengths = 0;
  for (const [index, one] of [id, resource.id, source_id, run_id].entries()) {
    if (one === undefined && index >= 2) continue;
    if (!isId(one)) return null;
    const kept = keptOf(one, account_id);
    lengths |= kept << (index * 2);
    parts.push(Buffer.from(one.replaceAll('-', ''), 'hex').subarray(0, STORED_BYTES[kept]));
  }
  return Buffer.concat([Buffer.of(COMPACT, lengths), ...parts, Buffer.from(fields)]);
}

/** The number in `STORED_BYTES` of the part of an id that is stored. */
function keptOf(id: string, account_id: string): 1 | 2 | 3 {
  if (id.slice(34) !== account_id.slice(34)) return 3;
  return id.slice(26, 34) === '00000000' ? 1 : 2;
}

/** A poll decodes 100 events: the bytes become text once, and ids are cut out of it. */
function readIds(bytes: Buffer, account_id: string): { ids: (string | undefined)[]; end: number } {
  const lengths = bytes[1] ?? 0;
  const hex = bytes.toString('hex', 2);
  const ids: (string | undefined)[] = [];
  let from = 0;
  for (let index = 0; index < IDS_MAX; index++) {
    const kept = (lengths >> (index * 2)) & 3;
    const to = from + 2 * (STORED_BYTES[kept] ?? 0);
    if (to > hex.length) throw new Error('a compact event that is cut short');
    ids.push(kept === ABSENT ? undefined : idOf(hex.slice(from, to), account_id));
    from = to;
  }
  return { ids, end: 2 + from / 2 };
}

/** An id by its stored digits. */
function idOf(stored: string, account_id: string): string {
  const digits = stored.length === 2 * ID_BYTES ? stored : stored.padEnd(30, '0') + account_id.slice(34);
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`;
}

function fieldNumbers(changed_fields: unknown): number[] | null {
  if (!Array.isArray(changed_fields) || changed_fields.length === 0) return null;
  const numbers = changed_fields.map((name) => FIELDS.indexOf(name));
  return numbers.includes(-1) ? null : numbers;
}

function fieldOf(number: number): string {
  const name = FIELDS[number];
  if (name === undefined) throw newer();
  return name;
}

function newer(): Error {
  return new StoreUnavailable('storage: a newer server wrote this event', { sent: false });
}

/** The time in an id: its first 48 bits. */
function timeOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}
