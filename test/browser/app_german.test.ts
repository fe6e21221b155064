import type { Page } from 'playwright-core';
import t from 'tap';
import { GERMAN } from '../../app/language/german.js';
import { TestAccount } from '../fixtures/account.js';
import { allowSharing } from '../fixtures/account_pages.js';
import { appUrl, looksWell, settled } from '../fixtures/app_browsing.js';
import { Browsing, type Visitor } from '../fixtures/browsing.js';
import { fillAccount } from '../fixtures/filled_account.js';
import { Receiver } from '../fixtures/receiver.js';
import { said, TestRecording, TestTranscriber } from '../fixtures/transcribing.js';

/** The app in German: every page in its own words, nothing cut off, and the choice of a language. */

const receiver = await Receiver.start();
t.teardown(() => receiver.end());
const browsing = await Browsing.start(t, { CHUNK_WORKER: '1', CONTENT_WORKER: '0', ...receiver.env });
const { spool } = browsing;
const GERMAN_BROWSER = { locale: 'de-DE', timezoneId: 'Europe/Berlin' };

const english = Object.entries(GERMAN).flatMap(([key, words]) => (words === key || key.includes('{') ? [] : [key]));
const german = new Set(Object.values(GERMAN).filter((words) => typeof words === 'string'));
/** Texts of the table that are on the page in English. Runs in the browser. */
const LEFT_IN_ENGLISH = `((english) => {
  const shown = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) shown.push(walker.currentNode.data);
  for (const element of document.querySelectorAll('*'))
    for (const name of ['aria-label', 'title', 'placeholder', 'alt']) shown.push(element.getAttribute(name) ?? '');
  shown.push(document.title.replace(/ · Spool$/, ''));
  return shown.map((text) => text.trim()).filter((text) => english.includes(text));
})(${JSON.stringify(english.filter((key) => !german.has(key as never)))})`;

const leftInEnglish = async (page: Page) => [...new Set((await page.evaluate(LEFT_IN_ENGLISH)) as string[])];

/** Signs in, all of it in German. */
async function enter(visitor: Visitor, path: string, email: string): Promise<void> {
  const { page } = visitor;
  await page.goto(appUrl(browsing, path));
  await page.getByLabel('E-Mail-Adresse').fill(email);
  await visitor.press('Anmelden');
  await page.getByLabel('Sechsstelliger Code').fill(await spool.readCode(email));
  await visitor.press('Anmelden');
  await settled(page);
}

await browsing.walk(
  t,
  'K-363 in a German browser every page is in German, and well to look at',
  async (t, visitor) => {
    const { page } = visitor;
    const email = browsing.somebody();
    const paths = await fillAccount(spool, receiver, email);
    await page.goto(appUrl(browsing, ''));
    await page.getByRole('button', { name: 'Anmelden' }).waitFor();
    await looksWell(t, page, 'signed out');
    t.same(await leftInEnglish(page), []);
    await enter(visitor, '/recordings', email);
    t.equal(await page.evaluate('document.documentElement.lang'), 'de');
    for (const path of [...paths, '/no/such/page']) {
      await page.goto(appUrl(browsing, path));
      await settled(page);
      await looksWell(t, page, path);
      t.same(await leftInEnglish(page), [], `${path} is in German`);
    }
  },
  GERMAN_BROWSER,
);

await browsing.walk(
  t,
  'K-363 K-364 the language is chosen beside the colors, at once and for this browser, and what is typed stays',
  async (t, visitor) => {
    const { page } = visitor;
    const email = browsing.somebody();
    const { app } = await spool.signIn(email);
    const { revision } = await app.call('GET /profile');
    await app.call('PATCH /profile', { body: { revision, time_zone: 'America/New_York' } });
    await enter(visitor, '/account', email);
    await page.getByLabel('Name', { exact: true }).fill('Änne');
    await page.getByLabel('Sprache', { exact: true }).selectOption('en');
    await page.getByRole('heading', { name: 'Appearance' }).waitFor();
    t.equal(await page.evaluate('document.documentElement.lang'), 'en');
    t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Änne', 'what was typed is there');
    await page.reload();
    await page.getByLabel('Language', { exact: true }).waitFor();
    t.equal(await page.getByLabel('Language', { exact: true }).inputValue(), 'en', 'the choice is kept');
    await page.getByLabel('Language', { exact: true }).selectOption('browser');
    await page.getByRole('heading', { name: 'Darstellung' }).waitFor();
    await page.getByLabel('Sprache', { exact: true }).selectOption('de');
    await page.goto(appUrl(browsing, '/tokens'));
    await page.getByRole('button', { name: 'Neues Token' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('');
    await page.getByRole('button', { name: 'Meine Transkripte lesen' }).click();
    await page.getByRole('button', { name: 'Erstellen' }).click();
    await page.getByText('Geben Sie 1 bis 80 Zeichen ein.').waitFor();
    await looksWell(t, page, 'a dialog with a fault');
    t.same(await leftInEnglish(page), []);
    await page.getByLabel('Name', { exact: true }).fill('Sicherung');
    await page.getByRole('button', { name: 'Erstellen' }).click();
    await page.getByRole('button', { name: 'Fertig' }).click();
    const [token] = (await app.call('GET /me/tokens')).items;
    const day = new Intl.DateTimeFormat('de-DE', { dateStyle: 'long', timeZone: 'America/New_York' });
    await page.getByText(`Erstellt am ${day.format(new Date(token?.created_at ?? ''))}`).waitFor();
  },
  GERMAN_BROWSER,
);

await browsing.walk(
  t,
  'K-363 without its file the app is in English',
  async (t, visitor) => {
    const { page, context } = visitor;
    await context.route('**/assets/app/german-*.js', (route) => route.abort());
    await page.goto(appUrl(browsing, ''));
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    t.equal(await page.evaluate('document.documentElement.lang'), 'en');
    const others = visitor.complaints.filter((text) => !/ERR_FAILED/.test(text));
    visitor.complaints.splice(0, visitor.complaints.length, ...others);
  },
  GERMAN_BROWSER,
);

await browsing.walk(
  t,
  'K-363 dialogs are in German, and well to look at',
  async (t, visitor) => {
    const { page } = visitor;
    const email = browsing.somebody();
    const account = await TestAccount.open(spool, email);
    await allowSharing(spool, email);
    const recording = await TestRecording.begin(account);
    await recording.add(9_000);
    await recording.end();
    const worker = new TestTranscriber(spool);
    await worker.publish(await worker.claim(recording.id), [said('I will water the roses', [500, 2_500], 'a')]);
    const person = await account.app.ask<{ id: string }>('POST', '/contacts', { name: 'Tom' });
    await enter(visitor, '/account', email);
    for (const [path, button] of [
      ['/account', 'Mein Konto löschen'],
      ['/account', 'Überall abmelden'],
      ['/retention', 'Ändern'],
      ['/export', 'Meine Daten exportieren'],
      ['/webhooks', 'Neuer Endpunkt'],
      ['/devices', 'Gerät hinzufügen'],
      ['/workspaces', 'Neuer Arbeitsbereich'],
      ['/insights', 'Im Kalender abonnieren'],
      [`/people/${person.id}`, 'Umbenennen'],
      [`/people/${person.id}`, 'Zusammenführen'],
      [`/people/${person.id}`, 'Löschen'],
      [`/recordings/${recording.id}`, 'Umbenennen'],
      [`/recordings/${recording.id}`, 'Löschen'],
      [`/recordings/${recording.id}`, 'Teilen'],
      [`/recordings/${recording.id}`, 'Tastenkürzel'],
      [`/recordings/${recording.id}`, 'Benennen Sprecher 1'],
      [`/recordings/${recording.id}`, 'Sprecher bei 0:00 ändern oder Beitrag löschen'],
    ] as const) {
      await page.goto(appUrl(browsing, path));
      await settled(page);
      await page.getByRole('button', { name: button, exact: true }).first().click();
      await page.locator('dialog[open]').waitFor();
      await page.locator('dialog[open] .loading').first().waitFor({ state: 'hidden' });
      await looksWell(t, page, `${path}: ${button}`);
      t.same(await leftInEnglish(page), [], `${path}: ${button} is in German`);
    }
  },
  GERMAN_BROWSER,
);
