import { z } from 'zod';
import type { Account } from '../../../actors/accounts/account_state.js';
import { emailAddress, timestamp, trimmedText, uuid } from '../../access/request_schemas.js';
import { id } from '../../access/response_schemas.js';
import { isId, partitionOfId } from '../../domain/ids.js';
import { LIMITS } from '../../domain/limits.js';
import { isRefused } from '../../domain/refusals.js';
import { isScope, scopeList } from '../../domain/scopes.js';
import { randomId } from '../../engine/random/random.js';
import { randomSeed } from '../../engine/secrets/tokens.js';
import { parseGiven } from '../../engine/wire/schema_faults.js';
import { accountNamed, accountOf, newAccountId } from '../accounts/account_of_email.js';
import type { FeatureServices } from '../services.js';
import type { Clients } from './clients/clients.js';

/** Grants of an earlier system that staff import. */

export const importRow = z.object({
  account: z.union([uuid, emailAddress], 'must be an account id or an email address'),
  client_id: z.string('must be the id of a client').max(200).describe('A client that exists here.'),
  name: trimmedText(LIMITS.installation_label_chars_max)
    .optional()
    .describe("What the connected app is called; the client's name when absent."),
  scope: z
    .string('must be scope names with spaces between them')
    .transform(scopeList)
    .refine((scopes) => scopes.length > 0 && scopes.every(isScope), 'must be scope names, current or earlier ones')
    .describe('Names with spaces between them.'),
  audience: z.enum(['api', 'mcp'], 'must be api or mcp').describe('What its tokens are for.'),
  issuer: z.enum(['base', 'legacy'], 'must be base or legacy').describe('legacy: it works at LEGACY_BASE_URL alone.'),
  created_at: timestamp,
  refresh_token_sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits in lower case')
    .describe('Of the refresh token that the app holds: no file needs to hold a token.'),
});
type ImportRow = z.output<typeof importRow>;

export const importResultShape = z.union([
  z.strictObject({
    outcome: z.enum(['imported', 'known']).describe('known: it was brought in before.'),
    grant_id: id.describe('The grant that it is here.'),
  }),
  z.strictObject({ outcome: z.literal('right').describe('With dry_run: it would go in.') }),
  z.strictObject({
    outcome: z.literal('wrong').describe('It did not go in.'),
    problem: z.string().describe('The field, and its rule.'),
  }),
]);

type ImportResult = z.infer<typeof importResultShape>;

/** Imports grants of an earlier system, each checked by itself. With `dry_run` nothing changes. */
export async function importGrants(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys' | 'settings'> & { clients: Clients },
  { grants, dry_run }: { grants: readonly unknown[]; dry_run: boolean },
): Promise<{ results: ImportResult[] }> {
  const results: ImportResult[] = [];
  for (const given of grants) results.push(await importGrant(services, given, dry_run));
  return { results };
}

async function importGrant(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys' | 'settings'> & { clients: Clients },
  given: unknown,
  dry_run: boolean,
): Promise<ImportResult> {
  const parsed = parseGiven(importRow, given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return wrong(`${issue?.path.join('.') || 'the grant'}: ${issue?.message}`);
  }
  const row = parsed.data;
  const { clients, keys, clock, actors } = services;
  const client = await clients.find(row.client_id);
  if (client === null) return wrong('client_id: there is no such client');
  if (row.issuer === 'legacy' && services.settings.legacy_base_url === null) {
    return wrong('issuer: LEGACY_BASE_URL is not set');
  }
  if (row.audience === 'api' && row.scope.includes('sources:write')) {
    return wrong('scope: sources:write goes with the audience mcp only');
  }
  if (Date.parse(row.created_at) > clock.now()) return wrong('created_at: lies ahead');
  if (dry_run) return { outcome: 'right' };
  let account: Account;
  try {
    account = await ownerOf(services, row);
  } catch (error) {
    if (isRefused(error)) return wrong(`account: ${error.message}`);
    throw error;
  }
  const bringing = actors.downstream.importedToken(row.refresh_token_sha256).bring_in({
    grant_id: randomId({ partition: partitionOfId(account.id), now_ms: clock.now() }),
    created_at_ms: Date.parse(row.created_at),
    grant: {
      account_id: account.id,
      client_id: client.client_id,
      name: row.name ?? client.name,
      scopes: row.scope,
      audience: row.audience,
      issuer: row.issuer,
      ...randomSeed(keys),
      issued_under: { account: account.epochs.account, grants: account.epochs.grants },
      verified_at_ms: Date.parse(row.created_at),
      code: { challenge: '', redirect_uri: null },
    },
  });
  try {
    const brought = await bringing;
    return { outcome: brought.is_new ? 'imported' : 'known', grant_id: brought.grant_id };
  } catch (error) {
    if (isRefused(error)) return wrong(error.message);
    throw error;
  }
}

/** The account of a grant; made for an email without one, as at a first sign-in. */
async function ownerOf(services: Pick<FeatureServices, 'actors' | 'clock'>, { account }: ImportRow): Promise<Account> {
  if (isId(account)) return accountNamed(services, account);
  const email = account;
  const entered = await services.actors.downstream
    .email(email)
    .enter({ network: null, email, account: newAccountId(services) });
  return accountOf(services, entered.account_id);
}

function wrong(problem: string): ImportResult {
  return { outcome: 'wrong', problem };
}
