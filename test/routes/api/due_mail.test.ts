import t from 'tap';
import type { DueMailSettings, Suggestion } from '../../../kits/typescript/src/api.js';
import { messageOf } from '../../../src/engine/mail/message.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer, tell } from '../../fixtures/answers.js';
import { startLogged } from '../../fixtures/logged_spool.js';

type Mail = { to: string; subject: string; text: string };

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const { spool, logged } = await startLogged({ CHUNK_WORKER: '0', CONTENT_WORKER: '0', RATE_LIMITS: 'off' });
t.teardown(() => spool.end());
/** An account by a token that outlasts days. */
const lasting = async (email: string) => {
  const account = await TestAccount.open(spool, email);
  const permissions = ['account:manage', 'insights:read', 'insights:write', 'profile:read', 'profile:write'];
  const token = { name: 'x', permissions, expires_at: null };
  const { value } = await account.ask<{ value: string }>('POST', '/me/tokens', token);
  return { id: account.id, app: bearer(spool, value) };
};
const ann = await lasting('ann@x.test');
const bob = await lasting('bob@x.test');
const now = () => spool.server.services.clock.now();
/** Moves the clock to the next time at which clocks of UTC show this hour, and a minute on. */
const passTo = async (hour: number) => {
  const today_ms = Math.floor(now() / DAY_MS) * DAY_MS + hour * HOUR_MS + 60_000;
  await spool.operator.advanceClock((today_ms > now() ? today_ms : today_ms + DAY_MS) - now());
};
const mailsTo = async (email: string) => {
  const { items } = await spool.operator.ask<{ items: Mail[] }>('GET', '/inbox?limit=100');
  return items.filter((mail) => mail.to === email && /due/.test(mail.subject));
};
const today = () => new Date(now()).toISOString().slice(0, 10);
const add = (body: object, who = ann) => who.app.ask<Suggestion>('POST', '/suggestions', body);
const set = (body: object, who = ann) => who.app.ask<DueMailSettings>('PATCH', '/me/due-mail', body);
const linkIn = ({ text }: Mail) => /http\S+\/unsubscribe\/\S+/.exec(text)?.[0] ?? '';

await t.test('K-326 the mail is off until it is switched on, and comes only if something is due', async (t) => {
  await passTo(6);
  await add({ text: 'Secretly water\nthe fern', due_date: today() });
  await add({ text: 'Of next year', due_date: '2099-01-01' });
  t.same(await ann.app.ask('GET', '/me/due-mail'), { is_on: false, hour: 8 });
  await passTo(9);
  t.same(await mailsTo('ann@x.test'), []);
  t.same(await set({ is_on: true, hour: 10 }), { is_on: true, hour: 10 });
  t.same(await ann.app.ask('GET', '/me/due-mail'), { is_on: true, hour: 10 });
  t.same(await bob.app.ask('GET', '/me/due-mail'), { is_on: false, hour: 8 });
  await set({ is_on: true }, bob);
  await passTo(10);
  const [mail, ...more] = await mailsTo('ann@x.test');
  t.same(more, []);
  t.match(mail, { subject: 'One task is due', text: '- Secretly water the fern (today)' });
  t.notMatch(mail?.text, 'next year');
  await passTo(9);
  t.equal((await mailsTo('ann@x.test')).length, 1);
  await passTo(10);
  const [second] = await mailsTo('ann@x.test');
  t.match(second?.text, /fern \(since \d+ \w+ 20\d\d\)/);
  t.same(await mailsTo('bob@x.test'), [], 'nothing of his is due');
  for (const [body, field] of [
    [{ hour: 24 }, 'hour'],
    [{ hour: 7.5 }, 'hour'],
    [{ is_on: 'yes' }, 'is_on'],
  ] as const)
    t.match(await tell(ann.app, 'PATCH', '/me/due-mail', body), { status: 400, error: { details: [{ path: field }] } });
});

await t.test('K-326 the hour is that of the zone of the profile', async (t) => {
  const moveTo = async (time_zone: string | null) => {
    const { revision } = await ann.app.ask<{ revision: number }>('GET', '/profile');
    await ann.app.ask('PATCH', '/profile', { revision, time_zone });
  };
  await moveTo('Asia/Tokyo');
  await passTo(10);
  const before = (await mailsTo('ann@x.test')).length;
  await passTo(1);
  t.equal((await mailsTo('ann@x.test')).length, before + 1, 'ten o’clock in Tokyo');
  await passTo(10);
  t.equal((await mailsTo('ann@x.test')).length, before + 1);
  await moveTo(null);
  await passTo(10);
});

await t.test('K-327 there is one mail a day, whatever is changed and tried again, with 20 tasks at most', async (t) => {
  for (let n = 1; n <= 24; n++) await add({ text: `Chore ${n}`, due_date: today() });
  const before = (await mailsTo('ann@x.test')).length;
  await passTo(10);
  const [mail] = await mailsTo('ann@x.test');
  t.equal(mail?.subject, '25 tasks are due');
  t.equal(mail?.text.split('\n').filter((line) => line.startsWith('- ')).length, 20);
  t.match(mail?.text, '\nand 5 more\n');
  await set({ hour: 11 });
  await set({ is_on: false });
  await set({ is_on: true, hour: 12 });
  await passTo(12);
  t.equal((await mailsTo('ann@x.test')).length, before + 1);
  const { actors } = spool.server.services;
  const again = { mail_id: 'again', sealed: new Uint8Array([1]) };
  const queued = { day: today(), hour: 12, next_ms: now() + DAY_MS, mail: again };
  await actors.account(ann.id).queue_due_mail(queued);
  await spool.operator.advanceClock(1_000);
  t.equal((await mailsTo('ann@x.test')).length, before + 1, 'a worker that was cut off and tries again');
  t.notMatch(logged.join(''), /Chore|water/, 'no text of a task is in the log');
});

await t.test('K-328 a link in the mail ends these mails: by a page, and by one POST', async (t) => {
  const [mail] = await mailsTo('ann@x.test');
  if (mail === undefined) throw new Error('there is no mail');
  const url = linkIn(mail);
  const { headers: told } = messageOf({ ...mail, unsubscribe_url: url }, 'spool@x.test');
  t.same(told, {
    ...{ 'Auto-Submitted': 'auto-generated', 'List-Unsubscribe': `<${url}>` },
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  });
  const page = await fetch(url);
  t.equal(page.status, 200);
  t.match(await page.text(), 'Stop these mails');
  t.equal((await ann.app.ask<DueMailSettings>('GET', '/me/due-mail')).is_on, true, 'looking ends nothing');
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const posted = await fetch(url, { method: 'POST', headers, body: 'List-Unsubscribe=One-Click' });
  t.equal(posted.status, 200);
  t.match(await posted.text(), 'You get no more mails');
  t.match(await ann.app.ask('GET', '/me/due-mail'), { is_on: false, hour: 12 });
  t.equal((await fetch(url.replace(/....$/, 'AAAA'), { method: 'POST', headers, body: '' })).status, 404);
  const count = (await mailsTo('ann@x.test')).length;
  await passTo(13);
  await passTo(13);
  t.equal((await mailsTo('ann@x.test')).length, count);
  await set({ is_on: true });
  t.equal((await fetch(url, { method: 'POST', headers, body: '' })).status, 200, 'an old mail ends later ones');
  t.equal((await ann.app.ask<DueMailSettings>('GET', '/me/due-mail')).is_on, false);
  t.notMatch(logged.join(''), /spu_/);
});

await t.test('K-328 a deleted account gets none', async (t) => {
  await set({ is_on: true, hour: 5 });
  const signed_in = await spool.signIn('ann@x.test');
  await signed_in.app.ask('DELETE', '/me');
  const count = (await mailsTo('ann@x.test')).length;
  await passTo(5);
  t.equal((await mailsTo('ann@x.test')).filter(({ subject }) => /tasks? (is|are) due/.test(subject)).length, count);
});

await t.test('K-443 the mail and its page are in the language of the request that set it', async (t) => {
  const cy = await lasting('cy@x.test');
  await add({ text: 'Blumen', due_date: today() }, cy);
  await add({ text: 'Nicht vergessen', due_date: '2026-01-02' }, cy);
  const headers = { 'Accept-Language': 'de' };
  await cy.app.send('PATCH', '/me/due-mail', { body: { is_on: true, hour: 10 }, headers });
  await passTo(10);
  const { items } = await spool.operator.ask<{ items: Mail[] }>('GET', '/inbox?limit=100');
  const mail = items.find(({ to, subject }) => to === 'cy@x.test' && /fällig/.test(subject));
  t.match(mail, { subject: '2 Aufgaben sind fällig', text: /- Nicht vergessen \(seit 2\. Januar 2026\)/ });
  const page = await fetch(linkIn(mail ?? { to: '', subject: '', text: '' }), { headers });
  t.match(await page.text(), 'Diese E-Mails abbestellen');
  await set({ hour: 9 }, cy);
  await passTo(9);
  const next = (await spool.operator.ask<{ items: Mail[] }>('GET', '/inbox?limit=100')).items;
  const of_cy = next.filter(({ to, subject }) => to === 'cy@x.test' && /fällig|due/.test(subject));
  t.equal(of_cy.length, 2);
  for (const { subject } of of_cy) t.match(subject, /fällig/, 'a program that names no language leaves it as it is');
});
