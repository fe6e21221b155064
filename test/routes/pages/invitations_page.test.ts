import t from 'tap';
import type { EmailMessage } from '../../../actors/emails/email.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import {
  allowSharing,
  DAY_MS,
  enterPage,
  headingOf,
  invite,
  membersOf,
  sharer,
  textOf,
} from '../../fixtures/account_pages.js';
import type { AppClient } from '../../fixtures/app_client.js';
import { Browser, formOf, type Shown } from '../../fixtures/oauth.js';
import { TestSpool } from '../../fixtures/spool.js';

/** The part of the page that is about one workspace. */
const about = (page: Shown, name: string): Shown => {
  const section = page.html.split('<section').find((html) => html.includes(`<bdi>${name}</bdi></h2>`));
  if (section === undefined) throw new Error(`no ${name} on this page:\n${page.html}`);
  return { ...page, html: section };
};
const namesOf = ({ html }: Shown) => [...html.matchAll(/<h2 id="[^"]+"><bdi>([^<]*)/g)].map(([, name]) => name);

const restore_url = 'https://www.example/back';
const spool = await TestSpool.start({ RATE_LIMITS: 'off', RESTORE_URL: restore_url });
t.teardown(() => spool.end());
const { base_url, services } = spool.server;
let people = 0;
const somebody = () => `p${++people}@x.test`;
const enter = (email: string, browser?: Browser) => enterPage(spool, '/invitations', email, browser);
/** Somebody who may accept. */
const invitee = async () => {
  const email = somebody();
  return { email, ...(await sharer(spool, email)) };
};
const pending = async (app: AppClient) =>
  (await app.ask<{ items: { id: string }[] }>('GET', '/me/invitations')).items.map(({ id }) => id);
const { app: host, account_id: host_id } = await sharer(spool, 'host@x.test');
await host.ask('PATCH', '/me', { name: 'Holly Host' });

await t.test('I-010 it lists what waits for the address, newest first; each is accepted or declined', async (t) => {
  const { email, app } = await invitee();
  const ben = await sharer(spool, somebody());
  const first = await invite(host, email, { name: 'Design' });
  await spool.operator.advanceClock(1_000);
  await invite(ben.app, email, { name: 'Sales', role: 'admin' });
  const { browser, page } = await enter(email);
  t.equal(page.url, `${base_url}/invitations`);
  t.same(namesOf(page), ['Sales', 'Design']);
  t.match(textOf(page), `You’re signed in as ${email}`);
  t.match(
    textOf(about(page, 'Design')),
    /As a member, invited by Holly Host \( host@x\.test \) \d+ \w+ \d{4}, \d\d:\d\d UTC/,
  );
  t.match(textOf(about(page, 'Sales')), /As an admin, invited by p\d+@x\.test \d/);

  const joined = await browser.press(about(page, 'Design'), 'accept');
  t.match(textOf(joined), 'You now belong to Design .');
  t.same(namesOf(joined), ['Sales']);
  t.same(await membersOf(host, first.workspace_id), ['host@x.test', email]);
  const again = await browser.press(about(page, 'Design'), 'accept');
  t.match(textOf(again), 'You now belong to Design .', 'the second press shows the outcome');
  t.match(textOf(await browser.press(about(page, 'Design'), 'decline')), 'You now belong to Design .', 'too late');

  const declined = await browser.press(about(joined, 'Sales'), 'decline');
  t.match(textOf(declined), 'Declined. You haven’t joined');
  t.match(textOf(declined), 'There are no invitations for you at the moment.');
  t.match(textOf(await browser.press(about(joined, 'Sales'), 'decline')), 'Declined.', 'the second press');
  t.match(textOf(await browser.press(about(joined, 'Sales'), 'accept')), 'That invitation no longer exists');
  t.same(await pending(app), []);
  const { workspaces } = await app.ask<{ workspaces: { name: string; role: string }[] }>('GET', '/me');
  t.match(workspaces, [{ name: 'Private' }, { name: 'Design', role: 'member' }]);
  t.equal(workspaces.length, 2);
});

await t.test('I-010 presses at the same time join once, and all show it', async (t) => {
  const { email } = await invitee();
  const { workspace_id } = await invite(host, email, { name: 'Rush' });
  const { browser, page } = await enter(email);
  const pages = await Promise.all([1, 2, 3].map(() => browser.press(page, 'accept')));
  for (const shown of pages) t.match(textOf(shown), 'You now belong to Rush .');
  t.same(await membersOf(host, workspace_id), ['host@x.test', email]);
});

await t.test('I-010 one that was withdrawn is not there any more', async (t) => {
  const { email, app } = await invitee();
  const { workspace_id, invitation_id } = await invite(host, email, { name: 'Gone' });
  const { browser, page } = await enter(email);
  await host.ask('DELETE', `/workspaces/${workspace_id}/invitations/${invitation_id}`);
  t.match(textOf(await browser.press(page, 'accept')), 'That invitation no longer exists');
  t.equal((await app.send('GET', `/workspaces/${workspace_id}`)).status, 404);
});

await t.test('I-010 an address without an account gets one by signing in here, and no other way', async (t) => {
  const email = somebody();
  await invite(host, email, { name: 'Newcomers' });
  const browser = new Browser(base_url);
  const asked = await browser.press(await browser.open('/invitations'), 'email', { email });
  t.match(textOf(asked), 'to continue to your invitations');
  const view: EmailMessage = { type: 'view' };
  const accountAt = async () => {
    const found = await services.runtime.ask<{ account_id: string | null }>({ kind: 'email', id: email }, view);
    return isRefusal(found) ? undefined : found.account_id;
  };
  t.equal(await accountAt(), null);
  const page = await browser.press(asked, 'code', { code: await spool.readCode(email) });
  t.same(namesOf(page), ['Newcomers']);
  t.ok(await accountAt());
  t.match(textOf(page), 'Shared workspaces are not switched on for your account');
  await allowSharing(spool, email);
  const now = await browser.open('/invitations');
  t.match(textOf(await browser.press(now, 'accept')), 'You now belong to Newcomers .');
});

await t.test('I-010 without sharing nothing can be accepted, which it says; declining stays possible', async (t) => {
  const email = somebody();
  const { app } = await spool.signIn(email);
  const kept = await invite(host, email, { name: 'Kept' });
  await invite(host, email, { name: 'Unwanted' });
  const { browser, page } = await enter(email);
  t.match(textOf(page), 'Shared workspaces are not switched on for your account, so you can’t accept yet.');
  t.notMatch(page.html, 'value="accept"');
  const { fields } = formOf(about(page, 'Kept'), 'decline');
  const forced = await browser.post('/invitations', { ...fields, action: 'accept' });
  t.match(textOf(forced), 'so you can’t accept yet');
  t.same(await membersOf(host, kept.workspace_id), ['host@x.test']);
  const left = await browser.press(about(page, 'Unwanted'), 'decline');
  t.same(namesOf(left), ['Kept']);
  t.same(await pending(app), [kept.invitation_id]);
});

await t.test('D-036 a deleted account is told so: invitations wait until it is restored', async (t) => {
  const { email, app } = await invitee();
  const before = await invite(host, email, { name: 'Before' });
  await app.ask('DELETE', '/me');
  const after = await invite(host, email, { name: 'After' });
  const { browser, page } = await enter(email);
  t.equal(headingOf(page), 'Your account is deleted');
  t.match(page.html, `<a href="${restore_url}">`);
  t.same(namesOf(page), []);
  t.equal((await app.send('GET', '/me')).status, 403, 'neither the invitation nor the sign-in restores it');
  const { fields } = formOf(page, 'sign_out');
  for (const action of ['accept', 'decline']) {
    for (const { workspace_id, invitation_id } of [before, after]) {
      const shown = await browser.post('/invitations', { ...fields, action, invitation_id, workspace_id });
      t.equal(headingOf(shown), 'Your account is deleted', action);
    }
  }
  const back = await browser.press(await browser.open('/restore'), 'restore');
  t.match(back.html, '<a href="/invitations">');
  const listed = await browser.open('/invitations');
  t.same(namesOf(listed).sort(), ['After', 'Before']);
  t.match(textOf(await browser.press(about(listed, 'After'), 'accept')), 'You now belong to After .');
  t.same(await membersOf(host, after.workspace_id), ['host@x.test', email]);
});

await t.test('I-010 more than a page of them', async (t) => {
  const { email } = await invitee();
  const many = await sharer(spool, somebody());
  for (let n = 1; n <= 27; n++) {
    await invite(many.app, email, { name: `Team ${n}` });
    await spool.operator.advanceClock(1);
  }
  const { browser, page } = await enter(email);
  t.same(
    namesOf(page),
    Array.from({ length: 25 }, (_, n) => `Team ${27 - n}`),
  );
  const [, older = ''] = /<a href="([^"]+)">Older invitations/.exec(page.html) ?? [];
  const rest = await browser.open(older);
  t.same(namesOf(rest), ['Team 2', 'Team 1']);
  t.match(rest.html, '<a href="/invitations">Newest invitations</a>');
  t.notMatch(rest.html, 'Older');
  for (const name of ['Team 1', 'Team 2']) await browser.press(about(rest, name), 'decline');
  t.match(textOf(await browser.open(older)), 'There are no more invitations here.');
  for (const cursor of ['x', '"><script>', older.slice(-20)]) {
    const bad = await browser.open(`/invitations?${new URLSearchParams({ cursor })}`);
    t.equal(bad.status, 400);
    t.notMatch(bad.html, '<script');
  }
});

await t.test('who invited is told by the present name, and not at all when that account is deleted', async (t) => {
  const { email } = await invitee();
  const guest = await sharer(spool, somebody());
  await guest.app.ask('PATCH', '/me', { name: 'Gil Guest' });
  const admin = await invitee();
  const { workspace_id, invitation_id } = await invite(guest.app, admin.email, { name: 'Shared', role: 'admin' });
  await admin.app.ask('POST', `/me/invitations/${invitation_id}/accept`);
  await admin.app.ask('POST', `/workspaces/${workspace_id}/invitations`, { email, role: 'member' });
  const { browser, page } = await enter(email);
  t.match(textOf(page), `invited by ${admin.email}`);
  await admin.app.ask('PATCH', '/me', { name: 'Ada' });
  t.match(textOf(await browser.open('/invitations')), `invited by Ada ( ${admin.email} )`);
  await admin.app.ask('DELETE', '/me');
  const left = await browser.open('/invitations');
  t.match(textOf(left), 'invited by somebody whose account is gone');
  t.notMatch(left.html, admin.email);
});

await t.test('names stay text', async (t) => {
  const { email } = await invitee();
  const evil = await sharer(spool, somebody());
  const name = `"'><script>alert(1)</script><form action=//evil.example>`;
  await evil.app.ask('PATCH', '/me', { name });
  await invite(evil.app, email, { name: name.slice(0, 60) });
  const { browser, page } = await enter(email);
  const joined = await browser.press(page, 'accept');
  for (const { html } of [page, joined]) {
    t.notMatch(html, /<script|<form action=\//);
    t.match(html, '&quot;&#39;&gt;&lt;script&gt;');
  }
  for (const address of ['?joined=%3Cscript%3E', '?done=%3Cscript%3E', '?joined=constructor', `?joined=${host_id}`]) {
    const shown = await browser.open(`/invitations${address}`);
    t.equal(shown.status, 200);
    t.notMatch(shown.html, /<script|class="notice/, address);
  }
});

await t.test('nothing but a form of this very session answers an invitation', async (t) => {
  const { email, app } = await invitee();
  const made = await invite(host, email, { name: 'Guarded' });
  const { browser, page } = await enter(email);
  const { fields } = formOf(page, 'accept');
  const other = await enter((await invitee()).email);
  const foreign = formOf(other.page, 'sign_out').fields.form_token as string;
  const { form_token: _, ...bare } = fields;
  const restore_page = await browser.open('/restore');
  for (const form_token of ['', 'spa_forged', foreign, browser.cookies.get('spool_session') as string]) {
    for (const action of ['accept', 'decline', 'sign_out']) {
      const refused = await browser.post('/invitations', { ...bare, form_token, action });
      t.equal(refused.status, 403, `${action} with ${form_token}`);
    }
  }
  t.equal((await browser.post('/invitations', bare)).status, 403);
  t.equal((await browser.post('/invitations', { ...fields, action: 'restore' })).status, 400);
  t.equal((await browser.open(`/invitations?${new URLSearchParams(fields)}`)).status, 200);
  t.equal(headingOf(await new Browser(base_url).post('/invitations', fields)), 'Sign in', 'without its cookie');
  // Somebody else, with a true form of their own, and ids that they have learned.
  const { form_token } = formOf(other.page, 'sign_out').fields;
  for (const [action, said] of [
    ['accept', 'That invitation no longer exists'],
    ['decline', 'Declined.'],
  ] as const) {
    for (const invitation_id of [made.invitation_id, 'constructor', '']) {
      const ids = { workspace_id: made.workspace_id, invitation_id };
      const shown = await other.browser.post('/invitations', { form_token: form_token as string, action, ...ids });
      t.match(textOf(shown), said);
      t.notMatch(shown.html, 'Guarded');
    }
  }
  t.same(await pending(app), [made.invitation_id], 'it still waits');
  t.same(await membersOf(host, made.workspace_id), ['host@x.test']);
  t.match(page.headers, {
    'cache-control': 'no-store',
    'x-frame-options': 'DENY',
    'content-security-policy': /form-action 'self'/,
  });
  t.match(page.headers['content-security-policy'], "frame-ancestors 'none'");
  t.equal(headingOf(restore_page), 'There is nothing to restore', 'one sign-in is enough for both pages');
  t.equal(headingOf(await browser.press(page, 'sign_out')), 'You’re signed out');
  t.equal(headingOf(await browser.press(page, 'accept')), 'Sign in');
  t.same(await pending(app), [made.invitation_id]);
});

await t.test('D-033 an erased account is not begun anew by an invitation or a sign-in', async (t) => {
  const { email, app } = await invitee();
  await app.ask('DELETE', '/me');
  await spool.operator.advanceClock(7 * DAY_MS);
  const { page } = await enter(email);
  t.equal(headingOf(page), 'Your account is deleted');
  const { app: again } = await spool.signIn(email);
  t.equal((await again.send('GET', '/me')).status, 403);
});
