import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { ShareLink } from '../../../kits/typescript/src/api.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer } from '../../fixtures/answers.js';
import { makeInsights, spoke } from '../../fixtures/insights.js';
import { startLogged } from '../../fixtures/logged_spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';

const DAY_MS = 24 * 60 * 60_000;

const { spool, logged } = await startLogged({ CHUNK_WORKER: '1', CONTENT_WORKER: '0', RATE_LIMITS: 'off' });
t.teardown(() => spool.end());
let ann = await TestAccount.open(spool, 'ann@x.test');
let bob = await TestAccount.open(spool, 'bob@x.test', { sharing: false });
const worker = new TestTranscriber(spool);
const make = (recording: { id: string }, body: object = {}) =>
  ann.ask<ShareLink>('POST', `/audio/streams/${recording.id}/links`, body);
const list = async (query = '') => (await ann.ask<{ items: ShareLink[] }>('GET', `/me/links${query}`)).items;
/** As a stranger's browser asks for it. */
const open = async ({ url }: Pick<ShareLink, 'url'>, { path = '', method = 'GET', headers = {} } = {}) => {
  const answer = await fetch(`${url}${path}`, { method, headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};
const recorded = async (...texts: string[]) => {
  const recording = await TestRecording.begin(ann);
  await recording.add(60_000);
  await recording.end();
  const turns = texts.map((text, at) => said(text, [at * 5_000, at * 5_000 + 4_000], 'A'));
  await worker.publish(await worker.claim(recording.id), turns);
  return recording;
};

const meeting = await recorded('We go with <b>the tenth</b>.', 'I will book the room.');
const span = { stream_id: meeting.id, source_id: meeting.source_id, start_ms: 0, end_ms: 4_000 };
await makeInsights(ann, meeting, {
  span: [0, 20_000],
  conversation: {
    title: 'The party',
    summary: 'They agree on the tenth.',
    sentences: [{ text: 'They agree on the tenth.', evidence: [span] }],
    participants: [spoke(meeting, 1, 8_000)],
  },
  suggestions: [{ text: 'Book the room nobody shall see', at: [[5_000, 9_000]] }],
});

await t.test('K-300 whoever has the link reads the text, and of the rest what the link shows', async (t) => {
  const link = await make(meeting, { shows: [] });
  t.match(link, { stream_id: meeting.id, title: 'The party', shows: [], opened: 0, last_opened_at: null });
  const page = await open(link);
  t.equal(page.status, 200);
  t.match(page.text, 'We go with &lt;b&gt;the tenth&lt;/b&gt;.');
  t.match(page.text, 'I will book the room.');
  t.notMatch(page.text, /They agree|nobody shall see|<audio|ann@x\.test/);
  t.equal((await open(link, { path: '/audio' })).status, 404, 'no audio');
  const all = await make(meeting, { shows: ['audio', 'summary'] });
  const whole = await open(all);
  t.match(whole.text, /They agree on the tenth\.[\s\S]*<h2 id="text">/);
  t.notMatch(whole.text, /nobody shall see/, 'tasks are nobody else’s');
  const [, src] = /<audio[^>]+src="([^"]+)"/.exec(whole.text) ?? [];
  t.equal(src, `${new URL(all.url ?? '').pathname}/audio`);
  const audio = await open(all, { path: '/audio', headers: { Range: 'bytes=0-3' } });
  t.same([audio.status, audio.text, audio.headers.get('content-type')], [206, 'RIFF', 'audio/wav']);
});

await t.test('K-301 the page stays out of search engines, caches, frames and the addresses of others', async (t) => {
  const { headers } = await open(await make(meeting, { shows: ['audio'] }));
  t.match(headers.get('x-robots-tag'), /noindex/);
  t.equal(headers.get('referrer-policy'), 'no-referrer');
  t.equal(headers.get('cache-control'), 'no-store');
  t.equal(headers.get('x-frame-options'), 'DENY');
  t.match(headers.get('content-security-policy'), /^default-src 'none'; .*media-src 'self'/);
  t.notMatch(headers.get('content-security-policy'), /script-src/);
  t.equal(headers.get('set-cookie'), null);
});

await t.test('K-302 a link ends by its time, by its maker, and 7 days are usual', async (t) => {
  const { items: before } = await ann.ask<{ items: ShareLink[] }>('GET', '/me/links');
  const usual = await make(meeting);
  t.equal(Date.parse(usual.expires_at) - Date.parse(usual.created_at), 7 * DAY_MS);
  t.same(usual.shows, ['summary']);
  const short = await make(meeting, { days: 1 });
  t.same(
    (await list()).map(({ id }) => id),
    [short.id, usual.id, ...before.map(({ id }) => id)],
    'the newest first',
  );
  t.equal((await open(short)).status, 200);
  t.equal((await open(short)).status, 200);
  t.equal((await open(short, { method: 'HEAD' })).status, 200);
  t.match((await list())[0], { id: short.id, url: short.url, opened: 2 }, 'looks of a person are counted');
  await spool.operator.advanceClock(DAY_MS);
  ann = await TestAccount.open(spool, 'ann@x.test');
  bob = await TestAccount.open(spool, 'bob@x.test', { sharing: false });
  const ended = await open(short);
  t.equal(ended.status, 404);
  t.match(ended.text, 'This link has ended');
  t.notMatch(ended.text, /party|tenth/);
  t.equal(
    (await list()).some(({ id }) => id === short.id),
    false,
  );
  t.equal(await ann.says('DELETE', `/me/links/${usual.id}`), '204');
  t.equal((await open(usual)).status, 404);
  t.equal(await ann.says('DELETE', `/me/links/${usual.id}`), '404 NOT_FOUND');
  for (const link of await list()) await ann.ask('DELETE', `/me/links/${link.id}`);
  t.same(await list(), []);
});

await t.test('K-303 an address that is guessed, cut or changed leads nowhere', async (t) => {
  const { url, id } = await make(meeting);
  const wrong = [`${url}A`, url?.slice(0, -1), url?.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))];
  for (const address of [...wrong, `${spool.server.base_url}/shared/${id}`, `${spool.server.base_url}/shared/spl_`])
    t.equal((await open({ url: address ?? '' })).status, 404, String(address));
  const other = await make(meeting);
  const body = (text: string | null) => Buffer.from(text?.split('spl_')[1] ?? '', 'base64url');
  const mixed = Buffer.concat([body(url).subarray(0, 20), body(other.url).subarray(20)]).toString('base64url');
  t.equal(
    (await open({ url: `${spool.server.base_url}/shared/spl_${mixed}` })).status,
    404,
    'the id of one, the secret of another',
  );
});

await t.test('K-304 who may make one: the owner, by an app of ours, with sharing, of what may be read', async (t) => {
  const path = `/audio/streams/${meeting.id}/links`;
  t.equal(await bob.says('POST', path, {}), '403 WORKSPACE_SHARING_REQUIRED', 'no sharing');
  await bob.entitle('workspace.sharing', true);
  t.equal(await bob.says('POST', path, {}), '404 NOT_FOUND');
  t.equal(await ann.says('POST', `/audio/streams/${randomUUID()}/links`, {}), '404 NOT_FOUND');
  const token = { name: 'x', permissions: ['account:manage', 'turns:read', 'insights:read'], expires_at: null };
  const { value } = await ann.ask<{ value: string }>('POST', '/me/tokens', token);
  t.equal((await bearer(spool, value).send('POST', path, { body: {} })).status, 403, 'no token of a program');
  t.equal((await bearer(spool, value).send('GET', '/me/links')).status, 403);
  for (const [body, field] of [
    [{ days: 0 }, 'days'],
    [{ days: LIMITS.link_days_max + 1 }, 'days'],
    [{ days: 1.5 }, 'days'],
    [{ shows: ['tasks'] }, 'shows.0'],
    [{ shows: 'audio' }, 'shows'],
  ] as const) {
    const answer = await ann.app.send('POST', path, { body });
    const { error } = JSON.parse(answer.body.toString());
    t.match([answer.status, error.details[0].path], [400, field]);
  }
  const link = await make(meeting, { shows: ['audio'] });
  t.equal(await bob.says('DELETE', `/me/links/${link.id}`), '404 NOT_FOUND');
  t.same((await bob.ask<{ items: unknown[] }>('GET', '/me/links')).items, []);
  t.equal((await open(link)).status, 200);
  await ann.entitle('audio.access', false);
  t.equal((await open(link, { path: '/audio' })).status, 404, 'what the account may not read, nobody reads by a link');
  await ann.entitle('audio.access', true);
  await ann.entitle('workspace.sharing', false);
  t.equal((await open(link)).status, 404, 'sharing was switched off');
  await ann.entitle('workspace.sharing', true);
});

await t.test('K-305 a link ends with its recording, and makes room for another', async (t) => {
  const short = await recorded('Only this.');
  const link = await make(short, { shows: ['audio'] });
  t.equal((await open(link)).status, 200);
  t.same(
    (await list(`?stream_id=${short.id}`)).map(({ id }) => id),
    [link.id],
  );
  for (let left = LIMITS.links_per_account_max - (await list()).length; left > 0; left--) await make(meeting);
  t.equal(await ann.says('POST', `/audio/streams/${meeting.id}/links`, {}), '409 CONFLICT');
  await ann.ask('DELETE', `/audio/streams/${short.id}`);
  t.equal((await open(link)).status, 404);
  t.equal((await open(link, { path: '/audio' })).status, 404);
  t.same(await list(`?stream_id=${short.id}`), []);
  t.ok(await make(meeting));
});

await t.test('K-306 a link ends with its account, and does not come back with it', async (t) => {
  const [link] = await list();
  t.ok(link);
  if (link === undefined) return;
  t.equal((await open(link)).status, 200);
  await ann.ask('DELETE', '/me');
  t.equal((await open(link)).status, 404);
  await (await spool.signIn('ann@x.test')).app.ask('POST', '/me/restore');
  t.equal((await open(link)).status, 404);
});

await t.test('K-307 no address of a link is in the log', (t) => {
  t.notMatch(logged.join(''), /spl_/);
  t.match(logged.join(''), '/shared/:link');
  t.end();
});
