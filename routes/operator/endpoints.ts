import { z } from 'zod';
import { listLimit } from '../../src/access/request_schemas.js';
import { endpointForStaff, endpointForStaffShape } from '../../src/features/webhooks/endpoint_for_staff.js';
import { endpointTestShape, sendTest } from '../../src/features/webhooks/endpoint_test.js';
import {
  accountEndpointsShape,
  endpointsForStaffShape,
  listEndpointsForStaff,
  listEndpointsOfAccount,
} from '../../src/features/webhooks/endpoints_for_staff.js';
import { PARAMETERS } from '../path_parameters.js';
import { operatorRoute, type Route } from '../rows.js';

/** Endpoints: which are due, failing or disabled, and why one gets nothing. Hosts alone: an address may hold a secret. */
export const SEEN_ENDPOINT_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/endpoints',
    summary: 'Endpoints that are due, and those that get nothing or do not accept what they get, the last ones first.',
    notes: 'As it is stored, whichever process posted to them; the last requests are those of this machine.',
    answer: endpointsForStaffShape,
    credential: 'operator',
    query: z.object({ limit: listLimit }),
    handler: ({ services, query }) => listEndpointsForStaff(services, query),
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/accounts/:account/endpoints',
    params: { account: PARAMETERS.account_or_email },
    summary: 'The endpoints of an account, and why each gets what it gets.',
    answer: accountEndpointsShape,
    refusals: ['NOT_FOUND'],
    credential: 'operator',
    handler: ({ services, params }) => listEndpointsOfAccount(services, params.account),
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/endpoints/:endpoint_id',
    params: { endpoint_id: PARAMETERS.endpoint },
    summary: 'Why an endpoint gets what it gets, and its last deliveries.',
    answer: endpointForStaffShape,
    credential: 'operator',
    handler: ({ services, params }) => endpointForStaff(services, params.endpoint_id),
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/endpoints/:endpoint_id/test',
    params: { endpoint_id: PARAMETERS.endpoint },
    summary: 'Sends a signed test delivery to an endpoint, and says how it was answered.',
    answer: endpointTestShape,
    refusals: ['NOT_FOUND', 'CONFLICT', 'TOO_MANY_REQUESTS'],
    credential: 'operator',
    handler: ({ services, params }) => sendTest(services, params.endpoint_id),
  }),
];
