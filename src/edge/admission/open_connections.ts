import type { Server, Socket } from 'node:net';

/**
 * All connections of a listener in any state, including those that HTTP never saw, such as one in its TLS handshake,
 * which `closeAllConnections` of an HTTP server skips. A listener closes only when all of them have closed.
 */
export class OpenConnections {
  /** The sockets as they were accepted; for a TLS connection, the socket below it. */
  readonly #sockets = new Set<Socket>();

  /** `counted` is called with the count at each change. */
  constructor(server: Server, counted: (open: number) => void) {
    server.on('connection', (socket: Socket) => {
      counted(this.#sockets.add(socket).size);
      socket.once('close', () => {
        this.#sockets.delete(socket);
        counted(this.#sockets.size);
      });
    });
  }

  /** Closes connections that have sent no byte: no client waits for an answer on them. */
  closeSilent(): void {
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
  }

  get size(): number {
    return this.#sockets.size;
  }

  closeAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
