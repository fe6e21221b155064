import { randomUUID } from 'node:crypto';
import { LIMITS } from '../../src/domain/limits.js';
import { verdictOf } from '../../src/domain/webhooks.js';
import { deliveryHeaders } from '../../src/features/webhooks/delivery_headers.js';
import { type WebhookError, WebhookSender } from '../../src/features/webhooks/webhook_sender.js';
import type { ListenedEvent } from './feed.js';

/** One event on its way to the local program; the id is the same however often it is sent. */
export type Forwarding = { event: ListenedEvent; webhook_id: string; body: string };
/** `again`: another try may succeed. */
export type Forwarded = { ok: boolean; again: boolean; says: string; duration_ms: number };

const ERRORS: Record<WebhookError, string> = {
  timeout: `no answer within ${LIMITS.delivery_timeout_ms / 1000} s`,
  dns: 'the name does not resolve',
  address_blocked: 'the address is blocked',
  connection_refused: 'connection refused',
  connection_lost: 'connection lost',
  unreachable: 'unreachable',
  certificate_expired: 'the certificate has expired',
  certificate_name: 'the certificate is for another name',
  certificate_untrusted: 'the certificate is not trusted: is its chain complete?',
  tls: 'TLS failed',
  bad_answer: 'the answer is not HTTP',
  network: 'the network failed',
};

/** Sends events to the local program as deliveries are sent, one after the other. */
export class Forwarder {
  readonly #url: URL;
  readonly #key: Uint8Array;
  readonly #poster = new WebhookSender({ block_private: false, extra_ca: null, proxy: null });
  #last: Promise<unknown> = Promise.resolve();

  constructor(url: URL, key: Uint8Array) {
    this.#url = url;
    this.#key = key;
  }

  prepare(event: ListenedEvent): Forwarding {
    return { event, webhook_id: randomUUID(), body: JSON.stringify(event) };
  }

  /** Never rejects. `started` is called when its turn has come. */
  send(forwarding: Forwarding, started: () => void): Promise<Forwarded> {
    const sent = this.#last.then(() => {
      started();
      return this.#post(forwarding);
    });
    this.#last = sent;
    return sent;
  }

  async #post({ webhook_id, body }: Forwarding): Promise<Forwarded> {
    const headers = deliveryHeaders(this.#key, { id: webhook_id, at_ms: Date.now(), body });
    const { status_code, reason, error, duration_ms } = await this.#poster.post(this.#url, { headers, body });
    if (status_code === null) return { ok: false, again: true, says: ERRORS[error ?? 'network'], duration_ms };
    const said = [status_code, reason].filter((part) => part !== null).join(' ');
    const verdict = verdictOf(status_code);
    const [ok, again] = [verdict === 'accepted', verdict === 'retryable'];
    const is_redirect = status_code >= 300 && status_code <= 399;
    return { ok, again, says: is_redirect ? `${said} (not followed)` : said, duration_ms };
  }

  close(): Promise<void> {
    return this.#poster.close();
  }
}
