import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DeviceClient } from '../../../kits/typescript/src/device_client.js';
import { runCli } from '../../fixtures/cli.js';
import { newKeyRequest } from '../../fixtures/signing_request.js';
import { TestSpool } from '../../fixtures/spool.js';
import { tempFolder } from '../../fixtures/temp_folder.js';

t.test('spool devices', async (t) => {
  const spool = await TestSpool.start({ DEVICE_PROXIES: '127.0.0.1' });
  t.teardown(() => spool.end());
  const folder = tempFolder(t);
  const env = { OPS_URL: `http://127.0.0.1:${spool.server.ports.operator}`, DATA_DIR: spool.folder };
  const cli = (...args: string[]) => runCli(args, env);
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const binding = async (private_key_pem: string, name: string) => {
    const files = { certificate_pem: read(`${name}.cert.pem`), ca_pem: read(`${name}.ca.pem`), private_key_pem };
    const device = new DeviceClient(spool.device_url, { ...files, ca_pem: files.ca_pem });
    const { body } = await device.send('GET', '/device/binding').finally(() => device.close());
    const { error } = JSON.parse(body.toString()) as { error: { code: string; reason?: string } };
    return error.reason ?? error.code;
  };

  await t.test('H-001 a device is provisioned into files and revoked', async (t) => {
    const made = await cli('devices', 'add', '--kind', 'shared', '--out', join(folder, 'one'), '--json');
    t.equal(made.code, 0, made.errors);
    const { device_id, not_after } = JSON.parse(made.out) as { device_id: string; not_after: string };
    t.ok(Date.parse(not_after) > Date.now());
    t.notMatch(made.out, /PRIVATE KEY/, 'the key is in its file alone');
    t.equal(statSync(join(folder, 'one.key.pem')).mode & 0o777, 0o600);
    t.equal(await binding(read('one.key.pem'), 'one'), 'DEVICE_UNBOUND');
    t.match(await cli('devices', 'add', '--kind', 'shared', '--out', join(folder, 'one')), {
      code: 2,
      errors: /one\.cert\.pem is there already/,
    });
    t.match(await cli('devices', 'revoke', device_id), { code: 0, out: 'Revoked.\n' });
    t.equal(await binding(read('one.key.pem'), 'one'), 'revoked');
    t.match(await cli('devices', 'revoke', 'nobody'), { code: 1, errors: /NOT_FOUND/ });
    t.match(await cli('devices', 'add', '--kind', 'other', '--out', join(folder, 'x')), {
      code: 1,
      errors: /personal or shared/,
    });
  });

  await t.test('H-001 a device keeps its key when it sends a request', async (t) => {
    const { csr_pem, private_key_pem } = newKeyRequest();
    const csr = join(folder, 'two.csr');
    writeFileSync(csr, csr_pem);
    const made = await cli('devices', 'add', '--kind', 'personal', '--csr', csr, '--out', join(folder, 'two'));
    t.match(made, { code: 0, out: /^Device [0-9a-f-]{36}, until \S+\.\n/ });
    t.throws(() => read('two.key.pem'), { code: 'ENOENT' });
    t.equal(await binding(private_key_pem, 'two'), 'DEVICE_UNBOUND');
    t.match(await cli('devices', 'add', '--kind', 'personal', '--csr', 'nowhere', '--out', join(folder, 'y')), {
      code: 2,
      errors: /--csr/,
    });
  });

  await t.test('H-002 a proxy gets a certificate, and loses it', async (t) => {
    const made = await cli('devices', 'proxy-certificate', '--out', join(folder, 'proxy'), '--json');
    const { fingerprint } = JSON.parse(made.out) as { fingerprint: string };
    t.match(fingerprint, /^[0-9a-f]{64}$/);
    t.equal(await binding(read('proxy.key.pem'), 'proxy'), 'missing', 'it is a proxy that passes nothing on');
    t.match(await cli('devices', 'proxy-revoke', fingerprint), { code: 0, out: 'Revoked.\n' });
    t.equal(await binding(read('proxy.key.pem'), 'proxy'), 'revoked');
    t.match(await cli('devices', 'proxy-revoke', '0'), { code: 1, errors: /NOT_FOUND/ });
  });
});
