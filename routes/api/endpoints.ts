import { z } from 'zod';
import { listLimit, uuid } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { namedLanguage } from '../../src/edge/pages/request_language.js';
import {
  attemptedDeliveryShape,
  deliveryShape,
  listDeliveries,
  readDelivery,
} from '../../src/features/webhooks/deliveries.js';
import { endpointTestShape, sendEndpointTest } from '../../src/features/webhooks/endpoint_test.js';
import {
  createdEndpointShape,
  createEndpoint,
  endpointShape,
  endpointStatus,
  endpointTopics,
  endpointUrl,
  listEndpoints,
  readEndpoint,
  removeEndpoint,
  setEndpointStatus,
} from '../../src/features/webhooks/endpoints.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/** Webhook endpoints and what was delivered to them. docs/rules.md, "Webhook endpoints and deliveries". */

const cursor = uuid.optional().describe('Where to continue: the cursor of the page before. Absent for the first page.');

export const ENDPOINT_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'POST',
    path: '/endpoints',
    summary: 'Registers a webhook endpoint.',
    notes: 'The signing secret is shown in this answer alone.',
    credential: 'account',
    permission: ['endpoints:manage'],
    status: 201,
    body: z.object({ url: endpointUrl.describe('Where events are posted to.'), topics: endpointTopics.default([]) }),
    answer: createdEndpointShape,
    refusals: ['CONFLICT'],
    handler: ({ services, who, body, request }) =>
      createEndpoint(services, who, { ...body, mail_language: namedLanguage(request) }),
  }),
  accountRoute({
    method: 'GET',
    path: '/endpoints',
    summary: 'The webhook endpoints, newest first.',
    credential: 'account',
    permission: ['endpoints:manage'],
    query: z.object({ limit: listLimit, cursor }),
    answer: pageShape(endpointShape),
    handler: ({ services, who, query }) => listEndpoints(services, who, query),
  }),
  accountRoute({
    method: 'GET',
    path: '/endpoints/:id',
    params: { id: PARAMETERS.endpoint },
    summary: 'A webhook endpoint.',
    credential: 'account',
    permission: ['endpoints:manage'],
    answer: endpointShape,
    handler: ({ services, who, params }) => readEndpoint(services, who, params.id),
  }),
  accountRoute({
    method: 'PATCH',
    path: '/endpoints/:id',
    params: { id: PARAMETERS.endpoint },
    summary: 'Pauses, disables or activates an endpoint.',
    notes:
      'Pausing keeps what is outstanding, disabling cancels it. A disabled endpoint can be set active only. What happened while it was not active is not sent later.',
    credential: 'account',
    permission: ['endpoints:manage'],
    // Strict, since what can't be edited must not seem to have been.
    body: z.strictObject({ status: endpointStatus }),
    answer: endpointShape,
    refusals: ['CONFLICT'],
    handler: ({ services, who, params, body: { status } }) =>
      setEndpointStatus(services, who, { id: params.id, status }),
  }),
  accountRoute({
    method: 'DELETE',
    path: '/endpoints/:id',
    params: { id: PARAMETERS.endpoint },
    summary: 'Removes an endpoint with its secret and its deliveries.',
    credential: 'account',
    permission: ['endpoints:manage'],
    status: 204,
    handler: ({ services, who, params }) => removeEndpoint(services, who, params.id),
  }),
  accountRoute({
    method: 'POST',
    path: '/endpoints/:id/test',
    params: { id: PARAMETERS.endpoint },
    summary: 'Sends a signed test delivery to an endpoint, and says how it was answered.',
    notes:
      'Its type is `endpoint.test`. It is no event, is not listed among the deliveries, is sent once and counts as no failure. A paused or disabled endpoint gets it too.',
    credential: 'account',
    permission: ['endpoints:manage'],
    answer: endpointTestShape,
    refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
    handler: ({ services, who, params }) => sendEndpointTest(services, who, params.id),
  }),
  accountRoute({
    method: 'GET',
    path: '/endpoints/:id/deliveries',
    params: { id: PARAMETERS.endpoint },
    summary: 'What was sent to an endpoint, or will be, newest first.',
    credential: 'account',
    permission: ['endpoints:manage'],
    query: z.object({ limit: listLimit, cursor }),
    answer: pageShape(deliveryShape),
    handler: ({ services, who, params, query }) => listDeliveries(services, who, { ...query, id: params.id }),
  }),
  accountRoute({
    method: 'GET',
    path: '/endpoints/:id/deliveries/:delivery_id',
    params: { id: PARAMETERS.endpoint, delivery_id: PARAMETERS.delivery },
    summary: 'A delivery with its event and every attempt.',
    credential: 'account',
    permission: ['endpoints:manage'],
    answer: attemptedDeliveryShape,
    handler: ({ services, who, params }) =>
      readDelivery(services, who, { id: params.id, delivery_id: params.delivery_id }),
  }),
];
