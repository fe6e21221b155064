import type { Suggestion } from '../../kits/typescript/src/api.js';
import { useAction } from '../api/loading.js';
import { Button } from '../parts/button.js';
import { Dialog, useDialogOpen } from '../parts/dialog.js';
import { useDraft } from '../parts/drafts.js';
import { Field, FormProblem, TextField } from '../parts/field.js';
import { Form, faultOf } from '../parts/form.js';
import { Badge } from '../parts/placeholders.js';
import { localText } from '../parts/time.js';
import { RecordingLink } from '../recording/stream_names.js';
import { Due } from './due.js';
import { EvidenceList, FromSession } from './evidence.js';
import { changeSuggestion, type SuggestionChange } from './suggestion_changes.js';

const TITLE = 'Edit the suggestion';

type Status = Suggestion['status'];

export const KINDS: Record<Suggestion['kind'], string> = {
  task: 'Task',
  follow_up: 'Follow-up',
  reminder: 'Reminder',
  question: 'Question',
  decision: 'Decision',
};

/** The statuses that a suggestion can be given next, by its present one; the usual choice comes first. */
const STEPS: Record<Status, readonly (readonly [to: Status, words: string])[]> = {
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

export const STATUS_NAMES: Record<Status, string> = {
  open: 'Open',
  accepted: 'Accepted',
  completed: 'Done',
  dismissed: 'Dismissed',
  withdrawn: 'Withdrawn',
};

const SAID: Record<Status, string> = {
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
  const [edited, setEdited] = useDialogOpen(TITLE, id);
  const said = evidence.find(({ state }) => state === 'available');
  const step = useAction((to: Status) => changeSuggestion(suggestion, { status: to }, { said: SAID[to], onChange }));
  return (
    <li class={status === 'open' || status === 'accepted' ? 'suggestion' : 'suggestion settled'}>
      <div class="row-main">
        <p class="row-facts">
          <span>{KINDS[kind]}</span>
          <Due suggestion={suggestion} />
          {status !== 'open' && <Badge tone={status === 'dismissed' ? 'plain' : 'good'}>{STATUS_NAMES[status]}</Badge>}
        </p>
        <p class="row-title" id={`suggestion-${id}`}>
          <bdi>{text === '' ? 'What was said has been deleted.' : text}</bdi>
        </p>
        <p class="row-facts">
          {said !== undefined && <RecordingLink stream_id={said.stream_id} at_ms={said.start_ms} with_day />}
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
            {words}
          </Button>
        ))}
        {status !== 'withdrawn' && (
          <Button kind="quiet" small icon="edit" label={TITLE} onClick={() => setEdited(true)} />
        )}
      </div>
      <Dialog open={edited} title={TITLE} about={id} onClose={() => setEdited(false)}>
        <EditForm
          suggestion={suggestion}
          onDone={async (change) => {
            await changeSuggestion(suggestion, change, { said: 'Saved.', onChange });
            setEdited(false);
          }}
          onCancel={() => setEdited(false)}
        />
      </Dialog>
    </li>
  );
}

function EditForm({
  suggestion,
  onDone,
  onCancel,
}: {
  suggestion: Suggestion;
  onDone: (change: SuggestionChange) => Promise<void>;
  onCancel: () => void;
}) {
  const [text, setText] = useDraft('text', suggestion.text);
  const due_before = suggestion.due_at === null ? '' : localText(suggestion.due_at);
  const [due, setDue] = useDraft('due', due_before);
  const save = useAction(async () => {
    const due_at = due === '' ? null : new Date(due).toISOString();
    // A day stays one while nobody sets a time.
    await onDone({ text: text.trim(), ...(due !== due_before && { due_at }) });
  });
  return (
    <Form of={save} submit="Save" fields={['text', 'due_at']} onSubmit={() => void save.run()} onCancel={onCancel}>
      <Field label="Text" error={faultOf(save.error, 'text')}>
        {(tied) => <textarea {...tied} value={text} onInput={(event) => setText(event.currentTarget.value)} />}
      </Field>
      <TextField
        label="Due"
        type="datetime-local"
        value={due}
        onValue={setDue}
        error={faultOf(save.error, 'due_at')}
        hint="Leave empty for no due date."
      />
    </Form>
  );
}
