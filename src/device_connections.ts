import type { TLSSocket, Server as TlsServer } from 'node:tls';
import type { Metrics } from './runtime/metrics.js';

/** Open connections on the device listener; the next one above this is turned away at once. */
const CONNECTIONS_MAX = 20_000;

/** Knows the connections of each certificate, so that a revoked one's can be closed. */
export class DeviceConnections {
  readonly #by_fingerprint = new Map<string, Set<TLSSocket>>();

  /** Watches a TLS listener from its start. */
  watch(server: TlsServer, metrics: Metrics): void {
    server.maxConnections = CONNECTIONS_MAX;
    server.on('secureConnection', (socket) => {
      metrics.device_connections.inc();
      const fingerprint = socket.getPeerX509Certificate()?.fingerprint256.replaceAll(':', '').toLowerCase();
      if (fingerprint !== undefined) this.#add(fingerprint, socket);
      socket.once('close', () => {
        metrics.device_connections.dec();
        if (fingerprint !== undefined) this.#remove(fingerprint, socket);
      });
    });
  }

  /** Closes what is open under a certificate's fingerprint (64 lower-case hex digits). */
  close(fingerprint: string): void {
    for (const socket of this.#by_fingerprint.get(fingerprint) ?? []) socket.destroy();
  }

  #add(fingerprint: string, socket: TLSSocket): void {
    const sockets = this.#by_fingerprint.get(fingerprint) ?? new Set();
    sockets.add(socket);
    this.#by_fingerprint.set(fingerprint, sockets);
  }

  #remove(fingerprint: string, socket: TLSSocket): void {
    const sockets = this.#by_fingerprint.get(fingerprint);
    sockets?.delete(socket);
    if (sockets?.size === 0) this.#by_fingerprint.delete(fingerprint);
  }
}
