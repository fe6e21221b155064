import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { TestAccount } from './fixtures/account.js';
import { freePort } from './fixtures/free_port.js';
import { Browser } from './fixtures/oauth.js';
import { ConsumerFolder } from './fixtures/packed_kit.js';
import { TestSpool } from './fixtures/spool.js';
import { tempFolder } from './fixtures/temp_folder.js';
import { said, TestRecording, TestTranscriber } from './fixtures/transcribing.js';
import { until } from './fixtures/until.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PYTHON = '/usr/bin/python3';
/** Each program with its guide and the heading above it. */
const PROGRAMS = {
  first_calls: ['first_calls', 'A finished program'],
  accounts: ['accounts', 'A finished program'],
  export: ['export', 'A finished program'],
  events: ['events', 'A finished program'],
  oauth: ['oauth', 'A finished program'],
  oauth_native: ['oauth', 'A finished program for native sign-in'],
  oauth_web: ['oauth', 'A finished program for a web app of ours'],
  devices: ['devices', 'A finished program'],
} as const;
type ProgramName = keyof typeof PROGRAMS;
const NAMES = Object.keys(PROGRAMS) as ProgramName[];
const LANGUAGES = { ts: 'TypeScript', python: 'Python' } as const;
type Language = keyof typeof LANGUAGES;
const ENDINGS = { ts: 'ts', python: 'py' } as const;

/** The programs at the end of the guides, as a reader would run them. */

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const redirect_uri = `http://localhost:${await freePort()}/callback`;
await letWebReturnTo(redirect_uri);
const consumer = await ConsumerFolder.of('typescript', tempFolder(t));
for (const name of NAMES) {
  for (const language of languagesOf(name))
    consumer.write(`${language}/${name}.${ENDINGS[language]}`, programOf(name, language));
}
const has_requests = spawnSync(PYTHON, ['-c', 'import requests']).status === 0;

t.test('the programs hold against the types of the kit', async () => {
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
  const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules', '@types')];
  const options = ['--strict', '--target', 'es2023', '--module', 'nodenext', ...types];
  const typed = NAMES.filter((name) => languagesOf(name).includes('ts'));
  await consumer.run(tsc, [...options, ...typed.map((name) => `ts/${name}.ts`)]);
});

for (const language of Object.keys(LANGUAGES) as Language[]) {
  const skip = language === 'python' && !has_requests ? 'the package python3-requests is not installed' : false;
  t.test(`in ${LANGUAGES[language]}`, { skip }, async (t) => {
    await t.test('first calls: what was said in each recording', async (t) => {
      const account = await TestAccount.open(spool, `first@${language}.test`);
      const recording = await TestRecording.begin(account);
      await recording.add(3_000);
      await recording.end();
      const transcriber = new TestTranscriber(spool);
      await transcriber.publish(await transcriber.claim(recording.id), [said('The key is in the safe', [0, 3_000])]);
      const out = await run(t, 'first_calls', language, { args: [account.email] });
      t.match(out, /2026-11-01\S+ without a title\n {2}Somebody: The key is in the safe$/m);
    });

    await t.test('accounts: deleted, and restored', async (t) => {
      const email = `gone@${language}.test`;
      const out = await run(t, 'accounts', language, {
        args: [email],
        answers: [['Restore it? (y/n) ', async () => 'y']],
      });
      t.match(out, /is erased at \d{4}-.*gone@\w+\.test is back\./s);
    });

    await t.test('export: an archive that is whole', async (t) => {
      const out = await run(t, 'export', language, { args: [`export@${language}.test`] });
      const [, bytes] = /export\.zip has (\d+) bytes\.$/m.exec(out) ?? [];
      const archive = readFileSync(join(consumer.folder, language, 'export.zip'));
      t.equal(archive.length, Number(bytes));
      t.equal(archive.toString('latin1', 0, 2), 'PK');
    });

    await t.test('events: each once, over a restart of the program', async (t) => {
      const { app } = await spool.signIn(`events@${language}.test`);
      const { value } = await app.call('POST /me/tokens', {
        body: { name: 'events', permissions: ['turns:read'] },
      });
      const env = { SPOOL_TOKEN: value };
      const is_kept = () => existsSync(join(consumer.folder, language, 'events.cursor'));
      await app.call('PATCH /me', { body: { name: 'First' } });
      const first = await run(t, 'events', language, { env, ended: is_kept });
      await app.call('PATCH /me', { body: { name: 'Second' } });
      await app.call('PATCH /profile', { body: { time_zone: 'Europe/Berlin', revision: 0 } });
      const second = await run(t, 'events', language, { env, ended: (out) => /profile\.updated/.test(out) });
      t.equal(first.match(/account\.updated/g)?.length, 1);
      t.equal(second.match(/account\.updated/g)?.length, 1, 'what was seen is not seen again');
    });

    await t.test('OAuth: signed in with a browser once, and then no more', async (t) => {
      const account = await TestAccount.open(spool, `oauth@${language}.test`);
      const { id } = await TestRecording.begin(account);
      const answers: Answers = [[/Open (\S+)\n/, (url) => approve(url, account.email)]];
      const out = await run(t, 'oauth', language, { answers });
      t.match(out, id);
      t.match(await run(t, 'oauth', language), id, 'the tokens are kept');
      const { items } = await account.app.call('GET /me/connections');
      t.match(items, [{ name: 'My App' }]);
    });

    await t.test('OAuth: signed in natively once, with a wrong code first, and then no more', async (t) => {
      const email = `native@${language}.test`;
      const wrong: Answers = [['Code from the email: ', async () => '000000']];
      const out = await run(t, 'oauth_native', language, { args: [email], first: wrong });
      t.match(out, `Signed in as ${email}.`);
      t.match(await run(t, 'oauth_native', language), `Signed in as ${email}.`, 'the tokens are kept');
    });

    await t.test('OAuth: a web app of ours signs in and out', async (t) => {
      const account = await TestAccount.open(spool, `web@${language}.test`);
      await TestRecording.begin(account);
      const home = new URL('/', redirect_uri).href;
      await run(t, 'oauth_web', language, {
        env: { REDIRECT_URI: redirect_uri },
        async meanwhile() {
          const asked = await visit(home, '');
          t.match(asked.to, /\/oauth\/authorize\?/);
          const browser = new Browser(spool.server.base_url);
          const shown = await browser.press(await browser.open(asked.to), 'email', { email: account.email });
          const { location } = await browser.press(shown, 'code', { code: await spool.readCode(account.email) });
          t.match(
            (await visit(location ?? '', 'session=somebody')).status,
            400,
            'a sign-in that this browser did not begin',
          );
          const back = await visit(location ?? '', asked.cookie);
          t.not(back.cookie, asked.cookie);
          const page = await visit(home, back.cookie);
          t.match(page.text, /<li>2026-/);
          const { items } = await account.app.call('GET /me/connections');
          t.match(items, [{ client_id: 'svc-web' }]);
          await visit(`${home}sign-out`, back.cookie, 'POST');
          t.match((await visit(home, back.cookie)).to, /\/oauth\/authorize\?/);
          t.same((await account.app.call('GET /me/connections')).items, [], 'the grant has ended');
        },
      });
    });
  });
}

t.test('devices: a recorder sends what it has recorded, after a loss of power too', async (t) => {
  const folder = join(consumer.folder, 'python');
  const account = await TestAccount.open(spool, 'recorder@python.test');
  const { app } = account;
  const made = await spool.operator.provision('personal');
  const { private_key_pem, certificate_pem, ca_pem, ...answer } = made;
  writeFileSync(join(folder, 'identity.pem'), private_key_pem + certificate_pem + ca_pem);
  writeFileSync(join(folder, 'ca.pem'), ca_pem);
  writeFileSync(join(folder, 'answer.json'), JSON.stringify(answer));
  const env = { SPOOL_DEVICE_URL: spool.device_url };
  const { code } = await app.call('POST /devices/claims', { body: { kind: 'owner' } });
  t.equal(await run(t, 'devices', 'python', { args: ['claim', code.toLowerCase()], env }), 'Bound.\n');

  const samples = Buffer.alloc(25 * 32_000, 'tone');
  await run(t, 'devices', 'python', { env, input: samples });
  t.same(readdirSync(join(folder, 'queue')), [], 'nothing is left to send');
  const { items: recordings } = await app.call('GET /audio/streams');
  t.match(recordings, [{ end_ms: 25_000, stored_chunks: 3 }]);
  const stream_id = recordings[0]?.id ?? '';
  const { items: chunks } = await app.call('GET /audio/streams/{id}/chunks', { path: { id: stream_id } });
  const answers = await Promise.all(chunks.map(({ id }) => app.send('GET', `/audio/chunks/${id}/content`)));
  t.ok(Buffer.concat(answers.map(({ body }) => body)).equals(samples), 'what the server holds is what was recorded');

  const nowhere = { SPOOL_DEVICE_URL: `https://localhost:${await freePort()}` };
  const isQueued = () =>
    readdirSync(join(folder, 'queue'), { recursive: true }).some((name) => /\.pcm$/.test(String(name)));
  const begun = samples.subarray(0, 12 * 32_000);
  await run(t, 'devices', 'python', { env: nowhere, input: begun, goes_on: true, ended: isQueued });
  await run(t, 'devices', 'python', { env, input: Buffer.alloc(0) });
  t.match(
    (await app.call('GET /audio/streams')).items.map(({ end_ms }) => end_ms).sort(),
    [10_000, 25_000],
    'up to where it broke off',
  );
});

function languagesOf(name: ProgramName): Language[] {
  return name === 'devices' ? ['python'] : ['ts', 'python'];
}

function programOf(name: ProgramName, language: Language): string {
  const [guide, heading] = PROGRAMS[name];
  const text = readFileSync(join(ROOT, 'docs', `${guide}.md`), 'utf8');
  const behind = text.slice(text.indexOf(`\n## ${heading}\n`));
  return new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms').exec(behind)?.[1] ?? '';
}

/** What is typed when something was printed; undefined for nothing. */
type Answers = [printed: string | RegExp, answer: (found: string) => Promise<string | undefined>][];

type RunOptions = {
  args?: string[];
  env?: Record<string, string>;
  /** The text that is typed before the code. */
  first?: Answers;
  answers?: Answers;
  /** Its standard input, which ends behind that, or goes on. */
  input?: Uint8Array;
  goes_on?: boolean;
  /** It is stopped then. */
  ended?: (out: string) => boolean;
  /** Of a program that serves: it is stopped after that. */
  meanwhile?: () => Promise<void>;
};

async function run(
  t: Test,
  name: ProgramName,
  language: Language,
  { args = [], env = {}, first = [], answers = [], input, goes_on = false, ended, meanwhile }: RunOptions = {},
): Promise<string> {
  const [program, file] = language === 'ts' ? [process.execPath, `${name}.js`] : [PYTHON, `${name}.py`];
  const child = spawn(program, [file, ...args], {
    cwd: join(consumer.folder, language),
    env: { PATH: process.env.PATH, SPOOL_URL: spool.base_url, ...env },
  });
  t.teardown(() => child.kill());
  const left: Answers = [...first, ['Code from the email: ', () => spool.readCode(args[0] ?? '')], ...answers];
  let [out, errors] = ['', ''];
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    errors += piece;
  });
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    out += piece;
    const at = left.findIndex(([printed]) => (typeof printed === 'string' ? out.includes(printed) : printed.test(out)));
    const [printed, answer] = left[at] ?? [];
    if (printed === undefined || answer === undefined) return;
    left.splice(at, 1);
    const found = typeof printed === 'string' ? printed : (printed.exec(out)?.[1] ?? '');
    void answer(found).then((typed) => typed === undefined || child.stdin.write(`${typed}\n`));
  });
  if (input !== undefined) child.stdin.write(input);
  if (input !== undefined && !goes_on) child.stdin.end();
  const closed = new Promise((resolve) => child.on('close', resolve));
  if (ended !== undefined) await until(`what ${file} prints`, () => ended(out));
  if (meanwhile !== undefined) {
    await until(`${file} listens`, () => out.includes('Open '));
    await meanwhile();
  }
  const is_stopped = ended !== undefined || meanwhile !== undefined;
  if (is_stopped) child.kill();
  const code = await closed;
  if (!is_stopped) t.equal(code, 0, out + errors);
  return out;
}

/** The answer of a page of the program's own, with the value of the cookie that it sets. */
async function visit(url: string, cookie: string, method = 'GET') {
  const answer = await fetch(url, { method, redirect: 'manual', headers: { Cookie: `session=${cookie}` } });
  const [, set = ''] = /^session=([\w-]+)/.exec(answer.headers.get('set-cookie') ?? '') ?? [];
  return { status: answer.status, to: answer.headers.get('location') ?? '', cookie: set, text: await answer.text() };
}

/** As an operator does who adds an address to the file of our clients. */
async function letWebReturnTo(address: string): Promise<void> {
  const path = join(spool.folder, 'first_party_clients.json');
  const clients = JSON.parse(readFileSync(path, 'utf8'));
  clients['svc-web'].redirect_uris = [address];
  await spool.close();
  writeFileSync(path, JSON.stringify(clients));
  await spool.open();
}

/** A person in a browser, who signs in and approves; the browser then goes to where the program listens. */
async function approve(url: string, email: string): Promise<undefined> {
  const browser = new Browser(spool.server.base_url);
  const asked = await browser.press(await browser.open(url), 'email', { email });
  const entered = await browser.press(asked, 'code', { code: await spool.readCode(email) });
  const { location } = await browser.press(entered, 'approve');
  await fetch(location ?? '');
}
