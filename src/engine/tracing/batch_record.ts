import type { RequestScope } from './request_scope.js';

/** The record of a batch, for observers: no state, no content. */
export type BatchRecord = {
  kind: string;
  /** Null where entities of the kind are named by an email or an address. */
  id: string | null;
  messages: readonly { type: string; scope: RequestScope | undefined }[];
  /** The time in ms that the oldest message waited, that the batch took, and that its commits took of it. */
  waited_ms: number;
  took_ms: number;
  commit_ms: number;
  /** Of the events that it recorded. */
  event_ids: readonly string[];
};

/** Told of every batch. Must not throw. */
export type BatchObserver = (note: BatchRecord) => void;
