import type { ClusterView, Ownership } from '../../src/engine/cluster/cluster_processes.js';
import { ownersOf } from '../../src/engine/cluster/ownership.js';
import type { SeededRandom } from '../../src/engine/random/seeded_random.js';

/**
 * What a process believes of who is alive. truth: what is so. none: that it owns nothing. all: that it owns everything.
 * stale: what was so at some time. split: that only every other process is there.
 */
const BELIEFS = ['truth', 'none', 'all', 'stale', 'split'] as const;
type Belief = { belief: (typeof BELIEFS)[number]; ids: readonly string[]; takes_as_gone: string | null };

/** How often a process takes one that lives for one that ended: double work, and nothing worse. */
const WRONG_ABOUT_ENDS = 0.2;

/** Each process' view of the others: as wrong as can be, until all come to agree. */
export class MemberViews {
  readonly #random: SeededRandom;
  readonly #living = new Set<string>();
  readonly #ended = new Set<string>();
  readonly #beliefs = new Map<string, Belief>();
  #owners = new Map<string, readonly string[]>();
  #agree = false;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  joined(id: string): Ownership & ClusterView {
    this.#living.add(id);
    this.#draw(id);
    const views = this;
    return {
      id,
      owns: (partition) => views.#owns(id, partition),
      get gone() {
        return views.#goneFor(id);
      },
    };
  }

  crashed(id: string): void {
    this.#living.delete(id);
    this.#ended.add(id);
    this.#beliefs.delete(id);
  }

  /** One of them believes something else from now on. */
  meddle(): void {
    if (this.#living.size > 0) this.#draw(this.#random.pick([...this.#living]));
  }

  /** From now on all believe what is so. */
  agree(): void {
    this.#agree = true;
  }

  #draw(id: string): void {
    const ids = [...this.#living, ...this.#ended].filter(() => this.#random.chance(0.7));
    const others = [...this.#living].filter((other) => other !== id);
    const is_wrong = others.length > 0 && this.#random.chance(WRONG_ABOUT_ENDS);
    const takes_as_gone = is_wrong ? this.#random.pick(others) : null;
    this.#beliefs.set(id, { belief: this.#random.pick([...BELIEFS]), ids, takes_as_gone });
  }

  #owns(id: string, partition: number): boolean {
    const { belief, ids } = this.#beliefOf(id);
    const living = [...this.#living];
    switch (belief) {
      case 'truth':
        return this.#ownerOf(partition, living) === id;
      case 'none':
        return false;
      case 'all':
        return true;
      case 'stale':
        return this.#ownerOf(partition, ids) === id;
      default: {
        const place = living.indexOf(id);
        const seen = living.filter((_, at) => at % 2 === place % 2);
        return this.#ownerOf(partition, seen) === id;
      }
    }
  }

  #goneFor(id: string): ReadonlySet<string> {
    const { belief, takes_as_gone } = this.#beliefOf(id);
    if (belief === 'none') return new Set();
    return takes_as_gone === null ? this.#ended : new Set([...this.#ended, takes_as_gone]);
  }

  #beliefOf(id: string): Belief {
    const drawn = this.#beliefs.get(id);
    return this.#agree || drawn === undefined ? { belief: 'truth', ids: [], takes_as_gone: null } : drawn;
  }

  #ownerOf(partition: number, ids: readonly string[]): string | undefined {
    const name = ids.join();
    const owners = this.#owners.get(name) ?? ownersOf(ids);
    this.#owners.set(name, owners);
    return owners[partition];
  }
}
