import { z } from 'zod';
import { no_cursor } from '../../src/access/response_schemas.js';
import { sendBytes } from '../../src/edge/http/byte_download.js';
import { exportShape, exportWishes } from '../../src/features/exports/export_views.js';
import {
  deleteStaffExport,
  downloadStaffExport,
  exportUnderWayShape,
  listExportsUnderWay,
  readStaffExport,
  requestStaffExport,
} from '../../src/features/exports/exports_for_staff.js';
import { operatorRoute, type Route } from '../rows.js';

/** Exports that staff ask for: they hold all layers, and the account does not see them. */

export const STAFF_EXPORT_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/exports',
    summary: 'Exports that are under way, whoever asked for them.',
    credential: 'operator',
    answer: z.strictObject({
      items: z.array(exportUnderWayShape),
      cursor: no_cursor,
    }),
    handler: async ({ services }) => ({ items: await listExportsUnderWay(services), cursor: null }),
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/accounts/:account/exports',
    summary: "Asks for an archive of all of an account's data, with the layers that are switched off.",
    credential: 'operator',
    status: 201,
    body: exportWishes,
    answer: exportShape,
    refusals: ['NOT_FOUND', 'CONFLICT'],
    handler: ({ services, params, body }) => requestStaffExport(services, params.account as string, body),
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/accounts/:account/exports/:id',
    summary: 'How an export that staff asked for stands.',
    credential: 'operator',
    answer: exportShape,
    handler: ({ services, params }) => readStaffExport(services, exportOf(params)),
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/accounts/:account/exports/:id/content',
    summary: 'The archive that staff asked for.',
    credential: 'operator',
    answer: 'bytes',
    refusals: ['CONFLICT', 'CONTENT_EXPIRED'],
    handler: async ({ services, params, request, reply }) =>
      sendBytes({ request, reply }, await downloadStaffExport(services, exportOf(params))),
  }),

  operatorRoute({
    method: 'DELETE',
    path: '/ops/accounts/:account/exports/:id',
    summary: 'Deletes an export that staff asked for.',
    credential: 'operator',
    status: 204,
    handler: ({ services, params }) => deleteStaffExport(services, exportOf(params)),
  }),
];

function exportOf({ account = '', id = '' }: Record<string, string>): { account: string; id: string } {
  return { account, id };
}
