import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { ollamaVersion } from '../../src/host/local_models.js';

async function serving(t: Test, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

t.test('K-189 an Ollama on this machine is asked once for its version', async (t) => {
  const asked: string[] = [];
  const url = await serving(t, ({ method, url: path }, reply) => {
    asked.push(`${method} ${path}`);
    reply.end('{"version":"0.9.2"}');
  });
  t.equal(await ollamaVersion(url), '0.9.2');
  t.same(asked, ['GET /api/version']);
});

t.test('K-189 whatever else listens there is no Ollama, and delays no start', async (t) => {
  const answers: [string, RequestListener][] = [
    ['says nothing', () => {}],
    ['says no JSON', (_, reply) => void reply.end('hello')],
    ['says something else', (_, reply) => void reply.end('{"version":7}')],
    ['says a long version', (_, reply) => void reply.end(`{"version":"1${'0'.repeat(90)}"}`)],
    ['fails', (_, reply) => void reply.writeHead(500).end('{"version":"0.9.2"}')],
    ['leads elsewhere', (_, reply) => void reply.writeHead(302, { Location: '/other' }).end()],
  ];
  for (const [title, answer] of answers) t.equal(await ollamaVersion(await serving(t, answer)), null, title);
  t.equal(await ollamaVersion('http://127.0.0.1:1'), null, 'nothing listens');
});
