import { z } from 'zod';
import type { StreamOf, StreamRef } from '../../../actors/recordings/stream_refs.js';
import { hasExpired, RECORDING_DELETED, type Stream } from '../../../actors/recordings/stream_state.js';
import type { DeviceIdentity } from '../../access/principal.js';
import type { capturedAt } from '../../access/request_schemas.js';
import { count, id, moment } from '../../access/response_schemas.js';
import { partitionOfId } from '../../domain/ids.js';
import { LIMITS } from '../../domain/limits.js';
import { isRefused } from '../../domain/refusals.js';
import { randomId } from '../../engine/random/random.js';
import type { CacheKind } from '../../engine/runtime/caches.js';
import type { DeviceActivity } from '../devices/activity.js';
import { type Bound, boundBy } from '../devices/device_binding.js';
import type { FeatureServices } from '../services.js';
import { askRecordingEvents } from './stream_access.js';
import { withTranscriptRevision } from './transcript_revision.js';
import { requireWorkspace, workspaceExists } from './workspace_status.js';

/** Streams as their device sees them. */

const GAPS_PAGE = 1_000;

export const deviceStreamShape = z
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

export type DeviceStreamView = z.infer<typeof deviceStreamShape>;

export const gapsShape = z
  .strictObject({
    missing: z.array(z.tuple([count, count])).describe('Start and end of what no chunk that was stored covers, in ms.'),
    truncated: z.boolean().describe('There is more than fits into an answer.'),
    awaiting_upload: count.describe('Chunks that are announced and have not come.'),
  })
  .meta({ id: 'Gaps' });

/** A device's own name for a stream, under the epoch of a binding. */
export type DeviceStreamRef = { epoch: string; source_stream_ref: string };

type NewDeviceStream = DeviceStreamRef & {
  captured_at: z.infer<typeof capturedAt>;
  clock_uncertainty_ms: number;
  end_ms?: number | undefined;
};

/** Registers a stream under the device's own reference. A repetition gets the same stream. */
export async function registerDeviceStream(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'runtime'> & { device_activity: DeviceActivity },
  who: DeviceIdentity,
  { epoch, source_stream_ref, captured_at, clock_uncertainty_ms, end_ms }: NewDeviceStream,
): Promise<DeviceStreamView> {
  const bound = await boundBy(services, who, epoch);
  const workspace_id = await workspaceFor(services, bound);
  const new_stream = {
    stream_id: randomId({ partition: partitionOfId(epoch), now_ms: services.clock.now() }),
    workspace_id,
  };
  const stream_id = await registeredStream(services, bound, { epoch, source_stream_ref, new_stream });
  const { account_id, device_id, source_id } = bound.terms;
  const recorder = { device_id, binding_epoch: epoch, source_stream_ref, clock_uncertainty_ms };
  const registered = {
    account_id,
    workspace_id,
    source_id,
    recorder,
    ...captured_at,
    title: null,
    end_ms: end_ms ?? null,
  };
  const stream = await askRecordingEvents(
    services,
    { stream_id, source_id, fences: bound.fences },
    (stream, silence, holds) => stream.register({ ...registered, ...silence }, holds),
  );
  if (stream.end_ms === null) services.device_activity.streamBegan(device_id, stream_id);
  else services.device_activity.streamEnded(device_id, stream_id);
  return deviceStreamView(services, stream);
}

/** Records where a device's stream ends. CONFLICT if it ended elsewhere. */
export async function endDeviceStream(
  services: Pick<FeatureServices, 'actors' | 'runtime'> & { device_activity: DeviceActivity },
  who: DeviceIdentity,
  { end_ms, ...ref }: DeviceStreamRef & { end_ms: number },
): Promise<DeviceStreamView> {
  const { stream_id, fences, terms } = await deviceStream(services, who, ref);
  const { source_id } = terms;
  const stream = await askRecordingEvents(services, { stream_id, source_id, fences }, (stream, silence, holds) =>
    stream.end({ end_ms, ...silence }, holds),
  );
  services.device_activity.streamEnded(who.device_id, stream_id);
  return deviceStreamView(services, stream);
}

/** Lists the gaps of a device's stream: ranges that are not stored. */
export async function gapsOfDeviceStream(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: DeviceIdentity,
  ref: DeviceStreamRef,
): Promise<z.infer<typeof gapsShape>> {
  const { stream_id } = await deviceStream(services, who, ref);
  return gapsOf(services, stream_id);
}

/** The stream of a device's reference, under a binding that may still write it. NOT_FOUND if none is registered. */
export async function deviceStream(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: DeviceIdentity,
  ref: DeviceStreamRef,
): Promise<Bound & { stream_id: string }> {
  const bound = await boundBy(services, who, ref.epoch);
  const found = await streamOf(services, bound, { ...ref, new_stream: null });
  await requireWorkspace(services, found.workspace_id);
  return { ...bound, stream_id: found.stream_id };
}

/**
 * The workspace of a new stream: the session's, or the host's private one once the host has left the session's or it
 * was deleted.
 */
async function workspaceFor(services: Pick<FeatureServices, 'actors'>, bound: Bound): Promise<string> {
  const { belongs, private_workspace_id, terms } = bound;
  if (!belongs) return private_workspace_id;
  return (await workspaceExists(services, terms.workspace_id)) ? terms.workspace_id : private_workspace_id;
}

/**
 * The stream of a reference, or `new_stream` if there is none. A stream that was deleted with its workspace is replaced
 * by `new_stream`, so that the recorder's remaining audio is kept, unless a person had deleted that stream.
 */
async function registeredStream(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  bound: Bound,
  ref: { epoch: string; source_stream_ref: string; new_stream: StreamRef },
): Promise<string> {
  const found = await streamOf(services, bound, ref);
  if (await workspaceExists(services, found.workspace_id)) return found.stream_id;
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
const STREAMS: CacheKind<StreamRef> = { max: 100_000 };

async function streamOf(
  { runtime }: Pick<FeatureServices, 'runtime'>,
  { binder, terms: { device_id }, fences }: Bound,
  { epoch, ...ref }: { epoch: string } & Omit<StreamOf, 'device_id'>,
): Promise<StreamRef> {
  const key = `${runtime.invalidations} ${epoch} ${ref.source_stream_ref}`;
  const cache = runtime.caches.of(STREAMS);
  const known = cache.get(key);
  if (known !== undefined && known.stream_id !== ref.instead_of) return known;
  const found = await binder.stream_of({ device_id, ...ref }, fences);
  cache.set(key, found);
  return found;
}

async function deviceStreamView(services: Pick<FeatureServices, 'actors'>, changed: Stream): Promise<DeviceStreamView> {
  const stream = await withTranscriptRevision(services, changed);
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
 * Finds the ranges that no stored chunk covers, from 0 to the recorded end or that of the last registered chunk. Chunks
 * are ordered by their start, so one pass finds the gaps.
 */
async function gapsOf(
  { actors }: Pick<FeatureServices, 'actors'>,
  stream_id: string,
): Promise<z.infer<typeof gapsShape>> {
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
