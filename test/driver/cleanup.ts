/** What is to be undone at the end, the last first. As fixtures take it. */
export class Cleanup {
  readonly #undo: (() => unknown)[] = [];

  teardown(undo: () => unknown): void {
    this.#undo.push(undo);
  }

  async run(): Promise<void> {
    for (const undo of this.#undo.splice(0).reverse()) await undo();
  }
}
