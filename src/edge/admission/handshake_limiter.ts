import type { Socket } from 'node:net';
import type { TLSSocket, Server as TlsServer } from 'node:tls';
import { networkOf } from '../../engine/limits/rate_limits.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import { NoPlace, type NoPlaceCause, SharedPool } from '../../engine/pools/shared_pool.js';
import { type ConnectionCause, ConnectionLimiter, type ConnectionLimits } from './connection_limiter.js';
import type { ListenerPeers } from './peer_connections.js';

/** The maximum of concurrent handshakes and of connections that wait for theirs: all together, and from one network. */
export type HandshakeLimits = ConnectionLimits & {
  handshakes_max: number;
  handshakes_per_network_max: number;
  waiting_max: number;
  waiting_per_network_max: number;
};

/** The reason for which a connection is refused. */
export type HandshakeRefusalCause =
  | 'overload'
  | ConnectionCause
  | 'waiting_handshakes'
  | 'network_waiting_handshakes'
  | 'waited_too_long'
  | 'stalled_handshake';

/**
 * The longest time of a handshake, as `handshakeTimeout` of the server. A device on a slow network needs a second or
 * two.
 */
export const HANDSHAKE_MS_MAX = 5_000;
/** A client that has waited longer has given up, or will before the handshake is done. */
const WAIT_MS_MAX = 20_000;

const CAUSES: Record<Exclude<NoPlaceCause, 'left'>, HandshakeRefusalCause> = {
  waiting: 'waiting_handshakes',
  waiting_share: 'network_waiting_handshakes',
  late: 'waited_too_long',
};

/**
 * Stands before the handshake, which costs 3 ms of the thread that serves everybody; a request costs a tenth. A few are
 * done at once, so that each is done soon. The others wait, and networks take turns: handshakes that somebody stalls keep
 * only that network waiting. Networks as `networkOf` has them.
 */
export class HandshakeLimiter {
  readonly pool: SharedPool;
  readonly #connections: ConnectionLimiter;
  readonly #is_overloaded: () => boolean;
  readonly #is_exempt: (address: string) => boolean;
  readonly #refused: (cause: HandshakeRefusalCause) => void;
  /** Functions that end a handshake in progress, by the other end's address and port. */
  readonly #under_way = new Map<string, () => void>();

  /** `is_exempt`, `peers`: as for a `ConnectionLimiter`. */
  constructor(
    limits: HandshakeLimits,
    parts: {
      is_overloaded: () => boolean;
      is_exempt: (address: string) => boolean;
      refused: (cause: HandshakeRefusalCause) => void;
      peers: ListenerPeers | null;
    },
  ) {
    this.#connections = new ConnectionLimiter(limits, parts);
    this.pool = new SharedPool('handshakes', {
      places_max: limits.handshakes_max,
      share_max: limits.handshakes_per_network_max,
      waiting_max: limits.waiting_max,
      waiting_share_max: limits.waiting_per_network_max,
      wait_ms_max: WAIT_MS_MAX,
    });
    this.#is_overloaded = parts.is_overloaded;
    this.#is_exempt = parts.is_exempt;
    this.#refused = parts.refused;
  }

  /** Installs itself before a TLS server's own handling of new connections. */
  install(server: TlsServer, metrics: Metrics): void {
    metrics.pools.add(this.pool);
    const accept = server.listeners('connection') as ((socket: Socket) => void)[];
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) =>
      this.enter(socket, () => {
        for (const go of accept) go.call(server, socket);
      }),
    );
    server.on('secureConnection', (socket: TLSSocket) => {
      this.#under_way.get(endOf(socket))?.();
      metrics.device_handshakes.inc({ resumed: socket.isSessionReused() ? 'yes' : 'no', outcome: 'done' });
      metrics.device_connections.inc();
      socket.once('close', () => metrics.device_connections.dec());
    });
    // Before the HTTP server sees it, which would say what went wrong: in a handshake that waits for ever to be sent.
    server.prependListener('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
      metrics.device_handshakes.inc({ resumed: 'no', outcome: 'failed' });
      if (error.code === 'ERR_TLS_HANDSHAKE_TIMEOUT') this.#refused('stalled_handshake');
      socket.destroy();
    });
  }

  /** Counts a connection until it closes, and begins its handshake now or in its turn; or closes it. */
  enter(socket: Socket, begin: () => void): void {
    socket.on('error', () => {}); // it went away; the close that follows is what counts
    const { remoteAddress: address = '' } = socket;
    if (this.#is_overloaded()) {
      this.#refuse(socket, 'overload');
      return;
    }
    const leave = this.#connections.enter(address);
    if (leave === null) {
      socket.resetAndDestroy();
      return;
    }
    socket.once('close', leave);
    // Each connection of a proxy is a network of its own: what holds for one network never holds for it.
    const network = this.#is_exempt(address) ? endOf(socket) : networkOf(address);
    if (this.pool.tryTake(network)) this.#begin(socket, network, begin);
    else void this.#wait(socket, network, begin);
  }

  async #wait(socket: Socket, network: string, begin: () => void): Promise<void> {
    const left = new AbortController();
    const leave = () => left.abort();
    socket.once('close', leave);
    try {
      await this.pool.take(network, { signal: left.signal });
      this.#begin(socket, network, begin);
    } catch (error) {
      if (!(error instanceof NoPlace)) throw error;
      if (error.cause !== 'left') this.#refuse(socket, CAUSES[error.cause]);
    } finally {
      socket.off('close', leave);
    }
  }

  /** Begins a handshake that has a place. */
  #begin(socket: Socket, network: string, begin: () => void): void {
    if (socket.destroyed) {
      this.pool.leave(network);
      return;
    }
    const end = endOf(socket);
    const finish = () => {
      socket.off('close', finish);
      if (this.#under_way.get(end) === finish) this.#under_way.delete(end);
      this.pool.leave(network);
    };
    // A client that comes again from its port has left the connection before, which may not have been noticed yet.
    this.#under_way.get(end)?.();
    this.#under_way.set(end, finish);
    socket.once('close', finish);
    begin();
  }

  #refuse(socket: Socket, cause: HandshakeRefusalCause): void {
    this.#refused(cause);
    socket.resetAndDestroy();
  }
}

function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
