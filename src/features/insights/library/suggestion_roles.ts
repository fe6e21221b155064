import type { FoundRoles, HeardRoles } from '../../../../actors/insights/library_roles.js';
import type { Roles, SpokenBy } from '../../../../actors/insights/library_state.js';
import { contactOf, type Speakers } from '../../../../actors/transcripts/transcript_attribution.js';
import { libraryId } from '../../../domain/ids.js';
import { orNull } from '../../../domain/refusals.js';
import type { Actors } from '../../../engine/runtime/actors.js';
import { isClosed } from '../../../engine/runtime/runtime_refusals.js';
import { readableTranscriptOf, type TranscriptReader } from '../../transcripts/transcript_pages.js';

/** Owners of suggestions, and who asked for them, after speakers or contacts have changed. docs/areas.md, "Insights". */

type RoleReader = TranscriptReader & { actors: Pick<Actors, 'stream' | 'library' | 'contacts'> };

/**
 * Updates the roles of a stream's suggestions to its present speakers, with an event for each change. `conversation`:
 * the only one to update.
 */
export async function refreshRoles(reader: RoleReader, stream_id: string, conversation?: number): Promise<void> {
  const { actors } = reader;
  const stream = await orNull(actors.stream(stream_id).view(), 'NOT_FOUND');
  if (stream === null) return;
  const { account_id, workspace_id, source_id } = stream;
  const library = actors.library(libraryId(account_id, workspace_id));
  const { conversations } =
    conversation === undefined ? await library.conversations_on({ stream_id }) : { conversations: [conversation] };
  if (conversations.length === 0) return;
  const readable = await orNull(readableTranscriptOf(reader, stream), 'NOT_FOUND');
  if (readable === null) return;
  const shown = contactResolver(reader, account_id);
  for (const one of conversations) {
    const { heard } = await library.heard_roles({ conversation: one });
    const found: FoundRoles[] = [];
    for (const suggestion of heard) {
      const roles = await rolesNow(suggestion, { stream_id, speakers: readable.speakers, shown });
      if (JSON.stringify(roles) !== JSON.stringify(suggestion.roles)) {
        const { number, revision } = suggestion;
        found.push({ number, revision, roles });
      }
    }
    if (found.length === 0) continue;
    const fences = [source_id, stream_id].map((id) => ({ fence: 'open' as const, id }));
    try {
      await library.set_roles({ found }, fences);
    } catch (error) {
      if (!isClosed(error)) throw error;
      return; // it is being removed
    }
  }
}

type ContactResolver = (contact_id: string) => Promise<string | null>;

/** The present contact behind an id; null for a deleted one. Each is read once. */
function contactResolver({ actors }: RoleReader, account_id: string): ContactResolver {
  const known = new Map<string, string | null>();
  return async (contact_id) => {
    const before = known.get(contact_id);
    if (before !== undefined) return before;
    const { contacts } = await actors.contacts(account_id).resolve({ ids: [contact_id] });
    const now = contacts[contact_id]?.id ?? null;
    known.set(contact_id, now);
    return now;
  };
}

async function rolesNow(
  { roles, role_speakers }: HeardRoles,
  { stream_id, speakers, shown }: { stream_id: string; speakers: Speakers; shown: ContactResolver },
): Promise<Roles> {
  const now = async (contact_id: string | null, spoke: SpokenBy | null = null) => {
    const held = spoke !== null && spoke.stream_id === stream_id ? contactOf(speakers, spoke) : contact_id;
    return held === null ? null : shown(held);
  };
  return {
    owner_contact_id: await now(roles.owner_contact_id, role_speakers.owner),
    requester_contact_id: await now(roles.requester_contact_id, role_speakers.requester),
  };
}
