import { z } from 'zod';
import { trimmedText, whole } from '../../src/access/request_schemas.js';
import { no_cursor } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { trialShape, tryEngine } from '../../src/features/insights/context/engine_trial.js';
import { REPROCESSED_KINDS, reprocessStreamForStaff } from '../../src/features/insights/context/reprocess_for_staff.js';
import { PARAMETERS } from '../path_parameters.js';
import { operatorRoute, type Route } from '../rows.js';

/** Staff's routes for the transcript of a recording, and for its insights. */

const END_MS = LIMITS.transcript_pages_max * LIMITS.transcript_page_ms;
const time = whole({ min: 0, max: END_MS });

export const STAFF_STREAM_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'POST',
    path: '/ops/streams/:id/reprocess',
    params: { id: PARAMETERS.stream },
    summary: 'Has a recording transcribed again or its conversations looked into again, or what of it could not be.',
    notes: 'What people have corrected stays. The present text stays until it is replaced.',
    credential: 'operator',
    body: z
      .object({
        from_ms: time
          .default(0)
          .describe("From there on, in ms on the stream's timeline; from its beginning when absent."),
        to_ms: time.default(END_MS).describe('Up to there; to its end when absent.'),
        only_failed: z.boolean('must be true or false').default(false).describe('Only what has failed.'),
        kinds: z
          .array(z.enum(REPROCESSED_KINDS, `must be one of ${REPROCESSED_KINDS.join(', ')}`), 'must be a list')
          .min(1, 'must name at least one')
          .max(REPROCESSED_KINDS.length, `must be at most ${REPROCESSED_KINDS.length}`)
          .default(['transcribe'])
          .describe('What is done again; transcribe when absent.'),
      })
      .refine(({ from_ms, to_ms }) => from_ms < to_ms, { path: ['to_ms'], message: 'must lie behind from_ms' }),
    answer: z.strictObject({ accepted: z.literal(true).describe('It will be.') }),
    example: { only_failed: true },
    refusals: ['NOT_FOUND', 'CONFLICT'],
    async handler({ services, params, body }) {
      await reprocessStreamForStaff(services, params.id, body);
      return { accepted: true };
    },
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/streams/:id/trials',
    params: { id: PARAMETERS.stream },
    summary: 'Asks another engine about the conversations of a recording, to compare.',
    notes: `Nothing of it is published. What people said goes to that engine, and the answer holds what it makes of it. At most the first ${LIMITS.trial_conversations_max} conversations, one after the other.`,
    credential: 'operator',
    body: z.object({
      engine: trimmedText(LIMITS.engine_name_chars_max).describe(
        'An engine of this server: default, extractive, or one of ENGINES_FILE.',
      ),
    }),
    status: 200,
    answer: z.strictObject({ items: z.array(trialShape).describe('Each conversation.'), cursor: no_cursor }),
    example: { engine: 'local' },
    refusals: ['NOT_FOUND'],
    async handler({ services, params, body }) {
      const items = await tryEngine(services, params.id, body.engine);
      return { items, cursor: null };
    },
  }),
];
