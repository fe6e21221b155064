import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A second process, which runs one of the small programs in test/programs. */
export interface Starter {
  readonly pid: number;
  /** The next line it prints, as JSON; rejects if it ends before. */
  line(): Promise<Record<string, unknown>>;
  say(word: string): void;
  kill(signal: NodeJS.Signals): Promise<void>;
}

/** Starts a program of test/programs, and kills it when the test `t` is over. */
export const start = (
  t: { teardown(clean: () => Promise<void>): unknown },
  program: string,
  args: readonly string[],
): Starter => {
  const child: ChildProcess = spawn(
    process.execPath,
    [new URL(`../../programs/${program}`, import.meta.url).pathname, ...args],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      // Without tap's own options for child processes, which triple the time a start takes.
      env: { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR },
    },
  );
  if (!child.stdout || !child.stdin || child.pid === undefined) throw new Error(`${program} did not start`);
  const { stdin } = child;
  stdin.on('error', () => {});
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const kill = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await exited;
  };
  t.teardown(() => kill('SIGKILL'));
  return {
    pid: child.pid,
    async line() {
      const { done, value } = await lines.next();
      if (done) throw new Error(`${program} ended`);
      return JSON.parse(value) as Record<string, unknown>;
    },
    say: (word) => void stdin.write(`${word}\n`),
    kill,
  };
};
