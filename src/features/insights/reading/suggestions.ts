import { saidAt } from '../../../../actors/insights/library_block.js';
import type { NumberedFeedback } from '../../../../actors/insights/library_queries.js';
import type { Suggestion } from '../../../../actors/insights/library_state.js';
import { type Page, type PageQuery, pageOfAll } from '../../../access/cursors.js';
import type { Principal } from '../../../access/principal.js';
import { insightId, placeOfInsight } from '../../../domain/ids.js';
import { Refused, refuse } from '../../../domain/refusals.js';
import type { EntityOf } from '../../../engine/runtime/actors.js';
import type { FeatureServices } from '../../services.js';
import { selectPipeline } from '../../transcripts/pipeline_access.js';
import type { FeedbackView, RevisionView, SuggestionView } from '../library/insight_shapes.js';
import { type FoundItem, librariesOf, NO_ITEM, readableItem, writableItem } from './insight_access.js';
import { listItems } from './insight_lists.js';
import { InsightReader, viewEach } from './insight_reader.js';
import { itemRevisions } from './insight_revisions.js';
import { dueOf, NO_CONTACT, type RolesEdit, requireOneDue, rolesOf } from './suggestion_fields.js';
import { userTextStems } from './user_text_stems.js';

/** Suggestions: tasks, reminders, decisions and questions from recordings. Rule K-010; docs/choices.md, "Insights". */

const KIND = 'suggestion';
const NO_GROUP = refuse('NOT_FOUND', 'There is no such group of suggestions.');
const NO_SPAN = refuse('BAD_REQUEST', 'said_to must lie behind said_from.', {
  details: [{ path: 'said_to', message: 'must lie behind said_from' }],
});
const APART = refuse('CONFLICT', 'Suggestions of two workspaces can not be grouped.');

/** `due_before` is ISO 8601. `contact_id`: the owner or requester. */
export type SuggestionsQuery = {
  status?: Suggestion['status'] | undefined;
  group_id?: string | undefined;
  workspace_id?: string | undefined;
  session_id?: string | undefined;
  contact_id?: string | undefined;
  due_before?: string | undefined;
  pipeline_id?: string | undefined;
  kind?: Suggestion['kind'] | undefined;
  /** The recording that it rests on. */
  stream_id?: string | undefined;
  /** The owner: a contact, or `me` for the account's own person. */
  owner?: string | undefined;
  /** When the first of it was said, in ISO 8601. */
  said_from?: string | undefined;
  said_to?: string | undefined;
};

/** A page of suggestions, the newest change first. */
export async function listSuggestions(
  services: Pick<FeatureServices, 'actors' | 'runtime' | 'store'>,
  who: Principal,
  { limit, cursor, ...query }: SuggestionsQuery & PageQuery,
): Promise<Page<SuggestionView>> {
  const reading = new InsightReader(services, who);
  const filter = await filterOf(services, who, query, reading);
  const page = await listItems(services, { kind: KIND, limit, cursor, reading, ...filter });
  const items = await viewEach(page.rows, (row) => reading.suggestion(row));
  return { items, cursor: page.cursor };
}

/** A suggestion. */
export async function readSuggestion(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  id: string,
): Promise<SuggestionView> {
  const found = await readableItem(services, who, { kind: KIND, id });
  return new InsightReader(services, who).suggestion(found);
}

/** Lists the revisions of a suggestion, the newest first. */
export async function listSuggestionRevisions(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  { id, ...page }: PageQuery & { id: string },
): Promise<Page<RevisionView<SuggestionView>>> {
  const found = await readableItem(services, who, { kind: KIND, id });
  const reading = new InsightReader(services, who);
  return itemRevisions(services, { kind: KIND, found, reading, ...page }, (was) => reading.suggestion(was));
}

/** Puts suggestions of one workspace into a group; into a new one without `group_id`. */
export async function groupSuggestions(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  { suggestion_ids, group_id }: { suggestion_ids: readonly string[]; group_id?: string | undefined },
): Promise<{ group_id: string; items: SuggestionView[] }> {
  const { place, numbers } = await inOneLibrary(services, who, suggestion_ids);
  const at = group_id === undefined ? null : placeOfInsight(group_id);
  if (group_id !== undefined && (at?.kind !== 'group' || at.library_id !== place.library_id))
    throw new Refused(NO_GROUP);
  const library = services.actors.library(place.library_id);
  const grouped = await library.group({ numbers, group: at?.number ?? null }, who.fences);
  const reading = new InsightReader(services, who);
  const items = await viewEach(grouped.items, (item) => reading.suggestion({ place, ...item }));
  return { group_id: insightId(place.library_id, 'group', grouped.group), items };
}

/** Takes suggestions of one workspace out of their groups. */
export async function separateSuggestions(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  suggestion_ids: readonly string[],
): Promise<SuggestionView[]> {
  const { place, numbers } = await inOneLibrary(services, who, suggestion_ids);
  const separated = await services.actors.library(place.library_id).separate({ numbers }, who.fences);
  const reading = new InsightReader(services, who);
  return viewEach(separated.items, (item) => reading.suggestion({ place, ...item }));
}

type SuggestionEdit = {
  id: string;
  state_version: number;
  kind?: Suggestion['kind'] | undefined;
  text?: string | undefined;
  due_at?: string | null | undefined;
  due_date?: string | null | undefined;
  roles?: RolesEdit | undefined;
  status?: Suggestion['status'] | undefined;
};

/** Changes the members that a request names. CONFLICT if `state_version` is not the present one. */
export async function editSuggestion(
  services: Pick<FeatureServices, 'actors' | 'keys' | 'runtime'>,
  who: Principal,
  { id, state_version, kind, text, due_at, due_date, roles: edited, status }: SuggestionEdit,
): Promise<SuggestionView> {
  const reading = new InsightReader(services, who);
  const roles = await rolesOf(reading, who, edited);
  const stems = await userTextStems(services, who, text);
  requireOneDue({ due_at, due_date });
  const found = await writableItem(services, who, { kind: KIND, id });
  const { number, item, place } = found;
  const clock = { account_id: place.account_id, stream_id: item.evidence[0]?.stream_id };
  const due = await dueOf(services, clock, { due_at, due_date });
  const edit = { number, state_version, kind, text, stems, ...due, roles, status };
  const answer = await services.actors.library(place.library_id).edit_suggestion(edit, who.fences);
  return reading.suggestion({ ...found, item: answer.item });
}

/** Records whether the speech supports a suggestion. CONFLICT if `state_version` is not the present one. */
export async function reviewSuggestion(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  {
    id,
    ...review
  }: Pick<NonNullable<Suggestion['review']>, 'verdict' | 'note'> & { id: string; state_version: number },
): Promise<SuggestionView> {
  const reading = new InsightReader(services, who);
  return changed(services, who, { id, reading }, (library, number) =>
    library.review({ number, ...review }, who.fences),
  );
}

/** Adds a person's feedback to a suggestion. */
export async function giveFeedback(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  { id, rating, comment }: Pick<FeedbackView, 'rating' | 'comment'> & { id: string },
): Promise<FeedbackView> {
  const found = await writableItem(services, who, { kind: KIND, id });
  const library = services.actors.library(found.place.library_id);
  const given = await library.feedback({ number: found.number, rating, comment }, who.fences);
  return feedbackView(id, { ...given, rating, comment });
}

/** Lists the feedback to a suggestion, the newest first. */
export async function listFeedback(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  { id, limit, cursor }: PageQuery & { id: string },
): Promise<Page<FeedbackView>> {
  const { place, number } = await readableItem(services, who, { kind: KIND, id });
  const given = await services.actors.library(place.library_id).feedback_given({ number });
  const page = pageOfAll(given.feedback, { limit, cursor, idOf: (one) => String(one.number) });
  return { items: page.rows.map((one) => feedbackView(id, one)), cursor: page.cursor };
}

/** Deletes a suggestion; no later run brings it back. */
export async function deleteSuggestion(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  id: string,
): Promise<void> {
  const { place, number } = await writableItem(services, who, { kind: KIND, id });
  await services.actors.library(place.library_id).delete({ kind: KIND, number }, who.fences);
}

function feedbackView(
  suggestion_id: string,
  { number, rating, comment, created_at_ms }: Pick<NumberedFeedback, 'number' | 'rating' | 'comment' | 'created_at_ms'>,
): FeedbackView {
  return { id: `${suggestion_id}.${number}`, rating, comment, created_at: new Date(created_at_ms).toISOString() };
}

/** The libraries of a list, and the filter of their suggestions. */
async function filterOf(
  services: Pick<FeatureServices, 'actors' | 'store'>,
  who: Principal,
  query: SuggestionsQuery,
  reading: InsightReader,
) {
  const { status, group_id, session_id, contact_id, due_before, kind, stream_id } = query;
  const owner = await ownerOf(services, who, query.owner, reading);
  const isSaid = within(query);
  const pipeline_id = await selectPipeline(services, who, query.pipeline_id);
  const all = await librariesOf(services, who, query.workspace_id);
  const contact = contact_id === undefined ? undefined : await reading.contact(who.account_id, contact_id);
  if (contact === null) throw new Refused(NO_CONTACT);
  const group = group_id === undefined ? undefined : placeOfInsight(group_id);
  const before_ms = due_before === undefined ? Number.POSITIVE_INFINITY : Date.parse(due_before);
  const is_due = (due_at_ms: number | null) =>
    due_before === undefined || (due_at_ms !== null && due_at_ms < before_ms);
  // Nobody has contacts of others, nor sees what pipelines of theirs made beside the default one.
  const is_own = pipeline_id !== null || contact !== undefined || owner !== undefined;
  return {
    libraries: all.filter(
      ({ library_id, account_id }) =>
        (group === undefined || library_id === group?.library_id) && (!is_own || account_id === who.account_id),
    ),
    narrow: Object.entries(query).some(([name, value]) => name !== 'workspace_id' && value !== undefined),
    async passes({ place, item }: FoundItem<'suggestion'>): Promise<boolean> {
      if (item.pipeline_id !== pipeline_id) return false;
      if (status !== undefined && item.status !== status) return false;
      if (group !== undefined && (group?.kind !== 'group' || item.group !== group.number)) return false;
      if (session_id !== undefined && item.session_id !== session_id) return false;
      if (!is_due(item.due_at_ms) || !isSaid(saidAt('suggestion', item))) return false;
      if (kind !== undefined && item.kind !== kind) return false;
      if (stream_id !== undefined && !item.evidence.some((one) => one.stream_id === stream_id)) return false;
      if (owner !== undefined) {
        const held = item.roles.owner_contact_id;
        const shown = held === null ? null : await reading.contact(place.account_id, held);
        if (owner === null || shown?.id !== owner) return false;
      }
      if (contact === undefined) return true;
      for (const held of [item.roles.owner_contact_id, item.roles.requester_contact_id]) {
        const shown = held === null ? null : await reading.contact(place.account_id, held);
        if (shown?.id === contact.id) return true;
      }
      return false;
    },
  };
}

/** Undefined if no owner is asked for; null if `me` is asked for and the account has no own person. */
async function ownerOf(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id }: Principal,
  owner: string | undefined,
  reading: InsightReader,
): Promise<string | null | undefined> {
  if (owner === undefined) return undefined;
  if (owner === 'me') return (await actors.contacts(account_id).own()).contact_id;
  const contact = await reading.contact(account_id, owner);
  if (contact === null) throw new Refused(NO_CONTACT);
  return contact.id;
}

/** Throws BAD_REQUEST if nothing can lie between the two. */
function within({ said_from, said_to }: Pick<SuggestionsQuery, 'said_from' | 'said_to'>): (at_ms: number) => boolean {
  const from_ms = said_from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(said_from);
  const to_ms = said_to === undefined ? Number.POSITIVE_INFINITY : Date.parse(said_to);
  if (from_ms >= to_ms) throw new Refused(NO_SPAN);
  return (at_ms) => at_ms >= from_ms && at_ms < to_ms;
}

/** Changes a suggestion of the caller, and returns it. */
async function changed(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  { id, reading }: { id: string; reading: InsightReader },
  ask: (library: EntityOf<'library'>, number: number) => Promise<{ item: Suggestion }>,
): Promise<SuggestionView> {
  const found = await writableItem(services, who, { kind: KIND, id });
  const answer = await ask(services.actors.library(found.place.library_id), found.number);
  return reading.suggestion({ ...found, item: answer.item });
}

/** The numbers of suggestions that lie in one library of the caller. */
async function inOneLibrary(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  ids: readonly string[],
) {
  const found: FoundItem<'suggestion'>[] = [];
  for (const id of new Set(ids)) {
    const item = await writableItem(services, who, { kind: KIND, id });
    found.push(item);
  }
  const [first] = found;
  if (first === undefined) throw new Refused(NO_ITEM.suggestion);
  if (found.some(({ place }) => place.library_id !== first.place.library_id)) throw new Refused(APART);
  return { place: first.place, numbers: found.map(({ number }) => number) };
}
