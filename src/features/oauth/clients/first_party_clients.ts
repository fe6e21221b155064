import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Client } from '../../../access/oauth_client.js';
import { LIMITS } from '../../../domain/limits.js';
import { CURRENT_SCOPES, WORKSPACE_SCOPES } from '../../../domain/scopes.js';
import type { ServerKeys } from '../../../engine/secrets/server_keys.js';
import { parseGiven } from '../../../engine/wire/schema_faults.js';
import { clientName } from './client_names.js';
import { clientSecretHash, randomClientSecret, secretHashProblem } from './client_secrets.js';
import { redirectUri } from './redirect_uris.js';

/**
 * Our own apps. Rules C-015 to C-017 say which they are and how they sign in. Their redirect URIs, scopes and hashes of
 * secrets are in a file that operators keep.
 */

const CLIENT_SECRET_CHARS_MIN = 32; // ours: of secrets that operators choose by hand

type Kind = {
  name: string;
  native: boolean;
  confidential: boolean;
  /** The desktop app and the agent can't. Rule C-110. */
  workspace_scopes: boolean;
  /** Redirect URIs of the app in development; operators name those of a deployment. */
  development_uris: string[];
};

const onThisMachine = (port: number) => [`http://localhost:${port}/callback`, `http://127.0.0.1:${port}/callback`];

const FIRST_PARTY = {
  'svc-web': {
    name: 'Spool',
    native: false,
    confidential: false,
    workspace_scopes: true,
    development_uris: onThisMachine(3000),
  },
  'svc-ios': {
    name: 'Spool for iPhone',
    native: true,
    confidential: false,
    workspace_scopes: true,
    development_uris: [],
  },
  'svc-mac': {
    name: 'Spool for Mac',
    native: true,
    confidential: false,
    workspace_scopes: false,
    development_uris: [],
  },
  'svc-agent': {
    name: 'Spool Agent',
    native: false,
    confidential: true,
    workspace_scopes: false,
    development_uris: onThisMachine(3001),
  },
  'svc-app': {
    name: 'Spool Account',
    native: false,
    confidential: true,
    workspace_scopes: true,
    development_uris: onThisMachine(3002),
  },
} as const satisfies Record<string, Kind>;

type FirstPartyId = keyof typeof FIRST_PARTY;

const FIRST_PARTY_IDS = Object.keys(FIRST_PARTY) as FirstPartyId[];
const CONFIDENTIAL_IDS = FIRST_PARTY_IDS.filter((id) => FIRST_PARTY[id].confidential);

/** The client of the account's own pages at /app, which this server serves itself. */
export const APP_CLIENT_ID: FirstPartyId = 'svc-web';
/** The redirect path of the app at /app on this server, whatever the file says. */
export const APP_CALLBACK_PATH = '/app/callback';

/** A client of the file, with the hashes of the secrets that are valid until staff rotate them. */
export type FirstPartyClient = { client: Client; secret_hashes: readonly string[] };

/** The file is wrong; the message names field and rule. */
export class WrongFirstPartyClients extends Error {
  override readonly name = 'WrongFirstPartyClients';
}

/**
 * Reads the file, and writes it first if it does not exist. In development (no BASE_URL, or a loopback one) each
 * confidential client then has a secret, which is in `first_party_secrets.json` beside it; elsewhere no client has one
 * until staff rotate it. The result has the order of the interface.
 */
export async function openFirstPartyClients(
  settings: { first_party_clients: string; base_url: string | null },
  keys: ServerKeys,
): Promise<FirstPartyClient[]> {
  const file = settings.first_party_clients;
  const text = (await readIfThere(file)) ?? (await writeFirst(file, keys, { development: isDevelopment(settings) }));
  const clients = parseFile(file, text, fileForm(keys));
  return FIRST_PARTY_IDS.map((client_id) => {
    const { native, confidential } = FIRST_PARTY[client_id];
    const { name, redirect_uris, scopes, secret_hashes } = clients[client_id];
    const client: Client = {
      client_id,
      name,
      party: 'first',
      redirect_uris,
      scopes,
      default_scopes: scopes,
      token_endpoint_auth_method: confidential ? 'client_secret_basic' : 'none',
      native,
    };
    return { client, secret_hashes: secret_hashes ?? [] };
  });
}

function isDevelopment({ base_url }: { base_url: string | null }): boolean {
  return base_url === null || ['localhost', '127.0.0.1', '[::1]'].includes(new URL(base_url).hostname);
}

type Entry = { name: string; redirect_uris: string[]; scopes: string[]; secret_hashes?: string[] | undefined };

function entryForm(client_id: FirstPartyId, keys: ServerKeys): z.ZodType<Entry> {
  const { native, confidential, workspace_scopes }: Kind = FIRST_PARTY[client_id];
  const scope = z
    .string('must be text')
    .refine((name) => CURRENT_SCOPES.includes(name), 'must be a current scope name')
    .refine(
      (name) => workspace_scopes || !WORKSPACE_SCOPES.includes(name),
      `is a workspace scope, which ${client_id} cannot have`,
    );
  const secret_hash = z.string('must be text').superRefine((hash, context) => {
    const problem = secretHashProblem(keys, hash);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  });
  return z.strictObject({
    name: clientName,
    redirect_uris: z
      .array(redirectUri, 'must be a list of addresses')
      .max(native ? 0 : LIMITS.redirect_uris_max, native ? 'must be empty: this app signs in natively' : undefined),
    scopes: z
      .array(scope, 'must be a list of scope names')
      .min(1, 'must name at least one scope')
      .refine((names) => new Set(names).size === names.length, 'must not name a scope twice'),
    secret_hashes: confidential
      ? z.array(secret_hash, 'must be a list of hashes').max(LIMITS.client_secrets_max)
      : z.undefined('must be left out: this app has no secret').optional(),
  });
}

const fileForm = (keys: ServerKeys) =>
  z.strictObject(
    Object.fromEntries(FIRST_PARTY_IDS.map((id) => [id, entryForm(id, keys)])) as Record<
      FirstPartyId,
      ReturnType<typeof entryForm>
    >,
  );

/** Secrets in plain text, in development. */
const secretsForm = z.strictObject(
  Object.fromEntries(
    CONFIDENTIAL_IDS.map((id) => [
      id,
      z
        .string('must be text')
        .regex(
          new RegExp(`^[A-Za-z0-9_-]{${CLIENT_SECRET_CHARS_MIN},200}$`),
          `must be ${CLIENT_SECRET_CHARS_MIN} to 200 letters, digits, - and _`,
        ),
    ]),
  ),
);

function parseFile<T>(file: string, text: string, form: z.ZodType<T>): T {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which may hold secrets.
    throw new WrongFirstPartyClients(`${file} is not valid JSON.`);
  }
  const parsed = parseGiven(form, document);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.slice(0, 20).map(({ path, message }) => {
    const where = path.reduce<string>(
      (at, key) => `${at}${typeof key === 'number' ? `[${key}]` : `.${String(key)}`}`,
      '',
    );
    return `  ${where.replace(/^\./, '') || 'the file'}: ${message}`;
  });
  throw new WrongFirstPartyClients(`${file} is wrong:\n${lines.join('\n')}`);
}

/**
 * Writes the first file and returns its text. Secrets are written first and the first process wins, so that processes
 * that start at once agree, and the next start finishes the work of a killed one.
 */
async function writeFirst(file: string, keys: ServerKeys, { development }: { development: boolean }): Promise<string> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  let secrets: Record<string, string> = {};
  if (development) {
    const secrets_file = join(dirname(file), 'first_party_secrets.json');
    const drawn = Object.fromEntries(CONFIDENTIAL_IDS.map((client_id) => [client_id, randomClientSecret()]));
    secrets = parseFile(secrets_file, await writeUnlessThere(secrets_file, drawn), secretsForm);
  }
  const entries = FIRST_PARTY_IDS.map((client_id): [string, Entry] => {
    const { name, confidential, workspace_scopes, development_uris }: Kind = FIRST_PARTY[client_id];
    const secret = secrets[client_id];
    const entry: Entry = {
      name,
      redirect_uris: development ? development_uris : [],
      scopes: CURRENT_SCOPES.filter((scope) => workspace_scopes || !WORKSPACE_SCOPES.includes(scope)),
    };
    if (confidential) {
      entry.secret_hashes = secret === undefined ? [] : [clientSecretHash(keys, { client_id, secret })];
    }
    return [client_id, entry];
  });
  return writeUnlessThere(file, Object.fromEntries(entries));
}

/** Writes a whole file or none; of two processes the first one's stays. Returns the file's text. */
async function writeUnlessThere(file: string, document: unknown): Promise<string> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, `${JSON.stringify(document, null, 2)}\n`, { mode: 0o600, flush: true });
  await link(draft, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(draft);
  return readFile(file, 'utf8');
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new WrongFirstPartyClients(`${file} can't be read (${code}).`);
  }
}
