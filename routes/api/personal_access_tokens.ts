import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import { listLimit, timestamp, trimmedText } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import {
  createdTokenShape,
  createToken,
  listTokens,
  revokeToken,
  TOKEN_PERMISSIONS,
  tokenShape,
} from '../../src/features/accounts/personal_access_tokens.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/** Tokens that people make for programs of their own. docs/rules.md, "Personal access tokens". */

const permissions = z
  .array(
    z.enum(TOKEN_PERMISSIONS, 'must be a current permission name that is no workspace permission'),
    'must be a list of permission names',
  )
  .min(1, 'must name at least one permission')
  .max(TOKEN_PERMISSIONS.length, 'names more permissions than there are')
  .transform((names) => TOKEN_PERMISSIONS.filter((permission) => names.includes(permission)));

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
    answer: createdTokenShape,
    refusals: ['CONFLICT'],
    handler: ({ services, who, body }) => createToken(services, who, body),
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
    handler: ({ services, who, query }) => listTokens(services, who, query),
  }),

  accountRoute({
    method: 'DELETE',
    path: '/me/tokens/:id',
    params: { id: PARAMETERS.token },
    summary: 'Revokes a personal access token.',
    notes: 'A personal access token can revoke itself, and no other.',
    credential: 'account',
    status: 204,
    refusals: ['FORBIDDEN'],
    handler: ({ services, who, params }) => revokeToken(services, who, params.id),
  }),
];
