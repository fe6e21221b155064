import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { partitionOfId } from '../../../src/domain/ids.js';
import { keysOf } from '../../../src/engine/store/partitions.js';
import { TestAccount } from '../../fixtures/account.js';
import { Listening, LocalProgram, listenEnv } from '../../fixtures/listening.js';
import { ownRedisOf } from '../../fixtures/redis_content.js';
import { TestSpool } from '../../fixtures/spool.js';
import { tempFolder } from '../../fixtures/temp_folder.js';
import { until } from '../../fixtures/until.js';

t.jobs = 3; // they mostly wait

const EMAIL = 'ann@example.org';
const FROM_INBOX = ['--email', EMAIL, '--code-from-inbox'];

/** A port that a server keeps over a restart. */
async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

async function rename(account: TestAccount, names: string[]): Promise<void> {
  for (const name of names) await account.ask('PATCH', '/me', { name });
}

const feedOf = async (account: TestAccount) =>
  (await account.ask<{ items: { id: string }[] }>('GET', '/events?after=0&limit=100')).items;

t.test('E-013 E-016 F-022 F-023 F-024 what happens comes to the local program, signed and in order', async (t) => {
  const spool = await TestSpool.start({ PORT: await freePort() });
  const program = await new LocalProgram().open();
  const ann = await TestAccount.open(spool, EMAIL);
  await rename(ann, ['before anybody listens']);
  const before = (await feedOf(ann)).length;
  const listening = new Listening(['--forward', program.url, '--print-json', ...FROM_INBOX], listenEnv(spool));
  t.teardown(async () => {
    listening.signal('SIGKILL');
    await program.away();
    await spool.end();
  });
  const secret = (await listening.says(/signing secret: (whsec_\S+)/))[1] as string;
  await listening.says(/forwarding all events to/);
  await spool.readCode(EMAIL); // the one that was read there

  /** Of those that happened while the program was away. */
  const lost: string[] = [];
  const came = async (count: number) => {
    await until(`${count} events`, () => program.got.length >= count);
    const wanted = (await feedOf(ann)).slice(before).filter(({ id }) => !lost.includes(id));
    t.same(
      program.got.map(({ body }) => JSON.parse(body)),
      wanted,
    );
  };

  await rename(ann, ['a', 'b', 'c', 'd', 'e']);
  await came(5);
  for (const { headers, body } of program.got) {
    t.ok(new Webhook(secret).verify(body, headers as Record<string, string>));
    t.equal(headers['content-type'], 'application/json');
  }
  t.equal(new Set(program.got.map(({ headers }) => headers['webhook-id'])).size, 5, 'an id of its own each');

  await program.away();
  await rename(ann, ['nobody there']);
  lost.push((await feedOf(ann)).at(-1)?.id as string);
  await listening.says(/failed connection refused/);
  await program.open();
  await rename(ann, ['f']);
  await came(6);

  program.status = 307;
  await rename(ann, ['g']);
  await listening.says(/failed 307 .*not followed/);
  program.status = 204;
  await came(7);

  await spool.close();
  await listening.says(/could not be reached \(ECONN\w+\); trying again/);
  await spool.open();
  await rename(ann, ['h', 'i']);
  await came(9);
  t.match(listening.out, /the server is back/);

  await spool.operator.advanceClock(2 * 3_600_000);
  ann.app.access_token = (await spool.signIn(EMAIL)).app.access_token;
  await rename(ann, ['its access token has run out']);
  await came(10);

  // As after another database was put in this one's place: its logs have other names.
  const redis = await ownRedisOf(spool.folder);
  await redis.hset(keysOf(partitionOfId(ann.id)).logHead(ann.id), 'name', 'another');
  redis.disconnect();
  await listening.says(/does not know the position any more/);
  await rename(ann, ['j']);
  await came(11);

  listening.signal('SIGTERM');
  t.equal(await listening.exited, 0);
  t.match(listening.out, /forwarded 10, failed 2, in/);
  t.match(listening.out, /^\{"id":.*"account.updated"/m, 'bodies were asked for');
  t.notMatch(listening.out, '\x1b', 'no cursor movements outside of a terminal');
  t.notMatch(listening.out, / at .*\.js:/, 'no stack');
});

t.test('E-011 a token from the environment, one type, and a secret of the own', async (t) => {
  const spool = await TestSpool.start();
  const program = await new LocalProgram().open();
  t.teardown(async () => {
    await program.away();
    await spool.end();
  });
  const ann = await TestAccount.open(spool, EMAIL);
  const make = (permissions: string[]) =>
    ann.ask<{ value: string }>('POST', '/me/tokens', { name: 'listen', permissions, expires_at: null });
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const { value } = await make(['turns:read']);
  const env = { ...listenEnv(spool), SPOOL_TOKEN: value, SPOOL_WEBHOOK_SECRET: secret };
  const type = 'personal_access_token.created';
  const listening = new Listening(['--forward', program.url, '--type', type], env);
  await listening.says(/forwarding events of type/);
  t.notMatch(listening.out, secret.slice(8), 'a secret that was given is not shown');
  await rename(ann, ['not asked for']);
  const other = await make(['account:manage']);
  await until('the event', () => program.got.length > 0);
  t.match(JSON.parse(program.got[0]?.body as string), { type });
  t.ok(new Webhook(secret).verify(program.got[0]?.body as string, program.got[0]?.headers as Record<string, string>));
  listening.signal('SIGINT');
  t.equal(await listening.exited, 0);
  t.match(listening.out, /forwarded 1, failed 0/);

  const ends = async (changed: Record<string, string>, args: string[] = []) => {
    const ended = new Listening(['--forward', program.url, ...args], { ...env, ...changed });
    const code = await ended.exited;
    t.notMatch(ended.out, / at .*\.js:/, 'no stack');
    return `${code} ${ended.out.trim().split('\n').at(-1)}`;
  };
  t.match(await ends({ SPOOL_TOKEN: other.value }), /^1 The server refused: 403 FORBIDDEN/);
  t.match(await ends({ SPOOL_TOKEN: `${value}x` }), /^1 The server does not accept the token in SPOOL_TOKEN/);
  t.match(await ends({}, ['--server', 'http://localhost:1']), /^1 Nothing to listen to.*Is --server right/);
  t.match(await ends({ SPOOL_TOKEN: '' }), /^2 There is no terminal to ask on/);
});

t.test('K-449 with --state it goes on where it ended, and tries an event until it is taken or refused', async (t) => {
  const spool = await TestSpool.start();
  const program = await new LocalProgram().open();
  const state = join(tempFolder(t), 'position');
  const ann = await TestAccount.open(spool, EMAIL);
  const { value } = await ann.ask<{ value: string }>('POST', '/me/tokens', {
    ...{ name: 'listen', permissions: ['turns:read'], expires_at: null },
  });
  const env = { ...listenEnv(spool), SPOOL_TOKEN: value };
  const listen = () => {
    const listening = new Listening(['--forward', program.url, '--state', state], env);
    t.teardown(() => listening.signal('SIGKILL'));
    return listening;
  };
  t.teardown(async () => {
    await program.away();
    await spool.end();
  });
  const came = () => program.got.map(({ body }) => JSON.parse(body).id as string);
  const first = listen();
  await first.says(/forwarding all events to/);
  await until('a position', () => existsSync(state));
  const before = (await feedOf(ann)).length;
  const happened = async () => (await feedOf(ann)).slice(before).map(({ id }) => id);
  await program.away();
  await rename(ann, ['a', 'b']);
  await first.says(/failed connection refused/);
  await program.open();
  await until('both', () => came().length === 2);
  t.same(came(), await happened(), 'in their order, once the program is there');
  await rename(ann, ['c']);
  await until('the third', () => came().length === 3);
  first.signal('SIGTERM');
  t.equal(await first.exited, 0);

  await rename(ann, ['d']);
  program.status = 503;
  const second = listen();
  await second.says(/failed 503/);
  second.signal('SIGTERM');
  t.equal(await second.exited, 0);
  program.status = 400;
  const third = listen();
  await third.says(/failed 400/);
  program.status = 204;
  await rename(ann, ['e']);
  await third.says(/forwarded 204/);
  const all = await happened();
  t.same([...new Set(came())], all, 'none is left out, also of those that happened meanwhile');
  t.equal(came().at(-1), all.at(-1), 'what was refused is not sent again');
  third.signal('SIGTERM');
  t.equal(await third.exited, 0);

  const broken = new Listening(['--forward', program.url, '--state', join(state, 'x')], env);
  t.equal(await broken.exited, 1);
  t.match(broken.out, /--state: \S+ can not be used \(ENOTDIR\)\./);
});

const has_script = spawnSync('script', ['--version']).status === 0;

t.test('on a terminal: a code that is typed, a table that moves, and keys', { skip: !has_script }, async (t) => {
  const spool = await TestSpool.start();
  const program = await new LocalProgram().open();
  const ann = await TestAccount.open(spool, EMAIL);
  const listening = new Listening(
    ['--forward', program.url],
    { ...listenEnv(spool), TERM: 'xterm' },
    { terminal: true },
  );
  t.teardown(async () => {
    listening.signal('SIGKILL');
    await program.away();
    await spool.end();
  });
  await listening.says(/email: /);
  listening.type(`${EMAIL}\n`);
  await listening.says(/A code was mailed/);
  await listening.says(/code: /);
  listening.type('12345\n');
  await listening.says(/not right/);
  listening.type(`${await spool.readCode(EMAIL)}\n`);
  await listening.says(/0 forwarded/);
  listening.type('r');
  await listening.says(/nothing to send again yet/);
  await rename(ann, ['a']);
  await listening.says(/204 No Content/);
  program.status = 500;
  listening.type('r');
  await listening.says(/1 failed/);
  const [first, second] = program.got;
  t.equal(first?.headers['webhook-id'], second?.headers['webhook-id'], 'the same delivery');
  t.equal(first?.body, second?.body);
  listening.type('q');
  t.equal(await listening.exited, 0);
  t.match(listening.out, '\x1b[32m204 No Content');
  t.match(listening.out, '\x1b[31m500 Internal Serv');
  t.match(listening.out, /forwarded 1, failed 1, in/);
});
