import type { ItemKind } from '../../../actors/insights/library_state.js';
import { DELETED_SOURCES } from '../../../actors/recordings/source.js';
import type { Principal } from '../../access/principal.js';
import { libraryId, ownerOfPipeline, partitionOfId } from '../../domain/ids.js';
import { LIMITS } from '../../domain/limits.js';
import { orNull, Refused, refuse } from '../../domain/refusals.js';
import { librariesOf, wrongWorkspace } from '../insights/insight_access.js';
import { InsightReader } from '../insights/insight_reader.js';
import { ownSource } from '../recordings/sources.js';
import type { FeatureServices } from '../services.js';
import { isDeveloper, selectPipeline } from '../transcripts/pipeline_access.js';
import type { SearchKind, SearchScope } from './evaluate.js';
import type { HitFilters } from './hit_reader.js';
import type { SearchIndexes } from './search_index.js';

const NO_CONTACT = refuse('NOT_FOUND', 'There is no such contact.');
const DEVELOPERS_ONLY = refuse(
  'FORBIDDEN',
  'Searching conversations and memories needs the permission debug:read and developer access.',
);
const TOO_MANY = wrongWorkspace(
  `must name a workspace: more than ${LIMITS.libraries_searched_max} accounts record in those that are searched`,
);
/** Kinds that only developers list, and so that they alone search. */
const OF_DEVELOPERS: ReadonlySet<SearchKind> = new Set<ItemKind>(['conversation', 'memory']);

export type ScopeQuery = {
  kinds: readonly SearchKind[];
  workspace_id?: string | undefined;
  source_id?: string | undefined;
  contact_ids?: readonly string[] | undefined;
  session_id?: string | undefined;
  pipeline_id?: string | undefined;
};

export type OpenScope = { scope: SearchScope; filters: HitFilters };

/** Opens the search scope of a query as it is now, with the conditions on its hits. */
export async function openScope(
  services: Pick<FeatureServices, 'actors' | 'runtime' | 'store'> & { search_indexes: SearchIndexes },
  who: Principal,
  query: ScopeQuery,
): Promise<OpenScope> {
  const { kinds, source_id = null, session_id = null, contact_ids = null } = query;
  const may_all = who.permissions.includes('debug:read') && isDeveloper(who);
  if (!may_all && kinds.some((kind) => OF_DEVELOPERS.has(kind))) throw new Refused(DEVELOPERS_ONLY);
  const pipeline_id = await selectPipeline(services, who, query.pipeline_id);
  const found = await searchedLibraries(services, who, query.workspace_id);
  if (source_id !== null) await ownSource(services, { account_id: who.account_id, id: source_id });
  const contacts = contact_ids === null ? null : await contactsNow(services, who, contact_ids);
  // Nobody has contacts of others, nor sees what pipelines of theirs made beside the default one.
  const is_own = pipeline_id !== null || contacts !== null;
  const libraries = is_own ? found.filter(({ account_id }) => account_id === who.account_id) : found;
  const [indexes, deleted_sources] = await Promise.all([
    Promise.all(libraries.map(({ library_id }) => services.search_indexes.of(library_id))),
    deletedSources(services, new Set(libraries.map(({ account_id }) => account_id))),
  ]);
  return {
    scope: {
      indexes,
      kinds: new Set(kinds),
      source_id,
      deleted_sources,
      pipeline: pipeline_id === null ? 0 : (ownerOfPipeline(pipeline_id)?.number ?? 0),
    },
    filters: { pipeline_id, contact_ids: contacts, session_id },
  };
}

type SearchedLibrary = { library_id: string; account_id: string };

/**
 * The caller's own recordings and those of others in the workspaces that they share, or all of one workspace; one's own
 * also before anything but turns is in them.
 */
async function searchedLibraries(
  services: Pick<FeatureServices, 'actors' | 'store'>,
  who: Principal,
  workspace_id: string | undefined,
): Promise<SearchedLibrary[]> {
  const { account, account_id } = who;
  const listed = await librariesOf(services, who, workspace_id);
  const shared = account.memberships.map((one) => one.workspace_id);
  const colleagues =
    workspace_id === undefined
      ? await Promise.all(shared.map((one) => orNull(librariesOf(services, who, one), 'NOT_FOUND')))
      : [];
  const all = [...listed, ...colleagues.flatMap((one) => one ?? [])];
  const found = new Map<string, string>(all.map((library) => [library.library_id, library.account_id]));
  for (const one of [account.private_workspace.id, ...shared])
    if (workspace_id === undefined || one === workspace_id) found.set(libraryId(account_id, one), account_id);
  if (found.size > LIMITS.libraries_searched_max) throw new Refused(TOO_MANY);
  return [...found].map(([library_id, of]) => ({ library_id, account_id: of }));
}

/** Whom those ids stand for today. */
async function contactsNow(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  ids: readonly string[],
): Promise<Set<string>> {
  const reading = new InsightReader(services, who);
  const found = new Set<string>();
  for (const id of ids) {
    const contact = await reading.contact(who.account_id, id);
    if (contact === null) throw new Refused(NO_CONTACT);
    found.add(contact.id);
  }
  return found;
}

async function deletedSources(
  { store }: Pick<FeatureServices, 'store'>,
  accounts: ReadonlySet<string>,
): Promise<Set<string>> {
  const range = { descending: true, limit: LIMITS.search_deleted_sources_max };
  const lists = await Promise.all(
    [...accounts].map((owner) => store.list({ owner, partition: partitionOfId(owner) }, DELETED_SOURCES, range)),
  );
  return new Set(lists.flatMap((rows) => rows.map(({ member }) => member)));
}
