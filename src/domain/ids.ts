/**
 * Ids are UUIDs of version 7 that lead home: their last byte is the partition of the entity (docs/architecture.md,
 * "Partitions and ids").
 *
 *   48 bits time │ version │ 12 random │ variant │ 22 random │ 32 part number │ 8 partition
 *
 * A pipeline output's id has another version, and the number of its pipeline in place of the first random bits. Libraries' ids are
 * mixed of two others and have neither version nor variant; operators alone see those. What else is shown has both.
 *
 * The part number is 0 for everything but a chunk, a turn, a delivery, a pipeline, a private workspace and what a library
 * holds (a signal's id has random bits there, and its stream's time). A chunk's and a turn's other bits are their stream's,
 * a delivery's its endpoint's, a pipeline's and a private workspace's its account's: whoever holds such an id finds the
 * owner without any index.
 */
export const PARTITIONS = 256;

const ID_FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const PART_NUMBER_MAX = 0xffff_ffff;
/** The places of these digits in an id. */
const [VERSION_AT, VARIANT_AT] = [14, 19];
/** The digits of a library's id without part number and partition. */
const MIXED_DIGITS = 22;
/** Coprime to MIXED_DIGITS, so that only equal digits cancel each other out. */
const MIXED_APART = 5;
/** Part numbers of a stream with this bit are turns: 14 bits of the page and 17 of the serial number in it. */
const TURN_BIT = 0x8000_0000;
const SERIAL_BITS = 17;
/** Part numbers of an account from here on are its pipelines. */
const PIPELINE_BITS = 0xc000_0000;
/** The version of the ids of pipeline outputs and of their turns. */
const OUTPUT_VERSION = '9';
const OUTPUT_TURN_VERSION = '8';
/** The count of part numbers of each kind in a library. */
const INSIGHT_NUMBERS = 2 ** 30;
/**
 * Above them an item's number has six bits of the library's id, whose place the item's id gives to version and variant.
 */
const OWN_NUMBERS = 2 ** 24;

/** Whether a text is a UUID in canonical form: 36 characters, lower case, of any version. */
export function isId(text: unknown): text is string {
  return typeof text === 'string' && ID_FORM.test(text);
}

/** The partition (0 to 255) that an id leads to. */
export function partitionOfId(id: string): number {
  return Number.parseInt(id.slice(-2), 16);
}

/** The time at which one of our ids was made, ms since 1970. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** Makes an id from its parts; `random` gives at least five bytes. */
export function makeId(parts: { partition: number; now_ms: number; random: Uint8Array }): string {
  const { partition, now_ms, random } = parts;
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
  const time = hex(now_ms, 12);
  const at = (index: number) => random[index] ?? 0;
  const random_a = hex(((at(0) << 8) | at(1)) & 0xfff, 3);
  const random_b = hex(0x800000 | (((at(2) << 16) | (at(3) << 8) | at(4)) & 0x3fffff), 6);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random_a}-${random_b.slice(0, 4)}-${random_b.slice(4)}00000000${hex(partition, 2)}`;
}

/** The id of a stream's chunk; `number` counts from 1. */
export function chunkId(stream_id: string, number: number): string {
  return partId(stream_id, number);
}

/** The stream and number in a chunk's id; null for any other id. */
export function streamOfChunk(chunk_id: string): { stream_id: string; number: number } | null {
  const part = ownerOfPart(chunk_id);
  return part === null || part.number >= TURN_BIT ? null : { stream_id: part.owner_id, number: part.number };
}

/** The place of a turn in its stream's transcript: a page, and its serial number in that page. */
export type TurnPlace = { page: number; serial: number };

/** The id of a turn of a stream, or of a pipeline output. */
export function turnId(stream_id: string, { page, serial }: TurnPlace): string {
  const shown_id = isPipelineOutputId(stream_id) ? withVersion(stream_id, OUTPUT_TURN_VERSION) : stream_id;
  return partId(shown_id, TURN_BIT + page * 2 ** SERIAL_BITS + serial);
}

/** The stream and place in a turn's id; null for any other id. */
export function placeOfTurn(turn_id: string): (TurnPlace & { stream_id: string }) | null {
  const part = ownerOfPart(turn_id);
  if (part === null || part.number < TURN_BIT) return null;
  const number = part.number - TURN_BIT;
  const is_of_output = part.owner_id.charAt(VERSION_AT) === OUTPUT_TURN_VERSION;
  const stream_id = is_of_output ? withVersion(part.owner_id, OUTPUT_VERSION) : part.owner_id;
  return { stream_id, page: number >>> SERIAL_BITS, serial: number & (2 ** SERIAL_BITS - 1) };
}

/** The id of an account's pipeline; `number` counts from 1, the pipeline that every account begins with. */
export function pipelineId(account_id: string, number: number): string {
  return partId(account_id, PIPELINE_BITS + number);
}

/** The account and number in a pipeline's id; null for any other id. */
export function ownerOfPipeline(pipeline_id: string): { account_id: string; number: number } | null {
  const part = ownerOfPart(pipeline_id);
  if (part === null || part.number <= PIPELINE_BITS) return null;
  return { account_id: part.owner_id, number: part.number - PIPELINE_BITS };
}

/** The id of the pipeline that an account begins with. */
export function defaultPipelineId(account_id: string): string {
  return pipelineId(account_id, 1);
}

/** The kinds of insights. A kind's index is the two top bits of its part numbers, so the order never changes. */
const INSIGHT_KINDS = ['conversation', 'memory', 'suggestion', 'group'] as const;
export type InsightKind = (typeof INSIGHT_KINDS)[number];

/** The id of an item of a library; `number` counts from 1. */
export function insightId(library_id: string, kind: InsightKind, number: number): string {
  const first = INSIGHT_KINDS.indexOf(kind) * INSIGHT_NUMBERS;
  if (number >= OWN_NUMBERS) throw new Error(`no item can have number ${number}`);
  const [version, variant] = [digitAt(library_id, VERSION_AT), digitAt(library_id, VARIANT_AT)];
  const shown_id = withVariant(withVersion(library_id, '7'), 0x8 | (variant & 0x3));
  return partId(shown_id, first + ((version << 2) | (variant >> 2)) * OWN_NUMBERS + number);
}

/** The library, kind and number in an item's id; null for any other id. */
export function placeOfInsight(id: string): { library_id: string; kind: InsightKind; number: number } | null {
  const part = ownerOfPart(id);
  const kind = INSIGHT_KINDS[Math.floor((part?.number ?? 0) / INSIGHT_NUMBERS)];
  if (part === null || kind === undefined) return null;
  const [number, mixed] = [part.number % OWN_NUMBERS, Math.floor((part.number % INSIGHT_NUMBERS) / OWN_NUMBERS)];
  const variant = digitAt(id, VARIANT_AT);
  if (number === 0 || digitAt(id, VERSION_AT) !== 7 || variant >> 2 !== 0x2) return null;
  const versioned = withVersion(part.owner_id, (mixed >> 2).toString(16));
  return { library_id: withVariant(versioned, ((mixed & 0x3) << 2) | (variant & 0x3)), kind, number };
}

/**
 * The id of the voice of a stream's speaker, whose number counts from 1: the stream's, with that part number and another
 * version, so that it is no chunk's.
 */
export function voiceId(stream_id: string, speaker: number): string {
  const part = partId(stream_id, speaker);
  return withVersion(part, '8');
}

/**
 * The id of a pipeline's own transcript of a stream: the stream's, with another version, and the pipeline's number in
 * place of the random bits behind that. Two streams could have one in common: a pipeline output holds whose it is.
 */
export function pipelineOutputId(stream_id: string, pipeline: number): string {
  return `${stream_id.slice(0, 14)}${OUTPUT_VERSION}${pipeline.toString(16).padStart(3, '0')}${stream_id.slice(18)}`;
}

export function isPipelineOutputId(id: string): boolean {
  return id.charAt(VERSION_AT) === OUTPUT_VERSION;
}

/**
 * The id of what an account has recorded into a workspace, in the account's partition. It follows from both ids: digits of
 * one are mixed with those of the other at another place, since a private workspace has its account's digits. No two
 * private workspaces give the same.
 */
export function libraryId(account_id: string, workspace_id: string): string {
  const digitsOf = (id: string) => [...id.replaceAll('-', '')].map((digit) => Number.parseInt(digit, 16));
  const [own, other] = [digitsOf(account_id), digitsOf(workspace_id)];
  const number = other.slice(MIXED_DIGITS, MIXED_DIGITS + 8);
  const mixed = Array.from({ length: MIXED_DIGITS }, (_, at) =>
    ((own[at] ?? 0) ^ (other[(at + MIXED_APART) % MIXED_DIGITS] ?? 0) ^ (number[at] ?? 0)).toString(16),
  ).join('');
  const [time, random] = [
    `${mixed.slice(0, 8)}-${mixed.slice(8, 12)}`,
    `${mixed.slice(12, 16)}-${mixed.slice(16, 20)}`,
  ];
  return `${time}-${random}-${mixed.slice(20)}00000000${account_id.slice(34)}`;
}

/**
 * The id of a stream's signal: it follows from the signal's ref, by whose digest (at least nine bytes) it is known, so
 * that a repeat finds what it repeats. Its time is the stream's.
 */
export function signalId(stream_id: string, digest: Uint8Array): string {
  const hex = Buffer.from(digest.subarray(0, 9)).toString('hex');
  const variant = (0x8 | (Number.parseInt(hex.slice(3, 4), 16) & 0x3)).toString(16);
  const time_and_random = `${stream_id.slice(0, 14)}7${hex.slice(0, 3)}-${variant}${hex.slice(4, 7)}`;
  return `${time_and_random}-${hex.slice(7, 17)}${stream_id.slice(34)}`;
}

/**
 * The id of an account's private workspace; `number` counts from 1, and every further private workspace has the next.
 */
export function privateWorkspaceId(account_id: string, number: number): string {
  return partId(account_id, number);
}

/** The account and number in the id of a private workspace; null for any other id. */
export function ownerOfPrivateWorkspace(workspace_id: string): { account_id: string; number: number } | null {
  const part = ownerOfPart(workspace_id);
  return part === null ? null : { account_id: part.owner_id, number: part.number };
}

/** The id of an endpoint's delivery; `sequence` is its event's. */
export function deliveryId(endpoint_id: string, sequence: number): string {
  return partId(endpoint_id, sequence);
}

/** The endpoint and number in a delivery's id; null for any other id. */
export function endpointOfDelivery(delivery_id: string): { endpoint_id: string; sequence: number } | null {
  const part = ownerOfPart(delivery_id);
  return part === null ? null : { endpoint_id: part.owner_id, sequence: part.number };
}

function digitAt(id: string, at: number): number {
  return Number.parseInt(id.charAt(at), 16);
}

function withVersion(id: string, version: string): string {
  return id.slice(0, VERSION_AT) + version + id.slice(VERSION_AT + 1);
}

function withVariant(id: string, digit: number): string {
  return id.slice(0, VARIANT_AT) + digit.toString(16) + id.slice(VARIANT_AT + 1);
}

function partId(owner_id: string, number: number): string {
  if (!(Number.isSafeInteger(number) && number >= 1 && number <= PART_NUMBER_MAX)) {
    throw new Error(`no part can have number ${number}`);
  }
  return owner_id.slice(0, 26) + number.toString(16).padStart(8, '0') + owner_id.slice(34);
}

function ownerOfPart(id: string): { owner_id: string; number: number } | null {
  const number = Number.parseInt(id.slice(26, 34), 16);
  return number === 0 ? null : { owner_id: `${id.slice(0, 26)}00000000${id.slice(34)}`, number };
}
