import { z } from 'zod';
import type { Principal } from '../../access/principal.js';
import { count, id } from '../../access/response_schemas.js';
import { EVENT_SCHEMA_VERSION } from '../../domain/event_types.js';
import { partitionOfId } from '../../domain/ids.js';
import { LIMITS } from '../../domain/limits.js';
import { Refused, refuse } from '../../domain/refusals.js';
import { verdictOf } from '../../domain/webhooks.js';
import { RateLimits } from '../../engine/limits/rate_limits.js';
import { randomId } from '../../engine/random/random.js';
import type { ServerKeys } from '../../engine/secrets/server_keys.js';
import type { FeatureServices } from '../services.js';
import { deliveryHeaders } from './delivery_headers.js';
import { checkEndpoint } from './endpoints.js';
import { openSigningSecret } from './signing_secret.js';
import type { WebhookSender } from './webhook_sender.js';

/** A test delivery to an endpoint. docs/choices.md, "Webhooks". */

/** No type of the account's events: a test is recorded nowhere. */
const TEST_TYPE = 'endpoint.test';
/** Events count from 1. */
const TEST_SEQUENCE = 0;

export const endpointTestShape = z
  .strictObject({
    webhook_id: id.describe('The webhook-id of the request.'),
    is_accepted: z.boolean().describe('Whether a delivery that is answered so counts as delivered.'),
    status_code: count.nullable().describe('The HTTP status of the answer; null where none came.'),
    reason: z.string().nullable().describe('The text beside that status.'),
    error: z
      .string()
      .nullable()
      .describe('What went wrong where no answer came, such as timeout, dns or tls; null where one came.'),
    duration_ms: count.describe('Milliseconds until the status line, or until it was given up.'),
  })
  .meta({ id: 'EndpointTest' });

type EndpointTestView = z.infer<typeof endpointTestShape>;

/** Sends test deliveries, up to a limit a minute for each endpoint. */
export class EndpointTests {
  readonly #sender: WebhookSender;
  readonly #rates: RateLimits<'tests'>;

  constructor(sender: WebhookSender, { on }: { on: boolean }) {
    this.#sender = sender;
    this.#rates = new RateLimits({ tests: LIMITS.endpoint_tests_per_minute_max }, { on });
  }

  /** TOO_MANY_REQUESTS beyond the limit. */
  async send(endpoint_id: string, { webhook_id, url, key, body, at_ms }: TestRequest): Promise<EndpointTestView> {
    const wait_s = await this.#rates.take('tests', endpoint_id);
    if (wait_s !== null) {
      const says = `An endpoint gets at most ${LIMITS.endpoint_tests_per_minute_max} test deliveries a minute.`;
      throw new Refused(refuse('TOO_MANY_REQUESTS', says, { retry_after_s: wait_s }));
    }
    const headers = deliveryHeaders(key, { id: webhook_id, at_ms, body });
    const { status_code, reason, error, duration_ms } = await this.#sender.post(new URL(url), { headers, body });
    const is_accepted = status_code !== null && verdictOf(status_code) === 'accepted';
    return { webhook_id, is_accepted, status_code, reason, error, duration_ms };
  }
}

type TestRequest = { webhook_id: string; url: string; key: Uint8Array; body: string; at_ms: number };
type TestServices = Pick<FeatureServices, 'actors' | 'clock' | 'keys'> & { endpoint_tests: EndpointTests };

/** One signed request of type `endpoint.test` to an endpoint of the account, whatever its status. It is no event and counts as no failure. */
export async function sendEndpointTest(
  services: TestServices,
  who: Principal,
  endpoint_id: string,
): Promise<EndpointTestView> {
  checkEndpoint(who, endpoint_id);
  return sendTest(services, endpoint_id);
}

/** The same for staff, to an endpoint of any account. NOT_FOUND if there is none. */
export async function sendTest(
  { actors, clock, keys, endpoint_tests }: TestServices,
  endpoint_id: string,
): Promise<EndpointTestView> {
  const { account_id, url, sealed_secret } = await actors.endpoint(endpoint_id).view();
  const at_ms = clock.now();
  // Receivers pass over an id that they have had: each test has its own.
  const webhook_id = randomId({ partition: partitionOfId(endpoint_id), now_ms: at_ms });
  const body = JSON.stringify({
    id: webhook_id,
    schema_version: EVENT_SCHEMA_VERSION,
    sequence: String(TEST_SEQUENCE),
    occurred_at: new Date(at_ms).toISOString(),
    account_id,
    type: TEST_TYPE,
    resource: { type: 'endpoint', id: endpoint_id },
    data: {},
  });
  return endpoint_tests.send(endpoint_id, { webhook_id, url, key: keyOf(keys, sealed_secret), body, at_ms });
}

function keyOf(keys: ServerKeys, sealed: Uint8Array): Uint8Array {
  const key = openSigningSecret(keys, sealed);
  if (key !== null) return key;
  throw new Refused(
    refuse('CONFLICT', 'The signing secret can no longer be read. Make another endpoint in its place.'),
  );
}
