/** Runs tasks one after the other for each key, even if earlier ones fail; tasks of other keys run in parallel. */
export class InTurn {
  /** The last task of each key that has one in progress. */
  readonly #last = new Map<string, Promise<unknown>>();

  run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const ran = before.then(task, task);
    this.#last.set(key, ran);
    const done = () => {
      if (this.#last.get(key) === ran) this.#last.delete(key);
    };
    ran.then(done, done);
    return ran;
  }
}
