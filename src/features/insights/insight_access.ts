import { LIBRARIES } from '../../../actors/insights/library.js';
import type { ItemKind, Items } from '../../../actors/insights/library_state.js';
import type { Principal } from '../../access/principal.js';
import { libraryId, partitionOfId, placeOfInsight } from '../../domain/ids.js';
import { LIMITS } from '../../domain/limits.js';
import { isRefusal, type Refusal, refuse } from '../../domain/refusals.js';
import type { Services } from '../../host/services.js';
import { readableScene } from '../transcripts/transcript_reading.js';
import { EvidenceReader } from './evidence_reader.js';
import { selectsPipelines } from './pipeline_access.js';

/**
 * Who may do what with a library's items: as with streams, those who belong to its workspace read them, and whose
 * recordings they were made of, who alone changes them. docs/choices.md, "Insights".
 */

/** Whose library it is, and of which workspace. */
export type LibraryPlace = { library_id: string; account_id: string; workspace_id: string };

/** `is_forgotten`: people have deleted speech that it was made of, and what it was before is not read. */
export type FoundItem<Kind extends ItemKind> = {
  place: LibraryPlace;
  number: number;
  item: Items[Kind];
  is_forgotten?: boolean;
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

/** An item that the caller may read; to anybody else it does not exist. */
export async function readableItem<Kind extends ItemKind>(
  services: Services,
  who: Principal,
  { kind, id }: { kind: Kind; id: string },
): Promise<FoundItem<Kind> | Refusal> {
  const at = placeOfInsight(id);
  if (at === null || at.kind !== kind) return NO_ITEM[kind];
  const place = await readableLibrary(services, who, at.library_id);
  if (isRefusal(place)) return place.refused === 'NOT_FOUND' ? NO_ITEM[kind] : place;
  const found = await services.actors.library(at.library_id).item({ kind, number: at.number });
  if (isRefusal(found)) return found;
  const item = found.item as Items[Kind];
  if (!seesLane(who, place, item.pipeline_id)) return NO_ITEM[kind];
  return (await standingItem(evidenceReader(services, who), kind, { place, number: at.number, item })) ?? NO_ITEM[kind];
}

export function evidenceReader(services: Services, who: Principal): EvidenceReader {
  return new EvidenceReader(services, (stream_id, of) => readableScene(services, who, stream_id, of));
}

/** An item as it may be read: without the speech that people have deleted; null where nothing of it is left. */
export async function standingItem<Kind extends ItemKind, Found extends FoundItem<Kind>>(
  reader: EvidenceReader,
  kind: Kind,
  found: Found,
): Promise<Found | null | Refusal> {
  const standing = await reader.standing(kind, found.item);
  if (standing === null || isRefusal(standing)) return standing;
  return standing.is_forgotten ? { ...found, ...standing } : found;
}

/** The same, where the caller may change it. */
export async function writableItem<Kind extends ItemKind>(
  services: Services,
  who: Principal,
  asked: { kind: Kind; id: string },
): Promise<FoundItem<Kind> | Refusal> {
  const found = await readableItem(services, who, asked);
  if (isRefusal(found)) return found;
  const { place, number, item, is_forgotten = false } = found;
  if (place.account_id !== who.account_id) return ONLY_OWNER;
  if (!is_forgotten) return found;
  // An item that nobody may read any more can't be accepted or edited.
  const items = [{ kind: asked.kind, number, revision: item.revision, is_left: true }];
  const withdrawn = await services.actors.library(place.library_id).withdraw({ items, silent: true });
  return isRefusal(withdrawn) ? withdrawn : found;
}

/** Only its account sees what a pipeline made that is not the default one. */
function seesLane(who: Principal, place: LibraryPlace, pipeline_id: string | null): boolean {
  return pipeline_id === null || (place.account_id === who.account_id && selectsPipelines(who));
}

async function readableLibrary(
  { actors }: Services,
  who: Principal,
  library_id: string,
): Promise<LibraryPlace | Refusal> {
  const library = await actors.library(library_id).view();
  if (isRefusal(library)) return library;
  const { account_id, workspace_id } = library;
  const may_read = account_id === who.account_id || isMember(who, workspace_id);
  return may_read ? { library_id, account_id, workspace_id } : NO_WORKSPACE;
}

function isMember({ account }: Principal, workspace_id: string): boolean {
  return account.memberships.some((membership) => membership.workspace_id === workspace_id);
}

/** What a list reads: the caller's own libraries, or those of all who record into a workspace. */
export async function librariesOf(
  services: Services,
  who: Principal,
  workspace_id: string | undefined,
): Promise<LibraryPlace[] | Refusal> {
  const { account, account_id } = who;
  if (workspace_id !== undefined && workspace_id !== account.private_workspace.id) {
    if (!isMember(who, workspace_id)) return NO_WORKSPACE;
    const limit = LIMITS.workspace_libraries_max + 1;
    const found = await services.actors.sweep(workspace_id).recorders({ limit });
    if (isRefusal(found)) return found;
    if (found.accounts.length >= limit) return TOO_MANY_RECORD;
    return found.accounts.map((of) => ({ library_id: libraryId(of, workspace_id), account_id: of, workspace_id }));
  }
  if (workspace_id !== undefined)
    return [{ library_id: libraryId(account_id, workspace_id), account_id, workspace_id }];
  const owner = { owner: account_id, partition: partitionOfId(account_id) };
  const limit = LIMITS.libraries_listed_max + 1;
  const rows = await services.store.list(owner, LIBRARIES, { descending: true, limit });
  if (rows.length >= limit) return TOO_MANY;
  const libraries = await Promise.all(rows.map(({ member }) => readableLibrary(services, who, member)));
  const failed = libraries.filter(isRefusal).find(({ refused }) => refused !== 'NOT_FOUND');
  return failed ?? libraries.flatMap((library) => (isRefusal(library) ? [] : [library]));
}

export function wrongWorkspace(message: string): Refusal {
  return refuse('BAD_REQUEST', `workspace_id ${message}.`, { details: [{ path: 'workspace_id', message }] });
}
