import type { Test } from 'tap';
import type { Account } from '../../kits/typescript/src/api.js';
import { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { scenario } from '../driver/scenario.js';
import { Servers } from '../driver/servers.js';
import { Successes } from '../driver/successes.js';
import type { AppClient } from '../fixtures/app_client.js';
import { allOf, type Colleague, colleagueFaults, membershipEvents, payload } from '../fixtures/colleagues.js';
import { drawSeed } from '../fixtures/seed.js';
import { until } from '../fixtures/until.js';

/** Of each kind so many of a hundred operations must come to something, on the whole. */
const DONE_LEAST = 0.15;
const SETTLED_MAX_MS = 45_000;

type Size = { accounts: number; operations: number; at_once: number };

scenario<Size>({
  title: 'I-003 I-011 D-025 D-031 whichever of two processes is asked, people and workspaces agree',
  smoke: { accounts: 5, operations: 250, at_once: 6 },
  full: { accounts: 12, operations: 10_000, at_once: 24 },
  run: workspaceRaces,
});

/**
 * Several people work on the same workspaces, delete and restore their accounts, at two processes on one Redis, many at
 * a time; then all that they see must agree.
 */
async function workspaceRaces(t: Test, { accounts, operations, at_once }: Size): Promise<void> {
  const random = new SeededRandom(drawSeed(t));
  const servers = await Servers.open(t, { count: 2, storage: 'beside' });

  const people: Colleague[] = [];
  const came = await Promise.all(
    Array.from({ length: accounts }, async (_, index) => {
      const email = `c${index}@x.test`;
      const { user, access_token } = await servers.signIn(email);
      await servers.entitle(email);
      const both = servers.clients(access_token);
      return { email, account_id: user.id, app: () => random.pick(both) };
    }),
  );
  people.push(...came);

  const done = new Successes();
  const refused: Record<string, number> = {};
  const known = new Set<string>();
  /** By account, what it came in by: the same invitation accepted twice at once is joined once. */
  const joins = new Map<string, Set<string>>();
  const joined = ({ account_id }: Colleague, by: string) =>
    joins.set(account_id, (joins.get(account_id) ?? new Set()).add(by));

  /** What was answered is none of 500, and counts when it is a success. */
  const ask = async (what: string, app: AppClient, method: string, path: string, body?: unknown) => {
    const answer = await app.send(method, path, { body });
    if (answer.status >= 500 && answer.status !== 503) t.fail(`${what}: ${answer.status} ${answer.body}`);
    if (answer.status < 300) done.add(what);
    else {
      const { error } = JSON.parse(answer.body.toString()) as { error?: { message?: string } };
      const how = answer.status === 503 ? `${what} 503 ${error?.message}` : `${what} ${answer.status}`;
      refused[how] = (refused[how] ?? 0) + 1;
    }
    return answer;
  };
  const shared = async (who: Colleague, roles: string[]): Promise<string | null> => {
    if (known.size > 0 && random.chance(0.1)) return random.pick([...known]);
    const answer = await who.app().send('GET', '/me');
    if (answer.status !== 200) return null;
    const all = payload<Account>(answer).workspaces.filter((workspace) => !workspace.private);
    const fit = all.filter(({ role }) => roles.includes(role));
    return all.length === 0 ? null : random.pick(fit.length > 0 ? fit : all).id;
  };
  const OPERATIONS: readonly [share: number, run: (who: Colleague) => Promise<void>][] = [
    [
      8,
      async (who) => {
        const answer = await ask('create', who.app(), 'POST', '/workspaces', { name: `team ${random.below(99)}` });
        if (answer.status !== 201) return;
        const { id } = payload<{ id: string }>(answer);
        known.add(id);
        joined(who, id);
      },
    ],
    [
      24,
      async (who) => {
        const id = await shared(who, ['admin', 'owner']);
        const body = { email: random.pick(people).email, role: random.pick(['member', 'admin']) };
        if (id !== null) await ask('invite', who.app(), 'POST', `/workspaces/${id}/invitations`, body);
      },
    ],
    [
      26,
      async (who) => {
        const listed = await who.app().send('GET', '/me/invitations');
        if (listed.status !== 200) return;
        const { items } = payload<{ items: { id: string }[] }>(listed);
        if (items.length === 0) return;
        const answer = random.chance(0.85) ? 'accept' : 'decline';
        const { id } = random.pick(items);
        const { status } = await ask(answer, who.app(), 'POST', `/me/invitations/${id}/${answer}`);
        if (answer === 'accept' && status === 204) joined(who, id);
      },
    ],
    [6, (who) => onMember(who, 'role', (path) => ['PATCH', path, { role: random.pick(['member', 'admin']) }])],
    [5, (who) => onMember(who, 'remove', (path) => ['DELETE', path])],
    [
      6,
      (who) =>
        onMember(who, 'transfer', (_, { id, account_id }) => ['POST', `/workspaces/${id}/transfer`, { account_id }]),
    ],
    [4, (who) => onSome(who, 'leave', ['member', 'admin'], (id) => ['POST', `/workspaces/${id}/leave`])],
    [
      4,
      (who) =>
        onSome(who, 'rename', ['owner'], (id) => ['PATCH', `/workspaces/${id}`, { name: `x${random.below(3)}` }]),
    ],
    [3, (who) => onSome(who, 'end', ['owner'], (id) => ['DELETE', `/workspaces/${id}`])],
    [
      8,
      async (who) => {
        const { status } = await ask('delete', who.app(), 'DELETE', '/me');
        if (status === 204 && random.chance(0.9)) await ask('restore', who.app(), 'POST', '/me/restore');
      },
    ],
    [2, async (who) => void (await ask('restore', who.app(), 'POST', '/me/restore'))],
    [
      4,
      async (who) => {
        const body = { name: 'token', permissions: ['turns:read'] };
        await ask('token', who.app(), 'POST', '/me/tokens', body);
      },
    ],
  ];
  async function onSome(
    who: Colleague,
    what: string,
    roles: string[],
    call: (id: string) => [method: string, path: string, body?: unknown],
  ): Promise<void> {
    const id = await shared(who, roles);
    if (id !== null) await ask(what, who.app(), ...call(id));
  }
  async function onMember(
    who: Colleague,
    what: string,
    call: (path: string, of: { id: string; account_id: string }) => [method: string, path: string, body?: unknown],
  ): Promise<void> {
    const id = await shared(who, ['owner']);
    if (id === null) return;
    const listed = await who.app().send('GET', `/workspaces/${id}/members`);
    const { items } = listed.status === 200 ? payload<{ items: { account_id: string }[] }>(listed) : { items: [] };
    const others = items.filter((member) => member.account_id !== who.account_id);
    const { account_id } = random.pick(others.length > 0 ? others : people);
    await ask(what, who.app(), ...call(`/workspaces/${id}/members/${account_id}`, { id, account_id }));
  }

  const total = OPERATIONS.reduce((sum, [share]) => sum + share, 0);
  let begun = 0;
  const work = async () => {
    while (begun++ < operations) {
      let roll = random.below(total);
      const who = random.pick(people);
      for (const [share, run] of OPERATIONS) {
        if (roll < share) {
          await run(who);
          break;
        }
        roll -= share;
      }
    }
  };
  await Promise.all(Array.from({ length: at_once }, work));
  t.comment(`done ${JSON.stringify(done.by_kind)}, refused ${JSON.stringify(refused)}`);
  t.ok(done.total >= operations * DONE_LEAST, `${done.total} of ${operations} operations came to something`);

  // A deletion that was not decided in time is within seconds.
  for (const { app, email } of people) {
    await until(
      `${email} is back`,
      async () => {
        const { status } = await app().send('POST', '/me/restore');
        return status === 204 && (await app().send('GET', '/me')).status === 200;
      },
      SETTLED_MAX_MS,
    );
  }
  t.strictSame(await colleagueFaults(people), [], 'all that they see agrees');
  for (const { app, account_id, email } of people) {
    const [heard, least] = [await membershipEvents(app()), joins.get(account_id)?.size ?? 0];
    t.ok(heard >= least, `${email} joined ${least} times and heard ${heard} times`);
  }
  for (const id of known) {
    const seen = await Promise.all(
      people.map(async ({ app }) => (await app().send('GET', `/workspaces/${id}`)).status),
    );
    const lists = await Promise.all(people.map(({ app }) => allOf<{ id: string }>(app(), '/workspaces')));
    for (const [index, status] of seen.entries()) {
      const listed = lists[index]?.some((workspace) => workspace.id === id);
      if ((status === 200) !== listed) t.fail(`${people[index]?.email} gets ${status} for ${id}`);
    }
  }
}
