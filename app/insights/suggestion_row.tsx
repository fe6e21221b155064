import { useState } from 'preact/hooks';
import type { Suggestion } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { ApiError } from '../api/api_error.js';
import { useAction } from '../api/loading.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { Field, FormProblem, TextField } from '../parts/field.js';
import { Badge } from '../parts/placeholders.js';
import { RecordingLink } from '../recording/stream_names.js';
import { Due } from './due.js';
import { EvidenceList, FromSession } from './evidence.js';

type Status = Suggestion['status'];

const KINDS: Record<Suggestion['kind'], string> = {
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
    ['dismissed', 'Dismiss'],
  ],
  accepted: [
    ['completed', 'Done'],
    ['open', 'Undo'],
  ],
  completed: [['accepted', 'Undo']],
  dismissed: [['open', 'Undo']],
  withdrawn: [],
};

export const STATUS_NAMES: Record<Status, string> = {
  open: 'Open',
  accepted: 'Accepted',
  completed: 'Done',
  dismissed: 'Dismissed',
  withdrawn: 'Withdrawn',
};

/** A suggestion, to be accepted or dismissed. It stays where it is afterwards, so that it can be undone. */
export function SuggestionRow({
  suggestion,
  onChange,
}: {
  suggestion: Suggestion;
  onChange: (suggestion: Suggestion) => void;
}) {
  const [edited, setEdited] = useState(false);
  const { id, kind, text, status, evidence } = suggestion;
  const said = evidence.find(({ state }) => state === 'available');
  const step = useAction(async (to: Status) => onChange(await changed(suggestion, { status: to })));
  return (
    <li class={status === 'open' || status === 'accepted' ? 'suggestion' : 'suggestion settled'}>
      <div class="row-main">
        <p class="row-facts">
          <span>{KINDS[kind]}</span>
          <Due suggestion={suggestion} />
          {said !== undefined && <RecordingLink stream_id={said.stream_id} at_ms={said.start_ms} with_day />}
          <FromSession id={suggestion.session_id} />
          {status !== 'open' && <Badge tone={status === 'dismissed' ? 'plain' : 'good'}>{STATUS_NAMES[status]}</Badge>}
        </p>
        <p class="row-title" id={`suggestion-${id}`}>
          <bdi>{text === '' ? 'What was said has been deleted.' : text}</bdi>
        </p>
        <EvidenceList evidence={evidence} text={text} />
        <FormProblem error={step.error} />
      </div>
      <div class="row-end">
        {STEPS[status].map(([to, words], n) => (
          <Button
            key={to}
            small
            kind={n === 0 && words !== 'Undo' ? 'primary' : 'secondary'}
            busy={step.busy}
            aria-describedby={`suggestion-${id}`}
            onClick={() => void step.run(to)}
          >
            {words}
          </Button>
        ))}
        {status !== 'withdrawn' && (
          <Button kind="quiet" small icon="edit" label="Edit the suggestion" onClick={() => setEdited(true)} />
        )}
      </div>
      <Dialog open={edited} title="Edit the suggestion" onClose={() => setEdited(false)}>
        <EditForm
          suggestion={suggestion}
          onDone={(next) => {
            setEdited(false);
            onChange(next);
          }}
        />
      </Dialog>
    </li>
  );
}

function EditForm({ suggestion, onDone }: { suggestion: Suggestion; onDone: (suggestion: Suggestion) => void }) {
  const [text, setText] = useState(suggestion.text);
  const due_before = suggestion.due_at === null ? '' : localText(suggestion.due_at);
  const [due, setDue] = useState(due_before);
  const save = useAction(async () => {
    const due_at = due === '' ? null : new Date(due).toISOString();
    // A day stays one while nobody sets a time.
    onDone(await changed(suggestion, { text: text.trim(), ...(due !== due_before && { due_at }) }));
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void save.run();
      }}
    >
      <Field label="What is to be done" error={save.error?.fields.get('text')}>
        {(tied) => <textarea {...tied} required value={text} onInput={(event) => setText(event.currentTarget.value)} />}
      </Field>
      <TextField
        label="Due"
        type="datetime-local"
        value={due}
        onValue={setDue}
        error={save.error?.fields.get('due_at')}
        hint="Empty for no time."
      />
      <FormProblem error={save.error} fields={['text', 'due_at']} />
      <div class="dialog-actions">
        <Button kind="primary" type="submit" busy={save.busy}>
          Save
        </Button>
      </div>
    </form>
  );
}

type Changes = { status?: Status; text?: string; due_at?: string | null };

/** Where somebody else was faster, it is done to what they left. */
async function changed({ id, state_version }: Suggestion, changes: Changes): Promise<Suggestion> {
  const change = (version: number) =>
    api('PATCH /suggestions/{id}', { path: { id }, body: { state_version: version, ...changes } });
  try {
    return await change(state_version);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'CONFLICT') throw error;
    const now = await api('GET /suggestions/{id}', { path: { id } });
    return change(now.state_version);
  }
}

/** As a field for date and time has it, in local time. */
function localText(at: string): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
