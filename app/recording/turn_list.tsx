import { useSignalEffect } from '@preact/signals';
import { memo } from 'preact/compat';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Turn } from '../../kits/typescript/src/api.js';
import { clockText } from '../../src/domain/span_text.js';
import type { Player } from '../audio/player.js';
import { Button } from '../parts/button.js';
import { hasDrafts } from '../parts/drafts.js';
import type { Finding } from './finding.js';
import { colourOf, speakerWords } from './speaker_colours.js';
import { foundByTurn, type TextMatch } from './text_search.js';
import { draftPlaceOf, TurnText, TurnTextEditor } from './turn_text.js';

/** After somebody has scrolled, the list stays where it is for a while. */
const SCROLLED_MS = 6_000;
const NOTHING: readonly TextMatch[] = [];

/** The turns of a recording, one below the other; the list follows the audio. */
export function TurnList({
  turns,
  player,
  finding,
  onAttribute,
  onChanged,
}: {
  turns: readonly Turn[];
  player: Player;
  finding: Finding;
  /** Somebody is to say who said it, or to delete it. */
  onAttribute: (turn: Turn) => void;
  onChanged: (turn: Turn) => void;
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
    // Whoever writes looks at what they write.
    if (list.current?.querySelector('textarea')) return;
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [active]);

  const { found, at } = finding;
  const found_now = found[at] ?? null;
  const found_in = useMemo(() => foundByTurn(found), [found]);
  useEffect(() => {
    const mark = list.current?.querySelector('mark.current');
    if (mark == null) return;
    scrolled_at.current = performance.now();
    mark.scrollIntoView({ block: 'center' });
  }, [found_now]);

  const given = useRef({ onAttribute, onChanged });
  given.current = { onAttribute, onChanged };
  const attribute = useRef((turn: Turn) => given.current.onAttribute(turn));
  const change = useRef((turn: Turn) => given.current.onChanged(turn));
  return (
    <ol class="turns" ref={list}>
      {turns.map((turn, n) => (
        <TurnRow
          key={turn.id}
          turn={turn}
          is_active={turn.id === active}
          goes_on={isSameVoice(turns[n - 1], turn)}
          player={player}
          found={found_in.get(turn.id) ?? NOTHING}
          found_now={found_now?.turn_id === turn.id ? found_now : null}
          attribute={attribute.current}
          change={change.current}
        />
      ))}
    </ol>
  );
}

const TurnRow = memo(function TurnRow({
  turn,
  is_active,
  goes_on,
  player,
  found,
  found_now,
  attribute,
  change,
}: {
  turn: Turn;
  is_active: boolean;
  goes_on: boolean;
  player: Player;
  found: readonly TextMatch[];
  found_now: TextMatch | null;
  attribute: (turn: Turn) => void;
  change: (turn: Turn) => void;
}) {
  const [is_editing, setEditing] = useState(() => hasDrafts(draftPlaceOf(turn)));
  const was_editing = useRef(false);
  const row = useRef<HTMLLIElement>(null);
  const focusEdit = () => row.current?.querySelector<HTMLElement>('.turn-buttons button')?.focus();
  useLayoutEffect(() => {
    if (was_editing.current && !is_editing) focusEdit();
    was_editing.current = is_editing;
  }, [is_editing]);
  const who = turn.speaker_name ?? speakerWords(turn.speaker);
  const at = clockText(turn.start_ms);
  return (
    <li ref={row} class={goes_on ? 'turn goes-on' : 'turn'} aria-current={is_active ? 'true' : undefined}>
      {!goes_on && (turn.speaker !== null || turn.speaker_name !== null) && (
        <p class="turn-who">
          <span class={`dot line-${colourOf(turn.speaker)}`} aria-hidden="true" />
          <bdi>{who}</bdi>
        </p>
      )}
      <button
        type="button"
        class="turn-at"
        aria-label={`Play from ${at}`}
        onClick={() => player.playFrom(turn.start_ms)}
      >
        {at}
      </button>
      {is_editing ? (
        <TurnTextEditor turn={turn} onDone={() => setEditing(false)} onChanged={change} />
      ) : (
        <TurnText
          {...{ turn, player, found, found_now }}
          is_heard={is_active}
          onChanged={change}
          onRestored={focusEdit}
        />
      )}
      <div class="turn-buttons">
        {!is_editing && (
          <Button kind="quiet" small icon="edit" label={`Edit the text at ${at}`} onClick={() => setEditing(true)} />
        )}
        <Button
          kind="quiet"
          small
          icon="more"
          label={`Change who spoke at ${at}, or delete it`}
          onClick={() => attribute(turn)}
        />
      </div>
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
