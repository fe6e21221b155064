import { readFileSync } from 'node:fs';
import t from 'tap';
import { TestAccount } from '../fixtures/account.js';
import { LocalProgram } from '../fixtures/listening.js';
import { ConsumerFolder } from '../fixtures/packed_kit.js';
import { TestSpool } from '../fixtures/spool.js';
import { tempFolder } from '../fixtures/temp_folder.js';
import { until } from '../fixtures/until.js';

const EMAIL = 'ann@cli.test';
const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));

t.test('the packed command line runs without the repository', async (t) => {
  const [consumer, spool] = await Promise.all([ConsumerFolder.of('cli', tempFolder(t)), TestSpool.start()]);
  t.teardown(() => spool.end());
  const { ports } = spool.server;
  const operator = { OPS_URL: `http://127.0.0.1:${ports.operator}`, OPS_TOKEN: spool.server.services.ops_token };
  const spoolCommand = (args: string[], env: Record<string, string> = {}) =>
    consumer.run('node_modules/.bin/spool', args, env);

  t.equal(
    await spoolCommand(['--version']),
    `spool ${version}\n`,
    'kits/cli/package.json has the version of the server',
  );
  t.match(await spoolCommand(['--help']), /accounts[\s\S]*content[\s\S]*watch[\s\S]*notes[\s\S]*listen[\s\S]*demo/);
  for (const shell of ['bash', 'zsh', 'fish'])
    t.match(await spoolCommand(['completion', shell]), /listen[\s\S]*device-server/, shell);
  t.match(await spoolCommand(['content', 'status'], operator), /transcribed by +nobody/);
  t.match(JSON.parse(await spoolCommand(['devices', 'add', '--kind', 'shared', '--out', 'one', '--json'], operator)), {
    device_id: /-/,
  });
  t.match(readFileSync(`${consumer.folder}/one.key.pem`, 'utf8'), 'PRIVATE KEY');
  await t.rejects(
    spoolCommand(['server', 'check'], { ...operator, OPS_TOKEN: 'x'.repeat(32) }),
    /ended with 1[\s\S]*401/,
  );

  await t.test('E-013 F-024 listen forwards, with the URL of the server alone', async (t) => {
    const program = await new LocalProgram().open();
    t.teardown(() => program.away());
    const ann = await TestAccount.open(spool, EMAIL);
    const body = { name: 'listen', permissions: ['turns:read'], expires_at: null };
    const { value } = await ann.ask<{ value: string }>('POST', '/me/tokens', body);
    const args = ['listen', '--server', spool.base_url, '--forward', program.url];
    const listening = consumer.startBin('spool', args, { SPOOL_TOKEN: value });
    await until('it listens', () => /forwarding all events/.test(listening.output));
    await ann.ask('PATCH', '/me', { name: 'Ann' });
    await until('the event', () => program.got.length > 0);
    t.match(JSON.parse(program.got[0]?.body as string), { type: 'account.updated' });
    t.match(program.got[0]?.headers, { 'webhook-signature': /^v1,/ });
    listening.signal('SIGTERM');
    t.equal(await listening.exited, 0, listening.output);
  });

  await t.test('demo records into a server that is named, and starts none', async (t) => {
    const where = ['--server', spool.base_url, '--device-server', spool.device_url];
    t.match(await spoolCommand(['demo', ...where, '--chunk-seconds', '2'], operator), /came back as it was recorded/);
    const nowhere = { PORT: '1', DEVICE_PORT: '1', OPS_PORT: '1' };
    await t.rejects(spoolCommand(['demo'], nowhere), /there is none here to start. Name one with --server/);
    await t.rejects(
      spoolCommand(['demo', '--server', 'x'], operator),
      /ended with 2[\s\S]*--server must be an address/,
    );
    await t.rejects(spoolCommand(['demo', '--week', ...where], operator), /ended with 2/);
  });
});
