import { z } from 'zod';
import { listLimit } from '../../src/access/request_schemas.js';
import { count, moment, no_cursor, serverNow } from '../../src/access/response_schemas.js';
import { deviceActivityShape, deviceActivityView } from '../../src/features/devices/device_activity_shape.js';
import { mergeDevices } from '../../src/features/devices/merged_activity.js';
import { operatorRoute, type Route } from '../rows.js';

const MINUTE_MS = 60_000;

/** Devices as the processes on this machine have seen them; their state is on their own pages. */
export const SEEN_DEVICE_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/devices',
    summary: 'Devices as the processes on this machine have heard of them, the most silent first.',
    answer: z.strictObject({
      now: serverNow,
      watched_since: moment.describe('Since when they watch.'),
      seen: count.describe('How many devices they have heard of.'),
      seen_max: count.describe('Of more, those not heard of for longest are forgotten.'),
      items: z.array(deviceActivityShape),
      cursor: no_cursor,
    }),
    credential: 'operator',
    query: z.object({
      limit: listLimit,
      silent_min: z
        .string()
        .regex(/^\d{1,6}$/, 'must be whole minutes')
        .transform(Number)
        .default(0)
        .meta({ type: 'integer', minimum: 0, description: 'Only devices that have been silent for so many minutes.' }),
      recording: z
        .enum(['0', '1'], 'must be 0 or 1')
        .default('0')
        .describe('1: only those that have a stream open, or announced a chunk that has not come.'),
    }),
    async handler({ services: { clock, processes }, query: { limit, silent_min, recording } }) {
      const filter = { silent_ms: silent_min * MINUTE_MS, recording: recording === '1', limit };
      const { since_ms, seen, seen_max, items } = await mergeDevices(processes, filter, clock.now());
      return {
        now: new Date(clock.now()).toISOString(),
        watched_since: new Date(since_ms).toISOString(),
        seen,
        seen_max,
        items: items.map(deviceActivityView),
        cursor: null,
      };
    },
  }),
];
