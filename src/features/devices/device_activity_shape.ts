import { z } from 'zod';
import { count, deviceKind, id, moment, momentOrNull } from '../../access/response_schemas.js';
import type { SeenDevice } from './activity.js';

export const deviceActivityShape = z
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

/** The activity of a device, with its times as timestamps. */
export function deviceActivityView(seen: SeenDevice & { silent_ms: number }) {
  const { device_id, kind, uploads, open_streams, awaited_chunks, last_refusal } = seen;
  return {
    device_id,
    kind,
    uploads,
    open_streams,
    awaited_chunks: awaited_chunks.length,
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
