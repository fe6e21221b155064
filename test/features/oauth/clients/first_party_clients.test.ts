import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { CURRENT_SCOPES, WORKSPACE_SCOPES } from '../../../../src/domain/scopes.js';
import { openServerKeys } from '../../../../src/engine/secrets/server_keys.js';
import { isClientSecret } from '../../../../src/features/oauth/clients/client_secrets.js';
import { openFirstPartyClients } from '../../../../src/features/oauth/clients/first_party_clients.js';
import { tempFolder } from '../../../fixtures/temp_folder.js';

type Entries = Record<string, Record<string, unknown>>;

/** A folder with keys in it, where a server starts for the first time, or again. */
async function place(t: Test, base_url: string | null = null) {
  const folder = tempFolder(t);
  const keys = await openServerKeys(join(folder, 'keys'));
  const file = join(folder, 'sub', 'clients.json');
  const secrets_file = join(folder, 'sub', 'first_party_secrets.json');
  const open = () => openFirstPartyClients({ first_party_clients: file, base_url }, keys);
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
  const change = (changed: (entries: Entries) => void) => {
    const entries: Entries = read(file);
    changed(entries);
    writeFileSync(file, JSON.stringify(entries));
  };
  return { keys, file, secrets_file, open, read, change };
}

t.test('C-015 C-016 the five clients are there from the first start', async (t) => {
  const { keys, file, secrets_file, open, read } = await place(t);
  const found = await open();
  t.same(
    found.map(({ client }) => [client.client_id, client.party, client.native, client.token_endpoint_auth_method]),
    [
      ['svc-web', 'first', false, 'none'],
      ['svc-ios', 'first', true, 'none'],
      ['svc-mac', 'first', true, 'none'],
      ['svc-agent', 'first', false, 'client_secret_basic'],
      ['svc-app', 'first', false, 'client_secret_basic'],
    ],
  );
  for (const { client } of found) {
    const with_workspaces = !['svc-mac', 'svc-agent'].includes(client.client_id);
    t.same(
      client.scopes,
      CURRENT_SCOPES.filter((scope) => with_workspaces || !WORKSPACE_SCOPES.includes(scope)),
    );
    t.same(client.default_scopes, client.scopes);
    t.equal(client.redirect_uris.length > 0, !client.native, client.client_id);
  }
  for (const path of [file, secrets_file]) t.equal(statSync(path).mode & 0o777, 0o600, path);
  const secrets = read(secrets_file);
  t.same(Object.keys(secrets), ['svc-agent', 'svc-app']);
  for (const { client, secret_hashes } of found) {
    const { client_id } = client;
    const secret = secrets[client_id];
    t.equal(secret_hashes.length, secret === undefined ? 0 : 1, client_id);
    if (secret === undefined) continue;
    t.match(secret, /^[A-Za-z0-9_-]{43}$/);
    t.ok(isClientSecret(keys, { client_id, secret }, secret_hashes[0] ?? ''));
    t.notOk(isClientSecret(keys, { client_id: 'svc-web', secret }, secret_hashes[0] ?? ''), "another's hash");
    t.notOk(readFileSync(file, 'utf8').includes(secret), 'only its hash is in the file');
  }
  t.same(await open(), found, 'a second start finds the same');
});

t.test('C-015 processes that start at once agree, also when one was killed in between', async (t) => {
  const { open, file, secrets_file } = await place(t);
  const [one, ...others] = await Promise.all([open(), open(), open(), open()]);
  for (const other of others) t.same(other, one);
  // Killed after the secrets were written: the file is made of what is there.
  rmSync(file);
  t.same(await open(), one);
  t.ok(existsSync(secrets_file));
  writeFileSync(file, '{}');
  await t.rejects(open(), /svc-web/, 'a file that is there is never written over');
});

t.test('C-016 outside development no secret exists, and nobody is sent to a loopback address', async (t) => {
  const { open, secrets_file, read, file } = await place(t, 'https://api.test');
  const found = await open();
  t.notOk(existsSync(secrets_file));
  for (const { client, secret_hashes } of found) t.same([client.redirect_uris, secret_hashes], [[], []]);
  t.same(read(file)['svc-agent'].secret_hashes, [], 'where they are to go shows');
  t.notOk('secret_hashes' in read(file)['svc-web']);
  for (const base_url of ['http://localhost:8080', 'http://127.0.0.1', 'http://[::1]:1']) {
    const local = await place(t, base_url);
    await local.open();
    t.ok(existsSync(local.secrets_file), base_url);
  }
});

t.test('C-016 an operator may write the hash of a secret by hand', async (t) => {
  const { keys, open, change } = await place(t, 'https://api.test');
  await open();
  const secret = 'a-secret-that-an-operator-has-chosen-1';
  const hash = `sha256:${createHash('sha256').update(secret).digest('hex')}`;
  change((entries) => {
    Object.assign(entries['svc-app'] ?? {}, { secret_hashes: [hash], redirect_uris: ['https://app.test/cb'] });
  });
  const app = (await open()).find(({ client }) => client.client_id === 'svc-app');
  t.same(app?.client.redirect_uris, ['https://app.test/cb']);
  t.ok(isClientSecret(keys, { client_id: 'svc-app', secret }, app?.secret_hashes[0] ?? ''));
  t.notOk(isClientSecret(keys, { client_id: 'svc-app', secret: `${secret}x` }, app?.secret_hashes[0] ?? ''));
});

t.test('C-017 C-110 what is wrong with the file is named by field and rule', async (t) => {
  const set =
    (client_id: string, ...fields: [string, unknown][]) =>
    (entries: Entries) => {
      Object.assign(entries[client_id] ?? {}, Object.fromEntries(fields));
    };
  const rows: [(entries: Entries) => void, RegExp][] = [
    [(entries) => delete entries['svc-ios'], /svc-ios: /],
    [(entries) => Object.assign(entries, { 'svc-tv': {} }), /svc-tv/],
    [set('svc-web', ['client_secret', 'x']), /svc-web: .*client_secret/],
    [set('svc-web', ['name', '']), /svc-web\.name: must be 1 to/],
    [
      set('svc-web', ['redirect_uris', ['https://a.test/', 'http://a.test/']]),
      /svc-web\.redirect_uris\[1\]: must be https/,
    ],
    [set('svc-app', ['redirect_uris', 'https://a.test/']), /svc-app\.redirect_uris: must be a list/],
    [set('svc-ios', ['redirect_uris', ['https://a.test/']]), /svc-ios\.redirect_uris: must be empty/],
    [set('svc-mac', ['scopes', ['turns:read', 'workspace:read']]), /svc-mac\.scopes\[1\]: is a workspace scope/],
    [set('svc-agent', ['scopes', ['workspace:manage']]), /svc-agent\.scopes\[0\]: is a workspace scope/],
    [set('svc-web', ['scopes', ['contacts:read']]), /svc-web\.scopes\[0\]: must be a current scope name/],
    [set('svc-web', ['scopes', []]), /svc-web\.scopes: must name at least one/],
    [set('svc-web', ['scopes', ['turns:read', 'turns:read']]), /svc-web\.scopes: must not name a scope twice/],
    [set('svc-web', ['secret_hashes', []]), /svc-web\.secret_hashes: must be left out/],
    [set('svc-app', ['secret_hashes', ['hunter2']]), /svc-app\.secret_hashes\[0\]: must be sha256:/],
    [
      set('svc-app', ['secret_hashes', [`keyed:0badcafe:${'a'.repeat(43)}`]]),
      /svc-app\.secret_hashes\[0\]: was made under server key 0badcafe/,
    ],
  ];
  for (const [change, says] of rows) {
    const at = await place(t);
    await at.open();
    at.change(change);
    await t.rejects(at.open(), { name: 'WrongFirstPartyClients', message: says }, String(says));
  }
  const at = await place(t);
  await at.open();
  writeFileSync(at.file, '{"svc-app": hunter2');
  const error = await at.open().then(
    () => null,
    (reason: Error) => reason,
  );
  t.match(error?.message, /is not valid JSON/);
  t.notMatch(error?.message, /hunter2/, 'the file may hold secrets');
});
