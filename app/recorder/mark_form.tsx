import { useEffect, useRef, useState } from 'preact/hooks';
import { clockText } from '../../src/domain/span_text.js';
import { say } from '../language/say.js';
import { Button } from '../parts/button.js';
import { TextField } from '../parts/field.js';
import { marks, setMark } from './marks.js';
import { recorded_ms } from './recorder.js';

const TEXT_CHARS_MAX = 500;

/** Marks a moment of what is recorded, with a note or without. The moment is when somebody began to write. */
export function MarkForm({ stream_id }: { stream_id: string }) {
  const [text, setText] = useState('');
  const began_ms = useRef<number | null>(null);
  const mark = () => {
    setMark(stream_id, began_ms.current ?? recorded_ms.peek(), text.trim());
    began_ms.current = null;
    setText('');
  };
  useKey('m', mark);
  const shown = marks.value.filter((one) => one.stream_id === stream_id);
  return (
    <>
      <form
        class="mark-form"
        onSubmit={(event) => {
          event.preventDefault();
          mark();
        }}
      >
        <TextField
          label={say('Note (optional)')}
          value={text}
          onValue={(value) => {
            if (value === '') began_ms.current = null;
            else began_ms.current ??= recorded_ms.peek();
            setText(value);
          }}
          maxLength={TEXT_CHARS_MAX}
          autoComplete="off"
        />
        <Button type="submit">{say('Mark')}</Button>
      </form>
      <p class="hint for-keyboards">{say('The key m marks as well.')}</p>
      {shown.length > 0 && (
        <ul class="marks" aria-label={say('Marks')}>
          {shown.map(({ ref, start_ms, text: written, is_sent }) => (
            <li key={ref}>
              {clockText(start_ms)} <bdi>{written === '' ? say('Marked') : written}</bdi>
              {!is_sent && <span class="soft"> {say('waiting to be sent')}</span>}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** A key that is pressed where nothing is typed. */
function useKey(wanted: string, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, target, ctrlKey, metaKey, altKey, isComposing } = event;
      if (key !== wanted || ctrlKey || metaKey || altKey || isComposing) return;
      if (target instanceof Element && target.closest('input, textarea, select, [contenteditable], dialog')) return;
      latest.current();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}
