import { randomUUID } from 'node:crypto';
import t from 'tap';
import { EVENT_TYPES } from '../../../src/domain/event_types.js';
import { isId } from '../../../src/domain/ids.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { TestAccount } from '../../fixtures/account.js';
import { type EndpointView, type MadeEndpoint, type PageOf, TestEndpoint } from '../../fixtures/endpoints.js';
import { OauthApp } from '../../fixtures/oauth.js';
import { TestSpool } from '../../fixtures/spool.js';

/** Nobody is there, and nobody is asked: these are about the resource alone. */
const NOWHERE = 'https://does-not-exist.invalid/hook?a=1';

t.test('endpoints', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  let people = 0;
  const account = () => TestAccount.open(spool, `p${++people}@x.test`);

  await t.test('F-001 F-002 F-003 F-004 F-007 X-38 one is made, and its secret is shown once', async (t) => {
    const ann = await account();
    const answer = await ann.app.send('POST', '/endpoints', { body: { url: NOWHERE } });
    t.equal(answer.status, 201);
    const { endpoint, signing_secret } = JSON.parse(answer.body.toString()).data as MadeEndpoint;
    t.ok(isId(endpoint.id));
    t.strictSame(endpoint, {
      ...{ id: endpoint.id, status: 'active', topics: [], url: NOWHERE, failure_count: 0 },
      ...{ last_success_at: null, disabled_reason: null, created_at: endpoint.created_at },
    });
    t.match(endpoint.created_at, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
    t.match(signing_secret, /^whsec_/);
    const key = Buffer.from(signing_secret.slice('whsec_'.length), 'base64');
    t.equal(key.length, 32);
    t.equal(`whsec_${key.toString('base64')}`, signing_secret);
    t.strictSame(await ann.ask('GET', `/endpoints/${endpoint.id}`), endpoint);
    t.strictSame(await ann.ask('GET', '/endpoints'), { items: [endpoint], cursor: null });
    t.strictSame(await ann.ask('PATCH', `/endpoints/${endpoint.id}`, { status: 'paused' }), {
      ...endpoint,
      status: 'paused',
    });
    const empty = await ann.ask<MadeEndpoint>('POST', '/endpoints', { url: 'https://127.0.0.1/', topics: [] });
    t.strictSame(empty.endpoint.topics, []);
    t.not(empty.signing_secret, signing_secret);
  });

  await t.test('E-003 F-005 topics are event types, and come back as they were sent', async (t) => {
    const ann = await account();
    const all = await ann.ask<MadeEndpoint>('POST', '/endpoints', { url: NOWHERE, topics: EVENT_TYPES.toReversed() });
    t.strictSame(all.endpoint.topics, EVENT_TYPES.toReversed());
    const topics = ['turn.updated', 'account.updated', 'turn.updated'];
    const some = await ann.ask<MadeEndpoint>('POST', '/endpoints', { url: NOWHERE, topics });
    t.strictSame(some.endpoint.topics, topics);
    for (const wrong of [['foo.bar'], 'x', 'account.updated', [1], [null], {}, ['account.updated', 'Account.Updated']])
      t.equal(
        await ann.says('POST', '/endpoints', { url: NOWHERE, topics: wrong }),
        '400 BAD_REQUEST',
        JSON.stringify(wrong),
      );
  });

  await t.test('F-006 an address must be https, and its fault is named', async (t) => {
    const ann = await account();
    for (const url of ['http://h.test/', 'https://u:p@h.test/', 'https://h.test/#f', 'x', '', 1, null, undefined])
      t.equal(await ann.says('POST', '/endpoints', { url }), '400 BAD_REQUEST', String(url));
    const answer = await ann.app.send('POST', '/endpoints', { body: { url: 'http://h.test/' } });
    t.strictSame(JSON.parse(answer.body.toString()).error.details, [
      { path: 'url', message: 'must be an https:// URL' },
    ]);
    const local = await ann.app.send('POST', '/endpoints', { body: { url: 'http://localhost:3000/hook' } });
    t.match(JSON.parse(local.body.toString()).error.details[0].message, 'spool listen', 'it says what to do instead');
    t.strictSame(await ann.ask('GET', '/endpoints'), { items: [], cursor: null });
  });

  await t.test('F-009 D-060 a list goes on behind its cursor, also when that endpoint is gone', async (t) => {
    const ann = await account();
    const made: TestEndpoint[] = [];
    for (let n = 0; n < 26; n++) made.push(await TestEndpoint.open(ann, `https://h.test/${n}`));
    const newest_first = made
      .map(({ id }) => id)
      .sort()
      .reverse();
    const idsOf = ({ items }: PageOf<EndpointView>) => items.map(({ id }) => id);
    const first = await ann.ask<PageOf<EndpointView>>('GET', '/endpoints');
    t.strictSame(idsOf(first), newest_first.slice(0, 25));
    t.equal(first.cursor, newest_first[24]);
    const rest = await ann.ask<PageOf<EndpointView>>('GET', `/endpoints?cursor=${first.cursor}`);
    t.strictSame([idsOf(rest), rest.cursor], [newest_first.slice(25), null]);
    await made.find(({ id }) => id === newest_first[24])?.remove();
    const again = await ann.ask<PageOf<EndpointView>>('GET', `/endpoints?cursor=${first.cursor}`);
    t.strictSame(idsOf(again), newest_first.slice(25));
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'limit=1.5', 'cursor=x', 'cursor='])
      t.equal(await ann.says('GET', `/endpoints?${query}`), '400 BAD_REQUEST', query);
    t.equal(idsOf(await ann.ask('GET', '/endpoints?limit=100')).length, 25);
  });

  await t.test(`an account has at most ${LIMITS.endpoints_per_account_max} of them`, async (t) => {
    const ann = await account();
    const asked = Array.from({ length: LIMITS.endpoints_per_account_max + 3 }, () =>
      ann.says('POST', '/endpoints', { url: NOWHERE }),
    );
    const answers = await Promise.all(asked);
    t.equal(answers.filter((answer) => answer === '201').length, LIMITS.endpoints_per_account_max);
    t.equal(answers.filter((answer) => answer === '409 CONFLICT').length, 3);
    const { items } = await ann.ask<PageOf<EndpointView>>('GET', '/endpoints?limit=1');
    t.equal(await ann.says('DELETE', `/endpoints/${items[0]?.id}`), '204');
    t.equal(await ann.says('POST', '/endpoints', { url: NOWHERE }), '201', 'there is room again');
  });

  await t.test('F-010 F-018 F-019 D-060 others, unknown and removed ones are not there', async (t) => {
    const [ann, bob] = [await account(), await account()];
    const own = await TestEndpoint.open(ann, NOWHERE);
    const other = await TestEndpoint.open(bob, NOWHERE);
    const gone = await TestEndpoint.open(ann, NOWHERE);
    t.equal(await ann.says('DELETE', `/endpoints/${gone.id}`), '204');
    for (const id of [other.id, gone.id, randomUUID(), 'abc']) {
      for (const [method, path, body] of [
        ['GET', '', undefined],
        ['PATCH', '', { status: 'paused' }],
        ['DELETE', '', undefined],
        ['GET', '/deliveries', undefined],
        ['GET', `/deliveries/${randomUUID()}`, undefined],
      ] as const)
        t.equal(await ann.says(method, `/endpoints/${id}${path}`, body), '404 NOT_FOUND', `${method} ${id}${path}`);
    }
    t.equal((await other.read()).status, 'active');
    for (const path of ['/replay', '/rotate', '/deliveries/replay', `/deliveries/${randomUUID()}/replay`])
      t.match(await ann.says('POST', `/endpoints/${own.id}${path}`, {}), /^40[45]/, path);
    for (const id of [randomUUID(), own.id, 'abc'])
      t.equal(await ann.says('GET', `/endpoints/${own.id}/deliveries/${id}`), '404 NOT_FOUND');
  });

  await t.test('F-011 F-014 F-015 X-08 X-17 only the status changes, and in which ways', async (t) => {
    const ann = await account();
    const one = await TestEndpoint.open(ann, NOWHERE);
    const before = await one.read();
    for (const body of [
      { url: 'https://h.test/' },
      { topics: [] },
      { status: 'foo' },
      { status: null },
      {},
      [],
      { status: 'paused', url: NOWHERE },
    ])
      t.equal(await ann.says('PATCH', `/endpoints/${one.id}`, body), '400 BAD_REQUEST', JSON.stringify(body));
    t.strictSame(await one.read(), before);
    t.strictSame(await one.set('active'), before, 'the state it is in');
    t.equal((await one.set('paused')).status, 'paused');
    t.equal((await one.set('paused')).status, 'paused');
    t.equal((await one.set('active')).status, 'active');
    t.equal((await one.set('disabled')).status, 'disabled');
    t.equal((await one.set('disabled')).disabled_reason, null);
    t.equal(await ann.says('PATCH', `/endpoints/${one.id}`, { status: 'paused' }), '409 CONFLICT');
    t.strictSame(await one.set('active'), before);
    await one.set('paused');
    t.equal((await one.set('disabled')).status, 'disabled');
  });

  await t.test('E-032 J-017 configuring endpoints is no event, and outlives a restart', async (t) => {
    const ann = await account();
    const one = await TestEndpoint.open(ann, NOWHERE, ['account.updated']);
    await one.set('paused');
    const gone = await TestEndpoint.open(ann, NOWHERE);
    await gone.remove();
    t.strictSame(await ann.newEvents(), []);
    const before = await ann.ask('GET', '/endpoints');
    await spool.close();
    await spool.open();
    const { app } = await spool.signIn(ann.email);
    t.strictSame(await app.ask('GET', '/endpoints'), before);
  });

  await t.test('B-013 C-115 F-008 J-018 who may', async (t) => {
    const ann = await account();
    const one = await TestEndpoint.open(ann, NOWHERE);
    const routes = [
      ['POST', '/endpoints', { url: NOWHERE }],
      ['GET', '/endpoints', undefined],
      ['GET', `/endpoints/${one.id}`, undefined],
      ['PATCH', `/endpoints/${one.id}`, { status: 'active' }],
      ['GET', `/endpoints/${one.id}/deliveries`, undefined],
      ['GET', `/endpoints/${one.id}/deliveries/${one.id}`, undefined],
      ['DELETE', `/endpoints/${one.id}`, undefined],
    ] as const;
    const statuses = async (token: string | null) => {
      const found: number[] = [];
      for (const [method, path, body] of routes) {
        const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
        found.push((await spool.client().send(method, path, { body, headers })).status);
      }
      return found;
    };
    const pat = async (permissions: string[]) =>
      (await ann.ask<{ value: string }>('POST', '/me/tokens', { name: 'tool', permissions, expires_at: null })).value;
    const ios = OauthApp.first(spool, 'svc-ios');
    t.strictSame(
      await statuses(null),
      routes.map(() => 401),
    );
    t.strictSame(
      await statuses(await pat(['turns:read'])),
      routes.map(() => 403),
    );
    const narrow = await ios.signInNatively(ann.email, { scope: 'turns:read account:manage' });
    t.strictSame(
      await statuses(narrow.access_token),
      routes.map(() => 403),
    );
    const wide = await ios.signInNatively(ann.email, { scope: 'endpoints:manage' });
    t.strictSame(await statuses(wide.access_token), [201, 200, 200, 200, 200, 404, 204]);
    const again = await TestEndpoint.open(ann, NOWHERE);
    const with_pat = await spool.client().send('GET', `/endpoints/${again.id}`, {
      headers: { Authorization: `Bearer ${await pat(['endpoints:manage'])}` },
    });
    t.equal(with_pat.status, 200);
  });
});
