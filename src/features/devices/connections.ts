import type { ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';

/** Publishes to the other processes on the same Redis; messages may get lost. */
export type Announcer = { publish(channel: string, text: string): Promise<unknown> };

export const REVOKED_CHANNEL = 'spool:certificate_revoked';
const FINGERPRINT = /^[0-9a-f]{64}$/;
/** An answer that is in progress when its connection is to close. */
const LAST_ANSWER_MAX_MS = 2_000; // ours: longer than an answer takes that comes at all

/**
 * Keeps the connections of each certificate, so that those of a revoked one can be closed, in this process and the
 * others. Correctness does not depend on the message: every request checks its certificate, in any process, and is
 * refused and its connection closed after the revocation. The message only closes connections without requests. One
 * message for each revocation costs less than checking all connected certificates again and again.
 */
export class DeviceConnections {
  readonly #by_fingerprint = new Map<string, Set<TLSSocket>>();
  readonly #known = new WeakSet<TLSSocket>();
  /** Responses in progress, by connection. */
  readonly #under_way = new WeakMap<object, Set<ServerResponse>>();
  readonly #announcer: Announcer;

  constructor(announcer: Announcer) {
    this.#announcer = announcer;
  }

  /** Records the certificate of a connection with its first request: reading a certificate earlier is not worth it. */
  note(fingerprint: string, socket: TLSSocket): void {
    if (this.#known.has(socket) || socket.destroyed) return;
    this.#known.add(socket);
    const sockets = this.#by_fingerprint.get(fingerprint) ?? new Set();
    sockets.add(socket);
    this.#by_fingerprint.set(fingerprint, sockets);
    socket.once('close', () => {
      sockets.delete(socket);
      if (sockets.size === 0 && this.#by_fingerprint.get(fingerprint) === sockets)
        this.#by_fingerprint.delete(fingerprint);
    });
  }

  /** Records an answer until it is sent: the connection is not closed before that. */
  answering(answer: ServerResponse): void {
    const { socket } = answer.req;
    const answers = this.#under_way.get(socket) ?? new Set();
    this.#under_way.set(socket, answers.add(answer));
    answer.once('close', () => answers.delete(answer));
  }

  /** The number of certificates with a connection in this process. */
  get size(): number {
    return this.#by_fingerprint.size;
  }

  /** Closes the connections of a revoked certificate, here at once and in the other processes soon. */
  revoked(fingerprint: string): void {
    this.#close(fingerprint);
    void this.#announcer.publish(REVOKED_CHANNEL, fingerprint).catch(() => {});
  }

  /** Handles a message of another process. */
  heard(text: string): void {
    if (FINGERPRINT.test(text)) this.#close(text);
  }

  #close(fingerprint: string): void {
    for (const socket of this.#by_fingerprint.get(fingerprint) ?? []) this.#end(socket);
  }

  /**
   * Closes the connection after the answers in progress: the message may arrive while a request is being answered with
   * that very revocation. A request whose body is incomplete is cut off, as are answers that take too long.
   */
  #end(socket: TLSSocket): void {
    const answers = [...(this.#under_way.get(socket) ?? [])];
    if (answers.length === 0 || answers.some(({ req }) => !req.complete)) return void socket.destroy();
    const late = setTimeout(() => socket.destroy(), LAST_ANSWER_MAX_MS);
    socket.once('close', () => clearTimeout(late));
    for (const answer of answers) {
      if (!answer.headersSent) answer.setHeader('Connection', 'close');
      answer.once('close', () => {
        if (this.#under_way.get(socket)?.size === 0) socket.destroySoon();
      });
    }
  }
}
