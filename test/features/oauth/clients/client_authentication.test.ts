import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { LIMITS } from '../../../../src/domain/limits.js';
import { isOauthError, OAUTH_ERRORS } from '../../../../src/domain/oauth_errors.js';
import { refuse } from '../../../../src/domain/refusals.js';
import { actorsOf } from '../../../../src/engine/runtime/actors.js';
import type { Runtime } from '../../../../src/engine/runtime/runtime.js';
import { StoreUnavailable } from '../../../../src/engine/store/store.js';
import { authenticateClient, authenticateOwnServer } from '../../../../src/features/oauth/client_authentication.js';
import { Clients, isRedirectOf } from '../../../../src/features/oauth/clients/clients.js';
import type { RegisteredClients } from '../../../../src/features/oauth/clients/registered_clients.js';
import { OauthApp } from '../../../fixtures/oauth.js';
import { TestSpool } from '../../../fixtures/spool.js';

type Body = { client_id?: string; client_secret?: string };
type Maker = { client_id: string; client_secret?: string };

const base64 = (text: string) => Buffer.from(text).toString('base64');
const basic = (client_id: string, secret: string) => `Basic ${base64(`${client_id}:${secret}`)}`;

t.test('which client a request comes from', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const { services } = spool.server;
  const secrets = JSON.parse(readFileSync(join(spool.folder, 'first_party_secrets.json'), 'utf8'));
  const make = (confidential: boolean) =>
    spool.operator.ask<Maker>('POST', '/ops/clients', {
      name: 'third',
      redirect_uris: ['https://a.test/'],
      confidential,
    });
  const third = await make(true);
  const third_secret = third.client_secret ?? '';
  const third_public = await make(false);

  /** The client's id, or the error's code. */
  async function ask(authorization: string | undefined, body: Body = {}, authenticate = authenticateClient) {
    const answer = await authenticate(services, authorization, body);
    return isOauthError(answer) ? answer.error : answer.client_id;
  }
  const agent = (secret = secrets['svc-agent']) => basic('svc-agent', secret);

  await t.test('C-016 confidential clients show their secret by HTTP Basic', async (t) => {
    t.equal(await ask(agent()), 'svc-agent');
    t.equal(await ask(basic('svc-app', secrets['svc-app'])), 'svc-app');
    t.equal(await ask(basic(third.client_id, third_secret)), third.client_id);
    t.equal(await ask(basic('svc%2Dagent', secrets['svc-agent'])), 'svc-agent', 'form-encoded inside');
    const encoded = `%${third_secret.charCodeAt(0).toString(16)}${third_secret.slice(1)}`;
    t.equal(await ask(basic(third.client_id, encoded)), third.client_id, 'the secret, too');
    for (const scheme of ['basic', 'BASIC', 'Basic  ']) {
      t.equal(await ask(agent().replace('Basic', scheme)), 'svc-agent', scheme);
    }
    t.equal(await ask(agent(), { client_id: 'svc-agent' }), 'svc-agent', 'and its id once more in the body');
  });

  await t.test('C-016 anything else is invalid_client, with 401', async (t) => {
    t.equal(OAUTH_ERRORS.invalid_client, 401);
    const secret = secrets['svc-agent'];
    const rows: Record<string, [string | undefined, Body?]> = {
      'no Basic': [undefined, { client_id: 'svc-agent' }],
      'no Basic, third party': [undefined, { client_id: third.client_id }],
      'wrong secret': [agent('wrong')],
      'no secret': [agent('')],
      "another's secret": [basic('svc-app', secret)],
      'a secret and more': [agent(`${secret}x`)],
      'the secret cut off': [agent(secret.slice(0, -1))],
      unknown: [basic('svc-nobody', secret)],
      'unknown UUID': [basic('01a1fc1f-3906-7ef9-8d69-69000000004d', secret)],
      'unknown, public': [undefined, { client_id: 'svc-nobody' }],
      'unknown id of any form': [undefined, { client_id: `x${':'.repeat(500)}\u0000` }],
      'in the body': [undefined, { client_id: 'svc-agent', client_secret: secret }],
      'a public client in the body': [undefined, { client_id: 'svc-web', client_secret: 'x' }],
      'a public client by Basic, with a secret': [basic('svc-web', 'x')],
      'a public third party with a secret': [basic(third_public.client_id, 'x')],
      'a third party without its secret': [basic(third.client_id, '')],
      'a third party with a wrong secret in the body': [undefined, { client_id: third.client_id, client_secret: 'x' }],
      'a secret of nobody': [undefined, { client_secret: third_secret }],
      nobody: [undefined],
      'another scheme': [`Bearer ${secret}`],
      'no scheme': [base64(`svc-agent:${secret}`)],
      'no credentials': ['Basic'],
      'no Base64': [`Basic svc-agent:${secret}`],
      'Base64 with a space': [`Basic ${base64(`svc-agent:${secret}`)} x`],
      'Base64 without padding': [`Basic ${base64(`svc-agent:${secret}`).replace(/=+$/, '')}`],
      'Base64 of another alphabet': [`Basic ${Buffer.from(`svc-agent:${secret}?~?`).toString('base64url')}`],
      'spare bits': [
        `Basic ${base64(`svc-agent:${secret}`).replace(/(.)(=*)$/, (_, last, pad) => nextLetter(last) + pad)}`,
      ],
      'no colon': [`Basic ${base64('svc-agent')}`],
      'no name': [basic('', secret)],
      'a bad escape': [basic('svc%2agent%', secret)],
      'an escape that is no UTF-8': [basic('svc%ff', secret)],
      'bytes beyond ASCII': [basic('svc-ägent', secret)],
      'too long': [basic('svc-agent', 'x'.repeat(10_000))],
    };
    for (const [says, [header, body]] of Object.entries(rows)) t.equal(await ask(header, body), 'invalid_client', says);
  });

  await t.test('C-016 two ways at once are invalid_request', async (t) => {
    t.equal(await ask(agent(), { client_id: 'svc-web' }), 'invalid_request');
    t.equal(await ask(agent(), { client_secret: secrets['svc-agent'] }), 'invalid_request');
    t.equal(await ask(agent('wrong'), { client_id: 'svc-agent', client_secret: 'x' }), 'invalid_request');
  });

  await t.test('public clients say who they are', async (t) => {
    t.equal(await ask(undefined, { client_id: 'svc-web' }), 'svc-web');
    t.equal(await ask(undefined, { client_id: third_public.client_id }), third_public.client_id);
    t.equal(await ask(basic('svc-web', '')), 'svc-web', 'an empty password is none');
    t.equal(
      await ask(basic(third_public.client_id, ''), { client_id: third_public.client_id }),
      third_public.client_id,
    );
    t.equal(await ask(basic(third_public.client_id, ''), { client_id: 'svc-web' }), 'invalid_request');
  });

  await t.test('C-014 a third party may show its secret in the body, however it was registered', async (t) => {
    const registered = await OauthApp.registered(spool, { token_endpoint_auth_method: 'client_secret_post' });
    const { client_id, secret } = registered;
    const client_secret = secret ?? '';
    t.equal(await ask(undefined, { client_id, client_secret }), client_id);
    t.equal(await ask(basic(client_id, client_secret)), client_id);
    t.equal(await ask(undefined, { client_id }), 'invalid_client');
    t.equal(await ask(undefined, { client_id: third.client_id, client_secret: third_secret }), third.client_id);
    t.equal(await ask(undefined, { client_id, client_secret }, authenticateOwnServer), 'invalid_client');
  });

  await t.test('what is for our own servers is for nobody else', async (t) => {
    t.equal(await ask(agent(), {}, authenticateOwnServer), 'svc-agent');
    t.equal(await ask(undefined, { client_id: 'svc-web' }, authenticateOwnServer), 'invalid_client');
    t.equal(await ask(basic(third.client_id, third_secret), {}, authenticateOwnServer), 'invalid_client');
    t.equal(await ask(agent('wrong'), {}, authenticateOwnServer), 'invalid_client');
    t.equal(await ask(undefined, {}, authenticateOwnServer), 'invalid_client');
  });

  await t.test('a disabled client is refused at once, and known again when it is enabled', async (t) => {
    for (const [client_id, header, body] of [
      ['svc-agent', agent(), {}],
      ['svc-web', undefined, { client_id: 'svc-web' }],
      [third.client_id, basic(third.client_id, third_secret), {}],
    ] as const) {
      await spool.operator.ask('POST', `/ops/clients/${client_id}/disable`);
      t.equal(await ask(header, body), 'invalid_client', client_id);
      t.equal(await services.clients.find(client_id), null);
      t.ok(await services.clients.registration(client_id), 'what it is called is still known');
      await spool.operator.ask('POST', `/ops/clients/${client_id}/enable`);
      t.equal(await ask(header, body), client_id);
    }
  });

  await t.test('C-016 rotated secrets: a day with both, or the new one at once', async (t) => {
    const rotate = (client_id: string, body?: unknown) =>
      spool.operator.ask<Maker>('POST', `/ops/clients/${client_id}/secret`, body);
    const second = (await rotate('svc-agent')).client_secret ?? '';
    t.equal(await ask(agent()), 'svc-agent', "the file's works on");
    t.equal(await ask(agent(second)), 'svc-agent');
    await spool.operator.advanceClock(LIMITS.client_secret_overlap_ms);
    t.equal(await ask(agent()), 'invalid_client');
    const last = (await rotate('svc-agent', { at_once: true })).client_secret ?? '';
    t.equal(await ask(agent(second)), 'invalid_client');
    await spool.close();
    await spool.open();
    t.match(await authenticateClient(spool.server.services, agent(last), {}), { client_id: 'svc-agent' }, 'also later');
    await t.rejects(rotate('svc-web'), /409 CONFLICT/);
  });

  await t.test('C-017 our own clients go back only to where they are registered, to the letter', async (t) => {
    const { clients } = spool.server.services;
    const web = await clients.find('svc-web');
    if (web === null) throw new Error('no svc-web');
    t.ok(isRedirectOf(web, 'http://localhost:3000/callback'));
    t.notOk(isRedirectOf(web, 'http://localhost:3001/callback'), 'not even another port');
    t.notOk(isRedirectOf(web, 'https://evil.test/'));
    t.ok(isRedirectOf({ ...web, party: 'third' }, 'http://localhost:3001/callback'));
    const callback = `${spool.server.base_url}/app/callback`;
    t.ok(isRedirectOf(web, callback), 'and to the pages that this server serves itself');
    t.notOk(isRedirectOf(web, `${callback}/more`));
    t.notOk(isRedirectOf(web, callback.replace('localhost', '127.0.0.1')), 'by the name that it knows itself by');
    const agent = await clients.find('svc-agent');
    t.notOk(agent === null || isRedirectOf(agent, callback), 'which are nobody else’s');
  });
});

t.test('trouble in storage is no verdict on a client', async (t) => {
  const AWAY = { name: 'Refused', code: 'UNAVAILABLE' };
  const spool = await TestSpool.start();
  t.teardown(() => spool.end());
  const { keys, clock, clients: good } = spool.server.services;
  const agent = await good.registration('svc-agent');
  if (agent === null) throw new Error('no svc-agent');
  const away = new Clients({
    first_party: [{ client: agent, secret_hashes: [] }],
    base_url: () => 'http://localhost:8080',
    registered: { find: () => Promise.reject(new StoreUnavailable('away')) } as unknown as RegisteredClients,
    actors: actorsOf({ ask: () => Promise.resolve(refuse('UNAVAILABLE', 'away')) } as unknown as Runtime),
    keys,
    clock,
  });
  await t.rejects(authenticateClient({ clients: away }, basic('svc-agent', 'wrong'), {}), AWAY, 'its state');
  const third = { client_id: '01a1fc1f-3906-7ef9-8d69-69000000004d' };
  await t.rejects(authenticateClient({ clients: away }, undefined, third), StoreUnavailable, 'its registration');
  await t.rejects(away.find('svc-agent'), AWAY);
});

/** The next letter of Base64: the same bytes with other spare bits. */
function nextLetter(letter: string): string {
  return String.fromCharCode(letter.charCodeAt(0) + 1);
}
