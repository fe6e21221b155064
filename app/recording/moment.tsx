import { clockText } from '../../src/domain/span_text.js';
import type { Player } from '../audio/player.js';
import { say } from '../language/say.js';

/** Plays from a moment; without audio it shows what was said then. */
export function Moment({ at_ms, player }: { at_ms: number | null; player: Pick<Player, 'seek' | 'text_ms'> }) {
  if (at_ms === null) return null;
  return (
    <button type="button" class="moment" onClick={() => player.seek(at_ms)}>
      <span class="visually-hidden">{player.text_ms === null ? say('Play from') : say('Go to')} </span>
      {clockText(at_ms)}
    </button>
  );
}

/** The time of a turn or a note, which plays from there where there is audio. */
export function TurnTime({ at_ms, player }: { at_ms: number; player: Player }) {
  const at = clockText(at_ms);
  if (player.text_ms !== null) return <span class="turn-at">{at}</span>;
  return (
    <button
      type="button"
      class="turn-at"
      aria-label={say('Play from {at}', { at })}
      onClick={() => player.playFrom(at_ms)}
    >
      {at}
    </button>
  );
}
