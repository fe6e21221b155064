import type { Server, Socket } from 'node:net';
import type { ProcessTrouble } from '../../engine/cluster/process_queries.js';
import { every } from '../../engine/time/periodic_timer.js';
import {
  BEAT_EVERY_MS,
  monotonicMs,
  type Order,
  type PortName,
  type ProcessAnswer,
  type RefusalCount,
  type Report,
  type StartOrder,
} from './messages.js';

/** A question that no supervisor has answered by then is answered by nobody. */
const HEAR_MAX_MS = 2_000;

/** The commands that a server process takes from its supervisor. */
export type SupervisorCommands = {
  serve(port: PortName, socket: Socket): void;
  count(refusals: RefusalCount[]): void;
  drain(): void;
  leave(): Promise<void>;
  /** Answers a query of another process. */
  tell(name: string, about: unknown): Promise<unknown>;
};

/** The server process' side of its supervisor: what comes from it, and what it is told. */
export class SupervisorLink {
  #order: StartOrder | null = null;
  /** The supervisor's numbers of connections that are here. */
  readonly #numbers = new WeakMap<Socket, number>();
  readonly #questions = new Map<number, (answers: ProcessAnswer[]) => void>();
  #closed: number[] = [];
  #asked = 0;
  #obeys: SupervisorCommands | null = null;
  /** Of all processes of the supervisor, as it last said. */
  troubles: readonly ProcessTrouble[] = [];

  /** Waits until it is told how to start. */
  static async begin(): Promise<SupervisorLink> {
    const supervised = new SupervisorLink();
    await new Promise<void>((started) => {
      process.on('message', (told: Order, handle?: Socket | Server) => {
        if (told.do === 'start') supervised.#order = told;
        supervised.#hear(told, handle);
        if (told.do === 'start') started();
      });
    });
    return supervised;
  }

  get order(): StartOrder {
    if (this.#order === null) throw new Error('not told how to start');
    return this.#order;
  }

  /** It serves: from now on orders are followed. */
  serves(obeys: SupervisorCommands): void {
    this.#obeys = obeys;
    report({ says: 'ready' });
    every(BEAT_EVERY_MS, () => report({ says: 'alive' }));
  }

  /** Gives a connection back on which no request is under way; nothing may be done with it any more. */
  giveBack(socket: Socket): void {
    const connection = this.#numbers.get(socket);
    if (connection === undefined) return; // it waits to be sent
    this.#numbers.delete(socket);
    socket.pause();
    // Node would keep account of connections that leave their server.
    Object.assign(socket, { server: null });
    // One is on its way at a time. What is then left here is no connection.
    report({ says: 'back', connection }, socket, () => socket.destroy());
  }

  /** Asks all other processes. */
  ask(name: string, about: unknown): Promise<ProcessAnswer[]> {
    const question = ++this.#asked;
    return new Promise((resolve) => {
      const end = (answers: ProcessAnswer[]) => {
        clearTimeout(late);
        this.#questions.delete(question);
        resolve(answers);
      };
      const late = setTimeout(() => end([]), HEAR_MAX_MS);
      this.#questions.set(question, end);
      report({ says: 'ask', question, name, about });
    });
  }

  #hear(told: Order, handle: Socket | Server | undefined): void {
    const obeys = this.#obeys;
    if (told.do === 'hold') holdOn(handle as Server | undefined);
    if (told.do === 'note') this.troubles = told.troubles;
    if (told.do === 'hear') this.#questions.get(told.question)?.(told.answers);
    if (told.do === 'serve') this.#take(told, handle as Socket | undefined);
    if (obeys === null) return;
    if (told.do === 'count') obeys.count(told.refusals);
    if (told.do === 'drain') obeys.drain();
    if (told.do === 'leave') void obeys.leave().then(() => report({ says: 'left' }));
    if (told.do === 'tell') {
      const { question, name, about } = told;
      void obeys.tell(name, about).then(
        (value) => report({ says: 'told', question, value }),
        () => {}, // the supervisor waits no longer than it does for one that stands still
      );
    }
  }

  #take({ port, connection, head, until_ms }: Order & { do: 'serve' }, socket: Socket | undefined): void {
    // Another process has it, or soon will: this one stood still. Only its own descriptor is closed.
    if (monotonicMs() > until_ms) return void socket?.destroy();
    // Before anything is read of it: what was taken is given to no other process.
    report({ says: 'took', connection });
    const closed = () => {
      if (this.#closed.push(connection) === 1) setImmediate(() => this.#tellClosed());
    };
    if (socket === undefined || this.#obeys === null) {
      closed(); // it went away on its way
      return;
    }
    socket.allowHalfOpen = true;
    if (head !== '') socket.unshift(Buffer.from(head, 'base64'));
    this.#numbers.set(socket, connection);
    socket.once('close', () => {
      if (this.#numbers.delete(socket)) closed();
    });
    this.#obeys.serve(port, socket);
  }

  #tellClosed(): void {
    report({ says: 'closed', connections: this.#closed });
    this.#closed = [];
  }
}

/** A server whose supervisor is gone says nothing to anybody, and ends. */
function report(what: Report, socket?: Socket, sent: () => void = () => {}): void {
  if (process.connected) process.send?.(what, socket, {}, sent);
  else sent();
}

/** The lock of DATA_DIR: as long as this process lives, nobody else begins there. */
function holdOn(lock: Server | undefined): void {
  lock?.on('connection', (socket: Socket) => socket.destroy());
  lock?.unref();
}
