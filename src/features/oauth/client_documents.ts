import { Agent, buildConnector, type Dispatcher, ProxyAgent, request } from 'undici';
import type { Client } from '../../access/oauth_client.js';
import { isOauthError, type OauthError, oauthError } from '../../domain/oauth_errors.js';
import { RecentlyUsed } from '../../engine/pools/recently_used.js';
import { NoPlace, type PoolBounds, SharedPool } from '../../engine/pools/shared_pool.js';
import { checkLiteral, makeLookup } from '../webhooks/addresses.js';
import { documentClient } from './clients/document_client.js';
import { readClientDocument } from './registration.js';

/**
 * Documents of clients whose id is a URL. They are fetched with the guards of a webhook's destination, and never from a
 * private address, since anybody who opens the sign-in page chooses the URL.
 */

const ANSWER_MS_MAX = 5_000;
const DOCUMENT_BYTES_MAX = 16 * 1024;
const KEPT_MAX = 1_000;
const KEPT_MS = 60 * 60_000;
/** How long a failed read is remembered: it is tried again soon, and not with every page. */
const FAULT_KEPT_MS = 60_000;
/** Counted by the last two labels of the host: a slow site takes no place from others. */
const READS: PoolBounds = { places_max: 16, share_max: 2, waiting_max: 64, waiting_share_max: 8, wait_ms_max: 5_000 };

const NOT_READ = oauthError(
  'invalid_request',
  "The app's document, at the address that is its client_id, can't be read.",
);
const BUSY = oauthError('temporarily_unavailable', 'Too many documents of apps are read at the moment.');

type ClientDocumentsOptions = {
  brand_names: readonly string[];
  /** PEM of certificates that are trusted beside the system's. */
  extra_ca?: string | null;
  /** The proxy that connects in place of this server, and refuses private addresses. */
  proxy: string | null;
  /** Tests read from this machine. */
  block_private?: boolean;
};

export class ClientDocuments {
  readonly #brand_names: readonly string[];
  readonly #block_private: boolean;
  readonly #agent: Dispatcher;
  readonly #kept = new RecentlyUsed<Client | OauthError>(KEPT_MAX);
  readonly #asked = new Map<string, Promise<Client | OauthError>>();
  readonly pool = new SharedPool('client_documents', READS);

  constructor({ brand_names, extra_ca = null, proxy, block_private = true }: ClientDocumentsOptions) {
    this.#brand_names = brand_names;
    this.#block_private = block_private;
    const tls = extra_ca === null ? {} : { ca: extra_ca };
    const connect = buildConnector({ timeout: ANSWER_MS_MAX, lookup: makeLookup({ block_private }), ...tls });
    this.#agent = proxy === null ? new Agent({ connect }) : new ProxyAgent({ uri: proxy });
  }

  /** The client of an id that passes `isDocumentId`, or the fault of its document. */
  find(client_id: string): Promise<Client | OauthError> {
    const kept = this.#kept.get(client_id);
    if (kept !== undefined) return Promise.resolve(kept);
    const under_way = this.#asked.get(client_id);
    if (under_way !== undefined) return under_way;
    const site = new URL(client_id).hostname.split('.').slice(-2).join('.');
    const read = this.pool
      .run(site, () => this.#read(client_id))
      .then(
        (found) => {
          this.#kept.set(client_id, found, { ttl: isOauthError(found) ? FAULT_KEPT_MS : KEPT_MS });
          return found;
        },
        (error: unknown) => {
          if (error instanceof NoPlace) return BUSY;
          throw error;
        },
      )
      .finally(() => this.#asked.delete(client_id));
    this.#asked.set(client_id, read);
    return read;
  }

  async #read(client_id: string): Promise<Client | OauthError> {
    const bytes = await this.#fetch(client_id).catch(() => null);
    if (bytes === null) return NOT_READ;
    const made = readClientDocument(bytes, { client_id, brand_names: this.#brand_names });
    return isOauthError(made) ? made : { ...documentClient(client_id), ...made };
  }

  /** Null if the answer is no document. Redirects are not followed. */
  async #fetch(client_id: string): Promise<Buffer | null> {
    if (this.#block_private) checkLiteral(new URL(client_id).hostname);
    const { statusCode, headers, body } = await request(client_id, {
      dispatcher: this.#agent,
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    body.on('error', () => {}); // where the rest of it is not read
    const is_json = /^application\/(?:[\w.-]+\+)?json\b/i.test(String(headers['content-type'] ?? ''));
    const pieces: Buffer[] = [];
    let bytes = 0;
    if (statusCode === 200 && is_json)
      for await (const piece of body) {
        bytes += (piece as Buffer).length;
        if (bytes > DOCUMENT_BYTES_MAX) break;
        pieces.push(piece as Buffer);
      }
    body.destroy();
    return pieces.length === 0 || bytes > DOCUMENT_BYTES_MAX ? null : Buffer.concat(pieces);
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}
