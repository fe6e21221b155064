/**
 * The signals on a stream's timeline; its id is the stream's. An actor of their own, so that large batches do not hold
 * up the stream's chunks.
 *
 * A request is one commit: what it posts is there from then on, all of it or nothing. Its payloads may be too many to
 * write at once without holding up everybody else's commits; then they are staged before, piece by piece, under keys
 * that nothing names yet, and the commit that makes them signals is a light one. What a request that broke off has
 * staged is swept.
 */
export type Signals = {
  count: number;
  /** The bytes of payloads, staged ones included. */
  payload_bytes: number;
  /** The length of the longest signal: a search for signals that end after a time begins that much earlier. */
  longest_ms: number;
  staged: Staged[];
  /** The account and workspace; null before the first signal. */
  owner: Owner | null;
  /** The number of notes that search has been told of. */
  notes?: number | undefined;
  /** When the oldest signals that keep their payloads were posted; null if none do. */
  oldest_ms: number | null;
};

/**
 * Collection `batches`: the ids of signals that were posted together and keep their payloads, by `created_at_ms`. One
 * batch for each request keeps posting many signals cheap.
 */
export type Batch = string[];

/** `parts`: indices of the request's signals whose payloads are written. */
export type Staged = { request: string; parts: number[]; bytes: number; began_ms: number };

/** Collection `signals`, by id, in the order of `start_ms`: everything but the payload, which may expire before. */
export type Signal = {
  ref: string;
  type: string;
  start_ms: number;
  end_ms: number | null;
  /** A digest of the content, by which a repetition is recognised. */
  content: string;
  created_at_ms: number;
  payload: SignalPayload;
};

/** `key`: its record in the collection `payloads`, or null for `{}`. */
export type SignalPayload =
  | { state: 'available'; key: string | null; bytes: number }
  | { state: 'expired'; removed_at_ms: number };

/** A signal as posted. Its id follows from its ref. `payload`: its JSON text, or null when it is `{}`. */
export type PostedSignal = Pick<Signal, 'ref' | 'type' | 'start_ms' | 'end_ms' | 'content'> & {
  id: string;
  payload: string | null;
  payload_bytes: number;
};

export type ListedSignal = Signal & { id: string; order: number };
export type Owner = { account_id: string; workspace_id: string };

export function isSame(known: Signal, { ref, content }: { ref: string; content: string }): boolean {
  return known.ref === ref && known.content === content;
}

export function bytesOf(payload: SignalPayload): number {
  return payload.state === 'available' ? payload.bytes : 0;
}
