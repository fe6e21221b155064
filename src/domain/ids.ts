/**
 * Ids are UUIDs of version 7 that lead home: their last byte is the partition of the entity (docs/architecture.md,
 * "Partitions and ids").
 *
 *   48 bits time │ version │ 12 random │ variant │ 22 random │ 32 part number │ 8 partition
 *
 * The part number is 0 for everything but a chunk, a delivery and a private workspace (a signal's id has random bits
 * there, and its stream's time). A chunk's other bits are its
 * stream's, a delivery's its endpoint's, a private workspace's its account's: whoever holds such an id finds the owner without any index.
 */
export const PARTITIONS = 256;

const ID_FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const PART_NUMBER_MAX = 0xffff_ffff;

/** True for a UUID in its canonical form: 36 characters, lower case. Its version is for whoever drew it to choose. */
export function isId(text: unknown): text is string {
  return typeof text === 'string' && ID_FORM.test(text);
}

/** The partition (0 to 255) that an id leads to. */
export function partitionOfId(id: string): number {
  return Number.parseInt(id.slice(-2), 16);
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

/** The stream and number behind a chunk's id; null for an id that is no chunk's. */
export function streamOfChunk(chunk_id: string): { stream_id: string; number: number } | null {
  const part = ownerOfPart(chunk_id);
  return part === null ? null : { stream_id: part.owner_id, number: part.number };
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

/** The id of an account's private workspace; `number` counts from 1, and each that the account gets has its own. */
export function privateWorkspaceId(account_id: string, number: number): string {
  return partId(account_id, number);
}

/** The account whose private workspace an id could be, and its number; null for an id that is none. */
export function ownerOfPrivateWorkspace(workspace_id: string): { account_id: string; number: number } | null {
  const part = ownerOfPart(workspace_id);
  return part === null ? null : { account_id: part.owner_id, number: part.number };
}

/** The id of an endpoint's delivery; `sequence` is its event's. Both lead to the endpoint. */
export function deliveryId(endpoint_id: string, sequence: number): string {
  return partId(endpoint_id, sequence);
}

/** The endpoint and number behind a delivery's id; null for an id that is no delivery's. */
export function endpointOfDelivery(delivery_id: string): { endpoint_id: string; sequence: number } | null {
  const part = ownerOfPart(delivery_id);
  return part === null ? null : { endpoint_id: part.owner_id, sequence: part.number };
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
