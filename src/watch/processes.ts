import type { Supervised } from '../supervisor/supervised.js';

/** What may be asked of a process, and what it answers; both travel as JSON. */
export type Reports = {
  metrics: { about: null; value: string };
};
type Name = keyof Reports;
type Tells = { [N in Name]: (about: Reports[N]['about']) => Reports[N]['value'] | Promise<Reports[N]['value']> };

/** What a process answered; `value` is null where it did not in time. `number`: null where it is the only one. */
export type Told<N extends Name> = { number: number | null; pid: number; value: Reports[N]['value'] | null };

/** The server processes on this machine, as operators ask them: of whichever they ask, all answer. */
export class Processes {
  readonly #supervised: Supervised | null;
  readonly #tells: Tells;

  constructor(supervised: Supervised | null, tells: Tells) {
    this.#supervised = supervised;
    this.#tells = tells;
  }

  /** The answers of all, in the order of their numbers. */
  async ask<N extends Name>(name: N, about: Reports[N]['about']): Promise<Told<N>[]> {
    const supervised = this.#supervised;
    const [value, others] = await Promise.all([this.#tells[name](about), supervised?.ask(name, about) ?? []]);
    const own: Told<N> = { number: supervised?.order.number ?? null, pid: process.pid, value };
    const told = others.map((other): Told<N> => ({ ...other, value: (other.value ?? null) as Told<N>['value'] }));
    return [own, ...told].sort((a, b) => (a.number ?? 0) - (b.number ?? 0));
  }

  /** The answer of this one, to another. */
  async tell(name: string, about: unknown): Promise<unknown> {
    return this.#tells[name as Name](about as never);
  }
}
