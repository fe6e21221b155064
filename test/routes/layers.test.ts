import { randomUUID } from 'node:crypto';
import t from 'tap';
import { ROUTES } from '../../routes/index.js';
import {
  ENTITLED_PERMISSIONS,
  type Entitlement,
  isEnabled,
  type Permission,
  permissionsOf,
} from '../../src/domain/permissions.js';
import { permissionsOfScopes, recalls } from '../../src/domain/scopes.js';
import type { Route } from '../../src/edge/http/route.js';
import { TestAccount } from '../fixtures/account.js';
import { bearer } from '../fixtures/answers.js';
import type { AppClient } from '../fixtures/app_client.js';
import { OauthApp } from '../fixtures/oauth.js';
import { TestSpool } from '../fixtures/spool.js';

const SWITCHES = ['audio.access', 'transcripts.access', 'insights.access', 'developer.tools'] as const;
type Switches = Partial<Record<Entitlement, boolean>>;
const ALL_ON: Switches = Object.fromEntries(SWITCHES.map((name) => [name, true]));
const SWITCHED = SWITCHES.flatMap((name) => ENTITLED_PERMISSIONS[name] ?? []);
const SCOPES: readonly Permission[] = [...SWITCHED, 'pipelines:read', 'pipelines:write'];

/** Routes that a switch may close. */
const rows = ROUTES.public.filter(({ permission = [], all_of = [], layer, developer, recall, dialect = 'rest' }) => {
  const is_switched =
    [...permission, ...all_of].some((name) => SWITCHED.includes(name)) || layer || developer || recall;
  return is_switched && dialect === 'rest';
});

/** Whether a row lets somebody in with these switches and scopes; of app sessions, scopes are all. */
function isOpen(route: Route, switches: Switches, scopes: readonly string[] | null): boolean {
  const held = permissionsOf(switches);
  const allowed = scopes === null ? held : permissionsOfScopes(scopes);
  const permissions = held.filter((name) => allowed.includes(name));
  const { permission, all_of = [], recall, layer, developer } = route;
  const may_recall = recalls({ permissions, held, scopes: scopes ?? [] });
  const has_one = permission?.some((name) => permissions.includes(name)) === true || (recall === true && may_recall);
  return (
    (has_one || (permission === undefined && recall === undefined)) &&
    all_of.every((name) => permissions.includes(name)) &&
    (layer === undefined || isEnabled(switches, layer)) &&
    (developer !== true || isEnabled(switches, 'developer.tools'))
  );
}

t.test('layers and developer access', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CONTENT_WORKER: '0' });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  await ann.entitle('developer.tools', true);
  const tokens = await OauthApp.first(spool, 'svc-ios').signInNatively(ann.email, { scope: SCOPES.join(' ') });
  const recall = await OauthApp.first(spool, 'svc-ios').signInNatively(ann.email, { scope: 'recall:read' });
  const named = { name: 'tool', permissions: SCOPES, expires_at: null };
  const personal = await ann.ask<{ value: string }>('POST', '/me/tokens', named);
  const credentials: {
    name: string;
    app: AppClient;
    scopes: readonly string[] | null;
    takes: Route['credential'][];
  }[] = [
    { name: 'app session', app: ann.app, scopes: null, takes: ['account', 'app', 'session'] },
    { name: 'OAuth', app: bearer(spool, tokens.access_token), scopes: SCOPES, takes: ['account', 'app'] },
    { name: 'recall', app: bearer(spool, recall.access_token), scopes: ['recall:read'], takes: ['account', 'app'] },
    { name: 'personal access token', app: bearer(spool, personal.value), scopes: SCOPES, takes: ['account'] },
  ];
  /** Nothing of these exists, and no body is right: whoever is let in hears something else than 403. */
  const isLetIn = async (app: AppClient, { method, path }: Route) => {
    const at = path.replaceAll(/:[a-z_]+/g, randomUUID());
    const answer = await app.send(method, at, { body: method === 'GET' || method === 'DELETE' ? undefined : [] });
    return answer.status !== 403;
  };
  const cases: [string, Switches][] = [
    ['all on', ALL_ON],
    ...SWITCHES.map((name): [string, Switches] => [`${name} off`, { ...ALL_ON, [name]: false }]),
    ['all off', Object.fromEntries(SWITCHES.map((name) => [name, false]))],
  ];
  for (const [says, switches] of cases) {
    await t.test(`K-016 C-112 every route of a layer, with every credential: ${says}`, async (t) => {
      for (const name of SWITCHES) await ann.entitle(name, switches[name] === true);
      let closed = 0;
      for (const { name, app, scopes, takes } of credentials) {
        for (const route of rows.filter(({ credential }) => takes.includes(credential))) {
          const is_open = isOpen(route, switches, scopes);
          if (!is_open) closed += 1;
          const what = `${route.method} ${route.path} with ${name}`;
          // Pipelines beside the default one are for developers, whichever way somebody comes.
          const is_narrower = route.path.startsWith('/pipelines') && !isEnabled(switches, 'developer.tools');
          if (!is_narrower || !is_open) t.equal(await isLetIn(app, route), is_open, what);
        }
      }
      t.ok(rows.length >= 60 && (closed > 20 || says === 'all on'), `${rows.length} routes, ${closed} times closed`);
    });
  }

  t.test('K-016 what a layer closes is what it is named for', (t) => {
    const openWithout = (name: Entitlement, prefix: string) =>
      rows
        .filter(({ path }) => path === prefix || path.startsWith(`${prefix}/`))
        .filter((route) => isOpen(route, { ...ALL_ON, [name]: false }, null))
        .map(({ method, path }) => `${method} ${path}`);
    for (const prefix of ['/suggestions', '/conversations', '/memories'])
      t.same(openWithout('insights.access', prefix), [], prefix);
    t.same(openWithout('insights.access', '/device-sessions'), []);
    for (const prefix of ['/turns', '/contacts']) t.same(openWithout('transcripts.access', prefix), [], prefix);
    t.same(openWithout('developer.tools', '/memories'), ['DELETE /memories/:id']);
    t.same(openWithout('developer.tools', '/conversations'), ['DELETE /conversations/:id']);
    t.end();
  });
});
