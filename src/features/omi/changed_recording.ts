import type { Account } from '../../../actors/accounts/account_state.js';
import type { ItemKind, Items } from '../../../actors/insights/library_state.js';
import type { MadeOfOmi } from '../../../actors/recordings/omi.js';
import type { Stream } from '../../../actors/recordings/stream_state.js';
import { libraryId } from '../../domain/ids.js';
import { orNull } from '../../domain/refusals.js';
import type { FeatureServices } from '../services.js';

type Recording = { made: MadeOfOmi; stream: Stream };

/** Whether somebody has changed a recording, its text, or what was made of that. */
export async function isChanged(
  { actors }: Pick<FeatureServices, 'actors'>,
  account: Account,
  { made, stream }: Recording,
): Promise<boolean> {
  const { id: stream_id } = stream;
  if (isMarked(account, { made, stream })) return true;
  if ((await actors.signals(stream_id).view()).count > 0) return true;
  const transcript = await orNull(actors.transcript(stream_id).view(), 'NOT_FOUND');
  // Each page that was brought has raised it once.
  if ((transcript?.revision ?? 0) > made.pages) return true;
  return isWorkedOn({ actors }, stream);
}

function isMarked({ links, private_workspace }: Account, { made, stream }: Recording): boolean {
  const { id, title, starred = false, tags = [], deleted_parts = [], workspace_id } = stream;
  const is_named = title !== made.title || starred || tags.length > 0;
  const is_moved = workspace_id !== private_workspace.id;
  return is_named || is_moved || deleted_parts.length > 0 || links.some(({ stream_id }) => stream_id === id);
}

/** Whether somebody has edited the summary, or has done something with a task or a memory. */
async function isWorkedOn(
  { actors }: Pick<FeatureServices, 'actors'>,
  { id: stream_id, account_id, workspace_id }: Stream,
): Promise<boolean> {
  const library = actors.library(libraryId(account_id, workspace_id));
  const itemsOf = async <Kind extends ItemKind>(kind: Kind, numbers: number[]) => {
    const { items } = await library.items_of({ kind, numbers });
    return items.map(({ item }) => item as Items[Kind]);
  };
  const { conversations: numbers } = await library.conversations_on({ stream_id });
  const conversations = await itemsOf('conversation', numbers);
  if (conversations.some(({ protected_fields }) => protected_fields.length > 0)) return true;
  const suggestions = await itemsOf(
    'suggestion',
    conversations.flatMap((one) => one.suggestions),
  );
  if (suggestions.some(({ touched }) => touched)) return true;
  const memories = await itemsOf(
    'memory',
    conversations.flatMap((one) => one.memories),
  );
  return memories.some((one) => one.protected);
}
