import t from 'tap';
import { LIMITS } from '../../../src/domain/limits.js';
import { TestAccount } from '../../fixtures/account.js';
import { type DeliveryView, type PageOf, TestEndpoint } from '../../fixtures/endpoints.js';
import { Receiver } from '../../fixtures/receiver.js';
import { TestSpool } from '../../fixtures/spool.js';
import { until } from '../../fixtures/until.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

t.test('endpoints of accounts that go and come back, and what is kept how long', async (t) => {
  const receiver = await Receiver.start();
  const spool = await TestSpool.start({ ...receiver.env, RATE_LIMITS: 'off' });
  t.teardown(async () => {
    await spool.end();
    await receiver.end();
  });
  let people = 0;
  const account = () => TestAccount.open(spool, `g${++people}@x.test`);
  const happen = (ann: TestAccount) => ann.ask('PATCH', '/me', { name: `n${Math.random()}` });
  const pass = async (ann: TestAccount, ms: number) => {
    await spool.operator.advanceClock(ms);
    await ann.app.signIn(ann.email, () => spool.readCode(ann.email));
  };
  const stands = (endpoint: TestEndpoint, ...statuses: string[]) =>
    until(`${statuses}`, async () => (await endpoint.statuses()).join() === statuses.join());

  await t.test('D-019 D-024 D-029 D-030 F-033 F-034 F-037 X-40 gone and back', async (t) => {
    const ann = await account();
    const active = await TestEndpoint.open(ann, receiver.on('/active', 503));
    const paused = await TestEndpoint.open(ann, receiver.url('/paused'));
    const disabled = await TestEndpoint.open(ann, receiver.url('/disabled'));
    const narrow = await TestEndpoint.open(ann, receiver.url('/narrow'), ['account.updated']);
    await paused.set('paused');
    await disabled.set('disabled');
    await happen(ann);
    await receiver.count('/active', 1);
    await stands(active, 'pending');
    await stands(narrow, 'succeeded');
    await pass(ann, 0); // deleting takes a recent sign-in
    await ann.ask('POST', '/me/tokens', { name: 'tool', permissions: ['turns:read'], expires_at: null });
    await receiver.count('/active', 2);
    t.equal(await ann.says('DELETE', '/me'), '204');
    t.equal(await ann.says('GET', '/endpoints'), '403 ACCOUNT_DELETED');
    receiver.on('/active', 204);
    await pass(ann, DAY_MS);
    t.equal(receiver.at('/active').length, 2, 'nothing comes any more');
    t.equal(await ann.says('POST', '/me/restore'), '204');
    await receiver.count('/active', 3);
    t.same(receiver.typesAt('/active').at(-1), 'account.restored');
    const standing = async () =>
      (await Promise.all([active, paused, disabled, narrow].map((one) => one.read()))).map(({ status }) => status);
    t.strictSame(await standing(), ['active', 'paused', 'disabled', 'active']);
    await stands(active, 'cancelled', 'cancelled', 'succeeded');
    await happen(ann);
    await receiver.count('/narrow', 2);
    await paused.set('active');
    await disabled.set('active');
    await pass(ann, HOUR_MS);
    for (const path of ['/paused', '/disabled']) t.strictSame(receiver.at(path), [], path);
    t.strictSame(receiver.typesAt('/narrow'), ['account.updated', 'account.updated'], 'its topics hold');
    const types = receiver.typesAt('/active');
    t.notOk(types.includes('account.deleted') || types.includes('personal_access_token.revoked'));
    t.strictSame(await active.statuses(), ['cancelled', 'cancelled', 'succeeded', 'succeeded']);
  });

  await t.test('F-037 what is under way when the account goes changes nothing', async (t) => {
    const ann = await account();
    let letGo = () => {};
    const url = receiver.on('/under_way', (_nth, _request, response) => {
      letGo = () => response.writeHead(204).end();
    });
    const one = await TestEndpoint.open(ann, url);
    await happen(ann);
    await receiver.count('/under_way', 1);
    t.equal(await ann.says('DELETE', '/me'), '204');
    letGo();
    receiver.on('/under_way', 204);
    t.equal(await ann.says('POST', '/me/restore'), '204');
    await stands(one, 'cancelled', 'succeeded');
    t.strictSame(receiver.typesAt('/under_way'), ['account.updated', 'account.restored']);
  });

  await t.test('D-033 F-040 J-017 after the erasure there are none, and nothing of them comes back', async (t) => {
    const ann = await account();
    const one = await TestEndpoint.open(ann, receiver.on('/erased', 503));
    await happen(ann);
    await receiver.count('/erased', 1);
    t.equal(await ann.says('DELETE', '/me'), '204');
    await pass(ann, LIMITS.erase_after_ms + HOUR_MS);
    await until('it is erased', async () => (await ann.says('POST', '/me/restore')) === '204');
    t.strictSame(await ann.ask('GET', '/endpoints'), { items: [], cursor: null });
    t.equal(await ann.says('GET', `/endpoints/${one.id}`), '404 NOT_FOUND');
    await happen(ann);
    const again = await TestEndpoint.open(ann, receiver.url('/afresh'));
    await happen(ann);
    await receiver.count('/afresh', 1);
    await stands(again, 'succeeded');
    t.equal(receiver.at('/erased').length, 1);
  });

  await t.test('E-029 F-035 a deleted workspace is told of to those who lost it, not to who goes', async (t) => {
    const [ann, bob] = [await account(), await account()];
    const { id } = await ann.workspace('Shared');
    await ann.bring(id, [bob]);
    await TestEndpoint.open(ann, receiver.url('/owner'), ['workspace.deleted']);
    await TestEndpoint.open(bob, receiver.url('/member'), ['workspace.deleted']);
    t.equal(await ann.says('DELETE', `/workspaces/${id}`), '204');
    await receiver.count('/owner', 1);
    await receiver.count('/member', 1);
    const alone = await ann.workspace('Alone');
    t.equal(await ann.says('DELETE', '/me'), '204');
    await pass(ann, LIMITS.erase_after_ms + HOUR_MS);
    const { items } = await (async () => {
      await until('it is erased', async () => (await ann.says('POST', '/me/restore')) === '204');
      return ann.ask<PageOf<{ type: string; resource: { id: string } }>>('GET', '/events?type=workspace.deleted');
    })();
    t.ok(
      items.some(({ resource }) => resource.id === alone.id),
      'it is recorded',
    );
    t.equal(receiver.at('/owner').length, 1, 'and not delivered');
  });

  await t.test('E-023 E-024 events and deliveries are kept for 30 days, attempts for 90', async (t) => {
    const ann = await account();
    const one = await TestEndpoint.open(ann, receiver.url('/kept'), ['account.updated']);
    await happen(ann);
    await receiver.count('/kept', 1);
    await stands(one, 'succeeded');
    const [delivery] = (await one.deliveries()) as [DeliveryView];
    type Events = PageOf<{ id: string; type: string }>;
    const begin = await ann.ask<Events>('GET', '/events?after=0&limit=1');
    const of_type = await ann.ask<Events>('GET', '/events?after=latest&type=account.updated');
    await pass(ann, LIMITS.event_kept_ms - DAY_MS);
    t.equal((await ann.ask<Events>('GET', '/events')).items.at(-1)?.type, 'account.created', 'after 29 days');
    t.equal((await one.deliveries()).length, 1);

    await pass(ann, 2 * DAY_MS);
    t.strictSame(await ann.ask('GET', '/events'), { items: [], cursor: null }, 'after 31 days');
    t.strictSame(await ann.ask('GET', '/events?after=0'), { items: [], cursor: '0' });
    t.strictSame(await ann.ask('GET', '/events?after=latest'), { items: [], cursor: '0' });
    t.strictSame(await ann.ask('GET', '/events?type=account.updated'), { items: [], cursor: null });
    t.strictSame(await ann.ask('GET', '/events?after=latest&type=account.updated'), { items: [], cursor: '0' });
    t.strictSame(await one.deliveries(), []);
    const kept = await one.delivery(delivery.id);
    t.strictSame([kept.event, kept.event_id, kept.attempts.length, kept.status], [null, null, 1, 'succeeded']);

    await happen(ann);
    const cursors = [begin.cursor, of_type.cursor].map((cursor) => encodeURIComponent(cursor ?? ''));
    for (const path of [`/events?after=${cursors[0]}`, `/events?after=${cursors[1]}&type=account.updated`]) {
      const { items } = await ann.ask<Events>('GET', path);
      t.strictSame(
        items.map(({ type }) => type),
        ['account.updated'],
        'an old cursor goes on with the oldest',
      );
    }
    await stands(one, 'succeeded');
    await pass(ann, LIMITS.attempt_kept_ms - LIMITS.event_kept_ms);
    t.equal(await ann.says('GET', `/endpoints/${one.id}/deliveries/${delivery.id}`), '404 NOT_FOUND', 'after 91 days');
    t.equal((await one.read()).status, 'active');
  });
});
