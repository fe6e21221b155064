import { useState } from 'preact/hooks';
import type { Transcript, Turn } from '../../kits/typescript/src/api.js';
import { clockText } from '../../src/domain/span_text.js';
import { api } from '../api/api.js';
import { useAction } from '../api/loading.js';
import { say, sayCount } from '../language/say.js';
import { Button } from '../parts/button.js';
import { confirm, Dialog } from '../parts/dialog.js';
import { SelectField } from '../parts/field.js';
import { showToast } from '../parts/toast_queue.js';
import { SCOPES, type Scope, turnsMeant } from './attribution.js';
import { AttributionForm, useAttribution } from './attribution_form.js';
import { speakerWords } from './speaker_colours.js';

type TurnChanges = {
  speakers: Transcript['speakers'];
  /** All turns of the recording. */
  turns: readonly Turn[];
  onClose: () => void;
  onChanged: (turn: Turn) => void;
  onRemoved: (turn: Turn) => void;
  has_audio: boolean;
};

/** Corrects a turn: somebody else said it, and perhaps those behind it, or it is to go. */
export function TurnDialog({ turn, ...changes }: TurnChanges & { turn: Turn | null }) {
  return (
    <Dialog open={turn !== null} {...dialogOf(turn)} onClose={changes.onClose}>
      {turn !== null && <TurnForm key={turn.id} turn={turn} {...changes} />}
    </Dialog>
  );
}

export function dialogOf(turn: Turn | null): { title: string; about: string } {
  return { title: say('Who said this?'), about: turn?.id ?? '' };
}

function TurnForm({ turn, turns, speakers, onClose, onChanged, onRemoved, has_audio }: TurnChanges & { turn: Turn }) {
  const [scope, setScope] = useState<Scope>('one');
  const attribution = useAttribution({ turns: turnsMeant(turn, scope, turns), onChanged, onDone: onClose });
  const path = { id: turn.id };
  const remove = useAction(async () => {
    await api('DELETE /turns/{id}', { path });
    onRemoved(turn);
    showToast(say('The turn is deleted.'));
  });
  const askToRemove = async () => {
    onClose();
    const goes_on = await confirm({
      title: say('Delete this turn?'),
      text: (
        <p>
          {has_audio
            ? say('“{text}” is removed from the transcript for good. The audio stays.', { text: turn.text })
            : say('“{text}” is removed from the transcript for good.', { text: turn.text })}
        </p>
      ),
      action: say('Delete'),
      grave: true,
    });
    if (goes_on && !(await remove.run())) showToast(say('It could not be deleted.'), 'problem');
  };
  return (
    <>
      <blockquote class="quote">
        <span class="soft">{clockText(turn.start_ms)}</span> {turn.text}
      </blockquote>
      <ScopeField turn={turn} turns={turns} scope={scope} onScope={setScope} />
      <AttributionForm
        speakers={speakers.filter(({ speaker }) => scope !== 'one' || speaker !== turn.speaker)}
        attribution={attribution}
        further={
          <Button kind="danger" onClick={() => void askToRemove()}>
            {say('Delete')}
          </Button>
        }
      />
    </>
  );
}

/** Of which turns it is said; nothing where the voice has this turn alone. */
function ScopeField({
  turn,
  turns,
  scope,
  onScope,
}: {
  turn: Turn;
  turns: readonly Turn[];
  scope: Scope;
  onScope: (scope: Scope) => void;
}) {
  const counts = { on: turnsMeant(turn, 'on', turns).length, all: turnsMeant(turn, 'all', turns).length };
  if (counts.all < 2) return null;
  const who = turn.speaker_name ?? speakerWords(turn.speaker);
  const options = [
    ['one', say('This turn')],
    ...(counts.on > 1
      ? [
          [
            'on',
            sayCount(
              counts.on,
              { one: 'From here on ({n} turn of {who})', other: 'From here on ({n} turns of {who})' },
              { who },
            ),
          ] as const,
        ]
      : []),
    ...(counts.all > counts.on || counts.on < 2
      ? [
          [
            'all',
            sayCount(counts.all, { one: 'All {n} turns of {who}', other: 'All {n} turns of {who}' }, { who }),
          ] as const,
        ]
      : []),
  ] as const;
  return (
    <SelectField
      label={say('Which turns')}
      value={scope}
      onValue={(value) => onScope(SCOPES.find((one) => one === value) ?? 'one')}
      options={options}
    />
  );
}
