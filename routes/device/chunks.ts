import { z } from 'zod';
import { type Chunk, failureOf, type Stream, statusOf } from '../../actors/recordings/stream_state.js';
import { bindingEpoch, sourceStreamRef, uuid } from '../../src/access/request_schemas.js';
import { count, id, moment, no_cursor } from '../../src/access/response_schemas.js';
import { streamOfChunk } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { orNull, refuse } from '../../src/domain/refusals.js';
import { BODY_UPLOAD_REFUSALS, bodyOf } from '../../src/edge/http/body_upload.js';
import { BOUND_REFUSALS, boundBy, type Recording, refuseAs } from '../../src/features/devices/device_binding.js';
import {
  chunkFailure,
  chunkStatus,
  INTENT_FIELDS,
  intend,
  intentAnswer,
  intentForm,
  intentShape,
  type Uploadable,
  uploadChunk,
  uploadShape,
} from '../../src/features/recordings/chunk_upload.js';
import { requireWorkspace } from '../../src/features/recordings/standing_workspace.js';
import { deviceRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';
import { deviceStream } from './streams.js';

/** Chunks: announced by an intent, uploaded as raw bytes, stored before anything says so. Rules H-015 to H-024. */

const NO_CHUNK = refuse('NOT_FOUND', 'There is no such chunk.');
const INTENT = intentForm({ ...INTENT_FIELDS, source_stream_ref: sourceStreamRef, binding_epoch: bindingEpoch });

const chunkStatusShape = z
  .strictObject({
    chunk_id: id.describe('What it is called here.'),
    source_chunk_ref: id.describe("The device's own name for it."),
    sequence: count.describe('Its number in the stream.'),
    status: chunkStatus,
    stored_at: moment.nullable().describe('When its bytes were on disk; null until then.'),
    failure: chunkFailure,
  })
  .meta({ id: 'ChunkStatus' });

export const CHUNK_ROUTES: readonly Route[] = [
  deviceRoute({
    method: 'POST',
    path: '/device/chunks/intents',
    summary: 'Announces a chunk of a stream.',
    notes: 'The answer says where its bytes go. The same announcement again gets the same answer.',
    credential: 'device',
    body: INTENT,
    answer: intentShape,
    refusals: [...BOUND_REFUSALS, 'NOT_FOUND', 'CONFLICT'],
    async handler({ services, who, body }) {
      const { source_stream_ref, binding_epoch: epoch, ...intent } = body;
      const found = await deviceStream(services, who, { epoch, source_stream_ref });
      const { stream_id, fences } = found;
      const registered = await intend(services, { stream_id, fences, intent });
      const { chunk_id, status } = registered.chunk;
      if (status === 'awaiting_upload') services.device_activity.chunkAnnounced(who.device_id, chunk_id);
      return intentAnswer(registered.chunk, `/device/chunks/${chunk_id}/content`);
    },
  }),

  deviceRoute({
    method: 'PUT',
    path: '/device/chunks/:chunk_id/content',
    summary: "Uploads a chunk's bytes.",
    notes:
      'They must have the size and the SHA-256 that were announced. `stored` means that they are on disk: only then may the device let go of its copy. The same bytes again are fine.',
    credential: 'device',
    raw: true,
    answer: uploadShape,
    refusals: [...BOUND_REFUSALS, 'UPLOAD_EXPIRED', ...BODY_UPLOAD_REFUSALS],
    async handler({ services, who, params, request, reply }) {
      const found = await deviceChunk(services, who, params.chunk_id as string);
      const answer = await uploadChunk(services, found, bodyOf(services, { request, reply }));
      services.device_activity.chunkUploaded(who.device_id, params.chunk_id as string);
      return answer;
    },
  }),

  deviceRoute({
    method: 'GET',
    path: '/device/chunks/:chunk_id',
    summary: 'How a chunk stands.',
    credential: 'device',
    priority: 'critical',
    answer: chunkStatusShape,
    refusals: BOUND_REFUSALS,
    async handler({ services, who, params }) {
      const found = await deviceChunk(services, who, params.chunk_id as string);
      return chunkStatusView(services, found);
    },
  }),

  deviceRoute({
    method: 'POST',
    path: '/device/chunks/status',
    summary: 'How chunks of a stream stand, by their own references.',
    notes: 'A reference that nobody has announced has no item.',
    credential: 'device',
    priority: 'critical',
    body: z.object({
      binding_epoch: bindingEpoch,
      source_stream_ref: sourceStreamRef,
      source_chunk_refs: z
        .array(uuid)
        .min(1, 'must name at least one chunk')
        .max(LIMITS.chunk_status_refs_max, `must name at most ${LIMITS.chunk_status_refs_max} chunks`)
        .describe("The device's own names; one that was never announced is not in the answer."),
    }),
    answer: z.strictObject({ items: z.array(chunkStatusShape), cursor: no_cursor }),
    refusals: [...BOUND_REFUSALS, 'NOT_FOUND'],
    async handler({ services, who, body }) {
      const { binding_epoch: epoch, source_stream_ref, source_chunk_refs } = body;
      const found = await deviceStream(services, who, { epoch, source_stream_ref });
      const known = await services.actors.stream(found.stream_id).chunks_of_refs({ refs: source_chunk_refs });
      // A reference that nobody registered has no item: the device asks for its intent again.
      const numbers = source_chunk_refs.flatMap((ref) => known.numbers[ref] ?? []);
      const chunks = await Promise.all(
        numbers.map((number) => services.actors.stream(found.stream_id).chunk({ number })),
      );
      return { items: chunks.map((found) => chunkStatusView(services, found)), cursor: null };
    },
  }),
];

/** A chunk of this device's own, under a binding that has not ended; another device's does not exist for it. */
async function deviceChunk(
  services: Services,
  who: Recording,
  chunk_id: string,
): Promise<Uploadable & { stream: Stream }> {
  const home = streamOfChunk(chunk_id);
  if (home === null) return refuseAs(services, who, NO_CHUNK);
  const { stream_id, number } = home;
  const found = await orNull(services.actors.stream(stream_id).chunk({ number }), 'NOT_FOUND');
  if (found === null) return refuseAs(services, who, NO_CHUNK);
  const { recorder } = found.stream;
  if (recorder?.device_id !== who.device_id) return refuseAs(services, who, NO_CHUNK);
  const bound = await boundBy(services, who, recorder.binding_epoch);
  await requireWorkspace(services, found.stream.workspace_id);
  return { fences: bound.fences, chunk: found.chunk, stream: found.stream, number };
}

type Found = { chunk: Chunk; stream: Stream };

function chunkStatusView({ clock }: Services, { chunk, stream }: Found): z.infer<typeof chunkStatusShape> {
  const { chunk_id, source_chunk_ref, sequence, stored_at_ms } = chunk;
  const status = statusOf(chunk, stream, clock.now());
  const stored_at = stored_at_ms === null ? null : new Date(stored_at_ms).toISOString();
  return { chunk_id, source_chunk_ref, sequence, status, stored_at, failure: failureOf(chunk) };
}
