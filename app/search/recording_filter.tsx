import { say } from '../language/say.js';
import { Button } from '../parts/button.js';
import { RecordingLink } from '../recording/stream_names.js';
import { setQuery } from '../router.js';

/** Says which recording alone is searched, and ends that. */
export function RecordingFilter({ stream_id }: { stream_id: string }) {
  return (
    <p class="recording-filter">
      <span>{say('Only in')}</span>
      <RecordingLink stream_id={stream_id} at_ms={0} otherwise={say('one recording')} />
      <Button
        kind="quiet"
        small
        icon="close"
        label={say('Search all recordings')}
        onClick={() => {
          setQuery({ recording: null });
          // The button goes, and would take the focus along.
          document.querySelector<HTMLElement>('.search input')?.focus();
        }}
      />
    </p>
  );
}
