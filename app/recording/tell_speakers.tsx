import type { Transcript, Turn } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useAction, usePolling } from '../api/loading.js';
import type { Player } from '../audio/player.js';
import { say } from '../language/say.js';
import { Button } from '../parts/button.js';
import { FormProblem } from '../parts/field.js';
import { speakerWords } from './speaker_colours.js';

const POLL_MS = 2_000;
const COUNTS = [2, 3] as const;
const SAMPLES = 2;

type TellProps = {
  stream_id: string;
  transcript: Transcript;
  turns: readonly Turn[];
  player: Player;
  /** Asks for the transcript and its turns anew. */
  onChanged: () => void;
};

/** Has speakers told apart by their number, and shows them as a suggestion that can be undone. */
export function TellSpeakers(props: TellProps) {
  const { told_speakers } = props.transcript;
  switch (told_speakers?.state) {
    case 'under_way':
      return <UnderWay {...props} />;
    case 'done':
      return <Suggestion {...props} />;
    default:
      return <Ask {...props} />;
  }
}

function Ask({ stream_id, transcript, onChanged }: TellProps) {
  const tell = useAction(async (count: number) => {
    await api('POST /turns/speakers', { body: { stream_id, count } });
    onChanged();
  });
  const told = transcript.told_speakers;
  return (
    <div class="tell-speakers">
      {told?.state === 'failed' && (
        <p class="notice">
          {told.code === 'FEWER_VOICES'
            ? say('So many voices were not found in this recording.')
            : say('The speakers could not be told apart.')}
        </p>
      )}
      <fieldset class="tell-counts">
        <legend>{say('Tell speakers apart. How many people speak?')}</legend>
        {COUNTS.map((count) => (
          <Button key={count} small busy={tell.busy} onClick={() => void tell.run(count)}>
            {String(count)}
          </Button>
        ))}
      </fieldset>
      <FormProblem error={tell.error} />
    </div>
  );
}

function UnderWay({ stream_id, onChanged }: TellProps) {
  usePolling(true, POLL_MS, onChanged);
  return (
    <div class="tell-speakers" role="status">
      <p>{say('Spool listens to the recording and tells the speakers apart.')}</p>
      <Undo stream_id={stream_id} words={say('Cancel')} onChanged={onChanged} />
    </div>
  );
}

function Suggestion({ stream_id, transcript, turns, player, onChanged }: TellProps) {
  const told = new Set(transcript.told_speakers?.speakers);
  return (
    <div class="tell-speakers">
      <p>{say('A suggestion by the voices. Listen before you name them.')}</p>
      <ul class="told-speakers">
        {transcript.speakers
          .filter(({ speaker }) => told.has(speaker))
          .map(({ speaker, name }) => (
            <li key={speaker}>
              <bdi>{name ?? speakerWords(speaker)}</bdi>
              {samplesOf(turns, speaker).map((turn, at) => (
                <Button key={turn.id} small kind="quiet" icon="play" onClick={() => player.playFrom(turn.start_ms)}>
                  {say('Sample {n}', { n: at + 1 })}
                  <span class="visually-hidden"> {name ?? speakerWords(speaker)}</span>
                </Button>
              ))}
            </li>
          ))}
      </ul>
      <Undo stream_id={stream_id} words={say('Undo')} onChanged={onChanged} />
    </div>
  );
}

function Undo({ stream_id, words, onChanged }: { stream_id: string; words: string; onChanged: () => void }) {
  const undo = useAction(async () => {
    await api('POST /turns/speakers/undo', { body: { stream_id } });
    onChanged();
  });
  return (
    <>
      <Button small busy={undo.busy} onClick={() => void undo.run()}>
        {words}
      </Button>
      <FormProblem error={undo.error} />
    </>
  );
}

/** The longest turns of a speaker, in their order. */
function samplesOf(turns: readonly Turn[], speaker: string): Turn[] {
  const length = ({ start_ms, end_ms }: Turn) => end_ms - start_ms;
  return turns
    .filter((turn) => turn.speaker === speaker)
    .sort((a, b) => length(b) - length(a))
    .slice(0, SAMPLES)
    .sort((a, b) => a.start_ms - b.start_ms);
}
