import t, { type Test } from 'tap';
import { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { diskFull } from './disk_faults.js';
import { Trial } from './trial.js';
import { canBoundFiles, uploadsWithoutRoom } from './upload_faults.js';

/** Fault 4 in its smallest form. More: `npm run spool -- faults disk`. */

const trialOf = (t: Test) => {
  const trial = new Trial(new SeededRandom(4), { seconds: 0, away_ms: 0 });
  t.teardown(() => trial.end());
  return trial;
};

t.test(
  'J-017 the disk of Redis is full: 503, nothing acknowledged is lost, and it serves again by itself',
  async (t) => {
    const trial = trialOf(t);
    await diskFull(trial);
    t.same(trial.problems, []);
  },
);

t.test('H-023 the disk of audio is full: 503, nothing counts as stored, and retries succeed', async (t) => {
  if (!canBoundFiles) {
    console.log('not run: uploads to a full disk, since there is no prlimit');
    return;
  }
  const trial = trialOf(t);
  await uploadsWithoutRoom(trial);
  t.same(trial.problems, []);
  t.equal(trial.tries, 2);
});
