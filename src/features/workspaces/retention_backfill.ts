import { lacksBatches } from '../../../actors/recordings/signals.js';
import { lacksPlace } from '../../../actors/recordings/stream_expiry.js';
import type { Stream } from '../../../actors/recordings/stream_state.js';
import { ownerOfPrivateWorkspace } from '../../domain/ids.js';
import { nullIfPermanent } from '../../domain/refusals.js';
import type { Actors } from '../../engine/runtime/actors.js';

/** Accounts in workspaces that one walk remembers having looked at. */
const LOOKED_AT_MAX = 100_000;

/**
 * Brings in what a release without the retention sweep has stored: chunks and signals that stand on no due list, and
 * workspaces whose sweep was never told how long they keep what, or who records there. A walk over all streams shows each
 * of them; what has its place is only read.
 */
export class RetentionBackfill {
  readonly #actors: Actors;
  readonly #looked_at = new Set<string>();

  /** For one walk. */
  constructor(actors: Actors) {
    this.#actors = actors;
  }

  /** Lists a stream for retention; one that can't be read is left to the next walk. */
  async look(stream: Stream): Promise<void> {
    const { id, account_id, workspace_id } = stream;
    const key = `${workspace_id} ${account_id}`;
    if (!this.#looked_at.has(key)) {
      if (this.#looked_at.size < LOOKED_AT_MAX) this.#looked_at.add(key);
      await this.#tellSweep(stream);
    }
    if (lacksPlace(stream)) await pages((after) => this.#actors.stream(id).take_place({ after }));
    const signals = await this.#actors.signals(id).view().catch(nullIfPermanent);
    if (signals !== null && lacksBatches(signals))
      await pages((after) => this.#actors.signals(id).take_place({ account_id, workspace_id, after }));
  }

  async #tellSweep({ account_id, workspace_id }: Stream): Promise<void> {
    const known = await this.#actors.sweep(workspace_id).view().catch(nullIfPermanent);
    const told: Promise<unknown> =
      ownerOfPrivateWorkspace(workspace_id) === null
        ? this.#actors.workspace(workspace_id).tell_retention({ known, recorder: account_id })
        : this.#actors.account(account_id).tell_retention({ known });
    await told.catch(nullIfPermanent);
  }
}

type ListPosition = { order: number; id: string };

async function pages(take: (after: ListPosition | null) => Promise<{ next: ListPosition | null }>): Promise<void> {
  for (let after: ListPosition | null = null; ; ) {
    const page: { next: ListPosition | null } | null = await take(after).catch(nullIfPermanent);
    if (page === null || page.next === null) return;
    after = page.next;
  }
}
