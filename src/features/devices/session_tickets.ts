import { randomBytes } from 'node:crypto';
import type { Server as TlsServer } from 'node:tls';
import type { ServerKeys } from '../../engine/secrets/server_keys.js';

const PURPOSE = 'device session ticket';
/** A key issues tickets for this time. For the same time again its tickets are accepted and replaced. */
const PERIOD_MS = 12 * 3_600_000;
const PART_BYTES = 16;
/** OpenSSL's own bound on a ticket, in seconds; 300 when not set. A ticket proves a key, never that it may still be used. */
export const TICKET_LIFE_S = (2 * PERIOD_MS) / 1000;

/** A ticket key for OpenSSL's callback: the name in the ticket, and keys for HMAC-SHA256 and AES-128-CBC. */
type TicketKey = { name: Buffer; mac_key: Buffer; cipher_key: Buffer };

/** Verdicts of OpenSSL's callback. */
const FULL_HANDSHAKE = 0;
const RESUME = 1;
const RESUME_AND_REPLACE = 2;
type TicketVerdict = [verdict: number, mac_key: Buffer, cipher_key: Buffer, name: Buffer, iv: Buffer];

/** The context of a running server: Node.js has no public name for it, nor for the callback. */
type TicketContext = {
  onticketkeycallback?: (name: Buffer, iv: Buffer, is_new: boolean) => TicketVerdict;
  enableTicketKeyCallback?: () => void;
};

/**
 * TLS session tickets that every process with the same server keys can read, so that a device resumes at another
 * process and after a restart. Ticket keys are derived from the server keys and the time; no process sends them.
 */
export class SessionTickets {
  readonly #keys: ServerKeys;
  readonly #now: () => number;
  #known: { period: number; key_ids: string; current: TicketKey; accepted: TicketKey[] } | null = null;

  /** `now` in milliseconds since 1970, equal in all processes. */
  constructor(keys: ServerKeys, now: () => number) {
    this.#keys = keys;
    this.#now = now;
  }

  /** Must be called again after each `setSecureContext` of the server. */
  install(server: TlsServer): void {
    // `ticketKeys` knows one key at a time, so each rotation would cost a full handshake of the whole fleet at once.
    const context = (server as unknown as { _sharedCreds?: { context?: TicketContext } })._sharedCreds?.context;
    if (context?.enableTicketKeyCallback === undefined) {
      const { name, mac_key, cipher_key } = this.#table().current;
      server.setTicketKeys(Buffer.concat([name, mac_key, cipher_key]));
      return;
    }
    context.onticketkeycallback = (name, iv, is_new) => this.#verdict(name, iv, is_new);
    context.enableTicketKeyCallback();
  }

  #verdict(name: Buffer, iv: Buffer, is_new: boolean): TicketVerdict {
    const { current, accepted } = this.#table();
    if (is_new) return [RESUME, current.mac_key, current.cipher_key, current.name, randomBytes(PART_BYTES)];
    const found = accepted.find((key) => key.name.equals(name));
    // Keys go with every verdict, since node hands them on before it looks at it.
    if (found === undefined) return [FULL_HANDSHAKE, current.mac_key, current.cipher_key, name, iv];
    return [found === current ? RESUME : RESUME_AND_REPLACE, found.mac_key, found.cipher_key, name, iv];
  }

  #table() {
    const period = Math.floor(this.#now() / PERIOD_MS);
    const ids = this.#keys.keyIds();
    const key_ids = ids.join();
    if (this.#known?.period === period && this.#known.key_ids === key_ids) return this.#known;
    const current = this.#derive(this.#keys.currentKeyId(), period);
    const older = ids.flatMap((key_id) => [period, period - 1].map((of) => this.#derive(key_id, of)));
    // The next one as well: at the turn of a period another process may be a moment ahead.
    const ahead = this.#derive(this.#keys.currentKeyId(), period + 1);
    const accepted = [current, ...older.filter(({ name }) => !name.equals(current.name)), ahead];
    this.#known = { period, key_ids, current, accepted };
    return this.#known;
  }

  #derive(key_id: string, period: number): TicketKey {
    const part = (of: string) => {
      const mac = this.#keys.keyedHashWith(key_id, PURPOSE, of, String(period));
      if (mac === null) throw new Error('a server key is known by its id and yet is not there');
      return Buffer.from(mac).subarray(0, PART_BYTES);
    };
    return { name: part('name'), mac_key: part('mac'), cipher_key: part('cipher') };
  }
}
