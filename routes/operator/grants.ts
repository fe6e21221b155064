import { z } from 'zod';
import type { Account } from '../../actors/accounts/account_state.js';
import { listCursor } from '../../src/access/cursors.js';
import { emailAddress, listLimit, timestamp, trimmedText, uuid } from '../../src/access/request_schemas.js';
import { id, moment, pageShape } from '../../src/access/response_schemas.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isRefused, refuse, throwRefusal } from '../../src/domain/refusals.js';
import { isScope, scopeList } from '../../src/domain/scopes.js';
import { randomId } from '../../src/engine/runtime/random.js';
import { randomSeed } from '../../src/engine/secrets/tokens.js';
import { parseGiven } from '../../src/engine/wire/schema_faults.js';
import { accountNamed, accountOf, knownEmail, newAccountId } from '../../src/features/accounts/account_of_email.js';
import { listGrants } from '../api/connections.js';
import { operatorRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** What staff may do with grants: see and end an account's, and bring in those of an earlier system. */

const UNKNOWN = refuse('NOT_FOUND', 'The account has no such grant.');

const importRow = z.object({
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

/** As the reference shows it: each grant of a request is judged by itself, and the others go in. */
const importForm = z.object({
  grants: z
    .array(importRow.extend({ account: z.string().describe('An account id or an email address.') }))
    .min(1)
    .max(LIMITS.import_rows_max)
    .describe('Each is judged by itself, and the others go in.'),
  dry_run: z.boolean().optional().describe('Says what would be wrong, and changes nothing.'),
});

const grantShape = z
  .strictObject({
    id,
    client_id: z.string().describe('The client that was allowed in.'),
    name: z.string(),
    scopes: z.array(z.string()).describe('As the client asked for them.'),
    audience: z.enum(['api', 'mcp']).describe('What its tokens are for.'),
    issuer: z.enum(['base', 'legacy']).describe('Where it was made, and works.'),
    created_at: moment,
  })
  .meta({ id: 'Grant' });

const outcomeShape = z.union([
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

export const STAFF_GRANT_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/accounts/:account/grants',
    summary: "An account's grants, newest first.",
    credential: 'operator',
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(grantShape).extend({ account_id: id.describe('Whose they are.') }),
    refusals: ['NOT_FOUND'],
    async handler({ services, params, query: { limit, cursor } }) {
      const account = await accountNamed(services, params.account as string);
      const { id: account_id, lives } = account;
      const page = await listGrants(services, { account_id, grants_life: lives.grants, limit, cursor });
      const items = page.rows.map(
        ({ member, grant }): z.infer<typeof grantShape> => ({
          id: member,
          client_id: grant.client_id,
          name: grant.name,
          scopes: [...grant.scopes],
          audience: grant.audience,
          issuer: grant.issuer,
          created_at: new Date(grant.created_at_ms).toISOString(),
        }),
      );
      return { account_id, items, cursor: page.cursor };
    },
  }),

  operatorRoute({
    method: 'DELETE',
    path: '/ops/accounts/:account/grants/:id',
    summary: 'Ends a grant.',
    credential: 'operator',
    status: 204,
    async handler({ services, params }) {
      const account = await accountNamed(services, params.account as string);
      const by = { account_id: account.id, grants_life: account.lives.grants };
      const answer = await services.actors.grant(params.id as string).revoke({ by });
      return answer.revoked ? null : throwRefusal(UNKNOWN);
    },
  }),

  /** All of them at once, with the browser sessions. */
  operatorRoute({
    method: 'DELETE',
    path: '/ops/accounts/:account/grants',
    summary: 'Ends all grants and browser sessions of an account.',
    credential: 'operator',
    status: 204,
    refusals: ['NOT_FOUND'],
    async handler({ services, params }) {
      const account = await accountNamed(services, params.account as string);
      return services.actors.account(account.id).end_grants();
    },
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/grants/import',
    summary: 'Brings in grants of an earlier system.',
    notes: 'Each is judged by itself. `dry_run` says what would be wrong, and changes nothing.',
    credential: 'operator',
    body: z.object({
      grants: z
        .array(z.unknown(), 'must be a list of grants')
        .min(1, 'must hold a grant')
        .max(LIMITS.import_rows_max, `must hold at most ${LIMITS.import_rows_max} grants`),
      /** Says what would be wrong, and changes nothing. */
      dry_run: z.boolean('must be true or false').optional(),
    }),
    answer: z.strictObject({ results: z.array(outcomeShape).describe('What came of each, in their order.') }),
    reads: { body: importForm },
    example: {
      grants: [
        {
          ...{
            account: 'ann@example.com',
            client_id: 'the-client',
            scope: 'turns:read',
            audience: 'api',
            issuer: 'base',
          },
          created_at: '2026-01-31T08:30:00.000Z',
          refresh_token_sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        },
      ],
      dry_run: true,
    },
    async handler({ services, body: { grants, dry_run = false } }) {
      const results: unknown[] = [];
      for (const given of grants) results.push(await bringIn(services, given, dry_run));
      return { results };
    },
  }),
];

type Outcome = z.infer<typeof outcomeShape>;

async function bringIn(services: Services, given: unknown, dry_run: boolean): Promise<Outcome> {
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
      born: { account: account.lives.account, grants: account.lives.grants },
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

/** The account that a grant is for; an email without one gets it, as a first sign-in would. */
async function ownerOf(services: Services, { account }: ImportRow): Promise<Account> {
  if (typeof account === 'string') return accountNamed(services, account);
  const email = await knownEmail(services, account);
  const entered = await services.actors.downstream
    .email(email)
    .enter({ network: null, email, account: newAccountId(services) });
  return accountOf(services, entered.account_id);
}

function wrong(problem: string): Outcome {
  return { outcome: 'wrong', problem };
}
