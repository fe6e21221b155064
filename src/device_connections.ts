import type { TLSSocket, Server as TlsServer } from 'node:tls';
import type { Metrics } from './runtime/metrics.js';

/** Open connections on the device listener; the next one above this is turned away at once. */
const CONNECTIONS_MAX = 20_000;

/** Knows the connections of each certificate, so that a revoked one's can be closed. */
export class DeviceConnections {
  readonly #by_fingerprint = new Map<string, Set<TLSSocket>>();
  readonly #known = new WeakSet<TLSSocket>();

  /** Counts the connections of a TLS listener from its start. */
  watch(server: TlsServer, metrics: Metrics): void {
    server.maxConnections = CONNECTIONS_MAX;
    server.on('secureConnection', (socket) => {
      metrics.device_connections.inc();
      socket.once('close', () => metrics.device_connections.dec());
    });
  }

  /** Notes whose connection this is, with its first request: reading a certificate is not worth it before. */
  note(fingerprint: string, socket: TLSSocket): void {
    if (this.#known.has(socket)) return;
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

  /** Closes what is open under a certificate's fingerprint (64 lower-case hex digits). */
  close(fingerprint: string): void {
    for (const socket of this.#by_fingerprint.get(fingerprint) ?? []) socket.destroy();
  }
}
