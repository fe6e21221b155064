import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { TestAccount } from '../fixtures/account.js';
import type { DeliveryView, MadeEndpoint, PageOf } from '../fixtures/endpoints.js';
import { Examples } from '../fixtures/examples.js';
import { freePort } from '../fixtures/free_port.js';
import { Browser } from '../fixtures/oauth.js';
import { Person } from '../fixtures/person.js';
import { type Arrived, Receiver } from '../fixtures/receiver.js';
import { TestSpool } from '../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

/*
 * What `examples/` holds, by the commands that its READMEs give, against a real server. Ports and addresses alone are
 * others than there.
 */

const ANN = 'ann@example.com';
const TITLE = 'Budget <script>';
const SAID = 'The budget is <b>late</b> & "small".';
/** What a token looks like: a JWT, or one of ours. */
const TOKEN = /eyJ[\w-]{10}|svc_(?!pat_…)\w{8}/;

t.test('the examples', async (t) => {
  const receiver = await Receiver.start();
  const settings = { RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0', ...receiver.env };
  const spool = await TestSpool.start(settings);
  t.teardown(async () => {
    await spool.end();
    await receiver.end();
  });
  const examples = new Examples(t);
  const { base_url } = spool.server;
  const ann = await TestAccount.open(spool, ANN);
  const rename = (name: string) => ann.ask('PATCH', '/me', { name });
  const mint = async (...permissions: string[]) =>
    (await ann.ask<{ value: string }>('POST', '/me/tokens', { name: 'Example', permissions })).value;
  const connectionOf = async (app: string) =>
    (await ann.ask<PageOf<{ id: string; name: string }>>('GET', '/me/connections')).items.find(
      ({ name }) => name === app,
    );
  const recording = await TestRecording.begin(ann);
  await ann.ask('PATCH', `/audio/streams/${recording.id}`, { title: TITLE });
  await recording.add(4_000);
  await recording.end();
  const transcriber = new TestTranscriber(spool);
  await transcriber.publish(await transcriber.claim(recording.id), [
    said(SAID, [0, 2_000], 'A'),
    said('Then the invoice has to wait.', [2_000, 4_000], 'B'),
  ]);

  await t.test('F-022 F-023 the receiver takes what `listen` forwards', async () => {
    const [command = ''] = examples.commandsOf('webhook-receiver');
    const port = await freePort();
    const running = examples.run(
      command
        .replace('node receiver.mjs', `PORT=${port} node receiver.mjs`)
        .replace('listen -- ', `listen -- --server ${base_url} `)
        .replace('http://localhost:3000', `http://localhost:${port}`),
      { OPS_URL: `http://127.0.0.1:${spool.server.ports.operator}`, DATA_DIR: spool.folder },
    );
    await running.prints(/listening on/);
    await running.prints(/forward/i);
    await spool.readCode(ANN); // It took this one from the inbox.
    await rename('Forwarded');
    await running.prints(new RegExp(`^account.updated ${ann.id}$`, 'm'));
    await running.end();
  });
  const [, register = '', ...receivers] = examples.commandsOf('webhook-receiver');
  for (const [at, fails] of [
    [0, ['console.log(`${event', 'if (process.env.WORK_FAILS) throw new Error("down");\n  console.log(`${event']],
    [
      1,
      [
        '    print(event["type"]',
        '    if "WORK_FAILS" in os.environ: raise RuntimeError("down")\n    print(event["type"]',
      ],
    ],
  ] as const) {
    const command = receivers[at] ?? '';
    const program = /receiver\.\w+/.exec(command)?.[0] ?? '';
    const skip = at === 1 && spawnSync('python3', ['--version']).status !== 0 ? 'python3 is not installed' : false;
    await t.test(
      `F-022 F-024 F-025 F-039 ${program} takes each delivery once, whatever happens to it`,
      { skip },
      async (t) => {
        const folder = examples.folderOf('webhook-receiver');
        const file = join(folder, program);
        const source = readFileSync(file, 'utf8');
        t.ok(source.includes(fails[0]), 'where the work is');
        writeFileSync(file, source.replace(fails[0], fails[1]));
        const registered = examples.run(
          register
            .replace('http://localhost:8080', base_url)
            .replace('https://hooks.example/spool', receiver.url(`/${program}`)),
          { SPOOL_TOKEN: await mint('endpoints:manage') },
        );
        t.equal(await registered.exited, 0, registered.output);
        const { signing_secret, endpoint } = JSON.parse(/^\{.*\}$/m.exec(registered.output)?.[0] ?? '')
          .data as MadeEndpoint;
        const port = await freePort();
        const start = async (secrets: string, env: Record<string, string> = {}) => {
          const running = examples.run(
            command.replace('whsec_…', secrets),
            { PORT: `${port}`, RECEIVER_FILE: `${program}.jsonl`, ...env },
            folder,
          );
          await running.prints(/listening on/);
          return running;
        };
        /** As a proxy that ends TLS passes it on. */
        const passOn = async ({ headers, body }: Pick<Arrived, 'headers' | 'body'>) => {
          const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
          const signed = Object.fromEntries(names.map((name) => [name, `${headers[name]}`]));
          return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers: signed, body })).status;
        };
        /** Signed with the secret of the endpoint. */
        const made = (id: string, event: object, at_ms = Date.now()) => {
          const body = JSON.stringify(event);
          const signature = new Webhook(signing_secret).sign(id, new Date(at_ms), body);
          const headers = { 'webhook-id': id, 'webhook-timestamp': `${Math.floor(at_ms / 1_000)}` };
          return { headers: { ...headers, 'webhook-signature': signature }, body };
        };
        receiver.on(`/${program}`, async (_nth, { headers }, response, body) => {
          response.writeHead(await passOn({ headers, body })).end();
        });

        const first = await start(signing_secret, { WORK_FAILS: '1' });
        await rename(program);
        const [arrived] = (await receiver.count(`/${program}`, 1)) as [Arrived];
        await until('it has succeeded', async () => {
          const { items } = await ann.ask<PageOf<DeliveryView>>('GET', `/endpoints/${endpoint.id}/deliveries`);
          return items[0]?.status === 'succeeded';
        });
        await first.prints(/down/);
        t.notMatch(first.output, /^account/m, 'answered before the work is done');
        t.equal(await passOn(arrived), 204, 'once more meanwhile');
        await first.end();

        const second = await start(`whsec_${randomBytes(32).toString('base64')},${signing_secret}`);
        await second.prints(/^account\.updated/m);
        const event = JSON.parse(arrived.body) as { sequence: string };
        const later = String(BigInt(event.sequence) + 5n);
        t.equal(await passOn(arrived), 204, 'the same once more');
        t.equal(await passOn(made('before', { ...event, sequence: '0', type: 'too.old' })), 204);
        t.equal(await passOn(made('again', { ...event, type: 'too.old' })), 204, 'the same event, of another endpoint');
        t.equal(await passOn(made('after', { ...event, sequence: later, type: 'later' })), 204);
        t.equal(await passOn({ ...arrived, body: arrived.body.replace('updated', 'deleted') }), 401);
        t.equal(await passOn(made('late', { ...event, sequence: `${later}0` }, Date.now() - 301_000)), 401);
        t.equal(await passOn({ headers: arrived.headers, body: 'x'.repeat(70_000) }), 413);
        await second.prints(/^later/m);
        t.same(second.output.match(/^(account|too|later).*$/gm), [`account.updated ${ann.id}`, `later ${ann.id}`]);
        await second.end();

        const third = await start(signing_secret);
        t.equal(await passOn(arrived), 204);
        t.equal(await passOn(made('end', { ...event, sequence: `${later}0`, type: 'end' })), 204);
        await third.prints(/^end/m);
        t.notMatch(third.output, /^(account|later)/m, 'it knows what it took before it was killed');
        await third.end();
        await ann.ask('DELETE', `/endpoints/${endpoint.id}`);
      },
    );
  }

  await t.test('C-020 C-064 C-069 the web app signs in, reads, refreshes and signs out', async (t) => {
    const [command = ''] = examples.commandsOf('oauth-app');
    const app_url = `http://localhost:${await freePort()}`;
    const running = examples.run(command, { SPOOL_URL: base_url, APP_URL: app_url });
    await running.prints(/open http/);
    t.equal(statSync(join(examples.folderOf('oauth-app'), 'client.json')).mode & 0o777, 0o600);
    const browser = new Browser(app_url);
    t.match((await browser.open('/')).html, /Sign in with Spool/);
    const begun = await browser.open('/sign-in');
    const asked = new URL(begun.location ?? '').searchParams;
    t.equal(asked.get('resource'), base_url);
    t.equal(asked.get('code_challenge_method'), 'S256');
    t.match(begun.headers['set-cookie'], [/^my_recordings=[\w-]{43}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/]);
    const cookie_before = browser.cookies.get('my_recordings');
    const back = await new Person(spool, ANN).visit(begun.location ?? '');
    const stranger = new Browser(app_url);
    t.equal((await stranger.open(back.href)).status, 400, 'in a browser that did not begin it');
    await stranger.open('/sign-in');
    t.match(await stranger.open(back.href), { status: 400, html: /was not begun here/ });
    const list = await browser.open(back.href);
    t.equal(list.url, `${app_url}/`, 'the code does not stay in the address');
    t.not(browser.cookies.get('my_recordings'), cookie_before);
    t.match(list.html, `<a href="/recordings/${recording.id}">Budget &lt;script&gt;</a> 0:04`);
    const once_more = await fetch(back, { headers: { Cookie: `my_recordings=${cookie_before}` } });
    t.match(await once_more.text(), /was not begun here/, 'it works once');

    await spool.operator.advanceClock(2 * 3_600_000);
    const transcript = await browser.open(`/recordings/${recording.id}`);
    t.match(transcript.html, 'The budget is &lt;b&gt;late&lt;/b&gt; &amp; &quot;small&quot;.');
    t.match(transcript.html, /0:02 <b>\S+<\/b>: Then the invoice/);
    t.match(transcript.headers['content-security-policy'], /default-src 'none'/);
    t.equal((await browser.open(`/recordings/${ann.id}`)).status, 404);
    t.notMatch(list.html + transcript.html, TOKEN);

    ann.app.access_token = (await spool.signIn(ANN)).app.access_token;
    t.ok(await connectionOf('My recordings'));
    const cookie = `my_recordings=${browser.cookies.get('my_recordings')}`;
    const signOut = (Origin: string) =>
      fetch(`${app_url}/sign-out`, { method: 'POST', redirect: 'manual', headers: { Cookie: cookie, Origin } });
    t.equal((await signOut('https://evil.example')).status, 403);
    t.match((await browser.open('/')).html, /Sign out/);
    t.match((await signOut(app_url)).headers.get('set-cookie'), /^my_recordings=; Max-Age=0/);
    t.match((await browser.open('/')).html, /Sign in with Spool/);
    t.equal(await connectionOf('My recordings'), undefined);

    const anew = await new Person(spool, ANN).visit((await browser.open('/sign-in')).location ?? '');
    t.match((await browser.open(anew.href)).html, /Sign out/);
    await ann.ask('DELETE', `/me/connections/${(await connectionOf('My recordings'))?.id}`);
    t.match((await browser.open(`/recordings/${recording.id}`)).html, /Sign in with Spool/, 'disconnected at Spool');
    t.notMatch(running.output, TOKEN);
    t.notMatch(running.output, back.searchParams.get('code') ?? '');
    await running.end();
  });

  await t.test('C-007 C-118 the assistant signs in and is told what was said', async (t) => {
    const [with_token = '', ask = ''] = examples.commandsOf('assistant');
    const folder = examples.folderOf('assistant');
    const env = { SPOOL_URL: base_url };
    const running = examples.run(ask, env, folder);
    const [, url = ''] = await running.prints(/^Open (\S+)$/m);
    const back = await new Person(spool, ANN).visit(url);
    const forged = new URL(back);
    forged.searchParams.set('state', 'forged');
    t.same([(await fetch(forged)).status, (await fetch(back)).status], [404, 200]);
    t.equal(await running.exited, 0, running.output);
    t.match(running.output, /^tools: recall, search, /m);
    t.ok(running.output.includes(SAID), running.output);
    t.match(running.output, new RegExp(`^passage · 2026-11-01T10:00:00.000Z · recording ${recording.id}$`, 'm'));
    t.notMatch(running.output.replace(url, ''), TOKEN);
    t.equal(statSync(join(folder, 'login.json')).mode & 0o777, 0o600);

    const token = await mint('turns:read', 'insights:read');
    const from_root = with_token
      .replace('http://localhost:8080', base_url)
      .replace('svc_pat_…', token)
      .replace('battery cabinet', 'giraffe');
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    const [again, by_token, misused] = [
      examples.run("node ask.mjs 'Which invoice is late?'", env, folder),
      examples.run(from_root),
      examples.run('SPOOL_TOKEN=none node ask.mjs x', { SPOOL_URL: nowhere }, folder),
    ];
    t.same(await Promise.all([again.exited, by_token.exited, misused.exited]), [0, 0, 1]);
    t.match(again.output, 'Then the invoice has to wait.');
    t.notMatch(again.output, /Open/, 'it is still signed in');
    t.match(by_token.output, 'Nothing was said about it.');
    t.match(misused.output, `No answer from ${nowhere}/mcp (ECONNREFUSED)`);

    const read = (name: string) => readFileSync(join(folder, name), 'utf8').replace('http://localhost:8080', base_url);
    const { spool: of_url } = JSON.parse(read('mcp.json')).mcpServers;
    const { spool: of_program } = JSON.parse(read('mcp.stdio.json')).mcpServers;
    t.equal(of_program.args.at(-1), of_url.url);
    const initialize = { method: 'POST', headers: { Authorization: `Bearer ${token}` } };
    const answer = await fetch(of_url.url, { ...initialize, body: '{}' });
    t.equal(answer.status, 415, 'somebody signed in is heard there');
  });
});
