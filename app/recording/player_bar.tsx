import { useSignalEffect } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Turn } from '../../kits/typescript/src/api.js';
import { clockText } from '../../src/domain/span_text.js';
import { type Player, RATES } from '../audio/player.js';
import { say } from '../language/say.js';
import { Button } from '../parts/button.js';
import { Outline } from './outline.js';
import type { VoiceColours } from './speaker_colours.js';

/** As the keys j and l do. */
export const SKIP_MS = 10_000;

/** A shorter pause belongs to what is said. */
const SILENCE_MS = 1_500;
/** So much of it is heard, before it is skipped and before somebody speaks. */
const LEAD_MS = 300;

export function PlayerBar({
  player,
  peaks,
  turns,
  colourOf,
  children,
}: {
  player: Player;
  peaks: Float32Array | null;
  turns: readonly Turn[];
  colourOf: VoiceColours;
  /** Stays in sight with the player. */
  children?: ComponentChildren;
}) {
  const [skips, setSkips] = useState(false);
  useSignalEffect(() => {
    const at_ms = player.position_ms.value;
    const to_ms = skips && player.playing.value ? silenceEnd(turns, at_ms) : null;
    if (to_ms !== null) player.seek(to_ms);
  });
  const playing = player.playing.value;
  const rate = player.rate.value;
  const next = RATES[(RATES.indexOf(rate) + 1) % RATES.length] ?? 1;
  return (
    <section class="player" aria-label={say('Player')}>
      <Outline player={player} peaks={peaks} turns={turns} colourOf={colourOf} />
      <div class="player-buttons">
        <Button
          kind="primary"
          icon={playing ? 'pause' : 'play'}
          label={playing ? say('Pause') : say('Play')}
          onClick={() => void player.toggle()}
        />
        <Button kind="quiet" small onClick={() => player.skip(-SKIP_MS)}>
          <span aria-hidden="true">−10 s</span>
          <span class="visually-hidden">{say('10 seconds back')}</span>
        </Button>
        <Button kind="quiet" small onClick={() => player.skip(SKIP_MS)}>
          <span aria-hidden="true">+10 s</span>
          <span class="visually-hidden">{say('10 seconds forward')}</span>
        </Button>
        <span class="player-time">
          {clockText(player.position_ms.value)} <span class="soft">/ {clockText(player.length_ms.value)}</span>
        </span>
        <Button kind="quiet" small onClick={() => player.setRate(next)}>
          <span aria-hidden="true">{rate}×</span>
          <span class="visually-hidden">{say('Speed: {rate}×', { rate })}</span>
        </Button>
        {turns.length > 0 && (
          <Button kind="quiet" small aria-pressed={skips} onClick={() => setSkips(!skips)}>
            {say('Skip silence')}
          </Button>
        )}
      </div>
      {children}
      {player.problem.value !== null && (
        <p class="notice problem" role="alert">
          {player.problem.value}
        </p>
      )}
    </section>
  );
}

/** Where to go on from a moment at which nobody speaks; null while somebody does, or nobody will. */
function silenceEnd(turns: readonly Turn[], at_ms: number): number | null {
  if (turns.some(({ start_ms, end_ms }) => start_ms - LEAD_MS <= at_ms && at_ms < end_ms + LEAD_MS)) return null;
  const next = turns.find(({ start_ms }) => start_ms > at_ms);
  return next !== undefined && next.start_ms - at_ms > SILENCE_MS ? next.start_ms - LEAD_MS : null;
}
