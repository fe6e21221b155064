import type { StreamSummary } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useAction } from '../api/loading.js';
import { say } from '../language/say.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { useDraft } from '../parts/drafts.js';
import { Field } from '../parts/field.js';
import { Form, faultOf } from '../parts/form.js';
import { showToast } from '../parts/toast_queue.js';

export const EDIT_SUMMARY_TITLE = 'Edit the summary' as const;

type Editing = { summary: StreamSummary; onSaved: (summary: StreamSummary) => void; onClose: () => void };

/** The dialog in which a person writes the summary, a sentence a line. */
export function EditSummary({ open, ...editing }: Editing & { open: boolean }) {
  return (
    <Dialog open={open} title={say(EDIT_SUMMARY_TITLE)} onClose={editing.onClose}>
      <SummaryForm {...editing} />
    </Dialog>
  );
}

function SummaryForm({ summary, onSaved, onClose }: Editing) {
  const [text, setText] = useDraft('sentences', summary.summary_sentences.map((one) => one.text).join('\n'));
  const send = async (sentences: string[] | null, said: string) => {
    const path = { id: summary.stream_id };
    onSaved(await api('PATCH /audio/streams/{id}/summary', { path, body: { sentences } }));
    onClose();
    showToast(said);
  };
  const save = useAction(() => send(linesOf(text), say('The summary is saved. It stays as you wrote it.')));
  const release = useAction(() => send(null, say('The summary is being made again.')));
  return (
    <Form
      of={save.error === null ? { busy: save.busy, error: release.error } : save}
      submit={say('Save')}
      fields={['sentences']}
      onSubmit={() => void save.run()}
      onCancel={onClose}
    >
      <Field label={say('Sentences')} error={faultOf(save.error, 'sentences')} hint={say('A sentence a line.')}>
        {(tied) => <textarea {...tied} rows={8} value={text} onInput={(event) => setText(event.currentTarget.value)} />}
      </Field>
      {summary.edited && (
        <p class="actions">
          <Button small busy={release.busy} onClick={() => void release.run()}>
            {say('Discard my changes')}
          </Button>
        </p>
      )}
    </Form>
  );
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
