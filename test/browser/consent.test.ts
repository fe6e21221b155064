import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { Browsing, headingOf, type Visitor } from '../fixtures/browsing.js';
import { jsonOf, OauthApp, pkce, type Tokens } from '../fixtures/oauth.js';
import { until } from '../fixtures/until.js';

/** Clients of third parties: consent, the ways back, and what strangers' pages and names can do. */
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
    await page.waitForURL('https://notes.example/**');
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

  await walk('names and state of a client stay text', async (t, visitor) => {
    const { page } = visitor;
    const names = [
      '<img src=x onerror=alert(1)><script>alert(2)</script><h1>Bank</h1>',
      '"></bdi></h1><form action="https://evil.example/"><input name=code>',
      'W'.repeat(100),
      '\u05d0\u05d1\u05d2 (com.example) \u0627\u0628',
      `a${'\u0301'.repeat(99)}`,
      '{{7*7}} <%= 7*7 %> <%~ 7*7 %>',
    ];
    const state = `"'><script>alert(3)</script>\u202e\u0000\r\nSet-Cookie: x=1`;
    await page.setViewportSize({ width: 320, height: 640 });
    let dialogs = 0;
    page.on('dialog', (dialog) => {
      dialogs++;
      void dialog.dismiss();
    });
    for (const client_name of names) {
      const app = await OauthApp.registered(spool, { client_name, redirect_uris: [WEB] });
      const email = browsing.somebody();
      await page.goto(browsing.authorizeUrl(app, { state }));
      t.equal(await page.locator('.name').textContent(), client_name);
      await visitor.enterEmail(email);
      await visitor.enterCode(await spool.readCode(email));
      t.notOk((await page.title()).includes(client_name), 'what nothing isolates does not hold it');
      t.equal(await page.locator('h1 .name').textContent(), client_name);
      t.equal(await page.locator('h1').count(), 1);
      t.equal(
        await page.locator('img, script, form, input:not([type=hidden])').count(),
        3,
        'one picture and two forms',
      );
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), 320, 'no name widens the page');
      await visitor.press('Approve');
      t.equal(answerAt(page).state, state);
    }
    t.equal(dialogs, 0);
    for (const client_name of ['a\u202eb', 'a\u2066b', 'a\nb', 'x'.repeat(101)]) {
      await t.rejects(OauthApp.registered(spool, { client_name }), /invalid_client_metadata/);
    }
  });

  await walk('a host of look-alike letters is shown as it is looked up', async (t, visitor) => {
    const app = await OauthApp.registered(spool, { redirect_uris: ['https://xn--pple-43d.example/cb'] });
    await browsing.signIn(visitor, browsing.authorizeUrl(app));
    t.equal(await visitor.page.locator('.host').textContent(), 'xn--pple-43d.example');
  });

  await walk('no page of ours can be framed', async (t, visitor) => {
    const { page } = visitor;
    await page.goto(url());
    const sign_in = page.url();
    sites.pages.set('/frames', {
      html: `<!doctype html><title>frames</title>${[url(), sign_in, `${base_url}/oauth/authorize`]
        .map((src) => `<iframe src="${src.replaceAll('&', '&amp;')}"></iframe>`)
        .join('')}`,
    });
    for (const host of ['localhost', '127.0.0.1'] as const) {
      await page.goto(`${sites.origin(host)}/frames`);
      const frames = page.frames().filter((frame) => frame !== page.mainFrame());
      t.equal(frames.length, 3);
      for (const frame of frames) {
        t.equal(frame.url(), 'chrome-error://chromewebdata/', host);
        t.notMatch(await frame.content(), 'form_token');
      }
      const complaints = visitor.complaints.splice(0);
      t.equal(complaints.filter((text) => /frame-ancestors/.test(text)).length, 3, complaints.join());
    }
  });

  await walk('another site’s form does nothing, with our cookies or without', async (t, visitor) => {
    const { page } = visitor;
    await browsing.signIn(visitor, url());
    const consent = page.url();
    const forge = (fields: Record<string, string>) => {
      const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`);
      sites.pages.set('/forged', {
        html: `<!doctype html><title>forged</title><form method="post" action="${consent}">${inputs.join('')}<button>Win</button></form>`,
      });
    };
    const strangers = await browsing.visitor();
    await strangers.page.goto(url());
    const foreign = (await strangers.page.locator('[name=form_token]').getAttribute('value')) ?? '';
    await strangers.context.close();
    const other = await visitor.newPage();
    // localhost at another port is the same site: there the cookies do come along.
    for (const [host, fields] of [
      ['localhost', { action: 'approve' }],
      ['localhost', { action: 'deny', form_token: foreign }],
      ['127.0.0.1', { action: 'approve' }],
    ] as const) {
      forge(fields);
      await other.goto(`${sites.origin(host)}/forged`);
      const answer = other.waitForResponse((response) => response.request().method() === 'POST');
      await visitor.press('Win', other);
      t.equal((await answer).status(), 403);
      t.equal(await headingOf(other), 'This sign-in can’t go on');
    }
    // The right token would not do either without the cookie, which Lax keeps back from another site's form.
    const own = (await page.locator('[name=form_token]').first().getAttribute('value')) ?? '';
    forge({ action: 'approve', form_token: own });
    await other.goto(`${sites.origin('127.0.0.1')}/forged`);
    await visitor.press('Win', other);
    t.match(await other.locator('main').textContent(), 'begun in another browser');
    await visitor.press('Approve');
    t.ok(answerAt(page).code, 'the person was not disturbed');
  });

  await walk('another site’s scripts learn nothing', async (t, visitor) => {
    const { page } = visitor;
    await browsing.signIn(visitor, browsing.authorizeUrl(web));
    for (const host of ['localhost', '127.0.0.1'] as const) {
      await page.goto(sites.origin(host));
      const address = JSON.stringify(browsing.authorizeUrl(web, { prompt: 'none' }));
      const read = await page.evaluate(
        `fetch(${address}, { credentials: 'include' }).then((answer) => answer.url, () => 'kept away')`,
      );
      t.equal(read, 'kept away', host);
      t.match(visitor.complaints.splice(0).join(), 'CORS');
      visitor.strayed.splice(0);
    }
  });

  await walk('another person’s browser cannot go on with a sign-in', async (t, visitor) => {
    await browsing.signIn(visitor, url());
    await browsing.walk(t, 'with its address alone', async (t: Test, stranger) => {
      await stranger.page.goto(visitor.page.url());
      t.match(await stranger.page.locator('main').textContent(), 'begun in another browser');
      t.equal(await stranger.page.getByRole('button').count(), 0);
    });
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
