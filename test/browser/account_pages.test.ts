import t from 'tap';
import { enterPage, invite, membersOf, sharer } from '../fixtures/account_pages.js';
import { Browsing, headingOf } from '../fixtures/browsing.js';
import { Browser, formOf } from '../fixtures/oauth.js';
import { until } from '../fixtures/until.js';

/** Our own pages for account holders, as a person with a browser meets them. */
t.test('the restore page and the invitations page in a browser', async (t) => {
  const browsing = await Browsing.start(t);
  const { spool, sites } = browsing;
  const { base_url } = spool.server;
  const walk = browsing.walk.bind(browsing, t);
  const restore_url = `${base_url}/restore`;
  const invitations_url = `${base_url}/invitations`;
  const { app: host } = await sharer(spool, 'host@x.test');
  const deleted = async () => {
    const email = browsing.somebody();
    const { app } = await spool.signIn(email);
    await app.ask('DELETE', '/me');
    return { email, statusOfMe: async () => (await app.send('GET', '/me')).status };
  };

  await walk(
    'J-019 without scripts an account is restored',
    async (t, visitor) => {
      const { page } = visitor;
      const { email, statusOfMe } = await deleted();
      await browsing.signIn(visitor, restore_url, email);
      t.equal(await headingOf(page), 'Your account is deleted');
      t.equal(await statusOfMe(), 403);
      await visitor.press('Restore');
      t.equal(await headingOf(page), 'Your account is back');
      t.equal(await statusOfMe(), 200);
    },
    { javaScriptEnabled: false },
  );

  await walk('J-019 by keyboard alone, from the address in the mail to the account back', async (t, visitor) => {
    const { page } = visitor;
    const { keyboard } = page;
    const { email, statusOfMe } = await deleted();
    const enter = () => Promise.all([page.waitForEvent('load'), keyboard.press('Enter')]);
    const tabs = async (count: number) => {
      const order: string[] = [];
      for (let n = 0; n < count; n++) {
        await keyboard.press('Tab');
        order.push((await page.evaluate('document.activeElement.textContent.trim()')) as string);
      }
      return order;
    };
    const focused = page.locator('input:focus');
    await page.goto(restore_url);
    await focused.waitFor();
    await keyboard.type(email);
    await enter();
    await focused.waitFor();
    await keyboard.type(await spool.readCode(email));
    await enter();
    t.same(await tabs(2), ['Sign out', 'Restore']);
    await enter();
    t.equal(await headingOf(page), 'Your account is back');
    t.equal(await page.getByRole('status').count(), 1, 'which is announced');
    t.equal(await statusOfMe(), 200);
    t.same(await tabs(3), ['Sign out', 'Open Spool', 'See your invitations']);
    await enter();
    t.equal(await headingOf(page), 'Your invitations');
    t.same(await tabs(1), ['Sign out']);
    await enter();
    t.equal(await headingOf(page), 'You’re signed out');
    await page.goto(restore_url);
    t.equal(await headingOf(page), 'Sign in');
  });

  await walk('J-019 back, forward, reload and double clicks show where things stand', async (t, visitor) => {
    const { page } = visitor;
    const { email, statusOfMe } = await deleted();
    await page.goto(restore_url);
    await visitor.enterEmail(email);
    await page.getByLabel('Six-digit code').fill(await spool.readCode(email));
    await page.getByRole('button', { name: 'Sign in' }).dblclick();
    // The second click may break off the way that the first one began.
    await until('signed in', () => page.url() === restore_url);
    await page.waitForLoadState();
    for (let n = 0; n < 3; n++) await page.reload();
    t.equal(await headingOf(page), 'Your account is deleted');
    await page.goBack();
    t.equal(await headingOf(page), 'Your account is deleted', 'the code is not asked for again');
    await page.getByRole('button', { name: 'Restore' }).dblclick();
    await until('restored', () => page.url().endsWith('?done=restored'));
    await page.waitForLoadState();
    t.equal(await headingOf(page), 'Your account is back');
    await page.reload();
    t.equal(await headingOf(page), 'Your account is back');
    t.equal(await statusOfMe(), 200);
    await page.goBack();
    t.equal(await headingOf(page), 'There is nothing to restore');
  });

  await walk(
    'I-010 invitations are told apart by ear, and answered without scripts',
    async (t, visitor) => {
      const { page } = visitor;
      const email = browsing.somebody();
      await sharer(spool, email);
      await invite(host, email, { name: 'Sales' });
      const { workspace_id } = await invite(host, email, { name: 'Design', role: 'admin' });
      await browsing.signIn(visitor, invitations_url, email);
      const tree = await page.locator('body').ariaSnapshot();
      for (const part of [
        'heading "Your invitations" [level=1]',
        'region "Design"',
        'heading "Sales" [level=2]',
        'button "Accept Design"',
        'button "Decline Design"',
        'button "Accept Sales"',
      ]) {
        t.ok(tree.includes(part), `${part} in\n${tree}`);
      }
      await visitor.press('Accept Design');
      t.match(await page.getByRole('status').textContent(), 'You now belong to Design.');
      t.same(await membersOf(host, workspace_id), ['host@x.test', email]);
      await visitor.press('Decline Sales');
      t.match(await page.getByRole('status').textContent(), 'Declined.');
      t.match(await page.locator('main').textContent(), 'There are no invitations for you');
    },
    { javaScriptEnabled: false },
  );

  await walk('names of workspaces and people stay text, and widen no page', async (t, visitor) => {
    const { page } = visitor;
    const email = browsing.somebody();
    await sharer(spool, email);
    const evil = await sharer(spool, browsing.somebody());
    const names = [
      '<img src=x onerror=alert(1)><script>alert(2)</script>',
      '"></bdi></h2><form action="https://evil.example/">',
      'W'.repeat(80),
      '\u05d0\u05d1\u05d2 (com.example) \u0627\u0628',
      `a${'\u0301'.repeat(79)}`,
    ];
    let dialogs = 0;
    page.on('dialog', (dialog) => {
      dialogs++;
      void dialog.dismiss();
    });
    await page.setViewportSize({ width: 320, height: 640 });
    for (const name of names) await invite(evil.app, email, { name });
    await evil.app.ask('PATCH', '/me', { name: names[1] });
    await browsing.signIn(visitor, invitations_url, email);
    t.same((await page.locator('h2').allTextContents()).sort(), [...names].sort());
    t.equal(await page.locator('form').count(), 1 + names.length);
    t.equal(await page.locator('img, script').count(), 1, 'one picture');
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 320);
    t.equal(dialogs, 0);
  });

  await walk('neither page can be framed', async (t, visitor) => {
    const { page } = visitor;
    const { email } = await deleted();
    await browsing.signIn(visitor, restore_url, email);
    const frames_of = [restore_url, invitations_url].map((src) => `<iframe src="${src}"></iframe>`);
    sites.pages.set('/account_frames', { html: `<!doctype html><title>frames</title>${frames_of.join('')}` });
    for (const site of ['localhost', '127.0.0.1'] as const) {
      await page.goto(`${sites.origin(site)}/account_frames`);
      const frames = page.frames().filter((frame) => frame !== page.mainFrame());
      t.equal(frames.length, 2);
      for (const frame of frames) t.notMatch(await frame.content(), 'form_token', site);
      const complaints = visitor.complaints.splice(0);
      t.equal(complaints.filter((text) => /frame-ancestors/.test(text)).length, 2, complaints.join());
    }
  });

  await walk('another site’s form restores nothing, with our cookies or without', async (t, visitor) => {
    const { page } = visitor;
    const { email, statusOfMe } = await deleted();
    await browsing.signIn(visitor, restore_url, email);
    const stranger = await enterPage(spool, '/restore', (await deleted()).email, new Browser(base_url));
    const foreign = formOf(stranger.page, 'restore').fields.form_token as string;
    const other = await visitor.newPage();
    // localhost at another port is the same site: there the cookies do come along.
    for (const site of ['localhost', '127.0.0.1'] as const) {
      for (const form_token of ['', foreign]) {
        sites.pages.set('/forged_restore', {
          html: `<!doctype html><title>forged</title><form method="post" action="${restore_url}"><input name="action" value="restore"><input name="form_token" value="${form_token}"><button>Win</button></form>`,
        });
        await other.goto(`${sites.origin(site)}/forged_restore`);
        const answered = other.waitForResponse((response) => response.request().method() === 'POST');
        await visitor.press('Win', other);
        const answer = await answered;
        t.ok([303, 403].includes(answer.status()), `${site}: ${answer.status()}`);
        t.equal(await statusOfMe(), 403, 'it is still deleted');
      }
    }
    await page.bringToFront();
    await visitor.press('Restore');
    t.equal(await statusOfMe(), 200);
  });
});
