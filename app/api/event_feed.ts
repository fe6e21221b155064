import { effect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Event, EventType } from '../../kits/typescript/src/api.js';
import { backoffAfter } from '../../src/domain/backoff.js';
import { session } from '../session/session.js';
import { api } from './api.js';
import { ApiError } from './api_error.js';

/**
 * The account's events since the page was opened: one loop of forward polling for all of the app. Pages name
 * the types that they show. The place in the log is found before anything is loaded, so that nothing happens unheard
 * between the two. Where the log can't be followed without a gap, listeners hear `null`: load again.
 */

const POLL_MS = 3_000;
const FAILED_POLL = { first_ms: 2 * POLL_MS, max_ms: 60_000 };
const EVENTS_PER_POLL = 100;

type EventListener = { types: readonly EventType[]; hear: (events: readonly Event[] | null) => void };

const listeners = new Set<EventListener>();
let cursor: string | null = null;
let failures = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
let polling = false;

/** Calls back with new events of these types, in their order; with null where some may have been missed. */
export function useEvents(types: readonly EventType[], hear: (events: readonly Event[] | null) => void): void {
  const latest = useRef(hear);
  latest.current = hear;
  useEffect(() => {
    const listener: EventListener = { types, hear: (events) => latest.current(events) };
    listeners.add(listener);
    schedule(0);
    return () => void listeners.delete(listener);
  }, [types.join()]);
}

/** Follows the log of whoever is signed in from here on: to be waited for before what is shown is loaded. */
export async function followFromHere(): Promise<void> {
  cursor = (await api('GET /events', { query: { after: 'latest', limit: 1 } })).cursor;
}

/** Polls while somebody is signed in and looks. */
export function startEventFeed(): void {
  effect(() => {
    if (session.value.is === 'in') schedule(0);
  });
  document.addEventListener('visibilitychange', () => schedule(0));
  addEventListener('online', () => schedule(0));
}

function schedule(in_ms: number): void {
  clearTimeout(timer);
  if (session.peek().is !== 'in' || document.hidden || listeners.size === 0) return;
  timer = setTimeout(() => void poll(), in_ms);
}

async function poll(): Promise<void> {
  if (polling) return;
  polling = true;
  let wait_ms = POLL_MS;
  try {
    if (cursor === null) {
      await followFromHere();
      for (const { hear } of [...listeners]) hear(null);
    } else {
      const page = await api('GET /events', { query: { after: cursor, limit: EVENTS_PER_POLL } });
      cursor = page.cursor;
      tell(page.items);
      if (page.items.length === EVENTS_PER_POLL) wait_ms = 0;
    }
    failures = 0;
  } catch (error) {
    const lost_its_place = error instanceof ApiError && error.code === 'BAD_REQUEST';
    if (lost_its_place) cursor = null;
    failures++;
    const asked_ms = error instanceof ApiError ? (error.retry_after_s ?? 0) * 1_000 : 0;
    wait_ms = Math.max(asked_ms, backoffAfter(failures, FAILED_POLL));
  } finally {
    polling = false;
    schedule(wait_ms);
  }
}

function tell(events: readonly Event[]): void {
  if (events.length === 0) return;
  for (const { types, hear } of [...listeners]) {
    const wanted = events.filter(({ type }) => types.includes(type));
    if (wanted.length > 0) hear(wanted);
  }
}
