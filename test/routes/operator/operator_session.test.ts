import type { FastifyRequest } from 'fastify';
import t from 'tap';
import type { Services } from '../../../routes/services.js';
import { isSignedIn } from '../../../src/edge/operations/operator_session.js';
import { TestSpool } from '../../fixtures/spool.js';

const HOUR_MS = 3_600_000;

t.test('the operators’ sign-in', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const { ops_token, clock } = spool.server.services;
  const url = `http://127.0.0.1:${spool.server.ports.operator}`;
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(url + path, { headers, redirect: 'manual' });
  const post = (path: string, headers: Record<string, string>, body: string | URLSearchParams = '{}') =>
    fetch(url + path, { method: 'POST', headers, body, redirect: 'manual' });
  const own = { Origin: url };
  const signIn = (form: Record<string, string>, headers: Record<string, string> = own) =>
    post('/sign-in', headers, new URLSearchParams(form));

  await t.test(
    'without a cookie every page leads to the sign-in, which leads back to our own pages alone',
    async (t) => {
      for (const path of ['/', '/actors', '/devices', '/endpoints', '/mails', '/entity?find=a%26b']) {
        const answer = await get(path);
        t.equal(answer.status, 303, path);
        t.equal(answer.headers.get('location'), `/sign-in?to=${encodeURIComponent(path)}`);
      }
      for (const [to, leads] of [
        ['/entity?find=a%26b', '/entity?find=a%26b'],
        ['/actors', '/actors'],
        ['//evil.example/actors', '/'],
        ['https://evil.example/', '/'],
        ['/\\evil.example/actors', '/'],
        ['/ops/keys/rotate', '/'],
        ['', '/'],
      ] as const) {
        const shown = await (await get(`/sign-in?to=${encodeURIComponent(to)}`)).text();
        t.equal(/name="to" value="([^"]*)"/.exec(shown)?.[1]?.replaceAll('&amp;', '&'), leads, to);
      }
    },
  );

  const entered = await signIn({ token: ops_token, to: '/actors' });
  const set = entered.headers.get('set-cookie') ?? '';
  const cookie = set.split(';')[0] ?? '';

  await t.test('K-140 the token gives a cookie for this host, twelve hours, no script', async (t) => {
    t.equal(entered.status, 303);
    t.equal(entered.headers.get('location'), '/actors');
    t.match(set, /^spool_operator=\d+\.[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
    t.notOk(set.includes(ops_token));
    const behind_tls = await signIn({ token: ops_token }, { ...own, 'X-Forwarded-Proto': 'https' });
    t.match(behind_tls.headers.get('set-cookie'), /; Secure/);
    const page = await get('/actors', { Cookie: cookie });
    t.equal(page.status, 200);
    t.match(page.headers.get('content-security-policy'), /^default-src 'none'; script-src 'self'; style-src 'self';/);
    t.notMatch(await page.text(), /<script>|<style|style=|https?:\/\//, 'nothing inline, nothing of others');
    t.equal((await get('/sign-in', { Cookie: cookie })).headers.get('location'), '/');
  });

  await t.test('K-140 it reads, and changes something only from a page of the same origin', async (t) => {
    t.equal((await get('/ops/actors', { Cookie: cookie })).status, 200);
    t.equal((await get('/inbox', { Cookie: cookie })).status, 200);
    const retry = (headers: Record<string, string>) =>
      post(
        '/ops/quarantined/retry',
        { Cookie: cookie, 'Content-Type': 'application/json', ...headers },
        JSON.stringify({ kind: 'account', id: 'nobody' }),
      );
    for (const headers of [
      {},
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { Origin: `${url}0` },
      { Origin: `http://localhost:${spool.server.ports.public}`, 'Sec-Fetch-Site': 'same-site' },
      { Origin: url, 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'none' },
    ]) {
      t.equal((await retry(headers as Record<string, string>)).status, 403, JSON.stringify(headers));
    }
    for (const headers of [own, { 'Sec-Fetch-Site': 'same-origin' }, { ...own, 'Sec-Fetch-Site': 'same-origin' }])
      t.equal((await retry(headers as Record<string, string>)).status, 404, 'nobody of this id is quarantined');
    t.equal((await post('/sign-out', { Cookie: cookie, Origin: 'https://evil.example' }, '')).status, 403);
    t.equal((await signIn({ token: ops_token }, { Origin: 'https://evil.example' })).status, 403);
    t.equal(
      (await get('/ops/actors', { Cookie: cookie, Authorization: 'Bearer wrong' })).status,
      401,
      'a bearer counts',
    );
    t.equal((await get('/ops/actors', { Authorization: `Bearer ${ops_token}` })).status, 200);
  });

  await t.test('K-140 changed, run out, or of another token it is nothing', async (t) => {
    const [ends = '', mac = ''] = cookie.slice('spool_operator='.length).split('.');
    for (const value of [`${Number(ends) + 1}.${mac}`, `${ends}.${mac.slice(1)}`, `${ends}.`, ends, `.${mac}`, '']) {
      t.equal((await get('/ops/actors', { Cookie: `spool_operator=${value}` })).status, 401, value);
    }
    const request = { headers: { cookie } } as FastifyRequest;
    const at = (ms: number, token = ops_token) =>
      isSignedIn({ clock: { unmoved: () => ms }, ops_token: token } as unknown as Services, request);
    t.equal(at(Number(ends) - 1), true);
    t.equal(at(Number(ends)), false);
    t.equal(at(Number(ends) - 1, `${ops_token}2`), false);
    t.ok(Math.abs(Number(ends) - clock.unmoved() - 12 * HOUR_MS) < 60_000);
  });

  await t.test('K-140 signing out takes the cookie', async (t) => {
    const left = await post('/sign-out', { ...own, Cookie: cookie }, '');
    t.equal(left.status, 303);
    t.match(left.headers.get('set-cookie'), /^spool_operator=; Max-Age=0;/);
  });

  await t.test('K-139 wrong tokens are refused in words, and after ten in a minute they wait', async (t) => {
    const wrong = await signIn({ token: `${ops_token}x`, to: '/devices' });
    t.equal(wrong.status, 401);
    const shown = await wrong.text();
    t.match(shown, 'This is not the operator token.');
    t.match(shown, 'value="/devices"');
    t.notMatch(shown, ops_token);
    t.equal((await signIn({})).status, 401);
    t.equal((await signIn({ token: 'x'.repeat(2_000) })).status, 400);
    let last = wrong;
    for (let n = 0; n < 10 && last.status !== 429; n++) last = await signIn({ token: 'wrong' });
    t.equal(last.status, 429);
    t.match(last.headers.get('retry-after'), /^\d+$/);
    t.equal((await signIn({ token: ops_token })).status, 303, 'the right one does not');
    t.equal((await signIn({ token: 'wrong' })).status, 429);
    t.equal((await get('/ops/actors', { Authorization: `Bearer ${ops_token}` })).status, 200, 'programs go on');
  });
});

t.test('K-139 wrong operator tokens of programs wait after ten in a minute, the right one does not', async (t) => {
  const spool = await TestSpool.start();
  t.teardown(() => spool.end());
  const url = `http://127.0.0.1:${spool.server.ports.operator}`;
  const { ops_token } = spool.server.services;
  const ask = (token: string) => fetch(`${url}/ops/actors`, { headers: { Authorization: `Bearer ${token}` } });
  for (let n = 0; n < 20; n++) t.equal((await ask(ops_token)).status, 200, 'right ones are not counted');
  for (let n = 0; n < 20; n++) t.equal((await ask('an old one')).status, 401, 'the same one is one guess');
  for (let n = 1; n < 10; n++) t.equal((await ask(`guess ${n}`)).status, 401);
  const late = await ask('guess 10');
  t.equal(late.status, 429);
  t.match(late.headers.get('retry-after'), /^\d+$/);
  t.equal((await ask(ops_token)).status, 200);
  t.equal((await ask('guess 10')).status, 429);
  t.equal((await fetch(`${url}/healthz`)).status, 200);
});
