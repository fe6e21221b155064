import type { Stream } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { apiErrorOf } from '../api/loading.js';
import { say, sayCount } from '../language/say.js';
import { undoButton } from '../parts/toast_action.js';
import { showToast } from '../parts/toast_queue.js';
import { account } from '../shell/account.js';
import { workspaceName } from '../shell/workspace_name.js';
import { recordings } from './stars_and_tags.js';
import { recordingName } from './stream_names.js';

/** Moves of recordings to other workspaces of the account. */

export type OnMoved = (stream_id: string, workspace_id: string) => void;
type MovingStream = Pick<Stream, 'id' | 'workspace_id'>;

/** The workspaces to which these recordings can be moved; empty where there is no other one. */
export function moveTargets(streams: readonly MovingStream[]): readonly (readonly [id: string, name: string])[] {
  const { workspaces = [], sharing_enabled = false } = account.value ?? {};
  return workspaces
    .filter((one) => (one.private || sharing_enabled) && streams.some(({ workspace_id }) => workspace_id !== one.id))
    .map((one) => [one.id, workspaceName(one)] as const);
}

/** Moves recordings, and says so with a button that moves them back. */
export async function moveStreams(streams: readonly Stream[], workspace_id: string, onMoved: OnMoved): Promise<void> {
  const away = streams.filter((stream) => stream.workspace_id !== workspace_id);
  const { moved, problem } = await moveEach(
    away.map((stream) => ({ ...stream, workspace_id })),
    onMoved,
  );
  if (problem !== null) {
    showToast(
      sayCount(
        away.length - moved.length,
        { one: '{n} recording could not be moved. {problem}', other: '{n} recordings could not be moved. {problem}' },
        { problem },
      ),
      'problem',
    );
  }
  if (moved.length === 0) return;
  const back = undoButton(async () => {
    const ids = new Set(moved.map(({ id }) => id));
    const undone = await moveEach(
      away.filter(({ id }) => ids.has(id)),
      onMoved,
    );
    if (undone.problem !== null)
      showToast(say('It could not be undone. {message}', { message: undone.problem }), 'problem');
  });
  const places = { what: nameOf(away, moved.length), workspace: nameOfWorkspace(workspace_id) };
  showToast(say('{what} moved to “{workspace}”.', places), 'good', back);
}

/** Moves each to the workspace that it names, one after the other; goes on after one that can't be moved. */
async function moveEach<Moving extends MovingStream>(
  streams: readonly Moving[],
  onMoved: OnMoved,
): Promise<{ moved: Moving[]; problem: string | null }> {
  const moved: Moving[] = [];
  let problem: string | null = null;
  for (const stream of streams) {
    const { id, workspace_id } = stream;
    try {
      await api('PATCH /audio/streams/{id}', { path: { id }, body: { workspace_id } });
      onMoved(id, workspace_id);
      moved.push(stream);
    } catch (error) {
      problem = apiErrorOf(error).message;
    }
  }
  return { moved, problem };
}

function nameOf(streams: readonly Stream[], moved: number): string {
  const [first] = streams;
  return moved === 1 && streams.length === 1 && first !== undefined
    ? say('“{name}”', { name: recordingName(first) })
    : recordings(moved);
}

function nameOfWorkspace(id: string): string {
  const found = account.value?.workspaces.find((one) => one.id === id);
  return found === undefined ? say('the workspace') : workspaceName(found);
}
