import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import { listLimit, whole } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { debugRunShape, listDebugRuns, RUN_KINDS } from '../../src/features/insights/context/debug_runs.js';
import { reprocessStream } from '../../src/features/insights/context/reprocess.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/** The runs of a recording, for debugging. Rule K-017; docs/choices.md, "Diagnostics". */

const END_MS = LIMITS.transcript_pages_max * LIMITS.transcript_page_ms;

const kind = z.enum(RUN_KINDS, `must be one of ${RUN_KINDS.join(', ')}`);
const time = whole({ min: 0, max: END_MS });

export const DEBUG_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/debug/streams/:id/runs',
    params: { id: PARAMETERS.stream },
    summary: 'What workers made of a stream, and what waits for them.',
    notes:
      'What came last is first. Of a stream the last hundred ends of transcription and fifty of insights are known. A try that is followed by another is no end.',
    credential: 'account',
    all_of: ['debug:read'],
    developer: true,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(debugRunShape),
    handler: ({ services, who, params, query }) => listDebugRuns(services, who, { stream_id: params.id, ...query }),
  }),

  accountRoute({
    method: 'POST',
    path: '/debug/streams/:id/reprocess',
    params: { id: PARAMETERS.stream },
    summary: 'Has a stream transcribed again, or looked into again, by the default pipeline.',
    notes: 'What people have corrected stays. The present text stays until it is replaced.',
    credential: 'account',
    all_of: ['debug:write'],
    developer: true,
    status: 202,
    body: z
      .object({
        from_ms: time.default(0).describe('From where on its timeline, in ms; the beginning when absent.'),
        to_ms: time.default(END_MS).describe('Up to where; the end when absent.'),
        kinds: z
          .array(kind)
          .min(1, 'must name at least one')
          .max(RUN_KINDS.length, 'must name each once at most')
          .describe('What is done again.'),
      })
      .refine(({ from_ms, to_ms }) => from_ms < to_ms, { path: ['to_ms'], message: 'must lie behind from_ms' }),
    example: { kinds: ['transcribe'] },
    answer: z.strictObject({ accepted: z.literal(true).describe('It will be done.') }),
    refusals: ['CONFLICT'],
    async handler({ services, who, params, body }) {
      await reprocessStream(services, who, { stream_id: params.id, ...body });
      return { accepted: true };
    },
  }),
];
