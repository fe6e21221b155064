import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import { listLimit } from '../../src/access/request_schemas.js';
import { id, pageShape } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { importGrants, importResultShape, importRow } from '../../src/features/oauth/grant_imports.js';
import { endGrant, endGrants, grantShape, listGrantsForStaff } from '../../src/features/oauth/grants.js';
import { PARAMETERS } from '../path_parameters.js';
import { operatorRoute, type Route } from '../rows.js';

/** Staff's routes for grants: list and end an account's grants, and import those of an earlier system. */

/** As the reference shows it: each grant of a request is judged by itself, and the others go in. */
const importForm = z.object({
  grants: z
    .array(importRow.extend({ account: z.string().describe('An account id or an email address.') }))
    .min(1)
    .max(LIMITS.import_rows_max)
    .describe('Each is judged by itself, and the others go in.'),
  dry_run: z.boolean().optional().describe('Says what would be wrong, and changes nothing.'),
});

export const STAFF_GRANT_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/accounts/:account/grants',
    params: { account: PARAMETERS.account_or_email },
    summary: "An account's grants, newest first.",
    credential: 'operator',
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(grantShape).extend({ account_id: id.describe('Whose they are.') }),
    refusals: ['NOT_FOUND'],
    handler: ({ services, params, query }) => listGrantsForStaff(services, params.account, query),
  }),

  operatorRoute({
    method: 'DELETE',
    path: '/ops/accounts/:account/grants/:id',
    params: { account: PARAMETERS.account_or_email, id: PARAMETERS.grant },
    summary: 'Ends a grant.',
    credential: 'operator',
    status: 204,
    handler: ({ services, params }) => endGrant(services, params.account, params.id),
  }),

  /** Ends all grants at once, with the browser sessions. */
  operatorRoute({
    method: 'DELETE',
    path: '/ops/accounts/:account/grants',
    params: { account: PARAMETERS.account_or_email },
    summary: 'Ends all grants and browser sessions of an account.',
    credential: 'operator',
    status: 204,
    refusals: ['NOT_FOUND'],
    handler: ({ services, params }) => endGrants(services, params.account),
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
      /** Reports what would be wrong, without a change. */
      dry_run: z.boolean('must be true or false').optional(),
    }),
    answer: z.strictObject({ results: z.array(importResultShape).describe('What came of each, in their order.') }),
    reads: { body: importForm },
    example: {
      grants: [
        {
          account: 'ann@example.com',
          client_id: 'the-client',
          scope: 'turns:read',
          audience: 'api',
          issuer: 'base',
          created_at: '2026-01-31T08:30:00.000Z',
          refresh_token_sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        },
      ],
      dry_run: true,
    },
    handler: ({ services, body: { grants, dry_run = false } }) => importGrants(services, { grants, dry_run }),
  }),
];
