import t from 'tap';
import { LIMITS } from '../../../src/domain/limits.js';
import { TestAccount } from '../../fixtures/account.js';
import { TestEndpoint } from '../../fixtures/endpoints.js';
import { Receiver } from '../../fixtures/receiver.js';
import { TestSpool } from '../../fixtures/spool.js';
import { until } from '../../fixtures/until.js';

/** Fault 14: the tenth failure races a success, a change of status and the end of the account. */

const TENTH = LIMITS.endpoint_failures_max;
const ANSWERS = [
  [400, 204, 400],
  [204, 400, 400],
  [400, 400, 400],
];

type Racer = { name: string; run: (account: TestAccount, endpoint: TestEndpoint) => Promise<unknown>; allowed: RegExp };

/** What a race may leave, as `status reason failures`. */
const RACERS: Racer[] = [
  { name: 'nobody', run: async () => {}, allowed: /^(active - [0-2]|disabled consecutive_failures 10)$/ },
  {
    name: 'a pause',
    run: (_account, endpoint) => endpoint.set('paused').catch(() => {}), // refused when it was disabled before
    allowed: /^(paused - ([0-2]|9|1[0-2])|disabled consecutive_failures 10)$/,
  },
  {
    name: 'somebody disabling it',
    run: (_account, endpoint) => endpoint.set('disabled'),
    allowed: /^disabled (- ([0-2]|9)|consecutive_failures 10)$/,
  },
  {
    name: 'somebody setting it active',
    run: (_account, endpoint) => endpoint.set('active'),
    allowed: /^(active - [0-2]|disabled consecutive_failures 10)$/,
  },
  {
    name: 'the end of the account',
    async run(account) {
      await account.ask('DELETE', '/me');
      await account.ask('POST', '/me/restore');
    },
    allowed: /^(active - ([0-2]|9)|disabled consecutive_failures 10)$/,
  },
];

t.test('F-013 F-016 F-017 F-037 the tenth failure races with others, and is counted once', async (t) => {
  const receiver = await Receiver.start();
  const spool = await TestSpool.start({ ...receiver.env, RATE_LIMITS: 'off' });
  t.teardown(async () => {
    await spool.end();
    await receiver.end();
  });
  const happen = async (account: TestAccount, count: number) => {
    await Promise.all(Array.from({ length: count }, () => account.ask('PATCH', '/me', { name: `n${Math.random()}` })));
  };
  const standing = async (endpoint: TestEndpoint) => {
    const { status, disabled_reason, failure_count } = await endpoint.read();
    return `${status} ${disabled_reason ?? '-'} ${failure_count}`;
  };
  const ids: string[] = [];
  let disabled = 0;
  for (const [index, racer] of RACERS.entries()) {
    const seen = new Set<string>();
    for (const [round, answers] of ANSWERS.entries()) {
      const account = await TestAccount.open(spool, `race${index}.${round}@x.test`, { sharing: false });
      const path = `/race${index}.${round}`;
      const held: ((status: number) => void)[] = [];
      receiver.on(path, (nth, _request, response) => {
        if (nth >= TENTH) held.push((status) => void response.writeHead(status).end());
        else response.writeHead(400).end();
      });
      const endpoint = await TestEndpoint.open(account, receiver.url(path), ['account.updated']);
      ids.push(endpoint.id);
      await happen(account, TENTH - 1);
      await until('nine have failed', async () => (await endpoint.read()).failure_count === TENTH - 1);
      await happen(account, answers.length);
      await until('all are under way', () => held.length === answers.length);
      const raced = racer.run(account, endpoint);
      for (const [at, letGo] of held.entries()) letGo(answers[at] as number);
      await raced;
      await until('nothing is under way', async () =>
        (await endpoint.statuses()).every((status) => status !== 'leased'),
      );
      const found = await standing(endpoint);
      seen.add(found);
      t.match(found, racer.allowed, `${racer.name}, ${answers}`);
      await until('every attempt is kept', async () => {
        const deliveries = await endpoint.deliveries();
        return deliveries.filter(({ attempt_count }) => attempt_count === 1).length === TENTH - 1 + answers.length;
      });
      t.equal(await standing(endpoint), found, 'what comes late changes nothing');
      if (found.includes('consecutive')) disabled += 1;
    }
    t.comment(`${racer.name}: ${[...seen].join(', ')}`);
  }
  const { services } = spool.server;
  const counted = (await services.metrics.endpoints_disabled.get()).values[0]?.value ?? 0;
  t.ok(counted >= disabled, `${counted} were disabled by their failures, ${disabled} still are`);
  await spool.operator.advanceClock(0);
  const { items } = await spool.operator.ask<{ items: { text: string }[] }>('GET', '/inbox?limit=100');
  const mails = items.filter(({ text }) => ids.some((id) => text.includes(id)));
  t.equal(mails.length, counted, 'a mail for each, and no more');
});
