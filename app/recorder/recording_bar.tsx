import { clockText } from '../../src/domain/span_text.js';
import { say } from '../language/say.js';
import { BASE, place } from '../router.js';
import { is_recording, recorded_ms, recorder, unheard } from './recorder.js';

/** On all other pages: that a recording is under way. */
export function RecordingBar() {
  if (!is_recording.value || place.value.path === '/record') return null;
  const { is } = recorder.value;
  const words = unheard.value === null ? say('Recording|now') : say('Nothing is heard');
  return (
    <a class="recording-bar" href={`${BASE}/record`}>
      <span class={is === 'recording' ? 'dot live' : 'dot'} aria-hidden="true" />
      <span>
        {is === 'recording' ? words : is === 'paused' ? say('Recording is paused') : say('Sending the recording')}
      </span>
      <span class="soft">{clockText(recorded_ms.value)}</span>
    </a>
  );
}
