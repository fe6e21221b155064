import { z } from 'zod';
import { listLimit } from '../../src/access/request_schemas.js';
import { no_cursor } from '../../src/access/response_schemas.js';
import { listWrittenMails } from '../../src/edge/operations/written_mails.js';
import { operatorRoute, type Route } from '../rows.js';

const mailShape = z.strictObject({
  file: z.string().describe('Its name in the outbox.'),
  to: z.string().describe('The address that it is for.'),
  subject: z.string().describe('What stands above it.'),
  text: z.string().describe('All of it, without formatting.'),
  date: z.string().describe('When it was written, as mails say it (RFC 5322).'),
});

/** Mails that were written to the outbox. */
export const MAIL_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/inbox',
    summary: 'Mails that were written instead of sent, newest first.',
    credential: 'operator',
    query: z.object({ limit: listLimit }),
    answer: z.strictObject({ items: z.array(mailShape), cursor: no_cursor }),
    refusals: ['NOT_FOUND'],
    handler: async ({ services: { settings }, query }) => ({
      items: await listWrittenMails(settings, query),
      cursor: null,
    }),
  }),
];
