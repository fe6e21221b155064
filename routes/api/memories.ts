import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import { listLimit, trimmedLines, uuid } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { MEMORY_KINDS, memoryShape, revisionShape } from '../../src/features/insights/library/insight_shapes.js';
import {
  createMemory,
  deleteMemory,
  editMemory,
  listMemories,
  listMemoryRevisions,
  readMemory,
} from '../../src/features/insights/reading/memories.js';
import { selectedPipeline } from '../../src/features/transcripts/pipeline_access.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/** Memories: facts about people, from their own words. Rule K-007; docs/choices.md, "Insights". */

const LAYER = 'insights.access' as const;
const READS = ['debug:read'] as const;
const WRITES = ['debug:write'] as const;
const text = trimmedLines(LIMITS.insight_text_chars_max).describe('What is known.');
const kind = z.enum(MEMORY_KINDS).describe('Of which sort it is.');

export const MEMORY_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/memories',
    summary: 'Memories, the newest change first.',
    notes:
      "The account's own, or with workspace_id those of all who record there. A page may be short where few pass; the list is at its end when `cursor` is null.",
    credential: 'account',
    permission: READS,
    layer: LAYER,
    developer: true,
    query: z.object({
      limit: listLimit,
      cursor: listCursor,
      kind: z.enum(MEMORY_KINDS).optional().describe('Only those of this sort.'),
      contact_id: uuid.optional().describe('Only those about this contact.'),
      state: z.enum(['active', 'superseded']).optional().describe('Only those that stand so.'),
      workspace_id: uuid.optional().describe('Only those of recordings in this workspace, whoever recorded them.'),
      pipeline_id: selectedPipeline,
    }),
    answer: pageShape(memoryShape),
    refusals: ['NOT_FOUND'],
    handler: ({ services, who, query }) => listMemories(services, who, query),
  }),

  accountRoute({
    method: 'POST',
    path: '/memories',
    summary: 'Makes a memory, in the private workspace.',
    notes: 'No pipeline changes it.',
    credential: 'account',
    permission: WRITES,
    layer: LAYER,
    developer: true,
    status: 201,
    body: z.object({ text, kind }),
    answer: memoryShape,
    handler: ({ services, who, body }) => createMemory(services, who, body),
  }),

  accountRoute({
    method: 'GET',
    path: '/memories/:id',
    params: { id: PARAMETERS.memory },
    summary: 'A memory.',
    credential: 'account',
    permission: READS,
    layer: LAYER,
    developer: true,
    answer: memoryShape,
    refusals: ['CONTENT_EXPIRED'],
    handler: ({ services, who, params }) => readMemory(services, who, params.id),
  }),

  accountRoute({
    method: 'GET',
    path: '/memories/:id/revisions',
    params: { id: PARAMETERS.memory },
    summary: 'What a memory was before it changed, the newest first.',
    credential: 'account',
    permission: READS,
    layer: LAYER,
    developer: true,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(revisionShape(memoryShape)),
    refusals: ['CONTENT_EXPIRED'],
    handler: ({ services, who, params, query }) => listMemoryRevisions(services, who, { id: params.id, ...query }),
  }),

  accountRoute({
    method: 'PATCH',
    path: '/memories/:id',
    params: { id: PARAMETERS.memory },
    summary: 'Says it in other words, or of another sort.',
    notes: 'No pipeline changes it any more.',
    credential: 'account',
    permission: WRITES,
    layer: LAYER,
    developer: true,
    body: z.object({ text: text.optional(), kind: kind.optional() }),
    answer: memoryShape,
    refusals: ['CONTENT_EXPIRED'],
    handler: ({ services, who, params, body }) => editMemory(services, who, { id: params.id, ...body }),
  }),

  accountRoute({
    method: 'DELETE',
    path: '/memories/:id',
    params: { id: PARAMETERS.memory },
    summary: 'Deletes a memory.',
    notes:
      'No later run brings it back. With insights:write alone it must come of a recorder session that the account hosted; debug:write needs developer access.',
    credential: 'account',
    permission: ['debug:write', 'insights:write'],
    layer: LAYER,
    status: 204,
    refusals: ['CONTENT_EXPIRED'],
    handler: ({ services, who, params }) => deleteMemory(services, who, params.id),
  }),
];
