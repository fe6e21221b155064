/* `npm run spool -- bench`: makes a checkout ready, fetches the peers on first use, then measures. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { refuse, tableText } from './setup/command_line.mjs';
import { makeReady, readCommandLine, root } from './setup.mjs';

const FORM = 'npm run spool -- bench [ROW ...] [options]';
const folder = join(root, 'tools', 'bench');

/** Rows by their files, which can't be imported before there is a build. */
const rows = readdirSync(join(folder, 'rows')).map((file) => {
  const [, title = ''] = /^export const title = '(.*)';$/m.exec(readFileSync(join(folder, 'rows', file), 'utf8')) ?? [];
  return [file.replace('.mjs', ''), title];
});

const { values, positionals } = readCommandLine({
  form: FORM,
  says: 'Measures Spool beside other software: the rows that are named, or all. BENCHMARKS.md, its chart and docs/benchmarks are written anew from the last run of each row.',
  options: {
    rounds: { value: 'N', default: '5', whole: true, min: 1, says: 'how often each variant is measured' },
    seconds: { value: 'S', default: '2', number: true, min: 0.001, says: 'how long each time' },
    accounts: {
      value: 'N',
      default: '1000000',
      whole: true,
      min: 1,
      says: 'accounts among which sign-ins are measured',
    },
    chunks: { value: 'N', default: '1000000', whole: true, min: 1, says: 'chunks of the long stream' },
    engine: { value: 'URL', says: 'the row meetings is of a model there, which speaks POST /chat/completions' },
    profile: { value: 'FOLDER', says: 'also write CPU profiles of the measured servers there; they then run slower' },
  },
  notes: [`Rows:\n${tableText(rows)}`],
  words_max: Number.POSITIVE_INFINITY,
});
const unknown = positionals.find((name) => !rows.some(([row]) => row === name));
if (unknown !== undefined) refuse(`there is no row ${JSON.stringify(unknown)}`, FORM);
makeReady({ with_dev: true });

const stamp = join(folder, 'node_modules', '.installed_lock');
const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8');
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
  console.log('installing the peers');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(stamp, lock);
}
const { runBench } = await import('./bench/main.mjs');
await runBench(positionals, values);
