import { useState } from 'preact/hooks';
import type { Stream } from '../../kits/typescript/src/api.js';
import { useAction } from '../api/loading.js';
import { say, sayCount } from '../language/say.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { SelectField } from '../parts/field.js';
import { Form } from '../parts/form.js';
import { moveStreams, moveTargets, type OnMoved } from './moves.js';

/** Moves recordings to another workspace; nothing where the account has one alone. */
export function MoveButton({ streams, onMoved }: { streams: readonly Stream[]; onMoved: OnMoved }) {
  const [open, setOpen] = useState(false);
  const close = () => setOpen(false);
  const title = sayCount(streams.length, { one: 'Move the recording', other: 'Move {n} recordings' });
  if (moveTargets(streams).length === 0) return null;
  return (
    <>
      <Button small onClick={() => setOpen(true)}>
        {say('Move to…')}
      </Button>
      <Dialog open={open} title={title} onClose={close}>
        <MoveForm streams={streams} onMoved={onMoved} onClose={close} />
      </Dialog>
    </>
  );
}

function MoveForm({
  streams,
  onMoved,
  onClose,
}: {
  streams: readonly Stream[];
  onMoved: OnMoved;
  onClose: () => void;
}) {
  const targets = moveTargets(streams);
  const [workspace_id, setWorkspace] = useState(targets[0]?.[0] ?? '');
  const move = useAction(async () => {
    await moveStreams(streams, workspace_id, onMoved);
    onClose();
  });
  return (
    <Form of={move} submit={say('Move')} onSubmit={() => void move.run()} onCancel={onClose}>
      <SelectField
        label={say('Workspace')}
        value={workspace_id}
        onValue={setWorkspace}
        options={targets}
        hint={say(
          'Its members can read and hear the recording from then on, and its retention applies. Summary, tasks and memories move with it.',
        )}
      />
    </Form>
  );
}
