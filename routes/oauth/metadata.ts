import { audienceUrl, MCP_PATH } from '../../src/vocabulary/audiences.js';
import { CURRENT_SCOPES, WORKSPACE_SCOPES } from '../../src/vocabulary/scopes.js';
import { MCP_SCOPES } from '../mcp/tools.js';
import { type Call, openRoute, type Route } from '../route.js';
import { issuerOf, issuerUrl, RESOURCE_METADATA_PATH } from './issuer.js';

/**
 * What clients find out by themselves: the authorization server (RFC 8414), what it protects (RFC 9728), its keys. Each
 * answer is about the address that was asked. Interface: "OAuth rules".
 */

const JWKS_PATH = '/.well-known/jwks.json';
const NAME = 'Spool';

/** Scopes that any client may ask for: official MCP clients ask for all that a resource lists. */
const ANYBODYS_SCOPES = CURRENT_SCOPES.filter((scope) => !WORKSPACE_SCOPES.includes(scope));

export const METADATA_ROUTES: readonly Route[] = [
  metadata('/.well-known/oauth-authorization-server', async (iss) => ({
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
    scopes_supported: CURRENT_SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    // Left out, these would mean client_secret_basic alone (RFC 8414, 2).
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
    revocation_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
    introspection_endpoint_auth_methods_supported: ['client_secret_basic'],
    authorization_response_iss_parameter_supported: true,
    protected_resources: [audienceUrl(iss, 'api'), audienceUrl(iss, 'mcp')],
  })),

  // At the root stands the origin, for REST; the document of the MCP server must be the one with its path.
  metadata(RESOURCE_METADATA_PATH, async (iss) => ({
    resource: audienceUrl(iss, 'api'),
    ...protectedBy(iss),
    scopes_supported: ANYBODYS_SCOPES,
    resource_name: NAME,
  })),
  metadata(RESOURCE_METADATA_PATH + MCP_PATH, async (iss) => ({
    resource: audienceUrl(iss, 'mcp'),
    ...protectedBy(iss),
    scopes_supported: MCP_SCOPES,
    resource_name: `${NAME} MCP`,
  })),

  metadata(JWKS_PATH, async (_iss, { services }) => ({ keys: await services.signing_keys.published() })),
];

function protectedBy(iss: string) {
  return { authorization_servers: [iss], bearer_methods_supported: ['header'] };
}

/** A document for everybody, from any web page, that may be kept for a while. */
function metadata(
  path: string,
  write: (iss: string, call: Call<null, undefined, undefined>) => Promise<unknown>,
): Route {
  return openRoute({
    method: 'GET',
    path,
    credential: 'none',
    dialect: 'oauth',
    // Whatever headers a page adds: MCP clients name their protocol version here too.
    cors: { origin: '*', methods: ['GET'], allowedHeaders: '*' },
    async handler(call) {
      const { services, request, reply } = call;
      const document = await write(issuerUrl(services, issuerOf(services, request)), call);
      reply.header('Cache-Control', 'public, max-age=300').removeHeader('Pragma');
      return document;
    },
  });
}
