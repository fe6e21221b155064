import { ownerOfPrivateWorkspace } from '../../domain/ids.js';
import { isRefusal, type Refusal, refuse } from '../../domain/refusals.js';
import type { Actors } from '../../engine/runtime/actors.js';

export const NO_WORKSPACE = refuse('NOT_FOUND', 'The workspace of this recording is deleted.');

/** Null while a workspace is there. A private one goes with its account, and that with its streams. */
export async function goneWorkspace(
  { actors }: { actors: Pick<Actors, 'workspace'> },
  workspace_id: string,
): Promise<Refusal | null> {
  if (ownerOfPrivateWorkspace(workspace_id) !== null) return null;
  const answer = await actors.workspace(workspace_id).stands();
  if (!isRefusal(answer)) return null;
  return answer.refused === 'NOT_FOUND' ? NO_WORKSPACE : answer;
}
