import { z } from 'zod';
import { count, id, moment, momentOrNull } from '../../src/answer_shapes.js';
import type { SeenDevice } from '../../src/device_activity.js';
import { listLimit } from '../forms.js';
import { operatorRoute, type Route } from '../route.js';

const MINUTE_MS = 60_000;

export const seenDeviceShape = z.strictObject({
  device_id: z.string(),
  kind: z.enum(['personal', 'shared']).nullable(),
  uploads: count,
  open_streams: z.array(id),
  awaited_chunks: count.describe('Announced, and not uploaded.'),
  silent_s: count,
  first_seen_at: moment.nullable(),
  last_request_at: moment.nullable(),
  last_upload_at: moment.nullable(),
  recording_since: moment.nullable().describe('Since when it should be uploading.'),
  last_refusal: z.strictObject({ at: moment.nullable(), reason: z.string(), route: z.string() }).nullable(),
});

/** Devices as this process has seen them; what they are is on their own pages. */
export const SEEN_DEVICE_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/devices',
    summary: 'Devices as this process has heard of them, the most silent first.',
    answer: z.strictObject({
      now: moment,
      watched_since: moment,
      seen: count,
      seen_max: count.describe('Of more, those not heard of for longest are forgotten.'),
      items: z.array(seenDeviceShape),
    }),
    credential: 'operator',
    query: z.object({
      limit: listLimit,
      silent_min: z
        .string()
        .regex(/^\d{1,6}$/, 'must be whole minutes')
        .transform(Number)
        .default(0),
      /** `1`: only those that have a stream open, or announced a chunk that has not come. */
      recording: z.enum(['0', '1'], 'must be 0 or 1').default('0'),
    }),
    async handler({ services: { clock, device_activity }, query: { limit, silent_min, recording } }) {
      const filter = { silent_ms: silent_min * MINUTE_MS, recording: recording === '1', limit };
      const { since_ms, size: seen, seen_max } = device_activity;
      return {
        now: new Date(clock.now()).toISOString(),
        ...{ watched_since: new Date(since_ms).toISOString(), seen, seen_max },
        items: device_activity.list(filter).map(seenDeviceView),
      };
    },
  }),
];

/** What was seen of a device, with its times as timestamps. */
export function seenDeviceView(seen: SeenDevice & { silent_ms: number }) {
  const { device_id, kind, uploads, open_streams, awaited_chunks, last_refusal } = seen;
  return {
    ...{ device_id, kind, uploads, open_streams, awaited_chunks: awaited_chunks.length },
    silent_s: Math.round(seen.silent_ms / 1000),
    first_seen_at: momentOrNull(seen.first_seen_at_ms),
    last_request_at: momentOrNull(seen.last_request_at_ms),
    last_upload_at: momentOrNull(seen.last_upload_at_ms),
    recording_since: momentOrNull(seen.recording_since_ms),
    last_refusal:
      last_refusal === null
        ? null
        : { at: momentOrNull(last_refusal.at_ms), reason: last_refusal.reason, route: last_refusal.route },
  };
}
