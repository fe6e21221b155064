import type { Event } from './api.js';

/** Requests that Spool signs, checked as Standard Webhooks has it. Runs wherever WebCrypto is: Node, browsers, edge functions. */

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const TOLERANCE_MS = 5 * 60_000;
const SECRET_PREFIX = 'whsec_';

/** The request is not Spool's, or is an old one: answer it with 401. */
export class NotVerified extends Error {
  override readonly name = 'NotVerified';
}

/** As Node, `fetch` and most frameworks give them. */
export type GivenHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | string[] | undefined>>;

/** Who checks requests to one endpoint, by its signing secret. */
export class WebhookVerifier {
  readonly #keys: Promise<Key>[];

  /** `secret`: as the endpoint was answered when it was made, `whsec_…`; several while one is being replaced. */
  constructor(secret: string | readonly string[]) {
    this.#keys = (typeof secret === 'string' ? [secret] : secret).map(keyOf);
    for (const key of this.#keys) key.catch(() => {});
  }

  /**
   * The event, and the id under which it is to be taken once, whatever the number of tries. `body` is the request's, byte
   * for byte. Throws NotVerified.
   */
  async verify(
    body: string | Uint8Array,
    headers: GivenHeaders,
    now_ms = Date.now(),
  ): Promise<{ webhook_id: string; event: Event }> {
    const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
      headerOf(headers, name),
    );
    if (!id || !timestamp || !signatures) throw new NotVerified('A header of the signature is missing.');
    if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now_ms - Number(timestamp) * 1_000) > TOLERANCE_MS)
      throw new NotVerified('The timestamp is more than five minutes away.');
    const text = new TextEncoder();
    const raw = typeof body === 'string' ? text.encode(body) : body;
    const head = text.encode(`${id}.${timestamp}.`);
    const signed = new Uint8Array(head.length + raw.length);
    signed.set(head);
    signed.set(raw, head.length);
    for (const signature of signatures.split(' ')) {
      const [version, base64 = ''] = signature.split(',');
      if (version === 'v1' && (await this.#isSignature(base64, signed)))
        return { webhook_id: id, event: JSON.parse(new TextDecoder().decode(raw)) as Event };
    }
    throw new NotVerified('No signature is right.');
  }

  /** WebCrypto compares in constant time. */
  async #isSignature(base64: string, signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
    const signature = bytesOf(base64);
    if (signature === null) return false;
    for (const key of this.#keys) if (await crypto.subtle.verify('HMAC', await key, signature, signed)) return true;
    return false;
  }
}

async function keyOf(secret: string): Promise<Key> {
  const bytes = secret.startsWith(SECRET_PREFIX) ? bytesOf(secret.slice(SECRET_PREFIX.length)) : null;
  if (bytes === null || bytes.length === 0) throw new TypeError('A signing secret is whsec_ with Base64 behind it.');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function headerOf(headers: GivenHeaders, name: string): string | undefined {
  const value = typeof headers.get === 'function' ? headers.get(name) : (headers as Record<string, unknown>)[name];
  return typeof value === 'string' ? value : undefined;
}
