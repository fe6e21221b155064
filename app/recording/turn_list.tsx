import { useSignalEffect } from '@preact/signals';
import { memo } from 'preact/compat';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Turn } from '../../kits/typescript/src/api.js';
import { clockText } from '../../src/domain/span_text.js';
import type { Player } from '../audio/player.js';
import { say } from '../language/say.js';
import { Button } from '../parts/button.js';
import { hasDrafts } from '../parts/drafts.js';
import type { Finding } from './finding.js';
import { TurnTime } from './moment.js';
import { type Note, NoteRow } from './notes.js';
import { isSameVoice, speakerWords, type VoiceColours } from './speaker_colours.js';
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
  notes,
  colourOf,
  selected,
  onSelected,
  onAttribute,
  onChanged,
}: {
  turns: readonly Turn[];
  player: Player;
  finding: Finding;
  /** Shown between the turns, by their moment. */
  notes: readonly Note[];
  colourOf: VoiceColours;
  /** The ids of the turns that are selected; null while none are to be. */
  selected: ReadonlySet<string> | null;
  onSelected: (selected: ReadonlySet<string>) => void;
  /** Somebody is to say who said it, or to delete it. */
  onAttribute: (turn: Turn) => void;
  onChanged: (turn: Turn) => void;
}) {
  const [active, setActive] = useState<string | null>(null);
  const scrolled_at = useRef(Number.NEGATIVE_INFINITY);
  const list = useRef<HTMLOListElement>(null);
  const mark = (at_ms: number) => {
    // Text alone has a place only once somebody has gone to one.
    const is_nowhere = player.text_ms !== null && at_ms === 0;
    setActive(is_nowhere ? null : (turnAt(turns, at_ms)?.id ?? null));
  };
  useSignalEffect(() => mark(player.position_ms.value));
  useEffect(() => mark(player.position_ms.peek()), [turns]);
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

  const last_selected = useRef<string | null>(null);
  const onSelect = (turn: Turn, with_all_between: boolean) => {
    const since = with_all_between ? turns.findIndex(({ id }) => id === last_selected.current) : -1;
    const at = turns.indexOf(turn);
    const meant = since === -1 ? [turn] : turns.slice(Math.min(since, at), Math.max(since, at) + 1);
    const is_on = !selected?.has(turn.id);
    const next = new Set(selected);
    for (const { id } of meant) {
      if (is_on) next.add(id);
      else next.delete(id);
    }
    last_selected.current = turn.id;
    onSelected(next);
  };
  const is_anybody_known = turns.some(({ speaker, contact_id }) => speaker !== null || contact_id !== null);
  const given = useRef({ onAttribute, onChanged, onSelect });
  given.current = { onAttribute, onChanged, onSelect };
  const attribute = useRef((turn: Turn) => given.current.onAttribute(turn));
  const change = useRef((turn: Turn) => given.current.onChanged(turn));
  const select = useRef((turn: Turn, range: boolean) => given.current.onSelect(turn, range));
  return (
    <ol class={player.text_ms === null ? 'turns' : 'turns text-only'} ref={list}>
      {turns.flatMap((turn, n) => [
        ...notesWithin(notes, n === 0 ? Number.NEGATIVE_INFINITY : (turns[n - 1] as Turn).start_ms, turn.start_ms).map(
          (note) => <NoteRow key={note.id} note={note} player={player} />,
        ),
        <TurnRow
          key={turn.id}
          turn={turn}
          is_active={turn.id === active}
          goes_on={!is_anybody_known || (n > 0 && isSameVoice(turns[n - 1] as Turn, turn))}
          colour={colourOf(turn)}
          is_selected={selected?.has(turn.id) ?? null}
          player={player}
          found={found_in.get(turn.id) ?? NOTHING}
          found_now={found_now?.turn_id === turn.id ? found_now : null}
          attribute={attribute.current}
          change={change.current}
          select={select.current}
        />,
      ])}
      {notesWithin(notes, turns.at(-1)?.start_ms ?? Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY).map((note) => (
        <NoteRow key={note.id} note={note} player={player} />
      ))}
    </ol>
  );
}

const TurnRow = memo(function TurnRow({
  turn,
  is_active,
  goes_on,
  colour,
  is_selected,
  player,
  found,
  found_now,
  attribute,
  change,
  select,
}: {
  turn: Turn;
  is_active: boolean;
  goes_on: boolean;
  colour: number;
  /** Null while none are to be selected. */
  is_selected: boolean | null;
  player: Player;
  found: readonly TextMatch[];
  found_now: TextMatch | null;
  attribute: (turn: Turn) => void;
  change: (turn: Turn) => void;
  /** `range`: with all since the last one. */
  select: (turn: Turn, range: boolean) => void;
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
      {!goes_on && (
        <p class="turn-who">
          <span class={`dot line-${colour}`} aria-hidden="true" />
          <bdi>{who}</bdi>
        </p>
      )}
      <TurnTime at_ms={turn.start_ms} player={player} />
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
        {is_selected === null ? (
          <>
            {!is_editing && (
              <Button
                kind="quiet"
                small
                icon="edit"
                label={say('Edit the text at {at}', { at })}
                onClick={() => setEditing(true)}
              />
            )}
            <Button
              kind="quiet"
              small
              icon="more"
              label={say('Change who spoke at {at}, or delete it', { at })}
              onClick={() => attribute(turn)}
            />
          </>
        ) : (
          <input
            type="checkbox"
            class="turn-select"
            checked={is_selected}
            aria-label={say('Select the turn at {at}', { at })}
            onClick={(event) => select(turn, event.shiftKey)}
          />
        )}
      </div>
    </li>
  );
});

function notesWithin(notes: readonly Note[], from_ms: number, to_ms: number): readonly Note[] {
  return notes.filter(({ start_ms }) => from_ms <= start_ms && start_ms < to_ms);
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
