import { NOTE_TYPE } from '../../../actors/recordings/note_blocks.js';
import type { Principal } from '../../access/principal.js';
import { orNull } from '../../domain/refusals.js';
import type { FeatureServices } from '../services.js';
import { noteText } from './note_text.js';
import { listSignals, READS_SIGNALS } from './signals.js';
import type { StreamView } from './streams.js';

/** Notes that a person wrote on the timeline of a recording: the texts of its signals of the type `note`. */

const NOTES_LISTED_MAX = 50; // ours: of a recording, in a list
const NOTE_CHARS_LISTED_MAX = 200; // ours

/** Streams with the texts of their first notes; null for callers who may not read signals. */
export async function withNotes(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  streams: readonly StreamView[],
): Promise<StreamView[]> {
  const may_read = READS_SIGNALS.every((permission) => who.permissions.includes(permission));
  if (!may_read) return streams.map((stream) => ({ ...stream, notes: null }));
  return Promise.all(streams.map(async (stream) => ({ ...stream, notes: await notesOf(services, who, stream.id) })));
}

async function notesOf(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  stream_id: string,
): Promise<string[]> {
  const { count } = await services.actors.signals(stream_id).view();
  if (count === 0) return [];
  const query = { stream_id, type: NOTE_TYPE, limit: NOTES_LISTED_MAX };
  const page = await orNull(listSignals(services, who, query), 'NOT_FOUND');
  return (page?.items ?? []).flatMap(({ payload_text }) => noteText(payload_text, NOTE_CHARS_LISTED_MAX) ?? []);
}
