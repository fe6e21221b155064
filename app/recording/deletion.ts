import { signal } from '@preact/signals';
import type { Stream } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { apiErrorOf } from '../api/loading.js';
import { say, sayCount } from '../language/say.js';
import { showToast } from '../parts/toast_queue.js';
import { SentLate } from './sent_late.js';
import { recordings } from './stars_and_tags.js';
import { recordingName } from './stream_names.js';

/** Recordings that are about to be deleted. */

/** Browsers finish about so many requests of a page that is left. */
const LEFT_REQUESTS_MAX = 20;

/** The recordings that lists leave out: they are about to be deleted, or they are deleted. */
export const deleted_ids = signal<ReadonlySet<string>>(new Set());

const late = new SentLate<readonly string[]>({
  storage_key: 'spool.deleting',
  send: deleteAll,
  async sendAgain(ids) {
    leaveOut(ids);
    putBack((await deleteEach(ids)).kept);
  },
  requestsOf: (ids) => ids.map((id) => ({ method: 'DELETE', path: `/audio/streams/${id}` })),
  putBack,
});

/** Deletes recordings in ten seconds, unless that is undone. What waits already is deleted together with them. */
export function deleteSoon(more: readonly Stream[]): void {
  const ids = more.map(({ id }) => id);
  const all = [...(late.stop() ?? []), ...ids];
  leaveOut(ids);
  late.start(all, { text: waitingText(all.length, more) });
}

function waitingText(count: number, [one]: readonly Stream[]): string {
  const what = count === 1 && one !== undefined ? say('“{name}”', { name: recordingName(one) }) : recordings(count);
  if (count > LEFT_REQUESTS_MAX)
    return say('{what} will be deleted in 10 seconds. Keep this page open until then.', { what });
  return say('{what} will be deleted in 10 seconds, or at once when you leave this page.', { what });
}

function leaveOut(ids: readonly string[]): void {
  deleted_ids.value = new Set([...deleted_ids.peek(), ...ids]);
}

function putBack(ids: readonly string[]): void {
  const back = new Set(ids);
  deleted_ids.value = new Set([...deleted_ids.peek()].filter((id) => !back.has(id)));
}

async function deleteAll(ids: readonly string[]): Promise<void> {
  const { kept, problem } = await deleteEach(ids);
  const gone = ids.length - kept.length;
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
  return { kept, problem };
}

addEventListener('beforeunload', (event) => {
  if ((late.waiting?.length ?? 0) > LEFT_REQUESTS_MAX) event.preventDefault();
});
