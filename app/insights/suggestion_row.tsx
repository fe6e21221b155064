import type { Suggestion } from '../../kits/typescript/src/api.js';
import { useAction } from '../api/loading.js';
import { type PlainText, say } from '../language/say.js';
import { Button } from '../parts/button.js';
import { useDialogOpen } from '../parts/dialog.js';
import { FormProblem } from '../parts/field.js';
import { Badge } from '../parts/placeholders.js';
import { RecordingLink } from '../recording/stream_names.js';
import { Due } from './due.js';
import { EDIT_TITLE, EditSuggestion } from './edit_suggestion.js';
import { EvidenceList, FromSession } from './evidence.js';
import { KINDS } from './kinds.js';
import { saidIn } from './said_in.js';
import { changeSuggestion } from './suggestion_changes.js';

type Status = Suggestion['status'];

/** The statuses that a suggestion can be given next, by its present one; the usual choice comes first. */
const STEPS: Record<Status, readonly (readonly [to: Status, words: PlainText])[]> = {
  open: [
    ['accepted', 'Accept'],
    ['completed', 'Done'],
    ['dismissed', 'Dismiss'],
  ],
  accepted: [
    ['completed', 'Done'],
    ['dismissed', 'Dismiss'],
    ['open', 'Reopen'],
  ],
  completed: [['open', 'Reopen']],
  dismissed: [['open', 'Reopen']],
  withdrawn: [],
};

const STATUS_NAMES: Record<Status, PlainText> = {
  open: 'Open',
  accepted: 'Accepted',
  completed: 'Done',
  dismissed: 'Dismissed',
  withdrawn: 'Withdrawn',
};

const SAID: Record<Status, PlainText> = {
  open: 'Reopened.',
  accepted: 'Accepted.',
  completed: 'Marked as done.',
  dismissed: 'Dismissed.',
  withdrawn: 'Withdrawn.',
};

/** A suggestion, with where it was said, and what can be done with it. */
export function SuggestionRow({
  suggestion,
  onChange,
}: {
  suggestion: Suggestion;
  onChange: (suggestion: Suggestion) => void;
}) {
  const { id, kind, text, status, evidence } = suggestion;
  const [edited, setEdited] = useDialogOpen(say(EDIT_TITLE), id);
  const said = saidIn(evidence, text);
  const step = useAction((to: Status) =>
    changeSuggestion(suggestion, { status: to }, { said: say(SAID[to]), onChange }),
  );
  return (
    <li class={status === 'open' || status === 'accepted' ? 'suggestion' : 'suggestion settled'}>
      <div class="row-main">
        <p class="row-facts">
          <span>{say(KINDS[kind])}</span>
          <Due suggestion={suggestion} />
          {status !== 'open' && (
            <Badge tone={status === 'dismissed' ? 'plain' : 'good'}>{say(STATUS_NAMES[status])}</Badge>
          )}
        </p>
        <p class="row-title" id={`suggestion-${id}`}>
          <bdi>{text === '' ? say('What was said has been deleted.') : text}</bdi>
        </p>
        <p class="row-facts">
          {said !== null && <RecordingLink stream_id={said.stream_id} at_ms={said.start_ms} with_day />}
          <FromSession id={suggestion.session_id} />
        </p>
        <EvidenceList evidence={evidence} text={text} />
        <FormProblem error={step.error} />
      </div>
      <div class="row-end">
        {STEPS[status].map(([to, words], n) => (
          <Button
            key={to}
            small
            kind={n === 0 && to !== 'open' ? 'primary' : 'secondary'}
            busy={step.busy}
            aria-describedby={`suggestion-${id}`}
            onClick={() => void step.run(to)}
          >
            {say(words)}
          </Button>
        ))}
        {status !== 'withdrawn' && (
          <Button kind="quiet" small icon="edit" label={say(EDIT_TITLE)} onClick={() => setEdited(true)} />
        )}
      </div>
      <EditSuggestion open={edited} suggestion={suggestion} onChange={onChange} onClose={() => setEdited(false)} />
    </li>
  );
}
