import t from 'tap';
import { enterPage, headingOf, sharer, textOf } from '../../fixtures/account_pages.js';
import { AppClient } from '../../fixtures/app_client.js';
import { Browser, OauthApp, postForm } from '../../fixtures/oauth.js';
import { TestSpool } from '../../fixtures/spool.js';
import { until } from '../../fixtures/until.js';

/** Pages and mails in the language of a request. */

type Mail = { to: string; subject: string; text: string };

const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
t.teardown(() => spool.end());
const { base_url } = spool.server;
const GERMAN = { 'Accept-Language': 'de-AT, de;q=0.9, en;q=0.5' };
const HTML = /<html lang="(\w+)">/;

const open = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(new URL(path, base_url), { headers: { 'Accept-Language': 'en', ...headers } });
  return { status: answer.status, html: await answer.text() };
};
/** The text of the mail with this subject; waits for it. */
const mailTo = async (email: string, subject: string) => {
  const found: Mail[] = [];
  await until(`${subject} for ${email}`, async () => {
    const { items } = await spool.operator.ask<{ items: Mail[] }>('GET', '/inbox?limit=100');
    found.push(...items.filter((mail) => mail.to === email && mail.subject === subject));
    return found.length > 0;
  });
  return found[0]?.text;
};
const germanBrowser = () => {
  const browser = new Browser(base_url);
  browser.cookies.set('spool_language', 'de');
  return browser;
};

t.test('K-440 a page is in the language of Accept-Language, or in the one that was chosen in the app', async (t) => {
  for (const [headers, language, heading] of [
    [{}, 'en', 'This link has ended'],
    [GERMAN, 'de', 'Dieser Link gilt nicht mehr'],
    [{ Cookie: 'spool_language=de' }, 'de', 'Dieser Link gilt nicht mehr'],
    [{ ...GERMAN, Cookie: 'spool_language=en' }, 'en', 'This link has ended'],
    [{ Cookie: 'spool_language=constructor' }, 'en', 'This link has ended'],
  ] as const) {
    const { status, html } = await open('/shared/spl_none', headers);
    t.equal(status, 404);
    t.equal(HTML.exec(html)?.[1], language, JSON.stringify(headers));
    t.match(html, `<h1>${heading}</h1>`);
  }
});

t.test('K-440 pages of errors are in the language; what has no translation is marked as English', async (t) => {
  const { html } = await open('/oauth/authorize?client_id=nobody', GERMAN);
  t.equal(HTML.exec(html)?.[1], 'de');
  t.match(html, /<title>Fehler: /);
  t.match(html, /role="alert" lang="en"/);
  t.match((await open('/oauth/sign-in/none', GERMAN)).html, 'Unter dieser Adresse gibt es nichts.');
});

t.test('K-440 a sign-in and what follows are in German, and the mail with the code', async (t) => {
  const email = 'ann@x.test';
  const browser = germanBrowser();
  const asked = await browser.press(await browser.open('/restore'), 'email', { email });
  t.match(textOf(asked), /Wir haben|Geben Sie hier den sechsstelligen Code für ann@x\.test ein/);
  t.match(textOf(asked), 'der Wiederherstellung Ihres Kontos');
  const wrong = await browser.press(asked, 'code', { code: '12' });
  t.match(textOf(wrong), 'Geben Sie die sechs Ziffern des Codes ein.');
  t.match(await mailTo(email, 'Ihr Anmeldecode für Spool'), 'Er gilt einmal, 10 Minuten lang');
  const { page } = await enterPage(spool, '/invitations', 'bea@x.test', germanBrowser());
  t.equal(headingOf(page), 'Ihre Einladungen');
  t.match(textOf(page), 'Sie sind angemeldet als bea@x.test');
});

t.test('K-440 a consent names in German what the app may do', async (t) => {
  const app = await OauthApp.registered(spool, { client_name: 'Evil <b>' });
  const browser = germanBrowser();
  const { shown } = await app.begin(browser, { scope: 'turns:read' });
  const asked = await browser.press(shown, 'email', { email: 'cy@x.test' });
  const page = await browser.press(asked, 'code', { code: await spool.readCode('cy@x.test') });
  t.match(page.html, '<bdi class="name">Evil &lt;b&gt;</bdi> Ihr Konto nutzen lassen?');
  t.match(textOf(page), 'Transkripte dessen, was wer gesagt hat');
});

t.test('K-442 mails that a request causes are in its language: codes, invitations, deletion', async (t) => {
  const { app } = await sharer(spool, 'host@x.test');
  const { id } = await app.ask<{ id: string }>('POST', '/workspaces', { name: 'Chor' });
  const body = { email: 'guest@x.test', role: 'member' };
  await app.send('POST', `/workspaces/${id}/invitations`, { body, headers: GERMAN });
  t.match(
    await mailTo('guest@x.test', 'Einladung in einen Arbeitsbereich bei Spool'),
    /^host@x\.test lädt Sie als Mitglied in den Arbeitsbereich "Chor" bei Spool ein\.\n/,
  );
  await new AppClient(base_url).send('POST', '/auth/otp', { body: { email: 'dan@x.test' }, headers: GERMAN });
  t.match(await mailTo('dan@x.test', 'Ihr Anmeldecode für Spool'), 'Ihr Code');
  const native = { client_id: 'svc-ios', response_type: 'code', email: 'eve@x.test' };
  const pair = { code_challenge: 'a'.repeat(43), code_challenge_method: 'S256' };
  await postForm(`${base_url}/oauth/authorize-challenge`, { ...native, ...pair }, GERMAN);
  t.match(await mailTo('eve@x.test', 'Ihr Anmeldecode für Spool'), 'Ihr Code');
  const leaving = await spool.signIn('gone@x.test');
  await leaving.app.send('DELETE', '/me', { headers: GERMAN });
  t.match(
    await mailTo('gone@x.test', 'Ihr Konto bei Spool wurde gelöscht'),
    /Seine Daten werden am \d+\. \S+ 20\d\d, \d\d:\d\d UTC endgültig gelöscht/,
  );
});
