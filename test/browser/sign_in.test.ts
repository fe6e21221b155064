import type { Page } from 'playwright-core';
import t from 'tap';
import { Browsing, headingOf } from '../fixtures/browsing.js';
import { jsonOf, OauthApp, pkce, type Tokens } from '../fixtures/oauth.js';
import { until } from '../fixtures/until.js';

/** Our own apps, as a person with a browser signs in to them. */
const browsing = await Browsing.start(t);
const { spool, sites } = browsing;
const web = OauthApp.first(spool, 'svc-web');
const agent = OauthApp.first(spool, 'svc-agent');
const walk = browsing.walk.bind(browsing, t);
const url = (prompt?: string, app = web) => browsing.authorizeUrl(app, prompt === undefined ? {} : { prompt });
/** What the client was told, when the browser is back there. */
const answerAt = (page: Page, app = web): Record<string, string> => {
  if (!page.url().startsWith(`${app.redirect_uri}?`)) throw new Error(`not back at the app but at ${page.url()}`);
  return Object.fromEntries(new URL(page.url()).searchParams);
};
const codeAt = (page: Page, app = web) => answerAt(page, app).code;
const wrongFor = (code: string) => (code === '000000' ? '111111' : '000000');
const problemOn = (page: Page) => page.getByRole('alert').textContent();

await walk('C-020 C-031 email, code, and back at the app, once', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  await page.goto(url());
  t.equal(await headingOf(page), 'Sign in');
  await visitor.enterEmail(email);
  t.equal(await headingOf(page), 'Enter your code');
  t.match(await page.locator('main').textContent(), email);
  await visitor.enterCode(await spool.readCode(email));
  t.match(answerAt(page), { code: /^spo_/, state: 's 1', iss: spool.server.base_url });
  t.notOk(page.url().includes(email), 'the address tells the app nothing else');
  t.equal(await page.evaluate('document.referrer'), '', 'nor does the referrer');
});

await walk('back, forward and reload at every step show where things stand, and break nothing', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  await page.goto(sites.origin('127.0.0.1'));
  await page.goto(url());
  await page.reload();
  t.equal(await headingOf(page), 'Sign in');
  await visitor.enterEmail(email);
  const code = await spool.readCode(email);
  await page.reload();
  t.equal(await headingOf(page), 'Enter your code');
  const field = page.getByLabel('Six-digit code');
  await field.fill('12x');
  await page.getByRole('button', { name: 'Sign in' }).click();
  t.notOk(await field.evaluate((field) => field.validity.valid), 'the browser itself says so');
  await field.evaluate((field) => field.removeAttribute('pattern'));
  await visitor.press('Sign in');
  t.equal(await problemOn(page), 'Enter the six digits of the code.');
  await visitor.enterCode(wrongFor(code));
  t.match(await problemOn(page), '4 times');
  for (let n = 0; n < 5; n++) await page.reload();
  t.match(await problemOn(page), '4 times', 'a reload tries nothing');
  await page.goBack();
  t.equal(await headingOf(page), 'Enter your code', 'back to the page before the problem');
  await page.goBack();
  t.equal(await headingOf(page), 'Enter your code', 'the email is given already');
  await page.goBack();
  await page.goBack();
  t.equal(await headingOf(page), 'client', 'out of the sign-in');
  await page.goForward();
  t.equal(await headingOf(page), 'Enter your code', 'and in again');
  await visitor.enterCode(code);
  t.ok(codeAt(page));
  await page.goBack();
  t.equal(await headingOf(page), 'This sign-in is finished');
  t.equal(await page.getByRole('button').count(), 0);
  await page.reload();
  t.equal(await headingOf(page), 'This sign-in is finished');
  await page.goForward();
  t.equal(await headingOf(page), 'client');
});

await walk('a form sent again: at once the same answer, later only that it is finished', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  await page.goto(url());
  await visitor.enterEmail(email);
  const code = await spool.readCode(email);
  const [second, third] = [await visitor.newPage(), await visitor.newPage()];
  for (const other of [second, third]) {
    await other.goto(page.url());
    await other.getByLabel('Six-digit code').fill(code);
  }
  await visitor.enterCode(code);
  await visitor.press('Sign in', second);
  t.equal(answerAt(second).code, answerAt(page).code);
  await spool.operator.advanceClock(11_000);
  await visitor.press('Sign in', third);
  t.equal(await headingOf(third), 'This sign-in is finished');
});

await walk('two tabs at once: each its own sign-in; the session is that of the last', async (t, visitor) => {
  const [one, two] = [visitor.page, await visitor.newPage()];
  const emails = [browsing.somebody(), browsing.somebody()] as const;
  await one.goto(url());
  await two.goto(url());
  t.not(one.url(), two.url());
  await visitor.enterEmail(emails[0], one);
  await visitor.enterEmail(emails[1], two);
  t.match(await one.locator('main').textContent(), emails[0]);
  await visitor.enterCode(await spool.readCode(emails[1]), two);
  await visitor.enterCode(await spool.readCode(emails[0]), one);
  t.not(answerAt(one).code, answerAt(two).code);
  await two.goto(url('select_account'));
  t.ok(await two.getByRole('button', { name: `Continue as ${emails[0]}` }).isVisible());
});

await walk('a tab left open while another signs in still goes on', async (t, visitor) => {
  const [one, two] = [visitor.page, await visitor.newPage()];
  await one.goto(url());
  await browsing.signIn(visitor, url(), browsing.somebody(), two);
  t.ok(codeAt(two));
  const email = browsing.somebody();
  await visitor.enterEmail(email, one);
  await visitor.enterCode(await spool.readCode(email), one);
  t.ok(codeAt(one));
});

await walk('a code is pasted as mails and people write it', async (t, visitor) => {
  const { page } = visitor;
  for (const written of [(code: string) => `  ${code.slice(0, 3)} ${code.slice(3)}  `, (code: string) => `${code}\n`]) {
    const email = browsing.somebody();
    await page.goto(url('login'));
    await visitor.enterEmail(email);
    const code = written(await spool.readCode(email));
    await page.getByLabel('Six-digit code').focus(); // the page does so too, a moment later
    await page.keyboard.insertText(code);
    await visitor.press('Sign in');
    t.ok(codeAt(page));
  }
});

await walk('a double click goes where a single one goes', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  await page.goto(url());
  await visitor.enterEmail(email);
  await page.getByLabel('Six-digit code').fill(await spool.readCode(email));
  await page.getByRole('button', { name: 'Sign in' }).dblclick();
  // The second click may break off the way that the first one began.
  await until('back at the app', () => page.url().startsWith(`${web.redirect_uri}?`));
  t.ok(codeAt(page));
});

await walk('a new code, and another email', async (t, visitor) => {
  const { page } = visitor;
  const [first, second] = [browsing.somebody(), browsing.somebody()];
  await page.goto(url());
  await visitor.enterEmail(first);
  const early = await spool.readCode(first);
  await visitor.press('Send a new code');
  t.equal(await page.getByRole('status').textContent(), 'A new code is on its way.');
  const fresh = await spool.readCode(first);
  const wrong = ['000000', '111111', '222222'].find((code) => code !== early && code !== fresh) ?? '';
  await visitor.enterCode(wrong);
  t.match(await problemOn(page), 'wrong or has expired');
  t.equal(await page.getByRole('status').count(), 0);
  await visitor.press('Use another email');
  t.equal(await headingOf(page), 'Sign in');
  t.equal(await page.getByLabel('Email address').inputValue(), '');
  await visitor.enterEmail(first);
  await visitor.press('Use another email');
  await visitor.enterEmail(second);
  await visitor.enterCode(fresh);
  t.match(await problemOn(page), 'wrong or has expired', 'a code is for its own address');
  await visitor.enterCode(await spool.readCode(second));
  t.ok(codeAt(page));
});

await walk('C-035 five wrong codes end it; leaving tells the app', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  await page.goto(url());
  await visitor.enterEmail(email);
  const code = await spool.readCode(email);
  for (const left of ['4 times', '3 times', '2 times', 'once']) {
    await visitor.enterCode(wrongFor(code));
    t.match(await problemOn(page), `You can try ${left} more.`);
  }
  await visitor.enterCode(wrongFor(code));
  t.equal(await headingOf(page), 'Too many wrong codes');
  await page.goBack();
  t.equal(await headingOf(page), 'Too many wrong codes', 'there is no way back to the code');
  await page.goForward();
  await visitor.press('Back to Spool');
  t.match(answerAt(page), { error: 'access_denied', state: 's 1' });
  await page.goto(url('none'));
  t.match(answerAt(page), { error: 'login_required' });
});

await walk('an email address that is none', async (t, visitor) => {
  const { page } = visitor;
  await page.goto(url());
  const field = page.getByLabel('Email address');
  for (const wrong of ['', 'ann', 'ann@']) {
    await field.fill(wrong);
    await page.getByRole('button', { name: 'Send me a code' }).click();
    t.notOk(await field.evaluate((field) => field.validity.valid), 'the browser itself says so');
  }
  await visitor.enterEmail('ann@nowhere');
  t.match(await problemOn(page), 'Enter an email address');
  t.equal(await field.inputValue(), 'ann@nowhere', 'what was typed is there to be corrected');
  await visitor.enterEmail(browsing.somebody());
  t.equal(await headingOf(page), 'Enter your code');
});

await walk('C-036 C-041 C-043 C-044 prompts with a session and without', async (t, visitor) => {
  const { page } = visitor;
  await page.goto(url('none'));
  t.match(answerAt(page), { error: 'login_required' });
  const email = await browsing.signIn(visitor, url());
  const { verifier, answer } = await silently(page);
  t.match(answer, { code: /^spo_/ });
  const tokens = jsonOf<Tokens>(await web.exchange(answer.code ?? '', verifier));
  const app = spool.client();
  app.access_token = tokens.access_token;
  t.match(await app.ask('GET', '/me'), { email });
  for (const prompt of [undefined, 'none', 'consent', 'none foo', 'foo']) {
    await page.goto(url(prompt, agent));
    t.ok(codeAt(page, agent), `another app of ours, prompt=${prompt}`);
  }
  for (const prompt of ['none login', 'none select_account']) {
    await page.goto(url(prompt));
    t.match(answerAt(page), { error: 'invalid_request' }, prompt);
  }
  for (const [prompt, heading] of [
    ['login', 'Sign in'],
    ['login select_account', 'Sign in'],
    ['select_account', 'Choose an account'],
  ] as const) {
    await page.goto(url(prompt));
    t.equal(await headingOf(page), heading, prompt);
  }
});

async function silently(page: Page): Promise<{ verifier: string; answer: Record<string, string> }> {
  const { verifier, challenge } = pkce();
  await page.goto(browsing.authorizeUrl(web, { code_challenge: challenge, prompt: 'none' }));
  return { verifier, answer: answerAt(page) };
}

await walk('C-038 prompt=login asks for a code although somebody is signed in', async (t, visitor) => {
  await browsing.signIn(visitor, url());
  await browsing.signIn(visitor, url('login'));
  t.ok(codeAt(visitor.page));
});

await walk('C-039 select_account: go on, or be somebody else', async (t, visitor) => {
  const { page } = visitor;
  const [first, second] = [await browsing.signIn(visitor, url()), browsing.somebody()];
  await page.goto(url('select_account'));
  await page.reload();
  await visitor.press(`Continue as ${first}`);
  t.ok(codeAt(page));
  await page.goBack();
  t.equal(await headingOf(page), 'This sign-in is finished');
  await page.goto(url('select_account'));
  await visitor.press('Use another email');
  t.equal(await headingOf(page), 'Sign in');
  await page.goBack();
  t.equal(await headingOf(page), 'Sign in', 'the choice is made');
  await page.goForward();
  await visitor.enterEmail(second);
  await visitor.enterCode(await spool.readCode(second));
  t.ok(codeAt(page));
  await page.goto(url('select_account'));
  t.ok(await page.getByRole('button', { name: `Continue as ${second}` }).isVisible());
});

await walk('select_account: the session ends before the choice', async (t, visitor) => {
  const { page } = visitor;
  await browsing.signIn(visitor, url());
  await page.goto(url('select_account'));
  const other = await visitor.newPage();
  const leave = new URLSearchParams({ client_id: 'svc-web', post_logout_redirect_uri: web.redirect_uri ?? '' });
  await other.goto(`${spool.server.base_url}/oauth/end-session?${leave}`);
  t.equal(await headingOf(other), 'client');
  await page.getByRole('button', { name: /^Continue as/ }).click();
  await page.getByLabel('Email address').waitFor();
  t.equal(await headingOf(page), 'Sign in', 'a code is needed after all');
});

await walk('cookies as the browser holds them on a developer’s machine', async (t, visitor) => {
  await browsing.signIn(visitor, url());
  const cookies = await visitor.context.cookies(spool.server.base_url);
  const ours = cookies.filter(({ name }) => name.startsWith('spool_'));
  t.same(ours.map(({ name }) => name).sort(), ['spool_browser', 'spool_session']);
  for (const cookie of ours) {
    t.match(cookie, { httpOnly: true, sameSite: 'Lax', path: '/', domain: 'localhost', secure: false });
  }
  const session = ours.find(({ name }) => name === 'spool_session');
  t.ok(Math.abs((session?.expires ?? 0) - spool.server.services.clock.now() / 1000 - 30 * 24 * 3600) < 60, '30 days');
  t.equal(ours.find(({ name }) => name === 'spool_browser')?.expires, -1, 'gone with the browser');
  await visitor.page.goto(`${spool.server.base_url}/nothing/here`);
  t.equal(await visitor.page.evaluate('document.cookie'), '');
});
