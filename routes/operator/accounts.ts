import { z } from 'zod';
import {
  accountForStaffShape,
  entitledShape,
  readAccountForStaff,
  switchEntitlement,
} from '../../src/features/accounts/account_for_staff.js';
import { PARAMETERS } from '../path_parameters.js';
import { operatorRoute, type Route } from '../rows.js';

/** Accounts, and what staff switch for them. */
export const STAFF_ACCOUNT_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/accounts/:account',
    params: { account: PARAMETERS.account_or_email },
    summary: 'How an account stands, by its id or email.',
    notes: 'Nothing of what is in it.',
    credential: 'operator',
    answer: accountForStaffShape,
    refusals: ['NOT_FOUND'],
    handler: ({ services, params }) => readAccountForStaff(services, params.account),
  }),

  operatorRoute({
    method: 'PUT',
    path: '/ops/accounts/:account/entitlements/:name',
    params: { account: PARAMETERS.account_or_email, name: PARAMETERS.entitlement },
    summary: 'Switches an entitlement.',
    credential: 'operator',
    body: z.object({ enabled: z.boolean('must be true or false').describe('Whether the account has it.') }),
    answer: entitledShape,
    refusals: ['NOT_FOUND', 'CONFLICT'],
    handler: ({ services, params, body: { enabled } }) =>
      switchEntitlement(services, { account: params.account, name: params.name, enabled }),
  }),
];
