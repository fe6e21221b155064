import { createServer, type Server, type Socket } from 'node:net';
import { ConnectionLimiter, refuseConnections } from '../../edge/admission/connection_limiter.js';
import { Stalls } from '../../edge/admission/stalls.js';
import { LISTENER_OPTIONS, refuseConnection, SERVER_OPTIONS } from '../../edge/http/server_options.js';
import { every } from '../../engine/time/periodic_timer.js';
import { monotonicMs, type PortName, type RefusalCount } from '../supervised/messages.js';
import type { Child } from './child.js';
import type { Children } from './children.js';
import { homeOfRequest } from './request_head.js';

const LOOK_EVERY_MS = 1_000;
/** Connections wait for a process that can take one more; whoever waited for longer has given up, or soon will. */
const WAIT_MAX_MS = 10_000;
/** While nobody serves, whoever asks on the operator port whether somebody does is told sooner. */
const NOBODY_SERVES_MAX_MS = 1_000;
/** A process may be offered so many that it has not taken: Node sends them one by one, and what is sent can't be withdrawn. */
const OFFERED_MAX = 4;
/** A connection that is not taken within `OFFER_MAX_MS` goes to another process; after `TAKE_MAX_MS` the first one leaves it. */
const OFFER_MAX_MS = 2_000;
const TAKE_MAX_MS = 1_500;
/** So much is read of a connection that waits. */
const WAITING_BYTES_MAX = SERVER_OPTIONS.maxHeaderSize;

/** A connection from its arrival until the process that serves it says that it is closed. */
type Connection = {
  number: number;
  port: PortName;
  /** Null once a process has it. */
  socket: Socket | null;
  /** The bytes that were read of it. */
  head: Buffer;
  partition: number | null;
  child: Child | null;
  /** Since when it is to be served, in milliseconds of `performance.now`. */
  due_ms: number;
  /** Where it waits for a process that has room for it, and what ends the reading meanwhile. */
  queue: Set<Connection> | null;
  stopReading: (() => void) | null;
  /** Takes it out of what is counted. */
  leave: () => void;
};

export type AcceptorLimits = { connections_max: number; connections_per_network_max: number };

type DoorsDeps = {
  children: Pick<Children, 'choose'>;
  limits: Record<PortName, AcceptorLimits>;
  isExempt: (port: PortName, address: string) => boolean;
  /** Connections that may be here at once, in the hands of no process. */
  held_max: number;
  log: ConstructorParameters<typeof Stalls>[0]['log'] & { error(fields: object, text: string): void };
  /** Takes the refusals since the last time. */
  counted: (refusals: RefusalCount[]) => void;
};

/**
 * The ports. A connection is accepted here and served elsewhere: of one without TLS the head of its first request is read,
 * which says where it belongs; then a server process gets the connection with what was read. Requests cost nothing here.
 */
export class ConnectionAcceptor {
  readonly #deps: DoorsDeps;
  readonly #open = new Map<number, Connection>();
  /** Connections that a process was offered and has not taken, and since when, in milliseconds of `performance.now`. */
  readonly #offered = new Map<Connection, number>();
  /** Connections that wait for a process, each its own; by null those that nobody can serve now. */
  readonly #queues = new Map<Child | null, Set<Connection>>();
  readonly #limiters: Record<PortName, ConnectionLimiter>;
  readonly #servers: Server[] = [];
  readonly #refusals = new Map<string, RefusalCount>();
  readonly #stalls: Stalls;
  readonly #stopLooking: () => void;
  /** Connections in the hands of no process. */
  #held = 0;
  #last = 0;

  constructor(deps: DoorsDeps) {
    this.#deps = deps;
    const limiterOf = (listener: PortName) =>
      new ConnectionLimiter(deps.limits[listener], {
        is_exempt: (address) => deps.isExempt(listener, address),
        refused: (cause) => this.#count({ listener, cause }),
      });
    this.#limiters = { public: limiterOf('public'), device: limiterOf('device'), operator: limiterOf('operator') };
    const overload_refusals = { inc: (of: { listener: PortName; cause: 'stall' }) => this.#count(of) };
    this.#stalls = new Stalls({ log: deps.log, metrics: { overload_refusals } });
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
      if (server.listening) this.#deps.log.error({ reason: error.message }, 'a connection could not be accepted');
    });
    this.#servers.push(server);
    return server;
  }

  /** A process has this connection. */
  took(child: Child, number: number): void {
    const connection = this.#open.get(number);
    if (connection?.child !== child) return;
    this.#endOffer(connection);
    // The process has a descriptor of its own: this closes nothing.
    this.#release(connection);
    for (const next of this.#queues.get(child) ?? []) {
      if (child.offered >= OFFERED_MAX) return;
      this.#offer(next);
    }
  }

  closed(child: Child, numbers: number[]): void {
    for (const number of numbers) {
      const connection = this.#open.get(number);
      if (connection?.child === child) this.#forget(connection);
    }
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
    socket.on('error', () => {}); // it is closed then
    connection.socket = socket;
    connection.head = Buffer.alloc(0);
    this.#held += 1;
    this.#awaitHead(connection, socket, { silent_ms: LISTENER_OPTIONS.keepAliveTimeout });
  }

  /** A process has ended: what it had is closed, what it was only offered goes to another. */
  gone(child: Child): void {
    for (const connection of [...this.#open.values()]) {
      if (connection.child !== child) continue;
      if (connection.socket === null) this.#forget(connection);
      else this.#offer(connection);
    }
    for (const connection of [...(this.#queues.get(child) ?? [])]) this.#offer(connection);
    this.#queues.delete(child);
  }

  /** One more process serves. */
  serves(): void {
    for (const connection of this.#waiting()) this.#offer(connection);
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
    if (this.#held >= this.#deps.held_max) {
      this.#count({ listener: port, cause: 'connections' });
      return void refuse();
    }
    const limiter = this.#limiters[port];
    const enter = () => limiter.enter(socket.remoteAddress);
    const leave = enter() ?? (port === 'operator' && this.#dropSlow(port) ? enter() : null);
    if (leave === null) return void refuse();
    const number = ++this.#last;
    const connection: Connection = {
      number,
      port,
      socket,
      leave,
      head: Buffer.alloc(0),
      partition: null,
      child: null,
      due_ms: 0,
      queue: null,
      stopReading: null,
    };
    socket.on('error', () => {}); // it is closed then
    this.#open.set(number, connection);
    this.#held += 1;
    if (port !== 'device') return void this.#awaitHead(connection, socket);
    connection.due_ms = performance.now();
    this.#offer(connection);
  }

  /** Drops the oldest connection whose head has not come; false where there is none. */
  #dropSlow(port: PortName): boolean {
    const slow = [...this.#open.values()].find(({ child, queue, port: of }) => of === port && !child && !queue);
    if (slow !== undefined) this.#drop(slow);
    return slow !== undefined;
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
    let has_begun = silent_ms === undefined;
    let judged_bytes = 0;
    const read = () => {
      const home = homeOfRequest(connection.head, judged_bytes);
      judged_bytes = connection.head.length;
      if (home === 'more') {
        if (has_begun) return;
        has_begun = true;
        clearTimeout(late);
        late = setTimeout(tooLate, head_ms);
        return;
      }
      end();
      connection.partition = home.partition;
      connection.due_ms = performance.now();
      this.#offer(connection);
    };
    const stopReading = this.#read(connection, socket, read);
    const end = () => {
      clearTimeout(late);
      stopReading();
    };
    socket.once('close', () => clearTimeout(late));
  }

  /** Adds what comes to the head, until what this gives is called. One that the other side closes is dropped at once. */
  #read(connection: Connection, socket: Socket, came: () => void): () => void {
    const gone = () => this.#drop(connection);
    let room: Buffer = Buffer.alloc(0);
    const read = (piece: Buffer) => {
      const { head } = connection;
      const length = head.length + piece.length;
      // Twice as much: a head that comes byte by byte is not copied for each.
      if (head.buffer !== room.buffer || length > room.length) {
        room = Buffer.allocUnsafeSlow(2 * length);
        head.copy(room);
      }
      piece.copy(room, head.length);
      connection.head = room.subarray(0, length);
      came();
    };
    socket.on('data', read).on('end', gone).on('close', gone);
    socket.resume();
    return () => {
      socket.pause();
      socket.off('data', read).off('end', gone).off('close', gone);
    };
  }

  /** Offers a connection to the process that is to serve it, other than `but`; it waits while that has enough to take. */
  #offer(connection: Connection, but: Child | null = null): void {
    const { port, number, partition, socket } = connection;
    if (socket === null) return;
    const child = this.#deps.children.choose(port, partition, but);
    const has_room = child !== null && child.offered < OFFERED_MAX;
    this.#assign(connection, has_room ? child : null);
    if (!has_room) return void this.#wait(connection, socket, child);
    this.#endWait(connection);
    this.#offered.set(connection, performance.now());
    child.offered += 1;
    // Node would keep account of connections that leave their server.
    Object.assign(socket, { server: null });
    const head = connection.head.toString('base64');
    child.send({ do: 'serve', port, connection: number, head, until_ms: monotonicMs() + TAKE_MAX_MS }, socket);
  }

  #endOffer(connection: Connection): void {
    if (this.#offered.delete(connection) && connection.child !== null) connection.child.offered -= 1;
  }

  /** Reads on meanwhile: else nobody would see that the other side has closed it. */
  #wait(connection: Connection, socket: Socket, child: Child | null): void {
    connection.queue?.delete(connection);
    const queue = this.#queues.get(child) ?? new Set();
    this.#queues.set(child, queue.add(connection));
    connection.queue = queue;
    connection.stopReading ??= this.#read(connection, socket, () => {
      if (connection.head.length >= WAITING_BYTES_MAX) socket.pause();
    });
  }

  #endWait(connection: Connection): void {
    connection.queue?.delete(connection);
    connection.stopReading?.();
    connection.queue = null;
    connection.stopReading = null;
  }

  #waiting(): Connection[] {
    return [...this.#queues.values()].flatMap((queue) => [...queue]);
  }

  #assign(connection: Connection, child: Child | null): void {
    const { port } = connection;
    this.#endOffer(connection);
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
    this.#held -= 1;
  }

  #forget(connection: Connection | undefined): void {
    if (connection === undefined || !this.#open.delete(connection.number)) return;
    this.#endWait(connection);
    if (connection.socket !== null) this.#held -= 1;
    this.#assign(connection, null);
    connection.leave();
  }

  #count({ listener, cause }: Omit<RefusalCount, 'count'>): void {
    const key = `${listener} ${cause}`;
    const counted = this.#refusals.get(key) ?? { listener, cause, count: 0 };
    this.#refusals.set(key, { ...counted, count: counted.count + 1 });
  }

  #look(): void {
    // Reports that came meanwhile are read before connections go to other processes.
    setImmediate(() => {
      const now_ms = performance.now();
      for (const [connection, since_ms] of [...this.#offered])
        if (now_ms - since_ms > OFFER_MAX_MS) this.#offer(connection, connection.child);
      const nobody_serves = this.#deps.children.choose('operator', null) === null;
      for (const connection of this.#waiting()) {
        const is_told = connection.port === 'operator' && nobody_serves;
        if (now_ms - connection.due_ms > (is_told ? NOBODY_SERVES_MAX_MS : WAIT_MAX_MS)) this.#refuse(connection);
        else this.#offer(connection);
      }
    });
    if (this.#refusals.size === 0) return;
    this.#deps.counted([...this.#refusals.values()]);
    this.#refusals.clear();
  }

  /** Nobody came to serve it. */
  #refuse(connection: Connection): void {
    const { port, socket } = connection;
    if (port === 'device' || socket === null) return void this.#drop(connection);
    this.#forget(connection);
    refuseConnections(socket);
  }
}
