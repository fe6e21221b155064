import t from 'tap';
import { TestAccount } from '../fixtures/account.js';
import { enterApp, looksWell } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { omiConversation, segment } from '../fixtures/omi.js';
import { until } from '../fixtures/until.js';

const browsing = await Browsing.start(t, { CHUNK_WORKER: '1', TRANSCRIBE_BUILT_IN: '0' });

await browsing.walk(t, 'K-414 a person makes an address for omi, which sends, and ends it', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const ann = await TestAccount.open(browsing.spool, email, { sharing: false });
  await enterApp(browsing, visitor, '/connections', email);
  await page.getByRole('button', { name: 'Make an address' }).click();
  const url = (await page.getByLabel('The address', { exact: true }).textContent()) ?? '';
  t.match(url, /\/omi\/spm_/);
  await looksWell(t, page, 'an address for omi');
  const send = () =>
    fetch(`${url}?uid=u`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(omiConversation('c1', [segment('Hello.', 0)])),
    });
  t.equal((await send()).status, 204);
  await until('it is a recording', async () => {
    const { items } = await ann.ask<{ items: { title: string }[] }>('GET', '/audio/streams');
    return items[0]?.title === 'A talk in the yard';
  });
  await page.getByRole('button', { name: 'End address' }).click();
  await page.getByRole('dialog', { name: 'End this address?' }).getByRole('button', { name: 'End address' }).click();
  await page.getByRole('button', { name: 'Make an address' }).waitFor();
  t.equal((await send()).status, 404);
});
