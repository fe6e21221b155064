import t from 'tap';
import { LIMITS } from '../../../src/domain/limits.js';
import { type InvitationView, TestAccount, type WorkspaceView } from '../../fixtures/account.js';
import { OauthApp } from '../../fixtures/oauth.js';
import { TestSpool } from '../../fixtures/spool.js';
import { until } from '../../fixtures/until.js';

type Page<Item> = { items: Item[]; cursor: string | null };

const UNKNOWN = '01a1fcb6-78e8-7a1c-9160-f4000000008f';
const FOR_EVER = {
  audio: { days: null },
  transcripts: { days: null },
  insights: { days: null },
  voice: { days: null },
};

const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
t.teardown(() => spool.end());
const open = (email: string, more?: { sharing: boolean }) => TestAccount.open(spool, email, more);
/** The newest mail to an address that brings no code, once it is there. */
const mailTo = async (email: string) => {
  let found: { text: string } | undefined;
  await until(`a mail to ${email}`, async () => {
    const { items } = await spool.operator.ask<Page<{ to: string; subject: string; text: string }>>('GET', '/inbox');
    found = items.find(({ to, subject }) => to === email && !subject.includes('code'));
    return found !== undefined;
  });
  return found;
};

await t.test('I-001 I-002 D-003 D-004 E-028 made, listed and read', async (t) => {
  const ann = await open('ann@x.test');
  const made = await ann.workspace('  Team B ');
  t.same(Object.keys(made).sort(), ['created_at', 'id', 'member_count', 'name', 'private', 'retention', 'role']);
  t.match(made, { name: 'Team B', private: false, role: 'owner', member_count: 1, retention: FOR_EVER });
  t.same(await ann.newEvents(), ['account.updated workspaces']);
  t.same(await ann.ask('GET', `/workspaces/${made.id}`), made);
  await ann.workspace('Team A');
  await ann.workspace('team aa');
  t.same(await ann.workspaceNames(), ['Private owner', 'Team A owner', 'team aa owner', 'Team B owner']);
  const pages: WorkspaceView[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `&cursor=${cursor}`;
    const page: Page<WorkspaceView> = await ann.ask('GET', `/workspaces?limit=3${query}`);
    t.ok(page.items.length <= 3);
    pages.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== null);
  t.same(
    pages.map(({ name }) => name),
    ['Private', 'Team A', 'team aa', 'Team B'],
  );
  t.same(Object.keys(pages[0] ?? {}), ['id', 'name', 'private', 'role', 'created_at']);
  for (const bad of ['limit=0', 'limit=101', 'limit=x', 'cursor=zzz'])
    t.equal(await ann.says('GET', `/workspaces?${bad}`), '400 BAD_REQUEST', bad);
  const bea = await open('bea@x.test');
  t.equal(await bea.says('GET', `/workspaces/${made.id}`), '404 NOT_FOUND', 'not hers');
  const [own] = pages;
  t.match(await ann.ask('GET', `/workspaces/${own?.id}`), { private: true, role: 'owner', member_count: 1 });
  t.equal(await bea.says('GET', `/workspaces/${own?.id}`), '404 NOT_FOUND', "nor another's private one");
  t.equal(await ann.says('GET', '/workspaces/nothing'), '404 NOT_FOUND');
});

await t.test('I-009 I-010 I-011 I-012 E-027 E-030 invited, accepted, declined, withdrawn', async (t) => {
  const ann = await open('ann2@x.test');
  const bob = await open('bob2@x.test');
  const { id } = await ann.workspace('Choir');
  await ann.newEvents();
  const path = `/workspaces/${id}/invitations`;
  const sent = await ann.ask<InvitationView>('POST', path, { email: ' BOB2@x.test ', role: 'admin' });
  t.match(sent, { workspace: { id, name: 'Choir' }, email: 'bob2@x.test', role: 'admin', invited_by: ann.id });
  t.equal(await ann.says('POST', path, { email: bob.email, role: 'member' }), '409 CONFLICT', 'invited already');
  t.equal(await ann.says('POST', path, { email: ann.email, role: 'member' }), '409 CONFLICT', 'a member already');
  t.same((await ann.ask<Page<InvitationView>>('GET', path)).items, [sent]);
  t.same(await bob.ask('GET', '/me/invitations'), { items: [sent], cursor: null });
  const mail = await mailTo(bob.email);
  t.match(mail?.text, /ann2@x\.test invites you to the workspace "Choir" on Spool, as admin/);
  t.match(mail?.text, new RegExp(`${spool.server.services.addresses().base_url}/invitations`));
  t.same([...(await ann.newEvents()), ...(await bob.newEvents())], [], 'an invitation is no event');

  t.equal(await ann.says('POST', `/me/invitations/${sent.id}/accept`), '404 NOT_FOUND', 'not addressed to her');
  t.equal(await bob.says('POST', `/me/invitations/${sent.id}/accept`), '204');
  t.same(await bob.newEvents(), ['account.updated workspaces']);
  t.same(await ann.newEvents(), [], 'only the one who joined is told');
  t.equal(await bob.says('POST', `/me/invitations/${sent.id}/accept`), '404 NOT_FOUND', 'once');
  t.equal(await bob.says('POST', `/me/invitations/${sent.id}/decline`), '404 NOT_FOUND');
  t.same(await ann.members(id), ['ann2@x.test owner', 'bob2@x.test admin']);
  t.same(await bob.workspaceNames(), ['Private owner', 'Choir admin']);
  t.same(await bob.ask('GET', '/me/invitations'), { items: [], cursor: null });
  t.same(await ann.ask('GET', path), { items: [], cursor: null });

  const cem = await open('cem2@x.test', { sharing: false });
  const second = await ann.ask<InvitationView>('POST', path, { email: cem.email, role: 'member' });
  t.equal(await cem.says('POST', `/me/invitations/${second.id}/decline`), '204', 'declining takes no entitlement');
  t.same((await ann.ask<Page<InvitationView>>('GET', path)).items, []);
  t.same(await cem.ask('GET', '/me/invitations'), { items: [], cursor: null });
  const third = await ann.ask<InvitationView>('POST', path, { email: cem.email, role: 'member' });
  t.equal(await ann.says('DELETE', `${path}/${third.id}`), '204');
  t.equal(await ann.says('DELETE', `${path}/${third.id}`), '404 NOT_FOUND');
  t.equal(await cem.says('POST', `/me/invitations/${third.id}/accept`), '403 WORKSPACE_SHARING_REQUIRED');
  await cem.entitle('workspace.sharing', true);
  t.equal(await cem.says('POST', `/me/invitations/${third.id}/accept`), '404 NOT_FOUND', 'withdrawn');
  t.same((await cem.newEvents()).slice(1), []);

  const unknown = await ann.ask<InvitationView>('POST', path, { email: 'dan2@x.test', role: 'member' });
  const dan = await open('dan2@x.test');
  t.match(await dan.ask('GET', '/me/invitations'), { items: [{ id: unknown.id }] }, 'it waited for the account');
  t.equal(await dan.says('POST', `/me/invitations/${unknown.id}/accept`), '204');
  t.same(await dan.workspaceNames(), ['Private owner', 'Choir member']);
});

await t.test('I-010 many invitations come in pages, newest first', async (t) => {
  const ann = await open('ann3@x.test');
  const bob = await open('bob3@x.test');
  const sent: string[] = [];
  for (let n = 0; n < 7; n++) {
    const { id } = await ann.workspace(`W${n}`);
    const made = await ann.ask<InvitationView>('POST', `/workspaces/${id}/invitations`, {
      email: bob.email,
      role: 'member',
    });
    sent.unshift(made.id);
  }
  const first = await bob.ask<Page<InvitationView>>('GET', '/me/invitations?limit=4');
  await bob.ask('POST', `/me/invitations/${sent[1]}/decline`);
  const rest = await bob.ask<Page<InvitationView>>('GET', `/me/invitations?limit=4&cursor=${first.cursor}`);
  t.same(
    [...first.items, ...rest.items].map(({ id }) => id),
    sent,
  );
  t.equal(rest.cursor, null);
});

await t.test('I-003 I-005 I-006 I-007 E-027 D-005 roles: what each may, and who is told', async (t) => {
  const owner = await open('own4@x.test');
  const admin = await open('adm4@x.test');
  const member = await open('mem4@x.test');
  const stranger = await open('str4@x.test');
  const { id } = await owner.workspace('Four');
  await owner.bring(id, [admin], 'admin');
  await owner.bring(id, [member]);
  for (const account of [owner, admin, member]) await account.newEvents();
  const at = `/workspaces/${id}`;
  const everything: [method: string, path: string, body: unknown, may: 'member' | 'admin' | 'owner'][] = [
    ['GET', at, undefined, 'member'],
    ['GET', `${at}/members`, undefined, 'member'],
    ['GET', `${at}/invitations`, undefined, 'admin'],
    ['POST', `${at}/invitations`, { email: 'x4@x.test', role: 'member' }, 'admin'],
    ['DELETE', `${at}/invitations/${UNKNOWN}`, undefined, 'admin'],
    ['PATCH', `${at}/members/${UNKNOWN}`, { role: 'admin' }, 'admin'],
    ['DELETE', `${at}/members/${UNKNOWN}`, undefined, 'admin'],
    ['PATCH', at, { name: 'Four' }, 'owner'],
    ['POST', `${at}/transfer`, { account_id: UNKNOWN }, 'owner'],
    ['DELETE', at, undefined, 'owner'],
  ];
  for (const [method, path, body, may] of everything) {
    t.equal(await stranger.says(method, path, body), '404 NOT_FOUND', `${method} ${path} by a stranger`);
    if (may !== 'member')
      t.equal(await member.says(method, path, body), '403 FORBIDDEN', `${method} ${path} by a member`);
    if (may === 'owner')
      t.equal(await admin.says(method, path, body), '403 FORBIDDEN', `${method} ${path} by an admin`);
    else t.not(await admin.says(method, path, body), '403 FORBIDDEN', `${method} ${path} by an admin`);
  }
  t.same(await member.newEvents(), []);
  const people = `${at}/members`;
  t.match(await admin.ask('PATCH', `${people}/${member.id}`, { role: 'admin' }), {
    account_id: member.id,
    email: member.email,
    name: null,
    role: 'admin',
  });
  t.same(await member.newEvents(), ['account.updated workspaces']);
  await admin.ask('PATCH', `${people}/${member.id}`, { role: 'admin' });
  t.same([...(await member.newEvents()), ...(await owner.newEvents())], [], 'the same role again is no event');
  await member.ask('PATCH', '/me', { name: 'Mem' });
  t.match(await owner.ask('GET', people), { items: [{}, {}, { name: 'Mem', role: 'admin' }] });
  t.equal(await admin.says('PATCH', `${people}/${owner.id}`, { role: 'member' }), '409 WORKSPACE_OWNER_REQUIRED');
  t.equal(await admin.says('DELETE', `${people}/${owner.id}`), '409 WORKSPACE_OWNER_REQUIRED');
  t.equal(await admin.says('DELETE', `${people}/${admin.id}`), '409 CONFLICT', 'oneself: by leaving');
  t.equal(await admin.says('PATCH', `${people}/${stranger.id}`, { role: 'member' }), '404 NOT_FOUND');
  for (const role of ['owner', '', 5, null, undefined])
    t.equal(await admin.says('PATCH', `${people}/${member.id}`, { role }), '400 BAD_REQUEST', `role ${role}`);
  t.equal(await admin.says('DELETE', `${people}/${member.id}`), '204');
  t.same(await member.newEvents(), ['account.updated name', 'account.updated workspaces']);
  t.same(await member.workspaceNames(), ['Private owner']);
  t.equal(await member.says('GET', at), '404 NOT_FOUND');
});

await t.test('I-003 I-004 X-20 ownership: transferred, never lost', async (t) => {
  const ann = await open('ann5@x.test');
  const bob = await open('bob5@x.test');
  const { id } = await ann.workspace('Five');
  const at = `/workspaces/${id}`;
  t.equal(await ann.says('POST', `${at}/leave`), '409 WORKSPACE_OWNER_REQUIRED', 'alone: delete it');
  await ann.bring(id, [bob]);
  t.equal(await ann.says('POST', `${at}/leave`), '409 WORKSPACE_OWNER_REQUIRED');
  t.equal(await ann.says('POST', `${at}/transfer`, { account_id: UNKNOWN }), '404 NOT_FOUND');
  for (const body of [{}, { account_id: 'bob' }, { account_id: null }])
    t.equal(await ann.says('POST', `${at}/transfer`, body), '400 BAD_REQUEST');
  await ann.newEvents();
  await bob.newEvents();
  t.equal(await ann.says('POST', `${at}/transfer`, { account_id: bob.id }), '204');
  t.same(await ann.members(id), ['ann5@x.test admin', 'bob5@x.test owner']);
  t.same(await ann.newEvents(), ['account.updated workspaces']);
  t.same(await bob.newEvents(), ['account.updated workspaces']);
  t.equal(await ann.says('POST', `${at}/transfer`, { account_id: ann.id }), '403 FORBIDDEN');
  t.equal(await ann.says('POST', `${at}/leave`), '204');
  t.same(await ann.newEvents(), ['account.updated workspaces']);
  t.same(await bob.newEvents(), [], 'only the one who left is told');
  t.same(await ann.workspaceNames(), ['Private owner']);
  t.equal(await ann.says('POST', `${at}/leave`), '404 NOT_FOUND');
});

await t.test('I-015 E-029 D-057 deleted by its owner or by staff: every member is told why', async (t) => {
  const ann = await open('ann6@x.test');
  const bob = await open('bob6@x.test');
  const first = await ann.workspace('First');
  await ann.bring(first.id, [bob], 'admin');
  const second = await ann.workspace('Second');
  await ann.bring(second.id, [bob]);
  await ann.ask('POST', `/workspaces/${first.id}/invitations`, { email: 'cem6@x.test', role: 'member' });
  await ann.newEvents();
  await bob.newEvents();
  t.equal(await ann.says('DELETE', `/workspaces/${first.id}`), '204');
  const told = (id: string, reason: string) => ['account.updated workspaces', `workspace.deleted ${id} ${reason}`];
  t.same(await ann.newEvents(), told(first.id, 'owner_deleted'));
  t.same(await bob.newEvents(), told(first.id, 'owner_deleted'));
  t.equal(await ann.says('GET', `/workspaces/${first.id}`), '404 NOT_FOUND');
  t.equal(await ann.says('DELETE', `/workspaces/${first.id}`), '404 NOT_FOUND');
  const cem = await open('cem6@x.test');
  t.same(await cem.ask('GET', '/me/invitations'), { items: [], cursor: null }, 'its invitations are gone');

  const staff = await spool.operator.send('DELETE', `/ops/workspaces/${second.id}`);
  t.equal(staff.status, 204);
  t.same(await ann.newEvents(), told(second.id, 'staff_deleted'));
  t.same(await bob.newEvents(), told(second.id, 'staff_deleted'));
  t.equal((await spool.operator.send('DELETE', `/ops/workspaces/${second.id}`)).status, 404);
  t.same(await bob.workspaceNames(), ['Private owner']);
  const [own] = (await ann.ask<Page<WorkspaceView>>('GET', '/workspaces')).items;
  t.equal((await spool.operator.send('DELETE', `/ops/workspaces/${own?.id}`)).status, 409, 'a private one stays');
  t.equal((await spool.operator.send('DELETE', '/ops/workspaces/x')).status, 404);
});

await t.test('I-016 I-017 E-031 X-21 E-006 renamed, and what is kept how long', async (t) => {
  const ann = await open('ann7@x.test');
  const bob = await open('bob7@x.test', { sharing: true });
  const { id } = await ann.workspace('Seven');
  await ann.bring(id, [bob]);
  await bob.newEvents();
  await ann.newEvents();
  const at = `/workspaces/${id}`;
  const MARK = 'marker-in-a-name';
  t.match(await ann.ask('PATCH', at, { name: MARK, retention: { audio: { days: 30 }, voice: { days: 0 } } }), {
    name: MARK,
    role: 'owner',
    retention: { ...FOR_EVER, audio: { days: 30 }, voice: { days: 0 } },
  });
  const told = ['account.updated workspaces', `workspace.updated ${id} name retention.audio retention.voice`];
  t.same(await ann.newEvents(), told);
  t.same(await bob.newEvents(), told);
  t.same(await bob.workspaceNames(), ['Private owner', `${MARK} member`]);
  await ann.ask('PATCH', at, { name: MARK, retention: { audio: { days: 30 } } });
  t.same([...(await ann.newEvents()), ...(await bob.newEvents())], [], 'the same again is no event');
  await ann.ask('PATCH', at, { retention: { audio: { days: null }, insights: { days: 1 } } });
  t.same(await bob.newEvents(), [`workspace.updated ${id} retention.audio retention.insights`]);
  t.match(await bob.ask('GET', at), { retention: { ...FOR_EVER, insights: { days: 1 }, voice: { days: 0 } } });
  t.notMatch(JSON.stringify(await bob.ask('GET', '/events?limit=100')), MARK);

  await ann.entitle('workspace.sharing', false);
  await ann.newEvents();
  const [own] = (await ann.ask<Page<WorkspaceView>>('GET', '/workspaces')).items;
  const changed = await ann.ask('PATCH', `/workspaces/${own?.id}`, {
    name: 'Mine',
    retention: { audio: { days: 7 } },
  });
  t.match(changed, { private: true, name: 'Mine', retention: { ...FOR_EVER, audio: { days: 7 } } });
  t.same(await ann.newEvents(), ['account.updated workspaces', `workspace.updated ${own?.id} name retention.audio`]);
  t.same((await ann.workspaceNames())[0], 'Mine owner');
  await ann.ask('PATCH', `/workspaces/${own?.id}`, { name: ' Mine ' });
  t.same(await ann.newEvents(), []);

  for (const body of [
    {},
    { name: '' },
    { name: ' ' },
    { name: 'x'.repeat(81) },
    { name: 5 },
    { name: null },
    { retention: { audio: { days: -1 } } },
    { retention: { audio: { days: 1.5 } } },
    { retention: { audio: { days: 36_501 } } },
    { retention: { audio: { days: '30' } } },
    { retention: { audio: {} } },
    { retention: { audio: 30 } },
    { retention: { video: { days: 1 } } },
    { retention: [] },
  ]) {
    const answer = await ann.app.send('PATCH', at, { body });
    t.equal(answer.status, 400, JSON.stringify(body));
    const { error } = JSON.parse(answer.body.toString());
    t.equal(error.code, 'BAD_REQUEST');
    t.ok(error.details.length > 0 && !/Invalid|expected/i.test(error.message), error.message);
  }
});

await t.test('I-008 a private workspace belongs to its account alone', async (t) => {
  const ann = await open('ann8@x.test');
  const [own] = (await ann.ask<Page<WorkspaceView>>('GET', '/workspaces')).items;
  const at = `/workspaces/${own?.id}`;
  for (const [method, path, body] of [
    ['DELETE', at, undefined],
    ['POST', `${at}/leave`, undefined],
    ['POST', `${at}/transfer`, { account_id: UNKNOWN }],
    ['POST', `${at}/invitations`, { email: 'x@x.test', role: 'member' }],
    ['DELETE', `${at}/invitations/${UNKNOWN}`, undefined],
    ['PATCH', `${at}/members/${ann.id}`, { role: 'member' }],
    ['DELETE', `${at}/members/${ann.id}`, undefined],
  ] as const)
    t.equal(await ann.says(method, path, body), '409 CONFLICT', `${method} ${path}`);
  t.same(await ann.members(own?.id ?? ''), ['ann8@x.test owner']);
  t.same(await ann.ask('GET', `${at}/invitations`), { items: [], cursor: null });
});

await t.test(
  'I-013 I-014 X-19 D-055 without the entitlement what one has is served, and nothing new shared',
  async (t) => {
    const ann = await open('ann9@x.test');
    const bob = await open('bob9@x.test');
    const { id } = await ann.workspace('Nine');
    await ann.bring(id, [bob]);
    const other = await ann.workspace('Other');
    const waiting = await bob.workspace('Waiting');
    const invited = await bob.ask<InvitationView>('POST', `/workspaces/${waiting.id}/invitations`, {
      email: ann.email,
      role: 'member',
    });
    await ann.entitle('workspace.sharing', false);
    const at = `/workspaces/${id}`;
    for (const [method, path, body] of [
      ['POST', '/workspaces', { name: 'No' }],
      ['POST', '/workspaces', { name: '' }],
      ['POST', `${at}/invitations`, { email: 'x@x.test', role: 'member' }],
      ['DELETE', `${at}/invitations/${UNKNOWN}`, undefined],
      ['PATCH', `${at}/members/${bob.id}`, { role: 'admin' }],
      ['DELETE', `${at}/members/${bob.id}`, undefined],
      ['POST', `/me/invitations/${invited.id}/accept`, undefined],
    ] as const)
      t.equal(await ann.says(method, path, body), '403 WORKSPACE_SHARING_REQUIRED', `${method} ${path}`);
    t.same(await ann.workspaceNames(), ['Private owner', 'Nine owner', 'Other owner']);
    t.equal(await ann.says('GET', at), '200');
    t.equal(await ann.says('GET', `${at}/members`), '200');
    t.equal(await ann.says('GET', '/me/invitations'), '200');
    t.equal(await ann.says('PATCH', at, { name: 'Renamed' }), '200');
    t.equal(await ann.says('POST', `${at}/transfer`, { account_id: bob.id }), '204');
    t.equal(await ann.says('POST', `${at}/leave`), '204');
    t.equal(await ann.says('DELETE', `/workspaces/${other.id}`), '204');
  },
);

await t.test('C-111 C-110 J-011 scope and role are both needed; the scope is looked at first', async (t) => {
  const email = 'ann10@x.test';
  const ann = await open(email);
  const bob = await open('bob10@x.test');
  const { id } = await ann.workspace('Ten');
  await ann.bring(id, [bob], 'admin');
  const web = OauthApp.first(spool, 'svc-web');
  const as = async (who: string, scope: string) => {
    const app = spool.client();
    app.access_token = (await web.signIn(who, { scope })).access_token;
    return async (method: string, path: string, body?: unknown) => {
      const answer = await app.send(method, path, { body });
      return answer.body.length === 0
        ? String(answer.status)
        : `${answer.status} ${JSON.parse(answer.body.toString()).error?.code ?? ''}`.trim();
    };
  };
  const reader = await as(email, 'workspace:read');
  t.equal(await reader('GET', `/workspaces/${id}`), '200');
  t.equal(await reader('PATCH', `/workspaces/${id}`, { name: 'No' }), '403 FORBIDDEN', 'owner without the scope');
  t.equal(await reader('POST', '/workspaces', { name: '' }), '403 FORBIDDEN');
  t.equal(await reader('GET', `/workspaces/${id}/invitations`), '403 FORBIDDEN');
  const all = await as(bob.email, 'workspace:read workspace:members workspace:manage');
  t.equal(await all('PATCH', `/workspaces/${id}`, { name: 'No' }), '403 FORBIDDEN', 'the scope without the role');
  t.equal(await all('GET', `/workspaces/${id}/invitations`), '200');
  await ann.entitle('workspace.sharing', false);
  t.equal(await reader('POST', '/workspaces', { name: 'No' }), '403 FORBIDDEN', 'before the entitlement');
  const narrow = await as(email, 'turns:read');
  for (const path of ['/workspaces', `/workspaces/${id}`, `/workspaces/${id}/members`, '/me/invitations'])
    t.equal(await narrow('GET', path), '403 FORBIDDEN', path);
});

await t.test('J-017 a restart keeps workspaces, members and invitations', async (t) => {
  const ann = await open('ann11@x.test');
  const bob = await open('bob11@x.test');
  const { id } = await ann.workspace('Eleven');
  await ann.bring(id, [bob]);
  const invited = await ann.ask<InvitationView>('POST', `/workspaces/${id}/invitations`, {
    email: 'cem11@x.test',
    role: 'admin',
  });
  await spool.close();
  await spool.open();
  const again = await open('ann11@x.test');
  t.same(await again.members(id), ['ann11@x.test owner', 'bob11@x.test member']);
  t.match(await again.ask('GET', `/workspaces/${id}/invitations`), { items: [{ id: invited.id }] });
  const cem = await open('cem11@x.test');
  t.equal(await cem.says('POST', `/me/invitations/${invited.id}/accept`), '204');
});

t.test('mail of invitations has budgets', async (t) => {
  const spool = await TestSpool.start();
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const bob = await TestAccount.open(spool, 'bob@x.test');
  const { id } = await ann.workspace('Choir');
  const path = `/workspaces/${id}/invitations`;
  const invite = (email: string) => ann.says('POST', path, { email, role: 'member' });
  const withdrawAll = async () => {
    for (;;) {
      const { items } = await ann.ask<Page<InvitationView>>('GET', `${path}?limit=100`);
      if (items.length === 0) return;
      for (const one of items) await ann.ask('DELETE', `${path}/${one.id}`);
    }
  };
  const waitOf = async (who: TestAccount, at: string, body: unknown) => {
    const { status, headers } = await who.app.send('POST', at, { body });
    return { status, wait_s: Number(headers['retry-after']) };
  };

  await t.test('I-009 an address gets so many a day, whoever invites it', async (t) => {
    for (let n = 1; n < LIMITS.invitations_to_email_max; n++) {
      t.equal(await invite('often@x.test'), '201');
      t.equal(await invite('often@x.test'), '409 CONFLICT', 'what is refused does not count');
      await withdrawAll();
    }
    const other = await bob.workspace('Band');
    const from_bob = `/workspaces/${other.id}/invitations`;
    const asked = { email: 'often@x.test', role: 'member' };
    t.equal(await bob.says('POST', from_bob, asked), '201');
    t.equal(await invite('often@x.test'), '429 TOO_MANY_REQUESTS');
    const { status, wait_s } = await waitOf(ann, path, asked);
    t.equal(status, 429);
    t.ok(wait_s > 86_000 && wait_s <= 86_400, String(wait_s));
  });

  await t.test('I-009 an account sends so many a day, of all its workspaces', async (t) => {
    const sent = LIMITS.invitations_to_email_max + 1; // by the test before, with the two that the address did not get
    for (let n = sent; n < LIMITS.invitations_of_account_max; n++) t.equal(await invite(`${n}@x.test`), '201');
    t.equal(await invite('last@x.test'), '429 TOO_MANY_REQUESTS');
    const { id: second } = await ann.workspace('Second');
    const asked = { email: 'last@x.test', role: 'member' };
    const { status, wait_s } = await waitOf(ann, `/workspaces/${second}/invitations`, asked);
    t.equal(status, 429);
    t.ok(wait_s > 86_000 && wait_s <= 86_400, String(wait_s));
  });

  await t.test('I-002 an account makes so many workspaces a day', async (t) => {
    for (let n = 1; n < LIMITS.workspaces_made_max; n++)
      t.equal(await bob.says('POST', '/workspaces', { name: `${n}` }), '201');
    const { status, wait_s } = await waitOf(bob, '/workspaces', { name: 'one more' });
    t.equal(status, 429);
    t.ok(wait_s > 86_000 && wait_s <= 86_400, String(wait_s));
    t.equal(await bob.says('PATCH', `/workspaces/${bob.id}`, { name: 'x' }), '404 NOT_FOUND', 'nothing else waits');
  });

  await t.test('they outlast a restart, and begin anew after a day', async (t) => {
    await spool.close();
    await spool.open();
    const again = await TestAccount.open(spool, 'bob@x.test');
    t.equal(await again.says('POST', '/workspaces', { name: 'one more' }), '429 TOO_MANY_REQUESTS');
    await spool.operator.advanceClock(LIMITS.workspaces_made_window_ms);
    const later = await TestAccount.open(spool, 'bob@x.test');
    t.equal(await later.says('POST', '/workspaces', { name: 'one more' }), '201');
  });
});
