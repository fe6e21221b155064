import type { ComponentChildren } from 'preact';
import type { Turn } from '../../kits/typescript/src/api.js';
import { clockText } from '../../src/domain/span_text.js';
import { type Player, RATES } from '../audio/player.js';
import { Button } from '../parts/button.js';
import { Outline } from './outline.js';

/** As the keys j and l do. */
export const SKIP_MS = 10_000;

export function PlayerBar({
  player,
  peaks,
  turns,
  children,
}: {
  player: Player;
  peaks: Float32Array | null;
  turns: readonly Turn[];
  /** Stays in sight with the player. */
  children?: ComponentChildren;
}) {
  const playing = player.playing.value;
  const rate = player.rate.value;
  const next = RATES[(RATES.indexOf(rate) + 1) % RATES.length] ?? 1;
  return (
    <section class="player" aria-label="Player">
      <Outline player={player} peaks={peaks} turns={turns} />
      <div class="player-buttons">
        <Button
          kind="primary"
          icon={playing ? 'pause' : 'play'}
          label={playing ? 'Pause' : 'Play'}
          onClick={() => void player.toggle()}
        />
        <Button kind="quiet" small onClick={() => player.skip(-SKIP_MS)}>
          <span aria-hidden="true">−10 s</span>
          <span class="visually-hidden">10 seconds back</span>
        </Button>
        <Button kind="quiet" small onClick={() => player.skip(SKIP_MS)}>
          <span aria-hidden="true">+10 s</span>
          <span class="visually-hidden">10 seconds forward</span>
        </Button>
        <span class="player-time">
          {clockText(player.position_ms.value)} <span class="soft">/ {clockText(player.length_ms.value)}</span>
        </span>
        <Button kind="quiet" small onClick={() => player.setRate(next)}>
          <span aria-hidden="true">{rate}×</span>
          <span class="visually-hidden">Speed: {rate}×</span>
        </Button>
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
