import type { Stream, Turn } from '../../kits/typescript/src/api.js';
import { clockText } from '../../src/domain/span_text.js';
import { api } from '../api/api.js';
import { useAction } from '../api/loading.js';
import type { Player } from '../audio/player.js';
import { say, sayCount } from '../language/say.js';
import { Button } from '../parts/button.js';
import { confirm, Dialog, useDialogOpen } from '../parts/dialog.js';
import { useDraft } from '../parts/drafts.js';
import { TextField } from '../parts/field.js';
import { Form, faultOf } from '../parts/form.js';
import { may } from '../shell/account.js';
import { deletePartSoon, type Part, partText } from './part_deletion.js';

const PLACE = 'Delete a part';

type DeletePartProps = {
  stream: Stream;
  player: Player;
  turns: readonly Turn[];
  /** Of these turns the part is suggested. */
  selected: readonly Turn[];
  onDeleted: () => void;
};

/** Deletes the audio and the words of a part of a recording. */
export function DeletePart(props: DeletePartProps) {
  const [open, setOpen] = useDialogOpen(PLACE);
  if (!may('audio:write') || props.stream.stored_chunks === 0) return null;
  const close = () => setOpen(false);
  return (
    <>
      <Button small icon="trash" onClick={() => setOpen(true)}>
        {say('Delete a part…')}
      </Button>
      <Dialog open={open} title={say('Delete a part')} onClose={close}>
        <DeletePartForm {...props} onClose={close} />
      </Dialog>
    </>
  );
}

function DeletePartForm({
  stream,
  player,
  turns,
  selected,
  onDeleted,
  onClose,
}: DeletePartProps & { onClose: () => void }) {
  const suggested = partOf(selected) ?? { from_ms: player.position_ms.value, to_ms: null };
  const [from, setFrom] = useDraft('from', clockText(suggested.from_ms));
  const [to, setTo] = useDraft('to', suggested.to_ms === null ? '' : endText(suggested.to_ms));
  const times = { from_ms: msOf(from), to_ms: msOf(to) };
  const ask = useAction(async () => {
    const { id } = stream;
    const { from_ms, to_ms } = times;
    if (from_ms === null || to_ms === null) return;
    const path = { id };
    const part = { from_ms, to_ms };
    const goes = await api('POST /audio/streams/{id}/deletions', { path, body: { ...part, preview: true } });
    onClose();
    const goes_on = await confirm({
      title: say('Delete {name}?', { name: partText(goes) }),
      text: <WhatGoes asked={part} goes={goes} turns={turns} length_ms={player.length_ms.peek()} />,
      action: say('Delete'),
      grave: true,
    });
    if (goes_on) deletePartSoon(id, goes, onDeleted);
  });
  const is_ordered = times.from_ms === null || times.to_ms === null || times.from_ms < times.to_ms;
  const isWrong = (text: string, ms: number | null) =>
    text.trim() !== '' && ms === null ? say('Enter a time, such as 1:05 or 1:02:30.') : null;
  return (
    <Form
      of={ask}
      submit={say('Continue')}
      fields={['from_ms', 'to_ms']}
      disabled={times.from_ms === null || times.to_ms === null || !is_ordered}
      onSubmit={() => void ask.run()}
      onCancel={onClose}
    >
      <p class="hint">
        {say('The recording lasts {length}. The other parts keep their times. Selected turns are filled in.', {
          length: clockText(player.length_ms.value),
        })}
      </p>
      <TimeField
        label={say('From')}
        value={from}
        onValue={setFrom}
        player={player}
        error={isWrong(from, times.from_ms) ?? faultOf(ask.error, 'from_ms')}
      />
      <TimeField
        label={say('To')}
        value={to}
        onValue={setTo}
        player={player}
        error={
          isWrong(to, times.to_ms) ??
          (is_ordered ? faultOf(ask.error, 'to_ms') : say('Must be later than the beginning.'))
        }
      />
    </Form>
  );
}

function TimeField({
  label,
  value,
  onValue,
  player,
  error,
}: {
  label: string;
  value: string;
  onValue: (value: string) => void;
  player: Player;
  error: string | null;
}) {
  const at = clockText(player.position_ms.value);
  return (
    <div class="time-choice">
      <TextField label={label} value={value} onValue={onValue} placeholder={say('m:ss')} maxLength={9} error={error} />
      <Button small onClick={() => onValue(at)}>
        <span class="visually-hidden">{label}: </span>
        {say('Player position, {at}', { at })}
      </Button>
    </div>
  );
}

/** The text of the question before anything is deleted. */
function WhatGoes({
  asked,
  goes,
  turns,
  length_ms,
}: {
  asked: Part;
  goes: Part;
  turns: readonly Turn[];
  length_ms: number;
}) {
  const part = partText(goes);
  const said = turns.filter(({ start_ms, end_ms }) => start_ms < goes.to_ms && end_ms > goes.from_ms).length;
  const is_longer = goes.from_ms < asked.from_ms || goes.to_ms > asked.to_ms;
  const is_all = goes.from_ms === 0 && goes.to_ms >= length_ms;
  return (
    <>
      {is_longer && (
        <p class="notice caution">
          {is_all
            ? say('The server can’t cut audio of this format: the whole recording would lose its audio.')
            : say('The server can’t cut audio of this format, so a longer part goes than you chose.')}
        </p>
      )}
      <p>
        {said === 0
          ? say('The audio from {part} is deleted for good after 10 seconds. Until then you can undo it.', { part })
          : sayCount(
              said,
              {
                one: 'The audio and the words of {n} turn from {part} are deleted for good after 10 seconds. Until then you can undo it.',
                other:
                  'The audio and the words of {n} turns from {part} are deleted for good after 10 seconds. Until then you can undo it.',
              },
              { part },
            )}
      </p>
    </>
  );
}

function partOf(turns: readonly Turn[]): Part | null {
  if (turns.length === 0) return null;
  return {
    from_ms: Math.min(...turns.map(({ start_ms }) => start_ms)),
    to_ms: Math.max(...turns.map(({ end_ms }) => end_ms)),
  };
}

/** The first full second by which it is over. */
function endText(ms: number): string {
  return clockText(Math.ceil(ms / 1_000) * 1_000);
}

/** Of `1:05` or `1:02:30`; null for anything else. */
function msOf(text: string): number | null {
  const [, hours = '0', minutes, seconds] = /^(?:(\d{1,3}):)?(\d{1,3}):([0-5]\d)$/.exec(text.trim()) ?? [];
  if (minutes === undefined || seconds === undefined) return null;
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
}
