import { useLayoutEffect, useRef } from 'preact/hooks';
import { say } from '../language/say.js';
import { Button } from '../parts/button.js';
import type { Finding } from './finding.js';

/** Finds text in the transcript: Enter goes to the next place, Shift and Enter to the one before, Escape ends it. */
export function FindBar({ finding }: { finding: Finding }) {
  const { text, found, at, set, step } = finding;
  const field = useRef<HTMLInputElement>(null);
  const is_open = text !== null;
  // At once: what is typed next is meant for it.
  useLayoutEffect(() => {
    if (is_open) field.current?.select();
  }, [is_open]);
  if (!is_open) return null;
  const count = found.length === 0 ? say('No results') : say('{at} of {count}', { at: at + 1, count: found.length });
  return (
    <search class="find">
      <input
        ref={field}
        type="search"
        aria-label={say('Find in the transcript')}
        placeholder={say('Find in the transcript')}
        autocomplete="off"
        value={text}
        onInput={(event) => set(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.isComposing) return;
          if (event.key === 'Escape') set(null);
          if (event.key === 'Enter') step(event.shiftKey ? -1 : 1);
        }}
      />
      <span class="find-count" role="status">
        {text.trim() === '' ? '' : count}
      </span>
      <Button
        kind="quiet"
        small
        icon="up"
        label={say('Previous')}
        disabled={found.length === 0}
        onClick={() => step(-1)}
      />
      <Button
        kind="quiet"
        small
        icon="down"
        label={say('Next')}
        disabled={found.length === 0}
        onClick={() => step(1)}
      />
      <Button kind="quiet" small icon="close" label={say('Close find')} onClick={() => set(null)} />
    </search>
  );
}
