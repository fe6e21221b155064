import { z } from 'zod';
import { listLimit } from '../../src/access/request_schemas.js';
import { no_cursor } from '../../src/access/response_schemas.js';
import { Refused, refuse } from '../../src/domain/refusals.js';
import { outboxFolder } from '../../src/engine/mail/outbox_folder.js';
import { listOutbox } from '../../src/engine/mail/outbox_mailer.js';
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
    async handler({ services: { settings }, query: { limit } }) {
      if (settings.smtp_url !== null)
        throw new Refused(refuse('NOT_FOUND', 'Mails are sent over SMTP; nothing is kept here.'));
      return { items: await listOutbox(outboxFolder(settings), { limit }), cursor: null };
    },
  }),
];
