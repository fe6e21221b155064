import type { Server, Socket } from 'node:net';
import { NetworkList } from '../../engine/limits/network_list.js';
import { refuseConnections } from './connection_limiter.js';

const LOOPBACK = new NetworkList(['127.0.0.0/8', '::1']);
/** Places for connections of this machine, such as probes; a quarter of all places if these are few. */
const LOOPBACK_PLACES = 16;
const LOOPBACK_SHARE = 1 / 4;

/**
 * Bounds the connections of the operator port. A connection beyond the bound replaces the oldest one that has shown no
 * token, those of other machines before those of this one. So any number of idle connections locks out neither probes
 * nor operators.
 */
export class OperatorConnections {
  readonly #max: number;
  readonly #of_others_max: number;
  readonly #known: WeakSet<Socket>;
  readonly #refused: () => void;
  /** Open connections in the order of their arrival, and whether they are of this machine. */
  readonly #open = new Map<Socket, boolean>();
  #of_others = 0;

  /**
   * `known`: connections that have shown a token. `refused` is called for each connection that is closed or not
   * accepted.
   */
  constructor(connections_max: number, { known, refused }: { known: WeakSet<Socket>; refused: () => void }) {
    this.#max = connections_max;
    this.#of_others_max = connections_max - Math.min(LOOPBACK_PLACES, Math.floor(connections_max * LOOPBACK_SHARE));
    this.#known = known;
    this.#refused = refused;
  }

  /** Installs itself before the server's own handling of new connections. */
  install(server: Server): void {
    const accept = server.listeners('connection') as ((socket: Socket) => void)[];
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      if (!this.#enter(socket)) return refuseConnections(socket);
      for (const go of accept) go.call(server, socket);
    });
  }

  #enter(socket: Socket): boolean {
    const is_local = LOOPBACK.has(socket.remoteAddress);
    const has_place = is_local || this.#of_others < this.#of_others_max;
    if (this.#open.size >= this.#max || !has_place) {
      this.#refused();
      const oldest = this.#oldest(false) ?? (has_place ? this.#oldest(true) : undefined);
      if (oldest === undefined) return false;
      this.#leave(oldest);
      oldest.destroy();
    }
    this.#open.set(socket, is_local);
    if (!is_local) this.#of_others += 1;
    socket.once('close', () => this.#leave(socket));
    return true;
  }

  /** The oldest connection of this machine, or of others, that has shown no token. */
  #oldest(of_local: boolean): Socket | undefined {
    for (const [socket, is_local] of this.#open) if (is_local === of_local && !this.#known.has(socket)) return socket;
    return undefined;
  }

  #leave(socket: Socket): void {
    const is_local = this.#open.get(socket);
    if (!this.#open.delete(socket)) return;
    if (is_local === false) this.#of_others -= 1;
  }
}
