/* `npm run check`: everything that can be told without running the code. As many at once as there are cores, a line each; exit code 1 if any fails. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { ensurePackages, readCommandLine, root } from './setup.mjs';

/** Registries that do not audit let one wait. */
const AUDIT_MAX_MS = 20_000;

readCommandLine({
  form: 'npm run check',
  says: 'Checks everything that can be told without running the code: types, lint, format, import directions, unused code, packages with known weaknesses. Exit code 1 when one of them fails.',
});
ensurePackages({ with_dev: true });

const folders = ['src', 'actors', 'routes', 'certs', 'app', 'tools', 'kits/typescript/src', 'test'].filter((folder) =>
  existsSync(join(root, folder)),
);

const checks = [
  { title: 'types', program: 'tsc', args: ['-p', '.'] },
  { title: 'types of the app', program: 'tsc', args: ['-p', 'tsconfig.app.json'] },
  { title: 'lint and format', program: 'biome', args: ['check', '--error-on-warnings', '.'] },
  { title: 'import directions', program: 'depcruise', args: ['--config', '.dependency-cruiser.cjs', ...folders] },
  { title: 'rooms of a storey', program: process.execPath, args: ['tools/checks/rooms.mjs'] },
  { title: 'unused code', program: 'knip', args: ['--no-progress'] },
  { title: 'state of modules', program: process.execPath, args: ['tools/checks/module_state.mjs'] },
  { title: 'citations', program: process.execPath, args: ['tools/checks/citations.mjs'] },
  { title: 'names of types', program: process.execPath, args: ['tools/checks/names.mjs'] },
  { title: 'doc comments', program: process.execPath, args: ['tools/checks/comments.mjs'] },
];

let failed = 0;
const work = async () => {
  for (let check = checks.shift(); check !== undefined; check = checks.shift()) {
    const { title, program, args } = check;
    const started_at = performance.now();
    const { status, said } = await run(resolve(root, 'node_modules', '.bin', program), args);
    const seconds = ((performance.now() - started_at) / 1000).toFixed(1);
    console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${title} (${seconds} s)`);
    if (status === 0) continue;
    failed++;
    console.log(said.trimEnd());
  }
};
const audit = audited();
await Promise.all(Array.from({ length: availableParallelism() }, work));
if (!(await audit)) failed++;
process.exitCode = failed === 0 ? 0 : 1;

/** The exit code of a program, null where it did not end by itself, and what it wrote. */
function run(program, args, options = {}) {
  return new Promise((done) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], ...options });
    let [said, written] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => {
      written += text;
      said += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
    child.on('error', (error) => done({ status: null, said: error.message, written }));
    child.on('close', (status) => done({ status, said, written }));
  });
}

/** Whether no package that runs with the server has a known weakness that is severe. Without an answer nobody knows: then it says so. */
async function audited() {
  const args = ['audit', '--omit=dev', '--audit-level=high', '--json'];
  const { status, written } = await run('npm', args, { timeout: AUDIT_MAX_MS });
  const report = parsed(written);
  if (status === 0 && report !== null) {
    console.log('ok     packages without known severe weaknesses');
    return true;
  }
  if (report?.vulnerabilities === undefined) {
    console.log('not run: packages held against known weaknesses (the registry gave no answer)');
    return true;
  }
  const severe = Object.values(report.vulnerabilities).filter(({ severity }) => /^(high|critical)$/.test(severity));
  console.log('FAILED packages with known severe weaknesses');
  for (const { name, severity, range } of severe) console.log(`  ${name} ${range}: ${severity}`);
  return false;
}

function parsed(text) {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return null;
  }
}
