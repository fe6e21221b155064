import { endpointOfDelivery } from '../../src/domain/ids.js';
import type { SeededRandom } from '../../src/engine/random/seeded_random.js';
import type { WebhookResponse, WebhookSender } from '../../src/features/webhooks/webhook_sender.js';
import type { Connection } from './connection.js';
import type { DeliveryHistory } from './delivery_history.js';
import type { VirtualTime } from './virtual_time.js';

/** How likely each answer is; the rest is 200. */
type Mood = { refuses: number; busy: number; silent: number };

const MOODS: readonly Mood[] = [
  { refuses: 0, busy: 0, silent: 0 },
  { refuses: 0.1, busy: 0.2, silent: 0.1 },
  { refuses: 1, busy: 0, silent: 0 },
  { refuses: 0.97, busy: 0, silent: 0 },
  { refuses: 0, busy: 0.97, silent: 0 },
  { refuses: 0.4, busy: 0.3, silent: 0.1 },
];
const [WELL] = MOODS as [Mood];
const REFUSALS = [302, 400, 404, 410];
const BUSY = [408, 429, 500, 503];
const RETRY_AFTER = [undefined, undefined, undefined, '1', '30', '4000', '100000', 'soon'];
const QUICK_MAX_MS = 300;
const TIMEOUT_MS = 10_000;
const MOOD_CHANGES = 0.03;

/** What stands behind the urls of endpoints: receivers whose mood changes with time. */
export class Receivers {
  readonly #random: SeededRandom;
  readonly #time: VirtualTime;
  readonly #history: DeliveryHistory;
  readonly #moods = new Map<string, Mood>();
  /** From here on they all accept. */
  are_well = false;

  constructor({ random, time, history }: { random: SeededRandom; time: VirtualTime; history: DeliveryHistory }) {
    this.#random = random;
    this.#time = time;
    this.#history = history;
  }

  /** A process' way to them; what is under way when it crashes never comes back. */
  posterOf(connection: Connection): WebhookSender {
    const post = (_url: URL, request: { headers: Record<string, string>; body: string }): Promise<WebhookResponse> =>
      new Promise((resolve) => {
        const delivery = endpointOfDelivery(request.headers['webhook-id'] ?? '');
        const answer = this.#answer(delivery?.endpoint_id ?? '');
        this.#history.posted(delivery, { body: request.body, status_code: answer.status_code });
        this.#time.after(answer.duration_ms, () => {
          if (!connection.is_cut) resolve(answer);
        });
      });
    return { post } as unknown as WebhookSender;
  }

  #answer(endpoint_id: string): WebhookResponse {
    const random = this.#random;
    let mood = this.#moods.get(endpoint_id);
    if (mood === undefined || random.chance(MOOD_CHANGES)) {
      mood = random.pick(MOODS);
      this.#moods.set(endpoint_id, mood);
    }
    const { refuses, busy, silent } = this.are_well ? WELL : mood;
    const duration_ms = random.chance(0.1) ? random.between(0, TIMEOUT_MS) : random.between(1, QUICK_MAX_MS);
    const answer = { reason: null, retry_after: undefined, error: null, duration_ms: Math.round(duration_ms) };
    let roll = random.fraction();
    if (roll < refuses) return { ...answer, status_code: random.pick(REFUSALS) };
    roll -= refuses;
    if (roll < busy) return { ...answer, status_code: random.pick(BUSY), retry_after: random.pick(RETRY_AFTER) };
    if (roll < busy + silent) return { ...answer, status_code: null, error: 'timeout', duration_ms: TIMEOUT_MS };
    return { ...answer, status_code: 200 };
  }
}
