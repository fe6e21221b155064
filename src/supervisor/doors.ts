import { createServer, type Server, type Socket } from 'node:net';
import { ConnectionLimiter, refuseConnections } from '../admission/connection_limiter.js';
import { Stalls } from '../admission/stalls.js';
import { LISTENER_OPTIONS, refuseConnection, SERVER_OPTIONS } from '../http/server_options.js';
import { every } from '../ticks.js';
import type { Child } from './child.js';
import type { Children } from './children.js';
import type { PortName, RefusalCount } from './messages.js';
import { homeOfRequest } from './request_head.js';

const LOOK_EVERY_MS = 1_000;
/** While no process serves, connections wait for one; whoever waited for longer has given up, or soon will. */
const HOMELESS_MAX_MS = 10_000;

/** A connection from its arrival until the process that serves it says that it is closed. */
type Connection = {
  number: number;
  port: PortName;
  /** Null once a process has it. */
  socket: Socket | null;
  /** What was read of it. */
  head: Buffer;
  partition: number | null;
  child: Child | null;
  /** Takes it out of what is counted. */
  leave: () => void;
};

export type DoorLimits = { connections_max: number; connections_per_network_max: number };

type Parts = {
  children: Pick<Children, 'choose'>;
  limits: Record<PortName, DoorLimits>;
  isExempt: (port: PortName, address: string) => boolean;
  /** Connections that may be here at once, in the hands of no process. */
  waiting_max: number;
  log: ConstructorParameters<typeof Stalls>[0]['log'] & { error(fields: object, text: string): void };
  /** What was refused since the last time. */
  counted: (refusals: RefusalCount[]) => void;
};

/**
 * The ports. A connection is accepted here and served elsewhere: of one without TLS the head of its first request is read,
 * which says where it belongs; then a server process gets the connection with what was read. Requests cost nothing here.
 */
export class Doors {
  readonly #parts: Parts;
  readonly #open = new Map<number, Connection>();
  /** Those that are here because nobody serves, and since when. */
  readonly #homeless = new Map<Connection, number>();
  readonly #limiters: Record<PortName, ConnectionLimiter>;
  readonly #servers: Server[] = [];
  readonly #refusals = new Map<string, RefusalCount>();
  readonly #stalls: Stalls;
  readonly #stopLooking: () => void;
  #waiting = 0;
  #last = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    const limiterOf = (listener: PortName) =>
      new ConnectionLimiter(parts.limits[listener], {
        is_exempt: (address) => parts.isExempt(listener, address),
        refused: (cause) => this.#count({ listener, cause }),
      });
    this.#limiters = { public: limiterOf('public'), device: limiterOf('device'), operator: limiterOf('operator') };
    const overload_refusals = { inc: (of: { listener: PortName; cause: 'stall' }) => this.#count(of) };
    this.#stalls = new Stalls({ log: parts.log, metrics: { overload_refusals } });
    this.#stalls.start();
    this.#stopLooking = every(LOOK_EVERY_MS, () => this.#look());
  }

  /** A server that listens nowhere yet: whoever asks it to listen says where. */
  make(port: PortName): Server {
    const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, (socket) =>
      this.#accept(port, socket),
    );
    this.#stalls.install(server, port);
    // Such as no descriptor being left for a connection: the next one may have one.
    server.on('error', (error) => {
      if (server.listening) this.#parts.log.error({ reason: error.message }, 'a connection could not be accepted');
    });
    this.#servers.push(server);
    return server;
  }

  /** A process has this connection. */
  took(number: number): void {
    const connection = this.#open.get(number);
    // The process has a descriptor of its own: this closes nothing.
    this.#release(connection);
  }

  closed(numbers: number[]): void {
    for (const number of numbers) this.#forget(this.#open.get(number));
  }

  /** A process gives back a connection between two requests. */
  back(number: number, socket: Socket | undefined): void {
    const connection = this.#open.get(number);
    if (connection === undefined || socket === undefined) {
      socket?.destroy();
      this.#forget(connection);
      return;
    }
    this.#assign(connection, null);
    socket.allowHalfOpen = true;
    connection.socket = socket;
    connection.head = Buffer.alloc(0);
    this.#waiting += 1;
    this.#awaitHead(connection, socket, { silent_ms: LISTENER_OPTIONS.keepAliveTimeout });
  }

  /** A process has ended: what it had is closed, what it was only offered goes to another. */
  gone(child: Child): void {
    for (const connection of [...this.#open.values()]) {
      if (connection.child !== child) continue;
      if (connection.socket === null) this.#forget(connection);
      else this.#offer(connection);
    }
  }

  /** One more process serves. */
  serves(): void {
    for (const connection of [...this.#homeless.keys()]) this.#offer(connection);
  }

  /** Accepts nothing more, and closes what is in the hands of no process. */
  close(): void {
    this.#stalls.stop();
    this.#stopLooking();
    for (const server of this.#servers) server.close();
    for (const connection of [...this.#open.values()]) if (connection.child === null) this.#drop(connection);
  }

  #accept(port: PortName, socket: Socket): void {
    const refuse = () => (port === 'device' ? socket.resetAndDestroy() : refuseConnections(socket));
    if (this.#waiting >= this.#parts.waiting_max) {
      this.#count({ listener: port, cause: 'connections' });
      return void refuse();
    }
    const leave = this.#limiters[port].enter(socket.remoteAddress);
    if (leave === null) return void refuse();
    const number = ++this.#last;
    const connection = { number, port, socket, leave, head: Buffer.alloc(0), partition: null, child: null };
    this.#open.set(number, connection);
    this.#waiting += 1;
    if (port === 'device') this.#offer(connection);
    else this.#awaitHead(connection, socket);
  }

  /**
   * Reads until it is known where the connection belongs; one that takes too long is refused. One that was served before
   * may be silent for `silent_ms`.
   */
  #awaitHead(connection: Connection, socket: Socket, { silent_ms }: { silent_ms?: number } = {}): void {
    const tooLate = () => {
      end();
      if (silent_ms !== undefined && connection.head.length === 0) return this.#drop(connection);
      this.#forget(connection);
      refuseConnection(Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
    };
    const { headersTimeout: head_ms } = SERVER_OPTIONS;
    let late = setTimeout(tooLate, silent_ms ?? head_ms);
    const gone = () => {
      end();
      this.#drop(connection);
    };
    const read = (piece: Buffer) => {
      const is_first = connection.head.length === 0;
      connection.head = is_first ? piece : Buffer.concat([connection.head, piece]);
      const home = homeOfRequest(connection.head);
      if (home === 'more') {
        if (!is_first || silent_ms === undefined) return;
        clearTimeout(late);
        late = setTimeout(tooLate, head_ms);
        return;
      }
      end();
      connection.partition = home.partition;
      this.#offer(connection);
    };
    const end = () => {
      clearTimeout(late);
      socket.pause();
      socket.off('data', read).off('end', gone).off('close', gone);
    };
    socket.on('data', read).on('end', gone).on('close', gone);
    socket.on('error', () => {}); // it is closed then
    socket.resume();
  }

  #offer(connection: Connection): void {
    const { port, number, head, partition, socket } = connection;
    if (socket === null) return;
    const child = this.#parts.children.choose(port, partition);
    this.#assign(connection, child);
    if (child === null) {
      if (!this.#homeless.has(connection)) this.#homeless.set(connection, performance.now());
      return;
    }
    this.#homeless.delete(connection);
    // Node would keep account of connections that leave their server.
    Object.assign(socket, { server: null });
    child.send({ do: 'serve', port, connection: number, head: head.toString('base64') }, socket);
  }

  #assign(connection: Connection, child: Child | null): void {
    const { port } = connection;
    if (connection.child !== null) connection.child.connections[port] -= 1;
    connection.child = child;
    if (child !== null) child.connections[port] += 1;
  }

  #drop(connection: Connection): void {
    connection.socket?.destroy();
    this.#forget(connection);
  }

  /** Lets go of the descriptor. */
  #release(connection: Connection | undefined): void {
    if (connection === undefined || connection.socket === null) return;
    connection.socket.destroy();
    connection.socket = null;
    connection.head = Buffer.alloc(0);
    this.#waiting -= 1;
  }

  #forget(connection: Connection | undefined): void {
    if (connection === undefined || !this.#open.delete(connection.number)) return;
    this.#homeless.delete(connection);
    if (connection.socket !== null) this.#waiting -= 1;
    this.#assign(connection, null);
    connection.leave();
  }

  #count({ listener, cause }: Omit<RefusalCount, 'count'>): void {
    const key = `${listener} ${cause}`;
    const counted = this.#refusals.get(key) ?? { listener, cause, count: 0 };
    this.#refusals.set(key, { ...counted, count: counted.count + 1 });
  }

  #look(): void {
    const before = performance.now() - HOMELESS_MAX_MS;
    for (const [connection, since] of [...this.#homeless]) if (since < before) this.#drop(connection);
    if (this.#refusals.size === 0) return;
    this.#parts.counted([...this.#refusals.values()]);
    this.#refusals.clear();
  }
}
