import { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { scenario } from '../driver/scenario.js';
import { Trial } from '../faults/trial.js';
import { OtherBuild, versionsSideBySide } from '../faults/versions.js';
import { drawSeed } from '../fixtures/seed.js';

/**
 * The older one first and the newer beside it, and the other way round. No 500, nothing lost, and what one wrote the
 * other reads or says 503 to. `revision` is 1.0 or a later one.
 */
scenario({
  title: 'another revision and this checkout side by side, on one Redis, keys and audio',
  smoke: null, // the other revision has to be built
  full: { revision: 'HEAD', seconds: 10 },
  async run(t, { revision, seconds }) {
    const random = new SeededRandom(drawSeed(t));
    const other = new OtherBuild(revision);
    const remove = () => other.remove();
    process.once('exit', remove);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
    const orders: [string, (string | null)[]][] = [
      [`${revision}, then this one`, [other.main, null]],
      [`this one, then ${revision}`, [null, other.main]],
    ];
    for (const [name, mains] of orders) {
      await t.test(name, async (t) => {
        const trial = new Trial(random, { seconds, away_ms: 0 });
        t.teardown(() => trial.end());
        await versionsSideBySide(trial, mains);
        const { counts, invariants, problems } = trial;
        t.comment(`${counts.ok} ok, ${counts.refused} refused, ${counts.unknown} unknown, ${invariants} checked`);
        t.same(problems, []);
      });
    }
  },
});
