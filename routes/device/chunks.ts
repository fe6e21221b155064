import { z } from 'zod';
import { bindingEpoch, sourceStreamRef, uuid } from '../../src/access/request_schemas.js';
import { no_cursor } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { arrivedAt, BODY_UPLOAD_REFUSALS, bodyOf } from '../../src/edge/http/body_upload.js';
import { BOUND_REFUSALS } from '../../src/features/devices/device_binding.js';
import { ARRIVALS_FIELDS, arrivalsShape, arrivalsShown } from '../../src/features/recordings/chunk_arrivals.js';
import {
  INTENT_FIELDS,
  intentAnswer,
  intentForm,
  intentShape,
  uploadShape,
} from '../../src/features/recordings/chunk_upload.js';
import {
  announceDeviceChunk,
  chunkStatusShape,
  listDeviceChunks,
  storeDeviceChunks,
  uploadDeviceChunk,
  viewDeviceChunk,
} from '../../src/features/recordings/device_chunks.js';
import { PARAMETERS } from '../path_parameters.js';
import { deviceRoute, type Route } from '../rows.js';

const STREAM_FIELDS = { source_stream_ref: sourceStreamRef, binding_epoch: bindingEpoch };
const INTENT = intentForm({ ...INTENT_FIELDS, ...STREAM_FIELDS });

/** Chunks: announced by an intent, uploaded as raw bytes, stored before anything says so. Rules H-015 to H-024. */
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
    async handler({ services, who, body: { source_stream_ref, binding_epoch: epoch, ...intent } }) {
      const chunk = await announceDeviceChunk(services, who, { epoch, source_stream_ref, intent });
      return intentAnswer(chunk, `/device/chunks/${chunk.chunk_id}/content`);
    },
  }),

  deviceRoute({
    method: 'POST',
    path: '/device/chunks',
    summary: 'Announces chunks of a stream and stores their bytes.',
    notes:
      'Each chunk is stored or refused by itself, and the answer has an item for each. From `stored` on its bytes are on disk: only then may the device let go of its copy. The same chunks again, in any request, get the same answers. Larger ones are announced and uploaded one by one.',
    credential: 'device',
    body_bytes_max: LIMITS.chunks_body_bytes_max,
    is_upload: true,
    body: z.object({ ...ARRIVALS_FIELDS, ...STREAM_FIELDS }),
    reads: { body: z.object({ ...arrivalsShown, ...STREAM_FIELDS }) },
    answer: arrivalsShape,
    refusals: [...BOUND_REFUSALS, 'NOT_FOUND', 'LENGTH_REQUIRED'],
    handler: ({ services, who, body: { binding_epoch: epoch, ...arrivals }, reply }) =>
      storeDeviceChunks(services, who, {
        epoch,
        ...arrivals,
        upload_started_at_ms: arrivedAt(services, reply),
      }),
  }),

  deviceRoute({
    method: 'PUT',
    path: '/device/chunks/:chunk_id/content',
    params: { chunk_id: PARAMETERS.chunk },
    summary: "Uploads a chunk's bytes.",
    notes:
      'They must have the size and the SHA-256 that were announced. `stored` means that they are on disk: only then may the device let go of its copy. The same bytes again are fine.',
    credential: 'device',
    raw: true,
    answer: uploadShape,
    refusals: [...BOUND_REFUSALS, 'UPLOAD_EXPIRED', ...BODY_UPLOAD_REFUSALS],
    handler: ({ services, who, params, request, reply }) =>
      uploadDeviceChunk(services, who, {
        chunk_id: params.chunk_id,
        takeBody: bodyOf({ request, reply }),
      }),
  }),

  deviceRoute({
    method: 'GET',
    path: '/device/chunks/:chunk_id',
    params: { chunk_id: PARAMETERS.chunk },
    summary: 'How a chunk stands.',
    credential: 'device',
    priority: 'critical',
    answer: chunkStatusShape,
    refusals: BOUND_REFUSALS,
    handler: ({ services, who, params }) => viewDeviceChunk(services, who, params.chunk_id),
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
    async handler({ services, who, body: { binding_epoch: epoch, ...refs } }) {
      const items = await listDeviceChunks(services, who, { epoch, ...refs });
      return { items, cursor: null };
    },
  }),
];
