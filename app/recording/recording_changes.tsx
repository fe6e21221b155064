import type { Stream } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useAction } from '../api/loading.js';
import { Button } from '../parts/button.js';
import { confirm, Dialog, useDialogOpen } from '../parts/dialog.js';
import { useDraft } from '../parts/drafts.js';
import { TextField } from '../parts/field.js';
import { Form, faultOf } from '../parts/form.js';
import { useToastAction } from '../parts/toast_action.js';
import { showToast } from '../parts/toast_queue.js';
import { BASE, go } from '../router.js';

const TITLE = 'Rename the recording';

const TITLE_CHARS_MAX = 200;

/** Renames and deletes a recording. */
export function RecordingChanges({ stream, set }: { stream: Stream; set: (stream: Stream) => void }) {
  const [renaming, setRenaming] = useDialogOpen(TITLE);
  const removal = useToastAction('The recording could not be deleted.', async () => {
    await api('DELETE /audio/streams/{id}', { path: { id: stream.id } });
    showToast('The recording is deleted.');
    go(`${BASE}/recordings`);
  });
  const remove = async () => {
    const goes_on = await confirm({
      title: 'Delete this recording?',
      text: <p>Its audio and transcript are deleted at once, for good.</p>,
      action: 'Delete',
      grave: true,
    });
    if (goes_on) await removal.run();
  };
  const close = () => setRenaming(false);
  return (
    <>
      <Button small icon="edit" onClick={() => setRenaming(true)}>
        Rename
      </Button>
      <Button small kind="danger" icon="trash" busy={removal.busy} onClick={() => void remove()}>
        Delete
      </Button>
      <Dialog open={renaming} title={TITLE} onClose={close}>
        <RenameForm stream={stream} set={set} onClose={close} />
      </Dialog>
    </>
  );
}

function RenameForm({ stream, set, onClose }: { stream: Stream; set: (stream: Stream) => void; onClose: () => void }) {
  const [title, setTitle] = useDraft('title', stream.title ?? '');
  const rename = useAction(async () => {
    const wanted = title.trim();
    const body = { title: wanted === '' ? null : wanted };
    const { title: given } = await api('PATCH /audio/streams/{id}', { path: { id: stream.id }, body });
    set({ ...stream, title: given });
    onClose();
  });
  return (
    <Form of={rename} submit="Save" fields={['title']} onSubmit={() => void rename.run()} onCancel={onClose}>
      <TextField
        label="Title"
        value={title}
        onValue={setTitle}
        maxLength={TITLE_CHARS_MAX}
        error={faultOf(rename.error, 'title')}
        hint="If empty, the suggested title or the date is shown."
      />
    </Form>
  );
}
