import t from 'tap';
import { appUrl, enterApp, looksWell, settled } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { fillAccount } from '../fixtures/filled_account.js';
import { Receiver } from '../fixtures/receiver.js';

/** Every page of the app: axe finds nothing, small and dark, wide and light. */

const receiver = await Receiver.start();
t.teardown(() => receiver.end());
const browsing = await Browsing.start(t, { CHUNK_WORKER: '1', CONTENT_WORKER: '0', ...receiver.env });
const walk = browsing.walk.bind(browsing, t);

await walk('pages of the app', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const paths = await fillAccount(browsing.spool, receiver, email);
  await enterApp(browsing, visitor, '/recordings', email);
  for (const path of paths) {
    await page.goto(appUrl(browsing, path));
    await settled(page);
    await looksWell(t, page, path);
  }
});
