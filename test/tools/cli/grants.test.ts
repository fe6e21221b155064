import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { call } from '../../../kits/typescript/src/http_call.js';
import { runCli } from '../../fixtures/cli.js';
import { Browser, jsonOf, OauthApp, pkce, type Tokens } from '../../fixtures/oauth.js';
import { TestSpool } from '../../fixtures/spool.js';

const LEGACY = 'https://old.example';

t.test('spool grants', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', LEGACY_BASE_URL: LEGACY });
  t.teardown(() => spool.end());
  const env = { OPS_URL: `http://127.0.0.1:${spool.server.ports.operator}`, DATA_DIR: spool.folder };
  const cli = (...args: string[]) => runCli(['grants', ...args], env);
  const { base_url } = spool.server;
  const file = (name: string, rows: unknown[]) => {
    const path = join(spool.folder, name);
    writeFileSync(path, rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n'));
    return path;
  };
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const third = await OauthApp.registered(spool);
  const ios = OauthApp.first(spool, 'svc-ios');
  const mac = OauthApp.first(spool, 'svc-mac');
  const agent = OauthApp.first(spool, 'svc-agent');
  const grant = (more: Record<string, unknown>) => ({
    account: 'old@x.test',
    client_id: third.client_id,
    scope: 'audio:read',
    audience: 'mcp',
    issuer: 'base',
    created_at: '2025-01-31T08:30:00Z',
    ...more,
  });
  const refreshed = async (app: OauthApp, token: string) => jsonOf<Tokens>(await app.refresh(token));
  const introspected = async (token: string) => jsonOf(await agent.introspect(token));
  /** The same server, asked under the older address. */
  const atLegacy = (path: string, form?: Record<string, string>, bearer?: string) =>
    call({
      method: form === undefined ? 'GET' : 'POST',
      url: new URL(path, spool.base_url),
      headers: {
        Host: 'old.example',
        ...(form === undefined ? {} : { 'Content-Type': 'application/x-www-form-urlencoded' }),
        ...(bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` }),
      },
      body: form === undefined ? undefined : Buffer.from(new URLSearchParams(form).toString()),
    });

  await t.test('C-109 C-119 C-106 import: older grants go on with the token that their apps hold', async (t) => {
    const path = file('grants.jsonl', [
      grant({ scope: 'sources:write events:read', refresh_token_sha256: sha256('old token 1'), name: 'Old assistant' }),
      grant({
        client_id: 'svc-mac',
        scope: 'turns:read account:manage',
        audience: 'api',
        refresh_token_sha256: sha256('old token 2'),
      }),
      '',
      'no json',
      grant({ scope: 'no:such', refresh_token_sha256: sha256('x') }),
      grant({ client_id: 'nobody', refresh_token_sha256: sha256('x') }),
      grant({ audience: 'api', scope: 'sources:write', refresh_token_sha256: sha256('x') }),
      grant({ refresh_token_sha256: 'x' }),
      grant({ created_at: '2999-01-01T00:00:00Z', refresh_token_sha256: sha256('x') }),
    ]);
    const dry = await cli('import', path, '--dry-run');
    t.match(dry.out, '0 imported, 0 known from before, 2 could be imported, 6 wrong.');
    t.equal((await third.refresh('old token 1')).status, 400, 'nothing happened yet');
    const done = await cli('import', path);
    t.equal(done.code, 1, 'some lines were wrong');
    for (const [line, problem] of [
      [4, 'is no JSON object'],
      [5, 'scope: must be scope names'],
      [6, 'client_id: there is no such client'],
      [7, 'scope: sources:write goes with the audience mcp only'],
      [8, 'refresh_token_sha256: must be 64'],
      [9, 'created_at: lies ahead'],
    ] as const) {
      t.match(done.out, `line ${line}: ${problem}`);
    }
    t.match(done.out, '2 imported, 0 known from before, 6 wrong.');
    t.match((await cli('import', path)).out, '0 imported, 2 known from before, 6 wrong.');

    const mcp = await refreshed(third, 'old token 1');
    t.equal(mcp.scope, 'sources:write events:read', 'names as they were');
    t.match(await introspected(mcp.access_token), { active: true, scope: 'audio:write turns:read devices:manage' });
    const desktop = await refreshed(mac, 'old token 2');
    t.equal(desktop.scope, 'turns:read account:manage', 'without what newer sign-ins get');
    t.match((await mac.signInNatively('old@x.test')).scope, /insights:read insights:write/);
    const again = await refreshed(third, 'old token 1');
    t.equal(again.refresh_token, mcp.refresh_token, 'a retry finds the same successor');
    await refreshed(third, mcp.refresh_token);
    t.equal((await third.refresh('old token 1')).status, 400);
    t.equal((await third.refresh(mcp.refresh_token)).status, 400, 'a used one in two hands ends the grant');
    await cli('import', path);
    t.equal((await third.refresh('old token 1')).status, 400, 'which an import does not bring back');
  });

  await t.test('C-018 grants of the older address work there, and there alone', async (t) => {
    const path = file('legacy.jsonl', [
      grant({
        client_id: 'svc-ios',
        account: 'legacy@x.test',
        scope: 'account:manage turns:read',
        audience: 'api',
        issuer: 'legacy',
        refresh_token_sha256: sha256('legacy token'),
      }),
    ]);
    t.match((await cli('import', path)).out, '1 imported');
    t.equal((await ios.refresh('legacy token')).status, 400, 'not at the present address');
    const form = { grant_type: 'refresh_token', client_id: 'svc-ios' };
    const answer = await atLegacy('/oauth/token', { ...form, refresh_token: 'legacy token', resource: LEGACY });
    t.equal(answer.status, 200);
    const tokens = jsonOf<Tokens>(answer);
    t.equal((await atLegacy('/me', undefined, tokens.access_token)).status, 200);
    t.equal((await atLegacy('/mcp', {}, tokens.access_token)).status, 400, 'it is let in, and a form is no message');
    const elsewhere = spool.client();
    elsewhere.access_token = tokens.access_token;
    t.equal((await elsewhere.send('GET', '/me')).status, 401);
    t.equal((await ios.refresh(tokens.refresh_token)).status, 400);
    const payload = JSON.parse(Buffer.from(tokens.access_token.split('.')[1] ?? '', 'base64url').toString());
    t.match(payload, { iss: LEGACY, aud: LEGACY });
    t.match(jsonOf(await atLegacy('/.well-known/oauth-authorization-server')), { issuer: LEGACY });
    const present = await ios.signInNatively('legacy@x.test');
    t.equal((await atLegacy('/me', undefined, present.access_token)).status, 401);

    const { challenge } = pkce();
    const asked = third.authorizePath({ code_challenge: challenge, code_challenge_method: 'S256' });
    const sent = await atLegacy(asked);
    t.equal(sent.status, 303);
    t.equal(sent.headers.location, base_url + asked, 'new authorizations are made at the present address');
    const native = await atLegacy('/oauth/authorize-challenge', { client_id: 'svc-ios' });
    t.equal(native.status, 307);
    t.equal(native.headers.location, `${base_url}/oauth/authorize-challenge`);
  });

  await t.test('list and revoke', async (t) => {
    const email = 'staff@x.test';
    const browser = new Browser(base_url);
    const web = OauthApp.first(spool, 'svc-web');
    const [first, second] = [await ios.signInNatively(email), await web.signIn(email, {}, browser)];
    const listed = await cli('list', email);
    t.equal(listed.code, 0);
    t.match(listed.out.split('\n')[0], /^GRANT ID +CLIENT +NAME +AUDIENCE +ISSUER +MADE +SCOPES$/);
    t.match(listed.out.split('\n')[1], /svc-web/);
    const { items } = JSON.parse((await cli('list', email, '--json')).out);
    t.equal(items.length, 2);
    const id = items.find(({ client_id }: { client_id: string }) => client_id === 'svc-ios').id;
    t.match(await cli('revoke', email), { code: 2, errors: /--grant GRANT_ID or --all/ });
    t.match(await cli('revoke', email, '--grant', id), { code: 0, out: /Revoked/ });
    t.match(await cli('revoke', email, '--grant', id), { code: 1, errors: /no such grant/ });
    t.equal((await ios.refresh(first.refresh_token)).status, 400);
    t.equal((await web.refresh(second.refresh_token)).status, 200);
    t.match(await cli('revoke', email, '--all'), { code: 0 });
    t.equal((await web.refresh(second.refresh_token)).status, 400);
    t.match((await web.begin(browser, { prompt: 'none' })).shown.location, 'login_required');
    t.match(await cli('list', 'nobody@x.test'), { code: 1, errors: /no such account/ });
    t.match(await cli('import', '/nowhere'), { code: 2, errors: /can't be read/ });
  });

  await t.test('spool keys rotate: tokens of both keys work', async (t) => {
    const before = await ios.signInNatively('keys@x.test');
    const rotated = await runCli(['keys', 'rotate'], env);
    t.equal(rotated.code, 0);
    const kid = /Key (\S+) signs/.exec(rotated.out)?.[1] ?? '';
    const after = await refreshed(ios, before.refresh_token);
    t.equal(JSON.parse(Buffer.from(after.access_token.split('.')[0] ?? '', 'base64url').toString()).kid, kid);
    for (const token of [before.access_token, after.access_token]) t.match(await introspected(token), { active: true });
  });
});
