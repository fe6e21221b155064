import type { Chunk, Stream } from '../../../actors/recordings/stream_state.js';
import type { Principal } from '../../access/principal.js';
import { streamOfChunk } from '../../domain/ids.js';
import { orNull, Refused, refuse, throwRefusal } from '../../domain/refusals.js';
import type { EntityOf } from '../../engine/runtime/actors.js';
import { isClosed } from '../../engine/runtime/runtime_refusals.js';
import type { Fence } from '../../engine/store/store.js';
import type { FeatureServices } from '../services.js';
import { workspaceExists } from './workspace_status.js';

/**
 * Access to streams: members of a stream's workspace read it. Only its owner writes it, while the workspace exists.
 * docs/choices.md, "Workspaces".
 */

export const READS_STREAMS = ['audio:read', 'turns:read'] as const;
export const WRITES_STREAMS = ['audio:write'] as const;

const NO_STREAM = refuse('NOT_FOUND', 'There is no such stream.');
export const NO_CHUNK = refuse('NOT_FOUND', 'There is no such chunk.');
const ONLY_OWNER = refuse('FORBIDDEN', 'Only the owner of a stream may write it.');
/** The most tries: a source is deleted only once, so the second try decides. */
const TRIES_MAX = 2;

/** The stream if the caller may read it; for others it does not exist. */
export async function readableStream(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  id: string,
): Promise<Stream> {
  const stream = await orNull(services.actors.stream(id).view(), 'NOT_FOUND');
  // Whether there was one, nobody else shall learn.
  if (stream === null) throw new Refused(NO_STREAM);
  await requireReader(services, who, stream);
  return stream;
}

/** The stream if the caller may write it. */
export async function writableStream(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  id: string,
): Promise<Stream> {
  const stream = await readableStream(services, who, id);
  return stream.account_id === who.account_id ? stream : throwRefusal(ONLY_OWNER);
}

/** The chunk if the caller may read its stream. */
export async function readableChunk(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  chunk_id: string,
): Promise<{ chunk: Chunk; stream: Stream; number: number }> {
  const home = streamOfChunk(chunk_id);
  if (home === null) throw new Refused(NO_CHUNK);
  const found = await services.actors.stream(home.stream_id).chunk({ number: home.number });
  await requireReader(services, who, found.stream, NO_CHUNK);
  return { ...found, number: home.number };
}

/** The chunk if the caller may write its stream. */
export async function writableChunk(services: Pick<FeatureServices, 'actors'>, who: Principal, chunk_id: string) {
  const found = await readableChunk(services, who, chunk_id);
  return found.stream.account_id === who.account_id ? { ...found, fences: who.fences } : throwRefusal(ONLY_OWNER);
}

/** For a caller that may not read a stream, the stream does not exist. */
async function requireReader(
  services: Pick<FeatureServices, 'actors'>,
  { account, account_id }: Principal,
  stream: Stream,
  absent = NO_STREAM,
): Promise<void> {
  const { workspace_id } = stream;
  const belongs =
    account.private_workspace.id === workspace_id ||
    account.memberships.some((membership) => membership.workspace_id === workspace_id);
  if (belongs) return;
  if (stream.account_id !== account_id || !(await workspaceExists(services, workspace_id))) throw new Refused(absent);
}

/** A change of a stream that account events report; `silent`: its source is deleted, and no event is recorded. */
export type StreamChange<Reply = Stream> = (
  stream: EntityOf<'stream'>,
  silence: { silent: boolean },
  fences: Fence[],
) => Promise<Reply>;

/**
 * Asks a stream for a change that account events report, unless its source is deleted. The commit is fenced on the
 * source: no event comes after `source.deleted`.
 */
export async function askRecordingEvents<Reply>(
  { actors }: Pick<FeatureServices, 'actors'>,
  { stream_id, source_id, fences }: { stream_id: string; source_id: string; fences: Fence[] },
  change: StreamChange<Reply>,
): Promise<Reply> {
  for (let tries = 1; ; tries++) {
    const source = await orNull(actors.source(source_id).view(), 'NOT_FOUND');
    // One that is not there yet is on its way: a recorder's source and its binding are made side by side.
    const silent = source?.status === 'deleted';
    const holds: Fence[] = silent ? fences : [...fences, { fence: 'open', id: source_id }];
    try {
      return await change(actors.stream(stream_id), { silent }, holds);
    } catch (error) {
      if (!isClosed(error) || tries >= TRIES_MAX) throw error;
    }
  }
}
