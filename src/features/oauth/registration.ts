import { z } from 'zod';
import { AUTH_METHODS } from '../../access/oauth_client.js';
import { count } from '../../access/response_schemas.js';
import { LIMITS } from '../../domain/limits.js';
import { isOauthError, type OauthError, type OauthErrorCode, oauthError } from '../../domain/oauth_errors.js';
import { scopeList } from '../../domain/scopes.js';
import { decodeJson } from '../../engine/wire/json.js';
import { bodyFormat } from '../../engine/wire/media_types.js';
import { parseGiven } from '../../engine/wire/schema_faults.js';
import type { FeatureServices } from '../services.js';
import { carriesBrand } from './clients/brand_names.js';
import { clientName } from './clients/client_names.js';
import type { Clients, MadeClient, NewClient } from './clients/clients.js';
import { hasAppScheme, redirectHost, redirectUriProblem } from './clients/redirect_uris.js';
import { countingScopes, type ResourceScopes, scopesOfRegistered } from './clients/third_party_scopes.js';

/**
 * Dynamic client registration (RFC 7591). The body is checked here and not by the row's schema, since its faults have
 * texts of their own. Unused metadata is ignored and not echoed, since it is not registered.
 */

const REDIRECT_URIS_CHARS_MAX = 8_000; // ours: of a registration together, since anybody may register

const GRANT_TYPES = ['authorization_code', 'refresh_token'];
const RESPONSE_TYPES = ['code'];
const LIST_MAX = 32;
const WORD_CHARS_MAX = 200;
const SCOPE_CHARS_MAX = 4_000;

/** A null means the same as an absent member (RFC 7592, 2), and so does an empty text, which many clients send. */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess(
    (value) => (value === null || (typeof value === 'string' && value.trim() === '') ? undefined : value),
    schema.optional(),
  );

const words = (needed: string) =>
  optional(
    z
      .array(
        z.string('must be text').max(WORD_CHARS_MAX, `must have at most ${WORD_CHARS_MAX} characters`),
        'must be a list',
      )
      .max(LIST_MAX, `must have at most ${LIST_MAX} entries`)
      .refine((list) => list.includes(needed), `must hold ${needed}`),
  );

const metadata = z.object({
  client_name: optional(clientName).describe('What people see; the redirect host when absent.'),
  scope: optional(z.string('must be scope names with spaces between').max(SCOPE_CHARS_MAX, 'is too long')).describe(
    'What it may ask for, with spaces between; all that a third party can have when absent. Unknown names are ignored.',
  ),
  token_endpoint_auth_method: optional(z.enum(AUTH_METHODS, `must be ${AUTH_METHODS.join(', ')}`)).describe(
    'none, the default: a public client without a secret. With one, both other ways work.',
  ),
  application_type: optional(z.enum(['web', 'native'], 'must be web or native')).describe(
    'web or native; what its addresses say when absent.',
  ),
  // Others that are asked for are left out: the answer says which a client got.
  grant_types: words('authorization_code').describe(
    'authorization_code must be among them; refresh_token comes with it.',
  ),
  response_types: words('code').describe('code must be among them.'),
});

const redirects = z.object({
  redirect_uris: z
    .array(z.string('must be text'), 'must be a list of addresses')
    .min(1, 'must name at least one address')
    .max(LIMITS.redirect_uris_max, `must name at most ${LIMITS.redirect_uris_max} addresses`)
    .refine(
      (uris) => uris.join('').length <= REDIRECT_URIS_CHARS_MAX,
      `must be at most ${REDIRECT_URIS_CHARS_MAX} characters together`,
    )
    .transform((uris, context) => {
      const registered = uris.filter((uri) => redirectUriProblem(uri) === null);
      for (const [index, uri] of uris.entries()) {
        const problem = redirectUriProblem(uri);
        const is_left_out = registered.length > 0 && hasAppScheme(uri);
        if (problem !== null && !is_left_out)
          context.addIssue({ code: 'custom', message: problem, path: [index], input: uri });
      }
      return registered;
    })
    .describe('Where people may be sent back to. Addresses of apps that can not be registered are left out.'),
});

export const registrationForm = z.object({ ...redirects.shape, ...metadata.shape });

export const registrationShape = z
  .strictObject({
    client_id: z.string().describe('What the client calls itself from now on.'),
    client_id_issued_at: count.describe('When that was, in Unix seconds.'),
    client_secret: z.string().optional().describe('Of a confidential client; shown this once.'),
    client_secret_expires_at: z.literal(0).optional().describe('0: it does not expire.'),
    client_name: z.string().describe('What people see.'),
    redirect_uris: z.array(z.string()).describe('Where people may be sent back to.'),
    grant_types: z.array(z.string()).describe('What it may get tokens with.'),
    response_types: z.array(z.string()).describe('What it may ask an authorization for.'),
    token_endpoint_auth_method: z.enum(AUTH_METHODS).describe('none: a public client.'),
    application_type: z.enum(['web', 'native']).describe('As asked for, or what its addresses say.'),
    scope: z
      .string()
      .optional()
      .describe('What it gets without asking, where the request named any; names that it can not have are left out.'),
  })
  .meta({ id: 'Registration' });

type RegistrationView = z.infer<typeof registrationShape>;

type RegistrationRequest = { registration: NewClient; application_type: 'web' | 'native'; names_scopes: boolean };

/** A body as received. */
type RegistrationBody = { content_type: string | undefined; bytes: Uint8Array | undefined };

/** Registers a client. `resource_scopes`: what the MCP server asks clients to ask for. */
export async function registerClient(
  { clients, settings }: Pick<FeatureServices, 'settings'> & { clients: Clients },
  sent: RegistrationBody,
  resource_scopes: ResourceScopes,
): Promise<RegistrationView | OauthError> {
  const asked = readRegistration(sent, { brand_names: settings.brand_names, resource_scopes });
  if (isOauthError(asked)) return asked;
  const made = await clients.make(asked.registration, 'registered');
  return registrationView(made, asked);
}

function readRegistration(
  sent: RegistrationBody,
  { brand_names, resource_scopes }: { brand_names: readonly string[]; resource_scopes: ResourceScopes },
): RegistrationRequest | OauthError {
  const body = readObject(sent);
  return isOauthError(body) ? body : readMetadata(body, { brand_names, resource_scopes });
}

/** The client that a document at its client id describes, or the document's first fault. */
export function readClientDocument(
  bytes: Uint8Array,
  { client_id, brand_names }: { client_id: string; brand_names: readonly string[] },
): NewClient | OauthError {
  const body = readObject({ content_type: 'application/json', bytes });
  if (isOauthError(body)) return body;
  if ((body as { client_id?: unknown }).client_id !== client_id)
    return oauthError('invalid_client_metadata', "client_id: must be the document's own address.");
  const read = readMetadata(body, { brand_names, resource_scopes: { first: [], later: [] } });
  if (isOauthError(read)) return read;
  // What everybody can read is no secret.
  return read.registration.token_endpoint_auth_method === 'none' && !('client_secret' in body)
    ? read.registration
    : oauthError('invalid_client_metadata', 'token_endpoint_auth_method: must be none, without a client_secret.');
}

function readMetadata(
  body: object,
  { brand_names, resource_scopes }: { brand_names: readonly string[]; resource_scopes: ResourceScopes },
): RegistrationRequest | OauthError {
  const where = read('invalid_redirect_uri', redirects, body);
  if (isOauthError(where)) return where;
  const what = read('invalid_client_metadata', metadata, body);
  if (isOauthError(what)) return what;
  const { redirect_uris } = where;
  const hosts = redirect_uris.map(redirectHost);
  const name = what.client_name ?? hosts[0]?.host.slice(0, LIMITS.client_name_chars_max) ?? '';
  if (carriesBrand(name, brand_names)) {
    const text = what.client_name === undefined ? 'must be given, since the redirect host' : 'is not free: it';
    return oauthError('invalid_client_metadata', `client_name: ${text} reads like a name of this service.`);
  }
  return {
    registration: {
      name,
      redirect_uris,
      ...scopesOfRegistered(countingScopes(scopeList(what.scope ?? '')), resource_scopes),
      token_endpoint_auth_method: what.token_endpoint_auth_method ?? 'none',
    },
    application_type: what.application_type ?? (hosts.every(({ kind }) => kind === 'web') ? 'web' : 'native'),
    names_scopes: what.scope !== undefined,
  };
}

/** The view of a registration, as it was made (RFC 7591, 3.2.1). */
function registrationView(
  { client, state, client_secret }: MadeClient,
  { application_type, names_scopes }: RegistrationRequest,
): RegistrationView {
  return {
    client_id: client.client_id,
    client_id_issued_at: Math.floor(state.registered_at_ms / 1000),
    ...(client_secret === null ? {} : { client_secret, client_secret_expires_at: 0 as const }),
    client_name: client.name,
    redirect_uris: [...client.redirect_uris],
    grant_types: GRANT_TYPES,
    response_types: RESPONSE_TYPES,
    token_endpoint_auth_method: client.token_endpoint_auth_method,
    application_type,
    ...(names_scopes ? { scope: client.default_scopes.join(' ') } : {}),
  };
}

function readObject({ content_type, bytes }: RegistrationBody): object | OauthError {
  if (bodyFormat(content_type) !== 'json') {
    return oauthError('invalid_client_metadata', 'Content-Type must be application/json.');
  }
  const document = decodeJson(bytes ?? Buffer.alloc(0));
  if (!document.ok) return oauthError('invalid_client_metadata', `The body is not valid JSON: ${document.message}.`);
  if (typeof document.value !== 'object' || document.value === null || Array.isArray(document.value)) {
    return oauthError('invalid_client_metadata', 'The body must be a JSON object.');
  }
  return document.value;
}

/** Parses the body by the schema, or refuses its first fault under this code. */
function read<Schema extends z.ZodType>(
  code: OauthErrorCode,
  schema: Schema,
  body: object,
): z.output<Schema> | OauthError {
  const parsed = parseGiven(schema, body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return oauthError(code, `${issue?.path.join('.') ?? 'The body'}: ${issue?.message ?? 'is not valid'}.`);
}
