import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { freePort } from '../fixtures/free_port.js';
import { TestRedis } from '../fixtures/redis.js';
import { tempFolder } from '../fixtures/temp_folder.js';
import { until } from '../fixtures/until.js';

/**
 * The steps of the Dockerfile, one after the other, each stage in an empty folder in place of an image. The Node is this one
 * and the packages of the base image are this machine's; everything else is what the image does.
 */

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const RUN_MS_MAX = 200_000;
const HEALTH = 'HEALTHCHECK';
const IGNORED = readFileSync(join(ROOT, '.dockerignore'), 'utf8').trim().split('\n');
const NO_REGISTRY = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH/;

/** Starts what the image starts, with a Redis as compose.yaml gives it, and asks for its health as Docker does. */
async function serves(t: Test, image: Stage): Promise<void> {
  const redis = await new TestRedis().start({ port: true });
  t.teardown(() => redis.stop());
  const [port, device_port, ops_port] = [await freePort(), await freePort(), await freePort()];
  const ports = { PORT: String(port), DEVICE_PORT: String(device_port), OPS_PORT: String(ops_port) };
  const env = {
    ...image.env,
    ...ports,
    REDIS_URL: redis.url,
    PATH: `${image.at('/usr/local/bin')}:${process.env.PATH}`,
  };
  const [program = '', ...args] = image.command;
  const child = spawn(program, args, { cwd: image.folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => {
      said += piece;
    });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  t.teardown(() => child.kill('SIGKILL'));
  const [health = '', ...asked] = image.health;
  await until('it is healthy', () => {
    if (child.exitCode !== null) throw new Error(said);
    return spawnSync(health, asked, { cwd: image.folder, env }).status === 0;
  });
  t.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 200);
  t.equal((await fetch(`http://127.0.0.1:${port}/app`)).status, 200, 'the app is in the image');
  const cli = spawnSync('spool', ['server', 'check'], { cwd: image.folder, env, encoding: 'utf8' });
  t.equal(cli.status, 0, cli.stdout + cli.stderr);
  t.notOk(existsSync(image.at('/app/dist/test')), 'tests are not in the image');
  child.kill('SIGTERM');
  t.equal(await ended, 0, said);
}

/** A stage of the build: a folder that stands for the root of its file system. */
class Stage {
  readonly env: Record<string, string> = {};
  command: string[] = [];
  health: string[] = [];
  #workdir = '/';

  constructor(readonly root: string) {
    mkdirSync(this.at('/usr/local/bin'), { recursive: true });
  }

  get folder(): string {
    return this.at(this.#workdir);
  }

  at(path: string): string {
    return join(this.root, path.startsWith('/') ? path : join(this.#workdir, path));
  }

  /** Why a step failed; null where it did not. */
  step(name: string, rest: string, stages: ReadonlyMap<string, Stage>): string | null {
    switch (name) {
      case 'WORKDIR':
        this.#workdir = rest;
        mkdirSync(this.folder, { recursive: true });
        return null;
      case 'ENV':
        for (const one of rest.split(/\s+/)) {
          const [key = '', value = ''] = one.split('=');
          this.env[key] = value.startsWith('/') ? this.at(value) : value;
        }
        return null;
      case 'COPY':
        this.#copy(rest, stages);
        return null;
      case 'RUN':
        return this.#run(rest);
      case HEALTH:
        this.health = JSON.parse(rest.slice(rest.indexOf('[')));
        return null;
      case 'CMD':
        this.command = JSON.parse(rest);
        return null;
      case 'USER':
      case 'VOLUME':
      case 'EXPOSE':
        return null;
      default:
        return 'this test does not know such a step';
    }
  }

  #copy(rest: string, stages: ReadonlyMap<string, Stage>): void {
    const [, from] = /^--from=(\w+) /.exec(rest) ?? [];
    const words = rest.split(/\s+/).filter((word) => !word.startsWith('--'));
    const to = words.pop() ?? '';
    for (const word of words) {
      const source = from === undefined ? join(ROOT, word) : (stages.get(from)?.at(word) ?? '');
      const is_folder = statSync(source).isDirectory();
      const target = is_folder ? this.at(to) : join(this.at(to), basename(source));
      const filter = (path: string) => from !== undefined || !isIgnored(relative(ROOT, path));
      cpSync(source, target, { recursive: true, verbatimSymlinks: true, filter });
    }
  }

  #run(line: string): string | null {
    const script = line
      .replaceAll(
        /(^|[\s=])(\/(?:app|data|usr\/local\/bin)\b)/g,
        (_, before: string, path: string) => before + this.at(path),
      )
      // Whoever runs this test stands for the user of the image.
      .replaceAll('chown node:node', 'test -d');
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...this.env };
    const ran = spawnSync('sh', ['-c', script], { cwd: this.folder, env, encoding: 'utf8', timeout: RUN_MS_MAX });
    return ran.status === 0 ? null : `${ran.stdout}${ran.stderr}${ran.error?.message ?? ''}`;
  }
}

/** Patterns of .dockerignore, as far as the file has them: a path, a name at any depth, a name that ends so. */
function isIgnored(path: string): boolean {
  return IGNORED.some((pattern) => {
    if (pattern.startsWith('**/')) return path.split('/').includes(pattern.slice(3));
    if (pattern.startsWith('*')) return !path.includes('/') && path.endsWith(pattern.slice(1));
    return path === pattern;
  });
}

function stepsOf(text: string): { name: string; rest: string }[] {
  const lines = text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n');
  return lines.flatMap((line) => {
    const [, name = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line.trim()) ?? [];
    return name === '' ? [] : [{ name, rest }];
  });
}

const steps = stepsOf(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'));

t.setTimeout(300_000);
t.test('an image is built from the Dockerfile, and serves', async (t) => {
  const stages = new Map<string, Stage>();
  let stage: Stage | null = null;
  for (const { name, rest } of steps) {
    if (name === 'FROM') {
      const [, as = 'last'] = / AS (\w+)$/.exec(rest) ?? [];
      stage = new Stage(tempFolder(t));
      stages.set(as, stage);
      continue;
    }
    if (stage === null) throw new Error(`${name} before FROM`);
    const problem = stage.step(name, rest, stages);
    if (problem !== null && NO_REGISTRY.test(problem)) {
      t.pass('an image is built', { skip: 'the registry of packages could not be reached' });
      return;
    }
    if (problem !== null) {
      t.fail(`${name} ${rest}\n${problem}`);
      return;
    }
  }
  const image = stages.get('last');
  if (image === undefined) throw new Error('there is no last stage');
  await serves(t, image);
});
