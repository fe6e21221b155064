import type { Contact } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useAction } from '../api/loading.js';
import { say } from '../language/say.js';
import { Button } from '../parts/button.js';
import { confirm, Dialog, useDialogOpen } from '../parts/dialog.js';
import { useDraft } from '../parts/drafts.js';
import { TextField } from '../parts/field.js';
import { Form, faultOf } from '../parts/form.js';
import { leaveRow, undoButton, useToastAction } from '../parts/toast_action.js';
import { showToast } from '../parts/toast_queue.js';
import { selfContact } from '../recording/contact_choice.js';
import { BASE, go } from '../router.js';
import { contactName } from './contact_names.js';
import { MERGE_TITLE, MergeForm } from './merge_form.js';

const NAME_CHARS_MAX = 80;

/** Renames and merges a person, says whether it is the account's own, and deletes it. */
export function ContactChanges({ contact, set }: { contact: Contact; set: (contact: Contact) => void }) {
  const { id, is_self } = contact;
  const [renaming, setRenaming] = useDialogOpen(say('Rename'));
  const [merging, setMerging] = useDialogOpen(say(MERGE_TITLE));
  const claim = useToastAction(say('It could not be changed.'), () => changeSelf(contact, set));
  const removal = useToastAction(say('The person could not be deleted.'), async () => {
    await api('DELETE /contacts/{id}', { path: { id } });
    showToast(say('{name} is deleted.', { name: contactName(contact) }));
    go(`${BASE}/people`);
  });
  const remove = async () => {
    const goes_on = await confirm({
      title: say('Delete {name}?', { name: contactName(contact) }),
      text: (
        <p>
          {say('The name and the voice are deleted for good. What they said stays in your recordings, without a name.')}
        </p>
      ),
      action: say('Delete'),
      grave: true,
    });
    if (goes_on) await removal.run();
  };
  return (
    <>
      <Button small icon="person" busy={claim.busy} onClick={() => void claim.run()}>
        {is_self ? say('This is not me') : say('This is me')}
      </Button>
      <Button small icon="edit" onClick={() => setRenaming(true)}>
        {say('Rename')}
      </Button>
      <Button small onClick={() => setMerging(true)}>
        {say('Merge')}
      </Button>
      <Button small kind="danger" icon="trash" busy={removal.busy} onClick={() => void remove()}>
        {say('Delete')}
      </Button>
      <Dialog open={renaming} title={say('Rename')} onClose={() => setRenaming(false)}>
        <RenameForm contact={contact} set={set} onClose={() => setRenaming(false)} />
      </Dialog>
      <Dialog open={merging} title={say(MERGE_TITLE)} onClose={() => setMerging(false)}>
        <MergeForm contact={contact} onClose={() => setMerging(false)} />
      </Dialog>
    </>
  );
}

function RenameForm({
  contact,
  set,
  onClose,
}: {
  contact: Contact;
  set: (contact: Contact) => void;
  onClose: () => void;
}) {
  const [name, setName] = useDraft('name', contact.name ?? '');
  const rename = useAction(async () => {
    const path = { id: contact.id };
    const was = contact.name;
    const renamed = await api('PATCH /contacts/{id}', { path, body: { name: name.trim() } });
    set(renamed);
    onClose();
    // A name can't be taken away again, so the first one is not undone.
    const undo =
      was === null
        ? null
        : undoButton(async () => {
            set(await api('PATCH /contacts/{id}', { path, body: { name: was } }));
            leaveRow();
          });
    if (renamed.name !== was) showToast(say('The name is {name} now.', { name: contactName(renamed) }), 'good', undo);
  });
  return (
    <Form of={rename} submit={say('Save')} fields={['name']} onSubmit={() => void rename.run()} onCancel={onClose}>
      <TextField
        label={say('Name')}
        value={name}
        onValue={setName}
        maxLength={NAME_CHARS_MAX}
        autoComplete="off"
        error={faultOf(rename.error, 'name')}
        hint={say('All of your recordings show the new name.')}
      />
    </Form>
  );
}

/** Makes the person the account's own, or no longer. The toast restores whoever it was before. */
async function changeSelf({ id, is_self, name }: Contact, set: (contact: Contact) => void): Promise<void> {
  const before = is_self ? null : await selfContact();
  const setSelf = (of: string, value: boolean) =>
    api('PATCH /contacts/{id}', { path: { id: of }, body: { is_self: value } });
  set(await setSelf(id, !is_self));
  const undo = undoButton(async () => {
    if (before !== null) await setSelf(before.id, true);
    set(before === null ? await setSelf(id, is_self) : await api('GET /contacts/{id}', { path: { id } }));
    leaveRow();
  });
  showToast(
    is_self
      ? say('{name} is not you any more.', { name: contactName({ name }) })
      : say('{name} is you.', { name: contactName({ name }) }),
    'good',
    undo,
  );
}
