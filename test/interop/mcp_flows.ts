import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import { TOOLS } from '../../routes/mcp/tools.js';
import { LIMITS } from '../../src/domain/limits.js';
import { Storage } from '../driver/storage.js';
import { McpLogin } from '../fixtures/mcp_login.js';
import { Person } from '../fixtures/person.js';
import { linesOf, RecordedFetch } from '../fixtures/recorded_fetch.js';
import { TestSpool } from '../fixtures/spool.js';
import { until } from '../fixtures/until.js';

const UNKNOWN = randomUUID();
/** What it asks for at first. */
const READS = ['turns:read', 'insights:read', 'profile:read', 'pipelines:read'];

/** Whole lives of an MCP client's connection, for every library that can be one. */

/** A connection of one library, made with this login and this `fetch`. */
export type McpConnection = {
  connect(): Promise<unknown>;
  /** Goes on from the address that the browser came back to. */
  finish(back: URL): Promise<unknown>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments?: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
};

export type McpLibrary = {
  open(mcp_url: URL, login: McpLogin, fetch: RecordedFetch['fetch']): McpConnection;
  /** What it throws when somebody has to sign in. */
  unauthorized: new () => Error;
  /** Whether it asks the person for more when a tool needs that; others refresh, which gives them no more. */
  steps_up: boolean;
  /** How it drops what it keeps when its client is not known any more. */
  drops_client: string[];
};

type Account = { structuredContent: { account_id: string; client_id: string; scopes: string[] } };

export async function mcpFlows(t: Test, library: McpLibrary): Promise<void> {
  const { proxy, env } = await Storage.open(t);
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', ...env });
  t.teardown(() => spool.end());
  const { operator } = spool;
  const { base_url, services } = spool.server;
  const mcp_url = new URL('/mcp', base_url);
  const expire = () => operator.advanceClock(LIMITS.oauth_access_life_ms);
  let people = 0;

  const open = (login: McpLogin, recorded = new RecordedFetch()) => ({
    ...library.open(mcp_url, login, recorded.fetch),
    recorded,
    login,
  });
  const asksToSignIn = async (t: Test, call: Promise<unknown>, text = 'somebody has to sign in') =>
    t.ok((await errorOf(call)) instanceof library.unauthorized, text);
  /** From nothing to a connection that works. */
  const signedIn = async (t: Test, login = new McpLogin()) => {
    const person = new Person(spool, `mcp${++people}@x.test`);
    const first = open(login);
    await asksToSignIn(t, first.connect());
    await first.finish(await person.visit(login.asked ?? ''));
    await first.close();
    const connection = open(login);
    await connection.connect();
    t.teardown(() => connection.close());
    return { ...connection, person };
  };
  const whoAmI = async (connection: McpConnection) =>
    ((await connection.callTool({ name: 'who_am_i' })) as Account).structuredContent;
  const works = (connection: McpConnection) =>
    whoAmI(connection).then(
      () => true,
      () => false,
    );
  const refreshes = (recorded: RecordedFetch) =>
    recorded.take().filter(({ form }) => form.get('grant_type') === 'refresh_token');

  await t.test('C-007 C-118 from a 401 to tools, with nothing known but the address', async (t) => {
    const person = new Person(spool, 'first@x.test');
    const login = new McpLogin();
    const connection = open(login);
    await asksToSignIn(t, connection.connect());
    t.same(linesOf(connection.recorded.take()), [
      'POST /mcp 401',
      'GET /.well-known/oauth-protected-resource/mcp 200',
      'GET /.well-known/oauth-authorization-server 200',
      'POST /oauth/register 201',
    ]);
    const asked = login.asked?.searchParams;
    t.equal(asked?.get('resource'), mcp_url.href);
    t.equal(asked?.get('scope'), READS.join(' '), 'what reading needs, and no more');
    const back = await person.visit(login.asked ?? '');
    t.equal(back.searchParams.get('state'), asked?.get('state'));
    await connection.finish(back);
    t.same(posts(connection.recorded), ['POST /oauth/token 200']);
    await connection.close();

    const again = open(login);
    await again.connect();
    t.same(
      (await again.listTools()).tools.map(({ name }) => name),
      TOOLS.filter(({ permission }) => permission?.some((one) => READS.includes(one)) ?? true).map(({ name }) => name),
    );
    const { app } = await spool.signIn('first@x.test');
    const me = await app.ask<{ id: string }>('GET', '/me');
    t.match(await whoAmI(again), { account_id: me.id, scopes: READS });
    const { items } = await app.ask<{ items: { name: string; scopes: string[] }[] }>('GET', '/me/connections');
    t.match(items, [{ name: 'Interop', scopes: READS }]);
    t.notOk(linesOf(again.recorded.take()).some((line) => line.includes('/oauth/')));
    await again.close();
  });

  if (library.steps_up) {
    await t.test('C-100 a tool that needs more: the person is asked for it, and keeps what there was', async (t) => {
      const connection = await signedIn(t);
      const { login, person } = connection;
      login.asked = null as URL | null;
      const call = { name: 'give_feedback', arguments: { suggestion_id: UNKNOWN, rating: 'helpful' } };
      await asksToSignIn(t, connection.callTool(call), 'somebody has to agree');
      t.same(new Set(login.asked?.searchParams.get('scope')?.split(' ')), new Set([...READS, 'insights:write']));
      await connection.finish(await person.visit(login.asked ?? ''));
      t.match(await connection.callTool(call), { isError: true, content: [{ text: /^NOT_FOUND/ }] }, 'it may');
      t.match(await connection.callTool({ name: 'list_suggestions' }), { structuredContent: { items: [] } });
    });
  }

  await t.test('C-030 consent is denied', async (t) => {
    const person = new Person(spool, 'denies@x.test');
    const login = new McpLogin();
    const connection = open(login);
    await asksToSignIn(t, connection.connect());
    const back = await person.visit(login.asked ?? '', 'deny');
    t.match(Object.fromEntries(back.searchParams), { error: 'access_denied', iss: base_url });
    await t.rejects(connection.finish(back));
    t.notOk(login.store.tokens);
    t.notMatch(linesOf(connection.recorded.take()).join(), '/oauth/token');
    await connection.close();
  });

  await t.test('C-064 an hour later it refreshes by itself', async (t) => {
    const connection = await signedIn(t);
    const before = connection.login.store.tokens;
    connection.recorded.take();
    for (let hour = 0; hour < 3; hour++) {
      await expire();
      t.ok(await whoAmI(connection));
      t.equal(refreshes(connection.recorded).length, 1);
    }
    t.not(connection.login.store.tokens?.refresh_token, before?.refresh_token);
    t.same(connection.login.dropped, []);
  });

  await t.test('with a secret of its own, which it shows by HTTP Basic', async (t) => {
    const connection = await signedIn(t, new McpLogin({}, 'client_secret_basic'));
    const { store } = connection.login;
    t.ok(store.client?.client_secret);
    connection.recorded.take();
    await expire();
    t.ok(await whoAmI(connection));
    const [refresh] = refreshes(connection.recorded);
    t.equal(refresh?.status, 200);
    t.notOk(refresh?.form.has('client_secret'));
    store.client = { ...store.client, client_id: store.client?.client_id ?? '', client_secret: 'wrong' };
    await expire();
    await asksToSignIn(t, whoAmI(connection));
    t.same(connection.login.dropped, library.drops_client, 'a secret that is not good any more');
  });

  await t.test('C-064 calls in parallel right after that refresh in parallel, and all succeed', async (t) => {
    const connection = await signedIn(t);
    connection.recorded.take();
    for (let round = 0; round < 3; round++) {
      await expire();
      connection.recorded.gather('refresh_token', 3);
      const answers = await Promise.all([1, 2, 3].map(() => whoAmI(connection)));
      t.equal(new Set(answers.map(({ account_id }) => account_id)).size, 1);
      const sent = refreshes(connection.recorded);
      t.same(
        sent.map(({ status }) => status),
        [200, 200, 200],
      );
      t.equal(new Set(sent.map(({ form }) => form.get('refresh_token'))).size, 1, 'the library does not take turns');
    }
    t.same(connection.login.dropped, []);
    t.ok(await whoAmI(connection), 'still working');
  });

  await t.test('two of it on one token store', async (t) => {
    const one = await signedIn(t);
    const two = open(one.login);
    await two.connect();
    t.teardown(() => two.close());
    for (let round = 0; round < 3; round++) {
      await expire();
      t.same(await Promise.all([whoAmI(one), whoAmI(two)]), [await whoAmI(one), await whoAmI(one)]);
      await expire();
      t.ok(await whoAmI(one));
      two.recorded.take();
      t.ok(await whoAmI(two));
      t.equal(refreshes(two.recorded).length, 0, 'what the other one saved is good');
    }
    t.same(one.login.dropped, []);
  });

  await t.test('C-065 two of it with a copy of the store each: both go on within the minute, not later', async (t) => {
    const one = await signedIn(t);
    const two = open(new McpLogin({ ...one.login.store }));
    await two.connect();
    t.teardown(() => two.close());
    await expire();
    t.ok(await whoAmI(one));
    t.ok(await whoAmI(one));
    await operator.advanceClock(LIMITS.refresh_retry_ms / 2);
    t.ok(await whoAmI(two));
    t.equal(two.login.store.tokens?.refresh_token, one.login.store.tokens?.refresh_token, 'one successor');
    await expire();
    t.ok(await whoAmI(one));
    await operator.advanceClock(LIMITS.refresh_retry_ms);
    await asksToSignIn(t, whoAmI(two), 'a token in two hands');
    await asksToSignIn(t, whoAmI(one), 'ends the grant for both');
  });

  await t.test('a revoked grant: tokens are dropped, and the person is asked to sign in', async (t) => {
    const connection = await signedIn(t);
    const { login, person } = connection;
    const client_id = login.store.client?.client_id;
    const { app } = await spool.signIn(person.email);
    const { items } = await app.ask<{ items: { id: string }[] }>('GET', '/me/connections');
    await app.ask('DELETE', `/me/connections/${items[0]?.id}`);
    login.asked = null;
    connection.recorded.take();
    await asksToSignIn(t, whoAmI(connection));
    t.match(posts(connection.recorded), ['POST /mcp 401', 'POST /oauth/token 400']);
    t.same(login.dropped, ['tokens']);
    t.notOk(login.store.tokens);
    await connection.finish(await person.visit(login.asked ?? ''));
    t.ok(await whoAmI(connection));
    t.equal(login.store.client?.client_id, client_id, 'without another registration');
  });

  await t.test('a client that staff disabled registers again', async (t) => {
    const connection = await signedIn(t);
    const { login, person } = connection;
    const client_id = login.store.client?.client_id ?? '';
    await services.clients.setDisabled(client_id, true);
    connection.recorded.take();
    await asksToSignIn(t, whoAmI(connection));
    t.same(login.dropped, library.drops_client);
    t.match(posts(connection.recorded), ['POST /mcp 401', 'POST /oauth/token 401', 'POST /oauth/register 201']);
    await connection.finish(await person.visit(login.asked ?? ''));
    t.not((await whoAmI(connection)).client_id, client_id);
  });

  await t.test('storage is away: an error, nothing is dropped, and it works again afterwards', async (t) => {
    const connection = await signedIn(t);
    const { login } = connection;
    const kept = structuredClone(login.store);
    login.asked = null;
    connection.recorded.take();
    const away = async (call: () => Promise<unknown>) => {
      proxy.cut();
      await until(
        'memory is not trusted any more',
        async () => (await spool.operator.send('GET', '/readyz')).status === 503,
      );
      t.notOk((await errorOf(call())) instanceof library.unauthorized);
      proxy.restore();
      t.same(login.store, kept);
      t.same(login.dropped, []);
      t.equal(login.asked, null, 'nobody is asked to sign in');
      return posts(connection.recorded);
    };
    t.same(await away(() => whoAmI(connection)), ['POST /mcp 503']);
    await until('storage is back', () => works(connection));
    connection.recorded.take();

    await expire();
    t.same(await away(() => whoAmI(connection)), ['POST /mcp 401', 'POST /oauth/token 503'], 'while it refreshes');
    await until('storage is back', () => works(connection));
    t.not(login.store.tokens?.refresh_token, kept.tokens?.refresh_token);
  });
}

async function errorOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('it was expected to fail');
}

/** Without metadata, and without the stream that is asked for on the side. */
function posts(recorded: RecordedFetch): string[] {
  return linesOf(recorded.take()).filter((line) => line.startsWith('POST '));
}
