import t from 'tap';
import { TestSpool } from '../../fixtures/spool.js';

type View = { client_id: string; name: string; client_secret?: string; secrets: { until: string | null }[] };
type Page = { items: View[]; cursor: string | null };

const FIRST_PARTY = ['svc-web', 'svc-ios', 'svc-mac', 'svc-agent', 'svc-app'];

t.test('clients as staff see them', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const { operator } = spool;
  const ask = <T = View>(method: string, path: string, body?: unknown) => operator.ask<T>(method, path, body);
  const make = (name: string, more: Record<string, unknown> = {}) =>
    ask('POST', '/ops/clients', { name, redirect_uris: ['https://a.test/cb'], ...more });

  await t.test('C-015 our own come first, then the newest, over any number of pages', async (t) => {
    const made: string[] = [];
    for (let count = 0; count < 12; count++) {
      made.unshift((await make(`client ${count}`)).client_id);
      if (count % 3 > 0) await operator.advanceClock(1); // some at the same moment
    }
    for (const limit of [1, 2, 5, 7, 100]) {
      const seen: string[] = [];
      let cursor: string | null = null;
      for (let pages = 0; pages < 30; pages++) {
        const page: Page = await ask('GET', `/ops/clients?limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`);
        if (page.items.length > limit) t.fail('too many on a page');
        seen.push(...page.items.map(({ client_id }) => client_id));
        cursor = page.cursor;
        if (cursor === null) break;
      }
      t.same(seen.slice(0, 5), FIRST_PARTY, `limit ${limit}`);
      t.same([...seen.slice(5)].sort(), [...made].sort(), `limit ${limit}: each once`);
    }
  });

  await t.test('C-014 one is made and shown; its secret but once', async (t) => {
    const made = await make('Spool Partner', { confidential: true, scopes: ['turns:read', 'turns:read'] });
    const { client_secret, ...view } = made;
    t.match(client_secret, /^[A-Za-z0-9_-]{43}$/);
    t.match(view, {
      name: 'Spool Partner',
      party: 'third',
      origin: 'staff',
      redirect_uris: ['https://a.test/cb'],
      scopes: ['turns:read'],
      token_endpoint_auth_method: 'client_secret_basic',
      native: false,
      disabled: false,
      disabled_at: null,
      last_used_at: null,
      secrets: [{ until: null }],
    });
    t.same(await ask('GET', `/ops/clients/${made.client_id}`), view);
    const turned = await ask('POST', `/ops/clients/${made.client_id}/secret`);
    t.not(turned.client_secret, client_secret);
    t.match(turned.secrets, [{ until: null }, { until: /Z$/ }]);
    const at_once = await ask('POST', `/ops/clients/${made.client_id}/secret`, { at_once: true });
    t.same(at_once.secrets, [{ until: null }]);
    t.match(await ask('POST', `/ops/clients/${made.client_id}/disable`), { disabled: true, disabled_at: /Z$/ });
    t.match(await ask('POST', `/ops/clients/${made.client_id}/enable`), { disabled: false, disabled_at: null });
  });

  await t.test('what is refused', async (t) => {
    const good = { name: 'x', redirect_uris: ['https://a.test/'] };
    const rows: [string, string, unknown, number, string][] = [
      ['GET', '/ops/clients/nobody', undefined, 404, ''],
      ['GET', '/ops/clients/01a1fc1f-3906-7ef9-8d69-69000000004d', undefined, 404, ''],
      ['POST', '/ops/clients/nobody/secret', {}, 404, ''],
      ['POST', '/ops/clients/nobody/disable', undefined, 404, ''],
      ['POST', '/ops/clients/svc-ios/secret', {}, 409, ''],
      ['POST', '/ops/clients/svc-app/secret', { at_once: 'yes' }, 400, 'at_once'],
      ['POST', '/ops/clients', { ...good, name: '' }, 400, 'name'],
      ['POST', '/ops/clients', { ...good, redirect_uris: [] }, 400, 'redirect_uris'],
      ['POST', '/ops/clients', { ...good, redirect_uris: ['http://a.test/'] }, 400, 'redirect_uris.0'],
      ['POST', '/ops/clients', { ...good, scopes: ['workspace:read'] }, 400, 'scopes.0'],
      ['POST', '/ops/clients', { ...good, scopes: ['bogus'] }, 400, 'scopes.0'],
      ['POST', '/ops/clients', { ...good, confidental: true }, 400, ''],
      ['GET', '/ops/clients?cursor=x', undefined, 400, 'cursor'],
      ['GET', '/ops/clients?limit=0', undefined, 400, 'limit'],
    ];
    for (const [method, path, body, status, field] of rows) {
      const answer = await operator.send(method, path, body);
      t.equal(answer.status, status, `${method} ${path}`);
      const { error } = JSON.parse(answer.body.toString());
      if (status === 400) t.equal(error.details[0].path, field, `${method} ${path}: ${error.message}`);
    }
  });
});
