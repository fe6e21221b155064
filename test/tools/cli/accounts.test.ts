import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { TestAccount } from '../../fixtures/account.js';
import { runCli } from '../../fixtures/cli.js';
import { TestSpool } from '../../fixtures/spool.js';
import { linesIn, manifestFaults, unzip } from '../../fixtures/zip.js';

const DAY_MS = 24 * 3_600_000;

t.test('spool accounts, spool workspaces', async (t) => {
  const spool = await TestSpool.start();
  t.teardown(() => spool.end());
  const env = { OPS_URL: `http://127.0.0.1:${spool.server.ports.operator}`, DATA_DIR: spool.folder };
  const cli = (...args: string[]) => runCli(args, env);
  const ann = await TestAccount.open(spool, 'ann@x.test', { sharing: false });

  await t.test('D-053 D-055 D-058 staff switches', async (t) => {
    t.match(await cli('accounts', 'enable', ann.email, 'workspace.sharing'), {
      code: 0,
      out: 'workspace.sharing is on for ann@x.test.\n',
    });
    t.match(await ann.ask('GET', '/me'), { sharing_enabled: true });
    const shown = await cli('accounts', 'show', ann.id);
    t.match(shown.out, /^email +ann@x\.test$/m);
    t.match(shown.out, /^status +active$/m);
    t.match(shown.out, /^workspace\.sharing +on$/m);
    t.match(shown.out, /^developer\.tools +off$/m);
    await cli('accounts', 'disable', ann.email, 'workspace.sharing');
    t.match(await ann.ask('GET', '/me'), { sharing_enabled: false });
    const wrong = await cli('accounts', 'enable', ann.email, 'everything');
    t.match(wrong, { code: 2, errors: /ENTITLEMENT must be one of developer\.tools/ });
    t.match(await cli('accounts', 'show', 'nobody@x.test'), { code: 1, errors: /NOT_FOUND/ });
  });

  await t.test('K-128 all of an account as an archive, which staff save and nobody keeps', async (t) => {
    const file = join(spool.folder, 'out.zip');
    const saved = await cli('accounts', 'export', ann.email, '--audio', '--out', file);
    t.match(saved, { code: 0, out: /out\.zip holds \d+\.\d MB\.\n$/ });
    const files = await unzip(readFileSync(file));
    t.same(manifestFaults(files), []);
    t.match(linesIn(files.get('account.ndjson')), [{ id: ann.id }]);
    t.match(await cli('accounts', 'export', ann.email, '--out', file), { code: 1, errors: /file already exists/ });
    t.same(manifestFaults(await unzip(readFileSync(file))), [], 'it stays as it was');
    const { actors } = spool.server.services;
    t.match(await actors.exports(ann.id).list({ by: 'staff' }), { exports: [] });
    const none = join(spool.folder, 'none.zip');
    const refused = await cli('accounts', 'export', 'nobody@x.test', '--out', none);
    t.match(refused, { code: 1, errors: /NOT_FOUND/ });
    t.notOk(existsSync(none));
  });

  await t.test('E-029 a workspace is deleted by staff', async (t) => {
    await ann.entitle('workspace.sharing', true);
    const { id } = await ann.workspace('Team');
    t.match(await cli('workspaces', 'delete', id), { code: 0, out: 'Deleted.\n' });
    t.equal(await ann.says('GET', `/workspaces/${id}`), '404 NOT_FOUND');
    t.match(await cli('workspaces', 'delete', id), { code: 1, errors: /NOT_FOUND/ });
  });

  await t.test('D-020 what becomes of an account that is deleted', async (t) => {
    t.match(await cli('accounts', 'erasures'), { code: 0, out: 'No account is being erased.\n' });
    await ann.ask('DELETE', '/me');
    t.match(await cli('accounts', 'export', ann.email, '--out', join(spool.folder, 'no.zip')), {
      ...{ code: 1, errors: /CONFLICT/ },
    });
    t.match((await cli('accounts', 'show', ann.email)).out, /^status +deleted, to be erased at \d{4}-/m);
    await spool.operator.advanceClock(7 * DAY_MS);
    t.match((await cli('accounts', 'show', ann.email)).out, /^status +erased$/m);
    t.match(await cli('accounts', 'enable', ann.email, 'developer.tools'), { code: 1, errors: /CONFLICT/ });
  });
});
