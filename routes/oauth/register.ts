import type { ResourceScopes } from '../../src/features/oauth/clients/third_party_scopes.js';
import { registerClient, registrationForm, registrationShape } from '../../src/features/oauth/registration.js';
import { openRoute, type Route } from '../rows.js';

/** `mcp_scopes`: what the MCP server asks clients to ask for. */
export const registrationRoutes = (mcp_scopes: ResourceScopes): readonly Route[] => [
  openRoute({
    method: 'POST',
    path: '/oauth/register',
    summary: 'Registers an OAuth client (RFC 7591).',
    notes: 'The secret of a confidential one is shown in this answer alone. Metadata that is not used is ignored.',
    credential: 'none',
    dialect: 'oauth',
    rate: 'registrations',
    status: 201,
    answer: registrationShape,
    reads: { body: registrationForm },
    example: { client_name: 'Meeting Notes', redirect_uris: ['https://app.example/callback'] },
    refusals: ['invalid_client_metadata', 'invalid_redirect_uri'],
    handler: ({ services, request }) => {
      const bytes = request.body as Uint8Array | undefined;
      return registerClient(services, { content_type: request.headers['content-type'], bytes }, mcp_scopes);
    },
  }),
];
