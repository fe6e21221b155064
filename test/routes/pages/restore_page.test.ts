import pino from 'pino';
import t from 'tap';
import type { AccountMessage } from '../../../actors/accounts/account.js';
import type { Account } from '../../../actors/accounts/account_state.js';
import type { EmailMessage } from '../../../actors/emails/email.js';
import { restoreView } from '../../../routes/pages/restore.js';
import { textsIn } from '../../../src/domain/language/texts.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { Storage } from '../../driver/storage.js';
import { DAY_MS, enterPage, headingOf, holdErasures, textOf } from '../../fixtures/account_pages.js';
import type { AppClient } from '../../fixtures/app_client.js';
import { CaptchaProvider } from '../../fixtures/captcha_provider.js';
import { Browser, formOf, OauthApp, type Shown } from '../../fixtures/oauth.js';
import { TestSpool } from '../../fixtures/spool.js';
import { until } from '../../fixtures/until.js';

const HOUR_MS = 60 * 60_000;
const texts = textsIn('en');
type Me = { id: string; name: string | null; workspaces: { id: string }[] };
type Status = Account['phase']['status'];

const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
t.teardown(() => spool.end());
const { base_url, services } = spool.server;
let people = 0;
const somebody = () => `ann${++people}@x.test`;
const enter = (email: string, browser?: Browser) => enterPage(spool, '/restore', email, browser);
const restoredEvents = async (app: AppClient) =>
  (await app.ask<{ items: unknown[] }>('GET', '/events?type=account.restored')).items.length;
const phaseOf = async (account_id: string): Promise<Status | null> => {
  const message: AccountMessage = { type: 'view' };
  const account = await services.runtime.ask<Account>({ kind: 'account', id: account_id }, message);
  return isRefusal(account) ? null : account.phase.status;
};
const accountAt = async (email: string) => {
  const message: EmailMessage = { type: 'view' };
  const found = await services.runtime.ask<{ account_id: string | null }>({ kind: 'email', id: email }, message);
  return isRefusal(found) ? undefined : found.account_id;
};
const deleted = async (email = somebody()) => {
  const { app, session } = await spool.signIn(email);
  await app.ask('PATCH', '/me', { name: 'Ann' });
  const me = await app.ask<Me>('GET', '/me');
  await app.ask('DELETE', '/me');
  return { email, app, me, account_id: session.user.id };
};

await t.test(
  'J-019 A-032 D-070 it leads through a sign-in to the account as it is; one press brings it back',
  async (t) => {
    const { email, app, me, account_id } = await deleted();
    const now_ms = services.clock.now();
    const { browser, page } = await enter(email);
    t.equal(page.url, `${base_url}/restore`);
    t.equal(headingOf(page), 'Your account is deleted');
    const said = textOf(page);
    t.match(said, `You’re signed in as ${email}`);
    t.match(said, `Deleted on ${texts.momentText(now_ms)}`);
    t.match(said, `Will be erased on ${texts.momentText(now_ms + 7 * DAY_MS)}`);
    t.match(said, 'Time left about 7 days');
    t.match(said, /you get back Everything in your private workspace.*This is not restored Connected apps/);
    t.equal((await app.send('GET', '/me')).status, 403, 'signing in restores nothing');
    t.equal(headingOf(await browser.open('/restore?done=restored')), 'Your account is deleted', 'nor does an address');
    t.equal(await phaseOf(account_id), 'deleted');

    const back = await browser.press(page, 'restore');
    t.equal(headingOf(back), 'Your account is back');
    t.match(back.html, '<a class="primary" href="/app">');
    t.same(await app.ask('GET', '/me'), me, 'as it was');
    t.equal(
      headingOf(await browser.press(page, 'restore')),
      'Your account is back',
      'the second press shows the outcome',
    );
    t.equal(await restoredEvents(app), 1);
    t.equal(headingOf(await browser.open('/restore')), 'There is nothing to restore');
    t.equal(headingOf(await browser.press(back, 'sign_out')), 'You’re signed out');
  },
);

await t.test(
  'J-019 presses at the same time bring it back once, and codes entered at the same time sign in',
  async (t) => {
    const { email, app } = await deleted();
    const browser = new Browser(base_url);
    const asked = await browser.press(await browser.open('/restore'), 'email', { email });
    const code = await spool.readCode(email);
    const entered = await Promise.all([1, 2, 3].map(() => browser.press(asked, 'code', { code })));
    for (const page of entered) t.equal(headingOf(page), 'Your account is deleted');
    const pages = await Promise.all([1, 2, 3].map(() => browser.press(entered[0] as Shown, 'restore')));
    for (const page of pages) t.equal(headingOf(page), 'Your account is back');
    t.equal(await restoredEvents(app), 1);
  },
);

await t.test('J-019 an account that is not deleted has nothing to restore', async (t) => {
  const email = somebody();
  const { app } = await spool.signIn(email);
  const { browser, page } = await enter(email);
  t.equal(headingOf(page), 'There is nothing to restore');
  t.notMatch(page.html, /value="(restore|begin)"/);
  const { fields } = formOf(page, 'sign_out');
  for (const action of ['restore', 'begin']) await browser.post('/restore', { ...fields, action });
  t.equal(await restoredEvents(app), 0);
});

await t.test('J-019 an unknown address gets no account, and nobody learns of accounts without a code', async (t) => {
  const email = somebody();
  const known = await deleted();
  const plain = ({ html }: Shown, address: string) =>
    html.replaceAll(address, 'ADDRESS').replaceAll(/sign-in\/[0-9a-f-]+|spf_[\w-]+/g, '');
  const shown = async (address: string) => {
    const browser = new Browser(base_url);
    const asked = await browser.press(await browser.open('/restore'), 'email', { email: address });
    const code = await spool.readCode(address);
    const wrong = await browser.press(asked, 'code', { code: code === '000000' ? '111111' : '000000' });
    return { browser, asked, wrong, code };
  };
  const stranger = await shown(email);
  const owner = await shown(known.email);
  t.equal(plain(stranger.asked, email), plain(owner.asked, known.email), 'the same page');
  t.equal(plain(stranger.wrong, email), plain(owner.wrong, known.email), 'also after a wrong code');
  const { browser, wrong, code } = stranger;
  const none = await browser.press(wrong, 'code', { code });
  t.equal(headingOf(none), 'There is no account for this email');
  t.match(textOf(none), email);
  t.equal(await accountAt(email), null, 'and none was made');
  t.equal(browser.cookies.has('spool_session'), false);
  t.equal(headingOf(await browser.press(wrong, 'code', { code })), headingOf(none), 'the same press again');
  const again = await browser.press(none, 'other_email');
  t.equal(headingOf(again), 'Sign in');
  const asked = await browser.press(again, 'email', { email: known.email });
  const page = await browser.press(asked, 'code', { code: await spool.readCode(known.email) });
  t.equal(headingOf(page), 'Your account is deleted');
});

await t.test('J-019 guessing codes is bounded: five end the sign-in, and all sign-ins share a budget', async (t) => {
  const { email, account_id } = await deleted();
  const browser = new Browser(base_url);
  let page = await browser.press(await browser.open('/restore'), 'email', { email });
  const code = await spool.readCode(email);
  const guess = code === '000000' ? '111111' : '000000';
  for (let n = 0; n < 5; n++) page = await browser.press(page, 'code', { code: guess });
  t.equal(headingOf(page), 'Too many wrong codes');
  t.notMatch(textOf(page), 'the app', 'no app sent anybody here');
  const { fields } = formOf(page, 'leave');
  const late = await browser.post(new URL(page.url).pathname, { ...fields, action: 'code', code });
  t.equal(headingOf(late), 'Too many wrong codes', 'the right one is too late');
  t.equal(browser.cookies.has('spool_session'), false);
  const anew = await browser.press(page, 'leave');
  t.equal(headingOf(anew), 'Sign in');
  t.not(anew.url, page.url);
  t.equal(await phaseOf(account_id), 'deleted');
});

await t.test('J-019 nothing but a form of this very session changes anything', async (t) => {
  const { email, app, account_id } = await deleted();
  const { browser, page } = await enter(email);
  const other = await enter((await deleted()).email);
  const { fields } = formOf(page, 'restore');
  const own = formOf(other.page, 'restore').fields.form_token as string;
  const sign_in = await new Browser(base_url).open('/restore');
  const forged: Record<string, string>[] = [
    { action: 'restore' },
    { action: 'restore', form_token: '' },
    { action: 'restore', form_token: 'spa_forged' },
    { action: 'restore', form_token: own },
    { action: 'restore', form_token: formOf(sign_in, 'email').fields.form_token as string },
    { action: 'restore', form_token: `${fields.form_token}A` },
    { action: 'restore', form_token: browser.cookies.get('spool_session') as string },
    { action: 'sign_out' },
  ];
  for (const form of forged) {
    const refused = await browser.post('/restore', form);
    t.equal(refused.status, 403, JSON.stringify(form));
    t.match(refused.html, '<a href="/restore">Open the page again</a>');
    t.notMatch(refused.html, 'form_token');
  }
  for (const form of [
    { ...fields, action: '' },
    { ...fields, action: 'constructor' },
    { form_token: fields.form_token as string },
  ]) {
    t.equal((await browser.post('/restore', form)).status, 400, 'no such button');
  }
  for (const cookie of [null, 'spb_forged', other.browser.cookies.get('spool_session') as string]) {
    const stranger = new Browser(base_url);
    if (cookie !== null) stranger.cookies.set('spool_session', cookie);
    const answer = await stranger.post('/restore', fields);
    t.ok(answer.status === 403 || headingOf(answer) === 'Sign in', `with the cookie ${cookie}`);
  }
  for (const query of ['?action=restore', `?${new URLSearchParams(fields)}`, '?done=begun', '?done=x&done=y']) {
    await browser.open(`/restore${query}`);
  }
  for (const method of ['PUT', 'DELETE', 'PATCH']) {
    const answer = await spool.client().send(method, '/restore');
    t.equal(answer.status, 405);
  }
  const json = await app.send('POST', '/restore', { body: fields });
  t.equal(json.status, 400, 'only a form counts, whatever token comes with it');
  t.equal(await phaseOf(account_id), 'deleted');
  t.equal(headingOf(await browser.press(page, 'restore')), 'Your account is back', 'the true one still works');
});

await t.test('J-019 signing out ends the session, whoever holds its cookie', async (t) => {
  const { email, account_id } = await deleted();
  const { browser, page } = await enter(email);
  const copy = new Browser(base_url);
  copy.cookies.set('spool_session', browser.cookies.get('spool_session') as string);
  t.equal(headingOf(await copy.open('/restore')), 'Your account is deleted');
  const out = await browser.press(page, 'sign_out');
  t.equal(headingOf(out), 'You’re signed out');
  t.equal(browser.cookies.has('spool_session'), false);
  t.equal(headingOf(await browser.press(page, 'sign_out')), 'You’re signed out', 'twice');
  t.equal(headingOf(await browser.press(page, 'restore')), 'Sign in');
  t.equal(headingOf(await copy.press(page, 'restore')), 'Sign in');
  t.equal(await phaseOf(account_id), 'deleted');
});

await t.test('J-019 a deletion ends the sessions of before: the page asks for a code again', async (t) => {
  const email = somebody();
  const { app } = await spool.signIn(email);
  const { browser } = await enter(email);
  await app.ask('DELETE', '/me');
  t.equal(headingOf(await browser.open('/restore')), 'Sign in');
});

await t.test('J-019 a browser that is signed in to one of our apps is signed in here', async (t) => {
  const email = somebody();
  const browser = new Browser(base_url);
  await OauthApp.first(spool, 'svc-web').signIn(email, {}, browser);
  const page = await browser.open('/restore');
  t.equal(headingOf(page), 'There is nothing to restore');
  t.match(textOf(page), email);
});

await t.test('J-019 a sign-in works in its browser, at its address, for an hour', async (t) => {
  const browser = new Browser(base_url);
  const begun = await browser.open('/restore');
  t.match(begun.url, /\/restore\/sign-in\/[0-9a-f-]{36}$/);
  t.match(textOf(begun), 'to continue to restoring your account');
  const other = await new Browser(base_url).open(begun.url);
  t.equal(other.status, 403);
  t.match(textOf(other), 'begun in another browser, or cookies are switched off');
  t.match(other.html, '<a href="/restore">Open the page again</a>');
  for (const place of ['/oauth/sign-in', '/invitations/sign-in']) {
    const elsewhere = await browser.open(begun.url.replace('/restore/sign-in', place));
    t.equal(elsewhere.status, 404, place);
  }
  await spool.operator.advanceClock(HOUR_MS);
  const late = await browser.press(begun, 'email', { email: somebody() });
  t.equal(late.status, 404);
  t.match(late.html, '<a href="/restore">Open the page again</a>');
});

await t.test('J-019 every answer keeps to itself, and holds no secret where it would be noted', async (t) => {
  const { email } = await deleted();
  const { browser, page } = await enter(email);
  for (const shown of [page, await browser.open('/restore?done=begun'), await browser.post('/restore', {})]) {
    t.match(shown.headers, {
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'content-security-policy': /default-src 'none'.*frame-ancestors 'none'/,
    });
    t.notMatch(shown.html, /<script|spb_/);
  }
  t.match(page.headers['content-security-policy'], "form-action 'self'");
  t.notMatch(page.url, /sp[a-z]_|@/);
});

t.test('the restore page when the time is over', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const deleted = async (email: string) => {
    const { app } = await spool.signIn(email);
    await app.ask('PATCH', '/me', { name: 'Ann' });
    const me = await app.ask<Me>('GET', '/me');
    await app.ask('DELETE', '/me');
    return { app, me };
  };

  await t.test('D-033 what is erased is gone: the page offers to begin anew, and does nothing unasked', async (t) => {
    const email = 'gone@x.test';
    const { me } = await deleted(email);
    const before = await enterPage(spool, '/restore', email);
    await spool.operator.advanceClock(7 * DAY_MS);
    const stale = await before.browser.press(before.page, 'restore');
    t.equal(headingOf(stale), 'Sign in', 'the session went with the account');
    const { browser, page } = await enterPage(spool, '/restore', email);
    t.equal(headingOf(page), 'Your data has been erased');
    const { fields } = formOf(page, 'begin');
    const unasked = await browser.post('/restore', { ...fields, action: 'restore' });
    t.equal(headingOf(unasked), 'Your data has been erased', 'a button of the page before does not begin anew');
    const { app } = await spool.signIn(email);
    t.equal((await app.send('GET', '/me')).status, 403, 'signing in does not either');
    t.equal(headingOf(await browser.press(page, 'begin')), 'Your new account is ready');
    t.equal(headingOf(await browser.press(page, 'begin')), 'Your new account is ready', 'the second press');
    const anew = await app.ask<Me>('GET', '/me');
    t.equal(anew.name, null);
    t.not(anew.workspaces[0]?.id, me.workspaces[0]?.id);
    t.equal(anew.workspaces.length, 1);
  });

  await t.test('D-032 while the data is being erased there is nothing to press', async (t) => {
    const email = 'going@x.test';
    const { app } = await deleted(email);
    const goOn = await holdErasures(spool);
    await spool.operator.advanceClock(7 * DAY_MS);
    t.equal((await app.send('POST', '/me/restore')).status, 401, 'its sessions have ended');
    const { app: again } = await spool.signIn(email);
    const refused = await again.send('POST', '/me/restore');
    t.equal(refused.status, 409);
    t.match(refused.body.toString(), 'ACCOUNT_DELETION_IN_PROGRESS');
    const { browser, page } = await enterPage(spool, '/restore', email);
    t.equal(headingOf(page), 'Your data is being erased');
    t.notMatch(page.html, /value="(restore|begin)"/);
    const { fields } = formOf(page, 'sign_out');
    for (const action of ['restore', 'begin']) {
      const shown = await browser.post('/restore', { ...fields, action });
      t.equal(headingOf(shown), 'Your data is being erased', action);
    }
    await goOn();
    t.equal(headingOf(await browser.open('/restore')), 'Your data has been erased', 'looked at again');
  });
});

t.test('what the restore page says of an account, by its phase', async (t) => {
  const deleted_at_ms = Date.UTC(2026, 1, 3, 8, 30);
  const erase_at_ms = deleted_at_ms + 7 * DAY_MS;
  const phase = { status: 'deleted', deleted_at_ms, erase_at_ms } as const;
  const at = (left_ms: number) => restoreView({ phase }, { now_ms: erase_at_ms - left_ms, done: 'restored', texts });
  for (const [left_ms, left] of [
    [7 * DAY_MS, 'about 7 days'],
    [7 * DAY_MS - 1, 'about 7 days'],
    [6.4 * DAY_MS, 'about 6 days'],
    [2 * DAY_MS, 'about 2 days'],
    [2 * DAY_MS - 1, 'about 47 hours'],
    [2 * HOUR_MS, 'about 2 hours'],
    [2 * HOUR_MS - 1, 'about an hour'],
    [HOUR_MS - 1, 'less than an hour'],
    [1, 'less than an hour'],
  ] as const) {
    t.same(at(left_ms), {
      is: 'deleted',
      deleted_on: '3 February 2026, 08:30 UTC',
      erased_on: '10 February 2026, 08:30 UTC',
      left,
    });
  }
  t.same(at(0), { is: 'erasing' });
  const now = { now_ms: erase_at_ms, done: undefined, texts };
  t.same(restoreView({ phase: { status: 'active' } }, now), { is: 'active' });
  t.same(restoreView({ phase: { status: 'active' } }, { ...now, done: 'begun' }), { is: 'begun' });
  t.same(restoreView({ phase: { status: 'erased' } }, { ...now, done: 'begun' }), { is: 'erased' });
});

t.test('J-019 the page is served here wherever mails lead to, at the present address alone', async (t) => {
  const spool = await TestSpool.start({
    RATE_LIMITS: 'off',
    BASE_URL: 'https://api.example',
    LEGACY_BASE_URL: 'https://old.example',
    RESTORE_URL: 'https://www.example/back',
  });
  t.teardown(() => spool.end());
  const open = (headers: Record<string, string>) => spool.client().send('GET', '/restore', { headers });
  const { status, headers } = await open({ Host: 'api.example' });
  t.equal(status, 303);
  t.match(headers.location, /^\/restore\/sign-in\//);
  t.match(headers['set-cookie']?.[0], /^__Host-spool_browser=[\w-]{22}; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  const old = await open({ Host: 'old.example' });
  t.equal(old.headers.location, 'https://api.example/restore');
});

t.test('J-019 a CAPTCHA is asked for where one is configured, and mail that is away is told', async (t) => {
  const provider = await CaptchaProvider.start(t);
  const script_url = 'https://captcha.example/widget.js';
  const spool = await TestSpool.start({
    RATE_LIMITS: 'off',
    ...{ ...provider.env, CAPTCHA_SITE_KEY: 'key-of-the-site', CAPTCHA_SCRIPT_URL: script_url },
  });
  t.teardown(() => spool.end());
  const email = 'ann@x.test';
  const browser = new Browser(spool.server.base_url);
  const begun = await browser.open('/restore');
  t.match(begun.html, `<script src="${script_url}"`);
  t.match(begun.headers['content-security-policy'], 'script-src https://captcha.example');
  const none = await browser.press(begun, 'email', { email });
  t.equal(none.status, 400);
  t.match(textOf(none), 'show first that you are a person');
  const passed = { email, captcha_token: 'a person' };
  const { mail } = spool.server.services;
  const { healthy } = mail;
  mail.healthy = () => false;
  const away = await browser.press(begun, 'email', passed);
  t.equal(away.status, 503);
  t.equal(headingOf(away), 'Spool is unavailable for a moment');
  mail.healthy = healthy;
  t.equal(headingOf(await browser.press(begun, 'email', passed)), 'Enter your code');
});

t.test('J-019 a network that tries too often waits, and no secret reaches the log', async (t) => {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
  const spool = await TestSpool.start({}, log);
  t.teardown(() => spool.end());
  const { browser, page } = await enterPage(spool, '/restore', 'ben@x.test');
  t.equal(headingOf(page), 'There is no account for this email');
  const secrets = [...browser.cookies.values(), formOf(page, 'other_email').fields.form_token as string];
  let shown = page;
  for (let n = 0; n < 200 && shown.status !== 429; n++) shown = await new Browser(spool.base_url).open('/restore');
  t.equal(shown.status, 429);
  t.equal(headingOf(shown), 'Please wait a minute');
  t.match(shown.headers['retry-after'], /^\d+$/);
  for (const secret of secrets)
    t.notOk(
      lines.some((line) => line.includes(secret)),
      'no secret in the log',
    );
});

t.test('J-019 storage away: the page says so, and nothing is lost', async (t) => {
  const { proxy, env } = await Storage.open(t);
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', ...env });
  t.teardown(() => spool.end());
  const { services } = spool.server;
  const email = 'ann@x.test';
  const { app } = await spool.signIn(email);
  await app.ask('DELETE', '/me');
  const { browser, page } = await enterPage(spool, '/restore', email);
  proxy.cut();
  await until('it is noticed', async () => !(await services.storage_health.isReady()));
  for (const shown of [
    await new Browser(spool.server.base_url).open('/restore'),
    await browser.press(page, 'restore'),
  ]) {
    t.equal(shown.status, 503);
    t.equal(headingOf(shown), 'Spool is unavailable for a moment');
    t.match(shown.headers['retry-after'], /^\d+$/);
  }
  proxy.restore();
  await until('it is back', () => services.storage_health.isReady());
  t.equal(headingOf(await browser.press(page, 'restore')), 'Your account is back');
});
