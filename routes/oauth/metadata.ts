import { z } from 'zod';
import { issuerOf, issuerUrl, RESOURCE_METADATA_PATH } from '../../src/access/issuer.js';
import { AUTH_METHODS } from '../../src/access/oauth_client.js';
import { audienceUrl, MCP_PATH, MCP_PATH_WITH_SLASH } from '../../src/domain/audiences.js';
import type { Permission } from '../../src/domain/permissions.js';
import { CURRENT_SCOPES, WORKSPACE_SCOPES } from '../../src/domain/scopes.js';
import { type Call, openRoute, type Route } from '../rows.js';

/**
 * Discovery: metadata of the authorization server (RFC 8414) and of the protected resource (RFC 9728), and the keys.
 * Each answer is about the address that was asked. Rules C-003 to C-006 and C-018.
 */

const SERVER_METADATA_PATH = '/.well-known/oauth-authorization-server';
const JWKS_PATH = '/.well-known/jwks.json';
const NAME = 'Spool';

/** Scopes that any client may ask for: official MCP clients ask for all that a resource lists. */
const ANYBODYS_SCOPES = CURRENT_SCOPES.filter((scope) => !WORKSPACE_SCOPES.includes(scope));

const uri = z.string().meta({ format: 'uri' });
const address = (what: string) => uri.describe(what);
const list = (what: string) => z.array(z.string()).describe(what);

const serverShape = z
  .strictObject({
    issuer: address('Who issues; the same as `iss` in tokens and redirects.'),
    authorization_endpoint: address('Where sign-in in a browser begins.'),
    token_endpoint: address('Where codes are exchanged and tokens refreshed.'),
    registration_endpoint: address('Where a client registers itself (RFC 7591).'),
    introspection_endpoint: address('Where our own servers ask what a token is worth (RFC 7662).'),
    revocation_endpoint: address('Where a token is revoked (RFC 7009).'),
    authorization_challenge_endpoint: address('Where our own native apps sign people in.'),
    end_session_endpoint: address('Where the browser session is ended.'),
    jwks_uri: address('Keys that access tokens are checked with (RFC 7517).'),
    scopes_supported: list('What a client may ask for.'),
    response_types_supported: list('What `response_type` may be.'),
    response_modes_supported: list('How the answer to an authorization comes back.'),
    grant_types_supported: list('What `grant_type` may be.'),
    code_challenge_methods_supported: list('How the verifier becomes the challenge (RFC 7636).'),
    token_endpoint_auth_methods_supported: list('How clients authenticate there.'),
    revocation_endpoint_auth_methods_supported: list('How clients authenticate there.'),
    introspection_endpoint_auth_methods_supported: list('How clients authenticate there.'),
    authorization_response_iss_parameter_supported: z
      .boolean()
      .describe('Whether redirects name the issuer (RFC 9207).'),
    client_id_metadata_document_supported: z
      .boolean()
      .describe('Whether a `client_id` may be the https address of a document about the client.'),
    protected_resources: z.array(uri).describe('Which APIs take its tokens.'),
  })
  .meta({ id: 'AuthorizationServer' });

const resourceShape = z
  .strictObject({
    resource: address('What tokens for it name as their audience.'),
    authorization_servers: z.array(uri).describe('Who issues them.'),
    bearer_methods_supported: list('Where a request shows its token.'),
    scopes_supported: list('What tokens for it may allow.'),
    resource_name: z.string().describe('What people call it.'),
  })
  .meta({ id: 'ProtectedResource' });

const keySetShape = z.strictObject({
  keys: z
    .array(
      z.strictObject({
        kty: z.literal('EC').describe('The kind of key.'),
        crv: z.literal('P-256').describe('Its curve.'),
        x: z.string().describe('The first coordinate, in base64url.'),
        y: z.string().describe('The second one.'),
        kid: z.string().describe('The id by which a token names its key.'),
        use: z.literal('sig').describe('It signs.'),
        alg: z.literal('ES256').describe('How it signs.'),
      }),
    )
    .describe('Those that sign, soon will, or have signed tokens that still live (RFC 7517).'),
});

/** `mcp_scopes`: what clients of the MCP server ask for at first. */
export const metadataRoutes = (mcp_scopes: readonly Permission[]): readonly Route[] => [
  ...metadataAt([SERVER_METADATA_PATH, ...ofMcp(SERVER_METADATA_PATH)], {
    summary: 'What the authorization server offers, and where (RFC 8414).',
    answer: serverShape,
    write: async (iss) => ({
      issuer: iss,
      authorization_endpoint: `${iss}/oauth/authorize`,
      token_endpoint: `${iss}/oauth/token`,
      registration_endpoint: `${iss}/oauth/register`,
      introspection_endpoint: `${iss}/oauth/introspect`,
      // One address for both, as the interface has it; clients that want to revoke look for this member.
      revocation_endpoint: `${iss}/oauth/token`,
      authorization_challenge_endpoint: `${iss}/oauth/authorize-challenge`,
      end_session_endpoint: `${iss}/oauth/end-session`,
      jwks_uri: iss + JWKS_PATH,
      scopes_supported: [...CURRENT_SCOPES],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      // Left out, these would mean client_secret_basic alone (RFC 8414, 2).
      token_endpoint_auth_methods_supported: [...AUTH_METHODS],
      revocation_endpoint_auth_methods_supported: [...AUTH_METHODS],
      introspection_endpoint_auth_methods_supported: ['client_secret_basic'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      protected_resources: [audienceUrl(iss, 'api'), audienceUrl(iss, 'mcp')],
    }),
  }),

  // At the root stands the origin, for REST; the document of the MCP server must be the one with its path.
  metadata({
    path: RESOURCE_METADATA_PATH,
    summary: 'Where tokens for the REST API come from (RFC 9728).',
    answer: resourceShape,
    write: async (iss) => ({
      resource: audienceUrl(iss, 'api'),
      ...protectedBy(iss),
      scopes_supported: [...ANYBODYS_SCOPES],
      resource_name: NAME,
    }),
  }),
  ...metadataAt(ofMcp(RESOURCE_METADATA_PATH), {
    summary: 'Where tokens for the MCP server come from (RFC 9728).',
    answer: resourceShape,
    write: async (iss) => ({
      resource: audienceUrl(iss, 'mcp'),
      ...protectedBy(iss),
      scopes_supported: [...mcp_scopes],
      resource_name: `${NAME} MCP`,
    }),
  }),

  metadata({
    path: JWKS_PATH,
    summary: 'The keys that sign access tokens.',
    answer: keySetShape,
    write: async (_iss, { services }) => ({ keys: await services.signing_keys.published() }),
  }),
];

/**
 * The paths at which clients look for metadata of `/mcp`: some put its path after the well-known one, some before it.
 */
function ofMcp(path: string): string[] {
  return [path + MCP_PATH, path + MCP_PATH_WITH_SLASH, MCP_PATH + path];
}

function protectedBy(iss: string) {
  return { authorization_servers: [iss], bearer_methods_supported: ['header'] };
}

type Metadata<Shape extends z.ZodType> = {
  path: string;
  /** Absent if another path of the same document is in the reference. */
  summary?: string;
  answer: Shape;
  write: (iss: string, call: Call<null, undefined, undefined>) => Promise<z.input<Shape>>;
};

/** The same document at several paths. The first of them is in the reference. */
function metadataAt<Shape extends z.ZodType>(
  paths: readonly string[],
  { summary, ...row }: Omit<Metadata<Shape>, 'path'>,
): Route[] {
  return paths.map((path, at) => metadata<Shape>({ path, ...row, ...(at === 0 && { summary }) } as Metadata<Shape>));
}

/** A public document, for every web page, that may be cached for a while. */
function metadata<Shape extends z.ZodType>({ answer, write, ...row }: Metadata<Shape>): Route {
  return openRoute({
    method: 'GET',
    ...row,
    credential: 'none',
    dialect: 'oauth',
    // Whatever headers a page adds: MCP clients name their protocol version here too.
    cors: { origin: '*', methods: ['GET'], allowedHeaders: '*' },
    answer,
    async handler(call) {
      const { services, request, reply } = call;
      const document = await write(issuerUrl(services, issuerOf(services, request)), call);
      reply.header('Cache-Control', 'public, max-age=300').removeHeader('Pragma');
      return document;
    },
  });
}
