import type { Transcript, Turn } from '../../kits/typescript/src/api.js';
import { clockText } from '../../src/domain/span_text.js';
import { api } from '../api/api.js';
import { useAction } from '../api/loading.js';
import { Button } from '../parts/button.js';
import { confirm, Dialog } from '../parts/dialog.js';
import { useDraft } from '../parts/drafts.js';
import { FormProblem } from '../parts/field.js';
import { showToast } from '../parts/toast_queue.js';
import { contactNamed, PersonField } from './contact_choice.js';
import { speakerWords } from './speaker_colours.js';

/** Corrects one turn: somebody else said it, or it is to go. */
export function TurnDialog({
  turn,
  speakers,
  onClose,
  onChanged,
  onRemoved,
}: {
  turn: Turn | null;
  speakers: Transcript['speakers'];
  onClose: () => void;
  onChanged: (turn: Turn) => void;
  onRemoved: (turn: Turn) => void;
}) {
  return (
    <Dialog open={turn !== null} {...dialogOf(turn)} onClose={onClose}>
      {turn !== null && <TurnForm key={turn.id} {...{ turn, speakers, onClose, onChanged, onRemoved }} />}
    </Dialog>
  );
}

export function dialogOf(turn: Turn | null): { title: string; about: string } {
  return { title: 'Who said this?', about: turn?.id ?? '' };
}

function TurnForm({
  turn,
  speakers,
  onClose,
  onChanged,
  onRemoved,
}: {
  turn: Turn;
  speakers: Transcript['speakers'];
  onClose: () => void;
  onChanged: (turn: Turn) => void;
  onRemoved: (turn: Turn) => void;
}) {
  const [name, setName] = useDraft('name', '');
  const path = { id: turn.id };
  const assign = useAction(async (body: { contact_id?: string | null; speaker?: string }) => {
    onChanged(await api('PATCH /turns/{id}', { path, body }));
    onClose();
  });
  const save = useAction(async () => {
    const { id } = await contactNamed(name);
    onChanged(await api('PATCH /turns/{id}', { path, body: { contact_id: id } }));
    onClose();
  });
  const remove = useAction(async () => {
    await api('DELETE /turns/{id}', { path });
    onRemoved(turn);
    showToast('The turn is deleted.');
  });
  const askToRemove = async () => {
    onClose();
    const goes_on = await confirm({
      title: 'Delete this turn?',
      text: <p>“{turn.text}” is removed from the transcript for good. The audio stays.</p>,
      action: 'Delete',
      grave: true,
    });
    if (goes_on && !(await remove.run())) showToast('It could not be deleted.', 'problem');
  };
  const others = speakers.filter(({ speaker }) => speaker !== turn.speaker);
  return (
    <>
      <blockquote class="quote">
        <span class="soft">{clockText(turn.start_ms)}</span> {turn.text}
      </blockquote>
      {others.length > 0 && (
        <ul class="choices" aria-label="Speakers of this recording">
          {others.map((one) => (
            <li key={one.speaker}>
              <button
                type="button"
                class="choice"
                disabled={assign.busy}
                onClick={() => void assign.run({ speaker: one.speaker })}
              >
                <bdi>{one.name ?? speakerWords(one.speaker)}</bdi>
              </button>
            </li>
          ))}
        </ul>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save.run();
        }}
      >
        <PersonField
          label="Somebody else"
          without={speakers.map(({ name }) => name)}
          value={name}
          onValue={setName}
          error={save.error?.fields.get('name') ?? null}
        />
        <FormProblem error={save.error} fields={['name']} />
        <FormProblem error={assign.error} />
        <div class="dialog-actions">
          <Button kind="danger" onClick={() => void askToRemove()}>
            Delete
          </Button>
          <Button kind="primary" type="submit" busy={save.busy}>
            Save
          </Button>
        </div>
      </form>
    </>
  );
}
