import { z } from 'zod';
import { accountNamed } from '../../src/accounts/account_of_email.js';
import { isRefusal } from '../../src/domain/refusals.js';
import { listLimit } from '../../src/http/request_schemas.js';
import { count, id, moment, no_cursor, serverNow } from '../../src/http/response_schemas.js';
import { operatorRoute, type Route } from '../../src/http/route.js';
import {
  endpointForStaff,
  endpointForStaffShape,
  seenEndpointShape,
  seenEndpointView,
} from '../../src/operator/endpoint_for_staff.js';

import { newestOfEach } from '../../src/webhooks/endpoint_activity.js';

/** Endpoints: which are due, failing or disabled, and why one gets nothing. Hosts alone: an address may hold a secret. */
export const SEEN_ENDPOINT_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/endpoints',
    summary:
      'Endpoints that are due, that fail and that were disabled lately, as the processes on this machine have seen them.',
    answer: z.strictObject({
      now: serverNow,
      in_flight: count.describe('Requests that are under way.'),
      due: z
        .array(
          z.strictObject({
            endpoint_id: id.describe('The endpoint.'),
            due_since: moment.describe('Since when something is due for it.'),
            due_s: count.describe('The same in seconds.'),
          }),
        )
        .describe('Of each partition the one for which something has been due for longest; the longest first.'),
      failing: z.array(seenEndpointShape).describe('Those whose last request was not accepted.'),
      disabled: z.array(seenEndpointShape).describe('Those that too many failures disabled lately.'),
    }),
    credential: 'operator',
    query: z.object({ limit: listLimit }),
    async handler({ services: { clock, deliveries, processes }, query: { limit } }) {
      const { due } = deliveries;
      const told = await processes.askAll('deliveries', { limit });
      const now_ms = clock.now();
      return {
        now: new Date(now_ms).toISOString(),
        in_flight: told.reduce((sum, { in_flight }) => sum + in_flight, 0),
        due: due.slice(0, limit).map(({ endpoint_id, since_ms }) => ({
          endpoint_id,
          due_since: new Date(since_ms).toISOString(),
          due_s: Math.max(0, Math.round((now_ms - since_ms) / 1000)),
        })),
        failing: newestOfEach(told.flatMap(({ failing }) => failing))
          .sort((a, b) => b.failures - a.failures)
          .slice(0, limit)
          .map(seenEndpointView),
        disabled: newestOfEach(told.flatMap(({ disabled }) => disabled))
          .sort((a, b) => (b.disabled_at_ms ?? 0) - (a.disabled_at_ms ?? 0))
          .slice(0, limit)
          .map(seenEndpointView),
      };
    },
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/accounts/:account/endpoints',
    summary: 'The endpoints of an account, and why each gets what it gets.',
    answer: z.strictObject({
      account_id: id.describe('Whose they are.'),
      items: z.array(endpointForStaffShape),
      cursor: no_cursor,
    }),
    refusals: ['NOT_FOUND'],
    credential: 'operator',
    async handler({ services, params }) {
      const account = await accountNamed(services, params.account as string);
      if (isRefusal(account)) return account;
      const views = await Promise.all(account.endpoints.map((id) => endpointForStaff(services, id)));
      return { account_id: account.id, items: views.filter((one) => !isRefusal(one)), cursor: null };
    },
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/endpoints/:endpoint_id',
    summary: 'Why an endpoint gets what it gets, and its last deliveries.',
    answer: endpointForStaffShape,
    credential: 'operator',
    handler: async ({ services, params }) => endpointForStaff(services, params.endpoint_id as string),
  }),
];
