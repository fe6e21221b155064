import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { SignedIn } from '../../src/client/app_client.js';
import { TestSpool } from '../fixtures/spool.js';

t.test('no token, code or claim that was issued rests in Redis', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const secrets: Record<string, string> = {};
  const app = spool.client();
  const email = 'secrets@x.test';
  const session = await app.signIn(email, async () => {
    secrets.code = await spool.readCode(email);
    return secrets.code;
  });
  const renewed = await app.ask<SignedIn>('POST', '/auth/refresh', { refresh_token: session.refresh_token });
  for (const [name, { access_token, refresh_token }] of Object.entries({ first: session, renewed })) {
    secrets[`${name} access`] = access_token;
    secrets[`${name} refresh`] = refresh_token;
  }
  const { claim } = await app.ask<{ claim: string }>('POST', '/devices/claims', { kind: 'owner' });
  secrets.claim = claim;
  const { device } = await spool.device();
  await device.ask('POST', '/device/claims/redeem', { claim });

  const made = { name: 'client', redirect_uris: ['https://a.test/'], confidential: true };
  const { client_secret } = await spool.operator.ask<{ client_secret: string }>('POST', '/ops/clients', made);
  secrets['client secret'] = client_secret;

  const folder = join(spool.folder, 'redis');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.aof'));
  const stored = Buffer.concat(files.map((name) => readFileSync(join(folder, name))));
  t.ok(stored.includes(email), 'what is no secret is found there: the search works');
  for (const [name, secret] of Object.entries(secrets)) {
    if (name === 'code') {
      t.notMatch(stored.toString('latin1'), new RegExp(`(?<![0-9.])${secret}(?![0-9])`), name);
      continue;
    }
    t.notOk(stored.includes(secret), name);
    const [prefix = '', body = ''] = [secret.slice(0, 4), secret.slice(4)];
    const bytes = Buffer.from(body, 'base64url');
    t.notOk(stored.includes(bytes.subarray(16)), `${name}, as the bytes behind ${prefix}`);
    t.notOk(stored.includes(bytes.subarray(-16)), `${name}, its end`);
  }
});
