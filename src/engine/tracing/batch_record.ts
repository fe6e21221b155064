import type { RequestScope } from './request_scope.js';

/** What a batch did, for those who watch: no state, no content. */
export type BatchRecord = {
  kind: string;
  /** Null where entities of the kind are named by an email or an address. */
  id: string | null;
  messages: readonly { type: string; scope: RequestScope | undefined }[];
  /** How long the oldest message waited, how long the batch took, and how much of that its commits did, ms. */
  waited_ms: number;
  took_ms: number;
  commit_ms: number;
  /** Of the events that it recorded. */
  event_ids: readonly string[];
};

/** Told of every batch. Must not throw. */
export type BatchObserver = (note: BatchRecord) => void;
