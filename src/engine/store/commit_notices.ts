import type { NoteDue } from './due_notes.js';

type WakeEndpoints = (endpoint_ids: ReadonlySet<string>) => void;

/**
 * Tells the workers of a process about its commits. Workers need the store, and the store's commits wake workers: this
 * object stands between them, and is made first.
 */
export class CommitNotices {
  readonly #due: NoteDue[] = [];
  readonly #deliveries: WakeEndpoints[] = [];

  /** `note` is called with all work that a commit makes due. */
  onDue(note: NoteDue): void {
    this.#due.push(note);
  }

  /** `wake` is called with the endpoints to which a commit has made deliveries. */
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
