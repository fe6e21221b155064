import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import { listLimit, timestamp, trimmedText, uuid } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { conversationShape, revisionShape } from '../../src/features/insights/library/insight_shapes.js';
import {
  deleteConversation,
  listConversationRevisions,
  listConversations,
  readConversation,
  renameConversation,
} from '../../src/features/insights/reading/conversations.js';
import { selectedPipeline } from '../../src/features/transcripts/pipeline_access.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/** Conversations, into which recordings are divided. Rule K-008; docs/choices.md, "Insights". */

const LAYER = 'insights.access' as const;
const READS = ['debug:read'] as const;
const WRITES = ['debug:write'] as const;

export const CONVERSATION_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/conversations',
    summary: 'Conversations, the newest change first.',
    notes:
      "The account's own, or with workspace_id those of all who record there. A page may be short where few pass; the list is at its end when `cursor` is null.",
    credential: 'account',
    permission: READS,
    layer: LAYER,
    developer: true,
    query: z.object({
      limit: listLimit,
      cursor: listCursor,
      workspace_id: uuid.optional().describe('Only those of recordings in this workspace, whoever recorded them.'),
      source_id: uuid.optional().describe('Only those that recordings of this source have a part in.'),
      session_id: uuid.optional().describe('Only those of this recorder session.'),
      from: timestamp.optional().describe('Only those that were not over before this time.'),
      to: timestamp.optional().describe('Only those that began by then.'),
      pipeline_id: selectedPipeline,
    }),
    answer: pageShape(conversationShape),
    refusals: ['NOT_FOUND'],
    handler: ({ services, who, query }) => listConversations(services, who, query),
  }),

  accountRoute({
    method: 'GET',
    path: '/conversations/:id',
    params: { id: PARAMETERS.conversation },
    summary: 'A conversation.',
    credential: 'account',
    permission: READS,
    layer: LAYER,
    developer: true,
    answer: conversationShape,
    refusals: ['CONTENT_EXPIRED'],
    handler: ({ services, who, params }) => readConversation(services, who, params.id),
  }),

  accountRoute({
    method: 'GET',
    path: '/conversations/:id/revisions',
    params: { id: PARAMETERS.conversation },
    summary: 'What a conversation was before it changed, the newest first.',
    credential: 'account',
    permission: READS,
    layer: LAYER,
    developer: true,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(revisionShape(conversationShape)),
    refusals: ['CONTENT_EXPIRED'],
    handler: ({ services, who, params, query }) =>
      listConversationRevisions(services, who, { id: params.id, ...query }),
  }),

  accountRoute({
    method: 'PATCH',
    path: '/conversations/:id',
    params: { id: PARAMETERS.conversation },
    summary: 'Gives a conversation another title.',
    notes: 'No pipeline changes it any more.',
    credential: 'account',
    permission: WRITES,
    layer: LAYER,
    developer: true,
    body: z.object({ title: trimmedText(LIMITS.conversation_title_chars_max).describe('What it was about.') }),
    answer: conversationShape,
    refusals: ['CONTENT_EXPIRED'],
    handler: ({ services, who, params, body }) => renameConversation(services, who, { id: params.id, ...body }),
  }),

  accountRoute({
    method: 'DELETE',
    path: '/conversations/:id',
    params: { id: PARAMETERS.conversation },
    summary: 'Deletes a conversation.',
    notes:
      'No later run brings it back. With insights:write alone it must come of a recorder session that the account hosted; debug:write needs developer access.',
    credential: 'account',
    permission: ['debug:write', 'insights:write'],
    layer: LAYER,
    status: 204,
    refusals: ['CONTENT_EXPIRED'],
    handler: ({ services, who, params }) => deleteConversation(services, who, params.id),
  }),
];
