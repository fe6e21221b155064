import type { Test } from 'tap';
import { LIMITS } from '../../src/domain/limits.js';
import { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { scenario } from '../driver/scenario.js';
import { Servers } from '../driver/servers.js';
import { TestEndpoint } from '../fixtures/endpoints.js';
import type { Behaviour } from '../fixtures/receiver.js';
import { drawSeed, drawSome } from '../fixtures/seed.js';
import { until } from '../fixtures/until.js';

const KILLED_MAX_MS = 5_000;

/** Where a server is killed: as a commit is under way, before it takes effect or after; or while a request is. */
export type KillPoint =
  | { name: string; at: 'request' }
  | { name: string; at: 'commit'; nth: number; what: 'request' | 'reply' };

/** From the rename on: it, then a claim and a result for each endpoint. */
const COMMITS = [1, 2, 3, 4, 5];
/** Where a server is killed, by their kind. */
const KINDS: KillPoint[][] = [
  COMMITS.map((nth) => ({ name: `before commit ${nth}`, at: 'commit', nth, what: 'request' })),
  COMMITS.map((nth) => ({ name: `after commit ${nth}`, at: 'commit', nth, what: 'reply' })),
  [{ name: 'while requests hang', at: 'request' }],
];

scenario({
  title:
    'F-041 faults 1 and 12: killed around a claim, its request and its result: each event arrives, and counts once',
  smoke: { points: 1 },
  full: { points: Infinity },
  run: webhookKills,
});

/**
 * Kills the server at each point of a rename with two endpoints, one that accepts and one that refuses: afterwards each
 * has got the event at least once as one delivery, no attempt is missing, and a failure counts once.
 */
async function webhookKills(t: Test, { points: of_each_kind }: { points: number }): Promise<void> {
  const random = new SeededRandom(drawSeed(t));
  const points = KINDS.flatMap((kind) => drawSome(random, kind, of_each_kind));
  const servers = await Servers.open(t, { receives: true });
  const { receiver } = servers;
  const app = servers.client((await servers.signIn('kills@x.test')).access_token);
  let killed = 0;
  for (const [index, point] of points.entries()) {
    const hang: Behaviour = () => {};
    const refuse: Behaviour = 410;
    const paths = { good: `/good${index}`, bad: `/bad${index}` };
    receiver.on(paths.good, point.at === 'request' ? hang : 204);
    receiver.on(paths.bad, point.at === 'request' ? hang : refuse);
    const good = await TestEndpoint.open(app, receiver.url(paths.good));
    const bad = await TestEndpoint.open(app, receiver.url(paths.bad));

    const kill = point.at === 'commit' ? servers.loseCommit(point.nth, point) : null;
    const answer = await app.send('PATCH', '/me', { body: { name: `Kill ${index}` } }).catch(() => null);
    if (kill === null) await Promise.all([receiver.count(paths.good, 1), receiver.count(paths.bad, 1)]);
    else await kill.wait(KILLED_MAX_MS);
    if (kill?.is_over() ?? true) killed += 1;
    kill?.cancel();
    servers.kill();
    await servers.restart();
    receiver.on(paths.good, 204);
    receiver.on(paths.bad, refuse);
    if (answer?.status !== 200) {
      const { name } = await good.app.ask<{ name: string }>('GET', '/me');
      if (name !== `Kill ${index}`) await good.app.ask('PATCH', '/me', { name: `Kill ${index}` });
    }
    await servers.operator.advanceClock(LIMITS.delivery_lease_ms + 1_000);

    for (const [endpoint, path, outcome] of [
      [good, paths.good, 'succeeded'],
      [bad, paths.bad, 'failed'],
    ] as const) {
      await until(`${point.name}: it has ended`, async () => (await endpoint.newest()).status === outcome);
      const deliveries = await endpoint.deliveries();
      t.equal(deliveries.length, 1, `${point.name}: one delivery`);
      const { id, attempts } = await endpoint.newest();
      const came = receiver.at(path);
      t.ok(came.length >= 1, `${point.name}: ${outcome} came`);
      t.same([...new Set(came.map(({ headers }) => headers['webhook-id']))], [id], `${point.name}: as one delivery`);
      // A claim whose request was never sent is an attempt too: nobody can know.
      t.ok(attempts.length >= came.length, `${point.name}: ${came.length} came, ${attempts.length} are told of`);
      const errors = attempts.map(({ error }) => error);
      t.same(
        errors,
        [...attempts.slice(1).map(() => 'interrupted'), null],
        `${point.name}: the last alone was answered`,
      );
      t.ok(attempts.length <= 2, `${point.name}: ${attempts.length} attempts`);
      const { failure_count, status } = await endpoint.read();
      t.same([failure_count, status], [outcome === 'failed' ? 1 : 0, 'active'], `${point.name}: counted once`);
      await endpoint.app.ask('DELETE', `/endpoints/${endpoint.id}`);
    }
  }
  t.comment(`killed at ${killed} of ${points.length} points`);
  t.ok(killed >= points.length - 1, `${killed} kills`);
}
