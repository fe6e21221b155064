import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import t from 'tap';
import type { Export } from '../../../kits/typescript/src/api.js';
import { sha256Of } from '../../../kits/typescript/src/device_client.js';
import { ROUTES } from '../../../routes/index.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { accountFolder, archiveKey } from '../../../src/engine/blobs/blob_keys.js';
import { LEFT_OUT, RESOURCES } from '../../../src/features/exports/export_resources.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer, tell } from '../../fixtures/answers.js';
import type { AppClient } from '../../fixtures/app_client.js';
import { allOf } from '../../fixtures/colleagues.js';
import { addFile } from '../../fixtures/files.js';
import { makeInsights } from '../../fixtures/insights.js';
import { OauthApp } from '../../fixtures/oauth.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';
import { linesIn, manifestFaults, manifestOf, unzip } from '../../fixtures/zip.js';

/** Bytes go with the next look of the worker, which is every 15 seconds. */
const GONE_MS_MAX = 20_000;
const DAY_MS = 24 * 3_600_000;
const MINUTE_MS = 60_000;
type Line = Record<string, unknown>;

/** An account with something of everything; gives the ids of its streams. */
async function fill(account: TestAccount): Promise<string[]> {
  const { app, spool } = account;
  await account.entitle('developer.tools', true);
  await spool.boundDevice(app);
  await spool.hostSession(app);
  await account.ask('POST', '/endpoints', { url: 'https://example.com/hook' });
  await account.ask('POST', '/me/tokens', { name: 'tool', permissions: ['turns:read'], expires_at: null });
  for (const revision of [0, 1]) await account.ask('PUT', '/profile', { revision, about: `about ${revision}` });
  await account.ask('POST', '/profile/context', { text: 'Cycles' });
  await account.ask('POST', '/pipelines', { name: 'Trial' });
  for (let n = 0; n < 120; n++) await account.ask('POST', '/contacts', { name: `Contact ${n}` });
  await account.workspace('Team');
  const worker = new TestTranscriber(spool);
  const streams: string[] = [];
  for (const captured_at of ['2026-11-01T10:00:00.000Z', '2026-11-02T10:00:00.000Z']) {
    const recording = await TestRecording.begin(account, { captured_at });
    await recording.add(5_000);
    await recording.add(5_000);
    await recording.end();
    const spoken = Array.from({ length: 70 }, (_, n) => said(`turn ${n} of it`, [n * 100, n * 100 + 90], 'a'));
    await worker.publish(await worker.claim(recording.id), spoken);
    await account.ask('POST', `/audio/streams/${recording.id}/links`, {});
    const signals = Array.from({ length: 3 }, (_, n) => ({
      ref: `s${n}`,
      type: 'a.b',
      start_ms: n,
      payload: { n, x: 'Zoë' },
    }));
    await account.ask('POST', `/audio/streams/${recording.id}/signals`, { signals });
    const suggestions = Array.from({ length: 3 }, (_, n) => ({ text: `Call number ${n} of ${recording.id}` }));
    const memories = [{ text: `Likes tea, says ${recording.id}` }];
    await makeInsights(account, recording, { span: [0, 7_000], conversation: { title: 'Tea' }, suggestions, memories });
    streams.push(recording.id);
    await account.ask('PATCH', `/audio/streams/${recording.id}`, { starred: true, tags: ['Zoë', 'family'] });
  }
  const [first] = (await account.ask<{ items: Line[] }>('GET', '/suggestions')).items;
  await account.ask('PATCH', `/suggestions/${first?.id}`, { state_version: 1, text: 'Call them' });
  for (const comment of ['one', 'two'])
    await account.ask('POST', `/suggestions/${first?.id}/feedback`, { rating: 'wrong', comment });
  const [memory] = (await account.ask<{ items: Line[] }>('GET', '/memories')).items;
  await account.ask('PATCH', `/memories/${memory?.id}`, { text: 'Likes coffee' });
  const [talk] = (await account.ask<{ items: Line[] }>('GET', '/conversations')).items;
  await account.ask('PATCH', `/conversations/${talk?.id}`, { title: 'Coffee' });
  const [turn] = (await account.ask<{ items: Line[] }>('GET', '/turns')).items;
  await account.ask('PATCH', `/turns/${turn?.id}`, { text: 'The last of it' });
  return streams;
}

/** Details that an export has of streams, and a list on request. */
const DETAILED: Record<string, string> = { streams: 'include=tags' };

/** What the routes list of a resource, as an export is to hold it. */
async function listed(app: AppClient, name: string): Promise<Line[]> {
  const resource = RESOURCES.find((one) => one.name === name) as (typeof RESOURCES)[number];
  const { path, of, secret = [] } = resource;
  const read = async (at: string) =>
    'read' in resource ? [await app.ask<Line>('GET', at)] : allOf<Line>(app, at, DETAILED[name]);
  const bare = (item: Line) => Object.fromEntries(Object.entries(item).filter(([member]) => !secret.includes(member)));
  if (of === undefined) return (await read(path)).map(bare);
  const lines: Line[] = [];
  for (const parent of await listed(app, of.name)) {
    for (const part of await read(path.replace(':id', String(parent.id))))
      lines.push({ [of.as]: parent.id, ...bare(part) });
  }
  return lines;
}

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const { blobs, actors, clock } = spool.server.services;

async function finished(app: AppClient, id: string): Promise<Export> {
  let found: Export | undefined;
  await until('the export comes to its end', async () => {
    found = await app.ask<Export>('GET', `/me/exports/${id}`);
    return found.status !== 'pending' && found.status !== 'running';
  });
  return found as Export;
}

async function exportOf(app: AppClient, wanted: object = {}): Promise<Export> {
  const { id } = await app.ask<Export>('POST', '/me/exports', wanted);
  return finished(app, id);
}

async function contentOf(app: AppClient, { id }: Export): Promise<Map<string, Buffer>> {
  const answer = await app.send('GET', `/me/exports/${id}/content`);
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body}`);
  return unzip(answer.body);
}

async function keysOf(account_id: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of blobs.list(accountFolder('exports', account_id))) keys.push(key);
  return keys;
}

t.test(
  'K-127 K-130 K-145 K-313 an export holds exactly what the routes list, and all bytes that were asked for',
  async (t) => {
    const ann = await TestAccount.open(spool, 'ann@x.test');
    const streams = await fill(ann);
    const at = { app: ann.app, base_url: spool.base_url };
    const large = randomBytes(LIMITS.export_part_bytes + 12_345);
    const [big, small] = [await addFile(at, 'Zoë.bin', large), await addFile(at, 'b.txt', Buffer.from('small'))];
    const made = await exportOf(ann.app, { audio: true, files: true });
    t.match(made, { status: 'ready', audio: true, files: true, failure: null });
    const answer = await ann.app.send('GET', `/me/exports/${made.id}/content`);
    t.same([answer.body.length, sha256Of(answer.body)], [made.bytes, made.sha256]);
    t.match(answer.headers, {
      'content-type': 'application/zip',
      'content-disposition': /^attachment; filename="spool-export-.*zip"/,
    });
    const files = await unzip(answer.body);
    t.same(manifestFaults(files), []);
    for (const { name } of RESOURCES) {
      const lines = linesIn(files.get(`${name}.ndjson`));
      t.not(lines.length === 0 && name !== 'invitations' && name !== 'connections', true, `there are ${name}`);
      t.same(lines, await listed(ann.app, name), name);
    }
    const corrected = linesIn(files.get('turns.ndjson')).filter((turn) => 'heard_text' in turn);
    t.match(corrected, [{ text: 'The last of it', heard_text: 'turn 69 of it' }]);
    t.equal(corrected.length, 1);
    const chunks = linesIn(files.get('chunks.ndjson'));
    t.equal(chunks.length, 4);
    for (const { stream_id, sha256 } of chunks) {
      const audio = [...files].filter(([path]) => path.startsWith(`audio/${stream_id}/`) && path.endsWith('.wav'));
      t.ok(audio.some(([, bytes]) => sha256Of(bytes) === sha256));
    }
    t.same(new Set(chunks.map(({ stream_id }) => stream_id)), new Set(streams));
    t.ok(files.get(`files/${big}/Zoë.bin`)?.equals(large));
    t.equal(files.get(`files/${small}/b.txt`)?.toString(), 'small');
    const text = [...files].map(([path, bytes]) => (path.endsWith('json') ? bytes.toString() : '')).join('');
    for (const secret of ['join_code', 'sps_', 'whsec_', 'spl_']) t.notOk(text.includes(secret), secret);
    t.equal((await keysOf(ann.id)).length, 2, 'it lies in parts');

    const range = `bytes=${LIMITS.export_part_bytes - 5}-${LIMITS.export_part_bytes + 4}`;
    const part = await ann.app.send('GET', `/me/exports/${made.id}/content`, { headers: { Range: range } });
    t.equal(part.status, 206);
    t.ok(part.body.equals(answer.body.subarray(LIMITS.export_part_bytes - 5, LIMITS.export_part_bytes + 5)));
    t.same((await ann.ask<{ items: Export[] }>('GET', '/me/exports')).items, [made]);
    const bob = await TestAccount.open(spool, 'bob@x.test');
    for (const path of [`/me/exports/${made.id}`, `/me/exports/${made.id}/content`])
      t.equal(await bob.says('GET', path), '404 NOT_FOUND');
    t.equal(await bob.says('DELETE', `/me/exports/${made.id}`), '404 NOT_FOUND');
    t.equal(await ann.says('DELETE', `/me/exports/${made.id}`), '204');
    t.equal(await ann.says('GET', `/me/exports/${made.id}`), '404 NOT_FOUND');
    await until('its bytes are gone', async () => (await keysOf(ann.id)).length === 0, GONE_MS_MAX);
  },
);

t.test('D-072 D-073 an export has texts and a page to read, in which nothing is a mark or a script', async (t) => {
  const kim = await TestAccount.open(spool, 'kim@x.test');
  await kim.ask('PUT', '/profile', { revision: 0, time_zone: 'Europe/Vienna' });
  const worker = new TestTranscriber(spool);
  const wild = 'a/b <script>alert(1)</script> *& "x"';
  const titles = [wild, 'Tea', 'tea', null];
  const ids: string[] = [];
  for (const [index, title] of titles.entries()) {
    const recording = await TestRecording.begin(kim, { captured_at: '2026-11-01T23:30:00.000Z' });
    await recording.add(5_000);
    await recording.end();
    if (title !== null) await kim.ask('PATCH', `/audio/streams/${recording.id}`, { title });
    else await kim.ask('PATCH', `/audio/streams/${recording.id}`, { starred: true, tags: ['<b>Family</b>'] });
    const spoken = [said('Hello <b>there</b>', [1_000, 2_000], 'a'), said('# No\nheading', [3_000, 4_000], 'b')];
    await worker.publish(await worker.claim(recording.id), index === 3 ? [] : spoken);
    ids.push(recording.id);
  }
  const files = await contentOf(kim.app, await exportOf(kim.app, { audio: true }));
  t.same(manifestFaults(files), []);
  const texts = [...files.keys()].filter((path) => path.startsWith('transcripts/')).sort();
  // Past midnight in Vienna.
  const [of_tea, of_wild] = [
    'transcripts/2026-11-02 tea.md',
    'transcripts/2026-11-02 a_b _script_alert(1)__script_ _& _x_.md',
  ] as const;
  t.same(new Set(texts), new Set([of_tea, 'transcripts/2026-11-02 Tea (2).md', of_wild]));
  const wild_text = files.get(of_wild)?.toString();
  t.equal(
    wild_text,
    [
      '# a/b \\<script\\>alert(1)\\</script\\> \\*\\& "x"',
      '',
      '- Day: 2026-11-02, 00:30 (Europe/Vienna)',
      '- Length: 0:05',
      '- Speakers: S1, S2',
      '',
      '**0:01 S1:** Hello \\<b\\>there\\</b\\>',
      '',
      '**0:03 S2:** \\# No heading',
      '',
    ].join('\n'),
  );
  const page = files.get('index.html')?.toString() ?? '';
  t.notMatch(page, /<script|javascript:|<img|<link/i);
  t.match(page, 'a/b &lt;script&gt;alert(1)&lt;/script&gt; *&amp; &quot;x&quot;');
  t.match(page, `content="default-src 'none'; style-src 'unsafe-inline'"`);
  t.equal(page.match(/<h2>/g)?.length, 1, 'one day');
  t.equal(page.match(/nothing was said/g)?.length, 1);
  t.match(page, 'nothing was said · starred · &lt;b&gt;Family&lt;/b&gt;');
  const links = [...page.matchAll(/href="([^"]+)"/g)].map(([, to = '']) => decodeURIComponent(to));
  for (const link of links) t.ok(files.has(link), link);
  t.same(links.filter((link) => link.startsWith('transcripts/')).sort(), texts);
  t.same(new Set(links.filter((link) => link.startsWith('audio/')).map((link) => link.split('/')[1])), new Set(ids));

  await kim.entitle('transcripts.access', false);
  const silent = await contentOf(kim.app, await exportOf(kim.app));
  t.same(
    [...silent.keys()].filter((path) => path.startsWith('transcripts/')),
    [],
  );
  t.ok(manifestOf(silent).left_out.some(({ what }) => what === 'transcripts/'));
  t.notMatch(silent.get('index.html')?.toString(), 'transcripts/');
});

t.test('K-128 layers that are off stay out and the manifest says so; staff get them', async (t) => {
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const before = await exportOf(ann.app);
  await ann.entitle('transcripts.access', false);
  t.equal(await ann.says('GET', `/me/exports/${before.id}/content`), '403 FORBIDDEN', 'what it holds is off by now');
  const files = await contentOf(ann.app, await exportOf(ann.app));
  const left_out = new Map(manifestOf(files).left_out.map(({ what, why }) => [what, why]));
  for (const name of ['turns', 'transcripts', 'signals', 'contacts', 'events']) {
    t.notOk(files.has(`${name}.ndjson`), name);
    t.match(left_out.get(`${name}.ndjson`), /transcripts\.access/);
  }
  t.match(left_out.get('audio/'), /not asked for/);
  t.ok(
    linesIn(files.get('suggestions.ndjson')).every(({ evidence }) =>
      (evidence as Line[]).every(({ quote }) => quote === null),
    ),
  );
  const staff = await spool.operator.call('POST /ops/accounts/{account}/exports', {
    path: { account: ann.email },
    body: {},
  });
  const path = `/ops/accounts/${ann.email}/exports/${staff.id}`;
  await until('it is ready', async () => (await spool.operator.ask<Export>('GET', path)).status === 'ready');
  const all = await unzip((await spool.operator.send('GET', `${path}/content`)).body);
  t.equal(linesIn(all.get('turns.ndjson')).length, 140);
  t.same(linesIn(all.get('account.ndjson')), linesIn(files.get('account.ndjson')), 'the account is as it is');
  t.equal(await ann.says('GET', `/me/exports/${staff.id}/content`), '404 NOT_FOUND', 'it is for staff alone');
  t.equal((await spool.operator.send('DELETE', path)).status, 204);
  t.equal((await spool.operator.send('GET', path)).status, 404);
  await ann.entitle('transcripts.access', true);
});

t.test('K-127 each list of the API is in an export, or it is said why not', async (t) => {
  const known = new Set([...RESOURCES, ...LEFT_OUT].map(({ path }) => path));
  const rows = ROUTES.public.filter(
    ({ method, credential, dialect }) => method === 'GET' && credential !== 'none' && dialect !== 'openai',
  );
  const single = (path: string) =>
    known.has(path.replace(/\/:[a-z_]*id(\/content)?$/, '')) ||
    known.has(path.replace(/\/:id\/deliveries\/:delivery_id$/, '/:id/deliveries'));
  const missing = rows.map(({ path }) => path).filter((path) => !known.has(path) && !single(path));
  t.same(missing, ['/audio/chunks/:id/content']); // which audio/ is
});

t.test('K-128 an export needs the permission and the layer of the route that lists the same', async (t) => {
  for (const { path, permission, layer } of RESOURCES) {
    const row = ROUTES.public.find((one) => one.method === 'GET' && one.path === path);
    t.same([permission, layer], [row?.permission, row?.layer], path);
  }
});

t.test('K-129 who gets an export, and how many', async (t) => {
  const email = 'cat@x.test';
  const cat = await TestAccount.open(spool, email);
  const token = await cat.ask<{ value: string }>('POST', '/me/tokens', {
    name: 'x',
    permissions: ['account:manage'],
    expires_at: null,
  });
  const scope = 'account:manage turns:read';
  const third = await OauthApp.registered(spool, { scope });
  const { access_token } = await third.signIn(email, { scope, resource: spool.server.base_url });
  for (const app of [bearer(spool, token.value), bearer(spool, access_token)])
    for (const [method, path] of [
      ['POST', '/me/exports'],
      ['GET', '/me/exports'],
    ] as const)
      t.match(await tell(app, method, path), { status: 403, error: { code: 'FORBIDDEN' } });
  t.equal(await cat.says('POST', '/me/exports', { audio: 'yes' }), '400 BAD_REQUEST');
  const own = await OauthApp.first(spool, 'svc-ios').signInNatively(email, { scope });
  const apps = [cat.app, cat.app, bearer(spool, own.access_token)];
  for (const app of apps) t.match(await exportOf(app), { status: 'ready' });
  const refused = await cat.app.send('POST', '/me/exports');
  t.equal(refused.status, 429);
  t.ok(Number(refused.headers['retry-after']) > 86_000);
  for (const { id } of (await cat.ask<{ items: Export[] }>('GET', '/me/exports')).items)
    await cat.ask('DELETE', `/me/exports/${id}`);
  t.equal((await cat.app.send('POST', '/me/exports')).status, 429, 'deleting one does not give another');
});

t.test('K-130 an export that is kept no longer', async (t) => {
  const dan = await TestAccount.open(spool, 'dan@x.test');
  const { id, expires_at } = await exportOf(dan.app);
  t.ok(Math.abs(Date.parse(expires_at ?? '') - clock.now() - 7 * DAY_MS) < MINUTE_MS);
  await spool.operator.advanceClock(7 * DAY_MS + MINUTE_MS);
  const { app } = await spool.signIn(dan.email);
  t.match(await app.ask('GET', `/me/exports/${id}`), { status: 'expired', bytes: null });
  t.match(await tell(app, 'GET', `/me/exports/${id}/content`), { status: 410, error: { code: 'CONTENT_EXPIRED' } });
  t.same(await keysOf(dan.id), []);
  await spool.operator.advanceClock(23 * DAY_MS);
  const later = await spool.signIn(dan.email);
  t.match(await tell(later.app, 'GET', `/me/exports/${id}/content`), { status: 404 });
  t.match(await actors.exports(dan.id).list({ by: 'account' }), { exports: [] });
});

/** Makes the next export wait before it stores anything. */
function holdStoring(): { held: Promise<void>; go: () => void } {
  const put = blobs.put.bind(blobs);
  let go = () => {};
  const going = new Promise<void>((resolve) => {
    go = resolve;
  });
  const held = new Promise<void>((resolve) => {
    blobs.put = async (key, ...more) => {
      if (key.includes('/exports-')) {
        resolve();
        await going;
        blobs.put = put;
      }
      return put(key, ...more);
    };
  });
  return { held, go };
}

t.test('K-131 an export goes on when whoever asked for it signs out', async (t) => {
  for (const [how, body] of [
    ['signed out', {}],
    ['signed out everywhere', { everywhere: true }],
  ] as const) {
    const email = `${how.replaceAll(' ', '.')}@x.test`;
    const eva = await TestAccount.open(spool, email);
    const { held, go } = holdStoring();
    const { id } = await eva.ask<Export>('POST', '/me/exports', {});
    await held;
    await eva.app.ask('POST', '/me/sign-out', body);
    go();
    const again = await TestAccount.open(spool, email);
    const status = () => again.ask<Export>('GET', `/me/exports/${id}`).then((one) => one.status);
    await until('it is ready', async () => (await status()) === 'ready', GONE_MS_MAX);
    t.ok((await keysOf(eva.id)).length > 0, how);
  }
});

t.test('K-129 K-131 an export ends with the account', async (t) => {
  const eva = await TestAccount.open(spool, 'ends@x.test');
  const { held, go } = holdStoring();
  const { id } = await eva.ask<Export>('POST', '/me/exports', {});
  await held;
  t.match(await eva.ask('GET', `/me/exports/${id}`), { status: 'running', progress: {} });
  t.equal(await eva.says('POST', '/me/exports'), '409 CONFLICT', 'one at a time');
  const { items } = await spool.operator.call('GET /ops/exports');
  t.match(
    items.filter(({ account_id }) => account_id === eva.id),
    [{ by: 'account', export: { id, status: 'running' } }],
  );
  await eva.app.ask('DELETE', '/me');
  go();
  await until(
    'its bytes are gone',
    async () => {
      const found = await actors.exports(eva.id).list({ by: 'account' });
      const [one] = 'exports' in found ? found.exports : [];
      return one?.stage.status === 'failed' && (await keysOf(eva.id)).length === 0;
    },
    GONE_MS_MAX,
  );
  t.match(await actors.exports(eva.id).view({ export_id: id, by: 'account' }), { stage: { code: 'ACCOUNT_DELETED' } });
});

t.test('K-130 one that is deleted while it is made leaves nothing', async (t) => {
  const fay = await TestAccount.open(spool, 'fay@x.test');
  const { held, go } = holdStoring();
  const { id } = await fay.ask<Export>('POST', '/me/exports', {});
  await held;
  t.equal(await fay.says('DELETE', `/me/exports/${id}`), '204');
  go();
  await until('its bytes are gone', async () => {
    const left = await actors.exports(fay.id).keeping();
    await spool.server.services.exports.look();
    return 'kept' in left && (await keysOf(fay.id)).length === 0;
  });
  t.match(await exportOf(fay.app), { status: 'ready' });
});

t.test('K-132 whoever was lost in the middle is followed by somebody else, and has no say any more', async (t) => {
  const gus = await TestAccount.open(spool, 'gus@x.test');
  const exports = actors.exports(gus.id);
  const export_id = gus.id.replace(/^.{8}/, '01234567');
  await exports.request({ export_id, by: 'account', audio: false, files: false, account_epoch: 0 });
  t.match(await exports.claim({ claim: 'lost' }), { work: 'make', export: { stage: { attempt: 1 } } });
  const bytes = randomBytes(10);
  const left = archiveKey(gus.id, { export_id, attempt: 1, part: 0 });
  await blobs.put(left, Readable.from([bytes]), { size_bytes: 10, sha256_hex: sha256Of(bytes) });
  await spool.server.services.exports.look();
  t.match(await exports.view({ export_id, by: 'account' }), { stage: { status: 'running', claim: 'lost' } });
  await spool.operator.advanceClock(LIMITS.export_lease_ms + 1_000);
  const { app } = await spool.signIn(gus.email);
  const made = await finished(app, export_id);
  t.match(made, { status: 'ready' });
  t.notOk(await blobs.has(left));
  const late = { export_id, claim: 'lost', progress: { records: 1, bytes: 1 }, lease_ms: LIMITS.export_lease_ms };
  await t.rejects(exports.prolong(late), { name: 'Refused', code: 'CONFLICT' });
  t.same(manifestFaults(await contentOf(app, made)), []);
});

t.test('K-132 a server that stops gives back what it has in hand, and the next one makes it at once', async (t) => {
  const hal = await TestAccount.open(spool, 'hal@x.test');
  // Of one part alone, all would be read already.
  await addFile({ app: hal.app, base_url: spool.base_url }, 'large', randomBytes(LIMITS.export_part_bytes * 2));
  const { held, go } = holdStoring();
  const { id } = await hal.ask<Export>('POST', '/me/exports', { files: true });
  await held;
  const stopping = spool.server.services.exports.stop();
  go();
  await stopping;
  t.match(await hal.ask('GET', `/me/exports/${id}`), { status: 'pending' });
  await spool.close();
  await spool.open();
  const app = spool.client();
  app.access_token = hal.app.access_token;
  const made = await finished(app, id);
  t.match(made, { status: 'ready' });
  const view = await spool.server.services.actors.exports(hal.id).view({ export_id: id, by: 'account' });
  t.match(view, { stage: { attempt: 2 } }, 'nobody waited for a lease to end');
});
