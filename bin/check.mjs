/* `npm run check`: everything that can be told without running the code. A line each; exit code 1 if any fails. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePackages, root } from './setup.mjs';

ensurePackages();

const folders = ['src', 'actors', 'routes', 'certs', 'test', 'bench'].filter((folder) =>
  existsSync(join(root, folder)),
);

const checks = [
  { title: 'types', program: 'tsc', args: ['-p', '.', '--noEmit', '--incremental', 'false'] },
  { title: 'lint and format', program: 'biome', args: ['check', '--error-on-warnings', '.'] },
  { title: 'import directions', program: 'depcruise', args: ['--config', '.dependency-cruiser.cjs', ...folders] },
  { title: 'unused code', program: 'knip', args: ['--no-progress'] },
];

let failed = 0;
for (const { title, program, args } of checks) {
  const started_at = performance.now();
  const { status, stdout, stderr } = spawnSync(join(root, 'node_modules', '.bin', program), args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const seconds = ((performance.now() - started_at) / 1000).toFixed(1);
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${title} (${seconds} s)`);
  if (status === 0) continue;
  failed++;
  console.log(`${stdout ?? ''}${stderr ?? ''}`.trimEnd());
}
process.exitCode = failed === 0 ? 0 : 1;
