import t from 'tap';
import { TestAccount } from '../fixtures/account.js';
import { TestSpool } from '../fixtures/spool.js';

const HOUR_MS = 3_600_000;
/** Longer than a route waits for what its command sent. */
const UNDER_WAY_MS = 2_500;

t.test('what was asked before the clock moves is handled before it moves', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const { id } = await ann.workspace('Team');
  const { actors, runtime } = spool.server.services;
  const deliver = runtime.deliver.bind(runtime);
  t.intercept(runtime, 'deliver', {
    value: async (...[to, message]: Parameters<typeof deliver>) => {
      if (to.kind === 'sweep') await new Promise((arrived) => setTimeout(arrived, UNDER_WAY_MS));
      return deliver(to, message);
    },
  });
  await ann.app.send('PATCH', `/workspaces/${id}`, { body: { retention: { audio: { days: 30 } } } });
  await spool.operator.ask('POST', '/ops/clock', { advance_ms: HOUR_MS });
  const sweep = await actors.sweep(id).view();
  t.equal(sweep.begun, 1, 'the sweep knew of its settings within that hour');
});
