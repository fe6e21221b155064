import { LIBRARIES } from '../../../../actors/insights/library.js';
import type { ItemKind, Items } from '../../../../actors/insights/library_state.js';
import type { Principal } from '../../../access/principal.js';
import { insightId, libraryId, partitionOfId, placeOfInsight } from '../../../domain/ids.js';
import { LIMITS } from '../../../domain/limits.js';
import { orNull, type Refusal, Refused, refuse, throwRefusal } from '../../../domain/refusals.js';
import type { FeatureServices } from '../../services.js';
import { selectsPipelines } from '../../transcripts/pipeline_access.js';
import { readableTranscript } from '../../transcripts/transcript_reading.js';
import { EvidenceReader } from '../library/evidence_reader.js';

/**
 * Access to a library's items. Members of its workspace read them, as they read streams; only the owner of the
 * recordings changes them. docs/choices.md, "Insights".
 */

/** The account and workspace of the library. */
export type LibraryPlace = { library_id: string; account_id: string; workspace_id: string };

/** `is_forgotten`: people have deleted speech that it was made of, so its former values are not shown. */
export type FoundItem<Kind extends ItemKind> = {
  place: LibraryPlace;
  number: number;
  item: Items[Kind];
  is_forgotten?: boolean;
  gone_sentences?: number[];
};

export const NO_ITEM: Readonly<Record<ItemKind, Refusal>> = {
  conversation: refuse('NOT_FOUND', 'There is no such conversation.'),
  memory: refuse('NOT_FOUND', 'There is no such memory.'),
  suggestion: refuse('NOT_FOUND', 'There is no such suggestion.'),
};
const ONLY_OWNER = refuse('FORBIDDEN', 'Only whose recordings it was made of may change it.');
const NO_WORKSPACE = refuse('NOT_FOUND', 'There is no such workspace.');
const TOO_MANY = wrongWorkspace(`must name a workspace: these are more than ${LIMITS.libraries_listed_max}`);
const TOO_MANY_RECORD = wrongWorkspace(
  `must be one in which at most ${LIMITS.workspace_libraries_max} accounts have recorded`,
);

/** An item that the caller may read; NOT_FOUND otherwise. */
export async function readableItem<Kind extends ItemKind>(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  { kind, id }: { kind: Kind; id: string },
): Promise<FoundItem<Kind>> {
  const at = placeOfInsight(id);
  if (at === null || at.kind !== kind) throw new Refused(NO_ITEM[kind]);
  const found = await itemAt(services, who, { ...at, kind });
  if (found !== null) return found;
  const moved = (await movedPlace(services, { ...at, kind })) ?? throwRefusal(NO_ITEM[kind]);
  return (await itemAt(services, who, { ...moved, kind })) ?? throwRefusal(NO_ITEM[kind]);
}

/** Null for an item that has moved to another library, and in a library that the caller does not see. */
async function itemAt<Kind extends ItemKind>(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  { kind, library_id, number }: { kind: Kind; library_id: string; number: number },
): Promise<FoundItem<Kind> | null> {
  const place = await orNull(readableLibrary(services, who, library_id), 'NOT_FOUND');
  if (place === null) return null;
  const found = await services.actors.library(library_id).item({ kind, number });
  if ('moved_to' in found) return null;
  const item = found.item as Items[Kind];
  if (!seesPipelineOutput(who, place, item.pipeline_id)) throw new Refused(NO_ITEM[kind]);
  return (
    (await standingItem(evidenceReader(services, who), kind, { place, number, item })) ?? throwRefusal(NO_ITEM[kind])
  );
}

/** Where an item is that has moved with its recording. */
async function movedPlace(
  { actors }: Pick<FeatureServices, 'actors'>,
  { kind, library_id, number: given }: { kind: ItemKind; library_id: string; number: number },
): Promise<{ library_id: string; number: number } | null> {
  const asked = actors.library(library_id).item({ kind, number: given });
  const found = await orNull(asked, 'NOT_FOUND', 'CONTENT_EXPIRED');
  if (found === null || !('moved_to' in found)) return null;
  const { number } = await actors.library(found.moved_to).arrived({ id: insightId(library_id, kind, given) });
  return number === null ? null : { library_id: found.moved_to, number };
}

export function evidenceReader(services: Pick<FeatureServices, 'actors' | 'runtime'>, who: Principal): EvidenceReader {
  return new EvidenceReader(services, (stream_id, of) => readableTranscript(services, who, stream_id, of));
}

/** An item without deleted speech; null if nothing of it is left. */
export async function standingItem<Kind extends ItemKind, Found extends FoundItem<Kind>>(
  reader: EvidenceReader,
  kind: Kind,
  found: Found,
): Promise<Found | null> {
  const standing = await reader.standing(kind, found.item);
  if (standing === null) return null;
  return standing.is_forgotten ? { ...found, ...standing } : found;
}

/** An item that the caller may change. */
export async function writableItem<Kind extends ItemKind>(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  asked: { kind: Kind; id: string },
): Promise<FoundItem<Kind>> {
  const found = await readableItem(services, who, asked);
  const { place, number, item, is_forgotten = false, gone_sentences } = found;
  if (place.account_id !== who.account_id) throw new Refused(ONLY_OWNER);
  if (!is_forgotten) return found;
  // An item that nobody may read any more can't be accepted or edited.
  const gone = gone_sentences === undefined ? {} : { gone_sentences };
  const items = [{ kind: asked.kind, number, revision: item.revision, is_left: true, ...gone }];
  await services.actors.library(place.library_id).withdraw({ items, silent: true });
  return found;
}

/** Only the account itself sees results of other pipelines than the default one. */
function seesPipelineOutput(who: Principal, place: LibraryPlace, pipeline_id: string | null): boolean {
  return pipeline_id === null || (place.account_id === who.account_id && selectsPipelines(who));
}

async function readableLibrary(
  { actors }: Pick<FeatureServices, 'actors'>,
  who: Principal,
  library_id: string,
): Promise<LibraryPlace> {
  const library = await actors.library(library_id).view();
  const { account_id, workspace_id } = library;
  const may_read = account_id === who.account_id || isMember(who, workspace_id);
  return may_read ? { library_id, account_id, workspace_id } : throwRefusal(NO_WORKSPACE);
}

function isMember({ account }: Principal, workspace_id: string): boolean {
  return account.memberships.some((membership) => membership.workspace_id === workspace_id);
}

/** The libraries of a list: the caller's own, or those of all accounts that record into a workspace. */
export async function librariesOf(
  services: Pick<FeatureServices, 'actors' | 'store'>,
  who: Principal,
  workspace_id: string | undefined,
): Promise<LibraryPlace[]> {
  const { account, account_id } = who;
  if (workspace_id !== undefined && workspace_id !== account.private_workspace.id) {
    if (!isMember(who, workspace_id)) throw new Refused(NO_WORKSPACE);
    const limit = LIMITS.workspace_libraries_max + 1;
    const found = await services.actors.sweep(workspace_id).recorders({ limit });
    if (found.accounts.length >= limit) throw new Refused(TOO_MANY_RECORD);
    return found.accounts.map((of) => ({ library_id: libraryId(of, workspace_id), account_id: of, workspace_id }));
  }
  if (workspace_id !== undefined)
    return [{ library_id: libraryId(account_id, workspace_id), account_id, workspace_id }];
  const owner = { owner: account_id, partition: partitionOfId(account_id) };
  const limit = LIMITS.libraries_listed_max + 1;
  const rows = await services.store.list(owner, LIBRARIES, { descending: true, limit });
  if (rows.length >= limit) throw new Refused(TOO_MANY);
  const libraries = await Promise.all(
    rows.map(({ member }) => orNull(readableLibrary(services, who, member), 'NOT_FOUND')),
  );
  return libraries.filter((library) => library !== null);
}

export function wrongWorkspace(message: string): Refusal {
  return refuse('BAD_REQUEST', `workspace_id ${message}.`, { details: [{ path: 'workspace_id', message }] });
}
