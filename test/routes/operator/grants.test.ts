import { createHash } from 'node:crypto';
import t from 'tap';
import { jsonOf, OauthApp, type Tokens } from '../../fixtures/oauth.js';
import { TestSpool } from '../../fixtures/spool.js';

const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
t.teardown(() => spool.end());
const { operator } = spool;
const third = await OauthApp.registered(spool);
const mac = OauthApp.first(spool, 'svc-mac');
const ios = OauthApp.first(spool, 'svc-ios');
const agent = OauthApp.first(spool, 'svc-agent');
const introspected = async (token: string) => jsonOf(await agent.introspect(token));
const refreshed = async (app: OauthApp, token: string) => jsonOf<Tokens>(await app.refresh(token));

await t.test('C-109 C-119 imported grants count older scopes as newer ones, and keep their own', async (t) => {
  const grant = (more: { client_id: string; scope: string; audience: 'mcp' | 'api'; token: string }) => {
    const { token, ...members } = more;
    const refresh_token_sha256 = createHash('sha256').update(token).digest('hex');
    return {
      account: 'old@x.test',
      issuer: 'base' as const,
      created_at: '2025-01-31T08:30:00Z',
      refresh_token_sha256,
      ...members,
    };
  };
  const grants = [
    grant({ client_id: third.client_id, scope: 'sources:write events:read', audience: 'mcp', token: 'older 1' }),
    grant({ client_id: 'svc-mac', scope: 'turns:read account:manage', audience: 'api', token: 'older 2' }),
    grant({ client_id: 'nobody', scope: 'turns:read', audience: 'api', token: 'older 3' }),
  ];
  t.match(await operator.call('POST /ops/grants/import', { body: { grants } }), {
    results: [{ outcome: 'imported' }, { outcome: 'imported' }, { outcome: 'wrong' }],
  });
  const mcp = await refreshed(third, 'older 1');
  t.equal(mcp.scope, 'sources:write events:read');
  t.match(await introspected(mcp.access_token), { active: true, scope: 'audio:write turns:read devices:manage' });
  t.equal((await refreshed(mac, 'older 2')).scope, 'turns:read account:manage');
  t.match((await mac.signInNatively('old@x.test')).scope, /insights:read insights:write/);
});

await t.test('the grants of an account are listed, and end one by one or all at once', async (t) => {
  const email = 'grants@x.test';
  const path = `/ops/accounts/${email}/grants`;
  const [first, second] = [await ios.signInNatively(email), await mac.signInNatively(email)];
  const { items } = await operator.ask<{ items: { id: string; client_id: string }[] }>('GET', path);
  t.same(new Set(items.map(({ client_id }) => client_id)), new Set(['svc-ios', 'svc-mac']));
  const id = items.find(({ client_id }) => client_id === 'svc-ios')?.id;
  await operator.ask('DELETE', `${path}/${id}`);
  t.equal((await ios.refresh(first.refresh_token)).status, 400);
  t.equal((await mac.refresh(second.refresh_token)).status, 200);
  await operator.ask('DELETE', path);
  t.equal((await mac.refresh(second.refresh_token)).status, 400);
});

await t.test('a server key is introduced once at a time', async (t) => {
  const made = await operator.ask<{ key_id: string }>('POST', '/ops/keys/server/rotate');
  t.match(made, { key_id: /./, active_at: /^20/ });
  t.same(await operator.ask('POST', '/ops/keys/server/rotate'), made);
});
