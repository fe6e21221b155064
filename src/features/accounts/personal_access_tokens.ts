import { z } from 'zod';
import { isLiving } from '../../../actors/accounts/account_tokens.js';
import type { PersonalAccessToken } from '../../../actors/accounts/personal_access_token.js';
import { type PageQuery, pageOfAll } from '../../access/cursors.js';
import type { Principal } from '../../access/principal.js';
import { id, moment, momentOrNull } from '../../access/response_schemas.js';
import { partitionOfId } from '../../domain/ids.js';
import { PERMISSIONS } from '../../domain/permissions.js';
import { orNull, Refused, refuse } from '../../domain/refusals.js';
import { type TokenPermission, TRANSCRIBES, WORKSPACE_SCOPES } from '../../domain/scopes.js';
import { randomId } from '../../engine/random/random.js';
import { makeSecret } from '../../engine/secrets/tokens.js';
import type { FeatureServices } from '../services.js';

/** Tokens that people make for their own programs. docs/rules.md, "Personal access tokens". */

const NOT_OURS = refuse('FORBIDDEN', 'Only our own apps, with account:manage, may do this.', {
  scope: ['account:manage'],
});
const ITSELF_ALONE = refuse('FORBIDDEN', 'A personal access token can revoke no token but itself.');
const PAST = refuse('BAD_REQUEST', 'expires_at: must be in the future.', {
  details: [{ path: 'expires_at', message: 'must be in the future' }],
});

/** The names that a token may list, in their order. */
export const TOKEN_PERMISSIONS: readonly TokenPermission[] = [
  ...PERMISSIONS.filter((permission) => !WORKSPACE_SCOPES.includes(permission)),
  TRANSCRIBES,
];

export const tokenShape = z
  .strictObject({
    id,
    name: z.string(),
    permissions: z.array(z.enum(TOKEN_PERMISSIONS)).describe('What it may do, as far as the account still can.'),
    last_four: z.string().describe("The value's last four characters."),
    created_at: moment,
    expires_at: moment.nullable().describe('Null for one that lives until it is revoked.'),
    last_used_at: moment.nullable().describe('To the minute; null while it was never used.'),
  })
  .meta({ id: 'PersonalAccessToken' });

export const createdTokenShape = z.strictObject({
  token: tokenShape,
  value: z.string().describe('The token itself, shown this once.'),
});

type TokenView = z.infer<typeof tokenShape>;

/** Makes a token. It can have no permission that the caller lacks. */
export async function createToken(
  { actors, clock, keys }: Pick<FeatureServices, 'actors' | 'clock' | 'keys'>,
  who: Principal,
  { name, permissions, expires_at }: { name: string; permissions: TokenPermission[]; expires_at: string | null },
): Promise<z.infer<typeof createdTokenShape>> {
  const expires_at_ms = expires_at === null ? null : Date.parse(expires_at);
  if (expires_at_ms !== null && expires_at_ms <= clock.now()) throw new Refused(PAST);
  const held: readonly TokenPermission[] = [...who.permissions, ...(who.transcribes ? ([TRANSCRIBES] as const) : [])];
  const missing = permissions.filter((permission) => !held.includes(permission));
  if (missing.length > 0) throw new Refused(refuse('FORBIDDEN', `You do not hold ${missing.join(', ')} yourself.`));
  const token_id = randomId({ partition: partitionOfId(who.account_id), now_ms: clock.now() });
  const { text, secret_hash } = makeSecret(keys, 'personal_access_token', token_id);
  const token = { name, permissions, last_four: text.slice(-4), expires_at_ms, secret_hash };
  const added = await actors.downstream.account(who.account_id).add_token({ token_id, token }, who.fences);
  return { token: tokenView(token_id, { ...token, ...added, last_used_at_ms: null }), value: text };
}

/** A page of the tokens that have not ended, newest first. */
export async function listTokens(
  { actors, clock }: Pick<FeatureServices, 'actors' | 'clock'>,
  who: Principal,
  query: PageQuery,
): Promise<{ items: TokenView[]; cursor: string | null }> {
  const living = who.account.tokens.filter((token) => isLiving(token, clock.now())).toReversed();
  const page = pageOfAll(living, { ...query, idOf: ({ id }) => id });
  const found = await Promise.all(
    page.rows.map(({ id }) => orNull(actors.personalAccessToken(id).view(), 'UNAUTHORIZED')),
  );
  const items = found.flatMap((token, index) => (token === null ? [] : [tokenView(page.rows[index]?.id ?? '', token)]));
  return { items, cursor: page.cursor };
}

/**
 * Revokes a token. A token can revoke only itself. A client can revoke tokens only if it is first-party and has
 * account:manage.
 */
export async function revokeToken({ actors }: Pick<FeatureServices, 'actors'>, who: Principal, token_id: string) {
  if (who.kind === 'personal_access_token' && who.credential_id !== token_id) throw new Refused(ITSELF_ALONE);
  const is_own = who.client?.first_party && who.permissions.includes('account:manage');
  if (who.kind === 'oauth' && !is_own) throw new Refused(NOT_OURS);
  return actors.downstream.account(who.account_id).revoke_token({ token_id }, who.fences);
}

function tokenView(id: string, token: Omit<PersonalAccessToken, 'account_id' | 'issued_under'>): TokenView {
  const { name, permissions: held, last_four, created_at_ms, expires_at_ms, last_used_at_ms } = token;
  return {
    id,
    name,
    permissions: [...held],
    last_four,
    created_at: new Date(created_at_ms).toISOString(),
    expires_at: momentOrNull(expires_at_ms),
    last_used_at: momentOrNull(last_used_at_ms),
  };
}
