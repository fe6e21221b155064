import type { Page, PageQuery } from '../../../access/cursors.js';
import type { Principal } from '../../../access/principal.js';
import { ownSource } from '../../recordings/sources.js';
import type { FeatureServices } from '../../services.js';
import { selectPipeline } from '../../transcripts/pipeline_access.js';
import type { ConversationView, RevisionView } from '../library/insight_shapes.js';
import { requireDeletionAccess } from './deletion_access.js';
import { type FoundItem, librariesOf, readableItem, writableItem } from './insight_access.js';
import { listItems } from './insight_lists.js';
import { InsightReader, viewEach } from './insight_reader.js';
import { itemRevisions } from './insight_revisions.js';

/** Conversations in recordings. Rule K-008; docs/choices.md, "Insights". */

const KIND = 'conversation';

/** `from` and `to` are ISO 8601. */
export type ConversationsQuery = {
  workspace_id?: string | undefined;
  source_id?: string | undefined;
  session_id?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  pipeline_id?: string | undefined;
};

/** A page of conversations, the newest change first. */
export async function listConversations(
  services: Pick<FeatureServices, 'actors' | 'runtime' | 'store'>,
  who: Principal,
  { limit, cursor, ...query }: ConversationsQuery & PageQuery,
): Promise<Page<ConversationView>> {
  const reading = new InsightReader(services, who);
  const filter = await filterOf(services, who, query);
  const page = await listItems(services, { kind: KIND, limit, cursor, reading, ...filter });
  const items = await viewEach(page.rows, (row) => reading.conversation(row));
  return { items, cursor: page.cursor };
}

/** A conversation. */
export async function readConversation(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  id: string,
): Promise<ConversationView> {
  const found = await readableItem(services, who, { kind: KIND, id });
  return new InsightReader(services, who).conversation(found);
}

/** Lists the revisions of a conversation, the newest first. */
export async function listConversationRevisions(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  { id, ...page }: PageQuery & { id: string },
): Promise<Page<RevisionView<ConversationView>>> {
  const found = await readableItem(services, who, { kind: KIND, id });
  const reading = new InsightReader(services, who);
  return itemRevisions(services, { kind: KIND, found, reading, ...page }, (was) => reading.conversation(was));
}

/** Changes a conversation's title; no pipeline changes it any more. */
export async function renameConversation(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  { id, title }: { id: string; title: string },
): Promise<ConversationView> {
  const found = await writableItem(services, who, { kind: KIND, id });
  const { place, number } = found;
  const edited = await services.actors.library(place.library_id).edit_conversation({ number, title }, who.fences);
  return new InsightReader(services, who).conversation({ ...found, item: edited.item });
}

/** Deletes a conversation; no later run brings it back. FORBIDDEN without `debug:write`, unless the account hosted its session. */
export async function deleteConversation(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  id: string,
): Promise<void> {
  const { place, number, item } = await writableItem(services, who, { kind: KIND, id });
  await requireDeletionAccess(services, who, item);
  await services.actors.library(place.library_id).delete({ kind: KIND, number }, who.fences);
}

/** The libraries of a list, and the filter of their conversations. */
async function filterOf(
  services: Pick<FeatureServices, 'actors' | 'store'>,
  who: Principal,
  query: ConversationsQuery,
) {
  const { source_id, session_id, from, to } = query;
  const pipeline_id = await selectPipeline(services, who, query.pipeline_id);
  const libraries = await librariesOf(services, who, query.workspace_id);
  if (source_id !== undefined) await ownSource(services, { account_id: who.account_id, id: source_id });
  const from_ms = from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from);
  const to_ms = to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to);
  return {
    libraries: pipeline_id === null ? libraries : libraries.filter(({ account_id }) => account_id === who.account_id),
    narrow: true,
    passes({ item }: FoundItem<'conversation'>): boolean {
      if (item.pipeline_id !== pipeline_id) return false;
      if (session_id !== undefined && item.session_id !== session_id) return false;
      if (source_id !== undefined && !item.parts.some((part) => part.source_id === source_id)) return false;
      return item.ended_at_ms >= from_ms && item.started_at_ms <= to_ms;
    },
  };
}
