import { z } from 'zod';
import type { SeenDevice } from '../../src/devices/activity.js';
import { listLimit } from '../../src/http/request_schemas.js';
import { count, deviceKind, id, moment, momentOrNull, no_cursor, serverNow } from '../../src/http/response_schemas.js';
import { operatorRoute, type Route } from '../../src/http/route.js';

const MINUTE_MS = 60_000;

export const seenDeviceShape = z
  .strictObject({
    device_id: z.string().describe('The device.'),
    kind: deviceKind.nullable().describe('personal or shared; null while none of its requests was let in.'),
    uploads: count.describe('How many this process has seen.'),
    open_streams: z.array(id).describe('Streams that it began and has not ended, 8 at most.'),
    awaited_chunks: count.describe('Announced, and not uploaded.'),
    silent_s: count.describe('Seconds since it last uploaded anything, or since it should have begun.'),
    first_seen_at: moment.nullable().describe('When this process first heard of it.'),
    last_request_at: moment.nullable().describe('When it last asked and was let in; null while it never was.'),
    last_upload_at: moment.nullable().describe('When it last uploaded; null while it has not.'),
    recording_since: moment.nullable().describe('Since when it should be uploading; null while it need not.'),
    last_refusal: z
      .strictObject({
        at: moment.nullable().describe('When.'),
        reason: z.string().describe("Why: what is wrong with its certificate, or the refusal's code."),
        route: z.string().describe('Where.'),
      })
      .nullable()
      .describe('The last one; null while there was none.'),
  })
  .meta({ id: 'SeenDevice' });

/** Devices as this process has seen them; what they are is on their own pages. */
export const SEEN_DEVICE_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/devices',
    summary: 'Devices as this process has heard of them, the most silent first.',
    answer: z.strictObject({
      now: serverNow,
      watched_since: moment.describe('Since when this process watches.'),
      seen: count.describe('How many devices it has heard of.'),
      seen_max: count.describe('Of more, those not heard of for longest are forgotten.'),
      items: z.array(seenDeviceShape),
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
    async handler({ services: { clock, device_activity }, query: { limit, silent_min, recording } }) {
      const filter = { silent_ms: silent_min * MINUTE_MS, recording: recording === '1', limit };
      const { since_ms, size: seen, seen_max } = device_activity;
      return {
        now: new Date(clock.now()).toISOString(),
        ...{ watched_since: new Date(since_ms).toISOString(), seen, seen_max },
        items: device_activity.list(filter).map(seenDeviceView),
        cursor: null,
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
