import { z } from 'zod';
import { LIMITS } from '../../src/domain/limits.js';
import { PERMISSIONS, type Permission } from '../../src/domain/permissions.js';
import { isRefusal } from '../../src/domain/refusals.js';
import { eventShape } from '../../src/events.js';
import { listCursor } from '../../src/http/cursors.js';
import { uuid, whole } from '../../src/http/request_schemas.js';
import { id, pageShape, permission } from '../../src/http/response_schemas.js';
import { ENDS, SENDS_OUT, type Tool, tool } from '../../src/mcp/tool.js';
import { READS_STREAMS } from '../../src/streams/stream_access.js';
import { attemptedDeliveryShape, deliveryShape, endpointShape } from '../../src/webhooks/endpoint_views.js';
import {
  createdEndpointShape,
  createEndpoint,
  endpointStatus,
  endpointTopics,
  endpointUrl,
  listEndpoints,
  MANAGES_ENDPOINTS,
  oneDelivery,
  pageOfDeliveries,
  removeEndpoint,
  setEndpointStatus,
} from '../api/endpoints.js';
import { eventType, listEvents } from '../api/events.js';
import { listStreams, streamPageShape } from '../api/streams.js';

const list_limit = whole({ min: 1, max: LIMITS.list_limit_max })
  .default(LIMITS.list_limit_default)
  .meta({ type: 'integer', minimum: 1, maximum: LIMITS.list_limit_max, description: 'How many to give at most.' });
const list_cursor = listCursor.describe('Where to continue: the cursor of the page before.');

const whoShape = z.strictObject({
  account_id: id.describe('The account that it acts for.'),
  email: z.string().optional().describe('With account:manage alone.'),
  name: z.string().nullable().optional().describe('With account:manage alone; null until it is set.'),
  permissions: z.array(permission).describe('What it may do now.'),
  scopes: z.array(z.string()).optional().describe('As the client asked for them; none of a personal access token.'),
  client_id: z.string().optional().describe('The OAuth client; none of a personal access token.'),
});

export const TOOLS: readonly Tool[] = [
  tool({
    name: 'who_am_i',
    title: 'Who am I',
    description:
      'The account that this connection acts for, what it may do, and the scopes it was granted. Email and name only with account:manage.',
    permissions: [],
    input: z.strictObject({}),
    output: whoShape,
    async handler({ who: { account, permissions, client } }) {
      // A token does exactly what its scopes allow: who the person is takes the scope that reads the account.
      const person = permissions.includes('account:manage') ? { email: account.email, name: account.name } : {};
      return { account_id: account.id, ...person, permissions, scopes: client?.scopes, client_id: client?.client_id };
    },
  }),

  tool({
    name: 'list_events',
    title: 'List account events',
    description:
      'What happened in the account. Newest first, on with `cursor`; or oldest first from `after` on, which takes "0", "latest" or the cursor of such a page.',
    permissions: ['turns:read'],
    input: z.strictObject({
      limit: list_limit,
      type: eventType.describe('Only events of this type, such as stream.created.').optional(),
      after: z.string().describe('Forward: "0", "latest" or a cursor.').optional(),
      cursor: z.string().describe('Backward: the cursor of the page before.').optional(),
    }),
    output: pageShape(eventShape),
    handler: ({ services, who }, input) => listEvents(services, who.account_id, input),
  }),

  tool({
    name: 'list_streams',
    title: 'List audio streams',
    description: 'The recordings of the account, newest first, without their audio.',
    permissions: READS_STREAMS,
    input: z.strictObject({ limit: list_limit, cursor: list_cursor }),
    output: streamPageShape,
    handler: ({ services, who }, input) => listStreams(services, who, input),
  }),

  tool({
    name: 'list_endpoints',
    title: 'List webhook endpoints',
    description: 'Where events of the account are delivered to, newest first, with how each stands.',
    permissions: MANAGES_ENDPOINTS,
    input: z.strictObject({ limit: list_limit, cursor: uuid.describe('The cursor of the page before.').optional() }),
    output: pageShape(endpointShape),
    handler: ({ services, who }, input) => listEndpoints(services, who, input),
  }),
  tool({
    name: 'create_endpoint',
    title: 'Create a webhook endpoint',
    description:
      'Delivers events of the account to an https URL from now on. The answer holds the signing secret, which is shown only this once.',
    permissions: MANAGES_ENDPOINTS,
    does: SENDS_OUT,
    input: z.strictObject({
      url: endpointUrl.describe('Where to deliver, https.'),
      topics: endpointTopics.describe('Event types to deliver; all when empty or left out.').default([]),
    }),
    output: createdEndpointShape,
    handler: ({ services, who }, input) => createEndpoint(services, who, input),
  }),
  tool({
    name: 'set_endpoint_status',
    title: 'Pause, disable or activate a webhook endpoint',
    description:
      'paused keeps what is outstanding and delivers nothing; disabled cancels what is outstanding; active delivers events from then on.',
    permissions: MANAGES_ENDPOINTS,
    does: ENDS,
    input: z.strictObject({ endpoint_id: uuid, status: endpointStatus }),
    output: endpointShape,
    handler: ({ services, who }, { endpoint_id, status }) =>
      setEndpointStatus(services, who, { id: endpoint_id, status }),
  }),
  tool({
    name: 'delete_endpoint',
    title: 'Delete a webhook endpoint',
    description: 'Removes the endpoint, its secret and the history of its deliveries. Events stay listed.',
    permissions: MANAGES_ENDPOINTS,
    does: ENDS,
    input: z.strictObject({ endpoint_id: uuid }),
    output: z.strictObject({
      endpoint_id: id.describe('The endpoint that is gone.'),
      deleted: z.literal(true).describe('It is.'),
    }),
    async handler({ services, who }, { endpoint_id }) {
      const removed = await removeEndpoint(services, who, endpoint_id);
      return isRefusal(removed) ? removed : { endpoint_id, deleted: true };
    },
  }),
  tool({
    name: 'list_deliveries',
    title: 'List deliveries of a webhook endpoint',
    description: 'What was, or will be, delivered to an endpoint, newest first.',
    permissions: MANAGES_ENDPOINTS,
    input: z.strictObject({
      endpoint_id: uuid,
      limit: list_limit,
      cursor: uuid.describe('The cursor of the page before.').optional(),
    }),
    output: pageShape(deliveryShape),
    handler: ({ services, who }, { endpoint_id, ...page }) =>
      pageOfDeliveries(services, who, { id: endpoint_id, ...page }),
  }),
  tool({
    name: 'get_delivery',
    title: 'Get a delivery',
    description: 'One delivery with the event sent and what came of each attempt.',
    permissions: MANAGES_ENDPOINTS,
    input: z.strictObject({ endpoint_id: uuid, delivery_id: uuid }),
    output: attemptedDeliveryShape,
    handler: ({ services, who }, { endpoint_id, delivery_id }) =>
      oneDelivery(services, who, { id: endpoint_id, delivery_id }),
  }),
];

/** What tools make use of: these are the scopes that a client of the MCP server asks for. */
export const MCP_SCOPES: readonly Permission[] = PERMISSIONS.filter((permission) =>
  TOOLS.some(({ permissions }) => permissions.includes(permission)),
);
