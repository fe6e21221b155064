import { z } from 'zod';
import { id, no_cursor } from '../../src/access/response_schemas.js';
import { savedAs, sendBytes } from '../../src/edge/http/byte_download.js';
import {
  deleteExport,
  exportArchive,
  exportShape,
  exportsUnderWay,
  exportWishes,
  requestExport,
  staffExports,
  viewExport,
} from '../../src/features/exports/exports.js';
import { PARAMETERS } from '../path_parameters.js';
import { operatorRoute, type Route } from '../rows.js';

/** Exports that staff ask for: they hold all layers, and the account does not see them. */
export const STAFF_EXPORT_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/exports',
    summary: 'Exports that are under way, whoever asked for them.',
    credential: 'operator',
    answer: z.strictObject({
      items: z.array(
        z.strictObject({
          account_id: id.describe('Whose data it is.'),
          by: z.enum(['account', 'staff']).describe('Who asked for it.'),
          export: exportShape,
        }),
      ),
      cursor: no_cursor,
    }),
    handler: async ({ services }) => ({ items: await exportsUnderWay(services), cursor: null }),
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/accounts/:account/exports',
    params: { account: PARAMETERS.account_or_email },
    summary: "Asks for an archive of all of an account's data, with the layers that are switched off.",
    credential: 'operator',
    status: 201,
    body: exportWishes,
    answer: exportShape,
    refusals: ['NOT_FOUND', 'CONFLICT'],
    async handler({ services, params, body }) {
      const scope = await staffExports(services, params.account);
      return requestExport(services, scope, body);
    },
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/accounts/:account/exports/:id',
    params: { account: PARAMETERS.account_or_email, id: PARAMETERS.export },
    summary: 'How an export that staff asked for stands.',
    credential: 'operator',
    answer: exportShape,
    async handler({ services, params }) {
      const scope = await staffExports(services, params.account);
      return viewExport(services, scope, params.id);
    },
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/accounts/:account/exports/:id/content',
    params: { account: PARAMETERS.account_or_email, id: PARAMETERS.export },
    summary: 'The archive that staff asked for.',
    credential: 'operator',
    answer: 'bytes',
    refusals: ['CONFLICT', 'CONTENT_EXPIRED'],
    async handler({ services, params, request, reply }) {
      const scope = await staffExports(services, params.account);
      const archive = await exportArchive(services, scope, params.id);
      return sendBytes({ request, reply }, archive, savedAs(archive.file_name));
    },
  }),

  operatorRoute({
    method: 'DELETE',
    path: '/ops/accounts/:account/exports/:id',
    params: { account: PARAMETERS.account_or_email, id: PARAMETERS.export },
    summary: 'Deletes an export that staff asked for.',
    credential: 'operator',
    status: 204,
    async handler({ services, params }) {
      const scope = await staffExports(services, params.account);
      return deleteExport(services, scope, params.id);
    },
  }),
];
