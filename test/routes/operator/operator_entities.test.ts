import { randomUUID } from 'node:crypto';
import t from 'tap';
import { ACTOR_KINDS } from '../../../actors/index.js';
import { encodeStored } from '../../../src/engine/store/codec.js';
import { NO_VERSION } from '../../../src/engine/store/entity_version.js';
import { TestAccount } from '../../fixtures/account.js';
import { invite } from '../../fixtures/account_pages.js';
import { TestEndpoint } from '../../fixtures/endpoints.js';
import { Browser, codeOf, jsonOf, OauthApp, type Tokens } from '../../fixtures/oauth.js';
import { omiConversation, segment } from '../../fixtures/omi.js';
import { Receiver } from '../../fixtures/receiver.js';
import { record } from '../../fixtures/recording.js';
import { everyKey, ownRedisOf } from '../../fixtures/redis_content.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';

type EntityView = {
  stored: { is: string; state?: Record<string, unknown> };
  memory: { quarantined: { reason: string } | null } | null;
  recent: { type: string; outcome: string }[];
  versions: { version: number; type: string }[];
  endpoint: { headline: string; reasons: { name: string; text: string; blocks: boolean }[] } | null;
  device: { seen: Record<string, unknown> | null } | null;
};

const receiver = await Receiver.start();
const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0', ...receiver.env });
t.teardown(async () => {
  await spool.end();
  await receiver.end();
});
const { operator } = spool;
const view = (kind: string, id: string) =>
  operator.ask<EntityView>('GET', `/ops/entity?${new URLSearchParams({ kind, id })}`);
const find = async (text: string) =>
  (
    await operator.ask<{ items: { kind: string; id: string }[] }>(
      'GET',
      `/ops/entities?find=${encodeURIComponent(text)}`,
    )
  ).items;

await t.test('K-141 no page of any kind shows a secret, a hash or content that was put in by real use', async (t) => {
  const secrets: Record<string, string> = {
    name: 'Ann Secret-Name',
    title: 'Talk with the secret title',
    payload: 'a secret transcript',
    said: 'Something secret was said',
    label: 'Secret speaker',
    about: 'Bakes secret bread',
    vocabulary: 'Secretword',
    item: 'A secret wish',
    file: 'secret.txt',
    instructions: 'Be secretive.',
    workspace: 'Secret workspace',
    'token name': 'secret script',
    installation: 'Secret phone',
    path: '/hook/secret-path',
  };
  const ann = await TestAccount.open(spool, 'secret.ann@x.test');
  const { app } = ann;
  await app.ask('PATCH', '/me', { name: secrets.name });
  const endpoint = await app.ask<{ endpoint: { id: string }; signing_secret: string }>('POST', '/endpoints', {
    url: receiver.url(secrets.path as string),
  });
  secrets['signing secret'] = endpoint.signing_secret.replace(/^whsec_/, '');
  const token = await app.ask<{ token: string }>('POST', '/me/tokens', {
    ...{ name: secrets['token name'], permissions: ['audio:read'] },
  });
  secrets.token = JSON.stringify(token).match(/svc_pat_[\w-]+/)?.[0] ?? '';
  const { claim } = await app.ask<{ claim: string }>('POST', '/devices/claims', { kind: 'owner' });
  secrets.claim = claim;
  const bound = await spool.boundDevice(app);
  await record(bound.device, bound);
  const [own] = (await app.ask<{ workspaces: { id: string }[] }>('GET', '/me')).workspaces;
  await app.ask('PATCH', `/workspaces/${own?.id}`, { retention: { audio: { days: 9 } } });
  const hosted = await spool.hostSession(app, { ble_address: 'A1B2C3D4E5F6' });
  secrets['join code'] = hosted.session.join_code ?? '';
  secrets['session claim'] = hosted.claim;
  const source = await app.ask<{ id: string }>('POST', '/sources', { name: secrets.name });
  const stream = await app.ask<{ id: string }>('POST', '/audio/streams', {
    ...{ source_id: source.id, captured_at: '2026-01-01T12:00:00Z', title: secrets.title },
  });
  await app.ask('POST', `/audio/streams/${stream.id}/signals`, {
    signals: [{ ref: 'r', type: 'note', start_ms: 0, payload: { text: secrets.payload } }],
  });
  const recording = await TestRecording.begin(ann);
  await recording.add(2_000);
  await recording.end();
  const worker = new TestTranscriber(spool);
  const heard = [said(secrets.said as string, [0, 1_500], secrets.label)];
  await worker.publish(await worker.claim(recording.id), heard, { speaker_scope: 'stream' });
  const link = await app.ask<{ url: string }>('POST', `/audio/streams/${recording.id}/links`, {});
  secrets['share link'] = link.url.split('/').at(-1) ?? '';
  const { about, vocabulary, item, instructions } = secrets;
  await app.ask('PUT', '/profile', { revision: 0, about, vocabulary: [vocabulary] });
  await app.ask('POST', '/profile/context', { text: item });
  await app.ask('POST', '/files', { name: secrets.file, media_type: 'a/b', size_bytes: 0, sha256: 'ab'.repeat(32) });
  await app.ask('POST', '/audio/imports', {
    ...{ import_ref: secrets.file, name: secrets.file, size_bytes: 1, sha256: 'ab'.repeat(32) },
  });
  const omi_address = (await app.ask<{ url: string }>('POST', '/me/omi')).url;
  secrets['address for omi'] = omi_address.split('/').at(-1) ?? '';
  secrets.uid = 'secret-user-of-omi';
  const conversation = omiConversation('secret-conversation', [segment(secrets.said as string, 0)]);
  const headers = { 'Content-Type': 'application/json' };
  const taken = { method: 'POST', headers, body: JSON.stringify(conversation) };
  t.equal((await fetch(`${omi_address}?uid=${secrets.uid}`, taken)).status, 204);
  await app.ask('POST', '/me/exports');
  await spool.operator.advanceClock(0); // it is made
  const { items: pipelines } = await app.ask<{ items: { id: string }[] }>('GET', '/pipelines');
  const named = { name: secrets.name, insights: { instructions } };
  await app.ask('PATCH', `/pipelines/${pipelines[0]?.id}`, named);
  const person = await app.ask<{ id: string }>('POST', '/contacts', { name: secrets.name });
  const alias = await app.ask<{ id: string }>('POST', '/contacts', { name: secrets.name });
  await app.ask('POST', `/contacts/${alias.id}/merge`, { into: person.id });
  await invite(app, 'secret.bob@x.test', { name: secrets.workspace as string });
  const made = { name: 'client', redirect_uris: ['https://a.test/secret-callback'], confidential: true };
  secrets['client secret'] = (
    await operator.ask<{ client_secret: string }>('POST', '/ops/clients', made)
  ).client_secret;
  const ios = OauthApp.first(spool, 'svc-ios');
  const native = await ios.challenge('secret.native@x.test', { installation_label: secrets.installation as string });
  secrets['auth session'] = native.auth_session;
  secrets['native code'] = await spool.readCode('secret.native@x.test');
  const entered = await ios.challengeStep({ auth_session: native.auth_session, otp: secrets['native code'] });
  const { authorization_code } = jsonOf<{ authorization_code: string }>(entered);
  const tokens = jsonOf<Tokens>(await ios.exchange(authorization_code, native.verifier));
  Object.assign(secrets, { 'authorization code': authorization_code, refresh: tokens.refresh_token });
  const browser = new Browser(spool.server.base_url);
  const { shown } = await OauthApp.first(spool, 'svc-web').begin(browser, { state: 'secret-state' });
  secrets['form token'] = /name="form_token" value="([^"]+)"/.exec(shown.html)?.[1] ?? '';
  secrets['browser code'] = codeOf(
    await OauthApp.first(spool, 'svc-web').enterCode(browser, shown, 'secret.browser@x.test'),
  );
  secrets['session cookie'] = browser.cookies.get('spool_session') ?? '';
  secrets.state = 'secret-state';
  const grant = {
    ...{ client_id: 'svc-ios', account: ann.id, scope: 'audio:read', audience: 'api', issuer: 'base' },
    ...{ created_at: '2026-01-01T12:00:00Z', refresh_token_sha256: 'ab'.repeat(32) },
  };
  t.match(await operator.ask('POST', '/ops/grants/import', { grants: [grant] }), {
    results: [{ outcome: 'imported' }],
  });
  const gone = await spool.device();
  await operator.ask('DELETE', `/ops/devices/${gone.device_id}/certificate`);
  for (const [name, secret] of Object.entries(secrets)) t.ok(secret.length >= 6, name);

  const redis = await ownRedisOf(spool.folder);
  t.teardown(() => redis.disconnect());
  const entities = (await everyKey(redis)).flatMap(({ key }) => /\}1:e:([a-z_]+):(.*)$/s.exec(key)?.slice(1) ?? []);
  const seen = new Set<string>();
  const leaks: string[] = [];
  for (let at = 0; at + 1 < entities.length; at += 2) {
    const [kind = '', id = ''] = entities.slice(at, at + 2);
    seen.add(kind);
    const query = new URLSearchParams({ kind, id });
    const { body, status } = await operator.send('GET', `/ops/entity?${query}`);
    const text = body.toString();
    if (status !== 200) t.fail(`${kind} ${id}: ${status}`);
    const { id: _, name: __, stored, ...rest } = JSON.parse(text);
    if (!['kept', 'ended'].includes(stored.is)) t.fail(`${kind}: ${stored.is}`);
    const shown_text = JSON.stringify({ stored, rest });
    for (const [name, secret] of Object.entries(secrets)) {
      const is_code = /^\d{6}$/.test(secret);
      if (is_code ? shown_text.includes(`"${secret}"`) : text.includes(secret)) leaks.push(`${kind}: ${name}`);
      if (secret.length > 20 && text.includes(secret.slice(-16))) leaks.push(`${kind}: the end of ${name}`);
    }
    if (/[0-9a-f]{40}|[\w-]{40,}/.test(shown_text)) leaks.push(`${kind}: a hash, a seed or something sealed`);
    if (kind !== 'account' && shown_text.includes('@x.test')) leaks.push(`${kind}: an email`);
  }
  t.same(leaks, []);
  t.same([...seen].sort(), ACTOR_KINDS.map(({ kind }) => kind).sort(), 'all kinds were looked at');

  const { stored, recent, versions } = await view('account', ann.id);
  t.match(stored.state, {
    id: ann.id,
    email: ann.email,
    name: { hidden: 'text', size: 15 },
    endpoints: [endpoint.endpoint.id],
  });
  t.ok(recent.some(({ type, outcome }) => type === 'rename' && outcome === 'answered'));
  t.match(versions.at(-1), { version: 1, type: 'create' });
  const lists = (await operator.send('GET', '/ops/actors?limit=100')).body.toString();
  t.notMatch(lists, /secret\./, 'lists name no address either');
  t.match(lists, 'an address at x.test');
});

await t.test('K-260 entities are named by email and host, never by what people call them', async (t) => {
  const eve = await TestAccount.open(spool, 'eve@x.test');
  const { app, id: account_id } = eve;
  const bound = await spool.boundDevice(app);
  await record(bound.device, bound);
  const unbound = await spool.device('shared');
  const endpoint = await app.ask<{ endpoint: { id: string } }>('POST', '/endpoints', {
    url: receiver.url('/hook/path'),
  });
  const source = await app.ask<{ id: string }>('POST', '/sources', { name: 'Secret place' });
  const captured_at = '2026-01-01T12:00:00Z';
  const stream = await app.ask<{ id: string }>('POST', '/audio/streams', {
    ...{ source_id: source.id, captured_at, title: 'Secret title' },
  });
  const [own] = (await app.ask<{ workspaces: { id: string }[] }>('GET', '/me')).workspaces;
  const workspace_id = (await invite(app, 'frank@x.test', { name: 'Secret workspace' })).workspace_id;
  const expected: [kind: string, id: string, label: string | null][] = [
    ['account', account_id, 'eve@x.test'],
    ['contacts', account_id, 'contacts of eve@x.test'],
    ['device', bound.device_id, 'personal device of eve@x.test'],
    ['device', unbound.device_id, 'shared device, not bound'],
    ['endpoint', endpoint.endpoint.id, new URL(receiver.url('/')).host],
    ['source', source.id, 'source of eve@x.test'],
    ['stream', stream.id, 'recording of eve@x.test, 2026-01-01 12:00 UTC'],
    ['signals', stream.id, 'signals of eve@x.test, 2026-01-01 12:00 UTC'],
    ['workspace', own?.id ?? '', 'private workspace of eve@x.test'],
    ['workspace', workspace_id, 'shared workspace of eve@x.test'],
    ['sweep', workspace_id, 'sweep of shared workspace of eve@x.test'],
    ['device', randomUUID(), null],
    ['account', 'nobody', null],
    ['email', 'eve@x.test', null],
    ['nothing', randomUUID(), null],
  ];
  const labels = (entities: string) => operator.send('GET', `/ops/labels?${new URLSearchParams({ entities })}`);
  const { body, status } = await labels(expected.map(([kind, id]) => `${kind}:${id}`).join(', '));
  t.equal(status, 200);
  t.same(
    JSON.parse(body.toString()).items,
    expected.map(([kind, id, label]) => ({ kind, id, label })),
  );
  t.notMatch(body.toString(), /Secret/);
  for (const wrong of [
    '',
    'account',
    'account:',
    ',',
    Array.from({ length: 51 }, () => `account:${account_id}`).join(),
  ]) {
    const refused = await labels(wrong);
    t.equal(refused.status, 400, wrong.slice(0, 20));
    t.match(refused.body.toString(), /entities/);
  }
});

await t.test('an id of anything leads to its entity', async (t) => {
  const bob = await TestAccount.open(spool, 'bob@x.test');
  const bound = await spool.boundDevice(bob.app);
  const { chunk_id } = await record(bound.device, bound);
  const me = await bob.ask<{ workspaces: { id: string }[] }>('GET', '/me');
  const [account] = await find(bob.id.toUpperCase());
  t.match(account, { kind: 'account', id: bob.id });
  t.match(await find('bob@x.test'), [{ kind: 'account', id: bob.id }, { kind: 'email' }]);
  t.match(await find(me.workspaces[0]?.id ?? ''), [{ kind: 'account', id: bob.id }]);
  t.match(await find(chunk_id), [{ kind: 'stream' }]);
  t.match(await find(`device:${bound.device_id}`), [{ kind: 'device', id: bound.device_id }]);
  t.match(await find('oauth'), [{ kind: 'signing_keys', id: 'oauth' }]);
  t.same(await find(randomUUID()), []);
  t.same(await find('nobody@x.test'), []);
  for (const [query, status] of [
    ['/ops/entities', 400],
    ['/ops/entities?find=%20', 400],
    [`/ops/entities?find=${'x'.repeat(301)}`, 400],
    ['/ops/entity?kind=account', 400],
    ['/ops/entity?kind=account&id=nobody', 404],
    [`/ops/entity?kind=account&id=${randomUUID()}`, 404],
    ['/ops/entity?kind=nothing&id=x', 404],
    ['/ops/devices?silent_min=x', 400],
    ['/ops/devices?recording=yes', 400],
    ['/ops/overview?after_ms=-1', 400],
    [`/ops/endpoints/${randomUUID()}`, 404],
    ['/ops/accounts/nobody@x.test/endpoints', 404],
  ] as const) {
    t.equal((await operator.send('GET', query)).status, status, query);
  }
});

await t.test('a quarantined entity shows its reason and no state', async (t) => {
  const carl = await TestAccount.open(spool, 'carl@x.test');
  const { store, runtime } = spool.server.services;
  const place = runtime.locate({ kind: 'account', id: carl.id });
  const [stored] = await store.load([place]);
  const spoil = { place, commit_id: 'ab'.repeat(12), expected: stored ?? NO_VERSION, mode: 'put' as const };
  const snapshot = encodeStored({ k: 0, s: { email: 'carl@x.test' } });
  await store.commit({ ...spoil, snapshot, now_ms: Date.now(), fences: [], effects: [] });
  runtime.invalidateCache();
  t.equal((await carl.app.send('GET', '/me')).status, 500);
  t.match(await view('account', carl.id), {
    stored: { is: 'unusable', reason: /schema 0/ },
    memory: { quarantined: { reason: /schema 0/ } },
  });
  t.match(await find(carl.id), [{ kind: 'account', id: carl.id }], 'it is found all the same');
  const { health_problems } = await operator.ask<{ health_problems: { name: string }[] }>('GET', '/ops/overview');
  t.match(health_problems, [{ name: 'quarantined', link: '/actors#quarantined' }]);
});

await t.test('why an endpoint gets nothing', async (t) => {
  const dora = await TestAccount.open(spool, 'dora@x.test');
  const endpoint = await TestEndpoint.open(dora, receiver.on('/dora', 204));
  const said = async ({ id } = endpoint) => (await view('endpoint', id)).endpoint;
  t.match(await said(), {
    headline: 'It gets nothing at the moment',
    reasons: [{ name: 'no_events', blocks: true }],
  });
  await dora.ask('PATCH', '/me', { name: 'Dora' });
  await until('it is accepted', async () => /^It gets its events/.test((await said())?.headline ?? ''));
  t.same((await said())?.reasons, []);
  const narrow = await TestEndpoint.open(dora, receiver.url('/narrow'), ['stream.created']);
  await dora.ask('PATCH', '/me', { name: 'Theodora' });
  t.match(await said(narrow), {
    headline: 'It gets nothing at the moment',
    reasons: [
      { name: 'topics', text: /it wants stream\.created; the last 1 events of its account were account\.updated/ },
    ],
  });
  await endpoint.set('paused');
  t.match(await said(), { reasons: [{ name: 'paused', text: /paused it 0 s ago/ }] });
  await endpoint.set('active');
  await endpoint.set('disabled');
  t.match(await said(), { reasons: [{ name: 'disabled', text: /Its owner disabled it 0 s ago/ }] });
  await endpoint.set('active');
  receiver.on('/dora', 500);
  await dora.ask('PATCH', '/me', { name: 'D' });
  await until('it failed', async () => /does not accept/.test((await said())?.headline ?? ''));
  t.match((await said())?.reasons, [
    { name: 'failing', text: /answered with 500/ },
    { name: 'waiting', text: /1 of its last \d+ deliveries waits; the next is tried in \d+ s/ },
  ]);
  t.match(await operator.ask('GET', '/ops/endpoints'), {
    failing: [{ endpoint_id: endpoint.id, failures: 1, last: { status_code: 500, verdict: 'retryable' } }],
  });
  t.match(await operator.ask('GET', '/ops/accounts/dora@x.test/endpoints'), {
    items: [{ endpoint_id: endpoint.id, host: /^localhost:/ }, { endpoint_id: narrow.id }],
  });
  await dora.ask('DELETE', '/me');
  t.match(await said(), { reasons: [{ name: 'account_deleted', blocks: true }] });
});

await t.test('which device stopped uploading, and what it was last refused for', async (t) => {
  const erik = await TestAccount.open(spool, 'erik@x.test');
  const silent = await spool.boundDevice(erik.app);
  const revoked = await spool.boundDevice(erik.app);
  const idle = await spool.boundDevice(erik.app);
  for (const one of [silent, revoked]) await record(one.device, one);
  await spool.operator.advanceClock(20 * 60_000);
  const busy = await spool.boundDevice(erik.app);
  await record(busy.device, busy);
  await operator.ask('DELETE', `/ops/devices/${revoked.device_id}/certificate`);
  // Its connection was closed with the revocation.
  await until('it is refused', async () => {
    const answer = await revoked.device.send('GET', `/device/chunks/${randomUUID()}`).catch(() => null);
    return answer?.status === 403;
  });
  await silent.device.send('GET', `/device/chunks/${randomUUID()}`);
  const { items } = await operator.ask<{ items: { device_id: string }[] }>(
    'GET',
    '/ops/devices?silent_min=10&recording=1&limit=100',
  );
  const ids = items.map(({ device_id }) => device_id);
  t.ok(ids.includes(silent.device_id) && ids.includes(revoked.device_id));
  t.notOk(ids.includes(busy.device_id), 'one that uploads');
  t.notOk(ids.includes(idle.device_id), 'one that has nothing to upload');
  const refusalOf = (id: string) => items.find(({ device_id }) => device_id === id);
  t.match(refusalOf(revoked.device_id), { last_refusal: { reason: 'revoked' }, silent_s: /^12\d\d$/ });
  t.match(refusalOf(silent.device_id), {
    last_refusal: { reason: 'NOT_FOUND', route: 'GET /device/chunks/:chunk_id' },
  });
  t.match(await view('device', silent.device_id), {
    device: { seen: { uploads: 1, open_streams: [/./] } },
    stored: { state: { kind: 'personal', binding: { account_id: erik.id } } },
  });
  const { health_problems } = await operator.ask<{ health_problems: { name: string }[] }>('GET', '/ops/overview');
  t.ok(health_problems.some(({ name }) => name === 'devices_silent'));
  t.ok(health_problems.some(({ name }) => name === 'clock_moved'));
});

await t.test('accounts and devices are found by a part of the id or of the email, and by status', async (t) => {
  const gina = await TestAccount.open(spool, 'gina@found.test');
  const hugo = await TestAccount.open(spool, 'hugo@found.test');
  await TestAccount.open(spool, 'gi*na@elsewhere.test');
  const bound = await spool.boundDevice(gina.app);
  await record(bound.device, bound);
  const loose = await operator.provision('personal');
  const revoked = await operator.provision('shared');
  await operator.ask('DELETE', `/ops/devices/${revoked.device_id}/certificate`);
  await hugo.ask('DELETE', '/me');
  type Page<Row> = { items: Row[]; cursor: string | null; looked_at: number; keys: number };
  /** All pages of a list. */
  const all = async <Row>(path: string, query: Record<string, string>): Promise<Row[]> => {
    const found: Row[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const asked = new URLSearchParams({ ...query, limit: '2', ...(cursor === '' ? {} : { cursor }) });
      const page: Page<Row> = await operator.ask('GET', `${path}?${asked}`);
      found.push(...page.items);
      cursor = page.cursor;
    }
    return found;
  };
  const emails = async (query: Record<string, string>) =>
    (await all<{ email: string }>('/ops/accounts', query)).map(({ email }) => email).sort();
  t.same(await emails({ find: '@FOUND.test' }), ['gina@found.test', 'hugo@found.test']);
  t.same(await emails({ find: '@found.test', status: 'deleted' }), ['hugo@found.test']);
  t.same(await emails({ find: gina.id }), ['gina@found.test']);
  t.same(await emails({ find: gina.id.slice(0, 20) }), ['gina@found.test']);
  t.same(await emails({ find: 'gi*na' }), ['gi*na@elsewhere.test'], 'a star is a star');
  t.same(await emails({ find: 'nobody-is-called-so' }), []);
  const everybody = await emails({});
  t.equal(new Set(everybody).size, everybody.length, 'each once');
  t.ok(everybody.includes('gina@found.test') && everybody.includes('hugo@found.test'));
  t.match(await all('/ops/accounts', { find: gina.id }), [{ status: 'active', devices: 1, endpoints: 0 }]);

  const devices = async (query: Record<string, string>) =>
    (await all<{ device_id: string }>('/ops/devices/provisioned', query)).map(({ device_id }) => device_id);
  t.same(await devices({ find: 'gina@found.test' }), [bound.device_id]);
  t.same(await devices({ find: gina.id }), [bound.device_id]);
  t.same(await devices({ find: loose.device_id }), [loose.device_id]);
  t.same(await devices({ find: hugo.id }), []);
  t.ok((await devices({ state: 'unbound', kind: 'personal' })).includes(loose.device_id));
  t.notOk((await devices({ state: 'unbound' })).includes(bound.device_id));
  t.ok((await devices({ state: 'revoked' })).includes(revoked.device_id));
  t.ok((await devices({ unseen_min: '10' })).includes(loose.device_id), 'it never called');
  t.notOk((await devices({ unseen_min: '10' })).includes(bound.device_id));
  for (const path of ['/ops/accounts?cursor=x', '/ops/devices/provisioned?cursor=1', '/ops/accounts?status=odd'])
    t.equal((await operator.send('GET', path)).status, 400, path);

  t.match(await operator.ask('GET', '/ops/accounts/gina@found.test/devices'), {
    account_id: gina.id,
    items: [{ device_id: bound.device_id, kind: 'personal' }],
  });
  t.match(await operator.ask('GET', `/ops/accounts/${gina.id}/streams?limit=1`), {
    items: [{ device_id: bound.device_id, end_ms: null, stored_chunks: 1 }],
    cursor: null,
  });
  for (const path of ['devices', 'streams'])
    t.equal((await operator.send('GET', `/ops/accounts/nobody@x.test/${path}`)).status, 404);
});

await t.test('F-016 after a restart operators still see which endpoints get nothing', async (t) => {
  const fay = await TestAccount.open(spool, 'fay@x.test');
  const endpoints = {
    circuit_open: await TestEndpoint.open(fay, receiver.on('/broken', 503)),
    disabled: await TestEndpoint.open(fay, receiver.on('/refusing', 400)),
    stopped: await TestEndpoint.open(fay, receiver.on('/paused', 204)),
  };
  await endpoints.stopped.set('paused');
  for (let n = 1; n <= 10; n++) await fay.ask('PATCH', '/me', { name: `Fay ${n}` });
  type Lists = Record<keyof typeof endpoints, { endpoint_id: string; failures: number }[]>;
  const lists = async () => {
    const told = await spool.operator.ask<Lists>('GET', '/ops/endpoints?limit=100');
    const isOn = (name: keyof Lists) => told[name].some(({ endpoint_id }) => endpoint_id === endpoints[name].id);
    return { told, names: (Object.keys(endpoints) as (keyof Lists)[]).filter(isOn) };
  };
  await until('they are in trouble', async () => (await lists()).names.length === 3);
  await spool.close();
  await spool.open();
  const { told, names } = await lists();
  t.same(names, Object.keys(endpoints));
  const found = told.circuit_open.find(({ endpoint_id }) => endpoint_id === endpoints.circuit_open.id);
  t.match(found, { account_id: fay.id, host: /^localhost:/, last: null, next_probe_at: /^2/, since: /^2/ });
  await until('the band says so', async () => {
    const { health_problems } = await spool.operator.ask<{ health_problems: { name: string }[] }>(
      'GET',
      '/ops/overview',
    );
    const said = health_problems.map(({ name }) => name);
    return said.includes('endpoints_failing') && said.includes('endpoints_disabled');
  });
});

t.test('every kind of entity is told in a sentence on its page', async (t) => {
  const terms = await import(new URL('../../../app/operator/terms.js', import.meta.url).href);
  t.same(Object.keys(terms.KINDS).sort(), ACTOR_KINDS.map(({ kind }) => kind).sort());
});
