import { z } from 'zod';
import { eventShape } from '../../src/access/events.js';
import { eventTypeName, listLimit } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { durationInWords } from '../../src/domain/limit_text.js';
import { LIMITS } from '../../src/domain/limits.js';
import { listEvents } from '../../src/features/webhooks/events.js';
import { accountRoute, type Route } from '../rows.js';

/** Account events. docs/rules.md, "Account events". */
export const EVENT_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/events',
    summary: 'What happened in the account.',
    notes: `Without \`after\` the newest events come first, and \`cursor\` leads to older ones. With \`after\` events come oldest first from there on, for polling: the answer always has a cursor to go on with. Events are kept for ${durationInWords(LIMITS.event_kept_ms)}.`,
    credential: 'account',
    permission: ['turns:read'],
    query: z.object({
      limit: listLimit,
      type: eventTypeName.optional().describe('Only events of this type.'),
      after: z.string().optional().describe('Polls forward: latest, 0, or the cursor of the answer before.'),
      cursor: z.string().optional().describe('Goes backward: the cursor of the page before. Not together with after.'),
    }),
    answer: pageShape(eventShape),
    handler: ({ services, who, query }) => listEvents(services, who, query),
  }),
];
