import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { call } from '../client/http_call.js';
import { describeSettings, type Settings } from '../settings.js';
import { DemoStop } from './demo_stop.js';

/** The server that the demo works with. */
export type ChosenServer = {
  description: string;
  base_url: string;
  device_url: string;
  operator_url: string;
  ops_token: string;
  /** Ends it and removes its folder, if it is the demo's own. May be called twice. */
  end(): Promise<void>;
};

const START_MAX_MS = 60_000;
const STOP_MAX_MS = 20_000;
const LOOK_MAX_MS = 1_000;
const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));

/** One that already runs on the ports of the settings, or one of our own in a temporary folder. */
export async function chooseServer(settings: Settings): Promise<ChosenServer> {
  const { port, device_port, ops_port } = settings;
  const operator_url = `http://${reachable(settings.ops_host)}:${ops_port}`;
  if (!(await isSpool(operator_url))) return ownServer();
  return {
    description: `running on ports ${port}, ${device_port} and ${ops_port}`,
    base_url: `http://${reachable(settings.host)}:${port}`,
    // A name that the listener's certificate holds.
    device_url: `https://${settings.device_names[0]}:${device_port}`,
    operator_url,
    ops_token: settings.ops_token ?? readToken(settings.data_dir),
    end: async () => {},
  };
}

function reachable(host: string): string {
  const bare = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return bare.includes(':') ? `[${bare}]` : bare;
}

/** Whether what answers there is a Spool: another program may well use the port. */
async function isSpool(operator_url: string): Promise<boolean> {
  try {
    const asked = call({
      method: 'GET',
      url: new URL('/healthz', operator_url),
      signal: AbortSignal.timeout(LOOK_MAX_MS),
    });
    const { status, body } = await asked;
    return status === 200 && (JSON.parse(body.toString()) as { alive?: unknown }).alive === true;
  } catch {
    return false;
  }
}

function readToken(data_dir: string): string {
  const file = join(data_dir, 'ops_token');
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw new DemoStop(
      `A server is running, but its operator token is not in ${file}. Set DATA_DIR to its folder, or OPS_TOKEN to its token.`,
    );
  }
}

async function ownServer(): Promise<ChosenServer> {
  const folder = mkdtempSync(join(tmpdir(), 'spool-demo-'));
  const env = { ...process.env };
  // The settings of the person's own server are none of this one's: it must not write into its Redis, or send mails.
  for (const { name } of describeSettings()) delete env[name];
  Object.assign(env, { PORT: '0', DEVICE_PORT: '0', OPS_PORT: '0', DATA_DIR: folder, RATE_LIMITS: 'off' });
  // A process group of its own: Ctrl-C must reach the demo first, which then stops it in order.
  const child = spawn(process.execPath, [MAIN], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let ending: Promise<void> | null = null;
  const end = () => {
    ending ??= endChild(child).then(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
    return ending;
  };
  // From here on the child is ours to end, also when somebody presses Ctrl-C while it starts.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      console.log(`\n${signal}: stopping.`);
      void end().finally(() => process.exit(130));
    });
  }
  try {
    const said = await untilReady(child);
    const find = (pattern: RegExp) => {
      const found = pattern.exec(said)?.[1];
      if (found === undefined) throw new Error(`the server's first lines don't hold ${pattern}`);
      return found;
    };
    return {
      description: 'its own, in a temporary folder',
      base_url: find(/^ *REST +(\S+)/m),
      device_url: find(/^ *devices +(\S+)/m),
      operator_url: find(/^ *operators +(\S+)/m),
      ops_token: readToken(folder),
      end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** What the server said, once it has said all its addresses. */
function untilReady(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let out = '';
    let complaints = '';
    const late = setTimeout(
      () => reject(new DemoStop(`No server of its own after ${START_MAX_MS / 1000} s.\n${complaints}`)),
      START_MAX_MS,
    );
    child.stdout?.on('data', (text: Buffer) => {
      out = (out + text.toString()).slice(-10_000);
      if (!/^ *redis +/m.test(out)) return;
      clearTimeout(late);
      resolve(out);
    });
    child.stderr?.on('data', (text: Buffer) => {
      complaints = (complaints + text.toString()).slice(-10_000);
    });
    child.once('error', reject);
    child.once('exit', () => {
      clearTimeout(late);
      reject(new DemoStop(`Its own server could not start.\n${complaints.trim()}`));
    });
  });
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_MAX_MS);
  await gone;
  clearTimeout(late);
}
