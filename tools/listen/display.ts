import type { Writable } from 'node:stream';

/** A line of what happens; an event that is on its way has no outcome yet. */
export type EventRow = {
  at: Date;
  type: string;
  event_id: string;
  sequence: string;
  /** It was sent before, and is sent again by hand. */
  is_again: boolean;
  outcome: { ok: boolean; says: string; duration_ms: number } | null;
};

export type Status = { forwarded: number; failed: number; position: string; problem: string | null };

/** Shows what happens to the person at the terminal. */
export type Display = {
  /** Lines that stay. */
  say(text: string): void;
  /** An event's line; again when its outcome is there. */
  show(row: EventRow): void;
  /** The body of an event. */
  body(text: string): void;
  note(text: string): void;
  status(status: Status): void;
  /** Nothing moves after this. */
  end(): void;
};

export type Terminal = Writable & { isTTY?: boolean; columns?: number; rows?: number };
