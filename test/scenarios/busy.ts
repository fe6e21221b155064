import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { scenario } from '../fixtures/scenario.js';

const TEST = fileURLToPath(new URL('../../../tools/test.mjs', import.meta.url));
/** Ends with whoever started it, however that ends. */
const BURN = 'const parent = process.ppid; while (process.ppid === parent);';

/** `files`: parts of names of test files, with commas between them; those of `npm test` where it is empty. */
type Size = { rounds: number; programs: number; files: string };

scenario<Size>({
  title: 'npm test passes again and again while other programs use all processors',
  smoke: null,
  full: { rounds: 3, programs: 4, files: '' },
  full_max_ms: 3 * 3_600_000,
  run: busy,
});

async function busy(t: Test, { rounds, programs, files }: Size): Promise<void> {
  const burning = Array.from({ length: programs }, () => spawn(process.execPath, ['-e', BURN], { stdio: 'ignore' }));
  t.teardown(() => {
    for (const child of burning) child.kill('SIGKILL');
  });
  const parts = files.split(',').filter(Boolean);
  for (let round = 1; round <= rounds; round++) {
    await t.test(`round ${round}`, async (t) => {
      // What says that this is a scenario in full size is not for the tests.
      const { SPOOL_PROVE: _, ...env } = process.env;
      const output = await outputOf(spawn(process.execPath, [TEST, ...parts], { env }));
      const [, passed, failed] = /^(\d+) passed, (\d+) failed$/m.exec(output) ?? [];
      t.comment(`${passed} passed, ${failed} failed`);
      t.equal(
        failed,
        '0',
        output
          .split('\n')
          .filter((line) => line.startsWith('failed: '))
          .join('\n'),
      );
      t.ok(Number(passed) > 0);
      t.ok(
        burning.every(({ exitCode, signalCode }) => exitCode === null && signalCode === null),
        'the others ran on',
      );
    });
  }
}

/** What it wrote, shown as it comes. */
async function outputOf(child: ChildProcess): Promise<string> {
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      process.stderr.write(text);
    });
  await new Promise((resolve) => child.once('close', resolve));
  return output;
}
