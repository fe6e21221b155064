import { libraryId, ownerOfPrivateWorkspace } from '../../src/domain/ids.js';
import type { StreamMove } from '../../src/domain/moves.js';
import { isRefusal, type Refusal, refuse } from '../../src/domain/refusals.js';
import { type Decision, DONE, type DoneDecision, type Effect, messagesOf } from '../actor.js';
import type { WorkspaceMessage } from '../workspaces/workspace.js';
import { dueAgain } from './stream_expiry.js';
import { type EventSilence, keptStream, type Stream, type StreamState, streamEvent } from './stream_state.js';

/**
 * A recording moves to another workspace of its account. Its own commit says where it belongs, and so who reads it; what
 * is made of it follows by messages, in this order: the transcript, those of other pipelines, the library that it leaves,
 * the library that it comes to, and back to the stream. docs/areas.md, "Moved recordings".
 */

/** The list of an account's streams. Each source and private workspace has a list of its own too. */
export const STREAMS = 'streams';
export function streamIndexOf(source_or_workspace_id: string): string {
  return `${STREAMS}:${source_or_workspace_id}`;
}

/** A recording without an end of which nothing came for so long is not under way. */
const LIVE_MS = 120_000; // ours: as the app says "live"

const IS_LIVE = refuse('CONFLICT', 'This recording is still under way. It can be moved once it has ended.');
const IS_MOVING = refuse('CONFLICT', 'This recording is still being moved. Try again in a moment.');

type Move = { workspace_id: string } & EventSilence;

export const moveMessages = messagesOf<StreamState>()({
  move: keptStream((state, { workspace_id, silent }: Move, { now_ms }): Decision<StreamState, Stream> => {
    if (state.workspace_id === workspace_id) return { reply: state };
    const no = cannotMove(state, now_ms);
    if (isRefusal(no)) return { reply: no };
    // From here on it succeeds.
    const next: Stream = { ...state, workspace_id, moving_from: state.workspace_id };
    const { id: stream_id, account_id, workspace_id: from } = state;
    const move = { type: 'move', stream_id, account_id, from, to: workspace_id };
    const effects: Effect[] = [
      ...streamEvent(next, 'stream.updated', { silent }, ['workspace_id']),
      ...leaveWorkspace(state),
      ...joinWorkspace(next),
      ...dueAgain(state, next),
      { effect: 'notify', to: { kind: 'signals', id: stream_id }, message: move },
      { effect: 'notify', to: { kind: 'transcript', id: stream_id }, message: move },
    ];
    return { reply: next, next, effects };
  }),

  // From the library that it has come to, or left with nothing:
  moved(state, { stream_id, account_id, to }: StreamMove): DoneDecision<StreamState> {
    if (state?.status !== 'kept') {
      // It was deleted meanwhile: what has arrived since goes as well.
      const library = { kind: 'library', id: libraryId(account_id, to) };
      return {
        reply: DONE,
        effects: [{ effect: 'notify', to: library, message: { type: 'forget_stream', stream_id } }],
      };
    }
    const { moving_from: _, ...next } = state;
    return { reply: DONE, next };
  },
});

function cannotMove(state: Stream, now_ms: number): Refusal | null {
  if (state.moving_from !== undefined) return IS_MOVING;
  const is_live = state.end_ms === null && now_ms - (state.last_stored_at_ms ?? state.created_at_ms) < LIVE_MS;
  return is_live ? IS_LIVE : null;
}

/** Lists it in its workspace: a private one has a list of the account, a shared one knows its streams itself. */
export function joinWorkspace(stream: Stream): Effect[] {
  const { id: stream_id, account_id, workspace_id, created_at_ms } = stream;
  if (isShared(stream))
    return [
      notifyWorkspace(stream, { type: 'stream_registered', stream_id, account_id, registered_at_ms: created_at_ms }),
    ];
  const place = { owner: account_id, index: streamIndexOf(workspace_id), member: stream_id };
  return [{ effect: 'add_to_index', ...place, order: created_at_ms }];
}

export function leaveWorkspace(stream: Pick<Stream, 'id' | 'account_id' | 'workspace_id'>): Effect[] {
  const { id: stream_id, account_id, workspace_id } = stream;
  if (isShared(stream)) return [notifyWorkspace(stream, { type: 'stream_erased', stream_id })];
  return [{ effect: 'remove_from_index', owner: account_id, index: streamIndexOf(workspace_id), member: stream_id }];
}

function isShared({ workspace_id }: Pick<Stream, 'workspace_id'>): boolean {
  return ownerOfPrivateWorkspace(workspace_id) === null;
}

function notifyWorkspace({ workspace_id }: Pick<Stream, 'workspace_id'>, message: WorkspaceMessage): Effect {
  return { effect: 'notify', to: { kind: 'workspace', id: workspace_id }, message };
}
