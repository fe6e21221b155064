import { z } from 'zod';
import { atBase, issuerOf } from '../../src/access/issuer.js';
import { requestLanguage } from '../../src/edge/pages/request_language.js';
import { signInNatively } from '../../src/features/oauth/native_sign_in.js';
import { openRoute, type Route } from '../rows.js';

/** Native sign-in of first-party apps. Rules C-081 to C-098. */

const text = z.string().optional();
const form = z.object({
  client_id: text.describe('svc-ios or svc-mac.'),
  response_type: text.describe('code.'),
  code_challenge: text.describe('SHA-256 of the verifier, 43 characters of base64url.'),
  code_challenge_method: text.describe('S256.'),
  email: text.describe('Who signs in; the code goes there.'),
  scope: text.describe('Names with spaces between them; all of the client when absent.'),
  resource: text.describe('The address of the API, or of its MCP server (RFC 8707).'),
  installation_label: text.describe('What the connected app is called.'),
  captcha_token: text.describe('Where a CAPTCHA is configured: the token that its widget gave.'),
  auth_session: text.describe('In the second request: what the first one was answered with.'),
  otp: text.describe('In the second request: the code of the mail.'),
});

export const CHALLENGE_ROUTES: readonly Route[] = [
  openRoute({
    method: 'POST',
    path: '/oauth/authorize-challenge',
    summary: 'Signs a person in without a browser, in two steps, for our own native apps.',
    notes:
      'The first request names the client, the challenge and the email, and is answered with 403 `insufficient_authorization`, whose `auth_session` goes into the second one together with the emailed `otp`. Five wrong codes, or ten minutes, end it. At an earlier address of the service the answer is 307 to the present one.',
    credential: 'none',
    rate: 'native_steps',
    dialect: 'oauth',
    takes: 'form',
    body: form,
    answer: z.strictObject({
      authorization_code: z.string().describe('What the token endpoint exchanges, within a minute.'),
    }),
    example: {
      client_id: 'the-client',
      response_type: 'code',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
      email: 'ann@example.com',
    },
    refusals: [
      'unauthorized_client',
      'invalid_scope',
      'invalid_target',
      'invalid_session',
      'insufficient_authorization',
    ],
    async handler({ services, request, reply, body }) {
      // New sign-ins are made at the present address only; the method and the form stay.
      if (issuerOf(services, request) === 'legacy') return reply.redirect(atBase(services, request), 307);
      return signInNatively(services, { ...body, ip: request.ip, language: requestLanguage(request) });
    },
  }),
];
