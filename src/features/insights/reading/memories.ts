import type { Memory } from '../../../../actors/insights/library_state.js';
import type { Page, PageQuery } from '../../../access/cursors.js';
import type { Principal } from '../../../access/principal.js';
import { libraryId } from '../../../domain/ids.js';
import { Refused, refuse } from '../../../domain/refusals.js';
import type { FeatureServices } from '../../services.js';
import { defaultNumberOf, selectPipeline } from '../../transcripts/pipeline_access.js';
import type { MemoryView, RevisionView } from '../library/insight_shapes.js';
import { requireDeletionAccess } from './deletion_access.js';
import { type FoundItem, librariesOf, readableItem, writableItem } from './insight_access.js';
import { listItems } from './insight_lists.js';
import { InsightReader, viewEach } from './insight_reader.js';
import { itemRevisions } from './insight_revisions.js';
import { userTextStems } from './user_text_stems.js';

/** Memories: facts about people, from their own words. Rule K-007; docs/choices.md, "Insights". */

const KIND = 'memory';
const NO_CONTACT = refuse('NOT_FOUND', 'There is no such contact.');

/** `contact_id`: the person whom it is about. */
export type MemoriesQuery = {
  kind?: Memory['kind'] | undefined;
  contact_id?: string | undefined;
  state?: Memory['state'] | undefined;
  workspace_id?: string | undefined;
  pipeline_id?: string | undefined;
};

/** A page of memories, the newest change first. */
export async function listMemories(
  services: Pick<FeatureServices, 'actors' | 'runtime' | 'store'>,
  who: Principal,
  { limit, cursor, ...query }: MemoriesQuery & PageQuery,
): Promise<Page<MemoryView>> {
  const reading = new InsightReader(services, who);
  const filter = await filterOf(services, who, query, reading);
  const page = await listItems(services, { kind: KIND, limit, cursor, reading, ...filter });
  const items = await viewEach(page.rows, (row) => reading.memory(row));
  return { items, cursor: page.cursor };
}

/** Makes a memory in the account's private workspace; no pipeline changes it. */
export async function createMemory(
  services: Pick<FeatureServices, 'actors' | 'keys' | 'runtime'>,
  who: Principal,
  { text, kind }: { text: string; kind: Memory['kind'] },
): Promise<MemoryView> {
  const stems = await userTextStems(services, who, text);
  const { account_id } = who;
  const workspace_id = who.account.private_workspace.id;
  const library_id = libraryId(account_id, workspace_id);
  const pipeline = await defaultNumberOf(services, account_id);
  const created = await services.actors
    .library(library_id)
    .create_memory({ text, kind, stems, pipeline, account_id, workspace_id }, who.fences);
  const place = { library_id, account_id, workspace_id };
  return new InsightReader(services, who).memory({ place, ...created });
}

/** A memory. */
export async function readMemory(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  id: string,
): Promise<MemoryView> {
  const found = await readableItem(services, who, { kind: KIND, id });
  return new InsightReader(services, who).memory(found);
}

/** Lists the revisions of a memory, the newest first. */
export async function listMemoryRevisions(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  { id, ...page }: PageQuery & { id: string },
): Promise<Page<RevisionView<MemoryView>>> {
  const found = await readableItem(services, who, { kind: KIND, id });
  const reading = new InsightReader(services, who);
  return itemRevisions(services, { kind: KIND, found, reading, ...page }, (was) => reading.memory(was));
}

/** Changes a memory's text or kind; no pipeline changes it any more. */
export async function editMemory(
  services: Pick<FeatureServices, 'actors' | 'keys' | 'runtime'>,
  who: Principal,
  { id, text, kind }: { id: string; text?: string | undefined; kind?: Memory['kind'] | undefined },
): Promise<MemoryView> {
  const found = await writableItem(services, who, { kind: KIND, id });
  const stems = await userTextStems(services, who, text);
  const { place, number } = found;
  const library = services.actors.library(place.library_id);
  const edited = await library.edit_memory({ number, text, kind, stems }, who.fences);
  return new InsightReader(services, who).memory({ ...found, item: edited.item });
}

/** Deletes a memory; no later run brings it back. FORBIDDEN without `debug:write`, unless the account hosted its session. */
export async function deleteMemory(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  id: string,
): Promise<void> {
  const { place, number, item } = await writableItem(services, who, { kind: KIND, id });
  await requireDeletionAccess(services, who, item);
  await services.actors.library(place.library_id).delete({ kind: KIND, number }, who.fences);
}

/** The libraries of a list, and the filter of their memories. */
async function filterOf(
  services: Pick<FeatureServices, 'actors' | 'store'>,
  who: Principal,
  query: MemoriesQuery,
  reading: InsightReader,
) {
  const { kind, contact_id, state } = query;
  const pipeline_id = await selectPipeline(services, who, query.pipeline_id);
  const all = await librariesOf(services, who, query.workspace_id);
  const contact = contact_id === undefined ? undefined : await reading.contact(who.account_id, contact_id);
  if (contact === null) throw new Refused(NO_CONTACT);
  // Nobody has contacts of others, nor sees what pipelines of theirs made beside the default one.
  const is_own = pipeline_id !== null || contact !== undefined;
  return {
    libraries: is_own ? all.filter(({ account_id }) => account_id === who.account_id) : all,
    narrow: [kind, contact_id, state, query.pipeline_id].some((one) => one !== undefined),
    async passes({ place, item }: FoundItem<'memory'>): Promise<boolean> {
      if (item.pipeline_id !== pipeline_id) return false;
      if (kind !== undefined && item.kind !== kind) return false;
      if (state !== undefined && item.state !== state) return false;
      if (contact === undefined) return true;
      const shown = item.contact_id === null ? null : await reading.contact(place.account_id, item.contact_id);
      return shown?.id === contact.id;
    },
  };
}
