import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { StreamOf, StreamRef } from '../../actors/recordings/stream_refs.js';
import { hasExpired, RECORDING_DELETED, type Stream } from '../../actors/recordings/stream_state.js';
import { bindingEpoch, capturedAt, sourceStreamRef, uuid, whole } from '../../src/access/request_schemas.js';
import { count, id, moment } from '../../src/access/response_schemas.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isRefused } from '../../src/domain/refusals.js';
import { randomId } from '../../src/engine/runtime/random.js';
import { BOUND_REFUSALS, type Bound, boundBy, type Recording } from '../../src/features/devices/device_binding.js';
import { requireWorkspace, workspaceStands } from '../../src/features/recordings/standing_workspace.js';
import { askRecordingEvents } from '../../src/features/recordings/stream_access.js';
import { withTranscriptRevision } from '../../src/features/recordings/transcript_revision.js';
import { deviceRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** Streams as their device sees them. References stand in bodies: an offline device queues calls before any answer. */

const GAPS_PAGE = 1_000;

const deviceStreamShape = z
  .strictObject({
    id,
    owner_user_id: id.describe('The account that it was recorded for.'),
    source_stream_ref: id.describe("The device's own name for it."),
    captured_at: moment.describe('When its timeline begins.'),
    clock_uncertainty_ms: count.describe("How far off the device's clock may have been, in ms."),
    transcript_revision: count.describe('Rises with every change of its transcript; 0 while there is none.'),
    created_at: moment,
    source_device_id: id.describe('The device itself.'),
    binding_epoch: id.describe('What it was recorded under.'),
    end_ms: count
      .optional()
      .describe('Where its timeline ends, in ms from its beginning; absent until that is recorded.'),
  })
  .meta({ id: 'DeviceStream' });

const gapsShape = z
  .strictObject({
    missing: z.array(z.tuple([count, count])).describe('Start and end of what no chunk that was stored covers, in ms.'),
    truncated: z.boolean().describe('There is more than fits into an answer.'),
    awaiting_upload: count.describe('Chunks that are announced and have not come.'),
  })
  .meta({ id: 'Gaps' });

export const DEVICE_STREAM_ROUTES: readonly Route[] = [
  deviceRoute({
    method: 'POST',
    path: '/device/streams',
    summary: "Registers a stream under the device's own reference.",
    notes: 'The same again gets the same stream, unless that was deleted: then nothing of it is taken any more.',
    credential: 'device',
    body: z.object({
      source_stream_ref: sourceStreamRef,
      captured_at: capturedAt,
      clock_uncertainty_ms: whole({ min: 0, max: 2 ** 31 }).describe(
        "How far off the device's clock may have been, in ms.",
      ),
      binding_epoch: bindingEpoch,
      end_ms: whole({ min: 0 }).optional().describe('Where it ends, if that is known already.'),
    }),
    answer: deviceStreamShape,
    refusals: [...BOUND_REFUSALS, 'NOT_FOUND', 'CONFLICT'],
    async handler({ services, who, body }) {
      const { clock } = services;
      const { binding_epoch: epoch, source_stream_ref, captured_at, clock_uncertainty_ms, end_ms = null } = body;
      const bound = await boundBy(services, who, epoch);
      const workspace_id = await workspaceFor(services, bound);
      const new_stream = {
        stream_id: randomId({ partition: partitionOfId(epoch), now_ms: clock.now() }),
        workspace_id,
      };
      const stream_id = await registeredStream(services, bound, { epoch, source_stream_ref, new_stream });
      const { account_id, device_id, source_id } = bound.terms;
      const recorder = { device_id, binding_epoch: epoch, source_stream_ref, clock_uncertainty_ms };
      const registered = { account_id, workspace_id, source_id, recorder, ...captured_at, title: null, end_ms };
      const stream = await askRecordingEvents(
        services,
        { stream_id, source_id, fences: bound.fences },
        (stream, silence, holds) => stream.register({ ...registered, ...silence }, holds),
      );
      if (stream.end_ms === null) services.device_activity.streamBegan(device_id, stream_id);
      else services.device_activity.streamEnded(device_id, stream_id);
      return viewDeviceStream(services, stream);
    },
  }),

  deviceRoute({
    method: 'POST',
    path: '/device/streams/end',
    summary: 'Says where a stream ends.',
    notes: 'It is set once: the same end again is fine, another one is refused.',
    credential: 'device',
    priority: 'critical',
    body: z.object({
      source_stream_ref: sourceStreamRef,
      end_ms: whole({ min: 0 }).describe('Where its timeline ends, in ms from its beginning.'),
      binding_epoch: bindingEpoch,
    }),
    answer: deviceStreamShape,
    refusals: [...BOUND_REFUSALS, 'NOT_FOUND', 'CONFLICT'],
    async handler({ services, who, body: { source_stream_ref, end_ms, binding_epoch: epoch } }) {
      const found = await deviceStream(services, who, { epoch, source_stream_ref });
      const { stream_id, fences } = found;
      const { source_id } = found.terms;
      const stream = await askRecordingEvents(services, { stream_id, source_id, fences }, (stream, silence, holds) =>
        stream.end({ end_ms, ...silence }, holds),
      );
      services.device_activity.streamEnded(who.device_id, stream_id);
      return viewDeviceStream(services, stream);
    },
  }),

  deviceRoute({
    method: 'GET',
    path: '/device/streams/:source_stream_ref/gaps',
    summary: 'What of a stream is not stored.',
    notes: 'From 0 to the recorded end, or to the end of the last chunk that was announced.',
    credential: 'device',
    query: z.object({ binding_epoch: bindingEpoch }),
    answer: gapsShape,
    refusals: [...BOUND_REFUSALS, 'NOT_FOUND'],
    async handler({ services, who, params, query: { binding_epoch: epoch } }) {
      const source_stream_ref = uuid.safeParse(params.source_stream_ref).data ?? '';
      const found = await deviceStream(services, who, { epoch, source_stream_ref });
      return gapsOf(services, found.stream_id);
    },
  }),
];

/** The stream behind a device's reference, under a binding that still lets it write. NOT_FOUND when none is registered. */
export async function deviceStream(
  services: Services,
  who: Recording,
  ref: { epoch: string; source_stream_ref: string },
): Promise<Bound & { stream_id: string }> {
  const bound = await boundBy(services, who, ref.epoch);
  const found = await streamOf(services, bound, { ...ref, new_stream: null });
  await requireWorkspace(services, found.workspace_id);
  return { ...bound, stream_id: found.stream_id };
}

/** Where a new stream goes: to the workspace of the session, or to the host's private one once that is left or deleted. */
async function workspaceFor(services: Services, bound: Bound): Promise<string> {
  const { belongs, private_workspace_id, terms } = bound;
  if (!belongs) return private_workspace_id;
  return (await workspaceStands(services, terms.workspace_id)) ? terms.workspace_id : private_workspace_id;
}

/**
 * The stream behind a reference, `new_stream` where there is none. One that went with its workspace is replaced by it: what
 * its recorder still has is kept, unless a person had deleted that stream.
 */
async function registeredStream(
  services: Services,
  bound: Bound,
  ref: { epoch: string; source_stream_ref: string; new_stream: Required<StreamRef> },
): Promise<string> {
  const found = await streamOf(services, bound, ref);
  if (await workspaceStands(services, found.workspace_id)) return found.stream_id;
  await services.actors
    .stream(found.stream_id)
    .view()
    .catch((error: unknown) => {
      // It went with its workspace, or another way: only a person's deletion of it stays.
      if (!isRefused(error) || error.refusal === RECORDING_DELETED) throw error;
    });
  const replaced = await streamOf(services, bound, { ...ref, instead_of: found.stream_id });
  return replaced.stream_id;
}

/**
 * Which stream a reference names changes only where that is gone, so it may be remembered; until storage is in doubt, which
 * may have lost it.
 */
const known_streams = new LRUCache<string, Required<StreamRef>>({ max: 100_000 });

async function streamOf(
  { runtime }: Services,
  { binder, terms: { device_id, workspace_id }, fences }: Bound,
  { epoch, ...ref }: { epoch: string } & Omit<StreamOf, 'device_id'>,
): Promise<Required<StreamRef>> {
  const key = `${runtime.cacheEpoch} ${epoch} ${ref.source_stream_ref}`;
  const known = known_streams.get(key);
  if (known !== undefined && known.stream_id !== ref.instead_of) return known;
  const answer = await binder.stream_of({ device_id, ...ref }, fences);
  const found = { workspace_id, ...answer };
  known_streams.set(key, found);
  return found;
}

async function viewDeviceStream(services: Services, stream: Stream) {
  const seen = await withTranscriptRevision(services, stream);
  return deviceStreamView(seen);
}

/** The Device stream of the interface. */
function deviceStreamView(stream: Stream): z.infer<typeof deviceStreamShape> {
  const { recorder } = stream;
  if (recorder === null) throw new Error('a stream that a device registered has no recorder');
  const { source_stream_ref, clock_uncertainty_ms, device_id, binding_epoch } = recorder;
  return {
    id: stream.id,
    owner_user_id: stream.account_id,
    source_stream_ref,
    captured_at: stream.captured_at,
    clock_uncertainty_ms,
    transcript_revision: stream.transcript_revision,
    created_at: new Date(stream.created_at_ms).toISOString(),
    source_device_id: device_id,
    binding_epoch,
    ...(stream.end_ms === null ? {} : { end_ms: stream.end_ms }),
  };
}

/**
 * What no stored chunk covers, from 0 to the end: the recorded one, or that of the last registered chunk. Chunks come
 * in the order of their start, so one pass finds the holes.
 */
async function gapsOf({ actors }: Services, stream_id: string): Promise<z.infer<typeof gapsShape>> {
  const missing: [number, number][] = [];
  let covered_ms = 0;
  let reached_ms = 0;
  let after: { order: number; id: string } | undefined;
  let truncated = false;
  let stream: Stream | undefined;
  do {
    const page = await actors.stream(stream_id).list_chunks({ range: { after, limit: GAPS_PAGE } });
    stream = page.stream;
    for (const chunk of page.chunks) {
      // What was stored and has expired is not to be sent again.
      const is_stored = chunk.status === 'stored' || hasExpired(chunk);
      if (is_stored || chunk.status !== 'expired') reached_ms = Math.max(reached_ms, chunk.source_end_ms);
      if (!is_stored) continue;
      if (chunk.source_start_ms > covered_ms) missing.push([covered_ms, chunk.source_start_ms]);
      covered_ms = Math.max(covered_ms, chunk.source_end_ms);
    }
    const last = page.chunks.at(-1);
    after = page.chunks.length < GAPS_PAGE || last === undefined ? undefined : { order: last.order, id: last.member };
    truncated = missing.length > LIMITS.gaps_listed_max;
  } while (after !== undefined && !truncated);
  const end_ms = stream.end_ms ?? reached_ms;
  if (!truncated && covered_ms < end_ms) missing.push([covered_ms, end_ms]);
  truncated ||= missing.length > LIMITS.gaps_listed_max;
  return { missing: missing.slice(0, LIMITS.gaps_listed_max), truncated, awaiting_upload: stream.open.length };
}
