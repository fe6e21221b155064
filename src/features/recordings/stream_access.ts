import type { Chunk, Stream } from '../../../actors/recordings/stream_state.js';
import type { Principal } from '../../access/principal.js';
import { streamOfChunk } from '../../domain/ids.js';
import { isRefusal, type Refusal, refuse } from '../../domain/refusals.js';
import { CLOSED } from '../../engine/runtime/activation.js';
import type { EntityOf } from '../../engine/runtime/actors.js';
import type { Fence } from '../../engine/store/store.js';
import type { Services } from '../../host/services.js';
import { goneWorkspace, NO_WORKSPACE } from './standing_workspace.js';

/**
 * Who may do what with a stream: those who belong to its workspace read it, and its owner, who alone writes it, as long
 * as that workspace is there. docs/choices.md, "Workspaces".
 */

export const READS_STREAMS = ['audio:read', 'turns:read'] as const;
export const WRITES_STREAMS = ['audio:write'] as const;

const NO_STREAM = refuse('NOT_FOUND', 'There is no such stream.');
export const NO_CHUNK = refuse('NOT_FOUND', 'There is no such chunk.');
const ONLY_OWNER = refuse('FORBIDDEN', 'Only the owner of a stream may write it.');
/** A source is deleted once: whoever saw it before looks a second time. */
const TRIES_MAX = 2;

/** The stream if the caller may read it; to anybody else it does not exist. */
export async function readableStream(services: Services, who: Principal, id: string): Promise<Stream | Refusal> {
  const stream = await services.actors.stream(id).view();
  // Whether there was one, nobody else shall learn.
  if (isRefusal(stream)) return stream.refused === 'NOT_FOUND' ? NO_STREAM : stream;
  return (await hidden(services, who, stream)) ?? stream;
}

/** The stream if the caller may write it. */
export async function writableStream(services: Services, who: Principal, id: string): Promise<Stream | Refusal> {
  const stream = await readableStream(services, who, id);
  if (isRefusal(stream)) return stream;
  return stream.account_id === who.account_id ? stream : ONLY_OWNER;
}

/** The chunk if the caller may read its stream. */
export async function readableChunk(
  services: Services,
  who: Principal,
  chunk_id: string,
): Promise<{ chunk: Chunk; stream: Stream; number: number } | Refusal> {
  const home = streamOfChunk(chunk_id);
  if (home === null) return NO_CHUNK;
  const found = await services.actors.stream(home.stream_id).chunk({ number: home.number });
  const refusal = isRefusal(found) ? found : await hidden(services, who, found.stream);
  if (refusal !== null) return refusal.refused === 'NOT_FOUND' ? NO_CHUNK : refusal;
  return { ...(found as { chunk: Chunk; stream: Stream }), number: home.number };
}

/** The chunk if the caller may write its stream. */
export async function writableChunk(services: Services, who: Principal, chunk_id: string) {
  const found = await readableChunk(services, who, chunk_id);
  if (isRefusal(found)) return found;
  return found.stream.account_id === who.account_id ? { ...found, fences: who.fences } : ONLY_OWNER;
}

async function hidden(services: Services, { account, account_id }: Principal, stream: Stream): Promise<Refusal | null> {
  const { workspace_id } = stream;
  const belongs =
    account.private_workspace.id === workspace_id ||
    account.memberships.some((membership) => membership.workspace_id === workspace_id);
  if (belongs) return null;
  if (stream.account_id !== account_id) return NO_STREAM;
  const gone = await goneWorkspace(services, workspace_id);
  return gone === NO_WORKSPACE ? NO_STREAM : gone;
}

/** What is asked of a stream that account events report; `silent`: its source is deleted, and no event is recorded. */
export type StreamChange<Reply = Stream> = (
  stream: EntityOf<'stream'>,
  silence: { silent: boolean },
  fences: Fence[],
) => Promise<Reply | Refusal>;

/**
 * Asks a stream for what account events report, unless its source is deleted. That it is not must still hold when the
 * stream commits: no event comes after `source.deleted`.
 */
export async function askRecordingEvents<Reply>(
  { actors }: Services,
  { stream_id, source_id, fences }: { stream_id: string; source_id: string; fences: Fence[] },
  change: StreamChange<Reply>,
): Promise<Reply | Refusal> {
  for (let tries = 1; ; tries++) {
    const source = await actors.source(source_id).view();
    if (isRefusal(source) && source.refused !== 'NOT_FOUND') return source;
    // One that is not there yet is on its way: a recorder's source and its binding are made side by side.
    const silent = !isRefusal(source) && source.status === 'deleted';
    const holds: Fence[] = silent ? fences : [...fences, { fence: 'open', id: source_id }];
    const answer = await change(actors.stream(stream_id), { silent }, holds);
    if (answer !== CLOSED || tries >= TRIES_MAX) return answer;
  }
}
