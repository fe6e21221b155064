/**
 * A process that does not work: it hangs now, or it ended by itself or was killed within the last minute and another
 * took its place.
 */
export type ProcessTrouble = { number: number; pid: number; trouble: 'hangs' | 'replaced' };

/** The queries that a process answers, by name; inputs and answers travel as JSON. */
type Queries = Record<string, { about: unknown; value: unknown }>;

/** The functions by which one process answers each query. */
export type QueryAnswers<Asked extends Queries> = {
  [Name in keyof Asked]: (about: Asked[Name]['about']) => Asked[Name]['value'] | Promise<Asked[Name]['value']>;
};

/** The answer of a process; `value` is null if none came in time. `number`: null if it is the only process. */
export type ProcessAnswer<Value> = { number: number | null; pid: number; value: Value | null };

/** The other server processes of this machine, reached over the primary. */
export type PeerProcesses = {
  order: { number: number };
  troubles: readonly ProcessTrouble[];
  ask(name: string, about: unknown): Promise<{ number: number; pid: number; value?: unknown }[]>;
};

/** Asks all server processes of this machine, this one included. */
export class ProcessQueries<Asked extends Queries> {
  readonly #peers: PeerProcesses | null;
  readonly #answers: QueryAnswers<Asked>;

  constructor(peers: PeerProcesses | null, answers: QueryAnswers<Asked>) {
    this.#peers = peers;
    this.#answers = answers;
  }

  get troubles(): readonly ProcessTrouble[] {
    return this.#peers?.troubles ?? [];
  }

  /** The answers of all, in the order of their numbers. */
  async ask<Name extends keyof Asked & string>(
    name: Name,
    about: Asked[Name]['about'],
  ): Promise<ProcessAnswer<Asked[Name]['value']>[]> {
    const peers = this.#peers;
    const [value, others] = await Promise.all([this.#answers[name](about), peers?.ask(name, about) ?? []]);
    const own = { number: peers?.order.number ?? null, pid: process.pid, value };
    const answers = others.map((other) => ({ ...other, value: other.value ?? null }));
    return [own, ...answers].sort((a, b) => (a.number ?? 0) - (b.number ?? 0));
  }

  /** The answers that came. */
  async askAll<Name extends keyof Asked & string>(
    name: Name,
    about: Asked[Name]['about'],
  ): Promise<NonNullable<Asked[Name]['value']>[]> {
    const answers = await this.ask(name, about);
    return answers.flatMap(({ value }) => (value == null ? [] : [value]));
  }

  /** The answer of this process to another one. */
  async answer(name: string, about: unknown): Promise<unknown> {
    return this.#answers[name]?.(about);
  }
}
