import type { Server, Socket } from 'node:net';
import { networkOf } from '../../engine/limits/rate_limits.js';
import { rawError } from '../../engine/wire/raw_error.js';
import type { ListenerPeers } from './peer_connections.js';

/** The maximum of open connections: all together, and from one network as `networkOf` defines it. */
export type ConnectionLimits = { connections_max: number; connections_per_network_max: number };

/** The reason for which a connection is refused. */
export type ConnectionCause = 'connections' | 'network_connections';

const ANSWER = rawError('UNAVAILABLE', 'Too many connections are open; come again later.', ['Retry-After: 10']);

/** Answers on a connection without TLS that there are too many, and closes it. */
export function refuseConnections(socket: Socket): void {
  socket.on('error', () => {}); // it went away meanwhile
  socket.end(ANSWER, () => socket.destroy());
}

/**
 * Bounds the connections of a listener without TLS, counted over all processes of the machine. A connection beyond the
 * bound gets an answer and is closed before it has sent anything.
 */
export class ConnectionLimiter {
  readonly #limits: ConnectionLimits;
  readonly #is_exempt: (address: string) => boolean;
  readonly #refused: (cause: ConnectionCause) => void;
  readonly #peers: ListenerPeers | null;
  readonly #networks = new Map<string, number>();
  #open = 0;

  /**
   * `is_exempt`: addresses exempt from the limit of one network, such as proxies. `peers`: null for a single process.
   */
  constructor(
    limits: ConnectionLimits,
    parts: {
      is_exempt: (address: string) => boolean;
      refused: (cause: ConnectionCause) => void;
      peers: ListenerPeers | null;
    },
  ) {
    this.#limits = limits;
    this.#is_exempt = parts.is_exempt;
    this.#refused = parts.refused;
    this.#peers = parts.peers;
  }

  /** Installs itself before the server's own handling of new connections. */
  install(server: Server): void {
    const accept = server.listeners('connection') as ((socket: Socket) => void)[];
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      const leave = this.enter(socket.remoteAddress);
      if (leave === null) return refuseConnections(socket);
      socket.once('close', leave);
      for (const go of accept) go.call(server, socket);
    });
  }

  /** Counts a connection until the returned function is called; null if the connection may not stay. */
  enter(address = ''): (() => void) | null {
    const { connections_max, connections_per_network_max } = this.#limits;
    const network = this.#is_exempt(address) ? null : networkOf(address);
    const othersHave = (of: string) => this.#peers?.othersHave(of) ?? 0;
    if (this.#open + othersHave('') >= connections_max) return this.#refuse('connections');
    if (network !== null && (this.#networks.get(network) ?? 0) + othersHave(network) >= connections_per_network_max)
      return this.#refuse('network_connections');
    this.#count(network, 1);
    return () => this.#count(network, -1);
  }

  #refuse(cause: ConnectionCause): null {
    this.#refused(cause);
    return null;
  }

  #count(network: string | null, by: 1 | -1): void {
    this.#open += by;
    this.#peers?.thisHas('', this.#open);
    if (network === null) return;
    const count = (this.#networks.get(network) ?? 0) + by;
    if (count === 0) this.#networks.delete(network);
    else this.#networks.set(network, count);
    this.#peers?.thisHas(network, count);
  }
}
