import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeSettings } from '../../src/host/settings.js';
import { UserError } from '../user_error.js';

const START_MAX_MS = 60_000;
const STOP_MAX_MS = 20_000;
const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));

export type ServerAddresses = { base_url: string; device_url: string; operator_url: string; ops_token: string };

/** A server that a command runs for itself, as a process of its own in a temporary folder that goes with it. */
export class OwnServer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'spool-demo-'));
  #child: ChildProcess;
  #ending: Promise<void> | null = null;
  /** The process of its Redis. */
  redis_pid = 0;
  addresses!: ServerAddresses;

  private constructor(readonly settings: Record<string, string>) {
    this.#child = this.#spawned({ PORT: '0', DEVICE_PORT: '0', OPS_PORT: '0' });
  }

  static async start(settings: Record<string, string> = {}): Promise<OwnServer> {
    if (!existsSync(MAIN))
      throw new UserError(
        "No server runs on the configured ports, and there is none here to start. Name one with --server, OPS_URL and OPS_TOKEN, or start one: `npm start` in Spool's repository, or its Docker image. --speech and --week work in the repository alone.",
      );
    const own = new OwnServer(settings);
    // From here on the child is ours to end, also when somebody presses Ctrl-C while it starts.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => {
        console.log(`\n${signal}: stopping.`);
        void own.end().finally(() => process.exit(130));
      });
    }
    try {
      await own.#ready();
      return own;
    } catch (error) {
      await own.end();
      throw error;
    }
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Ends the server without a word (SIGKILL); its Redis goes on, and `restart` takes it over. */
  async kill(): Promise<void> {
    const gone = exitOf(this.#child);
    this.#child.kill('SIGKILL');
    await gone;
  }

  /** Starts it again at the same addresses. */
  async restart(): Promise<void> {
    const { base_url, device_url, operator_url } = this.addresses;
    const port = (url: string) => new URL(url).port;
    this.#child = this.#spawned({
      PORT: port(base_url),
      DEVICE_PORT: port(device_url),
      OPS_PORT: port(operator_url),
    });
    await this.#ready();
  }

  /** Ends it and removes its folder. May be called twice. */
  end(): Promise<void> {
    this.#ending ??= endChild(this.#child).then(() =>
      rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 }),
    );
    return this.#ending;
  }

  #spawned(ports: Record<string, string>): ChildProcess {
    const env = { ...process.env };
    // The settings of the person's own server are none of this one's: it must not write into its Redis, or send mails.
    for (const { name } of describeSettings()) delete env[name];
    Object.assign(env, { ...this.settings, ...ports, DATA_DIR: this.#folder, RATE_LIMITS: 'off' });
    // A process group of its own: Ctrl-C must reach the command first, which then stops it in order.
    return spawn(process.execPath, [MAIN], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  async #ready(): Promise<void> {
    const said = await untilReady(this.#child);
    const find = (pattern: RegExp) => {
      const found = pattern.exec(said)?.[1];
      if (found === undefined) throw new Error(`the server's first lines don't hold ${pattern}`);
      return found;
    };
    this.redis_pid = Number(find(/^ *redis +own process (\d+)/m));
    this.addresses = {
      base_url: find(/^ *start page +(\S+)/m),
      device_url: find(/^ *devices +(\S+)/m),
      operator_url: find(/^ *operators +(\S+)/m),
      ops_token: readFileSync(join(this.#folder, 'ops_token'), 'utf8').trim(),
    };
  }
}

/** The server's output, once it has printed all its addresses. */
function untilReady(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let out = '';
    let complaints = '';
    const late = setTimeout(
      () => reject(new UserError(`No server of its own after ${START_MAX_MS / 1000} s.\n${complaints}`)),
      START_MAX_MS,
    );
    child.stdout?.on('data', (text: Buffer) => {
      out = (out + text.toString()).slice(-10_000);
      if (!/^ *redis +.*\n/m.test(out)) return;
      clearTimeout(late);
      resolve(out);
    });
    child.stderr?.on('data', (text: Buffer) => {
      complaints = (complaints + text.toString()).slice(-10_000);
    });
    child.once('error', reject);
    child.once('exit', () => {
      clearTimeout(late);
      reject(new UserError(`Its own server could not start.\n${complaints.trim()}`));
    });
  });
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = exitOf(child);
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_MAX_MS);
  await gone;
  clearTimeout(late);
}

function exitOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.once('exit', () => resolve()));
}
