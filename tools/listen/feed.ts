import { setTimeout as delay } from 'node:timers/promises';
import { CallRefused } from '../../kits/typescript/src/call.js';
import { backoffAfter } from '../../src/domain/backoff.js';
import type { AccountAccess } from './access.js';

const POLL_EVERY_MS = 1_000;
const PAGE = 100;
export const AWAY = { first_ms: 1_000, max_ms: 15_000 };
/** Longer than any window of the server's limits. */
const RETRY_AFTER_MAX_S = 120;

export type ListenedEvent = { id: string; sequence: string; type: string };

/** Who hears what the feed comes to. */
export type FeedListener = {
  /** The next event waits for it. */
  event(event: ListenedEvent): Promise<void>;
  /** Polling works, for the first time or again. */
  present(): void;
  /** It does not; it is tried again by itself. */
  away(why: string, again_ms: number): void;
  /** The server does not know the position, and the feed continues from its present end. */
  lost(): void;
  /** All before this cursor was heard. */
  moved(cursor: string): Promise<void>;
};

type Following = {
  type: string | null;
  /** Where to begin: a cursor, or `latest`. */
  after?: string;
  signal: AbortSignal;
  listener: FeedListener;
  pause?: (ms: number, signal: AbortSignal) => Promise<void>;
};

/**
 * Polls an account's events until it is aborted, one at a time in their order. Throws when the server
 * could not be polled to begin with, and for refusals that no waiting mends.
 */
export async function follow(
  access: AccountAccess,
  { type, after: begin = 'latest', signal, listener, pause = delayMs }: Following,
): Promise<void> {
  let after = begin;
  let began = false;
  let failures = 0;
  let is_lost = false;
  while (!signal.aborted) {
    let wait_ms: number;
    try {
      const page = await access.events({ after, limit: PAGE, type: type ?? undefined });
      if (!began || failures > 0) listener.present();
      began = true;
      failures = 0;
      // Said when there is a position again: from here on nothing is missed.
      if (is_lost) listener.lost();
      is_lost = false;
      for (const event of page.items) {
        if (signal.aborted) return;
        await listener.event(event);
      }
      const { cursor } = page;
      if (cursor !== null && cursor !== after && !signal.aborted) await listener.moved(cursor);
      after = cursor ?? after;
      wait_ms = page.items.length === PAGE ? 0 : POLL_EVERY_MS;
    } catch (error) {
      if (isUnknownPosition(error) && after !== 'latest') {
        after = 'latest';
        wait_ms = 0;
        is_lost = true;
      } else if (began && willRetry(error)) {
        failures += 1;
        wait_ms = Math.max(retryAfterMs(error), backoffAfter(failures, AWAY));
        listener.away(wordsFor(error), wait_ms);
      } else throw error;
    }
    await pause(wait_ms, signal);
  }
}

export function delayMs(ms: number, signal: AbortSignal): Promise<void> {
  return delay(ms, undefined, { signal }).catch(() => {});
}

/** A cursor ahead of the log, or of another log. */
function isUnknownPosition(error: unknown): boolean {
  return error instanceof CallRefused && error.status === 400;
}

/** Refusals that say "not now", and whatever breaks on the way. */
function willRetry(error: unknown): boolean {
  return error instanceof CallRefused ? error.status === 429 || error.status >= 500 : isOfTheWay(error);
}

/** No answer came, or none of a Spool. */
export function isOfTheWay(error: unknown): boolean {
  return error instanceof SyntaxError || typeof (error as NodeJS.ErrnoException).code === 'string';
}

function retryAfterMs(error: unknown): number {
  const asked_s = error instanceof CallRefused ? (error.retry_after_s ?? 0) : 0;
  return Number.isFinite(asked_s) ? Math.min(asked_s, RETRY_AFTER_MAX_S) * 1000 : 0;
}

/** Explains in words why the server can't be reached. */
export function wordsFor(error: unknown): string {
  if (error instanceof CallRefused) return `the server says ${error.message}`;
  if (error instanceof SyntaxError) return 'what answers is not a Spool server';
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'TIMEOUT') return 'the server does not answer in time';
  return `the server could not be reached (${code})`;
}
