import t from 'tap';
import { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { drawSeed } from '../fixtures/seed.js';
import { filesCut } from './disk_faults.js';
import { Trial } from './trial.js';

/** Fault 3 in its smallest form. More: `npm run spool -- faults file_cut`. */
const SECONDS = 1.5;

t.test('J-017 the append-only file is cut at any byte: what is left is a prefix of whole commits', async (t) => {
  const seed = drawSeed(t);
  const trial = new Trial(new SeededRandom(seed), { seconds: SECONDS, away_ms: 0 });
  t.teardown(() => trial.end());
  await filesCut(trial);
  t.same(trial.problems, []);
  t.ok(trial.tries >= 12, `${trial.tries} cuts`);
});
