import { z } from 'zod';
import { transcriberOf } from '../../src/content/engines/choose_engine.js';
import { waitingStreams } from '../../src/content/waiting_streams.js';
import { count, moment, serverNow } from '../../src/http/response_schemas.js';
import { operatorRoute, type Route } from '../../src/http/route.js';

const seconds = z.number().min(0);
const code = z.string().describe('Why, as the engine or the worker that failed is told apart.');

const contentShape = z.strictObject({
  now: serverNow,
  transcriber: z
    .strictObject({
      by: z.enum(['server', 'program', 'workers', 'nobody']).describe('workers: those on this port.'),
      host: z.string().nullable().describe('Where audio goes to; null where it stays here.'),
    })
    .describe('Who makes text of audio.'),
  in_hand: count.describe('Windows that this process has handed out and that are not done.'),
  waiting: z
    .strictObject({
      due: count.describe('Streams with a window that a worker may have.'),
      later: count.describe('Streams whose audio is still gathered, rests after a failure, or is in a worker’s hands.'),
      oldest_due_s: seconds.nullable().describe('For how long the first of those that are due has been.'),
      beyond: z.boolean().describe('Whether there are more than were counted.'),
    })
    .describe('What all processes have to do.'),
  failing: z
    .strictObject({
      since: moment.describe('When the first of them failed.'),
      tries: count.describe('How many.'),
      code,
    })
    .nullable()
    .describe('Tries that failed here since something was transcribed last.'),
  last_hour: z
    .strictObject({
      windows: count.describe('Windows transcribed.'),
      turns: count.describe('Turns that they made.'),
      lag_s: z
        .strictObject({ p50: seconds.describe('Half of them within.'), p99: seconds.describe('99 of 100 within.') })
        .nullable()
        .describe('From the arrival of audio to its turns; null where there were none.'),
      failures: z
        .array(
          z.strictObject({
            code,
            tries: count.describe('How many failed so.'),
            last_at: moment.describe('When the last one did.'),
          }),
        )
        .describe('The most frequent first.'),
    })
    .describe('As this process has seen it, among its last thousand windows.'),
  retention: z
    .strictObject({
      failing_s: seconds
        .nullable()
        .describe('For how long some part of a sweep has failed here; null while none does.'),
      parts: count.describe('Parts of sweeps, of one account in one workspace, that ended here.'),
      removed: z
        .array(
          z.strictObject({
            list: z.string().describe('On which it stood.'),
            records: count.describe('How many.'),
          }),
        )
        .describe('Since this process started.'),
    })
    .describe('What removes what workspaces do not keep.'),
});

/** What becomes of recordings: who makes text of them, how that goes, and what is removed. Without any text. */
export const STAFF_CONTENT_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/content',
    summary: 'Who transcribes recordings, what waits, what fails, and what retention removes.',
    credential: 'operator',
    answer: contentShape,
    async handler({ services: { clock, metrics, retention, settings, store, transcription } }) {
      const now_ms = clock.now();
      const [waiting, parts, removed] = await Promise.all([
        waitingStreams(store, now_ms),
        metrics.retention_parts.get(),
        metrics.retention_removed.get(),
      ]);
      const { activity, in_hand } = transcription;
      const { lag_ms, failures, ...last_hour } = activity.lately();
      const { oldest_due_ms, ...counted } = waiting;
      const { failing } = activity;
      const at = (ms: number) => new Date(ms).toISOString();
      return {
        now: at(now_ms),
        transcriber: transcriberOf(settings),
        in_hand,
        waiting: {
          ...counted,
          oldest_due_s: oldest_due_ms === null ? null : Math.round((now_ms - oldest_due_ms) / 1_000),
        },
        failing: failing === null ? null : { since: at(failing.since_ms), tries: failing.tries, code: failing.code },
        last_hour: {
          ...last_hour,
          lag_s: lag_ms === null ? null : { p50: lag_ms.p50 / 1_000, p99: lag_ms.p99 / 1_000 },
          failures: failures.map(({ last_at_ms, ...of }) => ({ ...of, last_at: at(last_at_ms) })),
        },
        retention: {
          failing_s: retention.failing_ms === 0 ? null : Math.round(retention.failing_ms / 1_000),
          parts: parts.values[0]?.value ?? 0,
          removed: removed.values.map(({ labels, value }) => ({ list: String(labels.list), records: value })),
        },
      };
    },
  }),
];
