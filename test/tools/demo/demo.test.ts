import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { AppClient } from '../../../kits/typescript/src/app_client.js';
import { TestSpool } from '../../fixtures/spool.js';
import { tempFolder } from '../../fixtures/temp_folder.js';
import { until } from '../../fixtures/until.js';

const DEMO = fileURLToPath(new URL('../../../tools/demo/main.js', import.meta.url));
/** Ports on which nothing answers, so that the demo starts a server of its own. */
const NOBODY = { PORT: '1', DEVICE_PORT: '1', OPS_PORT: '1' };

function demo(args: string[], env: Record<string, string> = NOBODY) {
  return new Promise<{ code: number | null; out: string; complaints: string }>((resolve, reject) => {
    const child = spawn(process.execPath, [DEMO, ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let complaints = '';
    child.stdout.on('data', (text: Buffer) => {
      out += text.toString();
    });
    child.stderr.on('data', (text: Buffer) => {
      complaints += text.toString();
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out, complaints }));
  });
}

t.test('two devices record a tone into a server of the demo, and it sounds the same', async (t) => {
  const tmp = tempFolder(t);
  const { code, out, complaints } = await demo(['--devices', '2', '--chunk-seconds', '0.5'], {
    ...NOBODY,
    TMPDIR: tmp,
    TRANSCRIBE_COMMAND: '/bin/echo beep {audio}',
  });
  t.equal(complaints, '');
  t.equal(code, 0);
  t.match(out, /server: its own/);
  t.match(out, /chunks +20 in/);
  t.match(out, /2 of 2 stream\.updated heard/);
  t.match(out, /all 20 chunks came back/);
  t.match(out, /heard:\n {2}0:00 beep /, 'with the engine that was named');
  t.notMatch(out, '\x1b', 'no cursor movements outside of a terminal');
  t.same(
    readdirSync(tmp).filter((name) => name.startsWith('spool-demo-')),
    [],
    'its folder is gone',
  );
});

t.test('a running server is used, with the limits it has', async (t) => {
  const spool = await TestSpool.start({ RATE_CLAIMS: '2', TEST_CLOCK: '0' });
  t.teardown(() => spool.end());
  const { ports } = spool.server;
  const file = join(tempFolder(t), 'bytes.bin');
  writeFileSync(file, randomBytes(100_001));
  const env = {
    PORT: `${ports.public}`,
    DEVICE_PORT: `${ports.device}`,
    OPS_PORT: `${ports.operator}`,
    DATA_DIR: spool.folder,
  };
  const { code, out, complaints } = await demo([file, '--duration', '7.5'], env);
  t.equal(complaints, '');
  t.equal(code, 0);
  t.match(out, /server: running on ports/);
  t.match(out, /all 8 chunks came back/);
  t.match(out, /See it at \S+\/app: sign in as demo-\w+@spool\.example/);
  const lost = await demo([], { ...env, DATA_DIR: join(tmpdir(), 'no-such-folder'), OPS_TOKEN: '' });
  t.equal(lost.code, 1);
  t.match(lost.complaints, /operator token is not in/);
  const wrong = await demo([], { ...env, OPS_TOKEN: 'sixteen-letters-x' });
  t.equal(wrong.code, 1);
  t.match(wrong.complaints, /The server refused: 401 UNAUTHORIZED/);
});

t.test('with --stay a browser can sign in and see what was recorded', async (t) => {
  const child = spawn(process.execPath, [DEMO, '--stay'], {
    env: { ...process.env, ...NOBODY, TMPDIR: tempFolder(t), TRANSCRIBE_BUILT_IN: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  t.teardown(() => child.kill());
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  await until('it serves', () => out.includes('Serving until Ctrl-C'), 60_000);
  const [, base_url = '', email = ''] = /See it at (\S+)\/app: sign in as (\S+)\. /.exec(out) ?? [];
  const app = new AppClient(base_url);
  t.teardown(() => app.close());
  const code = async () => {
    await until('its code', () => /^code for \S+: \d{6}$/m.test(out));
    return /^code for \S+: (\d{6})$/m.exec(out)?.[1] ?? '';
  };
  await app.signIn(email, code);
  t.equal((await app.call('GET /audio/streams')).items.length, 1);
  child.kill('SIGINT');
  t.equal(await ended, 130);
});

t.test('what a person got wrong is said in words', async (t) => {
  const folder = tempFolder(t);
  const empty = join(folder, 'empty.wav');
  writeFileSync(empty, '');
  const text = join(folder, 'text.txt');
  writeFileSync(text, 'not a sound');
  const rows: [string[], RegExp, number?][] = [
    [[join(folder, 'absent.wav')], /There is no file/],
    [[folder], /is a folder/],
    [[empty], /is empty/],
    [[text], /give --duration/],
    [['--devices', '0'], /--devices <N>' argument '0' is invalid. It must be a whole number from 1/, 2],
    [['--devices', '1.5'], /whole number/, 2],
    [['--chunk-seconds', 'x'], /--chunk-seconds <S>' argument 'x' is invalid/, 2],
    [['--loud'], /--loud/, 2],
    [['--speech', text], /takes no FILE/, 2],
    [[text, text], /too many arguments/, 2],
  ];
  const bare = await demo(['--speech'], { ...NOBODY, PATH: '/nonexistent' });
  t.equal(bare.code, 1);
  t.match(bare.complaints, /^Speech needs more programs\. Install flite; .* apt-get/);
  if (process.getuid?.() !== 0) {
    const hidden = join(folder, 'hidden.wav');
    writeFileSync(hidden, 'x');
    chmodSync(hidden, 0);
    rows.push([[hidden], /may not be read/]);
  }
  for (const [args, words, wanted = 1] of rows) {
    const { code, complaints } = await demo(args);
    t.equal(code, wanted, args.join(' '));
    t.match(complaints, words);
    t.notMatch(complaints, / at .*\.js:/, 'no stack');
  }
});

const missing = ['flite'].filter((name) => spawnSync('which', [name], { stdio: 'ignore' }).status !== 0);

t.test(
  'what is spoken is heard, and what a person says of it outlives a second run',
  { skip: missing.length > 0 && `${missing.join(' and ')} not installed` },
  async (t) => {
    const { code, out, complaints } = await demo(['--speech']);
    t.equal(complaints, '');
    t.equal(code, 0, out);
    const [, right = '0', words = '0'] = /(\d+) of (\d+) words right/.exec(out) ?? [];
    t.ok(Number(right) / Number(words) >= 0.8, `${right} of ${words}`);
    t.match(out, /still there: 0:0\d Ada: /);
    t.match(
      out,
      /\(made by extractive\)\n {2}(?:task|reminder): .*, due \d{4}-\d\d-\d\d \d\d:\d\d UTC\n {4}said at 0:\d\d: “/,
    );
    t.match(out, /a person dismisses: .*[\s\S]*does not come back\. Still suggested:\n {2}\w/);
  },
);
