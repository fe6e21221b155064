import { execFileSync } from 'node:child_process';
import t from 'tap';
import { encodeStored } from '../../../src/engine/store/codec.js';
import { NO_VERSION } from '../../../src/engine/store/entity_version.js';
import { runCli } from '../../fixtures/cli.js';
import { TestSpool } from '../../fixtures/spool.js';

t.test('spool actors', async (t) => {
  const spool = await TestSpool.start();
  t.teardown(() => spool.end());
  const env = { OPS_URL: `http://127.0.0.1:${spool.server.ports.operator}`, DATA_DIR: spool.folder };
  const cli = (...args: string[]) => runCli(args, env);
  const { app, session } = await spool.signIn('ann@x.test');
  const { id } = session.user;

  t.match(await cli('actors', 'list', '--limit', '5'), { code: 0, out: /^account +1 +0 +0$/m });
  t.match(await cli('actors', 'list', '--limit', 'many'), { code: 1, errors: /limit/ });
  t.match(await cli('actors', 'quarantined'), { code: 0, out: 'None.\n' });

  const { store, runtime } = spool.server.services;
  const place = runtime.locate({ kind: 'account', id });
  const [stored] = await store.load([place]);
  const spoilt = Buffer.from('spoilt');
  const commit = { place, commit_id: 'ab'.repeat(12), expected: stored ?? NO_VERSION, mode: 'put' as const };
  await store.commit({ ...commit, snapshot: spoilt, now_ms: Date.now(), fences: [], effects: [] });
  await store.addDeadLetter(7, 'outbox:1', encodeStored({ to: { kind: 'account', id }, message: { type: 'nothing' } }));
  runtime.invalidateCache();
  t.equal((await app.send('GET', '/me')).status, 500);
  const found = await cli('actors', 'quarantined');
  t.equal(found.code, 1, 'a script sees it by the exit code');
  t.match(found.out, new RegExp(`^quarantined +account +${id} +\\S`, 'm'));
  t.match(found.out, /^dead letter +7 +outbox:1 +nothing to account [0-9a-f-]{36}$/m);
  t.match(await cli('actors', 'retry', 'account', id), { code: 0 });
  t.match(await cli('actors', 'retry', 'account', id), { code: 1, errors: /NOT_FOUND/ });
  t.match(await cli('actors', 'retry-dead-letter', '7', 'outbox:2'), { code: 1, errors: /NOT_FOUND/ });
  t.match(await cli('actors', 'retry-dead-letter', 'seven', 'outbox:1'), { code: 1, errors: /partition/ });
});

t.test('a shell completes the words of spool', async (t) => {
  const { out } = await runCli(['completion', 'bash'], {});
  const completed = (...typed: string[]) =>
    execFileSync('bash', [
      '-c',
      `${out}\nCOMP_WORDS=(spool "$@") COMP_CWORD=$#; _spool; echo "\${COMPREPLY[@]}"`,
      'x',
      ...typed,
    ])
      .toString()
      .trim();
  t.match(completed(''), /^accounts workspaces .* data models import watch notes listen demo$/);
  t.equal(completed('listen', '--for'), '--forward');
  t.equal(completed('demo', '--server', 'x', '--dev'), '--devices --device-server');
  t.equal(completed('da'), 'data');
  t.equal(completed('data', ''), 'backup verify restore');
  t.equal(completed('accounts', 'show', 'ann@x.test', '--h'), '--help');
  t.equal(completed('data', 'backup', 'folder', '--j'), '--json');
  t.match((await runCli(['completion', 'zsh'], {})).out, /bashcompinit/);
  t.match((await runCli(['completion', 'fish'], {})).out, /-l cursor -r -d/);
  t.match(await runCli(['completion', 'tcsh'], {}), { code: 2 });
});
