import { effect, untracked } from '@preact/signals';
import { api } from '../api/api.js';
import { session } from '../session/session.js';
import { keptOf } from './kept.js';

/**
 * Recordings of this browser that have no end, because it crashed or the last request of a page that was left was lost:
 * the next page that somebody is signed in at has them end, unless they are continued by then.
 */

const CONTINUED_WITHIN_S = 600;

export function endLeftRecordings(): void {
  let has_begun = false;
  effect(() => {
    if (session.value.is !== 'in' || has_begun) return;
    has_begun = true;
    const { account_id } = session.value;
    untracked(() => void endAll(account_id));
  });
}

async function endAll(account_id: string): Promise<void> {
  // Without locks, one that another tab records looks as if it were left.
  if (navigator.locks === undefined) return;
  for (const { recording } of await keptOf(account_id)) {
    const { stream_id: id, end_ms } = recording;
    const body = { end_ms, unless_continued_s: CONTINUED_WITHIN_S };
    // One that is gone or has an end needs none; the next page tries again.
    if (end_ms > 0) await api('POST /audio/streams/{id}/end', { path: { id }, body }).catch(() => {});
  }
}
