import { z } from 'zod';
import { no_cursor } from '../../src/access/response_schemas.js';
import { importJobShape, importsUnderWay } from '../../src/features/recordings/imports.js';
import { operatorRoute, type Route } from '../rows.js';

/** Imports as jobs. */
export const STAFF_IMPORT_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/imports',
    summary: 'Imports whose bytes have all come and that are no recordings yet, of all accounts.',
    notes: 'Of each of the 256 partitions the 100 accounts that are due first.',
    credential: 'operator',
    answer: z.strictObject({ items: z.array(importJobShape), cursor: no_cursor }),
    handler: async ({ services }) => ({ items: await importsUnderWay(services), cursor: null }),
  }),
];
