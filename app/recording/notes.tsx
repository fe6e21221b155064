import type { Signal } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useLoaded } from '../api/loading.js';
import type { Player } from '../audio/player.js';
import { say } from '../language/say.js';
import { TurnTime } from './moment.js';

/** Marks and notes on the timeline of a recording: its signals of the type `note`. */

const PAGE_ITEMS = 100;
const NOTES_MAX = 500;

export type Note = { id: string; start_ms: number; text: string };

/** By their moment; loaded again when `changed` does. */
export function useNotes(stream_id: string, changed: unknown): readonly Note[] {
  const found = useLoaded(() => loadNotes(stream_id).catch(() => []), [stream_id, changed]);
  return found.data ?? [];
}

async function loadNotes(id: string): Promise<Note[]> {
  const notes: Note[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: PAGE_ITEMS, cursor, type: 'note' };
    const page = await api('GET /audio/streams/{id}/signals', { path: { id }, query });
    notes.push(...page.items.map((one) => ({ id: one.id, start_ms: one.start_ms, text: textOf(one) })));
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined && notes.length < NOTES_MAX);
  return notes;
}

function textOf({ payload }: Signal): string {
  return typeof payload?.text === 'string' ? payload.text : '';
}

/** A note between the turns. */
export function NoteRow({ note, player }: { note: Note; player: Player }) {
  return (
    <li class="note-row">
      <TurnTime at_ms={note.start_ms} player={player} />
      <p class="note-text">
        <span class="soft">{note.text === '' ? say('Marked') : say('Note:')}</span> <bdi>{note.text}</bdi>
      </p>
    </li>
  );
}
