import t from 'tap';
import { table } from '../../../tools/cli/table.js';
import { runCli as run } from '../../fixtures/cli.js';
import { TestSpool } from '../../fixtures/spool.js';
import { tempFolder } from '../../fixtures/temp_folder.js';

t.test('columns are as wide as their longest cell', async (t) => {
  t.same(table([]), []);
  t.same(
    table([
      ['a', 'b'],
      ['ccc', ''],
      ['😀', 'd'],
    ]),
    ['a    b', 'ccc', '😀    d'],
  );
});

t.test('spool clients', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const env = { OPS_URL: `http://127.0.0.1:${spool.server.ports.operator}`, DATA_DIR: spool.folder };
  const cli = (...args: string[]) => run(['clients', ...args], env);

  await t.test('C-015 list: a table for people, JSON for programs', async (t) => {
    const { code, out, errors } = await cli('list');
    t.same([code, errors], [0, '']);
    const lines = out.split('\n');
    t.match(lines[0], /^CLIENT ID +NAME +FROM +KIND +LAST USED +STATE$/);
    t.match(lines[4], /^svc-agent +Spool Agent +file +confidential +never +enabled$/);
    t.equal(lines[1]?.indexOf('Spool'), lines[5]?.indexOf('Spool'), 'aligned');
    const page = JSON.parse((await cli('list', '--limit', '2', '--json')).out);
    t.same(
      page.items.map(({ client_id }: { client_id: string }) => client_id),
      ['svc-web', 'svc-ios'],
    );
    t.match((await cli('list', '--limit', '2')).out, `There are more: --cursor ${page.cursor}`);
    t.match((await cli('list', '--cursor', page.cursor)).out.split('\n')[1], /^svc-mac/);
  });

  await t.test('C-014 C-016 a client is made, gets another secret, is disabled and enabled', async (t) => {
    const uris = ['--redirect-uri', 'https://a.test/cb', '--redirect-uri', 'com.example.app:/cb'];
    const made = await cli('create', '--name', 'Acme', ...uris, '--scope', 'turns:read audio:read', '--confidential');
    t.same([made.code, made.errors], [0, '']);
    const client_id = /^client id +(\S+)$/m.exec(made.out)?.[1] ?? '';
    const secret = /^new secret +(\S{43})$/m.exec(made.out)?.[1] ?? '';
    t.match(made.out, /shown this once/);
    t.match(made.out, /^redirect URIs +https:\/\/a\.test\/cb\n +com\.example\.app:\/cb$/m);
    t.match(made.out, /^scopes +turns:read audio:read$/m);
    const { clients } = spool.server.services;
    t.ok(await clients.authenticate({ client_id, secret }));
    const shown = await cli('show', client_id);
    t.notMatch(shown.out, new RegExp(secret));
    t.match(shown.out, /^secrets +good$/m);
    const turned = JSON.parse((await cli('rotate-secret', client_id, '--at-once', '--json')).out);
    t.equal(await clients.authenticate({ client_id, secret }), null);
    t.ok(await clients.authenticate({ client_id, secret: turned.client_secret }));
    t.match((await cli('rotate-secret', client_id)).out, /^secrets +good\n +good until 20\S+Z$/m);
    t.match((await cli('disable', client_id)).out, /^state +disabled since /m);
    t.match((await cli('enable', client_id)).out, /^state +enabled$/m);
    const plain = JSON.parse((await cli('create', '--name', 'B', ...uris, '--json')).out);
    t.equal(plain.token_endpoint_auth_method, 'none');
    t.notOk('client_secret' in plain);
  });

  await t.test('what the server refuses is 1, with field and rule', async (t) => {
    const rows: [string[], RegExp][] = [
      [['show', 'nobody'], /404 NOT_FOUND: There is no such client/],
      [['rotate-secret', 'svc-web'], /409 CONFLICT: .*no secret/],
      [['create', '--name', 'x', '--redirect-uri', 'http://a.test'], /redirect_uris\.0: must be https/],
      [['create', '--name', ' ', '--redirect-uri', 'https://a.test'], /name: must be 1 to 100/],
      [['list', '--limit', '101'], /limit: must be a whole number from 1 to 100/],
      [['show', '../actors'], /404/],
    ];
    for (const [args, says] of rows) {
      const { code, out, errors } = await cli(...args);
      t.same([code, out], [1, ''], args.join(' '));
      t.match(errors, says);
      t.notMatch(errors, / at .*\.js/, 'no stack');
    }
  });

  await t.test('what is not understood is 2, with help', async (t) => {
    const rows: [string[], RegExp][] = [
      [[], /Usage: spool/],
      [['bogus'], /unknown command 'bogus'/],
      [['clients'], /rotate-secret \[options\] <CLIENT_ID>/],
      [['clients', 'bogus'], /unknown command 'bogus'/],
      [['clients', 'show'], /missing required argument 'CLIENT_ID'/],
      [['clients', 'show', 'a', 'b'], /too many arguments/],
      [['clients', 'list', '--bogus'], /--bogus/],
      [['clients', 'list', '--limit'], /limit/],
      [['clients', 'create', '--name', 'x'], /required option '--redirect-uri <URI>' not specified/],
    ];
    for (const [args, says] of rows) {
      const { code, out, errors } = await run(args, env);
      t.same([code, out], [2, ''], args.join(' '));
      t.match(errors, says);
    }
    for (const args of [
      ['--help'],
      ['help'],
      ['help', 'clients'],
      ['clients', '--help'],
      ['clients', 'create', '--help'],
    ]) {
      const { code, out, errors } = await run(args, {});
      t.same([code, errors], [0, ''], args.join(' '));
      t.match(out, /^Usage: spool .*clients/s);
    }
  });

  await t.test('a server that can not be reached, or does not know us', async (t) => {
    const elsewhere = tempFolder(t);
    const rows: [Record<string, string>, number, RegExp][] = [
      [{ ...env, OPS_URL: 'http://127.0.0.1:1' }, 1, /could not be reached \(ECONNREFUSED\)/],
      [{ ...env, OPS_TOKEN: 'x'.repeat(32) }, 1, /401 UNAUTHORIZED/],
      [{ ...env, DATA_DIR: elsewhere }, 1, /operator token is not in .*ops_token/],
      [{ ...env, OPS_URL: 'ftp://x' }, 2, /OPS_URL must be an http address/],
      [{ ...env, OPS_PORT: 'x' }, 2, /OPS_PORT/],
    ];
    for (const [other, wanted, says] of rows) {
      const { code, errors } = await run(['clients', 'list'], other);
      t.equal(code, wanted, String(says));
      t.match(errors, says);
    }
  });
});
