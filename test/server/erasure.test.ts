import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import t from 'tap';
import { fingerprintOfTurns } from '../../actors/transcripts/transcript_vectors.js';
import { type BindingView, DeviceClient, sha256Of } from '../../kits/typescript/src/device_client.js';
import { partitionOfId, streamOfChunk } from '../../src/domain/ids.js';
import { randomId } from '../../src/engine/random/random.js';
import { decodeStored, encodeStored } from '../../src/engine/store/codec.js';
import { keysOf, partitionOfText } from '../../src/engine/store/partitions.js';
import { stemsOf } from '../../src/features/insights/engines/stems.js';
import { SpoolProcess } from '../driver/spool_process.js';
import { bearer, tell } from '../fixtures/answers.js';
import type { AppClient, SignedIn } from '../fixtures/app_client.js';
import { addFile } from '../fixtures/files.js';
import { makeInsights } from '../fixtures/insights.js';
import { Browser, codeOf, OauthApp } from '../fixtures/oauth.js';
import { record } from '../fixtures/recording.js';
import { everyKey, ownRedisOf, type StoredKey } from '../fixtures/redis_content.js';
import { TestSpool } from '../fixtures/spool.js';
import { tempFolder } from '../fixtures/temp_folder.js';
import { said, TestRecording, TestTranscriber } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** How long Redis keeps the header of an entity that ended, and of one that was erased. */
const ENDED_MS = 30 * DAY_MS;
const VANISHED_MS = 20 * MINUTE_MS;

/** What an account has in its own partition, beside the app sessions, which outlive it. */
const OWN_KINDS = [
  ...['binding', 'browser_session', 'claim', 'grant', 'library', 'personal_access_token', 'source', 'stream', 'sweep'],
];

/** What must be found nowhere, by what it is. */
class Marks {
  readonly #marks: { what: string; bytes: Buffer }[] = [];

  add(what: string, value: string | Uint8Array): void {
    if (typeof value === 'string') {
      this.#marks.push({ what, bytes: Buffer.from(value) });
      return;
    }
    const bytes = Buffer.from(value);
    this.#marks.push({ what, bytes });
    for (const form of ['hex', 'base64url'] as const)
      this.#marks.push({ what: `${what} in ${form}`, bytes: Buffer.from(bytes.toString(form)) });
  }

  /** Which of them these bytes hold. */
  in(...where: (Buffer | string)[]): string[] {
    const found = this.#marks.filter(({ bytes }) => where.some((place) => Buffer.from(place).includes(bytes)));
    return [...new Set(found.map(({ what }) => what))];
  }
}

/** The state of an entity as it is stored; null for one that has ended. */
function stateOf({ bytes }: StoredKey): Record<string, unknown> | null {
  const snapshot = bytes.subarray(1 + (bytes[0] ?? 0) * 20);
  return (decodeStored(snapshot) as { s: Record<string, unknown> | null }).s;
}

/** Kind and id of the entity behind a key; null for other keys. */
function entityOf({ key }: StoredKey): { kind: string; id: string } | null {
  const [, kind = '', id = ''] = /^\{\w+\}1:e:(\w+):(.+)$/.exec(key) ?? [];
  return kind === '' ? null : { kind, id };
}

/** Everything that was ever appended and not rewritten since. */
function appendOnlyFiles(folder: string): Buffer {
  const files = join(folder, 'redis', 'appendonlydir');
  return Buffer.concat(readdirSync(files).map((name) => readFileSync(join(files, name))));
}

/** A recording with marked words in turns, words and a contact; gives its id. */
async function speak(spool: TestSpool, app: AppClient, { marks, redis }: { marks: Marks; redis: Redis }) {
  const ask = <T>(method: string, path: string, body?: unknown) => app.ask<T>(method, path, body);
  const recording = await TestRecording.begin({ app, spool, ask });
  await recording.add(10_000);
  await recording.end();
  const worker = new TestTranscriber(spool);
  const spoken = Array.from({ length: 25 }, (_, n) => {
    return said(`spoken${n}x words${n}x of6b6b${n}x`, [n * 300, n * 300 + 270], 'label6b6b');
  });
  const embedding = Buffer.from(`embedding 6b6b of ${recording.id}`);
  const speakers = [{ speaker: 'label6b6b', voice: { model: 'm', embedding: embedding.toString('base64') } }];
  await worker.publish(await worker.claim(recording.id), spoken, { speakers, speaker_scope: 'stream' });
  const [first, second, third] = await recording.turns();
  const contact = await ask<{ id: string }>('POST', '/contacts', { name: 'Contact 6b6b who speaks' });
  await ask('PATCH', `/turns/${first?.id}`, { contact_id: contact.id });
  await ask('POST', `/turns/${second?.id}/split`, { at_ms: (second?.start_ms ?? 0) + 100 });
  await ask('DELETE', `/turns/${third?.id}`);
  const [, fourth] = await recording.turns();
  await ask('PATCH', `/turns/${fourth?.id}`, { text: 'Corrected6b6b text of a turn' });
  marks.add('corrected text', 'Corrected6b6b text of a turn');
  for (const { text } of spoken) for (const word of text.split(' ')) marks.add('spoken word', word);
  marks.add('label of a speaker', 'label6b6b');
  marks.add('embedding of a speaker', embedding);
  await addVectors(spool, recording.id, marks);
  const address = { kind: 'transcript', id: recording.id };
  for (const collection of ['pages', 'words']) {
    const records = await redis.hgetallBuffer(keysOf(partitionOfId(recording.id)).records(address, collection));
    for (const bytes of Object.values(records)) {
      marks.add(`record of ${collection}`, bytes);
      const text = JSON.stringify(decodeStored(bytes));
      if (!text.includes('spoken7x')) throw new Error(`no words in ${collection}`);
    }
  }
  return recording.id;
}

/** Vectors of the recording's first page, as the worker stores them. */
async function addVectors(spool: TestSpool, stream_id: string, marks: Marks): Promise<void> {
  const transcript = spool.server.services.actors.transcript(stream_id);
  const token = 'token of vectors';
  await transcript.claim_vectors({ token, lease_ms: 30_000 });
  const { pages } = await transcript.pages({ range: { limit: 1 } });
  const fingerprint = fingerprintOfTurns(pages[0]?.turns ?? []);
  const vectors = Buffer.from(`vectors 6b6b of ${stream_id}`);
  await transcript.publish_vectors({ token, made: [{ page: 0, fingerprint, vectors }] });
  marks.add('vectors of a page', vectors);
}

/** Insights of a recording, with marked words in all that they and people say; edited, reviewed, rated and deleted. */
async function remember(
  { spool, id: account_id, app }: { spool: TestSpool; id: string; app: AppClient },
  { stream_id, marks }: { stream_id: string; marks: Marks },
): Promise<void> {
  const { source_id } = await app.ask<{ source_id: string }>('GET', `/audio/streams/${stream_id}`);
  const at: [number, number][] = [[0, 3_000]];
  const suggestions = ['Task3e3e of one', 'Task3e3e of another', 'Task3e3e of a third'];
  const memories = ['Memory3e3e of one', 'Memory3e3e of another'];
  const conversation = { title: 'Title3e3e', summary: 'Summary3e3e', topics: ['Topic3e3e'] };
  await makeInsights(
    { spool, id: account_id },
    { id: stream_id, source_id },
    {
      ...{ span: [0, 8_000], conversation, suggestions: suggestions.map((text) => ({ text, at })) },
      memories: memories.map((text) => ({ text, at })),
    },
  );
  const listed = async (path: string) =>
    (await app.ask<{ items: { id: string; text: string }[] }>('GET', `${path}?limit=100`)).items;
  const byText = async (path: string, text: string) =>
    `${path}/${(await listed(path)).find((item) => item.text === text)?.id}`;
  const [first, second, third] = await Promise.all(suggestions.map((text) => byText('/suggestions', text)));
  await app.ask('PATCH', first as string, { state_version: 1, text: 'Edit3e3e of a suggestion' });
  await app.ask('POST', `${first}/review`, { state_version: 2, verdict: 'unclear', note: 'Note3e3e' });
  await app.ask('POST', `${first}/feedback`, { rating: 'wrong', comment: 'Comment3e3e' });
  await app.ask('DELETE', second as string);
  await app.ask('PATCH', third as string, { state_version: 1, status: 'dismissed' });
  await app.ask('PATCH', await byText('/memories', memories[0] as string), { text: 'Edit3e3e of a memory' });
  await app.ask('DELETE', await byText('/memories', memories[1] as string));
  const [talk] = (await app.ask<{ items: { id: string }[] }>('GET', '/conversations')).items;
  await app.ask('PATCH', `/conversations/${talk?.id}`, { title: 'Edit3e3e of a title' });
  await app.ask('POST', '/memories', { text: 'Own3e3e memory', kind: 'fact' });
  const { title, summary, topics } = conversation;
  const others = ['Note3e3e', 'Comment3e3e', 'Own3e3e', 'Edit3e3e of a memory', 'Edit3e3e of a title'];
  for (const text of [...suggestions, ...memories, title, summary, ...topics, ...others]) marks.add('insight', text);
  for (const text of [...suggestions, ...memories])
    for (const stem of stemsOf(spool.server.services.keys, text, 'en')) marks.add('hash of a stem', stem);
}

t.test('D-033 D-037 what is left of an erased account, key by key', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
  t.teardown(() => spool.end());
  const redis = await ownRedisOf(spool.folder);
  t.teardown(() => redis.disconnect());
  const email = 'erased@x.test';
  const marks = new Marks(); // of the account's data; its own id and email may stay
  const { app, session } = await spool.signIn(email);
  const account_id = session.user.id;

  marks.add('name', 'Erased Person 8f1c');
  await app.ask('PATCH', '/me', { name: 'Erased Person 8f1c' });
  for (const name of ['workspace.sharing', 'developer.tools'])
    await spool.operator.ask('PUT', `/ops/accounts/${email}/entitlements/${name}`, { enabled: true });

  const recordOn = async (on: { device: DeviceClient; epoch: string }) => {
    const made = await record(on.device, on);
    marks.add('stream ref', made.source_stream_ref);
    marks.add('chunk ref', made.source_chunk_ref);
    marks.add('chunk', made.chunk_id);
    marks.add('audio', made.bytes);
    marks.add('epoch', on.epoch);
    return streamOfChunk(made.chunk_id)?.stream_id as string;
  };
  const { workspaces } = await app.ask<{ workspaces: { id: string }[] }>('GET', '/me');
  await app.ask('PATCH', `/workspaces/${workspaces[0]?.id}`, { retention: { audio: { days: 1_000 } } });
  const claimOf = async () => (await app.ask<{ claim: string }>('POST', '/devices/claims', { kind: 'owner' })).claim;
  const rebound = await spool.boundDevice(app);
  await recordOn(rebound);
  await app.ask('DELETE', `/devices/${rebound.device_id}`);
  const again = await rebound.device.ask<BindingView>('POST', '/device/claims/redeem', { claim: await claimOf() });
  await recordOn({ ...rebound, epoch: again.binding_epoch });
  const removed = await spool.boundDevice(app);
  await recordOn(removed);
  await app.ask('DELETE', `/devices/${removed.device_id}`);
  await recordOn(await spool.boundDevice(app));
  const deleted = await recordOn(await spool.boundDevice(app));
  await app.ask('DELETE', `/audio/streams/${deleted}`);
  await claimOf();

  const people_heard: string[] = [];
  for (const contact_name of ['Contact 4b4b of one', 'Contact 4b4b of another', 'Contact 4b4b of a third']) {
    const { id } = await app.ask<{ id: string }>('POST', '/contacts', { name: contact_name, is_self: true });
    marks.add('name of a contact', contact_name);
    marks.add('id of a contact', id);
    people_heard.push(id);
  }
  for (const about of ['Profile 7d7d of before', 'Profile 7d7d of now']) {
    const { revision } = await app.ask<{ revision: number }>('GET', '/profile');
    await app.ask('PUT', '/profile', { revision, about, vocabulary: ['word7d7d'] });
    await app.ask('POST', '/profile/context', { text: `Context of ${about}` });
    marks.add('profile', about);
  }
  await app.ask('POST', '/pipelines', { name: 'Pipeline 7d7d', insights: { instructions: 'Instructions 7d7d' } });
  for (const what of ['word7d7d', 'Pipeline 7d7d', 'Instructions 7d7d']) marks.add('profile', what);
  const [whole = '', part] = people_heard;
  await app.ask('POST', `/contacts/${part}/merge`, { into: whole });
  const [workspace_id, embedding] = [randomUUID(), Buffer.from('embedding 5d5d of a voice')];
  marks.add('embedding', embedding);
  marks.add('workspace of a voice', workspace_id);
  const contacts = spool.server.services.actors.contacts(account_id);
  const heard_in = { workspace_id, stream_id: randomId({ partition: partitionOfId(account_id), now_ms: 0 }) };
  for (const speaker of [1, 2]) await contacts.learn_voice({ ...heard_in, speaker, model: 'm', embedding });
  await contacts.name_voice({ ...heard_in, speaker: 1, contact_id: whole });

  const spoken = await speak(spool, app, { marks, redis });
  await remember({ spool, id: account_id, app }, { stream_id: spoken, marks });

  for (const [status, url] of [
    ['active', 'https://active.invalid/2c41'],
    ['paused', 'https://paused.invalid/2c41'],
  ] as const) {
    const made = await app.ask<{ endpoint: { id: string } }>('POST', '/endpoints', { url });
    marks.add('address of an endpoint', url);
    await app.ask('PATCH', '/me', { name: `Erased Person 8f1c of ${status}` });
    await app.ask('PATCH', `/endpoints/${made.endpoint.id}`, { status });
  }

  const { app: other } = await spool.signIn('other@x.test');
  await spool.operator.ask('PUT', '/ops/accounts/other@x.test/entitlements/workspace.sharing', { enabled: true });
  const make = (by: AppClient, name: string) => by.ask<{ id: string }>('POST', '/workspaces', { name });
  const invite = (by: AppClient, workspace: { id: string }, to: string) =>
    by.ask<{ id: string }>('POST', `/workspaces/${workspace.id}/invitations`, { email: to, role: 'admin' });
  marks.add('name of a workspace', 'Alone 77aa');
  const alone = await make(app, 'Alone 77aa');
  await invite(app, alone, 'invited@x.test');
  const shared = await make(other, 'Shared');
  await app.ask('POST', `/me/invitations/${(await invite(other, shared, email)).id}/accept`);
  await invite(app, shared, 'third@x.test');
  const offering = await make(other, 'Offering');
  await invite(other, offering, email);

  const ios = OauthApp.first(spool, 'svc-ios');
  const web = OauthApp.first(spool, 'svc-web');
  const browser = new Browser(spool.base_url);
  marks.add('label', 'Label 99cc');
  await web.signIn(email, {}, browser);
  await (await OauthApp.registered(spool)).signIn(email, { scope: 'turns:read' });
  const phone = await ios.signInNatively(email, { installation_label: 'Label 99cc' });
  await spool.operator.advanceClock(11 * MINUTE_MS); // an address is sent so many codes and no more
  await ios.refresh(phone.refresh_token);
  await bearer(spool, (await ios.signInNatively(email)).access_token).ask('POST', '/me/sign-out');
  const { refresh_token } = (await spool.signIn(email)).session;
  await app.ask<SignedIn>('POST', '/auth/refresh', { refresh_token });
  await (await spool.signIn(email)).app.ask('POST', '/auth/logout');

  const tokens: string[] = [];
  const { now } = await spool.operator.advanceClock(0);
  for (const [name, expires_at] of [
    ['Token A 1x1', null],
    ['Token B 2x2', null],
    ['Token C 3x3', new Date(Date.parse(now) + DAY_MS).toISOString()],
  ]) {
    marks.add('name of a token', name as string);
    const body = { name, permissions: ['turns:read'], expires_at };
    const made = await app.ask<{ token: { id: string; last_four: string }; value: string }>('POST', '/me/tokens', body);
    marks.add('last four', `"last_four":"${made.token.last_four}"`);
    tokens.push(made.token.id);
    await bearer(spool, made.value).ask('GET', '/events');
  }
  await app.ask('DELETE', `/me/tokens/${tokens[1]}`);
  codeOf((await web.begin(browser)).shown); // stays an authorization code

  const of_file = randomBytes(400_000);
  marks.add('bytes of a file', of_file);
  marks.add('name of a file', 'File 5c5c');
  for (const bytes of [of_file, randomBytes(20)]) await addFile({ app, base_url: spool.base_url }, 'File 5c5c', bytes);
  await app.ask('POST', '/files', { name: 'File 5c5c', media_type: 'a/b', size_bytes: 7, sha256: sha256Of(of_file) });
  const archive = await app.ask<{ id: string }>('POST', '/me/exports', { audio: true, files: true });
  marks.add('id of an export', archive.id);
  await spool.operator.advanceClock(0);
  t.match(await app.ask('GET', `/me/exports/${archive.id}`), { status: 'ready' });

  const { app: recent } = await spool.signIn(email);
  const before = await everyKey(redis);
  const partition = partitionOfId(account_id);
  const at = keysOf(partition);
  const ids: string[] = [];
  const kinds = new Set<string>();
  for (const stored of before) {
    const { kind, id } = entityOf(stored) ?? { kind: '', id: '' };
    if (!OWN_KINDS.includes(kind) || partitionOfId(id) !== partition) continue;
    const state = stateOf(stored);
    if (state !== null && kind !== 'sweep' && state.account_id !== account_id) continue; // a neighbour's
    ids.push(id);
    kinds.add(kind);
    // A sweep has the workspace's id, which the event of its end names.
    if (kind !== 'sweep') marks.add(`id of ${kind}`, id);
    if (state?.seed instanceof Uint8Array) marks.add(`seed of ${kind}`, state.seed);
    if (typeof state?.secret_hash === 'string') marks.add(`hash of ${kind}`, state.secret_hash);
  }
  t.same([...kinds].sort(), OWN_KINDS);
  // Redis may have written its file anew, and compresses much of it then.
  const seen = marks.in(Buffer.concat([appendOnlyFiles(spool.folder), ...before.map(({ bytes }) => bytes)]));
  for (const what of [
    'name',
    'name of a contact',
    'vectors of a page',
    'name of a file',
    'id of an export',
    'embedding',
    'profile',
    'insight',
    'hash of a stem',
    'stream ref',
    'seed of grant',
    'hash of personal_access_token',
    'last four',
    'label',
    'label of a speaker',
    'record of pages',
    'record of words',
  ])
    t.ok(seen.includes(what), `${what} was there to be found`);

  t.equal((await tell(recent, 'DELETE', '/me')).status, 204);
  await spool.operator.advanceClock(7 * DAY_MS + MINUTE_MS);
  t.same(await spool.operator.ask('GET', '/ops/erasures'), { items: [], cursor: null });

  const after = await everyKey(redis);
  const headers = after.filter((stored) => ids.includes(entityOf(stored)?.id ?? ''));
  for (const stored of headers) {
    t.equal(stateOf(stored), null, `${stored.key} is a header without content`);
    t.ok(stored.ttl_ms !== null && stored.ttl_ms <= ENDED_MS, stored.key);
    t.same(marks.in(stored.bytes), [], stored.key);
  }
  const erased = headers.filter(({ ttl_ms }) => (ttl_ms ?? 0) <= VANISHED_MS).map((stored) => entityOf(stored)?.kind);
  const ended = headers.filter(({ ttl_ms }) => (ttl_ms ?? 0) > VANISHED_MS).map((stored) => entityOf(stored)?.kind);
  t.same([...new Set(erased)].sort(), [
    ...['binding', 'browser_session', 'grant', 'library', 'source', 'stream', 'sweep', 'transcript'],
  ]);
  t.same([...new Set(ended)].sort(), ['claim', 'grant', 'personal_access_token'], 'what ended by itself');

  const rest = after.filter((stored) => !headers.includes(stored));
  const of = (names: Record<string, string>) => Object.entries(names).sort(([a], [b]) => (a < b ? -1 : 1));
  const people = (stored: StoredKey) =>
    [account_id, email].filter((person) => stored.key.includes(person) || stored.bytes.includes(person)).join(' ');
  const sessions = rest
    .filter((stored) => entityOf(stored)?.kind === 'app_session' && stateOf(stored)?.account_id === account_id)
    .map(({ key }) => [key, `${account_id} ${email}`]);
  t.equal(sessions.length, 3, 'who was signed in by app sessions still is');
  const workspaceKey = (id: string) => keysOf(partitionOfId(id)).entity({ kind: 'workspace', id });
  const of_email = keysOf(partitionOfText(email));
  const address = { kind: 'email', id: email };
  t.same(
    of(
      Object.fromEntries(rest.filter((stored) => people(stored) !== '').map((stored) => [stored.key, people(stored)])),
    ),
    of({
      [at.entity({ kind: 'account', id: account_id })]: `${account_id} ${email}`,
      [at.entity({ kind: 'contacts', id: account_id })]: account_id, // a header without content, for a while
      [at.entity({ kind: 'context', id: account_id })]: account_id, // the same
      [at.entity({ kind: 'exports', id: account_id })]: account_id,
      [at.entity({ kind: 'files', id: account_id })]: account_id,
      ...Object.fromEntries(sessions),
      [at.index(account_id, 'app_sessions:0')]: account_id,
      [at.epochs(account_id)]: account_id,
      [at.log(account_id)]: account_id,
      [at.logHead(account_id)]: account_id,
      [at.oldestEvents]: account_id,
      [of_email.entity(address)]: `${account_id} ${email}`,
      [of_email.records(address, 'invitations')]: email,
      [of_email.order(address, 'invitations')]: email,
      [workspaceKey(offering.id)]: email,
      [workspaceKey(shared.id)]: account_id, // as who invited somebody else
    }),
    'where its id and email still stand',
  );
  for (const stored of rest) t.same(marks.in(stored.key, stored.bytes), [], stored.key);

  for (const kind of ['contacts', 'context', 'exports', 'files']) {
    const header = rest.find(({ key }) => key === at.entity({ kind, id: account_id })) as StoredKey;
    t.equal(stateOf(header), null, kind);
    t.ok(header.ttl_ms !== null && header.ttl_ms <= VANISHED_MS, kind);
  }
  const kept = rest.find(({ key }) => key === at.entity({ kind: 'account', id: account_id }));
  const state = stateOf(kept as StoredKey);
  t.match(state, {
    ...{ id: account_id, email, name: null, devices: 0, tokens: [], memberships: [], joining: [] },
    entitlements: { 'workspace.sharing': true, 'developer.tools': true },
    ...{ phase: { status: 'erased' }, private_workspace: { number: 2, name: 'Private' } },
  });
  const told = await redis.xrange(at.log(account_id), '-', '+');
  t.same(
    told.map(([, fields]) => fields[1]),
    ['workspace.deleted', 'workspace.deleted'],
    'its private workspace and the one where it was alone',
  );
  t.match(stateOf(rest.find(({ key }) => key === of_email.entity(address)) as StoredKey), {
    ...{ account_id, codes: [], networks: [], window: { sent: {}, total: 0 }, day: { wrong: {} }, invitations: 1 },
  });

  const files = readdirSync(spool.folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(spool.folder, name);
    if (!statSync(path).isFile() || name.startsWith('redis/appendonlydir')) return false;
    const bytes = readFileSync(path);
    return marks.in(name, bytes).length > 0 || bytes.includes(account_id) || bytes.includes(email);
  });
  t.same(
    files.filter((name) => !name.startsWith('outbox/')),
    [],
    'only mails of development tell of anybody',
  );
  t.same(
    readdirSync(join(spool.folder, 'blobs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.includes('/'),
    ),
    [],
  );
  await until(
    'the earlier files are gone',
    () => readdirSync(join(spool.folder, 'redis', 'appendonlydir')).length === 3,
  );
  const allowed = marks.in(...headers.map(({ key }) => key)).concat(marks.in(...rest.map(({ bytes }) => bytes)));
  t.same(
    marks.in(appendOnlyFiles(spool.folder)).filter((what) => !allowed.includes(what)),
    [],
    'nor on the disk',
  );

  await t.test('a job whose account has begun afresh meanwhile is done', async (t) => {
    const { app: fresh } = await spool.signIn(email);
    t.equal((await tell(fresh, 'POST', '/me/restore')).status, 204);
    const { due, contents } = at.queue('jobs');
    t.equal(await redis.zcard(due), 0);
    await redis.hset(contents, `erase:${account_id}`, encodeStored({ job: 'erase_account', account_id }));
    await redis.zadd(due, 0, `erase:${account_id}`);
    await spool.operator.advanceClock(MINUTE_MS);
    t.equal(await redis.zcard(due), 0);
    t.equal(await redis.hlen(contents), 0);
    t.equal((await tell(fresh, 'GET', '/me')).status, 200);
  });
});

t.test('K-024 what is left of one deleted recording, key by key', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
  t.teardown(() => spool.end());
  const redis = await ownRedisOf(spool.folder);
  t.teardown(() => redis.disconnect());
  const { app } = await spool.signIn('keeps@x.test');
  const marks = new Marks();
  const id = await speak(spool, app, { marks, redis });
  t.equal((await tell(app, 'DELETE', `/audio/streams/${id}`)).status, 204);
  await spool.operator.advanceClock(MINUTE_MS);
  const left = (await everyKey(redis)).flatMap(({ key, bytes }) =>
    marks.in(key, bytes).map((what) => `${key} ${what}`),
  );
  t.same(
    left.filter((line) => !line.endsWith(' embedding of a speaker')),
    [],
    'a voice is the account\u2019s own, and stays',
  );
  t.same(
    (await everyKey(redis)).filter(({ key }) => key.includes(`:transcript:${id}:`)),
    [],
    'nor a record',
  );
  await until('nothing is on the disk', () => {
    const found = marks.in(appendOnlyFiles(spool.folder));
    return found.every((what) => what.startsWith('embedding'));
  });
});

t.test('D-032 D-033 J-017 an erasure that a crash cuts off goes on after the restart', async (t) => {
  const folder = tempFolder(t);
  const email = 'crash@x.test';
  let server = await new SpoolProcess(folder).ready();
  t.teardown(async () => {
    await server.stop();
  });
  let operator = server.operator();
  const codes = new Set<string>();
  const signIn = async () => {
    const app = server.client();
    const session = await app.signIn(email, async () => {
      const code = await operator.readCode(email, codes);
      codes.add(code);
      return code;
    });
    return { app, account_id: session.user.id };
  };
  const { app, account_id } = await signIn();
  const { claim } = await app.ask<{ claim: string }>('POST', '/devices/claims', { kind: 'owner' });
  const device = new DeviceClient(server.device_url, await operator.provision('personal'));
  t.teardown(() => device.close());
  const { binding_epoch: epoch } = await device.ask<BindingView>('POST', '/device/claims/redeem', { claim });
  for (let n = 0; n < 60; n++) await record(device, { epoch });
  t.equal((await tell((await signIn()).app, 'DELETE', '/me')).status, 204);

  const redis = await ownRedisOf(folder);
  t.teardown(() => redis.disconnect());
  const list = keysOf(partitionOfId(account_id)).index(account_id, 'streams');
  const moved = operator.advanceClock(7 * DAY_MS + MINUTE_MS).catch(() => 'cut off');
  await until('it has begun', async () => (await redis.zcard(list)) < 60);
  await server.kill();
  t.equal(await moved, 'cut off');
  const left = await redis.zcard(list);
  t.ok(left > 0 && left < 60, `${left} streams are left`);

  server = await new SpoolProcess(folder).ready();
  operator.close();
  operator = server.operator();
  t.teardown(() => operator.close());
  t.match(await operator.ask('GET', '/ops/erasures'), { items: [{ account_id, removed: { devices: 1 } }] });
  const { app: late } = await signIn();
  t.match(await tell(late, 'GET', '/me'), { status: 403, error: { code: 'ACCOUNT_DELETED', erase_at: null } });
  t.match(await tell(late, 'POST', '/me/restore'), { status: 409, error: { code: 'ACCOUNT_DELETION_IN_PROGRESS' } });
  await operator.advanceClock(2 * MINUTE_MS + 1_000); // the lease of the server that is no more
  t.same(await operator.ask('GET', '/ops/erasures'), { items: [], cursor: null });
  t.equal((await tell(late, 'POST', '/me/restore')).status, 204);
  t.same((await late.ask<{ items: unknown[] }>('GET', '/audio/streams')).items, []);
  for (const stored of await everyKey(redis)) {
    if (entityOf(stored)?.kind === 'stream') t.equal(stateOf(stored), null, stored.key);
    t.notMatch(stored.key, /\d:[rol]:(stream|binding)/);
  }
  const blobs = readdirSync(join(folder, 'blobs'), { recursive: true, encoding: 'utf8' });
  t.same(
    blobs.filter((name) => name.includes('/')),
    [],
  );
});
