import { LIMITS } from '../../src/domain/limits.js';
import { streamSummary, streamSummaryShape } from '../../src/features/insights/reading/stream_summary.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/** The summary of a recording, for its owner. Rule K-184; docs/choices.md, "Insights". */

export const STREAM_SUMMARY_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/audio/streams/:id/summary',
    params: { id: PARAMETERS.stream },
    summary: 'What came of a recording, for its owner.',
    notes: `Title, summary, topics, decisions, tasks and open questions of what the default pipeline made, without what was dismissed or withdrawn. A recording may hold several conversations: items name theirs. At most the first ${LIMITS.stream_conversations_told_max} conversations, and ${LIMITS.items_read_max} items of them.`,
    credential: 'account',
    all_of: ['turns:read', 'insights:read'],
    answer: streamSummaryShape,
    handler: ({ services, who, params }) => streamSummary(services, who, params.id),
  }),
];
