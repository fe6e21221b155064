import { effect, signal, untracked } from '@preact/signals';
import type { Stream } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { apiErrorOf } from '../api/loading.js';
import { say, sayCount } from '../language/say.js';
import { dismiss, showToast } from '../parts/toast_queue.js';
import { accessToken, presentToken, session } from '../session/session.js';
import { recordings } from './stars_and_tags.js';
import { recordingName } from './stream_names.js';

/** Recordings that are about to be deleted: for ten seconds that can be undone, and nothing is sent. */

const UNDO_MS = 10_000;
/** Browsers finish about so many requests of a page that is left. */
const LEFT_REQUESTS_MAX = 20;
/** In the tab's storage: ids whose deletion has begun. The tab's next page goes on with what a page that was left had begun. */
const BEGUN = 'spool.deleting';

/** The recordings that lists leave out: they are about to be deleted, or they are deleted. */
export const deleted_ids = signal<ReadonlySet<string>>(new Set());

type Waiting = {
  streams: readonly Stream[];
  timer: ReturnType<typeof setTimeout>;
  toast: number;
  token: string | null;
};

let waiting: Waiting | null = null;
/** The page is being left: what its requests come to says nothing any more. */
let is_left = false;

/** Deletes recordings in ten seconds, unless that is undone. What waits already is deleted together with them. */
export function deleteSoon(more: readonly Stream[]): void {
  const streams = [...(stopWaiting()?.streams ?? []), ...more];
  deleted_ids.value = new Set([...deleted_ids.peek(), ...more.map(({ id }) => id)]);
  const undo = () => {
    if (stopWaiting() !== null) putBack(streams.map(({ id }) => id));
  };
  const toast = showToast(waitingText(streams), 'good', { words: say('Undo'), run: undo }, UNDO_MS);
  const timer = setTimeout(() => void deleteWaiting(), UNDO_MS);
  const mine: Waiting = { streams, timer, toast, token: presentToken() };
  waiting = mine;
  // Whoever leaves the page waits for no token.
  accessToken().then(
    (token) => {
      mine.token = token;
    },
    () => {}, // the deletion itself says so
  );
}

function waitingText(streams: readonly Stream[]): string {
  const [first] = streams;
  const what =
    streams.length === 1 && first !== undefined
      ? say('“{name}”', { name: recordingName(first) })
      : recordings(streams.length);
  if (streams.length > LEFT_REQUESTS_MAX)
    return say('{what} will be deleted in 10 seconds. Keep this page open until then.', { what });
  return say('{what} will be deleted in 10 seconds, or at once when you leave this page.', { what });
}

function stopWaiting(): Waiting | null {
  const was = waiting;
  waiting = null;
  if (was === null) return null;
  clearTimeout(was.timer);
  dismiss(was.toast);
  return was;
}

function putBack(ids: readonly string[]): void {
  const back = new Set(ids);
  deleted_ids.value = new Set([...deleted_ids.peek()].filter((id) => !back.has(id)));
}

async function deleteWaiting(): Promise<void> {
  const streams = stopWaiting()?.streams ?? [];
  const { kept, problem } = await deleteEach(streams.map(({ id }) => id));
  const gone = streams.length - kept.length;
  if (gone > 0) showToast(sayCount(gone, { one: '{n} recording deleted.', other: '{n} recordings deleted.' }));
  if (problem === null) return;
  putBack(kept);
  showToast(
    sayCount(
      kept.length,
      { one: '{n} recording could not be deleted. {problem}', other: '{n} recordings could not be deleted. {problem}' },
      { problem },
    ),
    'problem',
  );
}

/** Deletes one after the other, and goes on after one that can't be, unless the server can't be reached. */
async function deleteEach(ids: readonly string[]): Promise<{ kept: string[]; problem: string | null }> {
  const kept: string[] = [];
  let problem: string | null = null;
  keepBegun(ids);
  for (const [at, id] of ids.entries()) {
    try {
      await api('DELETE /audio/streams/{id}', { path: { id } });
    } catch (error) {
      const { code, message } = apiErrorOf(error);
      if (code === 'NOT_FOUND') continue; // somebody else was faster
      problem = message;
      kept.push(...(code === 'NETWORK' ? ids.slice(at) : [id]));
      if (code === 'NETWORK') break;
    }
  }
  keepBegun([]);
  return { kept, problem };
}

function keepBegun(ids: readonly string[]): void {
  if (is_left) return;
  if (ids.length === 0) sessionStorage.removeItem(BEGUN);
  else sessionStorage.setItem(BEGUN, ids.join(' '));
}

/** Deletes what the tab's last page had begun to delete when it was left. */
function finishBegun(): void {
  const ids = sessionStorage.getItem(BEGUN)?.split(' ') ?? [];
  if (ids.length === 0) return;
  deleted_ids.value = new Set([...deleted_ids.peek(), ...ids]);
  void deleteEach(ids).then(({ kept }) => putBack(kept));
}

/** The page goes, or whoever is signed in: no answer can be waited for. */
function deleteAtOnce(): void {
  const { streams, token } = stopWaiting() ?? { streams: [], token: null };
  const ids = streams.map(({ id }) => id);
  const bearer = presentToken() ?? token;
  if (bearer === null) {
    putBack(ids);
    return;
  }
  const headers = { Authorization: `Bearer ${bearer}`, 'X-API-Version': '1' };
  for (const id of ids) {
    void fetch(`/audio/streams/${id}`, { method: 'DELETE', headers, credentials: 'omit', keepalive: true }).catch(
      () => {},
    );
  }
}

addEventListener('pagehide', () => {
  // Such requests are lost now and then, so the next page sends them once more.
  if (waiting !== null) keepBegun(waiting.streams.map(({ id }) => id));
  is_left = true;
  deleteAtOnce();
});
addEventListener('pageshow', () => {
  is_left = false;
});
addEventListener('beforeunload', (event) => {
  if (waiting !== null && waiting.streams.length > LEFT_REQUESTS_MAX) event.preventDefault();
});
let has_finished = false;
effect(() => {
  if (session.value.is === 'out') deleteAtOnce();
  if (session.value.is !== 'in' || has_finished) return;
  has_finished = true;
  untracked(finishBegun);
});
