import { spawn } from 'node:child_process';
import type { Trial } from './trial.js';

const FILE_MAX_MS = 150_000;

/** Runs a test file of ours, by its path below `test/` without the ending, and takes over what it found. */
export function runTestFile(trial: Trial, name: string, env: Record<string, string> = {}): Promise<void> {
  const path = new URL(`../${name}.test.js`, import.meta.url).pathname;
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [path], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, TAP_TIMEOUT: String(FILE_MAX_MS / 1_000), ...env },
      timeout: FILE_MAX_MS,
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
    child.on('close', (code, signal) => {
      // What is indented is within a test; its tests say the same once more.
      const lines = text.split('\n').filter((line) => /^\s+(not )?ok \d/.test(line));
      const failed = text.split('\n').filter((line) => /^\s*not ok \d/.test(line) && !/# (TODO|SKIP)/.test(line));
      trial.tries += 1;
      trial.invariants += lines.length;
      trial.none(
        name,
        failed.map((line) => line.trim()),
      );
      if (failed.length === 0)
        trial.must(code === 0 && lines.length > 0, `${name} ended with ${signal ?? code}: ${text.slice(-600)}`);
      resolve();
    });
  });
}
