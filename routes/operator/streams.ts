import { z } from 'zod';
import { LIMITS } from '../../src/domain/limits.js';
import { isRefusal, refuse } from '../../src/domain/refusals.js';
import { whole } from '../../src/http/request_schemas.js';
import { operatorRoute, type Route } from '../../src/http/route.js';

/** What staff do with the transcript of a recording. */

const END_MS = LIMITS.transcript_pages_max * LIMITS.transcript_page_ms;
const NO_TRANSCRIPT = refuse('NOT_FOUND', 'There is no transcript of this stream.');
const time = whole({ min: 0, max: END_MS });

export const STAFF_STREAM_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'POST',
    path: '/ops/streams/:id/reprocess',
    summary: 'Has a recording transcribed again, or what of it could not be.',
    notes: 'What people have corrected stays. What is read stays until there is something in its place.',
    credential: 'operator',
    body: z
      .object({
        from_ms: time
          .default(0)
          .describe("From there on, in ms on the stream's timeline; from its beginning when absent."),
        to_ms: time.default(END_MS).describe('Up to there; to its end when absent.'),
        only_failed: z.boolean('must be true or false').default(false).describe('Only what could not be transcribed.'),
      })
      .refine(({ from_ms, to_ms }) => from_ms < to_ms, { path: ['to_ms'], message: 'must lie behind from_ms' }),
    answer: z.strictObject({ accepted: z.literal(true).describe('It will be.') }),
    example: { only_failed: true },
    refusals: ['NOT_FOUND'],
    async handler({ services, params, body }) {
      const stream_id = params.id as string;
      const asked = await services.actors.transcript(stream_id).reprocess(body);
      if (isRefusal(asked)) return asked.refused === 'NOT_FOUND' ? NO_TRANSCRIPT : asked;
      services.transcription.due.offer(stream_id);
      return { accepted: true };
    },
  }),
];
