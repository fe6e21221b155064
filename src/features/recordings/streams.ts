import { z } from 'zod';
import { type OwnersChange, STREAMS, streamIndexOf } from '../../../actors/recordings/stream.js';
import type { Stream } from '../../../actors/recordings/stream_state.js';
import { transcriptIndexOf } from '../../../actors/transcripts/transcript_state.js';
import { type Page, type PageQuery, type Position, pageOf } from '../../access/cursors.js';
import type { Principal } from '../../access/principal.js';
import type { capturedAt } from '../../access/request_schemas.js';
import { count, id, moment, momentOrNull } from '../../access/response_schemas.js';
import { partitionOfId } from '../../domain/ids.js';
import { LIMITS } from '../../domain/limits.js';
import { orNull } from '../../domain/refusals.js';
import { randomId } from '../../engine/random/random.js';
import { isClosed } from '../../engine/runtime/runtime_refusals.js';
import type { DeviceActivity } from '../devices/activity.js';
import type { FeatureServices } from '../services.js';
import { askWorkspace } from '../workspaces/ask_workspace.js';
import { ownSource } from './sources.js';
import { askRecordingEvents, readableStream, type StreamChange, writableStream } from './stream_access.js';
import { withTranscriptRevision } from './transcript_revision.js';
import { recordedInto } from './workspace_status.js';

/** Streams as accounts see them. Rule K-003; docs/choices.md, "Recordings". */

export const streamShape = z
  .strictObject({
    id,
    source_id: id.describe('Where it comes from.'),
    workspace_id: id.describe('What it belongs to: whose members may read it.'),
    title: z.string().nullable(),
    captured_at: moment.describe('When its timeline begins.'),
    clock_uncertainty_ms: count
      .nullable()
      .describe("How far off the recorder's clock may have been, in ms; null where an app recorded."),
    transcript_revision: count.describe('Rises with every change of its transcript; 0 while there is none.'),
    created_at: moment,
    source_device_id: id.nullable().describe('The device that recorded it; null where an app did.'),
    end_ms: count
      .optional()
      .describe('Where its timeline ends, in ms from its beginning; absent until that is recorded.'),
    chunks: count.describe('Announced so far.'),
    stored_chunks: count.describe('Of these, those whose bytes are here.'),
    stored_bytes: count.describe('Bytes of those.'),
    last_stored_at: moment.nullable().describe('When the last of them came; null where that is not known.'),
    starred: z
      .boolean()
      .nullable()
      .optional()
      .describe('With `include=tags`: whether its owner has starred it; null to others than its owner.'),
    tags: z
      .array(z.string())
      .nullable()
      .optional()
      .describe("Beside that: its owner's tags, as they were written; null to others than its owner."),
    title_suggested: z
      .string()
      .nullable()
      .optional()
      .describe(
        'With `include=title_suggested`: the title of its longest conversation; null for none, to others than its owner, and without turns:read and insights:read.',
      ),
    first_line: z
      .string()
      .nullable()
      .optional()
      .describe('Beside that: the first sentence of the summary of that conversation, or else of what was said.'),
    notes: z
      .array(z.string())
      .nullable()
      .optional()
      .describe(
        'With `include=notes`: the texts of its first 50 signals of the type `note`, 200 characters of each; null without turns:read.',
      ),
    speakers: z
      .array(
        z.strictObject({
          speaker: z.string().nullable().describe('Such as S1; null where speakers are not told apart.'),
          contact_id: id
            .nullable()
            .describe('Who it is; null where nobody knows, and to other members of the workspace.'),
          name: z.string().nullable().describe("The contact's name."),
        }),
      )
      .nullable()
      .optional()
      .describe(
        `With \`include=speakers\`: who speaks in its first hour, in the order in which they begin, and who is named of the rest, ${LIMITS.listed_speakers_max} at most; null without turns:read.`,
      ),
  })
  .meta({ id: 'Stream' });

export type StreamView = z.infer<typeof streamShape>;

/**
 * Lists by one contact, source or workspace, else by account. A contact's streams are those whose transcripts have
 * shown the contact.
 */
export type StreamQuery = PageQuery & {
  source_id?: string | undefined;
  workspace_id?: string | undefined;
  contact_id?: string | undefined;
};

/** A page of the streams of an account, of one of its sources or contacts, or of a workspace that it belongs to; newest first. */
export async function listStreams(
  services: Pick<FeatureServices, 'actors' | 'store'>,
  who: Principal,
  query: StreamQuery,
): Promise<Page<StreamView>> {
  const rows = await listedStreams(services, who, query);
  const page = pageOf(rows, query.limit);
  const streams = await Promise.all(
    page.rows.map(({ member }) => orNull(viewStream(services, who, member), 'NOT_FOUND')),
  );
  return { items: streams.filter((stream) => stream !== null), cursor: page.cursor };
}

/** Each of these lists is stored in its order: none is filtered out of a larger one. */
async function listedStreams(
  services: Pick<FeatureServices, 'actors' | 'store'>,
  { account, account_id }: Principal,
  { limit, cursor: after, source_id, workspace_id, contact_id }: StreamQuery,
): Promise<Position[]> {
  const run = { descending: true, limit: limit + 1 };
  const place = { owner: account_id, partition: partitionOfId(account_id) };
  if (contact_id !== undefined) return services.store.list(place, transcriptIndexOf(contact_id), { ...run, after });
  if (workspace_id !== undefined && workspace_id !== account.private_workspace.id) {
    const behind = after === undefined ? undefined : { order: after.order, id: after.member };
    const range = { ...run, after: behind };
    const listed = await askWorkspace(services, workspace_id, (workspace) =>
      workspace.list_streams({ by: account_id, range }),
    );
    return listed.streams.map(({ id, order }) => ({ member: id, order }));
  }
  const of = source_id ?? workspace_id;
  const list = of === undefined ? STREAMS : streamIndexOf(of);
  return services.store.list(place, list, { ...run, after });
}

/** A stream that the caller may read. */
export async function viewStream(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  id: string,
): Promise<StreamView> {
  const stream = await readableStream(services, who, id);
  return streamView(services, stream);
}

type NewStream = {
  source_id: string;
  captured_at: z.infer<typeof capturedAt>;
  title: string | null;
  workspace_id?: string | undefined;
};

/** Registers a stream that an app records. Its source must exist, and still exist when the stream is committed. */
export async function registerStream(
  services: Pick<FeatureServices, 'actors' | 'clock'>,
  { account, account_id, fences }: Principal,
  { source_id, captured_at, title, workspace_id: wanted }: NewStream,
): Promise<StreamView> {
  await ownSource(services, { account_id, id: source_id });
  const id = randomId({ partition: partitionOfId(account_id), now_ms: services.clock.now() });
  const open = [...fences, { fence: 'open' as const, id: source_id }];
  const workspace_id = await recordedInto(services, account, wanted);
  const registered = { account_id, workspace_id, source_id, recorder: null, title, end_ms: null, silent: false };
  try {
    const stream = await services.actors.stream(id).register({ ...registered, ...captured_at }, open);
    return await streamView(services, stream);
  } catch (error) {
    if (isClosed(error)) await ownSource(services, { account_id, id: source_id }); // which now says that it is gone
    throw error;
  }
}

/** Changes what a stream's owner says of it: its title, star and tags. */
export function changeOwnStream(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { id, ...change }: { id: string } & OwnersChange,
): Promise<StreamView> {
  return changeStream(services, who, id, (stream, silence, fences) => stream.change({ ...change, ...silence }, fences));
}

/** Records where a stream ends, at once or unless it continues within some seconds. CONFLICT if it ended elsewhere. */
export function endStream(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { id, end_ms, unless_continued_s }: { id: string; end_ms: number; unless_continued_s?: number | undefined },
): Promise<StreamView> {
  return changeStream(services, who, id, (stream, silence, fences) => {
    const end = { end_ms, ...silence };
    return unless_continued_s === undefined
      ? stream.end(end, fences)
      : stream.end_later({ ...end, after_ms: unless_continued_s * 1_000 }, fences);
  });
}

async function changeStream(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  id: string,
  change: StreamChange,
): Promise<StreamView> {
  const { source_id } = await writableStream(services, who, id);
  const stream = await askRecordingEvents(services, { stream_id: id, source_id, fences: who.fences }, change);
  return streamView(services, stream);
}

/** Deletes a recording and the insights from it; its audio, transcript and signals are removed soon after. */
export async function deleteStream(
  services: Pick<FeatureServices, 'actors'> & {
    device_activity: DeviceActivity;
    speech_withdrawal: { ofStream(stream: Stream): Promise<void> };
  },
  who: Principal,
  id: string,
): Promise<void> {
  const found = await writableStream(services, who, id);
  const { id: stream_id, source_id, recorder } = found;
  await askRecordingEvents(services, { stream_id, source_id, fences: who.fences }, (_, silence, fences) =>
    services.actors.downstream.stream(stream_id).delete(silence, fences),
  );
  await services.speech_withdrawal.ofStream(found);
  if (recorder !== null) services.device_activity.streamEnded(recorder.device_id, stream_id);
}

async function streamView(services: Pick<FeatureServices, 'actors'>, changed: Stream): Promise<StreamView> {
  const stream = await withTranscriptRevision(services, changed);
  return {
    id: stream.id,
    source_id: stream.source_id,
    workspace_id: stream.workspace_id,
    title: stream.title,
    captured_at: stream.captured_at,
    clock_uncertainty_ms: stream.recorder?.clock_uncertainty_ms ?? null,
    transcript_revision: stream.transcript_revision,
    created_at: new Date(stream.created_at_ms).toISOString(),
    source_device_id: stream.recorder?.device_id ?? null,
    ...(stream.end_ms === null ? {} : { end_ms: stream.end_ms }),
    chunks: stream.chunks,
    stored_chunks: stream.stored_chunks,
    stored_bytes: stream.stored_bytes,
    last_stored_at: momentOrNull(stream.last_stored_at_ms),
  };
}
