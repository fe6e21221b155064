import t from 'tap';
import { ROUTES } from '../../routes/index.js';
import { unsubscribeUrl } from '../../src/features/due/due_mail_settings.js';
import { TestAccount } from '../fixtures/account.js';
import { looksWell, pathsIn } from '../fixtures/app_browsing.js';
import { Browsing, headingOf } from '../fixtures/browsing.js';
import { said, TestRecording, TestTranscriber } from '../fixtures/transcribing.js';

/**
 * Every page that there is, by the tables that say which there are: axe finds nothing, small and dark, wide and light. Those
 * of sign-in are looked at in pages.test.ts, where each of their states is reached, and those of the app in axe_app.test.ts.
 */

const browsing = await Browsing.start(t, { CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
const { spool } = browsing;
const walk = browsing.walk.bind(browsing, t);

/** All operations and shapes of the reference are drawn by one template, and axe takes minutes for them. */
const KEEPS_FEW_ALIKE = `for (const one of [...document.querySelectorAll('main article')].slice(2)) one.remove()`;

await walk('pages without a sign-in: the start, the reference, the guides', async (t, { page }) => {
  const { base_url } = spool.server;
  const rows = ROUTES.public.filter((row) => row.method === 'GET' && row.dialect === 'page' && !row.path.includes(':'));
  let looked = 0;
  for (const { path } of rows) {
    const answer = await fetch(base_url + path, { redirect: 'manual' });
    const is_page = answer.status === 200 && /^text\/html/.test(answer.headers.get('content-type') ?? '');
    await answer.body?.cancel();
    if (!is_page || path.startsWith('/app')) continue;
    looked++;
    await page.goto(base_url + path);
    await page.evaluate(KEEPS_FEW_ALIKE);
    await looksWell(t, page, path);
  }
  t.ok(looked >= 30, `${looked} pages`);
});

await walk(
  'K-440 pages for whoever has an address, in German',
  async (t, { page }) => {
    const { base_url, services } = spool.server;
    const ann = await TestAccount.open(spool, browsing.somebody());
    const recording = await TestRecording.begin(ann, { captured_at: '2026-10-05T10:00:00.000Z' });
    await recording.add(9_000);
    await recording.end();
    const worker = new TestTranscriber(spool);
    await worker.publish(await worker.claim(recording.id), [said('I will water the roses', [500, 2_500], 'a')]);
    const body = { shows: ['summary', 'audio'], days: 7 };
    const link = await ann.ask<{ url: string }>('POST', `/audio/streams/${recording.id}/links`, body);
    await ann.ask('PATCH', '/me/due-mail', { is_on: true });
    const unsubscribe_url = unsubscribeUrl({ ...services, base_url }, await services.actors.account(ann.id).view());
    const looked = async (url: string, heading: string) => {
      await page.goto(url);
      t.equal(await headingOf(page), heading);
      t.equal(await page.evaluate('document.documentElement.lang'), 'de');
      await looksWell(t, page, heading);
    };
    await looked(link.url, 'Aufnahme');
    await looked(`${base_url}/shared/none`, 'Dieser Link gilt nicht mehr');
    await looked(`${base_url}/calendar/none`, 'Diesen Kalender gibt es nicht mehr');
    await looked(`${base_url}/unsubscribe/none`, 'Diese Adresse ist nicht bekannt');
    await looked(unsubscribe_url ?? '', 'Keine E-Mails über Fälliges mehr?');
    await Promise.all([page.waitForEvent('load'), page.getByRole('button').click()]);
    await looksWell(t, page, 'no more mails');
  },
  { locale: 'de-DE' },
);

await walk('pages of operators', async (t, visitor) => {
  const { page } = visitor;
  const url = `http://localhost:${spool.server.ports.operator}`;
  await page.goto(`${url}/sign-in`);
  await looksWell(t, page, '/sign-in');
  await page.locator('#token').fill(spool.server.services.ops_token);
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
  const account = await TestAccount.open(spool, browsing.somebody());
  const paths = pathsIn('operator/views.ts');
  t.ok(paths.length >= 9);
  for (const path of [...paths, `/entity?kind=account&id=${account.id}`]) {
    await page.goto(url + path);
    await page.locator('#state[data-state=live]').waitFor();
    await looksWell(t, page, path);
  }
});
