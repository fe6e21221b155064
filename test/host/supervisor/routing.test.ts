import { randomBytes } from 'node:crypto';
import { SignJWT } from 'jose';
import t from 'tap';
import { makeId, partitionOfId } from '../../../src/domain/ids.js';
import { SERVER_OPTIONS } from '../../../src/edge/http/server_options.js';
import { openServerKeys } from '../../../src/engine/secrets/server_keys.js';
import { deriveToken, makeSecret, randomSeed } from '../../../src/engine/secrets/tokens.js';
import { homeOfRequest } from '../../../src/host/supervisor/request_head.js';
import { tempFolder } from '../../fixtures/temp_folder.js';

t.test('the head of a request leads to the partition of its credential', async (t) => {
  const keys = await openServerKeys(tempFolder(t));
  const request = (...headers: string[]) =>
    Buffer.from(['GET /me HTTP/1.1', 'Host: x', ...headers, '', ''].join('\r\n'), 'latin1');
  for (const partition of [0, 1, 127, 128, 254, 255]) {
    const id = makeId({ partition, now_ms: 1_767_225_600_000, random: randomBytes(5) });
    const of = (kind: 'app_access' | 'browser_session' | 'auth_session') =>
      deriveToken(keys, kind, { id, counter: 3, ...randomSeed(keys) });
    const jwt = await new SignJWT({ sub: id, scope: 'x' }).setProtectedHeader({ alg: 'HS256' }).sign(randomBytes(32));
    const found = { partition: partitionOfId(id) };
    t.same(homeOfRequest(request(`Authorization: Bearer ${of('app_access')}`)), found);
    t.same(
      homeOfRequest(request(`authorization:\tbearer ${makeSecret(keys, 'personal_access_token', id).text}`)),
      found,
    );
    t.same(homeOfRequest(request(`Authorization: Bearer ${jwt}`)), found);
    t.same(homeOfRequest(request(`Cookie: a=b; __Host-spool_session=${of('browser_session')}; c=d`)), found);
    t.same(
      homeOfRequest(
        Buffer.from(`GET /oauth/continue?auth_session=${of('auth_session')}&x=1 HTTP/1.1\r\nHost: x\r\n\r\n`),
      ),
      found,
    );
  }
});

t.test('a head that says nothing leads nowhere, one that is not all there is waited for', async (t) => {
  const nowhere = { partition: null };
  const rows: [string, ReturnType<typeof homeOfRequest>][] = [
    ['', 'more'],
    ['GE', 'more'],
    ['GET /me HT', 'more'],
    ['GET /me HTTP/1.1\r\nAuthorization: Bearer sps_x\r\n', 'more'],
    ['GET /me HTTP/1.1\r\nHost: x\r\n\r\n', nowhere],
    ['GET /me HTTP/1.1\nHost: x\n\n', nowhere],
    ['POST /x HTTP/1.1\r\nAuthorization: Basic eDp5\r\n\r\nsps_', nowhere],
    ['GET /me HTTP/1.1\r\nAuthorization: Bearer sps_short\r\n\r\n', nowhere],
    ['GET /me HTTP/1.1\r\nAuthorization: Bearer a.b.c\r\n\r\n', nowhere],
    ['GET /me HTTP/2.0\r\n', nowhere],
    ['\x16\x03\x01\x02\x00\x01\x00', nowhere],
    ['hello there\r\n', nowhere],
    ['hello', nowhere],
    [`GET /${'x'.repeat(SERVER_OPTIONS.maxHeaderSize)}`, nowhere],
    [`GET / HTTP/1.1\r\nX: ${'x'.repeat(SERVER_OPTIONS.maxHeaderSize)}`, nowhere],
  ];
  for (const [text, home] of rows)
    t.same(homeOfRequest(Buffer.from(text, 'latin1')), home, JSON.stringify(text.slice(0, 60)));
});

t.test(
  'a head that comes byte by byte leads where it would at once, and is not read again for each of them',
  async (t) => {
    const lines = 'x: y\r\n'.repeat(1_000);
    for (const text of [
      `GET /me HTTP/1.1\r\n${lines}\r\n`,
      `GET /me HTTP/1.1\n${lines.replaceAll('\r', '')}\nmore`,
      `GET /${'x'.repeat(8_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      `GET /me HTTP/1.1\r\n${'\n'}`,
      'hello there, this is no request\r\n',
      `GET / HTTP/1.1\r\nX: ${'x'.repeat(SERVER_OPTIONS.maxHeaderSize)}`,
    ]) {
      const whole = Buffer.from(text, 'latin1');
      let [home, at, read] = [homeOfRequest(Buffer.alloc(0)), 0, 0];
      while (home === 'more' && at < whole.length) {
        at += 1;
        const bytes = whole.subarray(0, at);
        bytes.toString = (encoding, from = 0, to = bytes.length) => {
          read += Math.min(to, bytes.length) - from;
          return Buffer.prototype.toString.call(bytes, encoding, from, to);
        };
        home = homeOfRequest(bytes, at - 1);
      }
      t.same(home, homeOfRequest(whole), JSON.stringify(text.slice(0, 40)));
      t.ok(read < 10 * whole.length + 500, `${read} bytes were read of ${whole.length}`);
    }
  },
);
