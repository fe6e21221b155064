import { say, sayCount, sayWith } from '../language/say.js';
import { Button } from '../parts/button.js';
import { TextField } from '../parts/field.js';
import { durationText, Time } from '../parts/time.js';
import { confirmTranscript, type ImportRow, setTranscriptTime } from './imports.js';
import type { TranscriptPreview } from './transcript_preview.js';

const NAMES_SHOWN = 3;

/** Shows the contents of a transcript before it is sent, and asks when it was recorded. */
export function TranscriptReview({ of: { key, file, text, preview, time } }: { of: ImportRow }) {
  if (preview === null) return null;
  const { recorded_ms } = preview;
  return (
    <form
      class="import-review"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        confirmTranscript(key);
      }}
    >
      <TranscriptFacts of={preview} />
      {text !== null ? (
        <p class="hint">{say('{name} becomes its text. It is not transcribed.', { name: text.name })}</p>
      ) : recorded_ms === null ? (
        <TextField
          label={say('Recorded on')}
          type="datetime-local"
          value={time}
          onValue={(changed) => setTranscriptTime(key, changed)}
          hint={say(
            'The file does not say it. This is when the file was last changed. Empty: the time of the import counts.',
          )}
        />
      ) : (
        <p class="row-facts">
          <span>
            {sayWith('Recorded {time}, as the file says', { time: <Time at={new Date(recorded_ms).toISOString()} /> })}
          </span>
        </p>
      )}
      <div class="actions">
        <Button kind="primary" small type="submit" aria-label={say('Import {name}', { name: file.name })}>
          {say('Import')}
        </Button>
      </div>
    </form>
  );
}

function TranscriptFacts({ of: { form, lines, speakers, length_ms } }: { of: TranscriptPreview }) {
  return (
    <p class="row-facts">
      <span>{form}</span>
      <span>{sayCount(lines, { one: '{n} line', other: '{n} lines' })}</span>
      <span>{durationText(length_ms)}</span>
      <bdi>{speakersText(speakers)}</bdi>
    </p>
  );
}

function speakersText(speakers: readonly string[]): string {
  const names = speakers.slice(0, NAMES_SHOWN).join(', ');
  const others = speakers.length - NAMES_SHOWN;
  if (names === '') return say('No speakers named');
  return others <= 0
    ? names
    : sayCount(others, { one: '{names} and {n} more', other: '{names} and {n} more' }, { names });
}
