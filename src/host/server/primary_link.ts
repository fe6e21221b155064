import { PeerConnections } from '../../edge/admission/peer_connections.js';
import type { ProcessTrouble } from '../../engine/cluster/process_queries.js';
import { every } from '../../engine/time/periodic_timer.js';
import {
  BEAT_EVERY_MS,
  type Order,
  type Ports,
  type ProcessAnswer,
  type Report,
  type StartOrder,
} from './primary_messages.js';

/** The time after which an unanswered question to the primary counts as answered by no process. */
const HEAR_MAX_MS = 2_000;

/** The orders that a server process follows. */
export type PrimaryCommands = {
  leave(): void;
  stop(drain_ms: number): void;
  /** Answers a question of another process. */
  tell(name: string, about: unknown): Promise<unknown>;
};

/** A server process' side of its connection to the primary: the orders it receives, and the reports it sends. */
export class PrimaryLink {
  readonly order: StartOrder;
  readonly connections = new PeerConnections((counts) => report({ says: 'count', counts }));
  /** The troubles of all processes, as the primary last reported them. */
  troubles: readonly ProcessTrouble[] = [];
  readonly #questions = new Map<number, (answers: ProcessAnswer[]) => void>();
  #asked = 0;
  #obey: (commands: PrimaryCommands) => void = () => {};

  private constructor(order: StartOrder) {
    this.order = order;
    const obeying = new Promise<PrimaryCommands>((resolve) => {
      this.#obey = resolve;
    });
    process.on('message', (told: Order) => {
      void obeying.then((commands) => this.#follow(told, commands));
    });
  }

  /** Waits for the order to start. */
  static begin(): Promise<PrimaryLink> {
    return new Promise((resolve) => {
      process.once('message', (order: Order) => {
        if (order.do === 'start') resolve(new PrimaryLink(order));
      });
      report({ says: 'begun' });
    });
  }

  /** Follows orders from now on, beginning with those that came before. */
  obey(commands: PrimaryCommands): void {
    this.#obey(commands);
  }

  /** Reports that this process serves on these ports. */
  serves(ports: Ports): void {
    report({ says: 'ready', ports });
    every(BEAT_EVERY_MS, () => report({ says: 'alive' }));
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

  #follow(order: Order, commands: PrimaryCommands): void {
    if (order.do === 'leave') commands.leave();
    if (order.do === 'stop') commands.stop(order.drain_ms);
    if (order.do === 'hear') this.#questions.get(order.question)?.(order.answers);
    if (order.do === 'note') this.troubles = order.troubles;
    if (order.do === 'count') this.connections.hear(order.counts);
    if (order.do === 'tell') {
      const { question, name, about } = order;
      void commands.tell(name, about).then(
        (value) => report({ says: 'told', question, value }),
        () => {}, // the primary waits no longer than for a process that stands still
      );
    }
  }
}

/** Without a primary the report is lost; the process then ends. */
function report(what: Report): void {
  if (process.connected) process.send?.(what, undefined, {}, () => {});
}
