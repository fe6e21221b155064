import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { DeviceClient, sha256Of } from '../../kits/typescript/src/device_client.js';
import { CBOR_ENCODING } from '../../tools/cbor_encoding.js';
import { TestAccount } from '../fixtures/account.js';
import { freePort } from '../fixtures/free_port.js';
import { formOf } from '../fixtures/oauth.js';
import { record } from '../fixtures/recording.js';
import { TestSpool } from '../fixtures/spool.js';
import { tempFolder } from '../fixtures/temp_folder.js';
import { said, TestRecording, TestTranscriber } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

/** The proxy of docs/running.md: a real nginx with a certificate, before a server that is known by the proxy's name. */

const NAME = 'recordings.example';
const GUIDE = fileURLToPath(new URL('../../../docs/running.md', import.meta.url));
const LARGE_BYTES = 20 * 1024 * 1024;
const CODES_SENT = 3;
const has_nginx = spawnSync('nginx', ['-v']).status === 0;

t.test('behind a proxy that ends TLS', { skip: has_nginx ? false : 'nginx is not installed' }, async (t) => {
  const spool = await TestSpool.start({
    ...{ BASE_URL: `https://${NAME}`, TRUSTED_PROXIES: '127.0.0.1', WEBHOOK_BLOCK_PRIVATE: '0' },
    ...{ RATE_CODES_SENT: String(CODES_SENT), CHUNK_WORKER: '1', CONTENT_WORKER: '0' },
  });
  t.teardown(() => spool.end());
  const site = await Site.start(t, spool.server.ports.public);
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const authorization = { authorization: `Bearer ${ann.app.access_token}` };

  await t.test('addresses in answers are those of the proxy', async (t) => {
    const found = await site.ask('GET', '/.well-known/oauth-authorization-server');
    t.match(JSON.parse(found.text), { issuer: `https://${NAME}`, token_endpoint: `https://${NAME}/oauth/token` });
    const start = await site.ask('GET', '/');
    t.equal(start.status, 200);
    t.match(start.text, `https://${NAME}/mcp`);
  });

  await t.test('a person signs in: cookies are Secure, and redirects stay at the name', async (t) => {
    const email = 'bob@x.test';
    const query = new URLSearchParams({
      ...{ response_type: 'code', client_id: 'svc-web', redirect_uri: `https://${NAME}/app/callback`, state: 'here' },
      ...{ code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' },
    });
    const visitor = site.visitor('127.0.0.5');
    await visitor.open(`/oauth/authorize?${query}`);
    await visitor.press('email', { email });
    const location = await visitor.press('code', { code: await spool.readCode(email) });
    t.match(location, `https://${NAME}/app/callback?code=`);
    t.ok(visitor.set_cookies.length > 0);
    for (const cookie of visitor.set_cookies) t.match(cookie, /^__Host-.*; Secure/);
  });

  await t.test('limits count who asks the proxy, whatever they say of themselves', async (t) => {
    const ask = async (from: string, headers: Record<string, string> = {}) => {
      const body = Buffer.from(JSON.stringify({ email: `${randomUUID()}@x.test` }));
      const answer = await site.ask('POST', '/auth/otp', {
        ...{ from, body, headers: { 'content-type': 'application/json', ...headers } },
      });
      return answer.status;
    };
    for (let n = 0; n < CODES_SENT; n++) t.equal(await ask('127.0.0.2'), 200);
    t.equal(await ask('127.0.0.2'), 429);
    t.equal(await ask('127.0.0.2', { 'x-forwarded-for': '192.0.2.7' }), 429, 'an address that it made up');
    t.equal(await ask('127.0.0.3'), 200, 'another network is another one');
  });

  await t.test('a large upload comes through to the byte, up and down', async (t) => {
    const source = await ann.ask<{ id: string }>('POST', '/sources', { name: 'Large' });
    const stream = await ann.ask<{ id: string }>('POST', '/audio/streams', {
      ...{ source_id: source.id, captured_at: '2026-11-01T10:00:00Z' },
    });
    const bytes = randomBytes(LARGE_BYTES);
    const path = `/audio/streams/${stream.id}/chunks/intents`;
    const { upload_path } = await ann.ask<{ upload_path: string }>('POST', path, {
      ...{ source_chunk_ref: randomUUID(), sequence: 0, source_start_ms: 0, publication_start_ms: 0 },
      ...{ source_end_ms: 1_000, codec: 'opus', container: 'ogg', size_bytes: bytes.length, sha256: sha256Of(bytes) },
    });
    const headers = { ...authorization, 'content-type': 'application/octet-stream' };
    const uploaded = await site.ask('PUT', upload_path, { body: bytes, headers });
    t.equal(uploaded.status, 200, uploaded.text.slice(0, 500));
    const back = await site.ask('GET', upload_path, { headers: authorization });
    t.ok(back.bytes.equals(bytes));
  });

  await t.test('live text comes while it is written', async () => {
    const recording = await TestRecording.begin(ann);
    await recording.add(60_000);
    const answer = await site.open('GET', `/audio/streams/${recording.id}/live`, { headers: authorization });
    let text = '';
    answer.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    const worker = new TestTranscriber(spool);
    await worker.publish(await worker.claim(recording.id), [said('Good morning.', [500, 2_000])]);
    await until('the turn is there, while the answer goes on', () => text.includes('Good morning.'));
    answer.destroy();
  });

  await t.test('a device shows its certificate to the server through a proxy that passes TCP on', async (t) => {
    const passing = createServer((socket) => {
      const on = connect(spool.server.ports.device, '127.0.0.1');
      for (const [from, to] of [
        [socket, on],
        [on, socket],
      ] as const)
        from.on('error', () => to.destroy()).pipe(to);
    });
    await new Promise<void>((resolve) => passing.listen(0, '127.0.0.1', resolve));
    t.teardown(() => passing.close());
    const credentials = await spool.operator.provision('personal');
    const url = `https://localhost:${(passing.address() as AddressInfo).port}`;
    const device = new DeviceClient(url, credentials, { encoding: CBOR_ENCODING });
    t.teardown(() => device.close());
    const { claim } = await ann.app.call('POST /devices/claims', { body: { kind: 'owner' } });
    const { binding_epoch } = await device.call('POST /device/claims/redeem', { body: { claim } });
    const { chunk_id, bytes } = await record(device, { epoch: binding_epoch });
    const kept = await site.ask('GET', `/audio/chunks/${chunk_id}/content`, { headers: authorization });
    t.ok(kept.bytes.equals(bytes));
  });
});

type Asked = { body?: Uint8Array; headers?: Record<string, string>; from?: string };

/** The proxy, asked by its name. `from`: the address of loopback that asks. */
class Site {
  private constructor(
    readonly port: number,
    readonly ca: Buffer,
  ) {}

  static async start(t: Test, server_port: number): Promise<Site> {
    const folder = tempFolder(t);
    const [key, cert] = [join(folder, 'site.key'), join(folder, 'site.pem')];
    const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
    const of = ['-subj', `/CN=${NAME}`, '-addext', `subjectAltName=DNS:${NAME}`, '-keyout', key, '-out', cert];
    execFileSync('openssl', [...made, ...of], { stdio: 'ignore' });
    const port = await freePort();
    const path = join(folder, 'nginx.conf');
    writeFileSync(path, configOf({ folder, key, cert, port, server_port, dead_port: await freePort() }));
    const nginx = spawn('nginx', ['-p', folder, '-c', path], { stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    nginx.stderr.setEncoding('utf8').on('data', (piece: string) => {
      errors += piece;
    });
    const ended = new Promise((resolve) => nginx.once('close', resolve));
    t.teardown(() => {
      nginx.kill();
      return ended;
    });
    const site = new Site(port, readFileSync(cert));
    await until('nginx serves', async () => {
      if (nginx.exitCode !== null) throw new Error(errors);
      return (await site.ask('GET', '/').catch(() => null))?.status === 200;
    });
    return site;
  }

  open(method: string, path: string, { body, headers = {}, from = '127.0.0.4' }: Asked = {}): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': body.length };
      const sent = request(
        {
          ...{ host: '127.0.0.1', port: this.port, servername: NAME, ca: this.ca, localAddress: from },
          ...{ method, path, agent: false, headers: { host: NAME, ...length, ...headers } },
        },
        resolve,
      );
      sent.on('error', reject).end(body);
    });
  }

  async ask(method: string, path: string, asked: Asked = {}) {
    const answer = await this.open(method, path, asked);
    const pieces: Buffer[] = [];
    for await (const piece of answer) pieces.push(piece as Buffer);
    const bytes = Buffer.concat(pieces);
    return { status: answer.statusCode ?? 0, headers: answer.headers, bytes, text: bytes.toString() };
  }

  visitor(from: string): Visitor {
    return new Visitor(this, from);
  }
}

/** Somebody with a browser: keeps cookies, follows redirects that stay at the name, and sends what a form holds. */
class Visitor {
  readonly set_cookies: string[] = [];
  readonly #cookies = new Map<string, string>();
  #html = '';

  constructor(
    readonly site: Site,
    readonly from: string,
  ) {}

  open(path: string): Promise<string> {
    return this.#follow('GET', path);
  }

  /** The address at which it ends, which is the app's where the sign-in is over. */
  press(action: string, typed: Record<string, string>): Promise<string> {
    const { target, fields } = formOf({ html: this.#html }, action);
    return this.#follow('POST', target, { ...fields, ...typed });
  }

  async #follow(method: string, path: string, form?: Record<string, string>): Promise<string> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await this.site.ask(method, path, {
      from: this.from,
      headers: {
        ...(cookie !== '' && { cookie }),
        ...(form !== undefined && { origin: `https://${NAME}`, 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form !== undefined && { body: Buffer.from(new URLSearchParams(form).toString()) }),
    });
    this.#keepCookies(answer.headers);
    this.#html = answer.text;
    const { location } = answer.headers;
    if (location === undefined) return path;
    const to = new URL(location, `https://${NAME}${path}`);
    if (to.origin !== `https://${NAME}` || to.pathname === '/app/callback') return to.href;
    return this.#follow('GET', to.pathname + to.search);
  }

  #keepCookies(headers: IncomingHttpHeaders): void {
    for (const cookie of headers['set-cookie'] ?? []) {
      this.set_cookies.push(cookie);
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      this.#cookies.set(name, value);
    }
  }
}

/** The guide's own block, with the addresses and files of this test. The first of its machines does not serve. */
function configOf(
  of: Record<'folder' | 'key' | 'cert', string> & Record<'port' | 'server_port' | 'dead_port', number>,
) {
  const [, block = ''] = /^```nginx\n(.*?)^```/ms.exec(readFileSync(GUIDE, 'utf8')) ?? [];
  const http = block
    .replace('10.0.0.11:8080', `127.0.0.1:${of.dead_port}`)
    .replace('10.0.0.12:8080', `127.0.0.1:${of.server_port}`)
    .replace('listen 443 ssl', `listen 127.0.0.1:${of.port} ssl`)
    .replace('/etc/ssl/recordings.example.pem', of.cert)
    .replace('/etc/ssl/private/recordings.example.key', of.key);
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  for (const name of folders) mkdirSync(join(of.folder, name));
  return [
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    `daemon off; pid ${of.folder}/nginx.pid; error_log stderr;`,
    'events {}',
    `http { access_log off; ${folders.map((name) => `${name}_temp_path ${of.folder}/${name};`).join(' ')}`,
    http,
    '}',
  ].join('\n');
}
