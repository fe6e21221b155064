import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openAuthority } from '../../../certs/authority.js';
import { isOauthError } from '../../../src/domain/oauth_errors.js';
import { ClientDocuments } from '../../../src/features/oauth/client_documents.js';
import { isDocumentId } from '../../../src/features/oauth/clients/document_client.js';
import { tempFolder } from '../../fixtures/temp_folder.js';
import { until } from '../../fixtures/until.js';

/** `hangs`: it is asked for in vain. */
type Served = {
  status?: number;
  type?: string;
  body: string | Buffer;
  headers?: Record<string, string>;
  hangs?: boolean;
};

/** A server of documents, by path. */
async function open(t: Test, { block_private = false } = {}) {
  const now_ms = Date.now();
  const authority = await openAuthority(join(tempFolder(t), 'authority'), now_ms);
  const own = await authority.issueListenerCertificate({ names: ['localhost', '127.0.0.1'], now_ms });
  const served = new Map<string, Served>();
  const asked: string[] = [];
  const server = createServer(
    { key: own.private_key_pem, cert: own.certificate_pem + own.ca_pem },
    ({ url = '' }, response) => {
      asked.push(url);
      const {
        status = 200,
        type = 'application/json',
        body,
        headers = {},
        hangs = false,
      } = served.get(url) ?? { status: 404, body: '' };
      if (hangs) return;
      response.writeHead(status, { 'content-type': type, ...headers }).end(body);
    },
  );
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const options = { brand_names: ['spool'], extra_ca: authority.root_pem, proxy: null, block_private };
  const documents = new ClientDocuments(options);
  t.teardown(async () => {
    await documents.close();
    server.closeAllConnections();
    server.close();
  });
  const origin = `https://localhost:${(server.address() as AddressInfo).port}`;
  /** Serves a document there, as its own but for what is changed. */
  const serve = (path: string, changed: object = {}, more: Partial<Served> = {}) => {
    const client_id = origin + path;
    const document = { client_id, client_name: 'Notes', redirect_uris: ['https://notes.example/callback'], ...changed };
    served.set(path, { body: JSON.stringify(document), ...more });
    return client_id;
  };
  return { documents, serve, origin, asked, connections: () => connections };
}

t.test('C-135 a client id that is an https address with a path leads to a document', async (t) => {
  for (const id of ['https://app.example/client', 'https://app.example/client.json?v=1', 'https://app.example:8443/c'])
    t.ok(isDocumentId(id), id);
  for (const id of [
    ...['http://app.example/client', 'https://app.example', 'https://app.example/', 'https://app.example/a/../b'],
    ...['https://app.example/c#x', 'https://me@app.example/c', 'https://APP.example/c', 'https://app.example:443/c'],
    ...['https://app.example/ c', 'HTTPS://app.example/c', `https://app.example/${'c'.repeat(500)}`, 'svc-web', ''],
  ])
    t.notOk(isDocumentId(id), id);
});

t.test('C-135 a document is read once, and says what the client is called and where it returns to', async (t) => {
  const { documents, serve, asked } = await open(t);
  const client_id = serve('/client', { token_endpoint_auth_method: 'none', logo_uri: 'https://x.example/l.png' });
  const found = await Promise.all([documents.find(client_id), documents.find(client_id)]);
  found.push(await documents.find(client_id));
  for (const client of found)
    t.match(client, {
      ...{ client_id, name: 'Notes', party: 'third', native: false, token_endpoint_auth_method: 'none' },
      redirect_uris: ['https://notes.example/callback'],
    });
  t.same(asked, ['/client']);
});

t.test('C-135 what is no document of this client is refused', async (t) => {
  const { documents, serve, asked } = await open(t);
  const padded = { padding: 'x'.repeat(20_000) };
  for (const [path, changed, more] of [
    ['/other_id', { client_id: 'https://other.example/client' }, {}],
    ['/no_id', { client_id: undefined }, {}],
    ['/no_redirects', { redirect_uris: undefined }, {}],
    ['/script', { redirect_uris: ['javascript:alert(1)'] }, {}],
    ['/brand', { client_name: 'Spool' }, {}],
    ['/secret', { client_secret: 'x' }, {}],
    ['/method', { token_endpoint_auth_method: 'client_secret_basic' }, {}],
    ['/key', { token_endpoint_auth_method: 'private_key_jwt' }, {}],
    ['/html', {}, { type: 'text/html' }],
    ['/status', {}, { status: 201 }],
    ['/long', padded, {}],
    ['/text', {}, { body: 'no JSON' }],
    ['/list', {}, { body: '[]' }],
    ['/redirect', {}, { status: 302, headers: { location: '/client' } }],
  ] as const) {
    const found = await documents.find(serve(path, changed, more));
    t.ok(isOauthError(found), path);
  }
  const before = asked.length;
  await documents.find(serve('/html'));
  t.equal(asked.length, before, 'a fault is remembered for a while');
  t.notOk(asked.includes('/client'), 'a redirect is not followed');
});

t.test('C-135 no document is read from a private address', async (t) => {
  const { documents, serve, origin, connections } = await open(t, { block_private: true });
  const named = serve('/client');
  for (const client_id of [
    named,
    named.replace('localhost', '127.0.0.1'),
    `${origin.replace('localhost', '[::1]')}/client`,
  ])
    t.match(await documents.find(client_id), { error: 'invalid_request' }, client_id);
  t.equal(connections(), 0);
});

t.test('C-135 a site whose documents hang takes no place from others', async (t) => {
  const { documents, serve, origin } = await open(t);
  const slow = Array.from({ length: 3 }, (_, n) => documents.find(serve(`/slow/${n}`, {}, { hangs: true })));
  await until('two are asked for', () => documents.pool.counts.taken === 2 && documents.pool.counts.waiting === 1);
  const other = origin.replace('localhost', '127.0.0.1');
  serve('/good', { client_id: `${other}/good` });
  t.match(await documents.find(`${other}/good`), { name: 'Notes' });
  await documents.close();
  for (const found of await Promise.all(slow)) t.ok(isOauthError(found));
});
