import { useEffect, useRef } from 'preact/hooks';
import type { Player } from '../audio/player.js';
import { say } from '../language/say.js';
import { Dialog } from '../parts/dialog.js';
import { CheckField } from '../parts/field.js';
import { keysAreOn, setKeysOn } from './key_choice.js';
import { SKIP_MS } from './player_bar.js';

/** The keys of a recording's page. */

const STEP_MS = 5_000;
/** Elements that have a use of their own for what is typed, or for the space bar. */
const TYPED_IN = 'input, textarea, select, [contenteditable]';
const PRESSED = `${TYPED_IN}, button, a, summary, [role="slider"]`;

type KeyUse = { keys: readonly string[]; shown: string; does: string; needs_audio: boolean };

const USES = {
  toggle: { keys: [' ', 'k'], shown: 'Space or k', does: 'Play or pause', needs_audio: true },
  back: { keys: ['j'], shown: 'j', does: '10 seconds back', needs_audio: true },
  on: { keys: ['l'], shown: 'l', does: '10 seconds forward', needs_audio: true },
  left: { keys: ['ArrowLeft'], shown: '←', does: '5 seconds back', needs_audio: true },
  right: { keys: ['ArrowRight'], shown: '→', does: '5 seconds forward', needs_audio: true },
  slower: { keys: ['<'], shown: '<', does: 'Slower', needs_audio: true },
  faster: { keys: ['>'], shown: '>', does: 'Faster', needs_audio: true },
  find: { keys: ['/'], shown: '/', does: 'Find in the transcript', needs_audio: false },
  help: { keys: ['?'], shown: '?', does: 'Show these shortcuts', needs_audio: false },
} as const satisfies Record<string, KeyUse>;

type UseName = keyof typeof USES;

export function useKeys(player: Player, { find, help }: { find: () => void; help: () => void }): void {
  const acts: Record<UseName, () => void> = {
    toggle: () => void player.toggle(),
    back: () => player.skip(-SKIP_MS),
    on: () => player.skip(SKIP_MS),
    left: () => player.skip(-STEP_MS),
    right: () => player.skip(STEP_MS),
    slower: () => player.stepRate(-1),
    faster: () => player.stepRate(1),
    ...{ find, help },
  };
  const latest = useRef(acts);
  latest.current = acts;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const name = useOf(event);
      const is_silent = player.text_ms !== null || player.length_ms.peek() === 0;
      if (name === null || (USES[name].needs_audio && is_silent)) return;
      event.preventDefault();
      latest.current[name]();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [player]);
}

/** Null for keys that somebody types, that belong to another element, or that are off. */
function useOf(event: KeyboardEvent): UseName | null {
  const { key, target, defaultPrevented, isComposing, ctrlKey, metaKey, altKey } = event;
  if (defaultPrevented || isComposing || ctrlKey || metaKey || altKey || !keysAreOn()) return null;
  if (document.querySelector('dialog[open]') !== null) return null;
  if (target instanceof Element && target.closest(key === ' ' ? PRESSED : TYPED_IN) !== null) return null;
  const names = Object.keys(USES) as UseName[];
  return names.find((name) => (USES[name].keys as readonly string[]).includes(key)) ?? null;
}

/** The keys with what they do, and the choice to have none. */
export function KeysDialog({ open, has_audio, onClose }: { open: boolean; has_audio: boolean; onClose: () => void }) {
  const shown_uses = Object.values(USES).filter(({ needs_audio }) => has_audio || !needs_audio);
  return (
    <Dialog open={open} title={say('Keyboard shortcuts')} onClose={onClose}>
      <dl class="keys">
        {shown_uses.map(({ shown, does }) => (
          <div key={shown}>
            <dt>
              <kbd>{shown === 'Space or k' ? say(shown) : shown}</kbd>
            </dt>
            <dd>{say(does)}</dd>
          </div>
        ))}
      </dl>
      <CheckField
        label={say('Use these shortcuts')}
        hint={say('Switch them off where they get in the way of speech input.')}
        checked={keysAreOn()}
        onValue={setKeysOn}
      />
    </Dialog>
  );
}
