import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorClient } from '../../kits/typescript/src/operator_client.js';
import { AppClient } from '../fixtures/app_client.js';
import { noteToldDifferences, TELLS_DIFFERENCES } from '../fixtures/documented_answers.js';

const { PATH, SPOOL_SUCCEEDED } = process.env;
/** Both in one file, in a run of all tests (tools/testing/program_bundles.mjs). */
const SERVER_BUNDLE = process.env.SPOOL_SERVER_BUNDLE;
const pathOf = (name: string) => new URL(name, import.meta.url).pathname;
/** Loaded before the server: its answers are held to the reference as well. */
const HOLDS_ANSWERS = pathOf('../fixtures/documented_answers.js');
const MAIN = pathOf('../../src/main.js');
const OF_THE_TEST = { PATH, ...(SPOOL_SUCCEEDED === undefined ? {} : { SPOOL_SUCCEEDED }), ...TELLS_DIFFERENCES };
/** Far longer than a start takes, also where other programs keep the machine busy. */
const READY_MAX_MS = 180_000;
const IS_READY = /ready after[\s\S]*redis +\S/;

type Env = Record<string, string>;
export type ServerOptions = {
  /** It does nothing but serve: its answers are not held to the reference. */
  is_measured?: boolean;
  /** Of another build. */
  main?: string | null;
  /** As `ulimit -n` sets it. */
  open_files?: number | undefined;
  /** The program that runs it. */
  node?: string;
};

/** The built server as a process of its own, as `npm start` runs it; started again, it keeps its ports. */
export class SpoolProcess {
  /** What it has printed since it was started last. */
  output = '';
  exited!: Promise<number | null>;
  /** From its next start on. */
  open_files: number | undefined;
  #child!: ChildProcess;
  #operator: OperatorClient | null = null;
  /** What it had printed when it was started again: it keeps its ports. */
  #before = '';
  readonly #folder: string;
  readonly #env: Env;
  readonly #options: ServerOptions;

  constructor(folder: string, env: Env = {}, options: ServerOptions = {}) {
    this.#folder = folder;
    this.#env = env;
    this.#options = options;
    this.open_files = options.open_files;
    this.#spawn({});
  }

  #spawn(more: Env): void {
    const { is_measured = false, node = process.execPath } = this.#options;
    const main = this.#options.main ?? null;
    const env = { ...this.#env, ...more };
    // As TestSpool: chunks stay as they were stored, and a machine that is busy with other tests is no overload.
    const ports = { PORT: '0', DEVICE_PORT: '0', OPS_PORT: '0', OVERLOAD_DELAY_MS: '0' };
    const workers = { CHUNK_WORKER: '0', TRANSCRIBE_BUILT_IN: '0', EMBED_BUILT_IN: '0', TRANSCRIBE_NICE: '0' };
    // Its own processes take over what is loaded first.
    const held =
      main === null && SERVER_BUNDLE !== undefined ? [SERVER_BUNDLE] : ['--import', HOLDS_ANSWERS, main ?? MAIN];
    const command = [node, ...(is_measured ? [main ?? MAIN] : held)];
    const { open_files } = this;
    const limited = open_files === undefined ? [] : ['sh', '-c', `ulimit -n ${open_files}; exec "$@"`, 'sh'];
    const [program = '', ...args] = [...limited, ...command];
    const child = spawn(program, args, {
      env: {
        ...OF_THE_TEST,
        DATA_DIR: this.#folder,
        RATE_LIMITS: 'off',
        TEST_CLOCK: '1',
        ...ports,
        ...workers,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.output = '';
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (this.#child === child) this.output += text;
      });
    }
    child.once('close', () => noteToldDifferences(output));
    this.exited = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  }

  /** Waits until it serves; throws with its output when it ends instead. */
  async ready(): Promise<this> {
    const until = performance.now() + READY_MAX_MS;
    let ended = false;
    void this.exited.then(() => {
      ended = true;
    });
    while (!IS_READY.test(this.output)) {
      if (ended || performance.now() > until) throw new Error(`the server did not start:\n${this.output}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return this;
  }

  /** Starts it again on the same data and ports, as soon as it has ended. */
  async start(env: Env = {}): Promise<this> {
    const [PORT, DEVICE_PORT, OPS_PORT] = [this.base_url, this.device_url, this.operator_url].map(
      (url) => new URL(url).port,
    ) as [string, string, string];
    await this.exited;
    this.#before = this.#printed;
    this.#spawn({ ...env, PORT, DEVICE_PORT, OPS_PORT });
    return this.ready();
  }

  /** Ends it as `kill -9` does and starts it again. */
  restart(): Promise<this> {
    this.signal('SIGKILL');
    return this.start();
  }

  get #printed(): string {
    return this.#before === '' || IS_READY.test(this.output) ? this.output : this.#before;
  }

  #portOf(row: string): string {
    const port = new RegExp(`${row} +https?://[^:]+:(\\d+)`).exec(this.#printed)?.[1];
    if (port === undefined) throw new Error(`no ${row} in:\n${this.output}`);
    return port;
  }

  get base_url(): string {
    return `http://127.0.0.1:${this.#portOf(/^ +listens/m.test(this.#printed) ? 'listens' : 'start page')}`;
  }
  get device_url(): string {
    return `https://localhost:${this.#portOf('devices')}`;
  }
  get operator_url(): string {
    return `http://127.0.0.1:${this.#portOf('operators')}`;
  }
  /** Whether it runs the build at hand. */
  get is_at_hand(): boolean {
    return (this.#options.main ?? null) === null;
  }
  get is_running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }
  get pid(): number {
    return this.#child.pid ?? 0;
  }
  /** With PROCESSES: the pids of those that serve, as of its start. */
  get pids(): number[] {
    return /processes +([\d, ]+)/.exec(this.output)?.[1]?.split(', ').map(Number) ?? [];
  }
  /** The same as of now. */
  childrenNow(): number[] {
    const tasks = readdirSync(`/proc/${this.pid}/task`).map((task) => `/proc/${this.pid}/task/${task}/children`);
    const pids = tasks.flatMap((file) => readFileSync(file, 'utf8').trim().split(' ').filter(Boolean).map(Number));
    return pids.filter((pid) => pid !== this.redis_pid);
  }
  /** The pid of its own Redis. */
  get redis_pid(): number {
    return Number(/own process (\d+)/.exec(this.output)?.[1]);
  }
  /** How much memory it has, MiB. */
  get memory_mib(): number {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))?.[1]) / 1_024;
  }

  client(access_token: string | null = null, options: { timeout_ms?: number } = {}): AppClient {
    const app = new AppClient(this.base_url, options);
    app.access_token = access_token;
    return app;
  }

  /** Its operator port. */
  operator(): OperatorClient {
    const token = () => readFileSync(join(this.#folder, 'ops_token'), 'utf8').trim();
    this.#operator ??= new OperatorClient(this.operator_url, token());
    return this.#operator;
  }

  /** The sum of a metric over its labels. */
  async metric(name: string): Promise<number> {
    const text = (await this.operator().send('GET', '/metrics')).body.toString();
    const rows = text.matchAll(new RegExp(`^${name}\\S* (\\d+)$`, 'gm'));
    return [...rows].reduce((sum, [, value]) => sum + Number(value), 0);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Stops it in order; gives its exit code. */
  stop(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  /** Ends it without warning. */
  kill(): Promise<number | null> {
    return this.#end('SIGKILL');
  }

  #end(signal: NodeJS.Signals): Promise<number | null> {
    this.#child.kill(signal);
    return this.exited.finally(() => this.#operator?.close());
  }
}
