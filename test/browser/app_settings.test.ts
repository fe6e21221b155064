import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import t from 'tap';
import { call } from '../../kits/typescript/src/http_call.js';
import { allowSharing, membersOf, sharer } from '../fixtures/account_pages.js';
import { appUrl, asksAtOnce, enterApp, looksWell, settled } from '../fixtures/app_browsing.js';
import { Browsing, headingOf } from '../fixtures/browsing.js';
import { TestEndpoint } from '../fixtures/endpoints.js';
import { OauthApp } from '../fixtures/oauth.js';
import { Receiver } from '../fixtures/receiver.js';
import { until } from '../fixtures/until.js';
import { unzip } from '../fixtures/zip.js';

/** Devices, sessions, webhooks, connections, workspaces and the account itself, as a person at a browser has them. */

const MINUTE_MS = 60_000;
const FAILURES_MAX = 10;

const receiver = await Receiver.start();
t.teardown(() => receiver.end());
const browsing = await Browsing.start(t, receiver.env);
const { spool } = browsing;
const walk = browsing.walk.bind(browsing, t);
const goto = async (page: Page, path: string) => {
  await page.goto(appUrl(browsing, path));
  await settled(page);
};
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const press = (page: Page, name: string | RegExp) => button(page, name).click();
/** In the dialog that is open: on the topmost where there are two. */
const agree = (page: Page, name: string) =>
  page.locator('dialog[open]').last().getByRole('button', { name, exact: true }).click();
const sees = (page: Page, text: string | RegExp) => page.locator('body').getByText(text).first().waitFor();
const secretOf = async (page: Page, what: string) => (await page.getByLabel(what, { exact: true }).textContent()) ?? '';

await walk('H-033 a device is added by its code, begins to record, and is removed', async (t, visitor) => {
  const { page } = visitor;
  const email = await enterApp(browsing, visitor, '/devices');
  await sees(page, 'No device records for you yet');
  await press(page, 'Add a device');
  const code = await secretOf(page, 'The code');
  t.match(code, /^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/);
  await sees(page, /Type it within \d+ min/);
  t.equal(await page.getByRole('img', { name: /QR code/ }).count(), 1);
  await looksWell(t, page, 'the code of a device');
  const { device, device_id } = await spool.device();
  const { binding_epoch } = await device.call('POST /device/claims/redeem', { body: { claim: code.toLowerCase() } });
  await asksAtOnce(page);
  await sees(page, `…${device_id.slice(-6)} has been added`);
  await device.call('POST /device/streams', {
    body: {
      source_stream_ref: crypto.randomUUID(),
      captured_at: new Date().toISOString(),
      clock_uncertainty_ms: 20,
      binding_epoch,
    },
  });
  await asksAtOnce(page);
  await sees(page, 'It is recording');
  await press(page, 'Done');
  await press(page, 'Rename Personal recorder');
  await page.getByLabel('Name', { exact: true }).fill('Kitchen table');
  await press(page, 'Save');
  await sees(page, 'Kitchen table');
  await looksWell(t, page, 'devices');
  await press(page, 'Remove Kitchen table');
  await sees(page, 'stops recording for you at once');
  await agree(page, 'Cancel');
  await press(page, 'Remove Kitchen table');
  await agree(page, 'Remove');
  await sees(page, 'No device records for you yet');
  const { app } = await spool.signIn(email);
  t.equal((await app.call('GET /devices')).items.length, 0);
  t.notOk((await page.content()).includes(code));
});

await walk('H-033 a session waits, records, is joined by its link, and ends', async (t, visitor) => {
  const { page } = visitor;
  await enterApp(browsing, visitor, '/sessions');
  await page.getByRole('link', { name: 'New session' }).click();
  await press(page, 'Create session');
  await sees(page, 'Waiting for a recorder');
  const code = await secretOf(page, 'The code');
  const link = await secretOf(page, 'The link');
  await looksWell(t, page, 'a session that waits');
  const { device } = await spool.device('shared');
  await device.call('POST /device/claims/redeem', { body: { claim: code, ble_address: 'A0B1C2D3E4F5' } });
  await asksAtOnce(page);
  await sees(page, 'A recorder has joined');
  t.equal(await page.getByLabel('The code', { exact: true }).count(), 0, 'its code is of no use any more');
  const guest = await browsing.visitor();
  try {
    await enterApp(browsing, guest, new URL(link).pathname.slice('/app'.length) + new URL(link).hash);
    await guest.page.getByLabel('Join code').waitFor();
    await press(guest.page, 'Join');
    await sees(guest.page, 'The host and 1 other');
    await asksAtOnce(page);
    await sees(page, 'The host and 1 other');
    t.equal(await button(guest.page, 'End session').count(), 0, 'which is for the host');
    t.equal(await button(guest.page, 'Leave').count(), 1);
    t.same(guest.complaints, []);
  } finally {
    await guest.context.close();
  }
  await press(page, 'Change end time');
  await page.getByLabel('Ends in').selectOption('8');
  await press(page, 'Save');
  await press(page, 'End session');
  await agree(page, 'End session');
  await sees(page, 'Its host ended it');
  await goto(page, '/sessions');
  await sees(page, 'Sending the rest');
  await looksWell(t, page, 'sessions');
  await goto(page, `/sessions/${crypto.randomUUID()}`);
  await page.getByLabel('Join code').fill('AAAA-AAAA');
  await press(page, 'Join');
  await sees(page, 'There is no such recorder session, or its join code is another one.');
});

await walk('F-001 an endpoint is made, its secret shown once, and why it gets nothing said', async (t, visitor) => {
  const { page } = visitor;
  const email = await enterApp(browsing, visitor, '/webhooks');
  const { app } = await spool.signIn(email);
  const rename = (name: string) => app.call('PATCH /me', { body: { name } });
  await press(page, 'New endpoint');
  await page.getByLabel('Address').fill('http://app.example/hooks');
  await press(page, 'Create');
  await sees(page, /^Must be an https:/);
  await page.locator('input[type=url]:focus').waitFor(); // where it is mended
  await page.getByLabel('Address').fill(receiver.on('/busy', 503));
  await page.getByLabel('Event types').selectOption('some');
  await press(page, 'Create');
  await sees(page, 'Choose at least one type.');
  await page.getByLabel('account.updated').check();
  await looksWell(t, page, 'a new endpoint');
  await press(page, 'Create');
  const secret = await secretOf(page, 'The signing secret');
  t.match(secret, /^whsec_/);
  await page.getByRole('link', { name: 'Open endpoint' }).click();
  await sees(page, 'nothing has happened in your account since it was created');
  t.notOk((await page.content()).includes(secret));
  await app.call('POST /sources', { body: { name: 'Phone' } });
  await page.reload();
  await sees(page, 'is of types that it is not subscribed to, such as source.created');
  await rename('Ann');
  await receiver.count('/busy', 1);
  await page.reload();
  await sees(page, /What was sent was not accepted, and is sent again. The last attempt: it answered 503/);
  await looksWell(t, page, 'an endpoint');
  await page.getByRole('link', { name: 'account.updated' }).click();
  await sees(page, '1. It answered 503');
  await looksWell(t, page, 'a delivery');
  await page.getByRole('link', { name: 'Endpoint' }).click();
  await press(page, 'Pause');
  await sees(page, 'It gets nothing because it is paused');
  await page.getByLabel('Filter').selectOption('succeeded');
  await sees(page, 'None of these');
  await press(page, 'Delete');
  await agree(page, 'Delete');
  await sees(page, 'No endpoint yet');

  const refusing = await TestEndpoint.open(app, receiver.on('/refuses', 400));
  for (let n = 0; n < FAILURES_MAX; n++) await rename(`Ann ${n}`);
  await until('it is disabled', async () => (await refusing.read()).status === 'disabled');
  await goto(page, `/webhooks/${refusing.id}`);
  await sees(page, /It gets nothing: 10 deliveries in a row failed.* The last attempt: it answered 400/);
  await press(page, 'Activate');
  await until('it is active', async () => (await refusing.read()).status === 'active');
});

await walk('B-002 a token is shown once; apps and other sign-ins are ended', async (t, visitor) => {
  const { page } = visitor;
  const email = await enterApp(browsing, visitor, '/tokens');
  const notes = await OauthApp.registered(spool, { client_name: 'Meeting Notes', scope: 'turns:read' });
  const theirs = await notes.signIn(email, { scope: 'turns:read' });
  const elsewhere = await OauthApp.first(spool, 'svc-web').signIn(email);
  const statusOf = async (token: string) => {
    const url = new URL('/turns', spool.base_url);
    const headers = { Authorization: `Bearer ${token}`, 'X-API-Version': '1' };
    return (await call({ method: 'GET', url, headers })).status;
  };
  await button(page, 'New token').press('Enter');
  await page.locator('input:focus').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('button:focus', { hasText: 'New token' }).waitFor();
  await page.keyboard.press('Enter');
  await page.locator('input:focus').waitFor();
  await page.keyboard.type('Backup');
  await press(page, 'Create');
  await sees(page, 'Choose its permissions.');
  await press(page, 'Upload audio');
  t.ok(await page.getByLabel('audio:write').isChecked());
  await press(page, 'Read my transcripts');
  t.notOk(await page.getByLabel('audio:write').isChecked());
  t.ok(await page.getByLabel('turns:read').isChecked());
  await looksWell(t, page, 'a new token');
  await press(page, 'Create');
  const token = await secretOf(page, 'The token');
  t.equal(await statusOf(token), 200);
  await page.reload();
  await settled(page);
  await sees(page, `…${token.slice(-4)}`);
  t.notOk((await page.content()).includes(token));
  const stored = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
  t.notOk(String(stored).includes(token));
  await looksWell(t, page, 'tokens');
  await page.getByRole('link', { name: 'Connections', exact: true }).click();
  await page.locator('li', { hasText: 'Meeting Notes' }).getByText('Permissions').click();
  await sees(page, /Transcripts of what was said and by whom/);
  await looksWell(t, page, 'connections');
  await press(page, 'Disconnect Meeting Notes');
  await agree(page, 'Disconnect');
  await sees(page, 'No app is connected');
  await press(page, 'Sign out the others');
  await agree(page, 'Sign out');
  await sees(page, 'signed out everywhere else');
  await page.getByRole('link', { name: 'Tokens', exact: true }).click();
  await press(page, 'Revoke Backup');
  await agree(page, 'Revoke');
  await sees(page, 'No token yet');
  for (const ended of [theirs.access_token, elsewhere.access_token, token]) t.equal(await statusOf(ended), 401);
  await goto(page, '/connections');
  t.equal(await headingOf(page), 'Connections', 'this one goes on');
});

await walk('I-009 a colleague is invited and accepts; what a workspace keeps is asked about', async (t, visitor) => {
  const { page } = visitor;
  const order: string[] = [];
  page.on('response', (response) => response.url().includes('/events?after=latest') && order.push('place in the log'));
  page.on('request', (request) => request.url().endsWith('/me') && order.push('account'));
  const email = await enterApp(browsing, visitor, '/workspaces');
  t.same(order, ['place in the log', 'account'], 'nothing happens unheard between the two');
  await sees(page, 'Sharing is off for your account');
  await allowSharing(spool, email);
  await asksAtOnce(page);
  await press(page, 'New workspace');
  await page.getByLabel('Name', { exact: true }).fill('Research');
  await press(page, 'Create');
  await press(page, 'Invite somebody');
  await page.getByLabel('Email address').fill('bob');
  await press(page, 'Invite');
  await page.locator('.field-error').waitFor();
  const colleague = browsing.somebody();
  await page.getByLabel('Email address').fill(colleague);
  await press(page, 'Invite');
  await sees(page, `${colleague} is invited.`);
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  await sharer(spool, colleague);
  const theirs = await browsing.visitor();
  try {
    await enterApp(browsing, theirs, '/workspaces', colleague);
    await looksWell(t, theirs.page, 'an invitation');
    await press(theirs.page, 'Accept Research');
    await theirs.page.getByRole('link', { name: 'Research' }).click();
    await press(theirs.page, 'Leave the workspace');
    await agree(theirs.page, 'Cancel');
    t.equal(await button(theirs.page, 'Rename').count(), 0, 'which is for the owner');
    t.same(theirs.complaints, []);
  } finally {
    await theirs.context.close();
  }
  const { app } = await spool.signIn(email);
  t.same(await membersOf(app, id), [email, colleague]);
  await page.reload();
  await page.getByLabel(`Role of ${colleague}`).selectOption('admin');
  await sees(page, 'is admin now');
  await looksWell(t, page, 'a workspace');
  await press(page, 'Change');
  await page.getByLabel('Audio').selectOption('days');
  await page.getByLabel('Days for audio').fill('1.5');
  await press(page, 'Save');
  await page.locator('.field-error').waitFor();
  await page.getByLabel('Days for audio').fill('14');
  await looksWell(t, page, 'retention');
  await press(page, 'Save');
  await sees(page, 'Audio: what is older than 14 days is deleted.');
  await agree(page, 'Delete older content');
  await sees(page, 'for 14 days');
  const { retention } = await app.call('GET /workspaces/{id}', { path: { id } });
  t.same(retention.audio, { days: 14 });
  t.same(retention.voice, { days: null });
  await press(page, 'Delete the workspace');
  await agree(page, 'Delete');
  await sees(page, 'Research is deleted.');
});

await walk('D-015 an account is renamed, exported, and after a new code deleted', async (t, visitor) => {
  const { page } = visitor;
  const email = await enterApp(browsing, visitor, '/account');
  await page.getByLabel('Name', { exact: true }).fill('Ann Example');
  await page
    .locator('form', { has: page.getByLabel('Name', { exact: true }) })
    .getByRole('button', { name: 'Save' })
    .click();
  await page.getByText('Ann Example').first().waitFor({ state: 'attached' });
  await page.getByRole('combobox', { name: 'Time zone' }).selectOption('Asia/Tokyo');
  await page.locator('form', { hasText: 'Time zone' }).getByRole('button', { name: 'Save' }).click();
  const { app: own } = await spool.signIn(email);
  await until('the zone is saved', async () => (await own.call('GET /profile')).time_zone === 'Asia/Tokyo');
  await page.getByLabel('Find what means the same in other words').uncheck();
  await until('the switch is saved', async () => !(await own.call('GET /recall/settings')).by_meaning);
  await page.getByRole('combobox', { name: 'Spoken language' }).selectOption('German');
  await page.locator('form', { hasText: 'Spoken language' }).getByRole('button', { name: 'Save' }).click();
  await until('the language is saved', async () => (await own.call('GET /profile')).languages.join() === 'de');
  const vocabulary = async () => (await own.call('GET /profile')).vocabulary;
  for (const name of ['Zoë Ødegård', 'Bo Li']) {
    await page.getByLabel('Add a name or word').fill(name);
    await page.getByLabel('Add a name or word').press('Enter');
    await page.getByRole('button', { name: `Remove ${name}` }).waitFor();
  }
  t.same(await vocabulary(), ['Zoë Ødegård', 'Bo Li']);
  await sees(page, /^2 of 200 words/);
  await press(page, 'Remove Zoë Ødegård');
  await sees(page, '“Zoë Ødegård” is removed.');
  t.same(await vocabulary(), ['Bo Li']);
  await press(page, 'Undo');
  await page.getByRole('button', { name: 'Remove Zoë Ødegård' }).waitFor();
  t.same(await vocabulary(), ['Zoë Ødegård', 'Bo Li'], 'at its place');
  const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
  const light = await ground();
  await page.getByLabel('Colors').selectOption('Dark');
  t.not(await ground(), light);
  await page.reload();
  await page.getByLabel('Colors').waitFor();
  t.not(await ground(), light, 'it is kept');
  await page.getByLabel('Colors').selectOption('As this device');
  t.equal(await ground(), light);
  await looksWell(t, page, 'the account');
  await page.reload();
  await settled(page);
  t.notOk(await page.getByLabel('Find what means the same in other words').isChecked());
  await until(
    'it is shown',
    async () => (await page.getByRole('combobox', { name: 'Time zone' }).inputValue()) === 'Asia/Tokyo',
  );

  await page.getByRole('link', { name: 'Retention', exact: true }).click();
  await press(page, 'Change');
  await page.getByLabel('Audio', { exact: true }).selectOption('days');
  await page.getByLabel('Days for audio').fill('90');
  await press(page, 'Save');
  await sees(page, 'Shorten retention?');
  await agree(page, 'Delete older content');
  await sees(page, 'for 90 days');
  await looksWell(t, page, 'retention');

  await page.getByRole('link', { name: 'Export', exact: true }).click();
  await press(page, 'Export my data');
  await press(page, 'Create');
  await sees(page, 'Ready');
  await looksWell(t, page, 'exports');
  const [download] = await Promise.all([page.waitForEvent('download'), press(page, 'Download')]);
  t.match(download.suggestedFilename(), /\.zip$/);
  t.ok((await unzip(readFileSync(await download.path()))).has('manifest.json'));
  await page.getByRole('link', { name: 'Account', exact: true }).click();

  await spool.operator.advanceClock(11 * MINUTE_MS);
  const remove = async (typed: string) => {
    await page.getByLabel(/^To go on, type/).fill(typed);
    await agree(page, 'Delete my account');
  };
  await press(page, 'Delete my account');
  await looksWell(t, page, 'the deletion');
  await remove('somebody@else.test');
  await sees(page, 'Type your own email address.');
  await remove(email);
  await sees(page, 'You signed in a while ago');
  await visitor.press('Enter a code');
  await visitor.enterEmail(email);
  await visitor.enterCode(await spool.readCode(email));
  await settled(page);
  let release = () => {};
  const deleted = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/events?*', (route) => deleted.then(() => route.continue()));
  const asked = page.waitForRequest('**/events?*');
  await asksAtOnce(page);
  await asked;
  const refused = page.waitForResponse('**/events?*');
  await remove(email);
  const notice = page.getByText(/Your account is deleted. You can restore it until /);
  await notice.waitFor();
  release();
  const answer = await refused;
  t.equal(answer.status(), 401);
  // A refused call asks for another token, and those that do take turns; then the page is drawn.
  await page.evaluate(
    'new Promise(requestAnimationFrame).then(() => navigator.locks.request("spool.refresh", () => {}))',
  );
  await page.evaluate('new Promise(requestAnimationFrame)');
  t.ok(await notice.isVisible(), 'what was still asked changes nothing of it');
  t.equal(await page.evaluate('localStorage.length'), 0);
  await visitor.enterAddress(email);
  await visitor.enterCode(await spool.readCode(email));
  await page.getByRole('heading', { name: 'Your account is deleted' }).waitFor();
  await sees(page, /You can restore it until /);
  await looksWell(t, page, 'a deleted account');
  await press(page, 'Restore it');
  await settled(page);
  await sees(page, 'Your name');
});
