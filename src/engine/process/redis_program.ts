import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The oldest Redis with all the commands in use. */
export const redis_version_min = '7.0.0';

const version_ms = 5_000;
const install_ms = 5 * 60_000;
const output_bytes_max = 16 * 1024 * 1024;

interface Installer {
  readonly program: string;
  /** Run one after the other. The first may fail, as it only refreshes lists that may be fresh enough. */
  readonly steps: readonly (readonly string[])[];
  readonly needs_root: boolean;
}

const installers: readonly Installer[] = [
  {
    program: 'apt-get',
    steps: [['update'], ['install', '-y', '--no-install-recommends', 'redis-server']],
    needs_root: true,
  },
  { program: 'apk', steps: [['update'], ['add', 'redis']], needs_root: true },
  { program: 'dnf', steps: [['makecache'], ['install', '-y', 'redis']], needs_root: true },
  { program: 'brew', steps: [['update'], ['install', 'redis']], needs_root: false },
];

/** Takes progress lines for people. */
export type Log = (line: string) => void;

/** There is no usable redis-server; the message says what can be done about it. */
export class NoRedisProgram extends Error {
  override readonly name = 'NoRedisProgram';

  constructor(why: string) {
    super(
      `${why} Choose one:\n` +
        `  - install redis-server ${redis_version_min} or newer\n` +
        '  - set REDIS_URL to a Redis that is already running\n' +
        '  - or run it in containers: docker compose up',
    );
  }
}

/**
 * Finds redis-server in `path` (default: PATH), else installs it with the system's package manager where that works
 * without questions (as root, or with brew). Returns its full path and version; throws `NoRedisProgram`.
 */
export const findRedisProgram = async ({
  log,
  path = process.env.PATH ?? '',
}: {
  log: Log;
  path?: string;
}): Promise<{ program: string; version: string }> => {
  const found = await locate('redis-server', path);
  const program = found ?? (await install({ log, path }));
  const version = await versionOf(program);
  if (version === null) throw new NoRedisProgram(`${program} --version did not print a version.`);
  if (!isAtLeast(version, redis_version_min)) {
    throw new NoRedisProgram(`${program} is version ${version}, which is older than ${redis_version_min}.`);
  }
  return { program, version };
};

const locate = async (name: string, path: string): Promise<string | null> => {
  for (const folder of path.split(delimiter)) {
    if (folder === '') continue;
    const candidate = join(folder, name);
    const runs = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return candidate;
  }
  return null;
};

const install = async ({ log, path }: { log: Log; path: string }): Promise<string> => {
  const is_root = process.getuid?.() === 0;
  const tried: string[] = [];
  for (const { program, steps, needs_root } of installers) {
    const manager = await locate(program, path);
    // brew refuses to run as root.
    if (manager === null || needs_root !== is_root) continue;
    log(`redis-server is not installed; installing it with ${program}`);
    // RUNLEVEL=1 keeps Debian's package from starting a Redis of its own.
    const env = { ...process.env, PATH: path, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
    let failure: unknown = null;
    for (const step of steps) {
      failure = await run(manager, [...step], { env, timeout: install_ms, maxBuffer: output_bytes_max }).then(
        () => null,
        (error: unknown) => error,
      );
    }
    const installed = await locate('redis-server', path);
    if (installed !== null) return installed;
    tried.push(`${program} could not install it${failure === null ? '' : ` (${lastLine(failure)})`}`);
  }
  throw new NoRedisProgram(
    `redis-server is not installed${tried.length > 0 ? `, and ${tried.join(', ')}` : ' or not in PATH'}.`,
  );
};

const lastLine = (error: unknown): string => {
  const { stderr, message } = error as { stderr?: string; message: string };
  return (stderr?.trim() || message).split('\n').at(-1)?.slice(0, 200) ?? '';
};

const versionOf = async (program: string): Promise<string | null> => {
  const { stdout } = await run(program, ['--version'], { timeout: version_ms }).catch(() => ({ stdout: '' }));
  return /\bv=(\d+\.\d+\.\d+)/.exec(stdout)?.[1] ?? null;
};

/** Compares versions such as `7.0.15` number by number. */
export const isAtLeast = (version: string, least: string): boolean =>
  version.localeCompare(least, 'en', { numeric: true }) >= 0;
