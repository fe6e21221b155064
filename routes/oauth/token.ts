import { z } from 'zod';
import { issuerOf } from '../../src/access/issuer.js';
import { isOauthError, oauthError } from '../../src/domain/oauth_errors.js';
import { authenticateClient } from '../../src/features/oauth/client_authentication.js';
import { exchangeCode, refreshTokens, revokeToken, tokensShape } from '../../src/features/oauth/oauth_tokens.js';
import { openRoute, type Route } from '../rows.js';

/** Exchange, refresh and revocation at one address. docs/rules.md, "OAuth: tokens and native sign-in". */

const text = z.string().optional();
const form = z.object({
  grant_type: text.describe('authorization_code or refresh_token; absent to revoke `token`.'),
  client_id: text.describe('Who asks, where no secret is shown in the header.'),
  client_secret: text.describe('Of a third party that does not show it in the header (HTTP Basic).'),
  code: text.describe('The code of the redirect, or of native sign-in.'),
  code_verifier: text.describe('What the challenge was made of (RFC 7636).'),
  redirect_uri: text.describe('The one that the code was sent to; none for native sign-in.'),
  refresh_token: text.describe('The last one that the client was given.'),
  scope: text.describe('Names with spaces between them; narrows a refreshed access token.'),
  resource: text.describe('The address of the API, or of its MCP server (RFC 8707); narrows the audience.'),
  token: text.describe('To revoke: an access token or a refresh token.'),
  token_type_hint: text.describe('Taken and not needed.'),
});

const GRANT_TYPES = new Map([
  ['authorization_code', exchangeCode],
  ['refresh_token', refreshTokens],
]);

export const TOKEN_ROUTES: readonly Route[] = [
  openRoute({
    method: 'POST',
    path: '/oauth/token',
    summary: 'Exchanges a code, refreshes tokens, or revokes one.',
    notes:
      '`grant_type` is `authorization_code` or `refresh_token`; without it, `token` is revoked and the answer is empty. Each use of a refresh token gives another one. A confidential client authenticates by HTTP Basic; one of a third party may send `client_secret` instead.',
    credential: 'none',
    client: 'any',
    dialect: 'oauth',
    takes: 'form',
    body: form,
    answer: z.union([tokensShape, z.strictObject({})]),
    example: {
      grant_type: 'authorization_code',
      client_id: 'the-client',
      code: 'spo_…',
      code_verifier: 'the-verifier-that-the-challenge-was-made-of',
      redirect_uri: 'https://app.example/callback',
    },
    refusals: [
      'invalid_client',
      'invalid_grant',
      'unauthorized_client',
      'unsupported_grant_type',
      'invalid_scope',
      'invalid_target',
    ],
    async handler({ services, request, body }) {
      const { grant_type, token } = body;
      if (grant_type === undefined && token === undefined) {
        return oauthError('invalid_request', 'grant_type is missing; to revoke, send token instead.');
      }
      const act = grant_type === undefined ? revokeToken : GRANT_TYPES.get(grant_type);
      if (act === undefined) {
        return oauthError('unsupported_grant_type', `grant_type must be ${[...GRANT_TYPES.keys()].join(' or ')}.`);
      }
      const client = await authenticateClient(services, request.headers.authorization, body);
      return isOauthError(client) ? client : act(services, client, { ...body, issuer: issuerOf(services, request) });
    },
  }),
];
