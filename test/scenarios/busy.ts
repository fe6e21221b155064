import { spawn } from 'node:child_process';
import type { Test } from 'tap';
import { scenario } from '../driver/scenario.js';
import { npmTestPasses } from '../fixtures/npm_test.js';

/** Ends with whoever started it, however that ends. */
const BURN = 'const parent = process.ppid; while (process.ppid === parent);';

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
  for (let round = 1; round <= rounds; round++) {
    await t.test(`round ${round}`, async (t) => {
      await npmTestPasses(t, { files, node: process.execPath });
      t.ok(
        burning.every(({ exitCode, signalCode }) => exitCode === null && signalCode === null),
        'the others ran on',
      );
    });
  }
}
