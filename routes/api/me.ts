import { z } from 'zod';
import { trimmedText } from '../../src/access/request_schemas.js';
import { durationInWords } from '../../src/domain/limit_text.js';
import { LIMITS } from '../../src/domain/limits.js';
import { requestLanguage } from '../../src/edge/pages/request_language.js';
import {
  accountShape,
  cachedAccount,
  deleteAccount,
  renameAccount,
  restoreAccount,
} from '../../src/features/accounts/account.js';
import { accountRoute, type Route } from '../rows.js';

/** The signed-in account. docs/rules.md, "Accounts". */
export const ME_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/me',
    summary: 'The signed-in account.',
    credential: 'account',
    permission: ['account:manage'],
    answer: accountShape,
    handler: async ({ services, who }) => cachedAccount(services, who),
  }),

  accountRoute({
    method: 'PATCH',
    path: '/me',
    summary: 'Renames the account.',
    credential: 'account',
    permission: ['account:manage'],
    body: z.object({
      name: trimmedText(LIMITS.account_name_chars_max)
        .nullable()
        .describe('What the person is called; null for no name.'),
    }),
    answer: accountShape,
    handler: ({ services, who, body }) => renameAccount(services, who, body),
  }),

  accountRoute({
    method: 'DELETE',
    path: '/me',
    summary: 'Deletes the account.',
    notes: `It takes effect at once, and for ${durationInWords(LIMITS.erase_after_ms)} everything can be restored. A code must have been entered for this credential within the last ${durationInWords(LIMITS.recent_sign_in_ms)}.`,
    credential: 'app',
    permission: ['account:manage'],
    status: 204,
    refusals: ['REAUTHENTICATION_REQUIRED', 'WORKSPACE_OWNER_REQUIRED'],
    handler: ({ services, who, request }) => deleteAccount(services, who, { language: requestLanguage(request) }),
  }),

  accountRoute({
    method: 'POST',
    path: '/me/restore',
    summary: 'Restores a deleted account.',
    notes: 'Of an account that is not deleted nothing changes.',
    credential: 'app',
    permission: ['account:manage'],
    deleted_too: true,
    status: 204,
    refusals: ['ACCOUNT_DELETION_IN_PROGRESS'],
    handler: ({ services, who }) => restoreAccount(services, who),
  }),
];
