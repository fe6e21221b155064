import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { Browsing, headingOf } from '../fixtures/browsing.js';
import { OauthApp } from '../fixtures/oauth.js';

/** What names, sites and people that mean ill can do to somebody's sign-in in a browser. */
t.test('strangers and our pages in a browser', async (t) => {
  const browsing = await Browsing.start(t);
  const { spool, sites } = browsing;
  const { base_url } = spool.server;
  const walk = browsing.walk.bind(browsing, t);
  const WEB = 'https://notes.example/callback';
  const third = await OauthApp.registered(spool, { redirect_uris: [WEB] });
  const web = OauthApp.first(spool, 'svc-web');
  const url = () => browsing.authorizeUrl(third);
  const answerAt = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

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
      t.equal(await headingOf(other), 'This sign-in can’t continue');
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
});
