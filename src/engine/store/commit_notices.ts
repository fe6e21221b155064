import type { NoteDue } from './due_notes.js';

type WakeEndpoints = (endpoint_ids: ReadonlySet<string>) => void;

/**
 * Tells the workers of a process what its commits have brought about. Workers need the store, and the store's commits wake
 * workers: this stands between them, and is made first.
 */
export class CommitNotices {
  readonly #due: NoteDue[] = [];
  readonly #deliveries: WakeEndpoints[] = [];

  /** `note` is told of all that a commit makes due. */
  onDue(note: NoteDue): void {
    this.#due.push(note);
  }

  /** `wake` is told which endpoints a commit has made deliveries to. */
  onDeliveries(wake: WakeEndpoints): void {
    this.#deliveries.push(wake);
  }

  readonly due: NoteDue = (queue, partition, at_ms) => {
    for (const note of this.#due) note(queue, partition, at_ms);
  };

  deliveries(endpoint_ids: ReadonlySet<string>): void {
    for (const wake of this.#deliveries) wake(endpoint_ids);
  }
}
