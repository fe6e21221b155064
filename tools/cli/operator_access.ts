import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorClient } from '../../kits/typescript/src/operator_client.js';
import { readSettings } from '../../src/host/settings.js';
import { UserError, WRONG_USAGE } from '../user_error.js';

type Env = Readonly<Record<string, string | undefined>>;

/** A client of the operator port that the environment names. */
export function operatorAccess(env: Env): OperatorClient {
  const { url, token } = operatorPlace(env);
  return new OperatorClient(url, token);
}

/** Reads the operator port from the environment: OPS_URL or OPS_PORT, OPS_TOKEN or DATA_DIR. */
export function operatorPlace(env: Env): { url: string; token: string } {
  const { ops_port, ops_token, data_dir } = readSettings(env);
  const url = env.OPS_URL?.trim() || `http://127.0.0.1:${ops_port}`;
  // The port speaks HTTP, on loopback as a rule; from elsewhere it is reached through a tunnel.
  if (!URL.canParse(url) || new URL(url).protocol !== 'http:' || new URL(url).pathname !== '/') {
    throw new UserError('OPS_URL must be an http address without a path, such as http://127.0.0.1:9090.', WRONG_USAGE);
  }
  return { url, token: ops_token ?? readToken(data_dir) };
}

function readToken(data_dir: string): string {
  const file = join(data_dir, 'ops_token');
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw new UserError(
      `The operator token is not in ${file}. Set DATA_DIR to the server's folder, or OPS_TOKEN to its token.`,
    );
  }
}
