import { z } from 'zod';
import { whole } from '../../src/access/request_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isRefused, Refused, refuse } from '../../src/domain/refusals.js';
import { isClosed } from '../../src/engine/runtime/activation.js';
import { lookAgain } from '../../src/features/insights/look_again.js';
import { operatorRoute, type Route } from '../rows.js';

/** What staff do with the transcript of a recording, and with what was made of it. */

const END_MS = LIMITS.transcript_pages_max * LIMITS.transcript_page_ms;
const NO_TRANSCRIPT = refuse('NOT_FOUND', 'There is no transcript of this stream.');
const KINDS = ['transcribe', 'insights'] as const;
const time = whole({ min: 0, max: END_MS });

export const STAFF_STREAM_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'POST',
    path: '/ops/streams/:id/reprocess',
    summary: 'Has a recording transcribed again or its conversations looked into again, or what of it could not be.',
    notes: 'What people have corrected stays. What is read stays until there is something in its place.',
    credential: 'operator',
    body: z
      .object({
        from_ms: time
          .default(0)
          .describe("From there on, in ms on the stream's timeline; from its beginning when absent."),
        to_ms: time.default(END_MS).describe('Up to there; to its end when absent.'),
        only_failed: z.boolean('must be true or false').default(false).describe('Only what has failed.'),
        kinds: z
          .array(z.enum(KINDS, `must be one of ${KINDS.join(', ')}`), 'must be a list')
          .min(1, 'must name at least one')
          .max(KINDS.length, `must be at most ${KINDS.length}`)
          .default(['transcribe'])
          .describe('What is done again; transcribe when absent.'),
      })
      .refine(({ from_ms, to_ms }) => from_ms < to_ms, { path: ['to_ms'], message: 'must lie behind from_ms' }),
    answer: z.strictObject({ accepted: z.literal(true).describe('It will be.') }),
    example: { only_failed: true },
    refusals: ['NOT_FOUND', 'CONFLICT'],
    async handler({ services, params, body: { kinds, ...part } }) {
      const { actors, transcription } = services;
      try {
        const stream = await actors.stream(params.id as string).view();
        await actors.transcript(stream.id).view();
        if (kinds.includes('insights')) await lookAgain(services, stream, part);
        if (kinds.includes('transcribe')) {
          await actors.transcript(stream.id).reprocess(part);
          transcription.due.offer(stream.id);
        }
      } catch (error) {
        throw isRefused(error, 'NOT_FOUND') || isClosed(error) ? new Refused(NO_TRANSCRIPT) : error;
      }
      return { accepted: true };
    },
  }),
];
