import t from 'tap';
import type { Suggestion } from '../../../kits/typescript/src/api.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer } from '../../fixtures/answers.js';
import { startLogged } from '../../fixtures/logged_spool.js';

type Address = { made_at: string | null; last_read_at: string | null };

const { spool, logged } = await startLogged({ CHUNK_WORKER: '0', CONTENT_WORKER: '0', RATE_LIMITS: 'off' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const bob = await TestAccount.open(spool, 'bob@x.test');
const add = (body: object, who = ann) => who.ask<Suggestion>('POST', '/suggestions', body);
const make = async (who = ann) => (await who.ask<Address & { url: string }>('POST', '/me/calendar')).url;
const read = (url: string, headers: Record<string, string> = {}) => fetch(url, { headers });
const eventsIn = (text: string) => text.split('BEGIN:VEVENT').slice(1);

await t.test('K-323 what is open and due stands in the calendar, the next first', async (t) => {
  const past = await add({ text: 'Long ago', due_date: '2020-01-02' });
  const later = await add({ text: `Later; with, marks \\ and ${'lines '.repeat(20)}`, due_at: '2099-03-04T05:06:07Z' });
  const day = await add({ text: 'On that day', due_date: '2099-02-03' });
  await add({ text: 'No time' });
  const done = await add({ text: 'Is done', due_date: '2099-02-03' });
  await ann.ask('PATCH', `/suggestions/${done.id}`, { state_version: 1, status: 'completed' });
  await add({ text: 'Of Bob', due_date: '2099-02-03' }, bob);
  const url = await make();
  t.match(url, /\/calendar\/spk_[\w-]{50,}\.ics$/);
  const answer = await read(url);
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('content-type'), 'text/calendar; charset=utf-8');
  const text = await answer.text();
  const events = eventsIn(text);
  t.same(
    events.map((event) => /UID:([\w-]+)@/.exec(event)?.[1]),
    [day.id, later.id, past.id],
  );
  t.match(events[0], '\r\nDTSTART;VALUE=DATE:20990203\r\nSUMMARY:On that day\r\n');
  t.match(events[1], '\r\nDTSTART:20990304T050607Z\r\nDURATION:PT30M\r\nSUMMARY:Later\\; with\\, marks \\\\ and');
  t.ok(
    text.split('\r\n').every((line) => Buffer.byteLength(line) <= 75),
    'folded',
  );
  const tag = answer.headers.get('etag') ?? '';
  t.equal((await read(url, { 'If-None-Match': tag })).status, 304);
  await ann.ask('PATCH', `/suggestions/${day.id}`, { state_version: 1, text: 'On another day' });
  t.equal((await read(url, { 'If-None-Match': tag })).status, 200);
  await ann.entitle('insights.access', false);
  t.equal((await read(url)).status, 404, 'what the account may not read, nobody reads by its address');
  await ann.entitle('insights.access', true);
});

await t.test('K-325 it is kept out of search engines and caches', async (t) => {
  const { headers } = await read(await make());
  t.match(headers.get('x-robots-tag'), 'noindex');
  t.equal(headers.get('cache-control'), 'private, no-cache');
  t.equal(headers.get('referrer-policy'), 'no-referrer');
  t.match(headers.get('content-security-policy'), 'sandbox');
  t.notMatch(logged.join(''), /spk_/);
  t.match(logged.join(''), '/calendar/:calendar');
});

await t.test('K-324 an account has one address, which ends by another one, by hand and with the account', async (t) => {
  const first = await make();
  t.match(await ann.ask<Address>('GET', '/me/calendar'), { made_at: /^20/, last_read_at: null });
  await read(first);
  t.match(await ann.ask<Address>('GET', '/me/calendar'), { last_read_at: /^20/ });
  t.same(await bob.ask<Address>('GET', '/me/calendar'), { made_at: null, last_read_at: null });
  const second = await make();
  t.equal((await read(first)).status, 404);
  t.equal((await read(second)).status, 200);
  for (const wrong of ['/calendar/x.ics', second.slice(0, -5), second.replace(/....\.ics$/, 'AAAA.ics')])
    t.equal((await read(new URL(wrong, second).href)).status, 404, 'guessed, cut or changed');
  await ann.ask('DELETE', '/me/calendar');
  t.equal((await read(second)).status, 404);
  t.equal(await ann.says('DELETE', '/me/calendar'), '404 NOT_FOUND');
  const { value } = await ann.ask<{ value: string }>('POST', '/me/tokens', {
    ...{ name: 'x', permissions: ['account:manage', 'insights:read'], expires_at: null },
  });
  t.equal((await bearer(spool, value).send('POST', '/me/calendar')).status, 403, 'no token of a program');
  const last = await make();
  await ann.ask('DELETE', '/me');
  t.equal((await read(last)).status, 404);
  await (await spool.signIn('ann@x.test')).app.ask('POST', '/me/restore');
  t.equal((await read(last)).status, 404, 'it does not come back');
});
