import t from 'tap';
import { TestAccount } from '../fixtures/account.js';
import { appUrl, enterApp, looksWell, pathsIn, settled } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { TestEndpoint } from '../fixtures/endpoints.js';
import { makeInsights } from '../fixtures/insights.js';
import { Receiver } from '../fixtures/receiver.js';
import { said, TestRecording, TestTranscriber } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

/** Every page of the app: axe finds nothing, small and dark, wide and light. */

const receiver = await Receiver.start();
t.teardown(() => receiver.end());
const browsing = await Browsing.start(t, { CHUNK_WORKER: '1', CONTENT_WORKER: '0', ...receiver.env });
const { spool } = browsing;
const walk = browsing.walk.bind(browsing, t);

await walk('pages of the app', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const account = await TestAccount.open(spool, email);
  const { app } = account;
  const recording = await TestRecording.begin(account, {
    captured_at: new Date(spool.server.services.clock.now()).toISOString(),
  });
  await recording.add(9_000);
  await recording.end();
  const worker = new TestTranscriber(spool);
  await worker.publish(await worker.claim(recording.id), [said('I will water the roses', [500, 2_500], 'a')]);
  await makeInsights(account, recording, {
    suggestions: [{ text: 'Water the roses', kind: 'task', at: [[500, 2_500]] }],
  });
  const { session } = await spool.hostSession(app);
  const endpoint = await TestEndpoint.open(account, receiver.on('/axe', 204));
  await app.call('PATCH /me', { body: { name: 'Ann' } });
  const deliveries = () => app.call('GET /endpoints/{id}/deliveries', { path: { id: endpoint.id } });
  await until('something is delivered', async () => (await deliveries()).items.length > 0);
  const { workspaces } = await app.call('GET /me');
  const person = await app.ask<{ id: string }>('POST', '/contacts', { name: 'Tom' });
  const ids: Record<string, string | undefined> = {
    '/recordings/:id': recording.id,
    '/people/:id': person.id,
    '/workspaces/:id': workspaces[0]?.id,
    '/sessions/:id': session.id,
    '/sessions/:id/summary': session.id,
    '/webhooks/:id': endpoint.id,
    '/webhooks/:id/deliveries/:delivery_id': endpoint.id,
  };
  const delivery_id = (await deliveries()).items[0]?.id ?? '';
  await enterApp(browsing, visitor, '/recordings', email);
  for (const path of pathsIn('routes.ts')) {
    if (path.includes(':')) t.ok(ids[path], `${path} has an example here`);
    const filled = path.replace(':id', ids[path] ?? '').replace(':delivery_id', delivery_id);
    await page.goto(appUrl(browsing, filled));
    await settled(page);
    await looksWell(t, page, path);
  }
});
