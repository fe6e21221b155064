import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { call } from '../../kits/typescript/src/http_call.js';
import type { Settings } from '../../src/host/settings.js';
import { operatorPlace } from '../cli/operator_access.js';
import { UserError, WRONG_USAGE } from '../user_error.js';
import { OwnServer, type ServerAddresses } from './own_server.js';

/** The server that a command with simulated devices works with. */
export type ChosenServer = ServerAddresses & {
  description: string;
  /** Null when it is somebody else's. */
  own: OwnServer | null;
  /** Ends it and removes its folder, if it is our own. May be called twice. */
  end(): Promise<void>;
};

const LOOK_MAX_MS = 1_000;
const DEVICE_PORT = 8443;

/** One that already runs on the ports of the settings, or one of our own in a temporary folder. */
export async function chooseServer(settings: Settings): Promise<ChosenServer> {
  const { port, device_port, ops_port } = settings;
  const operator_url = `http://${reachable(settings.ops_host)}:${ops_port}`;
  if (!(await isSpool(operator_url)))
    return ownServer({ ...engineSettings('TRANSCRIBE'), ...engineSettings('INSIGHTS') });
  return {
    own: null,
    description: `running on ports ${port}, ${device_port} and ${ops_port}`,
    base_url: `http://${reachable(settings.host)}:${port}`,
    // A name that the listener's certificate holds.
    device_url: `https://${settings.device_names[0]}:${device_port}`,
    operator_url,
    ops_token: settings.ops_token ?? readToken(settings.data_dir),
    end: async () => {},
  };
}

/** One that is named; its operator port is where the environment says. Throws UserError for what is no address. */
export function namedServer(server: string, device_server: string | undefined): ChosenServer {
  const base = addressOf(server, { option: '--server', protocols: ['http:', 'https:'] });
  const devices = addressOf(device_server ?? `https://${base.hostname}:${DEVICE_PORT}`, {
    ...{ option: '--device-server', protocols: ['https:'] },
  });
  const { url, token } = operatorPlace(process.env);
  return {
    ...{ own: null, description: base.origin, base_url: base.origin, device_url: devices.origin },
    ...{ operator_url: url, ops_token: token, end: async () => {} },
  };
}

function addressOf(text: string, { option, protocols }: { option: string; protocols: string[] }): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && protocols.includes(url.protocol) && url.href === `${url.origin}/`) return url;
  throw new UserError(
    `${option} must be an address without a path, such as ${protocols.at(-1)}//localhost.`,
    WRONG_USAGE,
  );
}

/** One of our own, with these settings beside those that every such one has. */
export async function ownServer(settings: Record<string, string> = {}): Promise<ChosenServer> {
  const own = await OwnServer.start(settings);
  return { description: 'its own, in a temporary folder', own, ...own.addresses, end: () => own.end() };
}

/** Which engine may be said with the command; nothing else of the person's own server is one of our own's. */
export function engineSettings(prefix: 'TRANSCRIBE' | 'INSIGHTS'): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      (name === prefix || name.startsWith(`${prefix}_`)) && value !== undefined ? [[name, value] as const] : [],
    ),
  );
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
    throw new UserError(
      `A server is running, but its operator token is not in ${file}. Set DATA_DIR to its folder, or OPS_TOKEN to its token.`,
    );
  }
}
