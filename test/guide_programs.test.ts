import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { TestAccount } from './fixtures/account.js';
import { Browser } from './fixtures/oauth.js';
import { ConsumerFolder } from './fixtures/packed_kit.js';
import { TestSpool } from './fixtures/spool.js';
import { tempFolder } from './fixtures/temp_folder.js';
import { said, TestRecording, TestTranscriber } from './fixtures/transcribing.js';
import { until } from './fixtures/until.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PYTHON = '/usr/bin/python3';
const GUIDES = ['first_calls', 'accounts', 'export', 'events', 'oauth'] as const;
type Guide = (typeof GUIDES)[number];
const LANGUAGES = { ts: 'TypeScript', python: 'Python' } as const;
type Language = keyof typeof LANGUAGES;

/** The programs at the end of the guides, as a reader would run them. */

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const consumer = await ConsumerFolder.of('typescript', tempFolder(t));
for (const guide of GUIDES) {
  consumer.write(`ts/${guide}.ts`, programOf(guide, 'ts'));
  consumer.write(`python/${guide}.py`, programOf(guide, 'python'));
}
const has_requests = spawnSync(PYTHON, ['-c', 'import requests']).status === 0;

t.test('the programs hold against the types of the kit', async () => {
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
  const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules', '@types')];
  const options = ['--strict', '--target', 'es2023', '--module', 'nodenext', ...types];
  await consumer.run(tsc, [...options, ...GUIDES.map((guide) => `ts/${guide}.ts`)]);
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
  });
}

function programOf(guide: Guide, language: Language): string {
  const text = readFileSync(join(ROOT, 'docs', `${guide}.md`), 'utf8');
  const behind = text.slice(text.indexOf('\n## A finished program\n'));
  return new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms').exec(behind)?.[1] ?? '';
}

/** What is typed when something was printed; undefined for nothing. */
type Answers = [printed: string | RegExp, answer: (found: string) => Promise<string | undefined>][];

async function run(
  t: Test,
  guide: Guide,
  language: Language,
  {
    args = [],
    env = {},
    answers = [],
    ended,
  }: { args?: string[]; env?: Record<string, string>; answers?: Answers; ended?: (out: string) => boolean } = {},
): Promise<string> {
  const [program, file] = language === 'ts' ? [process.execPath, `${guide}.js`] : [PYTHON, `${guide}.py`];
  const child = spawn(program, [file, ...args], {
    cwd: join(consumer.folder, language),
    env: { PATH: process.env.PATH, SPOOL_URL: spool.base_url, ...env },
  });
  t.teardown(() => child.kill());
  const left: Answers = [['Code from the email: ', () => spool.readCode(args[0] ?? '')], ...answers];
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
  const closed = new Promise((resolve) => child.on('close', resolve));
  if (ended !== undefined) {
    await until(`what ${file} prints`, () => ended(out));
    child.kill();
  }
  const code = await closed;
  if (ended === undefined) t.equal(code, 0, out + errors);
  return out;
}

/** A person in a browser, who signs in and approves; the browser then goes to where the program listens. */
async function approve(url: string, email: string): Promise<undefined> {
  const browser = new Browser(spool.server.base_url);
  const asked = await browser.press(await browser.open(url), 'email', { email });
  const entered = await browser.press(asked, 'code', { code: await spool.readCode(email) });
  const { location } = await browser.press(entered, 'approve');
  await fetch(location ?? '');
}
