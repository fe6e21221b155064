import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import t from 'tap';
import { openAuthority } from '../../certs/authority.js';
import { storageProblem } from '../../src/engine/store/storage_problem.js';
import { TestRedis } from '../fixtures/redis.js';
import { TestSpool } from '../fixtures/spool.js';
import { tempFolder } from '../fixtures/temp_folder.js';

t.test('a start says why Redis does not let it in, first of all', async (t) => {
  const redis = await new TestRedis().start({ port: true });
  t.teardown(() => redis.stop());
  await (await redis.connect()).config('SET', 'requirepass', 'sesame');
  const at = new URL(redis.url as string);
  const start = (login: string) => TestSpool.start({ REDIS_URL: `redis://${login}@${at.host}` });
  await t.rejects(start(':wrong'), { message: /^The server can't start: WRONGPASS: / });
  await t.rejects(start('nobody:sesame'), { message: /^The server can't start: WRONGPASS: / });
});

t.test('a start says that it does not trust the certificate of Redis, first of all', async (t) => {
  const authority = await openAuthority(tempFolder(t), Date.now());
  const { certificate_pem, private_key_pem } = await authority.issueListenerCertificate({
    names: ['localhost', '127.0.0.1'],
    now_ms: Date.now(),
  });
  const server = createServer({ cert: certificate_pem, key: private_key_pem }).listen(0, '127.0.0.1');
  server.on('tlsClientError', () => {});
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const starting = TestSpool.start({ REDIS_URL: `rediss://localhost:${port}` });
  await t.rejects(starting, { message: /^The server can't start: certificate: .*NODE_EXTRA_CA_CERTS/ });
});

t.test('what errors of Redis mean', async (t) => {
  const error = (message: string, code?: string) =>
    Object.assign(new Error(message), code === undefined ? {} : { code });
  const rows: [error: unknown, says: RegExp | null][] = [
    [error('NOAUTH Authentication required.'), /^NOAUTH: Redis does not let us in: Authentication required\./],
    [error('NOPERM this user has no permissions'), /^NOPERM: /],
    [error('self-signed certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT'), /^certificate: .*self-signed/],
    [error("does not match certificate's altnames", 'ERR_TLS_CERT_ALTNAME_INVALID'), /^certificate: /],
    [error('OOM command not allowed'), /^Redis takes no writes: OOM/],
    [error('LOADING Redis is loading'), /^Redis is not ready: LOADING/],
    [error('connect ECONNREFUSED 127.0.0.1:1', 'ECONNREFUSED'), /^Redis does not answer: /],
    [error('x is not a function'), null],
    ['no error', null],
  ];
  for (const [given, says] of rows) {
    const problem = storageProblem(given);
    if (says === null) t.equal(problem, null);
    else t.match(problem, says);
  }
});
