import { useState } from 'preact/hooks';
import type { Turn } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useAction } from '../api/loading.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { FormProblem } from '../parts/field.js';
import { showToast } from '../parts/toast_queue.js';
import { contactNamed, PersonField, selfContactNamed } from './contact_choice.js';

/** Where what transcribes tells no speakers apart: all that has no speaker yet was said by one person. */
export function SingleSpeaker({ turns, onChanged }: { turns: readonly Turn[]; onChanged: () => void }) {
  const [name, setName] = useState<string | null>(null);
  const save = useAction(async (is_self: boolean) => {
    const found = is_self ? await selfContactNamed(name ?? '') : await contactNamed(name ?? '');
    for (const turn of turns) {
      if (turn.speaker !== null || turn.contact_id !== null) continue;
      await api('PATCH /turns/{id}', { path: { id: turn.id }, body: { contact_id: found.id } });
    }
    showToast(`${found.name} is named.`);
    setName(null);
  });
  return (
    <>
      <p class="hint">Speakers are not told apart here. If it was one person, say who.</p>
      <p class="actions">
        <Button small icon="person" onClick={() => setName('')}>
          Name the speaker
        </Button>
      </p>
      <Dialog open={name !== null} title="Who speaks in this recording?" onClose={() => setName(null)}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void save.run(false).finally(onChanged);
          }}
        >
          <PersonField
            label="Name"
            value={name ?? ''}
            onValue={setName}
            error={save.error?.fields.get('name') ?? null}
          />
          <FormProblem error={save.error} fields={['name']} />
          <div class="dialog-actions">
            <Button busy={save.busy} onClick={() => void save.run(true).finally(onChanged)}>
              It was me
            </Button>
            <Button kind="primary" type="submit" busy={save.busy}>
              Save
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  );
}
