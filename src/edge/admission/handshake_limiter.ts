import type { Socket } from 'node:net';
import type { TLSSocket, Server as TlsServer } from 'node:tls';
import { networkOf } from '../../engine/limits/rate_limits.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import { every } from '../../engine/time/periodic_timer.js';

/**
 * The maximum of connections that are open, in their handshake, and waiting for it: all together, and from one network.
 */
export type HandshakeLimits = {
  connections_max: number;
  connections_per_network_max: number;
  handshakes_max: number;
  handshakes_per_network_max: number;
  waiting_max: number;
  waiting_per_network_max: number;
};

/** Why a connection is turned away. */
export type HandshakeRefusalCause =
  | 'overload'
  | 'connections'
  | 'network_connections'
  | 'waiting_handshakes'
  | 'network_waiting_handshakes'
  | 'waited_too_long'
  | 'stalled_handshake';

type Count = { connections: number; handshakes: number; waiting: number };
type Network = Count & { name: string; queue: PendingConnection[] };
type Handshake = { socket: Socket; began_at_ms: number; finish: () => void };
type PendingConnection = { socket: Socket; begin: () => void; came_at_ms: number };

/** A handshake may take so long. */
const HANDSHAKE_MAX_MS = 10_000;
/** The same while others wait and no place is free: a device on a slow network needs a second or two. */
const HANDSHAKE_PRESSED_MAX_MS = 4_000;
const LOOK_EVERY_MS = 2_000;
/** Whoever waited for longer has given up, or will before the handshake is done. */
const WAIT_MAX_MS = 20_000;

/**
 * Stands before the handshake, which is what costs (3 ms of the one thread that serves everybody; a request costs a
 * tenth). A few are done at once, so that each is done soon: thousands at once would all end after the last one's time,
 * most of them given up by then. The others wait, by networks in turns, and no network may take all places, so that
 * handshakes that somebody stalls keep only that network waiting. Networks as `networkOf` has them.
 */
export class HandshakeLimiter {
  readonly #limits: HandshakeLimits;
  readonly #is_overloaded: () => boolean;
  readonly #is_exempt: (address: string) => boolean;
  readonly #refused: (cause: HandshakeRefusalCause) => void;
  readonly #all: Count = { connections: 0, handshakes: 0, waiting: 0 };
  readonly #networks = new Map<string, Network>();
  /** Networks with waiting connections; the first has waited longest. */
  readonly #turns = new Set<Network>();
  /** Handshakes in progress by the other end's address and port, the oldest first. */
  readonly #under_way = new Map<string, Handshake>();

  /** `is_exempt`: addresses that the limits of one network do not hold for, such as proxies. */
  constructor(
    limits: HandshakeLimits,
    parts: {
      is_overloaded: () => boolean;
      is_exempt: (address: string) => boolean;
      refused: (cause: HandshakeRefusalCause) => void;
    },
  ) {
    this.#limits = limits;
    this.#is_overloaded = parts.is_overloaded;
    this.#is_exempt = parts.is_exempt;
    this.#refused = parts.refused;
  }

  /** Puts itself before what a TLS server does with new connections. */
  install(server: TlsServer, metrics: Metrics): void {
    const accept = server.listeners('connection') as ((socket: Socket) => void)[];
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) =>
      this.enter(socket, () => {
        for (const go of accept) go.call(server, socket);
      }),
    );
    server.on('secureConnection', (socket: TLSSocket) => {
      this.#under_way.get(endOf(socket))?.finish();
      metrics.device_handshakes.inc({ resumed: socket.isSessionReused() ? 'yes' : 'no', outcome: 'done' });
      metrics.device_connections.inc();
      socket.once('close', () => metrics.device_connections.dec());
    });
    // Before the HTTP server sees it, which would say what went wrong: in a handshake that waits for ever to be sent.
    server.prependListener('tlsClientError', (_error: Error, socket: TLSSocket) => {
      metrics.device_handshakes.inc({ resumed: 'no', outcome: 'failed' });
      socket.destroy();
    });
    server.once(
      'close',
      every(LOOK_EVERY_MS, () => this.endStalled()),
    );
  }

  /** Ends handshakes that take too long: their places are for others. */
  endStalled(): void {
    const is_pressed = this.#all.waiting > 0 && this.#all.handshakes >= this.#limits.handshakes_max;
    const began_before_ms = performance.now() - (is_pressed ? HANDSHAKE_PRESSED_MAX_MS : HANDSHAKE_MAX_MS);
    for (const { socket, began_at_ms } of [...this.#under_way.values()]) {
      if (began_at_ms > began_before_ms) break;
      this.#refuse(socket, 'stalled_handshake');
    }
  }

  /** Counts a connection in until it closes, and begins its handshake now or when it is its turn; or closes it. */
  enter(socket: Socket, begin: () => void): void {
    const { remoteAddress: address = '' } = socket;
    const is_exempt = this.#is_exempt(address);
    // Each connection of a proxy is a network of its own: what holds for one network never holds for it.
    const name = is_exempt ? endOf(socket) : networkOf(address);
    const here = this.#networks.get(name) ?? { name, queue: [], connections: 0, handshakes: 0, waiting: 0 };
    const cause = this.#causeAgainst(here);
    if (cause !== null) {
      this.#refuse(socket, cause);
      return;
    }
    this.#networks.set(name, here);
    this.#count(here, 'connections', 1);
    const end = endOf(socket); // once it has closed it no longer knows
    socket.once('close', () => {
      this.#under_way.get(end)?.finish();
      this.#count(here, 'connections', -1);
      if (here.connections === 0) this.#networks.delete(name);
    });
    here.queue.push({ socket, begin, came_at_ms: performance.now() });
    this.#count(here, 'waiting', 1);
    this.#turns.add(here);
    this.#beginNext();
  }

  /** The present counts; zero when all connections are closed. */
  get counts(): Count & { networks: number } {
    return { ...this.#all, networks: this.#networks.size };
  }

  #beginNext(): void {
    const { handshakes_max, handshakes_per_network_max } = this.#limits;
    // Of networks that have all their places taken there are few, so this passes over few.
    for (const network of this.#turns) {
      if (this.#all.handshakes >= handshakes_max) return;
      if (network.handshakes >= handshakes_per_network_max) continue;
      const next = network.queue.shift();
      this.#turns.delete(network);
      if (next === undefined) continue;
      this.#count(network, 'waiting', -1);
      // To the end; the loop comes to it again when there are places left.
      if (network.queue.length > 0) this.#turns.add(network);
      this.#begin(next, network);
    }
  }

  #begin({ socket, begin, came_at_ms }: PendingConnection, network: Network): void {
    if (socket.destroyed) return;
    if (performance.now() - came_at_ms > WAIT_MAX_MS) {
      this.#refuse(socket, 'waited_too_long');
      return;
    }
    const end = endOf(socket);
    const finish = () => {
      if (this.#under_way.get(end)?.finish !== finish) return;
      this.#under_way.delete(end);
      this.#count(network, 'handshakes', -1);
      this.#beginNext();
    };
    this.#under_way.set(end, { socket, began_at_ms: performance.now(), finish });
    this.#count(network, 'handshakes', 1);
    begin();
  }

  #refuse(socket: Socket, cause: HandshakeRefusalCause): void {
    this.#refused(cause);
    socket.resetAndDestroy();
  }

  #count(network: Network, what: keyof Count, by: 1 | -1): void {
    this.#all[what] += by;
    network[what] += by;
  }

  #causeAgainst(here: Count): HandshakeRefusalCause | null {
    const { connections_max, connections_per_network_max, waiting_max, waiting_per_network_max } = this.#limits;
    if (this.#is_overloaded()) return 'overload';
    if (this.#all.connections >= connections_max) return 'connections';
    if (this.#all.waiting >= waiting_max) return 'waiting_handshakes';
    if (here.connections >= connections_per_network_max) return 'network_connections';
    return here.waiting >= waiting_per_network_max ? 'network_waiting_handshakes' : null;
  }
}

function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
