import type { Transcript, Turn } from '../../kits/typescript/src/api.js';
import { say } from '../language/say.js';
import { Button } from '../parts/button.js';
import { Dialog, useDialogOpen } from '../parts/dialog.js';
import { AttributionForm, useAttribution } from './attribution_form.js';

const TITLE = 'Who said these turns?' as const;

/** How many turns are selected, and what can be done with them. `onDone`: none are any more. */
export function TurnSelection({
  selected,
  speakers,
  onChanged,
  onDone,
}: {
  selected: readonly Turn[];
  speakers: Transcript['speakers'];
  onChanged: (turn: Turn) => void;
  onDone: () => void;
}) {
  const [open, setOpen] = useDialogOpen(say(TITLE));
  const attribution = useAttribution({ turns: selected, onChanged, onDone });
  return (
    <div class="turn-selection">
      <span role="status">
        {selected.length === 0
          ? say('Select turns. Shift selects all between two.')
          : say('{n} selected', { n: selected.length })}
      </span>
      <Button small kind="primary" icon="person" disabled={selected.length === 0} onClick={() => setOpen(true)}>
        {say('Name|verb')}
      </Button>
      <Button small onClick={onDone}>
        {say('Cancel')}
      </Button>
      <Dialog open={open} title={say(TITLE)} onClose={() => setOpen(false)}>
        <AttributionForm speakers={speakers} attribution={attribution} />
      </Dialog>
    </div>
  );
}
