import { z } from 'zod';
import type { AccountMessage } from '../../actors/accounts/account.js';
import { isLiving } from '../../actors/accounts/account_tokens.js';
import type { PersonalAccessToken } from '../../actors/accounts/personal_access_token.js';
import { listCursor, pageOfAll } from '../../src/access/cursors.js';
import type { Principal } from '../../src/access/principal.js';
import { listLimit, timestamp, trimmedText } from '../../src/access/request_schemas.js';
import { id, moment, pageShape, permission } from '../../src/access/response_schemas.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { PERMISSIONS, type Permission } from '../../src/domain/permissions.js';
import { orNull, Refused, refuse } from '../../src/domain/refusals.js';
import { WORKSPACE_SCOPES } from '../../src/domain/scopes.js';
import { randomId } from '../../src/engine/runtime/random.js';
import { makeSecret } from '../../src/engine/secrets/tokens.js';
import { accountRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** Tokens that people make for programs of their own. docs/rules.md, "Personal access tokens". */

const NOT_OURS = refuse('FORBIDDEN', 'Only our own apps, with account:manage, may do this.', {
  scope: ['account:manage'],
});
const ITSELF_ALONE = refuse('FORBIDDEN', 'A personal access token can revoke no token but itself.');

const GRANTABLE = PERMISSIONS.filter((permission) => !WORKSPACE_SCOPES.includes(permission));
const permissions = z
  .array(
    z.enum(GRANTABLE, 'must be a current permission name that is no workspace permission'),
    'must be a list of permission names',
  )
  .min(1, 'must name at least one permission')
  .max(PERMISSIONS.length, 'names more permissions than there are')
  .transform((names) => PERMISSIONS.filter((permission) => names.includes(permission)));

const tokenShape = z
  .strictObject({
    id,
    name: z.string(),
    permissions: z.array(permission).describe('What it may do, as far as the account still can.'),
    last_four: z.string().describe("The value's last four characters."),
    created_at: moment,
    expires_at: moment.nullable().describe('Null for one that lives until it is revoked.'),
    last_used_at: moment.nullable().describe('To the minute; null while it was never used.'),
  })
  .meta({ id: 'PersonalAccessToken' });

export const PERSONAL_ACCESS_TOKEN_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'POST',
    path: '/me/tokens',
    summary: 'Makes a personal access token.',
    notes: 'Its value is shown in this answer alone. It can have no permission that the caller lacks.',
    credential: 'app',
    permission: ['account:manage'],
    own_apps: true,
    status: 201,
    body: z.object({
      name: trimmedText(LIMITS.token_name_chars_max),
      permissions: permissions.describe('What it may do; nothing that the caller lacks.'),
      expires_at: timestamp.nullable().default(null).describe('When it ends; null: not until it is revoked.'),
    }),
    answer: z.strictObject({ token: tokenShape, value: z.string().describe('The token itself, shown this once.') }),
    refusals: ['CONFLICT'],
    handler: async ({ services, who, body }) => create(services, who, body),
  }),

  accountRoute({
    method: 'GET',
    path: '/me/tokens',
    summary: 'The personal access tokens that have not ended, newest first.',
    credential: 'app',
    permission: ['account:manage'],
    own_apps: true,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(tokenShape),
    async handler({ services: { clock, actors }, who, query }) {
      const living = who.account.tokens.filter((token) => isLiving(token, clock.now())).toReversed();
      const page = pageOfAll(living, { ...query, idOf: ({ id }) => id });
      const found = await Promise.all(
        page.rows.map(({ id }) => orNull(actors.personalAccessToken(id).view(), 'UNAUTHORIZED')),
      );
      const items = found.flatMap((token, index) =>
        token === null ? [] : [tokenView(page.rows[index]?.id ?? '', token)],
      );
      return { items, cursor: page.cursor };
    },
  }),

  accountRoute({
    method: 'DELETE',
    path: '/me/tokens/:id',
    summary: 'Revokes a personal access token.',
    notes: 'A personal access token can revoke itself, and no other.',
    credential: 'account',
    status: 204,
    refusals: ['FORBIDDEN'],
    async handler({ services, who, params }) {
      const token_id = params.id as string;
      if (who.kind === 'personal_access_token' && who.credential_id !== token_id) throw new Refused(ITSELF_ALONE);
      const is_own = who.client?.first_party && who.permissions.includes('account:manage');
      if (who.kind === 'oauth' && !is_own) throw new Refused(NOT_OURS);
      return services.actors.downstream.account(who.account_id).revoke_token({ token_id }, who.fences);
    },
  }),
];

async function create(
  services: Services,
  who: Principal,
  asked: { name: string; permissions: Permission[]; expires_at: string | null },
): Promise<unknown> {
  const { clock, keys, actors } = services;
  const { name } = asked;
  const expires_at_ms = asked.expires_at === null ? null : Date.parse(asked.expires_at);
  if (expires_at_ms !== null && expires_at_ms <= clock.now()) {
    throw new Refused(
      refuse('BAD_REQUEST', 'expires_at: must be in the future.', {
        details: [{ path: 'expires_at', message: 'must be in the future' }],
      }),
    );
  }
  const missing = asked.permissions.filter((permission) => !who.permissions.includes(permission));
  if (missing.length > 0) throw new Refused(refuse('FORBIDDEN', `You do not hold ${missing.join(', ')} yourself.`));
  const token_id = randomId({ partition: partitionOfId(who.account_id), now_ms: clock.now() });
  const { text, secret_hash } = makeSecret(keys, 'personal_access_token', token_id);
  const message = {
    type: 'add_token' as const,
    token_id,
    token: { name, permissions: asked.permissions, last_four: text.slice(-4), expires_at_ms, secret_hash },
  } satisfies AccountMessage;
  const added = await actors.downstream.account(who.account_id).add_token(
    {
      token_id,
      token: { name, permissions: asked.permissions, last_four: text.slice(-4), expires_at_ms, secret_hash },
    },
    who.fences,
  );
  return { token: tokenView(token_id, { ...message.token, ...added, last_used_at_ms: null }), value: text };
}

function tokenView(id: string, token: Omit<PersonalAccessToken, 'account_id' | 'born'>): z.infer<typeof tokenShape> {
  const { name, permissions: held, last_four, created_at_ms, expires_at_ms, last_used_at_ms } = token;
  const isoOf = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return {
    ...{ id, name, permissions: [...held], last_four },
    created_at: new Date(created_at_ms).toISOString(),
    expires_at: isoOf(expires_at_ms),
    last_used_at: isoOf(last_used_at_ms),
  };
}
