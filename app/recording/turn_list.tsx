import { useSignalEffect } from '@preact/signals';
import { memo } from 'preact/compat';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Turn } from '../../kits/typescript/src/api.js';
import type { Player } from '../audio/player.js';
import { Button } from '../parts/button.js';
import { clockText } from '../parts/time.js';
import { colourOf, speakerWords } from './speaker_colours.js';

/** After somebody has scrolled, the list stays where it is for a while. */
const SCROLLED_MS = 6_000;

/** What was said, one turn below the other; it follows the audio. */
export function TurnList({
  turns,
  player,
  onCorrect,
}: {
  turns: readonly Turn[];
  player: Player;
  onCorrect: (turn: Turn) => void;
}) {
  const [active, setActive] = useState<string | null>(null);
  const scrolled_at = useRef(Number.NEGATIVE_INFINITY);
  const list = useRef<HTMLOListElement>(null);
  useSignalEffect(() => {
    setActive(turnAt(turns, player.position_ms.value)?.id ?? null);
  });
  useEffect(() => setActive(turnAt(turns, player.position_ms.peek())?.id ?? null), [turns]);
  useEffect(() => {
    const note = () => {
      scrolled_at.current = performance.now();
    };
    for (const kind of ['wheel', 'touchmove'] as const) addEventListener(kind, note, { passive: true });
    return () => {
      for (const kind of ['wheel', 'touchmove'] as const) removeEventListener(kind, note);
    };
  }, []);
  useEffect(() => {
    if (active === null || performance.now() - scrolled_at.current < SCROLLED_MS) return;
    if (player.position_ms.peek() === 0 && !player.playing.peek()) return;
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [active]);

  const hear = useRef((turn: Turn) => {
    player.seek(turn.start_ms);
    void player.play();
  });
  const correct = useRef(onCorrect);
  correct.current = onCorrect;
  const ask = useRef((turn: Turn) => correct.current(turn));
  return (
    <ol class="turns" ref={list}>
      {turns.map((turn, n) => (
        <TurnRow
          key={turn.id}
          turn={turn}
          is_active={turn.id === active}
          goes_on={isSameVoice(turns[n - 1], turn)}
          hear={hear.current}
          correct={ask.current}
        />
      ))}
    </ol>
  );
}

const TurnRow = memo(function TurnRow({
  turn,
  is_active,
  goes_on,
  hear,
  correct,
}: {
  turn: Turn;
  is_active: boolean;
  goes_on: boolean;
  hear: (turn: Turn) => void;
  correct: (turn: Turn) => void;
}) {
  const who = turn.speaker_name ?? speakerWords(turn.speaker);
  const at = clockText(turn.start_ms);
  return (
    <li class={goes_on ? 'turn goes-on' : 'turn'} aria-current={is_active ? 'true' : undefined}>
      {!goes_on && (turn.speaker !== null || turn.speaker_name !== null) && (
        <p class="turn-who">
          <span class={`dot line-${colourOf(turn.speaker)}`} aria-hidden="true" />
          <bdi>{who}</bdi>
        </p>
      )}
      <button type="button" class="turn-at" aria-label={`Play from ${at}`} onClick={() => hear(turn)}>
        {at}
      </button>
      <p class="turn-text" lang={turn.language ?? undefined}>
        <bdi>{turn.text}</bdi>
      </p>
      <Button kind="quiet" small icon="more" label={`Correct what was said at ${at}`} onClick={() => correct(turn)} />
    </li>
  );
});

function isSameVoice(before: Turn | undefined, turn: Turn): boolean {
  return before !== undefined && before.speaker === turn.speaker && before.contact_id === turn.contact_id;
}

/** The turn that is heard at a moment: the last one that has begun, until it is over. */
function turnAt(turns: readonly Turn[], moment_ms: number): Turn | null {
  let found: Turn | null = null;
  for (const turn of turns) {
    if (turn.start_ms > moment_ms) break;
    if (moment_ms < turn.end_ms) found = turn;
  }
  return found;
}
