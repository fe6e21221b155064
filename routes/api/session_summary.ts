import { z } from 'zod';
import { LIMITS } from '../../src/domain/limits.js';
import { sessionSummary, sessionSummaryShape } from '../../src/features/insights/reading/session_summary.js';
import { selectedPipeline } from '../../src/features/transcripts/pipeline_access.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/** The summary of a recorder session, for its host. Rule K-009; docs/choices.md, "Insights". */

export const SESSION_SUMMARY_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/device-sessions/:id/summary',
    params: { id: PARAMETERS.recorder_session },
    summary: 'What came of a recorder session, for its host.',
    notes: `Of each list at most the newest ${LIMITS.session_items_max}. What people said is quoted for whoever may read turns.`,
    credential: 'account',
    permission: ['insights:read'],
    query: z.object({ pipeline_id: selectedPipeline }),
    answer: sessionSummaryShape,
    handler: ({ services, who, params, query }) => sessionSummary(services, who, { session_id: params.id, ...query }),
  }),
];
