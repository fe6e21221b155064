import type { Suggestion } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { ApiError } from '../api/api_error.js';
import { leaveRow, undoButton } from '../parts/toast_action.js';
import { showToast } from '../parts/toast_queue.js';

/** Changes of suggestions, each of which a toast undoes. */

export type SuggestionChange = {
  status?: Suggestion['status'];
  text?: string;
  kind?: Suggestion['kind'];
  due_at?: string | null;
  due_date?: string | null;
  roles?: { owner_contact_id: string | null };
};

/** Makes a change and says so, with a button that undoes it. `onChange` hears of both. */
export async function changeSuggestion(
  was: Suggestion,
  change: SuggestionChange,
  { said, onChange }: { said: string; onChange: (suggestion: Suggestion) => void },
): Promise<void> {
  const is = await patched(was, change);
  onChange(is);
  const undo = undoButton(async () => {
    onChange(await patched(is, opposite(was, change)));
    leaveRow();
  });
  showToast(said, 'good', undo);
}

/** The change that restores what another one replaced. */
function opposite(was: Suggestion, change: SuggestionChange): SuggestionChange {
  const back: SuggestionChange = {};
  if (change.status !== undefined) back.status = was.status;
  if (change.text !== undefined) back.text = was.text;
  if (change.kind !== undefined) back.kind = was.kind;
  if (change.roles !== undefined) back.roles = { owner_contact_id: was.roles.owner_contact_id };
  // A day is set without a time, a time without a day.
  if (change.due_at === undefined && change.due_date === undefined) return back;
  return was.due_date === null ? { ...back, due_at: was.due_at } : { ...back, due_date: was.due_date };
}

/** Where somebody else was faster, it is done to what they left. */
async function patched({ id, state_version }: Suggestion, change: SuggestionChange): Promise<Suggestion> {
  const send = (version: number) =>
    api('PATCH /suggestions/{id}', { path: { id }, body: { state_version: version, ...change } });
  try {
    return await send(state_version);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'CONFLICT') throw error;
    const now = await api('GET /suggestions/{id}', { path: { id } });
    return send(now.state_version);
  }
}
