import { z } from 'zod';
import type { Endpoint } from '../../actors/webhooks/endpoint_state.js';
import type { Principal } from '../../src/access/principal.js';
import { listLimit, uuid } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { EVENT_TYPES, type EventType } from '../../src/domain/event_types.js';
import { endpointOfDelivery, partitionOfId } from '../../src/domain/ids.js';
import { orNull, Refused, refuse, throwRefusal } from '../../src/domain/refusals.js';
import { ENDPOINT_STATUSES, type EndpointStatus } from '../../src/domain/webhooks.js';
import { randomId } from '../../src/engine/runtime/random.js';
import { destinationFault } from '../../src/features/webhooks/destination.js';
import {
  attemptedDeliveryShape,
  deliveryShape,
  endpointShape,
  endpointView,
  listDeliveries,
  readDelivery,
} from '../../src/features/webhooks/endpoint_views.js';
import { randomSigningSecret } from '../../src/features/webhooks/signing_secret.js';
import { accountRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** Webhook endpoints and what was delivered to them. docs/rules.md, "Webhook endpoints and deliveries". */

const NO_ENDPOINT = refuse('NOT_FOUND', 'There is no such endpoint.');
const NO_DELIVERY = refuse('NOT_FOUND', 'There is no such delivery.');
export const MANAGES_ENDPOINTS = ['endpoints:manage'] as const;

/** Where to deliver. */
export const endpointUrl = z
  .string('must be an https:// URL')
  .superRefine((text, context) => {
    const fault = destinationFault(text);
    if (fault !== null) context.addIssue({ code: 'custom', message: fault });
  })
  .meta({ format: 'uri' });

/** Which events to deliver; all when there are none. They are kept as they were sent. */
export const endpointTopics = z
  .array(z.enum(EVENT_TYPES, 'must be an event type'), 'must be a list of event types')
  .max(EVENT_TYPES.length, 'names more event types than there are')
  .describe('Which events are delivered; none named: all of them.');

export const endpointStatus = z
  .enum(ENDPOINT_STATUSES, 'must be active, paused or disabled')
  .describe('paused: what is outstanding waits. disabled: it is cancelled.');

const cursor = uuid.optional().describe('Where to continue: the cursor of the page before. Absent for the first page.');

export const createdEndpointShape = z.strictObject({
  endpoint: endpointShape,
  signing_secret: z
    .string()
    .regex(/^whsec_/)
    .describe('What deliveries are signed with; shown this once.'),
});

export const ENDPOINT_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'POST',
    path: '/endpoints',
    summary: 'Registers a webhook endpoint.',
    notes: 'The signing secret is shown in this answer alone.',
    credential: 'account',
    permission: MANAGES_ENDPOINTS,
    status: 201,
    body: z.object({ url: endpointUrl.describe('Where events are posted to.'), topics: endpointTopics.default([]) }),
    answer: createdEndpointShape,
    refusals: ['CONFLICT'],
    handler: async ({ services, who, body }) => createEndpoint(services, who, body),
  }),
  accountRoute({
    method: 'GET',
    path: '/endpoints',
    summary: 'The webhook endpoints, newest first.',
    credential: 'account',
    permission: MANAGES_ENDPOINTS,
    query: z.object({ limit: listLimit, cursor }),
    answer: pageShape(endpointShape),
    handler: async ({ services, who, query }) => listEndpoints(services, who, query),
  }),
  accountRoute({
    method: 'GET',
    path: '/endpoints/:id',
    summary: 'A webhook endpoint.',
    credential: 'account',
    permission: MANAGES_ENDPOINTS,
    answer: endpointShape,
    handler: async ({ services, who, params }) => readEndpoint(services, who, params.id as string),
  }),
  accountRoute({
    method: 'PATCH',
    path: '/endpoints/:id',
    summary: 'Pauses, disables or activates an endpoint.',
    notes:
      'Pausing keeps what is outstanding, disabling cancels it. A disabled endpoint can be set active only. What happened while it was not active is not sent later.',
    credential: 'account',
    permission: MANAGES_ENDPOINTS,
    // Strict, since what can't be edited must not seem to have been.
    body: z.strictObject({ status: endpointStatus }),
    answer: endpointShape,
    refusals: ['CONFLICT'],
    handler: async ({ services, who, params, body }) =>
      setEndpointStatus(services, who, { id: params.id as string, status: body.status }),
  }),
  accountRoute({
    method: 'DELETE',
    path: '/endpoints/:id',
    summary: 'Removes an endpoint with its secret and its deliveries.',
    credential: 'account',
    permission: MANAGES_ENDPOINTS,
    status: 204,
    handler: async ({ services, who, params }) => removeEndpoint(services, who, params.id as string),
  }),
  accountRoute({
    method: 'GET',
    path: '/endpoints/:id/deliveries',
    summary: 'What was sent to an endpoint, or will be, newest first.',
    credential: 'account',
    permission: MANAGES_ENDPOINTS,
    query: z.object({ limit: listLimit, cursor }),
    answer: pageShape(deliveryShape),
    handler: async ({ services, who, params, query }) =>
      pageOfDeliveries(services, who, { id: params.id as string, ...query }),
  }),
  accountRoute({
    method: 'GET',
    path: '/endpoints/:id/deliveries/:delivery_id',
    summary: 'A delivery with its event and every attempt.',
    credential: 'account',
    permission: MANAGES_ENDPOINTS,
    answer: attemptedDeliveryShape,
    handler: async ({ services, who, params }) =>
      oneDelivery(services, who, { id: params.id as string, delivery_id: params.delivery_id as string }),
  }),
];

type Page = { limit: number; cursor?: string | undefined };

/** The new endpoint and its signing secret, which nobody is shown again. */
export async function createEndpoint(
  { clock, keys, actors }: Services,
  who: Principal,
  { url, topics }: { url: string; topics: EventType[] },
): Promise<z.infer<typeof createdEndpointShape>> {
  const endpoint_id = randomId({ partition: partitionOfId(who.account_id), now_ms: clock.now() });
  const { text, sealed } = randomSigningSecret(keys);
  const endpoint = { url, topics, sealed_secret: sealed };
  const added = await actors.downstream.account(who.account_id).add_endpoint({ endpoint_id, endpoint }, who.fences);
  const created_at = new Date(added.created_at_ms).toISOString();
  const view = { id: endpoint_id, status: 'active' as const, topics, url, failure_count: 0 };
  return {
    endpoint: { ...view, last_success_at: null, disabled_reason: null, created_at },
    signing_secret: text,
  };
}

/** The newest first. */
export async function listEndpoints({ actors }: Services, who: Principal, { limit, cursor: after }: Page) {
  // Ids begin with their time, so theirs is the order of making, and a cursor holds when its endpoint is gone.
  const ids = who.account.endpoints.toSorted().toReversed();
  const left = after === undefined ? ids : ids.filter((id) => id < after);
  const page = left.slice(0, limit);
  const found = await Promise.all(page.map((id) => orNull(view(actors, id), 'NOT_FOUND')));
  const items = found.flatMap((one, index) => (one === null ? [] : [endpointView(page[index] as string, one)]));
  return { items, cursor: left.length > limit ? (page.at(-1) ?? null) : null };
}

async function readEndpoint({ actors }: Services, who: Principal, id: string) {
  if (!who.account.endpoints.includes(id)) throw new Refused(NO_ENDPOINT);
  const endpoint = await view(actors, id);
  return endpointView(id, endpoint);
}

export async function setEndpointStatus(
  { actors, deliveries }: Services,
  who: Principal,
  { id, status }: { id: string; status: EndpointStatus },
) {
  if (!who.account.endpoints.includes(id)) throw new Refused(NO_ENDPOINT);
  const endpoint = await actors.endpoint(id).set_status({ status }, who.fences);
  if (status === 'active') deliveries.wake([id]);
  return endpointView(id, endpoint);
}

export async function removeEndpoint({ actors }: Services, who: Principal, id: string) {
  return actors.downstream.account(who.account_id).remove_endpoint({ endpoint_id: id }, who.fences);
}

/** The newest first; the cursor is the id of the last delivery. */
export async function pageOfDeliveries(
  services: Services,
  who: Principal,
  { id, limit, cursor: after }: Page & { id: string },
): Promise<{ items: unknown[]; cursor: string | null }> {
  if (!who.account.endpoints.includes(id)) throw new Refused(NO_ENDPOINT);
  const position = after === undefined ? null : endpointOfDelivery(after);
  if (after !== undefined && position?.endpoint_id !== id) {
    const message = 'must be a cursor that this list returned';
    throw new Refused(refuse('BAD_REQUEST', `cursor: ${message}.`, { details: [{ path: 'cursor', message }] }));
  }
  const found = await listDeliveries(readerOf(services, who, id), { before: position?.sequence, limit: limit + 1 });
  const page = found.slice(0, limit);
  const cursor_ahead = found.length > limit ? (page.at(-1)?.id ?? null) : null;
  return { items: page.map(({ sequence: _, ...listed }) => listed), cursor: cursor_ahead };
}

export async function oneDelivery(
  services: Services,
  who: Principal,
  { id, delivery_id }: { id: string; delivery_id: string },
): Promise<Record<string, unknown>> {
  if (!who.account.endpoints.includes(id)) throw new Refused(NO_ENDPOINT);
  const part = endpointOfDelivery(delivery_id);
  if (part?.endpoint_id !== id) throw new Refused(NO_DELIVERY);
  return (await readDelivery(readerOf(services, who, id), part.sequence)) ?? throwRefusal(NO_DELIVERY);
}

function readerOf(services: Services, { account_id, account }: Principal, endpoint_id: string) {
  return { services, endpoint_id, account_id, account_epoch: account.lives.account };
}

function view(actors: Services['actors'], id: string): Promise<Endpoint> {
  return actors.endpoint(id).view();
}
