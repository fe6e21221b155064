import type { Page } from 'playwright-core';
import t from 'tap';
import { Browsing, headingOf, type Visitor } from '../fixtures/browsing.js';
import { jsonOf, OauthApp, pkce, type Tokens } from '../fixtures/oauth.js';
import { until } from '../fixtures/until.js';

/** Clients of third parties: consent, and the ways back. */
t.test('third parties in a browser', async (t) => {
  const browsing = await Browsing.start(t);
  const { spool, sites } = browsing;
  const { base_url } = spool.server;
  const walk = browsing.walk.bind(browsing, t);
  const WEB = 'https://notes.example/callback?keep=1';
  const APP = 'com.example.app:/callback';
  const loopback = `${sites.origin('127.0.0.1')}/callback`;
  const third = await OauthApp.registered(spool, { redirect_uris: [WEB, 'http://127.0.0.1/callback', APP] });
  const web = OauthApp.first(spool, 'svc-web');
  const url = (redirect_uri = WEB, more: Record<string, string> = {}) =>
    browsing.authorizeUrl(third, { redirect_uri, ...more });
  const answerAt = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);
  /** How many connections the person has, once the app has used its code. */
  const connectionsOf = async (page: Page, email: string, verifier: string): Promise<number> => {
    const answer = await third.exchange(answerAt(page).code ?? '', verifier, { redirect_uri: WEB });
    t.equal(answer.status, 200);
    const { app } = await spool.signIn(email);
    const { items } = await app.ask<{ items: { client_id: string | null }[] }>('GET', '/me/connections');
    return items.filter(({ client_id }) => client_id === third.client_id).length;
  };

  await walk('C-029 a site: its host is shown, and approving leads there', async (t, visitor) => {
    const { page } = visitor;
    await browsing.signIn(visitor, url());
    t.equal(await headingOf(page), 'Let Example App use your account?');
    t.equal(await page.locator('.host').textContent(), 'notes.example');
    await visitor.press('Approve');
    t.ok(page.url().startsWith(`${WEB}&code=spo_`));
    t.match(answerAt(page), { keep: '1', state: 's 1', iss: base_url });
    t.equal(await page.evaluate('document.referrer'), '');
  });

  await walk('C-029 C-024 a program on this device, at whatever port it listens', async (t, visitor) => {
    const { page } = visitor;
    await browsing.signIn(visitor, url(loopback));
    t.equal(await page.locator('.host').textContent(), `127.0.0.1:${sites.port}`);
    await visitor.press('Approve');
    t.ok(page.url().startsWith(`${loopback}?code=spo_`));
    t.equal(sites.arrived.filter(({ search }) => search === new URL(page.url()).search).length, 1);
  });

  const called = async (visitor: Visitor): Promise<URL> => {
    await until('the browser looks for the app', () => visitor.apps_called.length > 0);
    return new URL(visitor.apps_called[0] ?? '');
  };

  await walk('C-029 an app behind a scheme of its own: no policy of the page is in the way', async (t, visitor) => {
    const { page } = visitor;
    const failed = page.waitForEvent('requestfailed', (request) => request.url().startsWith(APP));
    await browsing.signIn(visitor, url(APP));
    t.equal(await page.locator('.host').textContent(), 'com.example.app');
    await page.getByRole('button', { name: 'Approve' }).click();
    const back = await called(visitor);
    t.equal(`${back.protocol}${back.pathname}`, APP);
    t.match(Object.fromEntries(back.searchParams), { code: /^spo_/, state: 's 1', iss: base_url });
    // No such app is installed: the browser gives up there, not before.
    t.equal((await failed).failure()?.errorText, 'net::ERR_ABORTED');
    t.ok((await failed).redirectedFrom()?.url().startsWith(`${base_url}/oauth/sign-in/`));
    t.equal(await headingOf(page), 'Let Example App use your account?');
    await page.reload();
    t.equal(await headingOf(page), 'This sign-in is finished', 'what the person finds who comes back');
  });

  await walk('form-action would be in the way, and it would show here', async (t, visitor) => {
    const { page } = visitor;
    await page.route(`${base_url}/oauth/sign-in/*`, async (route) => {
      if (route.request().method() !== 'GET') return route.continue();
      const response = await route.fetch();
      const csp = `${response.headers()['content-security-policy']}; form-action 'self'`;
      return route.fulfill({ response, headers: { ...response.headers(), 'content-security-policy': csp } });
    });
    await browsing.signIn(visitor, url(APP));
    await page.reload(); // what a redirect led to is not routed
    await page.getByRole('button', { name: 'Approve' }).click();
    await until('a complaint', () => visitor.complaints.length > 0);
    t.match(visitor.complaints.splice(0).join(), /form-action/);
  });

  await walk('C-030 denying, to each kind of client', async (t, visitor) => {
    const { page } = visitor;
    for (const redirect_uri of [WEB, loopback]) {
      await browsing.signIn(visitor, url(redirect_uri));
      await visitor.press('Deny');
      t.match(answerAt(page), { error: 'access_denied', state: 's 1', iss: base_url });
      await page.goBack();
      t.equal(await headingOf(page), 'This sign-in is finished');
    }
    await browsing.signIn(visitor, url(APP));
    await page.getByRole('button', { name: 'Deny' }).click();
    t.equal((await called(visitor)).searchParams.get('error'), 'access_denied');
  });

  await walk('C-028 C-042 a session is nothing to it: a code and consent each time', async (t, visitor) => {
    const { page } = visitor;
    const email = await browsing.signIn(visitor, browsing.authorizeUrl(web));
    await page.goto(url(WEB, { prompt: 'none' }));
    t.match(answerAt(page), { error: 'login_required' });
    for (const prompt of ['', 'select_account', 'consent', 'login']) {
      await page.goto(url(WEB, { prompt }));
      t.equal(await headingOf(page), 'Sign in', `prompt=${prompt}`);
    }
    await browsing.signIn(visitor, url(), email);
    t.equal(await headingOf(page), 'Let Example App use your account?');
    await visitor.press('Approve');
    await page.goto(browsing.authorizeUrl(web, { prompt: 'none' }));
    t.ok(answerAt(page).code, 'the code that was entered there counts for our own apps');
  });

  await walk('a double click on Approve is one approval', async (t, visitor) => {
    const { page } = visitor;
    const { verifier, challenge } = pkce();
    const email = await browsing.signIn(visitor, url(WEB, { code_challenge: challenge }));
    await page.getByRole('button', { name: 'Approve' }).dblclick();
    // The second click may break off the way that the first one began.
    await until('back at the client', () => page.url().startsWith(WEB));
    t.equal(await connectionsOf(page, email, verifier), 1);
  });

  await walk('approved in two tabs: the same code, one connection', async (t, visitor) => {
    const [page, other] = [visitor.page, await visitor.newPage()];
    const { verifier, challenge } = pkce();
    const email = await browsing.signIn(visitor, url(WEB, { code_challenge: challenge }));
    await other.goto(page.url());
    await visitor.press('Approve');
    await visitor.press('Approve', other);
    t.equal(other.url(), page.url());
    t.equal(await connectionsOf(page, email, verifier), 1);
  });

  await walk('back from the client, and consent in two tabs: decided once', async (t, visitor) => {
    const [one, two] = [visitor.page, await visitor.newPage()];
    await browsing.signIn(visitor, url());
    await one.goBack();
    t.equal(await headingOf(one), 'Let Example App use your account?', 'the code is not asked for again');
    await two.goto(one.url());
    await visitor.press('Deny', one);
    await visitor.press('Approve', two);
    t.equal(answerAt(two).error, 'access_denied', 'what is denied stays so');
    await one.goBack();
    t.equal(await headingOf(one), 'This sign-in is finished');
    await one.reload();
    t.equal(await headingOf(one), 'This sign-in is finished');
  });

  await walk('from consent on with another email', async (t, visitor) => {
    const { page } = visitor;
    const { verifier, challenge } = pkce();
    await browsing.signIn(visitor, url(WEB, { code_challenge: challenge }));
    await visitor.press('Use another email');
    t.equal(await headingOf(page), 'Sign in');
    const email = browsing.somebody();
    await visitor.enterEmail(email);
    await visitor.enterCode(await spool.readCode(email));
    t.match(await page.locator('.account').textContent(), email);
    await visitor.press('Approve');
    t.equal(await connectionsOf(page, email, verifier), 1);
  });

  await walk('what was approved is what the app gets', async (t, visitor) => {
    const { verifier, challenge } = pkce();
    const more = { code_challenge: challenge, scope: 'turns:read', resource: base_url };
    await browsing.signIn(visitor, url(loopback, more));
    const page = visitor.page;
    t.match(await page.locator('.reach').textContent(), 'through the whole Spool API');
    // Fields that nobody asked for change nothing.
    await page
      .locator('form')
      .last()
      .evaluate((form) => {
        const stranger = { scope: 'account:manage', redirect_uri: 'https://evil.example/', client_id: 'svc-web' };
        for (const [name, value] of Object.entries(stranger)) {
          const input = form.ownerDocument.createElement('input');
          form.append(Object.assign(input, { type: 'hidden', name, value }));
        }
      });
    await visitor.press('Approve');
    const answer = await third.exchange(answerAt(page).code ?? '', verifier, { redirect_uri: loopback });
    t.match(jsonOf<Tokens>(answer), { scope: 'turns:read' });
  });
});
