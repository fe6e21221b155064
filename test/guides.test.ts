import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { describeSettings, readSettings } from '../src/host/settings.js';
import { endedImport } from './fixtures/importing.js';
import { Browser } from './fixtures/oauth.js';
import { audioFixture } from './fixtures/speech.js';
import { TestSpool } from './fixtures/spool.js';
import { tempFolder } from './fixtures/temp_folder.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const UNITS = ['spool.service', 'spool-backup.service', 'spool-backup.timer'];
/** What it says of mistakes in them, beside what it says of this machine. */
const OF_UNITS = /spool[\w.-]*:\d+:|Unknown|Failed to parse|Invalid/;

/** The commands of guides, as somebody would type them one after the other. */

const spool = await TestSpool.start({ CHUNK_WORKER: '1' });
t.teardown(() => spool.end());
const { app } = await spool.signIn('ann@guides.test');

/** All shell blocks of a text in one bash, and what they printed. `answer` gives the line that one of them reads. */
async function typed(
  t: Test,
  path: string,
  { given = {}, blocks = [0], answer }: { given?: Record<string, string>; blocks?: number[]; answer?: Answer } = {},
): Promise<string> {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const found = [...text.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block);
  const { operator, public: own } = spool.server.ports;
  const script = ['set -e', ...found.slice(...blocks)]
    .join('\n')
    .replaceAll('http://localhost:9090', `http://localhost:${operator}`)
    .replaceAll('http://localhost:8080', `http://localhost:${own}`)
    .replaceAll('https://localhost:8443', spool.device_url)
    .replaceAll('data/', `${spool.folder}/`);
  return inBash(t, script, { given, answer });
}

async function inBash(
  t: Test,
  script: string,
  { given = {}, answer }: { given?: Record<string, string>; answer?: Answer | undefined } = {},
): Promise<string> {
  const child = spawn('bash', ['-c', script], { cwd: spool.folder, env: { PATH: process.env.PATH, ...given } });
  let out = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => {
      out += piece;
      const line = answer?.(out);
      if (line === undefined || line === null) return;
      answer = undefined;
      void line.then((typed) => child.stdin.end(`${typed}\n`));
    });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  t.equal(code, 0, out);
  return out;
}

/** Null while what was printed so far asks for nothing. */
type Answer = (out: string) => Promise<string> | null;

t.test(
  'the commands of the guide to first calls sign in, record and read, and leave their files in data/tour',
  async (t) => {
    const before = new Set(readdirSync(spool.folder));
    const out = await typed(t, 'docs/first_calls.md');
    t.notMatch(out, /"success":false/);
    t.match(out, /"name":"Ann"/);
    t.match(out, /"type":"stream.created"/);
    t.match(out, /^10 \S+part\.bin$/m);
    t.same(
      readdirSync(spool.folder).filter((name) => !before.has(name)),
      ['tour'],
    );
  },
);

t.test(
  'H-015 H-021 H-023 the commands of the device guide record two seconds, under a renewed certificate',
  async (t) => {
    const { claim } = await app.call('POST /devices/claims', { body: { kind: 'owner' } });
    const out = await typed(t, 'docs/devices.md', { given: { CLAIM: claim } });
    t.notMatch(out, /"success":false/);
    t.match(out, /"status":"stored"/);
    t.match(out, /"items":\[\{"source_chunk_ref":"[^"]*","chunk_id"/, 'a chunk with its bytes');
    t.match(out, /"missing":\[\],"truncated":false,"awaiting_upload":0/);
    const [stream, ...more] = (await app.call('GET /audio/streams')).items;
    t.same(more, []);
    t.match(stream, { end_ms: 2_000, stored_chunks: 2, stored_bytes: 64_000 });
    const joined = await app.send('GET', `/audio/streams/${stream?.id}/content`);
    const second = readFileSync(join(spool.folder, 'chunk.pcm'));
    t.ok((joined.body as Buffer).subarray(44).equals(Buffer.concat([second, second])), 'as one file');
  },
);

t.test('C-020 C-046 C-060 C-065 C-069 the commands of the OAuth guide sign an app in, and out', async (t) => {
  const browser = new Browser(spool.server.base_url);
  const back = async (url: string) => {
    const asked = await browser.press(await browser.open(url), 'email', { email: 'ann@guides.test' });
    const entered = await browser.press(asked, 'code', { code: await spool.readCode('ann@guides.test') });
    const { location } = await browser.press(entered, 'approve');
    return new URL(location ?? '').searchParams.get('code') ?? '';
  };
  const answer: Answer = (out) => {
    const [url] = /^http.*code_challenge_method=S256$/m.exec(out) ?? [];
    return url === undefined ? null : back(url);
  };
  const out = await typed(t, 'docs/oauth.md', { blocks: [0, 3], answer });
  t.match(out, /"items":\[\{"id":/, 'the recordings of the account');
  t.notMatch(out, /"error"/);
  t.same((await app.call('GET /me/connections')).items, [], 'and it is disconnected');
});

t.test('the commands of the guide to recordings import a file and continue a download', async (t) => {
  const [stream] = (await app.call('GET /audio/streams')).items;
  const whole = (await app.send('GET', `/audio/streams/${stream?.id}/content`)).body as Buffer;
  const given = { API: spool.base_url, ACCESS: String(app.access_token), STREAM: stream?.id ?? '' };
  writeFileSync(join(spool.folder, 'talk.mp3'), audioFixture('said.mp3'));
  await typed(t, 'docs/recordings.md', { given });
  t.ok(readFileSync(join(spool.folder, 'part.bin')).equals(whole));
  const [imported] = (await app.call('GET /audio/imports')).items;
  t.match(imported, { name: 'talk.mp3', size_bytes: audioFixture('said.mp3').length });
  t.match(await endedImport({ app, base_url: spool.base_url }, imported?.id ?? ''), { status: 'done' });
});

t.test('the settings, the unit and the backup of the guide to running it are right', async (t) => {
  const guide = readFileSync(new URL('../../docs/running.md', import.meta.url), 'utf8');
  const block = (info: string) => new RegExp(`^\`\`\`${info}\\n(.*?)^\`\`\``, 'ms').exec(guide)?.[1] ?? '';
  for (const info of ['sh settings', 'sh node']) {
    const rows = [...block(info).matchAll(/^([A-Z_]+)="?([^"\n]*)"?$/gm)].map(([, name, value]) => [name, value]);
    const known = new Set(describeSettings().map(({ name }) => name));
    t.ok(rows.length > 5);
    t.same(
      rows.filter(([name = '']) => !known.has(name)),
      [],
      'every name is a setting',
    );
    t.doesNotThrow(() => readSettings(Object.fromEntries(rows)));
  }
  const unit = (name: string) => readFileSync(join(ROOT, 'deploy', 'systemd', name), 'utf8');
  const [, program = ''] = /^ExecStart=.* (\S+)$/m.exec(unit('spool.service')) ?? [];
  t.ok(existsSync(join(ROOT, program)), program);
  const verified = spawnSync('systemd-analyze', [
    'verify',
    ...UNITS.map((name) => join(ROOT, 'deploy', 'systemd', name)),
  ]);
  // Where there is no systemd, nobody can say.
  if (verified.error === undefined) t.notMatch(String(verified.stderr), OF_UNITS, 'systemd takes the units');

  const env = join(spool.folder, 'spool.env');
  writeFileSync(env, `DATA_DIR=${spool.folder}\n`);
  const backups = tempFolder(t);
  const [its_function = '', copy = ''] = [...guide.matchAll(/^(?:spool\(\)|to=).*$/gm)].map(([line]) => line);
  const script = `set -e\n${its_function}\n${copy}`
    .replaceAll('sudo -u spool ', '')
    .replaceAll('/opt/spool/', ROOT)
    .replaceAll('/etc/spool.env', env)
    .replaceAll('/var/backups/spool', backups);
  t.match(await inBash(t, script), /Whole: \d+ files/);

  const [, nightly = ''] = /^ExecStart=\/bin\/sh -ec '(.*)'$/m.exec(unit('spool-backup.service')) ?? [];
  const night = nightly
    .replaceAll('$$', '$')
    .replaceAll('%%', '%')
    .replaceAll('dist/', `${ROOT}dist/`)
    .replaceAll('/var/backups/spool', tempFolder(t));
  t.match(await inBash(t, `set -a; . ${env}; set +a; ${night}`), /Whole: \d+ files/, 'the backup of every night');
});
