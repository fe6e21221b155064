import { z } from 'zod';
import { bindingEpoch, capturedAt, sourceStreamRef, uuid, whole } from '../../src/access/request_schemas.js';
import { BOUND_REFUSALS } from '../../src/features/devices/device_binding.js';
import {
  deviceStreamShape,
  endDeviceStream,
  gapsOfDeviceStream,
  gapsShape,
  registerDeviceStream,
} from '../../src/features/recordings/device_streams.js';
import { PARAMETERS } from '../path_parameters.js';
import { deviceRoute, type Route } from '../rows.js';

/** Streams as their device sees them. References stand in bodies: an offline device queues calls before any answer. */
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
    handler: ({ services, who, body: { binding_epoch: epoch, ...stream } }) =>
      registerDeviceStream(services, who, { epoch, ...stream }),
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
    handler: ({ services, who, body: { binding_epoch: epoch, ...end } }) =>
      endDeviceStream(services, who, { epoch, ...end }),
  }),

  deviceRoute({
    method: 'GET',
    path: '/device/streams/:source_stream_ref/gaps',
    params: { source_stream_ref: PARAMETERS.source_stream_ref },
    summary: 'What of a stream is not stored.',
    notes: 'From 0 to the recorded end, or to the end of the last chunk that was announced.',
    credential: 'device',
    query: z.object({ binding_epoch: bindingEpoch }),
    answer: gapsShape,
    refusals: [...BOUND_REFUSALS, 'NOT_FOUND'],
    handler({ services, who, params, query: { binding_epoch: epoch } }) {
      const source_stream_ref = uuid.safeParse(params.source_stream_ref).data ?? '';
      return gapsOfDeviceStream(services, who, { epoch, source_stream_ref });
    },
  }),
];
