import http from 'node:http';
import https from 'node:https';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { violationsOn } from '../fixtures/app_browsing.js';
import { Browsing, certificate, headingOf, listening, OtherSites, portOf } from '../fixtures/browsing.js';
import { everyPage } from '../fixtures/every_page.js';
import { OauthApp } from '../fixtures/oauth.js';
import { contrast, inspect, luminance } from '../fixtures/page_inspection.js';
import { until } from '../fixtures/until.js';

t.test('the pages as a browser shows them', async (t) => {
  const browsing = await Browsing.start(t);
  const { spool } = browsing;
  const walk = browsing.walk.bind(browsing, t);
  const web = OauthApp.first(spool, 'svc-web');

  /** Each page is looked at in these, one after the other. */
  const LOOKS = [
    { viewport: { width: 320, height: 568 }, colorScheme: 'dark' },
    { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  ] as const;

  /** The page at an address in German, small and dark: its words are the longest. */
  async function looksWellInGerman(t: Test, page_name: string, { german, url }: { german: Page; url: string }) {
    const { viewport, colorScheme } = LOOKS[0];
    await german.setViewportSize(viewport);
    await german.emulateMedia({ colorScheme });
    await german.goto(url);
    await german.evaluate('document.getAnimations().forEach((animation) => animation.finish())');
    const name = `${page_name}, in German`;
    t.same(await violationsOn(german), [], name);
    const { lang, headings, scrolls, wide, small } = await inspect(german);
    t.same(
      { lang, headings, scrolls, wide, small },
      // The start page is for those who run Spool or write programs.
      { lang: page_name === 'start' ? 'en' : 'de', headings: 1, scrolls: false, wide: [], small: [] },
      name,
    );
  }

  await walk(
    'K-440 every page, small and dark, wide and light, in English and German: labels, landmarks, contrast, nothing cut off',
    async (t, visitor) => {
      let pages = 0;
      const german = await visitor.newPage();
      await german.setExtraHTTPHeaders({ 'Accept-Language': 'de' });
      await everyPage(browsing, visitor, async (page_name, page) => {
        pages++;
        await looksWellInGerman(t, page_name, { german, url: page.url() });
        // The browser focuses a field only when it first draws the page; whether it does is asked below.
        if ((await page.locator('input:not([type=hidden])').count()) > 0)
          await page
            .locator('input:focus')
            .waitFor({ timeout: 5_000 })
            .catch(() => {});
        for (const { viewport, colorScheme } of LOOKS) {
          await page.setViewportSize(viewport);
          await page.emulateMedia({ colorScheme });
          await page.evaluate('document.getAnimations().forEach((animation) => animation.finish())');
          const name = `${page_name}, ${colorScheme}`;
          if (colorScheme === 'light') t.same(await violationsOn(page), [], name);
          const seen = await inspect(page);
          t.match(
            seen,
            {
              ...{ lang: 'en', headings: 1, mains: 1, outside: 0, unlabelled: 0, nameless: 0, pictures: 0, styled: 2 },
              ...{ twice: [], nowhere: [], skips: [], small: [], scrolls: false, wide: [] },
            },
            name,
          );
          t.same([...seen.twice, ...seen.nowhere, ...seen.skips, ...seen.small, ...seen.wide], [], name);
          t.match(seen.title, /^(Error: )?\S.* · Spool$/);
          const has_problem = page_name.endsWith('problem');
          t.equal(seen.invalid, has_problem ? 1 : 0, name);
          t.equal(seen.alerts.length, seen.title.startsWith('Error: ') ? 1 : 0, name);
          if (has_problem) t.ok(seen.title.startsWith('Error: '), name);
          if (seen.fields > 0) t.match(seen.focused, /^(email|code)$/, `${name}: one can type at once`);
          t.equal(luminance(seen.scheme) < 0.1, colorScheme === 'dark', name);
          for (const { text, colour, ground } of seen.texts) {
            const found = contrast(colour, ground);
            if (found < 4.5) t.fail(`${name}: contrast ${found.toFixed(2)} of "${text}"`);
          }
        }
      });
      t.equal(pages, 32);
    },
  );

  await walk(
    'the start page leads on, and its address for assistants can be copied by keyboard',
    async (t, visitor) => {
      const { page, context } = visitor;
      const { base_url, ports } = spool.server;
      await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: base_url });
      await page.goto(base_url);
      const links = (await page.evaluate(`[...document.querySelectorAll('a')].map(({ href }) => href)`)) as string[];
      for (const path of ['/app', '/reference', '/reference/devices', '/guides/assistants'])
        t.ok(links.includes(base_url + path), path);
      const operators = `http://127.0.0.1:${ports.operator}`;
      t.ok(links.includes(`${operators}/`) && links.includes(`${operators}/mails`), 'what is for this machine alone');
      await page.getByRole('button', { name: 'Copy the MCP address' }).focus();
      await page.keyboard.press('Enter');
      await page.getByText('Copied').waitFor();
      t.equal(await page.evaluate('navigator.clipboard.readText()'), `${base_url}/mcp`);
      await visitor.follow('API reference');
      t.equal(new URL(page.url()).pathname, '/reference');
      await visitor.follow('Spool');
      t.equal(new URL(page.url()).pathname, '/');
    },
  );

  await walk('a sign-in by keyboard alone, and what is announced', async (t, visitor) => {
    const { page } = visitor;
    const { keyboard } = page;
    const enter = async (button = 'Enter') => {
      await Promise.all([page.waitForEvent('load'), keyboard.press(button)]);
      // A page gives the focus away with what it draws first.
      await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    };
    const focused = () =>
      page.evaluate('document.activeElement.id || document.activeElement.textContent.trim()') as Promise<string>;
    const tabs = async (count: number) => {
      const order: string[] = [];
      for (let n = 0; n < count; n++) {
        await keyboard.press('Tab');
        order.push(await focused());
      }
      return order;
    };
    const third = await OauthApp.registered(spool, { redirect_uris: ['https://notes.example/callback'] });
    const email = browsing.somebody();
    await page.goto(browsing.authorizeUrl(third));
    t.equal(await focused(), 'email');
    t.same(await tabs(1), ['Send me a code']);
    await keyboard.press('Shift+Tab');
    await keyboard.type(email);
    await enter();
    t.equal(await focused(), 'code');
    t.same(await tabs(4), ['the inbox', 'Sign in', 'Send a new code', 'Use another email']);
    for (let n = 0; n < 4; n++) await keyboard.press('Shift+Tab');
    const code = await spool.readCode(email);
    await keyboard.type(code === '000000' ? '111111' : '000000');
    await enter();
    t.equal(await focused(), 'code');
    t.match(await page.title(), /^Error: Enter your code/);
    const field = page.getByRole('textbox', { name: 'Six-digit code' });
    t.equal(await field.getAttribute('aria-invalid'), 'true');
    const described = await field.ariaSnapshot();
    t.match(described, 'textbox "Six-digit code"');
    t.equal(await field.getAttribute('aria-describedby'), 'problem hint');
    t.match(await page.locator('#problem[role=alert]').textContent(), 'wrong or has expired');
    await keyboard.type(code);
    await enter();
    t.equal(await headingOf(page), 'Let Example App use your account?');
    t.same(await tabs(3), ['Use another email', 'Approve', 'Deny']);
    await keyboard.press('Shift+Tab');
    const outline = await page.evaluate(`(({ outlineStyle, outlineWidth }) => [outlineStyle, outlineWidth])(
      getComputedStyle(document.activeElement))`);
    t.same(outline, ['solid', '3px'], 'one sees where one is');
    await enter('Space');
    t.ok(new URL(page.url()).searchParams.get('code'));

    await page.goto(browsing.authorizeUrl(web, { prompt: 'select_account' }));
    t.match(await tabs(2), [/^Continue as /, 'Use another email']);
    await keyboard.press('Shift+Tab');
    await enter();
    t.ok(new URL(page.url()).searchParams.get('code'));
  });

  await walk('a consent page reads as what it is', async (t, visitor) => {
    const third = await OauthApp.registered(spool, { redirect_uris: ['https://notes.example/callback'] });
    const email = await browsing.signIn(visitor, browsing.authorizeUrl(third, { scope: 'turns:read' }));
    const tree = await visitor.page.locator('body').ariaSnapshot();
    for (const part of [
      'banner',
      'main',
      'heading "Let Example App use your account?" [level=1]',
      'region "Afterwards you’ll be sent to"',
      'region "It will see"',
      'listitem',
      'button "Approve"',
      'button "Deny"',
      email,
      'notes.example',
    ]) {
      t.ok(tree.includes(part), `${part} in\n${tree}`);
    }
  });

  await walk(
    'without scripts everything works',
    async (t, visitor) => {
      await browsing.signIn(visitor, browsing.authorizeUrl(web));
      t.ok(new URL(visitor.page.url()).searchParams.get('code'));
    },
    { javaScriptEnabled: false },
  );
});

t.test('behind https, with a CAPTCHA, and within limits', async (t) => {
  const sites = await OtherSites.start(t);
  const tried: URLSearchParams[] = [];
  const verdicts = await listening(
    t,
    http.createServer((request, response) => {
      let body = '';
      request.on('data', (piece) => {
        body += piece;
      });
      request.on('end', () => {
        const form = new URLSearchParams(body);
        tried.push(form);
        response.end(JSON.stringify({ success: form.get('response') === 'a person' }));
      });
    }),
  );
  // What stands before our server where it runs for real.
  const front = await listening(t, https.createServer(await certificate(t)));
  const script_url = 'https://captcha.example/widget.js';
  const browsing = await Browsing.start(
    t,
    {
      BASE_URL: `https://localhost:${portOf(front)}`,
      CAPTCHA_URL: `http://127.0.0.1:${portOf(verdicts)}/siteverify`,
      CAPTCHA_SECRET: 'secret of the site',
      CAPTCHA_SITE_KEY: 'key-of-the-site',
      CAPTCHA_SCRIPT_URL: script_url,
      RATE_LIMITS: 'on',
      RATE_CODES_SENT: '3',
    },
    { sites },
  );
  const { spool } = browsing;
  front.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
    const { method, url, headers } = request;
    const onward = http.request({ port: spool.server.ports.public, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  sites.pages.set('/widget.js', {
    type: 'text/javascript',
    // As the usual widgets do: a checkbox in a frame of the provider's, and a field in our form.
    html: `for (const place of document.querySelectorAll('.cf-turnstile')) {
      const frame = document.createElement('iframe');
      frame.src = 'https://captcha.example/box?' + place.dataset.sitekey;
      frame.width = 300; frame.height = 65; frame.title = 'Are you a person?';
      const field = Object.assign(document.createElement('input'), { type: 'hidden', name: 'cf-turnstile-response' });
      place.append(frame, field);
      addEventListener('message', ({ origin, data }) => { if (origin === 'https://captcha.example') field.value = data; });
    }`,
  });
  sites.pages.set('/box', {
    html: `<!doctype html><title>box</title><button onclick="parent.postMessage('a person', '*')">I am a person</button>`,
  });
  const third = await OauthApp.registered(spool, { redirect_uris: ['https://notes.example/callback'] });
  const url = () => browsing.authorizeUrl(third);
  const frameOf = (page: Page) => page.frameLocator('iframe[title="Are you a person?"]');

  await browsing.walk(
    t,
    'C-056 the CAPTCHA is passed or asked for; cookies are the host’s own; in the end: wait a minute',
    async (t, visitor) => {
      const { page } = visitor;
      const email = browsing.somebody();
      await page.goto(url());
      await frameOf(page).getByRole('button').waitFor();
      await visitor.enterEmail(email);
      t.equal(await page.getByRole('alert').textContent(), 'Please show first that you are a person.');
      t.equal(await page.getByLabel('Email address').inputValue(), email, 'what was typed is still there');
      t.equal(tried.length, 0);
      const passing = async () => {
        await frameOf(page).getByRole('button').click();
        const answer = page.locator('[name=cf-turnstile-response]');
        await until('the widget is satisfied', async () => (await answer.inputValue()) !== '');
      };
      await passing();
      t.notOk(await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth'));
      await visitor.press('Send me a code');
      t.same(Object.fromEntries(tried[0] ?? []), {
        secret: 'secret of the site',
        response: 'a person',
        remoteip: '127.0.0.1',
      });
      t.ok(sites.arrived.some(({ search }) => search === '?key-of-the-site'));
      await visitor.enterCode(await spool.readCode(email));
      await visitor.press('Approve');
      t.ok(new URL(page.url()).searchParams.get('code'));

      const cookies = await visitor.context.cookies(spool.server.base_url);
      t.same(cookies.map(({ name }) => name).sort(), ['__Host-spool_browser', '__Host-spool_session']);
      for (const cookie of cookies) {
        t.match(cookie, { httpOnly: true, secure: true, sameSite: 'Lax', path: '/', domain: 'localhost' });
      }

      await page.goto(url());
      await passing();
      await visitor.enterEmail(browsing.somebody());
      t.equal(await headingOf(page), 'Enter your code');
      await visitor.press('Send a new code');
      t.equal(await headingOf(page), 'Please wait a minute');
      t.match(await page.getByRole('alert').textContent(), /Wait\s+\d+ seconds?, then go back and try again\./);
      await page.goBack();
      t.equal(await headingOf(page), 'Enter your code');
      // The widget of the provider is what the page with the CAPTCHA asks others for, and no other page asks.
      t.same([...new Set(visitor.strayed.map((text) => new URL(text.split(' ')[0] ?? '').href))], [script_url]);
      visitor.strayed.splice(0);
    },
    { viewport: { width: 320, height: 640 } },
  );
});
