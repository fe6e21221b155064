import type { ProcessAnswer, Report } from '../server/primary_messages.js';
import type { Child } from './child.js';

/** One that stands still for longer has not answered. */
const ANSWER_MAX_MS = 1_000;

type OpenQuery = { asked: Set<Child>; answers: ProcessAnswer[]; end: () => void };

/** Relays a query of one process to all others, and gives the answers that came in time. */
export class QueryRelay {
  readonly #all: () => Iterable<Child>;
  readonly #open = new Map<number, OpenQuery>();
  #last = 0;

  constructor(all: () => Iterable<Child>) {
    this.#all = all;
  }

  ask(asker: Child, { question, name, about }: Report & { says: 'ask' }): void {
    const number = ++this.#last;
    const others = [...this.#all()].filter((child) => child !== asker);
    const answers: ProcessAnswer[] = others.map((child) => ({ number: child.number, pid: child.pid }));
    const end = () => {
      if (!this.#open.delete(number)) return;
      clearTimeout(late);
      asker.send({ do: 'hear', question, answers });
    };
    const late = setTimeout(end, ANSWER_MAX_MS);
    const asked = new Set(others.filter(({ state }) => state === 'ready' || state === 'leaving'));
    this.#open.set(number, { asked, answers, end });
    for (const child of asked) child.send({ do: 'tell', question: number, name, about });
    if (asked.size === 0) end();
  }

  told(child: Child, { question, value }: Report & { says: 'told' }): void {
    const open = this.#open.get(question);
    if (open === undefined || !open.asked.delete(child)) return;
    const answer = open.answers.find(({ pid }) => pid === child.pid);
    if (answer !== undefined) answer.value = value;
    if (open.asked.size === 0) open.end();
  }

  /** It answers nothing any more. */
  gone(child: Child): void {
    for (const { asked, end } of [...this.#open.values()]) if (asked.delete(child) && asked.size === 0) end();
  }
}
