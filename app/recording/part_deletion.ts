import { effect, untracked } from '@preact/signals';
import { clockText } from '../../src/domain/span_text.js';
import { api } from '../api/api.js';
import { apiErrorOf } from '../api/loading.js';
import { say } from '../language/say.js';
import { dismiss, showToast } from '../parts/toast_queue.js';
import { accessToken, presentToken, session } from '../session/session.js';

/** A part of a recording that is about to be deleted: for ten seconds that can be undone, and nothing is sent. */

/** In the tab's storage: the part whose deletion has begun. The tab's next page goes on with it. */
const BEGUN = 'spool.deleting_part';

const UNDO_MS = 10_000;

export type Part = { from_ms: number; to_ms: number };

type WaitingPart = {
  stream_id: string;
  part: Part;
  /** Called once it is deleted. */
  onDeleted: () => void;
  timer: ReturnType<typeof setTimeout>;
  toast: number;
  token: string | null;
};

let waiting: WaitingPart | null = null;
/** The page is being left: what its requests come to says nothing any more. */
let is_left = false;

/** Deletes a part in ten seconds, unless that is undone. Another one that waits is deleted at once. */
export function deletePartSoon(stream_id: string, part: Part, onDeleted: () => void): void {
  void deleteWaiting();
  const text = say('{what} will be deleted in 10 seconds, or at once when you leave this page.', {
    what: partText(part),
  });
  const toast = showToast(text, 'good', { words: say('Undo'), run: () => void stopWaiting() }, UNDO_MS);
  const timer = setTimeout(() => void deleteWaiting(), UNDO_MS);
  const mine: WaitingPart = { stream_id, part, onDeleted, timer, toast, token: presentToken() };
  waiting = mine;
  // Whoever leaves the page waits for no token.
  accessToken().then(
    (token) => {
      mine.token = token;
    },
    () => {}, // the deletion itself says so
  );
}

/** Such as `1:00 to 2:30`. */
export function partText({ from_ms, to_ms }: Part): string {
  return say('{from} to {to}', { from: clockText(from_ms), to: clockText(Math.ceil(to_ms / 1_000) * 1_000) });
}

function stopWaiting(): WaitingPart | null {
  const was = waiting;
  waiting = null;
  if (was === null) return null;
  clearTimeout(was.timer);
  dismiss(was.toast);
  return was;
}

async function deleteWaiting(): Promise<void> {
  const was = stopWaiting();
  if (was === null) return;
  const { stream_id, part, onDeleted } = was;
  keepBegun(was);
  try {
    await api('POST /audio/streams/{id}/deletions', { path: { id: stream_id }, body: part });
    showToast(say('{what} deleted.', { what: partText(part) }));
  } catch (error) {
    const places = { what: partText(part), message: apiErrorOf(error).message };
    showToast(say('{what} could not be deleted. {message}', places), 'problem');
  }
  keepBegun(null);
  onDeleted();
}

function keepBegun(begun: Pick<WaitingPart, 'stream_id' | 'part'> | null): void {
  if (is_left) return;
  if (begun === null) sessionStorage.removeItem(BEGUN);
  else sessionStorage.setItem(BEGUN, JSON.stringify({ stream_id: begun.stream_id, part: begun.part }));
}

/** Deletes what the tab's last page had begun to delete when it was left. The same part again changes nothing. */
function finishBegun(): void {
  const text = sessionStorage.getItem(BEGUN);
  sessionStorage.removeItem(BEGUN);
  if (text === null) return;
  const { stream_id, part } = JSON.parse(text) as Pick<WaitingPart, 'stream_id' | 'part'>;
  void api('POST /audio/streams/{id}/deletions', { path: { id: stream_id }, body: part }).catch(() => {});
}

/** The page goes, or whoever is signed in: no answer can be waited for. */
function deleteAtOnce(): void {
  const was = stopWaiting();
  const bearer = presentToken() ?? was?.token ?? null;
  if (was === null || bearer === null) return;
  const headers = {
    Authorization: `Bearer ${bearer}`,
    'X-API-Version': '1',
    'Content-Type': 'application/json',
  };
  const body = JSON.stringify(was.part);
  const sent = { method: 'POST', headers, body, credentials: 'omit', keepalive: true } as const;
  void fetch(`/audio/streams/${was.stream_id}/deletions`, sent).catch(() => {});
}

addEventListener('pagehide', () => {
  if (waiting !== null) keepBegun(waiting);
  is_left = true;
  deleteAtOnce();
});
addEventListener('pageshow', () => {
  is_left = false;
});
let has_finished = false;
effect(() => {
  if (session.value.is === 'out') deleteAtOnce();
  if (session.value.is !== 'in' || has_finished) return;
  has_finished = true;
  untracked(finishBegun);
});
