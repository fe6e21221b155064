import { useRef, useState } from 'preact/hooks';
import type { Suggestion } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useAction } from '../api/loading.js';
import { usePeople } from '../contacts/people.js';
import { momentOf } from '../language/formats.js';
import { type PlainText, say } from '../language/say.js';
import { Button } from '../parts/button.js';
import { Field, FormProblem, SelectField, TextField } from '../parts/field.js';
import { faultOf } from '../parts/form.js';
import { undoButton } from '../parts/toast_action.js';
import { showToast } from '../parts/toast_queue.js';
import { kindOptions } from './kinds.js';

const TEXT_CHARS_MAX = 500;
const FIELDS = ['text', 'due_at', 'due_date', 'roles', 'kind'];
const SAID: Record<Suggestion['kind'], PlainText> = {
  task: 'Added.',
  follow_up: 'Added.',
  reminder: 'Added.',
  decision: 'Added to the decisions.',
  question: 'Added to the questions.',
};

type NewTask = {
  text: string;
  kind: Suggestion['kind'];
  due_at?: string;
  due_date?: string;
  roles?: { owner_contact_id: string };
};

/** The line at the top of the page by which a person adds a task; more than a text is asked for on demand. */
export function AddTask({ onAdd, onUndo }: { onAdd: (task: Suggestion) => void; onUndo: () => void }) {
  const people = usePeople();
  const [text, setText] = useState('');
  const [is_wide, setWide] = useState(false);
  const [day, setDay] = useState('');
  const [time, setTime] = useState('');
  const [owner, setOwner] = useState('');
  const [kind, setKind] = useState<Suggestion['kind']>('task');
  const refOf = useRepeatedRef();
  const input = useRef<HTMLInputElement>(null);
  const add = useAction(async () => {
    const task: NewTask = {
      ...{ text: text.trim(), kind },
      ...(day !== '' &&
        (time === '' ? { due_date: day } : { due_at: new Date(momentOf(`${day}T${time}`)).toISOString() })),
      ...(owner !== '' && { roles: { owner_contact_id: owner } }),
    };
    const added = await api('POST /suggestions', { body: { ...task, ref: refOf(task) } });
    for (const empty of [setText, setDay, setTime, setOwner]) empty('');
    setKind('task');
    onAdd(added);
    input.current?.focus();
    const undo = undoButton(async () => {
      await api('DELETE /suggestions/{id}', { path: { id: added.id } });
      onUndo();
    });
    showToast(say(SAID[kind]), 'good', undo);
  });
  const fault = ['due_at', 'due_date'].map((name) => faultOf(add.error, name)).find((one) => one !== null) ?? null;
  return (
    <form
      class="add-task"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() === '') input.current?.focus();
        else if (!add.busy) void add.run();
      }}
    >
      <div class="add-line">
        <Field label={say('Add a task')} error={faultOf(add.error, 'text')}>
          {(tied) => (
            <input
              {...tied}
              ref={input}
              value={text}
              maxLength={TEXT_CHARS_MAX}
              autoComplete="off"
              dir="auto"
              onInput={(event) => setText(event.currentTarget.value)}
            />
          )}
        </Field>
        <Button type="submit" kind="primary" busy={add.busy}>
          {say('Add')}
        </Button>
        <Button aria-expanded={is_wide} onClick={() => setWide(!is_wide)}>
          {is_wide ? say('Less') : say('More')}
        </Button>
      </div>
      {is_wide && (
        <div class="filter-fields">
          <TextField label={say('Due on')} type="date" value={day} onValue={setDay} error={fault} />
          {day !== '' && <TextField label={say('At')} type="time" value={time} onValue={setTime} />}
          <SelectField
            label={say('Who does it')}
            value={owner}
            onValue={setOwner}
            options={[['', say('Nobody')], ...people]}
            error={faultOf(add.error, 'roles')}
          />
          <SelectField
            label={say('Kind')}
            value={kind}
            onValue={(chosen) => setKind(chosen as Suggestion['kind'])}
            options={kindOptions()}
            error={faultOf(add.error, 'kind')}
          />
        </div>
      )}
      <FormProblem error={add.error} fields={FIELDS} />
    </form>
  );
}

/** The same task that is sent again has the same ref, so that it is not added twice. */
function useRepeatedRef(): (task: NewTask) => string {
  const sent = useRef({ task: '', ref: '' });
  return (task) => {
    const told = JSON.stringify(task);
    if (sent.current.task !== told) sent.current = { task: told, ref: crypto.randomUUID() };
    return sent.current.ref;
  };
}
