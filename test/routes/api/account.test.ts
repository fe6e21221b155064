import { randomUUID } from 'node:crypto';
import t from 'tap';
import { ENTITLEMENTS, PERMISSIONS } from '../../../src/domain/permissions.js';
import type { AppClient } from '../../fixtures/app_client.js';
import { TestSpool } from '../../fixtures/spool.js';

type Me = {
  id: string;
  email: string;
  name: string | null;
  permissions: string[];
  workspaces: { id: string }[];
} & Record<string, unknown>;
type Event = { type: string; data: { changed_fields?: string[] } };

t.test('the signed-in account', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const me = (app: AppClient) => app.ask<Me>('GET', '/me');
  const events = async (app: AppClient) =>
    (await app.ask<{ items: Event[] }>('GET', '/events?type=account.updated')).items;
  const staff = (account: string, name: string, enabled: unknown) =>
    spool.operator.send('PUT', `/ops/accounts/${encodeURIComponent(account)}/entitlements/${name}`, { enabled });

  await t.test('D-001 D-002 D-004 D-005 a new account has exactly these members and defaults', async (t) => {
    const { app, session } = await spool.signIn('fresh@x.test');
    const account = await me(app);
    const { permissions, workspaces, ...rest } = account;
    t.same(rest, {
      id: session.user.id,
      email: 'fresh@x.test',
      name: null,
      developer_enabled: false,
      sharing_enabled: false,
      agent_enabled: false,
    });
    t.equal(workspaces.length, 1);
    t.match(workspaces, [{ private: true, role: 'owner' }]);
    t.same(Object.keys(workspaces[0] ?? {}).sort(), ['id', 'name', 'private', 'role']);
    for (const permission of ['audio:read', 'turns:write', 'insights:read']) t.ok(permissions.includes(permission));
  });

  await t.test('A-018 D-040 an app session carries everything that the account holds', async (t) => {
    const { app } = await spool.signIn('all@x.test');
    const developer = ['debug:read', 'debug:write', 'pipelines:experimental'];
    t.same(
      (await me(app)).permissions,
      PERMISSIONS.filter((permission) => !developer.includes(permission)),
    );
  });

  await t.test('D-003 the private workspace comes first', async (t) => {
    const { app } = await spool.signIn('first@x.test');
    t.match((await me(app)).workspaces[0], { private: true });
  });

  await t.test('reading and renaming need account:manage, which an app session has', async (t) => {
    const { app } = await spool.signIn('manage@x.test');
    t.ok((await me(app)).permissions.includes('account:manage'));
  });

  await t.test('D-007 D-008 D-011 X-39 a name is trimmed, bounded, and null clears it', async (t) => {
    const { app } = await spool.signIn('name@x.test');
    const rename = (name: unknown) => app.send('PATCH', '/me', { body: { name } });
    t.equal((await app.ask<Me>('PATCH', '/me', { name: '  Ann ' })).name, 'Ann');
    t.equal((await rename('é'.repeat(80))).status, 200);
    t.equal((await rename('🎙'.repeat(80))).status, 200);
    for (const name of ['a'.repeat(81), '🎙'.repeat(81), '', '   ', '\u00a0', 'a\u0000b'])
      t.equal((await rename(name)).status, 400);
    const answered = await app.ask<Me>('PATCH', '/me', { name: null });
    t.equal(answered.name, null);
    t.same(answered, await me(app));
  });

  await t.test('D-009 X-27 X-17 what is no name is refused, the field named', async (t) => {
    const { app } = await spool.signIn('noname@x.test');
    for (const body of [{ name: 5 }, {}, [], { name: {} }, { name: ['x'] }]) {
      const answer = await app.send('PATCH', '/me', { body });
      t.equal(answer.status, 400, JSON.stringify(body));
      t.equal(JSON.parse(answer.body.toString()).error.code, 'BAD_REQUEST');
    }
  });

  await t.test('D-010 D-057 X-27 what only staff may change is left as it is', async (t) => {
    const { app, session } = await spool.signIn('self@x.test');
    const before = await me(app);
    const body = {
      name: 'x',
      developer_enabled: true,
      permissions: [],
      workspaces: [],
      entitlements: { 'developer.tools': true },
    };
    t.same(await app.ask('PATCH', '/me', body), { ...before, name: 'x' });
    const headers = { Authorization: `Bearer ${session.access_token}` };
    const url = new URL(
      `/ops/accounts/${before.id}/entitlements/developer.tools`,
      `http://127.0.0.1:${spool.server.ports.operator}`,
    );
    const answer = await fetch(url, {
      method: 'PUT',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: '{"enabled":true}',
    });
    t.equal(answer.status, 401);
  });

  await t.test('D-012 D-013 a change of name is one event, the same name none', async (t) => {
    const { app } = await spool.signIn('event@x.test');
    for (let again = 0; again < 2; again++) await app.ask('PATCH', '/me', { name: 'Once' });
    t.match(await events(app), [{ type: 'account.updated', data: { changed_fields: ['name'] } }]);
    t.equal((await events(app)).length, 1);
  });

  await t.test('D-053 E-026 developer access brings its permissions and an event that names both fields', async (t) => {
    const { app } = await spool.signIn('developer@x.test');
    t.equal((await staff('Developer@x.test', 'developer.tools', true)).status, 200);
    const account = await me(app);
    t.equal(account.developer_enabled, true);
    for (const permission of ['debug:read', 'debug:write', 'pipelines:experimental'])
      t.ok(account.permissions.includes(permission));
    t.same((await events(app))[0]?.data.changed_fields, ['permissions', 'developer_enabled']);
  });

  await t.test('D-054 a content layer that is off takes its permissions and closes its routes', async (t) => {
    const { app } = await spool.signIn('layer@x.test');
    const { id } = await me(app);
    await staff(id, 'transcripts.access', false);
    const account = await me(app);
    t.notOk(account.permissions.some((permission) => permission.startsWith('turns:')));
    const answer = await app.send('GET', '/events');
    t.equal(answer.status, 403);
    t.equal(JSON.parse(answer.body.toString()).error.code, 'FORBIDDEN');
    await staff(id, 'transcripts.access', true);
    t.same(
      (await events(app)).map(({ data }) => data.changed_fields),
      [['permissions'], ['permissions']],
    );
  });

  await t.test('D-055 D-056 D-059 sharing and the agent flip their own flag; the same value is no event', async (t) => {
    const { app } = await spool.signIn('flags@x.test');
    const before = await me(app);
    for (let again = 0; again < 2; again++) {
      await staff(before.id, 'workspace.sharing', true);
      await staff(before.id, 'agent.experimental', true);
    }
    t.same(await me(app), { ...before, sharing_enabled: true, agent_enabled: true });
    t.same(
      (await events(app)).map(({ data }) => data.changed_fields),
      [['agent_enabled'], ['sharing_enabled']],
    );
  });

  await t.test('D-058 the staff switch knows all names, and says what it does not know', async (t) => {
    const { app } = await spool.signIn('staff@x.test');
    const { id } = await me(app);
    for (const name of ENTITLEMENTS) t.equal((await staff(id, name, true)).status, 200);
    t.equal((await staff(id, 'nothing.known', true)).status, 404);
    t.equal((await staff(randomUUID(), 'developer.tools', true)).status, 404);
    t.equal((await staff('nobody@x.test', 'developer.tools', true)).status, 404);
    t.equal((await staff(id, 'developer.tools', 'yes')).status, 400);
  });

  await t.test('D-060 E-033 two accounts see nothing of each other', async (t) => {
    const [ann, bob] = await Promise.all([spool.signIn('ann@x.test'), spool.signIn('bob@x.test')]);
    await ann.app.ask('PATCH', '/me', { name: 'Ann' });
    const { device_id } = await spool.boundDevice(ann.app);
    t.same(await bob.app.ask('GET', '/devices'), { items: [], cursor: null });
    t.equal((await bob.app.send('DELETE', `/devices/${device_id}`)).status, 404);
    const { items } = await bob.app.ask<{ items: { account_id: string }[] }>('GET', '/events');
    for (const { account_id } of items) t.equal(account_id, bob.session.user.id);
    t.equal((await ann.app.ask<{ items: unknown[] }>('GET', '/devices')).items.length, 1);
  });
});
