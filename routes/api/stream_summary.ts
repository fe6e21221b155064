import { z } from 'zod';
import { trimmedText, uuid } from '../../src/access/request_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { editSummary, makeSummaryAgain } from '../../src/features/insights/context/edit_summary.js';
import { streamSummary, streamSummaryShape } from '../../src/features/insights/reading/stream_summary.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/** The summary of a recording, for its owner. Rules K-184 and K-350 to K-352; docs/choices.md, "Insights". */

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

  accountRoute({
    method: 'PATCH',
    path: '/audio/streams/:id/summary',
    params: { id: PARAMETERS.stream },
    summary: 'Replaces the sentences of a summary.',
    notes: 'No run changes them any more. A sentence that stays, or is reworded, keeps where it was said.',
    credential: 'account',
    all_of: ['turns:read', 'insights:read', 'insights:write'],
    body: z.object({
      conversation_id: uuid.optional().describe('Of which conversation; the longest of the recording when absent.'),
      sentences: z
        .array(trimmedText(LIMITS.insight_text_chars_max), 'must be a list of sentences')
        .max(LIMITS.edited_sentences_max, `must be at most ${LIMITS.edited_sentences_max}`)
        .nullable()
        .describe('All of them, in order; null has the summary made again.'),
    }),
    example: { sentences: ['We go with the tenth.'] },
    answer: streamSummaryShape,
    refusals: ['CONFLICT', 'CONTENT_EXPIRED', 'NOT_FOUND'],
    handler: ({ services, who, params, body }) => editSummary(services, who, { stream_id: params.id, ...body }),
  }),

  accountRoute({
    method: 'POST',
    path: '/audio/streams/:id/summary/runs',
    params: { id: PARAMETERS.stream },
    summary: 'Has summary and suggestions made again.',
    notes: 'What a person wrote or changed stays. The present ones stay until they are replaced.',
    credential: 'account',
    all_of: ['turns:read', 'insights:read', 'insights:write'],
    status: 202,
    answer: z.strictObject({ accepted: z.literal(true).describe('It will be done.') }),
    refusals: ['CONFLICT'],
    async handler({ services, who, params }) {
      await makeSummaryAgain(services, who, params.id);
      return { accepted: true };
    },
  }),
];
