import { z } from 'zod';
import { uuid } from '../../src/access/request_schemas.js';
import { id } from '../../src/access/response_schemas.js';
import { fittingPage } from '../../src/edge/mcp/fitting_page.js';
import { ENDS, SENDS_OUT, type Tool } from '../../src/edge/mcp/tool.js';
import {
  attemptedDeliveryShape,
  deliveryShape,
  listDeliveries,
  readDelivery,
} from '../../src/features/webhooks/deliveries.js';
import {
  createdEndpointShape,
  createEndpoint,
  endpointShape,
  endpointStatus,
  endpointTopics,
  endpointUrl,
  listEndpoints,
  removeEndpoint,
  setEndpointStatus,
} from '../../src/features/webhooks/endpoints.js';
import { tool } from '../rows.js';
import { listShape } from './listing.js';
import { EXAMPLE_ID, limit } from './tool_arguments.js';

/** Webhook endpoints and what was delivered to them. */
export const ENDPOINT_TOOLS: readonly Tool[] = [
  tool({
    name: 'list_endpoints',
    title: 'List webhook endpoints',
    description: 'Where events of the account are delivered to, newest first, with how each stands.',
    permission: ['endpoints:manage'],
    input: z.strictObject({ limit, cursor: uuid.describe('The cursor of the page before.').optional() }),
    example: { limit: 25 },
    output: listShape(endpointShape),
    handler: ({ services, who }, input) =>
      fittingPage(input.limit, (asked) => listEndpoints(services, who, { ...input, limit: asked })),
  }),
  tool({
    name: 'create_endpoint',
    title: 'Create a webhook endpoint',
    description:
      'Delivers events of the account to an https URL from now on. The answer holds the signing secret, which is shown only this once.',
    permission: ['endpoints:manage'],
    does: SENDS_OUT,
    input: z.strictObject({
      url: endpointUrl.describe('Where to deliver, https.'),
      topics: endpointTopics.describe('Event types to deliver; all when empty or left out.').default([]),
    }),
    example: { url: 'https://example.com/spool', topics: ['stream.created'] },
    output: createdEndpointShape,
    handler: ({ services, who }, input) => createEndpoint(services, who, input),
  }),
  tool({
    name: 'set_endpoint_status',
    title: 'Pause, disable or activate a webhook endpoint',
    description:
      'paused keeps what is outstanding and delivers nothing; disabled cancels what is outstanding; active delivers events from then on.',
    permission: ['endpoints:manage'],
    does: ENDS,
    input: z.strictObject({ endpoint_id: uuid, status: endpointStatus }),
    example: { endpoint_id: EXAMPLE_ID, status: 'paused' },
    output: endpointShape,
    handler: ({ services, who }, { endpoint_id, status }) =>
      setEndpointStatus(services, who, { id: endpoint_id, status }),
  }),
  tool({
    name: 'delete_endpoint',
    title: 'Delete a webhook endpoint',
    description: 'Removes the endpoint, its secret and the history of its deliveries. Events stay listed.',
    permission: ['endpoints:manage'],
    does: ENDS,
    input: z.strictObject({ endpoint_id: uuid }),
    example: { endpoint_id: EXAMPLE_ID },
    output: z.strictObject({
      endpoint_id: id.describe('The endpoint that is gone.'),
      deleted: z.literal(true).describe('It is.'),
    }),
    async handler({ services, who }, { endpoint_id }) {
      await removeEndpoint(services, who, endpoint_id);
      return { endpoint_id, deleted: true };
    },
  }),
  tool({
    name: 'list_deliveries',
    title: 'List deliveries of a webhook endpoint',
    description: 'What was, or will be, delivered to an endpoint, newest first.',
    permission: ['endpoints:manage'],
    input: z.strictObject({
      endpoint_id: uuid,
      limit,
      cursor: uuid.describe('The cursor of the page before.').optional(),
    }),
    example: { endpoint_id: EXAMPLE_ID, limit: 25 },
    output: listShape(deliveryShape),
    handler: ({ services, who }, { endpoint_id, ...page }) =>
      fittingPage(page.limit, (asked) => listDeliveries(services, who, { id: endpoint_id, ...page, limit: asked })),
  }),
  tool({
    name: 'get_delivery',
    title: 'Get a delivery',
    description: 'One delivery with the event sent and what came of each attempt.',
    permission: ['endpoints:manage'],
    input: z.strictObject({ endpoint_id: uuid, delivery_id: uuid }),
    example: { endpoint_id: EXAMPLE_ID, delivery_id: EXAMPLE_ID },
    output: attemptedDeliveryShape,
    handler: ({ services, who }, { endpoint_id, delivery_id }) =>
      readDelivery(services, who, { id: endpoint_id, delivery_id }),
  }),
];
