import { z } from 'zod';
import { count, id, moment, no_cursor } from '../../src/access/response_schemas.js';
import { deleteWorkspaceForStaff } from '../../src/features/workspaces/workspaces.js';
import { PARAMETERS } from '../path_parameters.js';
import { operatorRoute, type Route } from '../rows.js';

const erasureShape = z.strictObject({
  account_id: id.describe('Whose data goes.'),
  began_at: moment.describe('When it was begun.'),
  removed: z.record(z.string(), count).describe('How much of what is gone.'),
  in_hand: z.boolean().describe('Whether this process is at it.'),
});

/** Permanent removals: erasures in progress, and shared workspaces. */
export const REMOVAL_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/erasures',
    summary: 'Erasures of accounts that are under way.',
    credential: 'operator',
    answer: z.strictObject({ items: z.array(erasureShape), cursor: no_cursor }),
    handler: async ({ services: { erasures } }) => ({ items: await erasures.list(), cursor: null }),
  }),

  operatorRoute({
    method: 'DELETE',
    path: '/ops/workspaces/:id',
    params: { id: PARAMETERS.workspace },
    summary: 'Deletes a shared workspace.',
    credential: 'operator',
    status: 204,
    refusals: ['CONFLICT'],
    handler: async ({ services, params }) => deleteWorkspaceForStaff(services, params.id),
  }),
];
