import { z } from 'zod';
import { isOauthError, oauthError } from '../../src/domain/oauth_errors.js';
import { authenticateOwnServer } from '../../src/features/oauth/client_authentication.js';
import { introspect, introspectionShape } from '../../src/features/oauth/introspection.js';
import { openRoute, type Route } from '../rows.js';

/** RFC 7662, for our own confidential clients. Rules C-073 to C-080. */
export const INTROSPECT_ROUTES: readonly Route[] = [
  openRoute({
    method: 'POST',
    path: '/oauth/introspect',
    summary: 'Says what a token is worth, to our own confidential clients.',
    notes: 'The client authenticates by HTTP Basic.',
    credential: 'none',
    client: 'confidential',
    dialect: 'oauth',
    takes: 'form',
    body: z.object({
      token: z.string().optional().describe('The access token that was shown.'),
      client_id: z.string().optional().describe('Who asks; the header says it as well.'),
      client_secret: z.string().optional().describe('Not taken: a secret goes into the header (HTTP Basic).'),
    }),
    answer: introspectionShape,
    example: { token: 'eyJ…' },
    refusals: ['invalid_client'],
    async handler({ services, request, body }) {
      const caller = await authenticateOwnServer(services, request.headers.authorization, body);
      if (isOauthError(caller)) return caller;
      if (body.token === undefined) return oauthError('invalid_request', 'token is missing.');
      return introspect(services, body.token);
    },
  }),
];
