import type { Socket } from 'node:net';
import type { TLSSocket, Server as TlsServer } from 'node:tls';
import { networkOf } from './rate_limits.js';
import type { Metrics } from './runtime/metrics.js';

/** How many connections may be open, and how many of them in their handshake: all together, and from one network. */
export type DoorLimits = {
  connections_max: number;
  connections_per_network_max: number;
  handshakes_max: number;
  handshakes_per_network_max: number;
};

/** Why a connection is turned away. */
export type DoorCause = 'overload' | 'connections' | 'network_connections' | 'handshakes' | 'network_handshakes';

type Count = { connections: number; handshakes: number };

/**
 * Stands before the handshake, which is what costs (3 ms of the one thread that serves everybody; a request costs a
 * tenth): what is over a limit is closed before any of it is done. Networks as `networkOf` has them.
 */
export class DeviceDoor {
  readonly #limits: DoorLimits;
  readonly #is_overloaded: () => boolean;
  readonly #is_exempt: (address: string) => boolean;
  readonly #all: Count = { connections: 0, handshakes: 0 };
  readonly #by_network = new Map<string, Count>();
  /** Handshakes under way, by the other end's address and port. */
  readonly #under_way = new Map<string, () => void>();

  /** `is_exempt`: addresses that the limits of one network do not hold for, such as proxies. */
  constructor(
    limits: DoorLimits,
    { is_overloaded, is_exempt }: { is_overloaded: () => boolean; is_exempt: (address: string) => boolean },
  ) {
    this.#limits = limits;
    this.#is_overloaded = is_overloaded;
    this.#is_exempt = is_exempt;
  }

  /** Puts itself before what a TLS server does with new connections. */
  guard(server: TlsServer, metrics: Metrics): void {
    const accept = server.listeners('connection') as ((socket: Socket) => void)[];
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      const cause = this.enter(socket);
      if (cause !== null) {
        metrics.overload_refusals.inc({ listener: 'device', cause });
        socket.resetAndDestroy();
        return;
      }
      for (const go of accept) go.call(server, socket);
    });
    server.on('secureConnection', (socket: TLSSocket) => {
      this.#under_way.get(endOf(socket))?.();
      metrics.device_handshakes.inc({ resumed: socket.isSessionReused() ? 'yes' : 'no', outcome: 'done' });
      metrics.device_connections.inc();
      socket.once('close', () => metrics.device_connections.dec());
    });
    server.on('tlsClientError', () => metrics.device_handshakes.inc({ resumed: 'no', outcome: 'failed' }));
  }

  /** Counts a connection in, until it closes; or says what it is too many for. */
  enter(socket: Socket): DoorCause | null {
    const { remoteAddress: address = '' } = socket;
    const network = networkOf(address);
    const here = this.#by_network.get(network) ?? { connections: 0, handshakes: 0 };
    const cause = this.#causeAgainst(here, this.#is_exempt(address));
    if (cause !== null) return cause;
    this.#by_network.set(network, here);
    for (const count of [this.#all, here]) {
      count.connections += 1;
      count.handshakes += 1;
    }
    const end = endOf(socket);
    const finish = () => {
      if (this.#under_way.get(end) !== finish) return;
      this.#under_way.delete(end);
      for (const count of [this.#all, here]) count.handshakes -= 1;
    };
    this.#under_way.set(end, finish);
    socket.once('close', () => {
      finish();
      for (const count of [this.#all, here]) count.connections -= 1;
      if (here.connections === 0) this.#by_network.delete(network);
    });
    return null;
  }

  /** What is counted at the moment; nothing is left when all connections are closed. */
  get counts(): Count & { networks: number } {
    return { ...this.#all, networks: this.#by_network.size };
  }

  #causeAgainst(here: Count, is_exempt: boolean): DoorCause | null {
    const { connections_max, connections_per_network_max, handshakes_max, handshakes_per_network_max } = this.#limits;
    if (this.#is_overloaded()) return 'overload';
    if (this.#all.connections >= connections_max) return 'connections';
    if (this.#all.handshakes >= handshakes_max) return 'handshakes';
    if (is_exempt) return null;
    if (here.connections >= connections_per_network_max) return 'network_connections';
    return here.handshakes >= handshakes_per_network_max ? 'network_handshakes' : null;
  }
}

function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
