import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../api/api_error.js';
import { clockTime } from './format.js';

/** Asks the server again and again while the page is looked at, and says when it does not answer. */

export const EVERY_MS = 5_000;

/** The state of the connection, shown beside the page's heading. */
export const connection = signal<{ is: 'loading' | 'live' | 'away' | 'signed_out'; text: string }>({
  is: 'loading',
  text: 'Loading…',
});

let answered_ms = 0;

export function reportAnswer(): void {
  answered_ms = Date.now();
  connection.value = { is: 'live', text: `As of ${clockTime(answered_ms)}` };
}

export function reportFailure(error: unknown): void {
  const code = error instanceof ApiError ? error.code : 'UNKNOWN';
  if (code === 'UNAUTHORIZED') connection.value = { is: 'signed_out', text: 'You are signed out.' };
  else connection.value = { is: 'away', text: failureText(error, code) };
}

function failureText(error: unknown, code: string): string {
  if (code !== 'NETWORK') return `${error instanceof Error ? error.message : String(error)} Trying again.`;
  if (answered_ms === 0) return 'No answer from the server yet, trying again.';
  return `No answer since ${clockTime(answered_ms)}, trying again.`;
}

export type PollingState<T> = {
  /** Null until it came; stays while the server is away. */
  data: T | null;
  /** Asks at once. */
  look: () => Promise<void>;
};

/** Loads now, every five seconds, and when one of `inputs` is another. */
export function usePolling<T>(load: () => Promise<T>, inputs: readonly unknown[] = []): PollingState<T> {
  const [data, setData] = useState<T | null>(null);
  const latest = useRef(load);
  latest.current = load;
  const look = useRef<() => Promise<void>>(async () => {});
  useEffect(() => {
    let over = false;
    let asking = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    look.current = async () => {
      clearTimeout(timer);
      if (asking || over) return;
      asking = true;
      try {
        const answer = await latest.current();
        if (over) return;
        if (!isSelecting()) setData(() => answer);
        reportAnswer();
      } catch (error) {
        if (over) return;
        reportFailure(error);
      } finally {
        asking = false;
      }
      if (!document.hidden && connection.peek().is !== 'signed_out') timer = setTimeout(look.current, EVERY_MS);
    };
    const onVisibility = () => {
      if (document.hidden) clearTimeout(timer);
      else void look.current();
    };
    document.addEventListener('visibilitychange', onVisibility);
    void look.current();
    return () => {
      over = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisibility);
    };
  }, inputs);
  // What the address names is there only now.
  useEffect(() => {
    if (data !== null && location.hash !== '') document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, [data === null]);
  return { data, look: () => look.current() };
}

/** Whether somebody selects text of the page: new content would take it away. */
function isSelecting(): boolean {
  const selection = document.getSelection();
  return (
    selection !== null &&
    !selection.isCollapsed &&
    document.getElementById('content')?.contains(selection.anchorNode) === true
  );
}
