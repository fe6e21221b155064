import type { ItemKind } from '../../../../actors/insights/library_state.js';
import { DELETED_SOURCES } from '../../../../actors/recordings/source.js';
import type { Stream } from '../../../../actors/recordings/stream_state.js';
import type { Principal } from '../../../access/principal.js';
import { libraryId, ownerOfPipeline, partitionOfId, pipelineOutputId } from '../../../domain/ids.js';
import { LIMITS } from '../../../domain/limits.js';
import { orNull, Refused, refuse } from '../../../domain/refusals.js';
import { librariesOf, wrongWorkspace } from '../../insights/reading/insight_access.js';
import { InsightReader } from '../../insights/reading/insight_reader.js';
import { ownSource } from '../../recordings/sources.js';
import type { FeatureServices } from '../../services.js';
import { isDeveloper, selectPipeline } from '../../transcripts/pipeline_access.js';
import { readableTranscript } from '../../transcripts/transcript_reading.js';
import type { SearchScope } from '../index/evaluate.js';
import type { SearchKind } from '../index/hits.js';
import type { SearchIndex, SearchIndexes } from '../index/search_index.js';
import type { HitFilters } from './hit_reader.js';

const SEARCH_DELETED_SOURCES_MAX = 10_000; // ours: of an account, left out of its searches

const NO_CONTACT = refuse('NOT_FOUND', 'There is no such contact.');
const DEVELOPERS_ONLY = refuse(
  'FORBIDDEN',
  'Searching conversations and memories needs the permission debug:read and developer access.',
);
const TOO_MANY = wrongWorkspace(
  `must name a workspace: more than ${LIMITS.libraries_searched_max} accounts record in those that are searched`,
);
/** Kinds that only developers list, and so only developers search. */
const OF_DEVELOPERS: ReadonlySet<SearchKind> = new Set<ItemKind>(['conversation', 'memory']);

export type ScopeQuery = {
  kinds: readonly SearchKind[];
  workspace_id?: string | undefined;
  source_id?: string | undefined;
  /** Only turns and notes of this recording; no other kinds. */
  stream_id?: string | undefined;
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
  const { stream_id, source_id = null, session_id = null, contact_ids = null } = query;
  const kinds =
    stream_id === undefined ? query.kinds : query.kinds.filter((kind) => kind === 'turn' || kind === 'note');
  const may_all = who.permissions.includes('debug:read') && isDeveloper(who);
  if (!may_all && query.kinds.some((kind) => OF_DEVELOPERS.has(kind))) throw new Refused(DEVELOPERS_ONLY);
  const pipeline_id = await selectPipeline(services, who, query.pipeline_id);
  const reads = new ScopeReads(services);
  // Most search their own libraries, which are known: these are read beside the list of all.
  const [found] = await Promise.all([
    searchedLibraries(services, who, query.workspace_id),
    ...ownLibraries(who, query.workspace_id).flatMap((own) => [
      reads.index(own.library_id),
      reads.deletedSources(own.account_id),
    ]),
  ]);
  if (source_id !== null) await ownSource(services, { account_id: who.account_id, id: source_id });
  const stream = stream_id === undefined ? null : (await readableTranscript(services, who, stream_id)).stream;
  const contacts = contact_ids === null ? null : await contactsNow(services, who, contact_ids);
  // Nobody has contacts of others, nor sees what pipelines of theirs made beside the default one.
  const is_own = pipeline_id !== null || contacts !== null;
  const searched = stream === null ? found : found.filter(({ library_id }) => library_id === libraryOf(stream));
  const libraries = is_own ? searched.filter(({ account_id }) => account_id === who.account_id) : searched;
  const pipeline = pipeline_id === null ? 0 : (ownerOfPipeline(pipeline_id)?.number ?? 0);
  const [indexes, deleted_sources] = await Promise.all([
    Promise.all(libraries.map(({ library_id }) => reads.index(library_id))),
    Promise.all(libraries.map(({ account_id }) => reads.deletedSources(account_id))),
  ]);
  return {
    scope: {
      indexes,
      kinds: new Set(kinds),
      source_id,
      deleted_sources: new Set(deleted_sources.flat()),
      pipeline,
      transcript_id: stream === null ? undefined : transcriptOf(stream.id, pipeline),
    },
    filters: { pipeline_id, contact_ids: contacts, session_id },
  };
}

function libraryOf({ account_id, workspace_id }: Stream): string {
  return libraryId(account_id, workspace_id);
}

function transcriptOf(stream_id: string, pipeline: number): string {
  return pipeline === 0 ? stream_id : pipelineOutputId(stream_id, pipeline);
}

type SearchedLibrary = { library_id: string; account_id: string };

/** The caller's own libraries among those that are searched, also before anything but turns is in them. */
function ownLibraries({ account, account_id }: Principal, workspace_id: string | undefined): SearchedLibrary[] {
  const own = [account.private_workspace.id, ...account.memberships.map((one) => one.workspace_id)];
  return own
    .filter((one) => workspace_id === undefined || one === workspace_id)
    .map((one) => ({ library_id: libraryId(account_id, one), account_id }));
}

/** The caller's own recordings and those of others in the workspaces that they share, or all of one workspace. */
async function searchedLibraries(
  services: Pick<FeatureServices, 'actors' | 'store'>,
  who: Principal,
  workspace_id: string | undefined,
): Promise<SearchedLibrary[]> {
  const { account } = who;
  const listed = await librariesOf(services, who, workspace_id);
  const shared = account.memberships.map((one) => one.workspace_id);
  const colleagues =
    workspace_id === undefined
      ? await Promise.all(shared.map((one) => orNull(librariesOf(services, who, one), 'NOT_FOUND')))
      : [];
  const all = [...listed, ...colleagues.flatMap((one) => one ?? []), ...ownLibraries(who, workspace_id)];
  const found = new Map(all.map((library) => [library.library_id, library.account_id]));
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

/** Reads for one scope, each once. */
class ScopeReads {
  readonly #services: Pick<FeatureServices, 'store'> & { search_indexes: SearchIndexes };
  readonly #indexes = new Map<string, Promise<SearchIndex>>();
  readonly #deleted_sources = new Map<string, Promise<string[]>>();

  constructor(services: Pick<FeatureServices, 'store'> & { search_indexes: SearchIndexes }) {
    this.#services = services;
  }

  index(library_id: string): Promise<SearchIndex> {
    const reading = this.#indexes.get(library_id) ?? this.#services.search_indexes.of(library_id);
    this.#indexes.set(library_id, reading);
    return reading;
  }

  deletedSources(account_id: string): Promise<string[]> {
    const reading = this.#deleted_sources.get(account_id) ?? this.#readDeleted(account_id);
    this.#deleted_sources.set(account_id, reading);
    return reading;
  }

  async #readDeleted(owner: string): Promise<string[]> {
    const range = { descending: true, limit: SEARCH_DELETED_SOURCES_MAX };
    const rows = await this.#services.store.list({ owner, partition: partitionOfId(owner) }, DELETED_SOURCES, range);
    return rows.map(({ member }) => member);
  }
}
