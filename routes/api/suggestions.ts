import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import { calendarDay, listLimit, timestamp, trimmedLines, uuid, whole } from '../../src/access/request_schemas.js';
import { id, no_cursor, pageShape } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import {
  feedbackShape,
  RATINGS,
  revisionShape,
  SUGGESTION_KINDS,
  SUGGESTION_STATUSES,
  suggestionShape,
  VERDICTS,
} from '../../src/features/insights/library/insight_shapes.js';
import { createSuggestion } from '../../src/features/insights/reading/new_suggestion.js';
import {
  deleteSuggestion,
  editSuggestion,
  giveFeedback,
  groupSuggestions,
  listFeedback,
  listSuggestionRevisions,
  listSuggestions,
  readSuggestion,
  reviewSuggestion,
  separateSuggestions,
} from '../../src/features/insights/reading/suggestions.js';
import { selectedPipeline } from '../../src/features/transcripts/pipeline_access.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/** Suggestions: what recordings give somebody to do or to know. Rule K-010; docs/choices.md, "Insights". */

const READS = ['insights:read'] as const;
const WRITES = ['insights:write'] as const;

/** The end of the longest timeline that turns lie on. */
const AT_MS_MAX = LIMITS.transcript_page_ms * LIMITS.transcript_pages_max;

const state_version = whole({ min: 1 }).describe('The one that was read; where there is another, 409 names that.');
const contact = uuid.nullable().optional();
const text = trimmedLines(LIMITS.insight_text_chars_max).describe('What is to be done, or known.');
const kind = z.enum(SUGGESTION_KINDS, `must be ${SUGGESTION_KINDS.join(', ')}`).describe('Of which sort it is.');
const due_at = timestamp.nullable().optional();
const due_date = calendarDay
  .nullable()
  .optional()
  .describe(
    "On which day it is due, at no time of it; null for none. `due_at` is its noon then, by the profile's zone or the clocks where it was said.",
  );
const roles = z
  .object({
    owner_contact_id: contact.describe('Who is to do it; null for nobody.'),
    requester_contact_id: contact.describe('Who asked for it; null for nobody.'),
  })
  .optional();
const suggestions = (min: number) =>
  z
    .array(uuid)
    .min(min, `must be ${min} to ${LIMITS.group_members_max} suggestions`)
    .max(LIMITS.group_members_max, `must be ${min} to ${LIMITS.group_members_max} suggestions`);

export const SUGGESTION_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/suggestions',
    summary: 'Suggestions, the newest change first.',
    notes:
      "The account's own, or with workspace_id those of all who record there. A page may be short where few pass; the list is at its end when `cursor` is null.",
    credential: 'account',
    permission: READS,
    query: z.object({
      limit: listLimit,
      cursor: listCursor,
      status: z.enum(SUGGESTION_STATUSES).optional().describe('Only those that stand so.'),
      group_id: uuid.optional().describe('Only those of this group.'),
      workspace_id: uuid.optional().describe('Only those of recordings in this workspace, whoever recorded them.'),
      session_id: uuid.optional().describe('Only those of this recorder session.'),
      contact_id: uuid.optional().describe('Only those that this contact is to do, or has asked for.'),
      owner: z
        .union([z.literal('me'), uuid], 'must be the id of a contact, or me')
        .meta({ type: 'string', anyOf: undefined })
        .optional()
        .describe("Only those that this contact is to do; me: the account's own."),
      kind: z.enum(SUGGESTION_KINDS).optional().describe('Only those of this sort.'),
      stream_id: uuid.optional().describe('Only those that rest on what was said in this recording.'),
      due_before: timestamp.optional().describe('Only those that are due before this time.'),
      said_from: timestamp.optional().describe('Only those of which the first was said at this time or later.'),
      said_to: timestamp.optional().describe('Only those of which the first was said before this time.'),
      pipeline_id: selectedPipeline,
    }),
    answer: pageShape(suggestionShape),
    refusals: ['NOT_FOUND'],
    handler: ({ services, who, query }) => listSuggestions(services, who, query),
  }),

  accountRoute({
    method: 'POST',
    path: '/suggestions',
    summary: 'Adds a suggestion by hand.',
    notes: `No run changes or withdraws it. It belongs to the recording's workspace, or to the private one. An account adds ${LIMITS.suggestions_by_hand_max.toLocaleString('en')} in one workspace: 409 then. The same \`ref\` again gets the same suggestion; with other content 409.`,
    credential: 'account',
    permission: WRITES,
    status: 201,
    body: z.object({
      ref: uuid.optional().describe('Your own name for it, so that a request that is sent again adds nothing.'),
      text,
      kind: kind.default('task'),
      due_at: due_at.describe('When it is due; null for no time.'),
      due_date,
      roles: roles.describe('Whose matter it is.'),
      stream_id: uuid.optional().describe('The recording of yours that it rests on.'),
      at_ms: whole({ min: 0, max: AT_MS_MAX })
        .optional()
        .describe("Where on the recording's timeline, in ms; its beginning where absent."),
    }),
    answer: suggestionShape,
    refusals: ['CONFLICT', 'NOT_FOUND'],
    handler: ({ services, who, body }) => createSuggestion(services, who, body),
  }),

  accountRoute({
    method: 'POST',
    path: '/suggestions/group',
    summary: 'Puts suggestions together.',
    notes: 'In a new group where none is named. All of them belong to one workspace.',
    credential: 'account',
    permission: WRITES,
    status: 200,
    body: z.object({
      suggestion_ids: suggestions(2).describe('Which ones.'),
      group_id: uuid.optional().describe('The group that they join; a new one when absent.'),
    }),
    example: {
      suggestion_ids: ['0198f3a2-5c1e-7b60-8d3f-2a4b80000101', '0198f3a2-5c1e-7b60-8d3f-2a4b80000201'],
    },
    answer: z.strictObject({
      group_id: id.describe('Their group.'),
      items: z.array(suggestionShape),
      cursor: no_cursor,
    }),
    refusals: ['NOT_FOUND', 'CONFLICT', 'CONTENT_EXPIRED'],
    async handler({ services, who, body }) {
      const grouped = await groupSuggestions(services, who, body);
      return { ...grouped, cursor: null };
    },
  }),

  accountRoute({
    method: 'POST',
    path: '/suggestions/separate',
    summary: 'Takes suggestions out of their groups.',
    credential: 'account',
    permission: WRITES,
    status: 200,
    body: z.object({ suggestion_ids: suggestions(1).describe('Which ones; all of one workspace.') }),
    answer: z.strictObject({ items: z.array(suggestionShape), cursor: no_cursor }),
    refusals: ['NOT_FOUND', 'CONFLICT', 'CONTENT_EXPIRED'],
    async handler({ services, who, body }) {
      const items = await separateSuggestions(services, who, body.suggestion_ids);
      return { items, cursor: null };
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/suggestions/:id',
    params: { id: PARAMETERS.suggestion },
    summary: 'A suggestion.',
    credential: 'account',
    permission: READS,
    answer: suggestionShape,
    refusals: ['CONTENT_EXPIRED'],
    handler: ({ services, who, params }) => readSuggestion(services, who, params.id),
  }),

  accountRoute({
    method: 'GET',
    path: '/suggestions/:id/revisions',
    params: { id: PARAMETERS.suggestion },
    summary: 'What a suggestion was before it changed, the newest first.',
    credential: 'account',
    permission: READS,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(revisionShape(suggestionShape)),
    refusals: ['CONTENT_EXPIRED'],
    handler: ({ services, who, params, query }) => listSuggestionRevisions(services, who, { id: params.id, ...query }),
  }),

  accountRoute({
    method: 'PATCH',
    path: '/suggestions/:id',
    params: { id: PARAMETERS.suggestion },
    summary: 'Changes a suggestion.',
    notes:
      'What a person sets is in `protected_fields` from then on. Nobody can lead one from completed, dismissed or accepted to where it is not allowed to go: 409.',
    credential: 'account',
    permission: WRITES,
    body: z.object({
      state_version,
      text: text.optional(),
      kind: kind.optional(),
      due_at: due_at.describe('When it is due; null for no time. No `due_date` is left.'),
      due_date,
      roles: roles.describe('What is absent stays as it is.'),
      status: z.enum(SUGGESTION_STATUSES).optional().describe('Nobody but a pipeline withdraws one.'),
    }),
    answer: suggestionShape,
    refusals: ['CONFLICT', 'CONTENT_EXPIRED'],
    handler: ({ services, who, params, body }) => editSuggestion(services, who, { id: params.id, ...body }),
  }),

  accountRoute({
    method: 'POST',
    path: '/suggestions/:id/review',
    params: { id: PARAMETERS.suggestion },
    summary: 'Says whether what was said bears a suggestion.',
    credential: 'account',
    permission: WRITES,
    status: 200,
    body: z.object({
      state_version,
      verdict: z.enum(VERDICTS).describe('Whether what was said bears it.'),
      note: trimmedLines(LIMITS.insight_text_chars_max).nullable().default(null).describe('Why.'),
    }),
    answer: suggestionShape,
    refusals: ['CONFLICT', 'CONTENT_EXPIRED'],
    handler: ({ services, who, params, body }) => reviewSuggestion(services, who, { id: params.id, ...body }),
  }),

  accountRoute({
    method: 'POST',
    path: '/suggestions/:id/feedback',
    params: { id: PARAMETERS.suggestion },
    summary: 'Says how good a suggestion is.',
    notes: `No event tells of it. The last ${LIMITS.feedback_kept_max} are kept.`,
    credential: 'account',
    permission: WRITES,
    status: 201,
    body: z.object({
      rating: z.enum(RATINGS).describe('What a person thinks of it.'),
      comment: trimmedLines(LIMITS.insight_text_chars_max).nullable().default(null).describe('Why.'),
    }),
    answer: feedbackShape,
    refusals: ['CONTENT_EXPIRED'],
    handler: ({ services, who, params, body }) => giveFeedback(services, who, { id: params.id, ...body }),
  }),

  accountRoute({
    method: 'GET',
    path: '/suggestions/:id/feedback',
    params: { id: PARAMETERS.suggestion },
    summary: 'What people have said of a suggestion, the newest first.',
    notes: `The last ${LIMITS.feedback_kept_max} are kept.`,
    credential: 'account',
    permission: READS,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(feedbackShape),
    refusals: ['CONTENT_EXPIRED'],
    handler: ({ services, who, params, query }) => listFeedback(services, who, { id: params.id, ...query }),
  }),

  accountRoute({
    method: 'DELETE',
    path: '/suggestions/:id',
    params: { id: PARAMETERS.suggestion },
    summary: 'Deletes a suggestion.',
    notes: 'No later run brings it back.',
    credential: 'account',
    permission: WRITES,
    status: 204,
    refusals: ['CONTENT_EXPIRED'],
    handler: ({ services, who, params }) => deleteSuggestion(services, who, params.id),
  }),
];
