import type { Turn } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useAction } from '../api/loading.js';
import { Button } from '../parts/button.js';
import { Dialog, useDialogOpen } from '../parts/dialog.js';
import { useDraft } from '../parts/drafts.js';
import { FormProblem } from '../parts/field.js';
import { showToast } from '../parts/toast_queue.js';
import { contactNamed, PersonField, selfContactNamed } from './contact_choice.js';

const TITLE = 'Who speaks in this recording?';

type SingleSpeakerProps = { turns: readonly Turn[]; onChanged: () => void };

/** Where what transcribes tells no speakers apart: all that has no speaker yet was said by one person. */
export function SingleSpeaker(props: SingleSpeakerProps) {
  const [open, setOpen] = useDialogOpen(TITLE);
  return (
    <>
      <p class="hint">The speakers can’t be told apart here. If only one person speaks, say who.</p>
      <p class="actions">
        <Button small icon="person" onClick={() => setOpen(true)}>
          Name the speaker
        </Button>
      </p>
      <Dialog open={open} title={TITLE} onClose={() => setOpen(false)}>
        <SpeakerForm {...props} onDone={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function SpeakerForm({ turns, onChanged, onDone }: SingleSpeakerProps & { onDone: () => void }) {
  const [name, setName] = useDraft('name', '');
  const save = useAction(async (is_self: boolean) => {
    const found = is_self ? await selfContactNamed(name) : await contactNamed(name);
    for (const turn of turns) {
      if (turn.speaker !== null || turn.contact_id !== null) continue;
      await api('PATCH /turns/{id}', { path: { id: turn.id }, body: { contact_id: found.id } });
    }
    showToast(`${found.name} is named.`);
    onDone();
  });
  const submit = (is_self: boolean) => void save.run(is_self).finally(onChanged);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit(false);
      }}
    >
      <PersonField label="Name" value={name} onValue={setName} error={save.error?.fields.get('name') ?? null} />
      <FormProblem error={save.error} fields={['name']} />
      <div class="dialog-actions">
        <Button busy={save.busy} onClick={() => submit(true)}>
          It was me
        </Button>
        <Button kind="primary" type="submit" busy={save.busy}>
          Save
        </Button>
      </div>
    </form>
  );
}
