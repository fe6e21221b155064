import type { Turn } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { say } from '../language/say.js';
import { undoButton } from '../parts/toast_action.js';
import { showToast } from '../parts/toast_queue.js';
import { isSameVoice } from './speaker_colours.js';

/** Says of turns who spoke. */

export type Attribution = { contact_id: string | null } | { speaker: string };
/** Of which turns it is said: of one, of all of the same voice behind it, or of all of them. */
export const SCOPES = ['one', 'on', 'all'] as const;
export type Scope = (typeof SCOPES)[number];

/** The turns that are meant, `turn` first or in their order. */
export function turnsMeant(turn: Turn, scope: Scope, all: readonly Turn[]): Turn[] {
  if (scope === 'one') return [turn];
  const same = all.filter((one) => isSameVoice(one, turn));
  return scope === 'all' ? same : same.filter(({ start_ms }) => start_ms >= turn.start_ms);
}

/** One after the other; a toast undoes it. `onChanged` hears of each. */
export async function attributeAll(
  turns: readonly Turn[],
  to: Attribution,
  { said, onChanged }: { said: string; onChanged: (turn: Turn) => void },
): Promise<void> {
  const changed: Turn[] = [];
  try {
    for (const turn of turns) {
      onChanged(await api('PATCH /turns/{id}', { path: { id: turn.id }, body: to }));
      changed.push(turn);
    }
  } finally {
    const words =
      changed.length === turns.length
        ? said
        : say('{changed} of {all} turns are changed.', { changed: changed.length, all: turns.length });
    const undo = undoButton(async () => {
      for (const turn of changed)
        onChanged(await api('PATCH /turns/{id}', { path: { id: turn.id }, body: attributionOf(turn) }));
    });
    if (changed.length > 0) showToast(words, 'good', undo);
  }
}

function attributionOf({ speaker, contact_id }: Turn): Attribution {
  return contact_id === null && speaker !== null ? { speaker } : { contact_id };
}
