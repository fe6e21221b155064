import { say } from '../language/say.js';
import { level } from './recorder.js';

/** Speech lies far below full scale: quiet sounds are to be seen as well. */
const FLOOR_DB = -50;

export function LevelMeter() {
  const loud = level.value;
  const decibels = loud === 0 ? FLOOR_DB : Math.max(FLOOR_DB, 20 * Math.log10(loud));
  const share = 1 - decibels / FLOOR_DB;
  return <meter class="level" aria-label={say('Input level')} min={0} max={1} value={share} />;
}
