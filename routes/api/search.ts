import { z } from 'zod';
import { listLimit, timestamp, uuid, whole } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { recall } from '../../src/features/search/questions/recall_calls.js';
import {
  changeRecallSettings,
  recallSettings,
  recallSettingsShape,
} from '../../src/features/search/questions/recall_settings.js';
import { recallAnswerShape } from '../../src/features/search/questions/recall_shapes.js';
import { relatedRecordings, relatedShape } from '../../src/features/search/questions/related/related_recordings.js';
import { SEARCH_KINDS, search, searchHitShape } from '../../src/features/search/questions/search_calls.js';
import { selectedPipeline } from '../../src/features/transcripts/pipeline_access.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/** Finding what was said. Rules K-015, C-103 and C-107; docs/choices.md, "Search and recall". */

const KINDS_RULE = `must be names of ${SEARCH_KINDS.join(', ')}, separated by commas`;
const CHARS_RULE = `must have at most ${LIMITS.search_query_chars_max} characters`;

const QUESTION_RULE = `must have at most ${LIMITS.recall_query_chars_max} characters`;
const CONTACTS_RULE = `must be 1 to ${LIMITS.recall_contacts_max} contacts`;

const kinds = z
  .string()
  .default('turn,suggestion,note')
  .transform((text) => [...new Set(text.split(','))])
  .pipe(z.array(z.enum(SEARCH_KINDS, KINDS_RULE)))
  .meta({ type: 'string', default: 'turn,suggestion,note' })
  .describe(
    'What to search, separated by commas: turn, suggestion, note, conversation, memory. The last two are for developers.',
  );

export const SEARCH_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/search',
    summary: 'Finds what was said, and what was made of it.',
    notes:
      'All words must stand in a turn, or in the turn before or after it. `"words in quotes"` stand there as they are, and `-word` must not. A page may be short where few of many pass; the list is at its end when `cursor` is null.',
    credential: 'account',
    recall: true,
    query: z.object({
      q: z
        .string('must be what to look for')
        .refine((text) => [...text].length <= LIMITS.search_query_chars_max, CHARS_RULE)
        .meta({ minLength: 1, maxLength: LIMITS.search_query_chars_max })
        .describe(`Words, "phrases" and -exclusions, ${LIMITS.search_words_max} words at most.`),
      kind: kinds,
      from: timestamp.optional().describe('Only what began at this time or later.'),
      to: timestamp.optional().describe('Only what began by then.'),
      source_id: uuid.optional().describe('Only turns and notes of recordings of this source.'),
      workspace_id: uuid.optional().describe('Only in this workspace, whoever recorded there.'),
      contact_id: uuid.optional().describe('Only what this contact said or is named in.'),
      stream_id: uuid.optional().describe('Only turns and notes of this recording.'),
      session_id: uuid.optional().describe('Only of this recorder session.'),
      sort: z
        .enum(['relevance', 'recent'])
        .default('relevance')
        .describe('What comes first: what fits best, or the newest.'),
      fuzzy: z
        .enum(['0', '1'], 'must be 0 or 1')
        .default('0')
        .transform((text) => text === '1')
        .meta({ type: 'string', enum: ['0', '1'], default: '0' })
        .describe('1: also words that sound alike, of five letters and more.'),
      limit: listLimit,
      cursor: z.string().max(1_000).optional().describe('Where to continue: the cursor of the page before.'),
      pipeline_id: selectedPipeline,
    }),
    answer: pageShape(searchHitShape),
    refusals: ['NOT_FOUND'],
    handler: ({ services, who, query: { kind, ...query } }) => search(services, who, { ...query, kinds: kind }),
  }),

  accountRoute({
    method: 'POST',
    path: '/recall',
    summary: 'Finds what bears an answer to a question.',
    notes:
      'Passages of recordings and suggestions, for an assistant to read. Where the query says when something was said, as in "what did we say last week", that binds what is found. With `answer` a language model answers, if this server has one.',
    credential: 'account',
    recall: true,
    status: 200,
    body: z.object({
      query: z
        .string('must be a question')
        .refine((text) => [...text].length <= LIMITS.recall_query_chars_max && text.isWellFormed(), QUESTION_RULE)
        .meta({ minLength: 1, maxLength: LIMITS.recall_query_chars_max })
        .describe('A question, or words.'),
      from: timestamp.optional().describe('Only what began at this time or later.'),
      to: timestamp.optional().describe('Only what began by then.'),
      workspace_id: uuid.optional().describe('Only in this workspace, whoever recorded there.'),
      stream_id: uuid.optional().describe('Only what was said in this recording; no suggestions then.'),
      contact_ids: z
        .array(uuid)
        .min(1, CONTACTS_RULE)
        .max(LIMITS.recall_contacts_max, CONTACTS_RULE)
        .optional()
        .describe('Only what one of these contacts said or is named in.'),
      limit: whole({ min: 1, max: LIMITS.recall_limit_max })
        .default(LIMITS.recall_limit_default)
        .describe('How many items at most.'),
      context_turns: whole({ min: 0, max: LIMITS.recall_context_max })
        .default(LIMITS.recall_context_default)
        .describe('How many turns before and after each passage.'),
      time_zone: z
        .string()
        .max(100)
        .default('UTC')
        .describe('Whose calendar "yesterday" is of, such as Europe/Vienna.'),
      answer: z
        .boolean()
        .default(false)
        .describe('true: also a short answer, where this server has a language model (INSIGHTS_URL).'),
      pipeline_id: selectedPipeline,
    }),
    example: { query: 'What did I promise Anna last week?', time_zone: 'Europe/Vienna' },
    answer: recallAnswerShape,
    refusals: ['NOT_FOUND'],
    handler: ({ services, who, body }) => recall(services, who, body),
  }),

  accountRoute({
    method: 'GET',
    path: '/audio/streams/:id/related',
    params: { id: PARAMETERS.stream },
    summary: 'Recordings that are about the same.',
    notes: 'By words that both have and few other recordings have. Those in workspaces of the account are among them.',
    credential: 'account',
    recall: true,
    answer: relatedShape,
    handler: ({ services, who, params }) => relatedRecordings(services, who, params.id),
  }),

  accountRoute({
    method: 'GET',
    path: '/recall/settings',
    summary: 'How recall answers this account.',
    credential: 'account',
    permission: ['account:manage'],
    answer: recallSettingsShape,
    handler: async ({ who }) => recallSettings(who),
  }),

  accountRoute({
    method: 'PATCH',
    path: '/recall/settings',
    summary: 'Changes how recall answers this account.',
    notes: 'Without recall by meaning the vectors of what was said are removed, and recall goes by words.',
    credential: 'account',
    permission: ['account:manage'],
    body: z.object({
      by_meaning: z.boolean().describe('Whether recall also finds what means the same in other words.'),
    }),
    answer: recallSettingsShape,
    handler: ({ services, who, body }) => changeRecallSettings(services, who, body),
  }),
];
