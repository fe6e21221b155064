import { useEffect } from 'preact/hooks';
import { type PlainText, say, sayChoices } from '../language/say.js';
import { SelectField } from '../parts/field.js';
import {
  canShareSound,
  chooseMicrophone,
  findMicrophones,
  microphone_id,
  microphones,
  type Sound,
  sound,
} from './sounds.js';

const SOUNDS: readonly (readonly [Sound, PlainText])[] = [
  ['microphone', 'The microphone'],
  ['shared', 'A tab’s or the computer’s sound'],
  ['both', 'Both'],
];

/** Asks what is recorded, and by which microphone; nothing where there is no choice. */
export function SoundChoice() {
  useEffect(() => {
    void findMicrophones();
    const changed = () => void findMicrophones();
    navigator.mediaDevices?.addEventListener('devicechange', changed);
    return () => navigator.mediaDevices?.removeEventListener('devicechange', changed);
  }, []);
  const known = microphones.value;
  const is_known = known.some(([id]) => id === microphone_id.value);
  return (
    <>
      {canShareSound() && (
        <SelectField
          label={say('Sound')}
          value={sound.value}
          onValue={(value) => {
            sound.value = SOUNDS.find(([one]) => one === value)?.[0] ?? 'microphone';
          }}
          options={sayChoices(SOUNDS)}
          hint={
            sound.value === 'microphone'
              ? undefined
              : say('The browser asks which tab or screen: choose one, and tick that its sound is shared.')
          }
        />
      )}
      {known.length > 1 && sound.value !== 'shared' && (
        <SelectField
          label={say('Microphone')}
          value={is_known ? microphone_id.value : ''}
          onValue={chooseMicrophone}
          options={[['', say('As the system chooses')], ...known]}
        />
      )}
    </>
  );
}
