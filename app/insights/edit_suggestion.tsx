import type { Suggestion } from '../../kits/typescript/src/api.js';
import { useAction } from '../api/loading.js';
import { usePeople } from '../contacts/people.js';
import { localText, momentOf } from '../language/formats.js';
import { say } from '../language/say.js';
import { Dialog } from '../parts/dialog.js';
import { useDraft, useForgetDrafts } from '../parts/drafts.js';
import { Field, SelectField, TextField } from '../parts/field.js';
import { Form, faultOf } from '../parts/form.js';
import { kindOptions } from './kinds.js';
import { changeSuggestion, type SuggestionChange } from './suggestion_changes.js';

export const EDIT_TITLE = 'Edit the suggestion' as const;

type Editing = { suggestion: Suggestion; onChange: (suggestion: Suggestion) => void; onClose: () => void };

/** The dialog in which a person changes text, day and owner of a suggestion. */
export function EditSuggestion({ open, ...editing }: Editing & { open: boolean }) {
  return (
    <Dialog open={open} title={say(EDIT_TITLE)} about={editing.suggestion.id} onClose={editing.onClose}>
      <EditForm {...editing} />
    </Dialog>
  );
}

function EditForm({ suggestion, onChange, onClose }: Editing) {
  const people = usePeople();
  const [text, setText] = useDraft('text', suggestion.text);
  const due_before = suggestion.due_at === null ? '' : localText(suggestion.due_at);
  const [due, setDue] = useDraft('due', due_before);
  const owner_before = suggestion.roles.owner_contact_id ?? '';
  const [owner, setOwner] = useDraft('owner', owner_before);
  const [kind, setKind] = useDraft('kind', suggestion.kind);
  const forgetDrafts = useForgetDrafts();
  const close = (changed: Suggestion) => {
    // Its row may go to another list, where a draft would open the dialog again.
    forgetDrafts();
    onClose();
    onChange(changed);
  };
  const save = useAction(async () => {
    const due_at = due === '' ? null : new Date(momentOf(due)).toISOString();
    const change: SuggestionChange = {
      text: text.trim(),
      ...(kind !== suggestion.kind && { kind }),
      // A day stays one while nobody sets a time.
      ...(due !== due_before && { due_at }),
      ...(owner !== owner_before && { roles: { owner_contact_id: owner === '' ? null : owner } }),
    };
    await changeSuggestion(suggestion, change, { said: say('Saved.'), onChange: close });
  });
  const is_known = owner === '' || people.some(([id]) => id === owner);
  return (
    <Form
      of={save}
      submit={say('Save')}
      fields={['text', 'due_at', 'roles', 'kind']}
      onSubmit={() => void save.run()}
      onCancel={onClose}
    >
      <Field label={say('Text')} error={faultOf(save.error, 'text')}>
        {(tied) => <textarea {...tied} value={text} onInput={(event) => setText(event.currentTarget.value)} />}
      </Field>
      <TextField
        label={say('Due')}
        type="datetime-local"
        value={due}
        onValue={setDue}
        error={faultOf(save.error, 'due_at')}
        hint={say('Leave empty for no due date.')}
      />
      <SelectField
        label={say('Who does it')}
        value={owner}
        onValue={setOwner}
        options={[
          ['', say('Nobody')],
          ...(is_known ? [] : [[owner, say('Somebody without a name')] as const]),
          ...people,
        ]}
        error={faultOf(save.error, 'roles')}
      />
      <SelectField
        label={say('Kind')}
        value={kind}
        onValue={(chosen) => setKind(chosen as Suggestion['kind'])}
        options={kindOptions()}
        error={faultOf(save.error, 'kind')}
      />
    </Form>
  );
}
