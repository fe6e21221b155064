import type { ComponentChildren } from 'preact';
import type { Transcript, Turn } from '../../kits/typescript/src/api.js';
import { say } from '../language/say.js';
import { Button } from '../parts/button.js';
import { Dialog, useDialogOpen } from '../parts/dialog.js';
import { durationText } from '../parts/time.js';
import { AttributionForm, useAttribution } from './attribution_form.js';
import type { VoiceColours } from './speaker_colours.js';
import { Speakers } from './speakers.js';

const UNKNOWN_TITLE = 'Who is this?' as const;

type WhoSpeaksProps = {
  stream_id: string;
  has_audio: boolean;
  speakers: Transcript['speakers'];
  turns: readonly Turn[];
  colourOf: VoiceColours;
  /** Has speakers told apart by their number; absent where that cannot be. */
  telling?: ComponentChildren;
  onTranscript: (transcript: Transcript) => void;
  onChanged: (turn: Turn) => void;
};

/** The speakers of a recording: those told apart, the people whom turns name, and the turns without a name. */
export function WhoSpeaks({
  stream_id,
  has_audio,
  speakers,
  turns,
  colourOf,
  telling,
  onTranscript,
  onChanged,
}: WhoSpeaksProps) {
  const unknown = turns.filter(({ speaker, contact_id }) => speaker === null && contact_id === null);
  const named = namedBeside(speakers, turns);
  if (speakers.length + named.length + unknown.length === 0) return null;
  return (
    <section class="panel">
      <h2>{say('Who speaks')}</h2>
      {telling}
      {speakers.length > 0 && (
        <Speakers
          stream_id={stream_id}
          has_audio={has_audio}
          speakers={speakers}
          colourOf={colourOf}
          onChange={onTranscript}
        />
      )}
      {named.length > 0 && (
        <ul class="speakers">
          {named.map(({ turn, talk_ms }) => (
            <li key={turn.contact_id}>
              <span class={`dot line-${colourOf(turn)}`} aria-hidden="true" />
              <span class="speaker-name">
                <bdi>{turn.speaker_name}</bdi>
                <span class="soft">{durationText(talk_ms)}</span>
              </span>
            </li>
          ))}
        </ul>
      )}
      {unknown.length > 0 && <Unknown turns={unknown} speakers={speakers} onChanged={onChanged} />}
      {telling === undefined && speakers.length === 0 && unknown.length > 0 && (
        <p class="hint">
          {say(
            'The speakers can’t be told apart here. Name them all at once, select several turns, or name a turn and those behind it.',
          )}
        </p>
      )}
    </section>
  );
}

function Unknown({
  turns,
  speakers,
  onChanged,
}: {
  turns: readonly Turn[];
  speakers: Transcript['speakers'];
  onChanged: (turn: Turn) => void;
}) {
  const [open, setOpen] = useDialogOpen(say(UNKNOWN_TITLE));
  const close = () => setOpen(false);
  const attribution = useAttribution({ turns, onChanged, onDone: close });
  return (
    <ul class="speakers">
      <li>
        <span class="dot line-0" aria-hidden="true" />
        <span class="speaker-name">
          {say('Unknown')} <span class="soft">{durationText(talkOf(turns))}</span>
        </span>
        <Button small kind="quiet" onClick={() => setOpen(true)}>
          {say('Name|verb')}
          <span class="visually-hidden"> {say('the unknown')}</span>
        </Button>
        <Dialog open={open} title={say(UNKNOWN_TITLE)} onClose={close}>
          <AttributionForm speakers={speakers} attribution={attribution} />
        </Dialog>
      </li>
    </ul>
  );
}

/** The people whom turns name and no speaker is, each with a turn of theirs. */
function namedBeside(speakers: Transcript['speakers'], turns: readonly Turn[]): { turn: Turn; talk_ms: number }[] {
  const known = new Set(speakers.map(({ contact_id }) => contact_id));
  const beside = turns.filter(({ contact_id }) => contact_id !== null && !known.has(contact_id));
  const contacts = [...new Set(beside.map(({ contact_id }) => contact_id))];
  return contacts.map((contact_id) => {
    const own = beside.filter((turn) => turn.contact_id === contact_id);
    return { turn: own[0] as Turn, talk_ms: talkOf(own) };
  });
}

function talkOf(turns: readonly Turn[]): number {
  return turns.reduce((sum, { start_ms, end_ms }) => sum + end_ms - start_ms, 0);
}
