import t from 'tap';
import { requestOf } from '../../../../kits/typescript/src/typed_call.js';

t.test('a call is made of its name, its path, its query and its body', async (t) => {
  t.same(requestOf('GET /me'), { method: 'GET', path: '/me', body: undefined });
  t.same(requestOf('GET /events', { query: { limit: 5, after: 'a b&c', type: undefined } }), {
    ...{ method: 'GET', path: '/events?limit=5&after=a+b%26c', body: undefined },
  });
  t.same(
    requestOf('PUT /ops/accounts/{account}/entitlements/{name}', {
      path: { account: 'ann/../x@example.com', name: 'audio.access' },
      body: { enabled: true },
    }),
    {
      method: 'PUT',
      path: '/ops/accounts/ann%2F..%2Fx%40example.com/entitlements/audio.access',
      body: { enabled: true },
    },
  );
  t.throws(() => requestOf('GET /sources/{id}'), /needs id/);
});
