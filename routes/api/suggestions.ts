import { z } from 'zod';
import type { NumberedFeedback } from '../../actors/insights/library_reading.js';
import {
  RATINGS,
  type Roles,
  SUGGESTION_STATUSES,
  type Suggestion,
  VERDICTS,
} from '../../actors/insights/library_state.js';
import { listCursor, type Position, pageOfAll } from '../../src/access/cursors.js';
import type { Principal } from '../../src/access/principal.js';
import { listLimit, timestamp, trimmedLines, uuid, whole } from '../../src/access/request_schemas.js';
import { id, moment, no_cursor, pageShape } from '../../src/access/response_schemas.js';
import { insightId, placeOfInsight } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { Refused, refuse } from '../../src/domain/refusals.js';
import {
  type FoundItem,
  librariesOf,
  NO_ITEM,
  readableItem,
  writableItem,
} from '../../src/features/insights/insight_access.js';
import { listItems } from '../../src/features/insights/insight_lists.js';
import { InsightReading } from '../../src/features/insights/insight_reading.js';
import { itemRevisions } from '../../src/features/insights/insight_revisions.js';
import { revisionShape, type SuggestionView, suggestionShape } from '../../src/features/insights/insight_shapes.js';
import { stemsOfPerson } from '../../src/features/insights/stems_of_person.js';
import { selectedPipeline, selectPipeline } from '../../src/features/transcripts/pipeline_access.js';
import type { Services } from '../services.js';

/** What recordings give somebody to do or to know. Rule K-010; docs/choices.md, "Insights". */

const READS = ['insights:read'] as const;
const WRITES = ['insights:write'] as const;
const NO_CONTACT = refuse('NOT_FOUND', 'There is no such contact.');
const NO_GROUP = refuse('NOT_FOUND', 'There is no such group of suggestions.');
const APART = refuse('CONFLICT', 'Suggestions of two workspaces can not be grouped.');

const state_version = whole({ min: 1 }).describe('The one that was read; where there is another, 409 names that.');
const contact = uuid.nullable().optional();
const suggestions = (min: number) =>
  z
    .array(uuid)
    .min(min, `must be ${min} to ${LIMITS.group_members_max} suggestions`)
    .max(LIMITS.group_members_max, `must be ${min} to ${LIMITS.group_members_max} suggestions`);

const feedbackShape = z
  .strictObject({
    id: z.string().describe('Tells it from others of the suggestion; no route takes it.'),
    rating: z.enum(RATINGS).describe('What the person thinks of it.'),
    comment: z.string().nullable().describe('What the person wrote beside; null for nothing.'),
    created_at: moment,
  })
  .meta({ id: 'Feedback' });

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
      due_before: timestamp.optional().describe('Only those that are due before this time.'),
      pipeline_id: selectedPipeline,
    }),
    answer: pageShape(suggestionShape),
    refusals: ['NOT_FOUND'],
    handler: ({ services, who, query }) => listSuggestions(services, who, query),
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
    async handler({ services, who, body: { suggestion_ids, group_id } }) {
      const found = await together(services, who, suggestion_ids);
      const at = group_id === undefined ? null : placeOfInsight(group_id);
      if (group_id !== undefined && (at?.kind !== 'group' || at.library_id !== found.place.library_id))
        throw new Refused(NO_GROUP);
      const { place, numbers } = found;
      const library = services.actors.library(place.library_id);
      const grouped = await library.group({ numbers, group: at?.number ?? null }, who.fences);
      const items = await viewsOf(new InsightReading(services, who), withPlace(place, grouped.items));
      return { group_id: insightId(place.library_id, 'group', grouped.group), items, cursor: null };
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
      const found = await together(services, who, body.suggestion_ids);
      const { place, numbers } = found;
      const separated = await services.actors.library(place.library_id).separate({ numbers }, who.fences);
      const items = await viewsOf(new InsightReading(services, who), withPlace(place, separated.items));
      return { items, cursor: null };
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/suggestions/:id',
    summary: 'A suggestion.',
    credential: 'account',
    permission: READS,
    answer: suggestionShape,
    refusals: ['CONTENT_EXPIRED'],
    handler: ({ services, who, params }) => readSuggestion(services, who, params.id as string),
  }),

  accountRoute({
    method: 'GET',
    path: '/suggestions/:id/revisions',
    summary: 'What a suggestion was before it changed, the newest first.',
    credential: 'account',
    permission: READS,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(revisionShape(suggestionShape)),
    refusals: ['CONTENT_EXPIRED'],
    async handler({ services, who, params, query }) {
      const found = await readableItem(services, who, { kind: 'suggestion', id: params.id as string });
      const reading = new InsightReading(services, who);
      return itemRevisions(services, { kind: 'suggestion', found, reading, ...query }, (was) =>
        reading.suggestion(was),
      );
    },
  }),

  accountRoute({
    method: 'PATCH',
    path: '/suggestions/:id',
    summary: 'Changes a suggestion.',
    notes:
      'What a person sets is in `protected_fields` from then on. Nobody can lead one from completed, dismissed or accepted to where it is not allowed to go: 409.',
    credential: 'account',
    permission: WRITES,
    body: z.object({
      state_version,
      text: trimmedLines(LIMITS.insight_text_chars_max).optional().describe('What is to be done, or known.'),
      due_at: timestamp.nullable().optional().describe('When it is due; null for no time.'),
      roles: z
        .object({
          owner_contact_id: contact.describe('Who is to do it; null for nobody.'),
          requester_contact_id: contact.describe('Who asked for it; null for nobody.'),
        })
        .optional()
        .describe('What is absent stays as it is.'),
      status: z.enum(SUGGESTION_STATUSES).optional().describe('Nobody but a pipeline withdraws one.'),
    }),
    answer: suggestionShape,
    refusals: ['CONFLICT', 'CONTENT_EXPIRED'],
    handler: ({ services, who, params, body }) => editSuggestion(services, who, { id: params.id as string, ...body }),
  }),

  accountRoute({
    method: 'POST',
    path: '/suggestions/:id/review',
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
    async handler({ services, who, params, body }) {
      const reading = new InsightReading(services, who);
      return changed(services, who, { id: params.id as string, reading }, (library, number) =>
        library.review({ number, ...body }, who.fences),
      );
    },
  }),

  accountRoute({
    method: 'POST',
    path: '/suggestions/:id/feedback',
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
    handler: ({ services, who, params, body }) => giveFeedback(services, who, { id: params.id as string, ...body }),
  }),

  accountRoute({
    method: 'GET',
    path: '/suggestions/:id/feedback',
    summary: 'What people have said of a suggestion, the newest first.',
    notes: `The last ${LIMITS.feedback_kept_max} are kept.`,
    credential: 'account',
    permission: READS,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(feedbackShape),
    refusals: ['CONTENT_EXPIRED'],
    async handler({ services, who, params, query }) {
      const id = params.id as string;
      const found = await readableItem(services, who, { kind: 'suggestion', id });
      const given = await services.actors.library(found.place.library_id).feedback_given({ number: found.number });
      const page = pageOfAll(given.feedback, { ...query, idOf: ({ number }) => String(number) });
      return { items: page.rows.map((one) => feedbackView(id, one)), cursor: page.cursor };
    },
  }),

  accountRoute({
    method: 'DELETE',
    path: '/suggestions/:id',
    summary: 'Deletes a suggestion.',
    notes: 'No later run brings it back.',
    credential: 'account',
    permission: WRITES,
    status: 204,
    refusals: ['CONTENT_EXPIRED'],
    async handler({ services, who, params }) {
      const found = await writableItem(services, who, { kind: 'suggestion', id: params.id as string });
      const { place, number } = found;
      return services.actors.library(place.library_id).delete({ kind: 'suggestion', number }, who.fences);
    },
  }),
];

/** A page of suggestions, the newest change first. */
export async function listSuggestions(
  services: Services,
  who: Principal,
  { limit, cursor, ...query }: Omit<Asked, 'reading'> & { limit: number; cursor?: Position | undefined },
): Promise<{ items: SuggestionView[]; cursor: string | null }> {
  const reading = new InsightReading(services, who);
  const asked = await askedOf(services, who, { ...query, reading });
  const page = await listItems(services, { kind: 'suggestion', limit, cursor, reading, ...asked });
  const items = await viewsOf(reading, page.rows);
  return { items, cursor: page.cursor };
}

export async function readSuggestion(services: Services, who: Principal, id: string): Promise<SuggestionView> {
  const found = await readableItem(services, who, { kind: 'suggestion', id });
  return new InsightReading(services, who).suggestion(found);
}

type Edit = {
  id: string;
  state_version: number;
  text?: string | undefined;
  due_at?: string | null | undefined;
  roles?: { [Name in keyof Roles]?: string | null | undefined } | undefined;
  status?: Suggestion['status'] | undefined;
};

export async function editSuggestion(
  services: Services,
  who: Principal,
  { id, state_version, text, due_at, roles: asked, status }: Edit,
): Promise<SuggestionView> {
  const reading = new InsightReading(services, who);
  const roles = await rolesOf(reading, who, asked);
  const stems = await stemsOfPerson(services, who, text);
  const due_at_ms = due_at == null ? due_at : Date.parse(due_at);
  return changed(services, who, { id, reading }, (library, number) =>
    library.edit_suggestion({ number, state_version, text, stems, due_at_ms, roles, status }, who.fences),
  );
}

export async function giveFeedback(
  services: Services,
  who: Principal,
  { id, rating, comment }: { id: string; rating: (typeof RATINGS)[number]; comment: string | null },
) {
  const found = await writableItem(services, who, { kind: 'suggestion', id });
  const library = services.actors.library(found.place.library_id);
  const given = await library.feedback({ number: found.number, rating, comment }, who.fences);
  return feedbackView(id, { ...given, rating, comment });
}

function feedbackView(
  suggestion_id: string,
  { number, rating, comment, created_at_ms }: Pick<NumberedFeedback, 'number' | 'rating' | 'comment' | 'created_at_ms'>,
): z.infer<typeof feedbackShape> {
  return { id: `${suggestion_id}.${number}`, rating, comment, created_at: new Date(created_at_ms).toISOString() };
}

type Asked = {
  status?: Suggestion['status'] | undefined;
  group_id?: string | undefined;
  workspace_id?: string | undefined;
  session_id?: string | undefined;
  contact_id?: string | undefined;
  due_before?: string | undefined;
  pipeline_id?: string | undefined;
  reading: InsightReading;
};

/** Where a list looks, and what passes. */
async function askedOf(services: Services, who: Principal, asked: Asked) {
  const { status, group_id, session_id, contact_id, reading } = asked;
  const selected = await selectPipeline(services, who, asked.pipeline_id);
  const all = await librariesOf(services, who, asked.workspace_id);
  const contact = contact_id === undefined ? undefined : await reading.contact(who.account_id, contact_id);
  if (contact === null) throw new Refused(NO_CONTACT);
  const group = group_id === undefined ? undefined : placeOfInsight(group_id);
  const before_ms = asked.due_before === undefined ? Number.POSITIVE_INFINITY : Date.parse(asked.due_before);
  const is_due = (due_at_ms: number | null) =>
    asked.due_before === undefined || (due_at_ms !== null && due_at_ms < before_ms);
  // Nobody has contacts of others, nor sees what pipelines of theirs made beside the default one.
  const is_own = selected !== null || contact !== undefined;
  return {
    libraries: all.filter(
      ({ library_id, account_id }) =>
        (group === undefined || library_id === group?.library_id) && (!is_own || account_id === who.account_id),
    ),
    narrow: [status, group_id, session_id, contact_id, asked.due_before, asked.pipeline_id].some(
      (one) => one !== undefined,
    ),
    async passes({ place, item }: FoundItem<'suggestion'>): Promise<boolean> {
      if (item.pipeline_id !== selected) return false;
      if (status !== undefined && item.status !== status) return false;
      if (group !== undefined && (group?.kind !== 'group' || item.group !== group.number)) return false;
      if (session_id !== undefined && item.session_id !== session_id) return false;
      if (!is_due(item.due_at_ms)) return false;
      if (contact === undefined) return true;
      for (const held of [item.roles.owner_contact_id, item.roles.requester_contact_id]) {
        const shown = held === null ? null : await reading.contact(place.account_id, held);
        if (shown?.id === contact.id) return true;
      }
      return false;
    },
  };
}

/** Changes a suggestion of the caller's, and shows it. */
async function changed(
  services: Services,
  who: Principal,
  { id, reading }: { id: string; reading: InsightReading },
  ask: (library: ReturnType<Services['actors']['library']>, number: number) => Promise<{ item: Suggestion }>,
): Promise<SuggestionView> {
  const found = await writableItem(services, who, { kind: 'suggestion', id });
  const answer = await ask(services.actors.library(found.place.library_id), found.number);
  return reading.suggestion({ ...found, item: answer.item });
}

/** Contacts as they are today; one that is not the caller's does not exist. */
async function rolesOf(
  reading: InsightReading,
  { account_id }: Principal,
  roles: { [Name in keyof Roles]?: string | null | undefined } | undefined,
): Promise<Partial<Roles> | undefined> {
  if (roles === undefined) return undefined;
  const found: Partial<Roles> = {};
  for (const name of ['owner_contact_id', 'requester_contact_id'] as const) {
    const asked = roles[name];
    if (asked === undefined) continue;
    const contact = asked === null ? null : await reading.contact(account_id, asked);
    if (asked !== null && contact === null) throw new Refused(NO_CONTACT);
    found[name] = contact?.id ?? null;
  }
  return found;
}

/** Suggestions of the caller's that lie in one library, and their numbers there. */
async function together(services: Services, who: Principal, ids: string[]) {
  const found: FoundItem<'suggestion'>[] = [];
  for (const id of new Set(ids)) {
    const item = await writableItem(services, who, { kind: 'suggestion', id });
    found.push(item);
  }
  const [first] = found;
  if (first === undefined) throw new Refused(NO_ITEM.suggestion);
  if (found.some(({ place }) => place.library_id !== first.place.library_id)) throw new Refused(APART);
  return { place: first.place, numbers: found.map(({ number }) => number) };
}

function withPlace(
  place: FoundItem<'suggestion'>['place'],
  items: { number: number; item: Suggestion }[],
): FoundItem<'suggestion'>[] {
  return items.map((one) => ({ place, ...one }));
}

async function viewsOf(reading: InsightReading, rows: readonly FoundItem<'suggestion'>[]): Promise<SuggestionView[]> {
  const items: SuggestionView[] = [];
  for (const row of rows) {
    const view = await reading.suggestion(row);
    items.push(view);
  }
  return items;
}
