import { execFile, spawn } from 'node:child_process';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { tempFolder } from '../fixtures/temp_folder.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const COLUMNS = 80;

function run(program: string, ...args: string[]) {
  return runIn(ROOT, program, ...args);
}

function runIn(folder: string, program: string, ...args: string[]) {
  return new Promise<{ code: number | string | null; out: string; errors: string }>((resolve) => {
    const child = execFile(process.execPath, [join(folder, program), ...args], (_, out, errors) =>
      resolve({ code: child.exitCode, out, errors }),
    );
  });
}

const programs = readdirSync(join(ROOT, 'tools'))
  .filter((name) => name.endsWith('.mjs'))
  .map((name) => `tools/${name}`);

t.test('every program says how it is used and which version it is, and refuses what it does not know', async (t) => {
  t.ok(programs.length >= 16, `${programs}`);
  for (const program of programs) {
    const [help, version_said, unknown] = await Promise.all([
      run(program, '--help'),
      run(program, '--version'),
      run(program, '--no-such-option'),
    ]);
    t.match(help, { code: 0, out: /^usage: /i, errors: '' }, `${program} --help`);
    t.match(help.out, '--version', `${program} names --version`);
    const long = help.out.split('\n').filter((line) => line.length > COLUMNS);
    t.same(long, [], `${program} --help fits into ${COLUMNS} columns`);
    t.same(version_said, { code: 0, out: `spool ${version}\n`, errors: '' }, `${program} --version`);
    t.match(unknown, { code: 2, out: '', errors: /no-such-option.*\n$/ }, `${program} refuses an option`);
    t.equal(unknown.errors.trim().split('\n').length, 1, `${program} says so in one line`);
  }
});

t.test('a value that can not be is named with its rule', async (t) => {
  const rows: [string, string[], RegExp][] = [
    ['tools/simulate.mjs', ['--seeds', '0'], /^--seeds must be a whole number from 1 on/],
    ['tools/simulate.mjs', ['--about', 'nothing'], /^--about must be one of devices, workspaces/],
    ['tools/fuzz.mjs', ['--requests', 'many'], /^--requests must be a whole number/],
    ['tools/faults.mjs', ['--seconds', '-1'], /^option '--seconds' argument is ambiguous/],
    ['tools/start.mjs', ['now'], /^unexpected argument "now"/],
    ['tools/prove.mjs', ['nothing'], /^there is no scenario "nothing"/],
    ['tools/prove.mjs', ['oauth_races', '--no-such'], /^unknown option '--no-such'/],
    ['tools/bench.mjs', ['nothing'], /^there is no row "nothing"/],
  ];
  for (const [program, args, words] of rows) {
    t.match(await run(program, ...args), { code: 2, errors: words }, `${program} ${args.join(' ')}`);
  }
});

t.test('spool runs the other programs by their names', async (t) => {
  for (const name of ['bench', 'client', 'faults', 'fleet', 'fuzz', 'icons', 'prove', 'screenshots', 'simulate']) {
    const [by_name, direct] = await Promise.all([
      run('tools/spool.mjs', name, '--help'),
      run(`tools/${name}.mjs`, '--help'),
    ]);
    t.same(by_name, direct, name);
  }
  const wrong = await run('tools/spool.mjs', 'simulate', '--seeds', '0');
  t.match(wrong, { code: 2, errors: /; `npm run spool -- simulate --help` shows the usage\n$/ });
});

t.test('neither packages nor a build are needed to say so', async (t) => {
  const folder = tempFolder(t);
  for (const path of ['tools', 'test/scenarios', 'package.json']) {
    cpSync(join(ROOT, path), join(folder, path), {
      recursive: true,
      filter: (from) => !from.includes('/node_modules'),
    });
  }
  /** Read their options with a package. */
  const TOOLS = ['demo', 'fleet', 'listen', 'spool'].map((name) => `tools/${name}.mjs`);
  const runs = programs.map((program) => [program, TOOLS.includes(program) ? '--version' : '--help'] as const);
  const answers = await Promise.all(runs.map(([program, option]) => runIn(folder, program, option)));
  for (const [index, answer] of answers.entries())
    t.match(answer, { code: 0, errors: '' }, runs[index]?.join(' ') ?? '');
});

t.test('a reader that has seen enough ends a program quietly', async (t) => {
  const said = await new Promise<{ code: number | null; errors: string }>((resolve) => {
    const child = spawn(process.execPath, [join(ROOT, 'tools/spool.mjs'), '--help'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    child.once('close', (code) => resolve({ code, errors }));
  });
  t.same(said, { code: 0, errors: '' });
});
