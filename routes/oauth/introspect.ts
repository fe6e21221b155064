import { z } from 'zod';
import { type AccessTokenHolder, accessTokenHolder, accountDeleted } from '../../src/access/principal.js';
import { id } from '../../src/access/response_schemas.js';
import { isOauthError, oauthError } from '../../src/domain/oauth_errors.js';
import { isEnabled } from '../../src/domain/permissions.js';
import { orNull } from '../../src/domain/refusals.js';
import { lasting } from '../../src/edge/http/lasting_answers.js';
import { authenticateOwnServer } from '../../src/features/oauth/client_authentication.js';
import { openRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

const AGENT = 'svc-agent';

const introspectionShape = z.union([
  z
    .strictObject({
      active: z.literal(true).describe('It may be used now.'),
      token_type: z.literal('Bearer').describe('How it is shown.'),
      client_id: z.string().describe('Whom it was issued to.'),
      sub: id.describe('The account.'),
      username: z.string().describe("The account's email."),
      scope: z.string().describe('The permissions that it gives now, with spaces between them.'),
      agent_enabled: z.boolean().optional().describe("For tokens of the agent's client alone."),
    })
    .meta({ id: 'ActiveToken' }),
  z.strictObject({ active: z.literal(false).describe('It is worth nothing; the reason is not given.') }),
]);

type Introspected = z.infer<typeof introspectionShape>;

const INACTIVE: Introspected = lasting({ active: false });
/** What was said of each that stands behind a token, which is another object once anything of it changed. */
const said = new WeakMap<AccessTokenHolder, Introspected>();

/** Our own servers ask at one address about tokens of both. */
async function holderAtAny(services: Services, token: string): Promise<AccessTokenHolder> {
  const holder = accessTokenHolder(services, token, 'base');
  if (services.addresses().legacy_base_url === null) return holder;
  return (await orNull(holder, 'UNAUTHORIZED')) ?? accessTokenHolder(services, token, 'legacy');
}

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
      const caller = await authenticateOwnServer(services, request, body);
      if (isOauthError(caller)) return caller;
      if (body.token === undefined) return oauthError('invalid_request', 'token is missing.');
      const holder = await orNull(holderAtAny(services, body.token), 'UNAUTHORIZED');
      // Only what is known to be over is inactive: a problem on our side says nothing about a token.
      if (holder === null) return INACTIVE;
      const answer = said.get(holder) ?? lasting(introspected(holder));
      said.set(holder, answer);
      return answer;
    },
  }),
];

function introspected({ account, claims, permissions }: AccessTokenHolder): Introspected {
  // Nobody may act for it but to sign out and to restore it, and that is asked for here.
  if (accountDeleted(account) !== null) return { active: false };
  return {
    active: true,
    token_type: 'Bearer',
    client_id: claims.client_id,
    sub: account.id,
    username: account.email,
    scope: permissions.join(' '),
    ...(claims.client_id === AGENT ? { agent_enabled: isEnabled(account.entitlements, 'agent.experimental') } : {}),
  };
}
