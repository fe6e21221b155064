import { effect } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Turn } from '../../kits/typescript/src/api.js';
import { clockText } from '../../src/domain/span_text.js';
import { UNSURE_BELOW } from '../../src/domain/speech_before.js';
import { api } from '../api/api.js';
import { useAction } from '../api/loading.js';
import type { Player } from '../audio/player.js';
import { say, sayWith } from '../language/say.js';
import { Button } from '../parts/button.js';
import { forgetDrafts, useDraftAt } from '../parts/drafts.js';
import { FormProblem } from '../parts/field.js';
import { faultOf } from '../parts/form.js';
import { Badge } from '../parts/placeholders.js';
import { useToastAction } from '../parts/toast_action.js';
import { clickedPlace, type Mark, MarkedText } from './marked_text.js';
import type { TextMatch } from './text_search.js';
import { placesOf, useWordPlaces } from './turn_words.js';
import { type WordPlace, wordAt, wordHeard } from './word_places.js';

/** The text of a turn as it is read: a click on a word plays from it, and the word that is heard is marked. */
export function TurnText({
  turn,
  player,
  is_heard,
  found,
  found_now,
  onChanged,
  onRestored,
}: {
  turn: Turn;
  player: Player;
  is_heard: boolean;
  /** Places in it that were looked for. */
  found: readonly TextMatch[];
  /** The one of all that is shown. */
  found_now: TextMatch | null;
  onChanged: (turn: Turn) => void;
  onRestored: () => void;
}) {
  const restore = useToastAction(say('It could not be restored.'), async () => {
    onChanged(await saved(turn, null));
    onRestored();
  });
  const heard = useHeardWord(turn, player, is_heard);
  const marks: Mark[] = found.map((one) => ({ ...one, as: one === found_now ? 'current' : 'found' }));
  if (heard !== null) marks.push({ ...heard, as: 'heard' });
  const playFromWord = async (event: MouseEvent) => {
    // Whoever selects text wants to copy it.
    if (player.text_ms !== null || getSelection()?.isCollapsed === false) return;
    const place = clickedPlace(event, event.currentTarget as Element);
    const word = place === null ? null : wordAt(await placesOf(turn), place);
    player.playFrom(word?.start_ms ?? turn.start_ms);
  };
  return (
    <div class="turn-said">
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: keyboards have the button that plays from the turn. */}
      <p
        class={isUnsure(turn) ? 'turn-text unsure' : 'turn-text'}
        lang={turn.language ?? undefined}
        onClick={(event) => void playFromWord(event)}
      >
        <MarkedText text={turn.text} marks={marks} />
      </p>
      {isUnsure(turn) && <span class="visually-hidden">{say('The engine was not sure of this text.')}</span>}
      {turn.heard_text !== undefined && (
        <p class="turn-edited">
          <Badge>{say('Edited')}</Badge>
          <Button
            kind="quiet"
            small
            busy={restore.busy}
            aria-label={say('Restore what was heard at {time}', { time: clockText(turn.start_ms) })}
            onClick={() => void restore.run()}
          >
            {say('Restore what was heard')}
          </Button>
        </p>
      )}
    </div>
  );
}

/** Text that nobody corrected, and of which the engine was not sure. */
export function isUnsure({ confidence, heard_text }: Turn): boolean {
  return confidence !== null && confidence < UNSURE_BELOW && heard_text === undefined;
}

/** The word that sounds now, in a turn that is heard; null before anything was played. */
function useHeardWord(turn: Turn, player: Player, is_heard: boolean): WordPlace | null {
  const places = useWordPlaces(turn, is_heard);
  const [heard, setHeard] = useState<WordPlace | null>(null);
  useEffect(() => {
    if (!is_heard || player.text_ms !== null) return setHeard(null);
    return effect(() => {
      const at_ms = player.position_ms.value;
      setHeard(at_ms > 0 || player.playing.value ? wordHeard(places, at_ms) : null);
    });
  }, [is_heard, places]);
  return heard;
}

/** Where the draft of an edit lies. */
export function draftPlaceOf({ id }: Turn): string {
  return `turn-${id}`;
}

/** The text of a turn in a field: Enter saves it, Shift and Enter begin a new line, Escape leaves it as it was. */
export function TurnTextEditor({
  turn,
  onDone,
  onChanged,
}: {
  turn: Turn;
  onDone: () => void;
  onChanged: (turn: Turn) => void;
}) {
  const place = draftPlaceOf(turn);
  const [text, setText] = useDraftAt(place, 'text', turn.text);
  const close = () => {
    forgetDrafts(place);
    onDone();
  };
  const field = useRef<HTMLTextAreaElement>(null);
  const save = useAction(async () => {
    onChanged(await saved(turn, text));
    close();
  });
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(text.length, text.length);
  }, []);
  useEffect(() => {
    if (save.error !== null) field.current?.focus();
  }, [save.error]);
  const fault = faultOf(save.error, 'text');
  const ids = { fault: `fault-${turn.id}`, heard: `heard-${turn.id}`, keys: `keys-${turn.id}` };
  const described = [
    ...(fault === null ? [] : [ids.fault]),
    ...(turn.heard_text === undefined ? [] : [ids.heard]),
    ids.keys,
  ];
  const onKey = (event: KeyboardEvent) => {
    // Enter and Escape that end the choice of a character are the keyboard's own.
    if (event.isComposing) return;
    if (event.key === 'Escape' && !save.busy) close();
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    void save.run();
  };
  return (
    <form
      class="turn-said"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void save.run();
      }}
    >
      <textarea
        ref={field}
        lang={turn.language ?? undefined}
        aria-label={say('What was said at {time}', { time: clockText(turn.start_ms) })}
        aria-describedby={described.join(' ')}
        aria-invalid={fault === null ? undefined : true}
        readOnly={save.busy}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          if (save.error !== null) save.clear();
        }}
        onKeyDown={onKey}
      />
      {fault !== null && (
        <p class="field-error" id={ids.fault} role="alert">
          {fault}
        </p>
      )}
      <FormProblem error={save.error} fields={['text']} />
      {turn.heard_text !== undefined && (
        <p class="hint" id={ids.heard}>
          {sayWith('Heard: {text}', { text: <bdi>{turn.heard_text}</bdi> })}
        </p>
      )}
      <div class="turn-actions">
        <Button kind="primary" small type="submit" busy={save.busy}>
          {save.busy ? say('Saving…') : say('Save')}
        </Button>
        <Button small disabled={save.busy} onClick={close}>
          {say('Cancel')}
        </Button>
        <span class="turn-keys" id={ids.keys}>
          {say('Enter saves, Shift+Enter starts a new line, Escape cancels.')}
        </span>
      </div>
    </form>
  );
}

/** `text`: null for what was heard. */
function saved({ id }: Turn, text: string | null): Promise<Turn> {
  return api('PATCH /turns/{id}', { path: { id }, body: { text } });
}
