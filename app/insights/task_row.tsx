import type { Suggestion } from '../../kits/typescript/src/api.js';
import { useAction } from '../api/loading.js';
import type { Player } from '../audio/player.js';
import { say, sayWith } from '../language/say.js';
import { Button } from '../parts/button.js';
import { useDialogOpen } from '../parts/dialog.js';
import { FormProblem } from '../parts/field.js';
import { Time } from '../parts/time.js';
import { Moment } from '../recording/moment.js';
import { RecordingLink } from '../recording/stream_names.js';
import { dueWords, isOverdue } from './due_order.js';
import { EDIT_TITLE, EditSuggestion } from './edit_suggestion.js';
import { EvidenceList, FromSession } from './evidence.js';
import { saidIn } from './said_in.js';
import { changeSuggestion } from './suggestion_changes.js';

/**
 * A task on a line: a box that says whether it is done, its text, who does it and when it is due. Opened, it shows where it
 * was said. `owner`: the name of whoever does it. `player`: of the recording beside which it stands.
 */
export function TaskRow({
  suggestion,
  owner,
  player,
  onChange,
}: {
  suggestion: Suggestion;
  owner: string | null;
  player?: Pick<Player, 'seek' | 'text_ms'>;
  onChange: (suggestion: Suggestion) => void;
}) {
  const { id, text, status, evidence } = suggestion;
  const now_ms = Date.now();
  const [edited, setEdited] = useDialogOpen(say(EDIT_TITLE), id);
  const is_done = status === 'completed';
  const change = (to: Suggestion['status'], said: string) =>
    changeSuggestion(suggestion, { status: to }, { said, onChange });
  const tick = useAction(() =>
    is_done ? change('open', say('Reopened.')) : change('completed', say('Marked as done.')),
  );
  const step = useAction(change);
  const said = saidIn(evidence, text);
  const shown = text === '' ? say('What was said has been deleted.') : text;
  const due = dueWords(suggestion, now_ms);
  return (
    <li class={is_done || status === 'dismissed' ? 'task settled' : 'task'}>
      <input
        type="checkbox"
        checked={is_done !== tick.busy}
        disabled={tick.busy || status === 'dismissed'}
        aria-label={say('Done: {task}', { task: shown })}
        onChange={() => void tick.run()}
      />
      <details>
        <summary>
          <bdi class="task-text">{shown}</bdi>
          {owner !== null && (
            <span class="chip">
              <bdi>{owner}</bdi>
            </span>
          )}
          {due !== '' && <span class={isOverdue(suggestion, now_ms) ? 'task-due late' : 'task-due'}>{due}</span>}
        </summary>
        <div class="task-more">
          <p class="row-facts">
            {said !== null && player === undefined && (
              <RecordingLink stream_id={said.stream_id} at_ms={said.start_ms} with_day />
            )}
            <FromSession id={suggestion.session_id} />
            {suggestion.made_by === 'person' && (
              <span>{sayWith('Added by hand, {time}', { time: <Time at={suggestion.created_at} /> })}</span>
            )}
          </p>
          {evidence.length > 0 && <EvidenceList evidence={evidence} text={text} />}
          <FormProblem error={tick.error ?? step.error} />
          <div class="actions">
            <Button small icon="edit" onClick={() => setEdited(true)}>
              {say('Edit')}
            </Button>
            {status === 'dismissed' ? (
              <Button small busy={step.busy} onClick={() => void step.run('open', say('Reopened.'))}>
                {say('Reopen')}
              </Button>
            ) : (
              <Button small busy={step.busy} onClick={() => void step.run('dismissed', say('Dismissed.'))}>
                {say('Dismiss')}
              </Button>
            )}
          </div>
        </div>
      </details>
      {player !== undefined && <Moment at_ms={said?.start_ms ?? null} player={player} />}
      <EditSuggestion open={edited} suggestion={suggestion} onChange={onChange} onClose={() => setEdited(false)} />
    </li>
  );
}
