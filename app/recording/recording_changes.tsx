import type { Stream } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useAction } from '../api/loading.js';
import { say } from '../language/say.js';
import { ShareRecording } from '../links/share_recording.js';
import { Button } from '../parts/button.js';
import { confirm, Dialog, useDialogOpen } from '../parts/dialog.js';
import { useDraft } from '../parts/drafts.js';
import { TextField } from '../parts/field.js';
import { Form, faultOf } from '../parts/form.js';
import { BASE, go } from '../router.js';
import { may } from '../shell/account.js';
import { deleteSoon } from './deletion.js';
import { isTextOnly } from './is_text_only.js';
import { MoveButton } from './move_button.js';

const TITLE = 'Rename the recording' as const;

const TITLE_CHARS_MAX = 200;

/** Renames and deletes a recording. */
export function RecordingChanges({ stream, set }: { stream: Stream; set: (stream: Stream) => void }) {
  const [renaming, setRenaming] = useDialogOpen(say(TITLE));
  const remove = async () => {
    const goes_on = await confirm({
      title: say('Delete this recording?'),
      text: (
        <p>
          {isTextOnly(stream)
            ? say('Its text is deleted for good after 10 seconds. Until then you can undo it.')
            : say('Its audio and transcript are deleted for good after 10 seconds. Until then you can undo it.')}
        </p>
      ),
      action: say('Delete'),
      grave: true,
    });
    if (!goes_on) return;
    deleteSoon([stream]);
    go(`${BASE}/recordings`);
  };
  const close = () => setRenaming(false);
  return (
    <>
      {may('account:manage') && <ShareRecording stream_id={stream.id} has_audio={!isTextOnly(stream)} />}
      {may('audio:write') && stream.tags != null && (
        <MoveButton streams={[stream]} onMoved={(_, workspace_id) => set({ ...stream, workspace_id })} />
      )}
      <Button small icon="edit" onClick={() => setRenaming(true)}>
        {say('Rename')}
      </Button>
      <Button small kind="danger" icon="trash" onClick={() => void remove()}>
        {say('Delete')}
      </Button>
      <Dialog open={renaming} title={say(TITLE)} onClose={close}>
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
    <Form of={rename} submit={say('Save')} fields={['title']} onSubmit={() => void rename.run()} onCancel={onClose}>
      <TextField
        label={say('Title')}
        value={title}
        onValue={setTitle}
        maxLength={TITLE_CHARS_MAX}
        error={faultOf(rename.error, 'title')}
        hint={
          stream.title_suggested == null
            ? say('If empty, the suggested title or the date is shown.')
            : say('If empty, the suggested title is shown: “{title}”.', { title: stream.title_suggested })
        }
      />
    </Form>
  );
}
