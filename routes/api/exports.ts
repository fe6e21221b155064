import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import { listLimit } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { durationInWords } from '../../src/domain/limit_text.js';
import { LIMITS } from '../../src/domain/limits.js';
import { savedAs, sendBytes } from '../../src/edge/http/byte_download.js';
import {
  deleteExport,
  exportArchive,
  exportShape,
  exportWishes,
  listExports,
  ownExports,
  requestExport,
  viewExport,
} from '../../src/features/exports/exports.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/** Only a person in a first-party app may export everything at once. */
const OWN = { credential: 'app', permission: ['account:manage'], own_apps: true } as const;

/** All of an account's data as one archive. docs/export.md. */
export const EXPORT_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'POST',
    path: '/me/exports',
    summary: "Asks for an archive of all of the account's data.",
    notes: `It is made in the background and kept for ${durationInWords(LIMITS.export_kept_ms)}. One is made at a time (409), and ${LIMITS.exports_per_day_max} a day (429). It goes on when whoever asked for it signs out.`,
    ...OWN,
    status: 201,
    body: exportWishes,
    answer: exportShape,
    refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
    handler: ({ services, who, body }) => requestExport(services, ownExports(who), body),
  }),

  accountRoute({
    method: 'GET',
    path: '/me/exports',
    summary: 'Exports of the account, newest first.',
    notes: `Each is known for ${durationInWords(LIMITS.export_known_ms)}.`,
    ...OWN,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(exportShape),
    handler: ({ services, who, query }) => listExports(services, ownExports(who), query),
  }),

  accountRoute({
    method: 'GET',
    path: '/me/exports/:id',
    params: { id: PARAMETERS.export },
    summary: 'How an export stands.',
    ...OWN,
    answer: exportShape,
    handler: ({ services, who, params }) => viewExport(services, ownExports(who), params.id),
  }),

  accountRoute({
    method: 'GET',
    path: '/me/exports/:id/content',
    params: { id: PARAMETERS.export },
    summary: 'The archive, to be saved.',
    notes: `A ZIP; \`manifest.json\` in it says what is in it. After ${durationInWords(LIMITS.export_kept_ms)} 410.`,
    ...OWN,
    answer: 'bytes',
    refusals: ['CONFLICT', 'CONTENT_EXPIRED'],
    async handler({ services, who, params, request, reply }) {
      const archive = await exportArchive(services, ownExports(who), params.id);
      return sendBytes({ request, reply }, archive, savedAs(archive.file_name));
    },
  }),

  accountRoute({
    method: 'DELETE',
    path: '/me/exports/:id',
    params: { id: PARAMETERS.export },
    summary: 'Deletes an export, or stops it.',
    ...OWN,
    status: 204,
    handler: ({ services, who, params }) => deleteExport(services, ownExports(who), params.id),
  }),
];
