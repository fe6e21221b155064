import type { Test } from 'tap';
import type { CallAnswer } from '../../kits/typescript/src/http_call.js';
import { LIMITS } from '../../src/domain/limits.js';
import { ALL_KILLS, type Kills, killWithin, SOME_KILLS } from '../driver/kills.js';
import { scenario } from '../driver/scenario.js';
import { Servers } from '../driver/servers.js';
import type { AppClient } from '../fixtures/app_client.js';
import { allOf, type Colleague, colleagueFaults } from '../fixtures/colleagues.js';
import { until } from '../fixtures/until.js';

const SETTLED_MAX_MS = 5_000;

/** One step, ready to be asked for as often as need be. */
type Step = {
  ask: () => Promise<CallAnswer>;
  /** What it is answered. */
  status: number;
  /** The same when it had come into effect, though nobody heard of it. */
  in_effect?: number;
  /** What must hold once it was answered. */
  check?: () => Promise<void>;
};
type Listed = { id: string; private: boolean; role: string };
type Named = 'ann' | 'bob' | 'cy';

/** Steps by their kind. */
const KINDS = [
  ['create a workspace', 'invite', 'accept'],
  ['transfer', 'remove', 'delete by staff'],
  ['delete an account that owes an owner', 'delete an account that is free to go'],
  ['restore'],
  ['erasure'],
];

scenario({
  title:
    'D-014 D-016 D-025 D-026 D-029 D-031 D-033 I-002 I-003 I-005 I-009 I-011 killed at any commit of what is done with a workspace or an account: nothing is half done',
  smoke: SOME_KILLS,
  full: ALL_KILLS,
  run: workspaceKills,
});

async function workspaceKills(t: Test, kills: Kills): Promise<void> {
  const server = await Servers.open(t);
  const tokens = new Map<string, string>();
  const person = async (email: string): Promise<Colleague> => {
    const { access_token, user } = await server.signIn(email);
    await server.operator.ask('PUT', `/ops/accounts/${email}/entitlements/workspace.sharing`, { enabled: true });
    tokens.set(email, access_token);
    return { email, account_id: user.id, app: () => server.client(tokens.get(email)) };
  };
  const people: Record<Named, Colleague> = {
    ann: await person('ann@x.test'),
    bob: await person('bob@x.test'),
    cy: await person('cy@x.test'),
  };
  const { ann, bob, cy } = people;
  const workspacesOf = (who: Colleague) => allOf<Listed>(who.app(), '/workspaces');
  const roleIn = async (who: Colleague, id: string) => (await workspacesOf(who)).find((found) => found.id === id)?.role;
  const make = async (who: Colleague) =>
    (await who.app().ask<{ id: string }>('POST', '/workspaces', { name: 'Team' })).id;
  const invite = (app: AppClient, id: string, { email }: Colleague) =>
    app.send('POST', `/workspaces/${id}/invitations`, { body: { email, role: 'member' } });
  const invitationsOf = (who: Colleague) =>
    allOf<{ id: string; workspace: { id: string } }>(who.app(), '/me/invitations');
  const accept = async (who: Colleague, workspace_id: string) => {
    const found = (await invitationsOf(who)).find(({ workspace }) => workspace.id === workspace_id);
    return who.app().ask('POST', `/me/invitations/${found?.id}/accept`);
  };
  /** A workspace of one to whom another belongs. */
  const teamOf = async (owner: Colleague, member: Colleague) => {
    const id = await make(owner);
    await invite(owner.app(), id, member);
    await accept(member, id);
    return id;
  };

  const STEPS: Record<string, () => Promise<Step>> = {
    async 'create a workspace'() {
      return { ask: () => ann.app().send('POST', '/workspaces', { body: { name: 'Team' } }), status: 201 };
    },
    async invite() {
      const id = await make(ann);
      return {
        ask: () => invite(ann.app(), id, bob),
        status: 201,
        in_effect: 409,
        async check() {
          const found = (await invitationsOf(bob)).filter(({ workspace }) => workspace.id === id);
          t.equal(found.length, 1, 'one invitation');
        },
      };
    },
    async accept() {
      const id = await make(ann);
      await invite(ann.app(), id, bob);
      const found = (await invitationsOf(bob)).find(({ workspace }) => workspace.id === id);
      return {
        ask: () => bob.app().send('POST', `/me/invitations/${found?.id}/accept`),
        status: 204,
        in_effect: 404,
        check: async () => void t.equal(await roleIn(bob, id), 'member', 'bob belongs to it'),
      };
    },
    async transfer() {
      const id = await teamOf(ann, bob);
      const body = { account_id: bob.account_id };
      return {
        ask: () => ann.app().send('POST', `/workspaces/${id}/transfer`, { body }),
        status: 204,
        in_effect: 403,
        async check() {
          t.same([await roleIn(ann, id), await roleIn(bob, id)], ['admin', 'owner']);
        },
      };
    },
    async remove() {
      const id = await teamOf(ann, bob);
      return {
        ask: () => ann.app().send('DELETE', `/workspaces/${id}/members/${bob.account_id}`),
        status: 204,
        in_effect: 404,
        check: async () => void t.equal(await roleIn(bob, id), undefined, 'bob belongs to it no more'),
      };
    },
    async 'delete by staff'() {
      const id = await teamOf(ann, bob);
      await invite(ann.app(), id, cy);
      return {
        ask: () => server.operator.send('DELETE', `/ops/workspaces/${id}`),
        status: 204,
        in_effect: 404,
        async check() {
          t.same([await roleIn(ann, id), await roleIn(bob, id)], [undefined, undefined]);
          t.notOk((await invitationsOf(cy)).some(({ workspace }) => workspace.id === id));
        },
      };
    },
    async 'delete an account that owes an owner'() {
      const id = await teamOf(ann, bob);
      return {
        ask: () => ann.app().send('DELETE', '/me'),
        status: 409,
        check: async () => void t.same([await roleIn(ann, id), await roleIn(bob, id)], ['owner', 'member']),
      };
    },
    async 'delete an account that is free to go'() {
      const [alone, left] = [await make(ann), await teamOf(bob, ann)];
      await invite(ann.app(), alone, cy);
      await ann.app().ask('POST', '/me/tokens', { name: 'token', permissions: ['turns:read'] });
      return {
        ask: () => ann.app().send('DELETE', '/me'),
        status: 204,
        in_effect: 403,
        async check() {
          t.equal((await ann.app().send('GET', '/me')).status, 403, 'deleted');
          const members = () => allOf(bob.app(), `/workspaces/${left}/members`);
          await until('ann has left', async () => (await members()).length === 1, SETTLED_MAX_MS);
          await ann.app().ask('POST', '/me/restore');
          t.same([await roleIn(ann, alone), await roleIn(ann, left)], ['owner', undefined]);
          t.notOk((await invitationsOf(cy)).some(({ workspace }) => workspace.id === alone));
          t.same(await allOf(ann.app(), '/me/tokens'), [], 'no token is back');
        },
      };
    },
    async restore() {
      const id = await make(ann);
      await ann.app().ask('DELETE', '/me');
      return {
        ask: () => ann.app().send('POST', '/me/restore'),
        status: 204,
        async check() {
          t.equal(await roleIn(ann, id), 'owner');
          const invited = () => invite(ann.app(), id, bob);
          await until('it is awake', async () => (await invited()).status === 201, SETTLED_MAX_MS);
        },
      };
    },
    async erasure() {
      for (const who of Object.values(people)) tokens.set(who.email, (await server.signIn(who.email)).access_token);
      const id = await make(ann);
      const [mine] = await workspacesOf(ann);
      await ann.app().ask('DELETE', '/me');
      let advance_ms = LIMITS.erase_after_ms;
      return {
        ask() {
          const asked = server.operator.send('POST', '/ops/clock', { advance_ms });
          advance_ms = LIMITS.hold_asks_after_ms * 5; // what a killed worker had in hand is taken up by another
          return asked;
        },
        status: 200,
        async check() {
          const again = () => server.operator.send('POST', '/ops/clock', { advance_ms });
          const erasures = async () => (await server.operator.ask<{ items: unknown[] }>('GET', '/ops/erasures')).items;
          await until(
            'it is erased',
            async () => {
              const left = await erasures();
              if (left.length > 0) await again();
              return left.length === 0;
            },
            SETTLED_MAX_MS,
          );
          for (const who of Object.values(people)) tokens.set(who.email, (await server.signIn(who.email)).access_token);
          t.equal((await ann.app().send('POST', '/me/restore')).status, 204);
          const now = await workspacesOf(ann);
          t.equal(now.length, 1, 'nothing but a private workspace');
          t.not(now[0]?.id, mine?.id, 'a new one');
          t.equal((await server.operator.send('DELETE', `/ops/workspaces/${id}`)).status, 404, 'the other is gone');
          await server.operator.ask('PUT', '/ops/accounts/ann@x.test/entitlements/workspace.sharing', {
            enabled: true,
          });
        },
      };
    },
  };

  await killWithin(t, server, { steps: STEPS, kinds: KINDS, kills }, async ({ nth, step, answer }, t) => {
    const settled = answer ?? (await step.ask());
    const expected = answer === null ? [step.status, step.in_effect] : [step.status];
    t.ok(expected.includes(settled.status), `commit ${nth}: ${settled.status} ${settled.body}`);
    await step.check?.();
    await until('agreed', agree, SETTLED_MAX_MS).catch(async () =>
      t.strictSame(await colleagueFaults(Object.values(people)), [], `commit ${nth}: all agree`),
    );
    await tidy();
  });

  async function agree(): Promise<boolean> {
    return (await colleagueFaults(Object.values(people))).length === 0;
  }

  /** Everybody is left with nothing but their own. */
  async function tidy(): Promise<void> {
    for (const who of Object.values(people)) {
      for (const { id, private: is_private, role } of await workspacesOf(who))
        if (!is_private && role === 'owner') await who.app().ask('DELETE', `/workspaces/${id}`);
      for (const { id } of await allOf<{ id: string }>(who.app(), '/me/tokens'))
        await who.app().ask('DELETE', `/me/tokens/${id}`);
    }
  }
}
