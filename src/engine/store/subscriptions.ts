import type { LRUCache } from 'lru-cache';
import type { Subscription } from '../../../actors/actor.js';

/**
 * The subscribers of an account's events, at one version: the id of the commit that changed it last, '' before the
 * first.
 */
export type Subscriptions = { version: string; closed: boolean; endpoints: Map<string, Subscription> };

/** Fields of the hash in which they are stored. */
export const SUBSCRIPTIONS_VERSION = 'v';
export const CLOSED_FIELD = 'closed';
export const ENDPOINT_FIELD = 'e:';

/**
 * The subscriptions of an account that never had an endpoint; also the guess for unknown ones, which the version check
 * proves.
 */
const nobody = (): Subscriptions => ({ version: '', closed: false, endpoints: new Map() });

export function parseSubscriptions(stored: Record<string, string>): Subscriptions {
  const found = nobody();
  for (const [field, value] of Object.entries(stored)) {
    if (field === SUBSCRIPTIONS_VERSION) found.version = value;
    else if (field === CLOSED_FIELD) found.closed = true;
    else if (field.startsWith(ENDPOINT_FIELD))
      found.endpoints.set(field.slice(ENDPOINT_FIELD.length), JSON.parse(value) as Subscription);
  }
  return found;
}

/**
 * The endpoints for which a commit makes deliveries: the known subscriptions, with the commit's own changes applied in
 * order.
 */
export class Subscribers {
  readonly #known: LRUCache<string, Subscriptions> | undefined;
  readonly #present = new Map<string, Subscriptions>();
  readonly #changed = new Set<string>();
  /** The versions that must still hold when the commit arrives, by account. */
  readonly relied_on = new Map<string, string>();
  readonly delivered_to = new Set<string>();

  constructor(known?: LRUCache<string, Subscriptions>) {
    this.#known = known;
  }

  /** The endpoints that get an event of this type. */
  of(account_id: string, type: string): { endpoint_id: string; enablement: number }[] {
    if (!this.relied_on.has(account_id)) this.relied_on.set(account_id, this.#stored(account_id).version);
    const { closed, endpoints } = this.#presentOf(account_id);
    if (closed) return [];
    const found = [...endpoints].filter(([, { topics }]) => topics.length === 0 || topics.includes(type));
    return found.map(([endpoint_id, { enablement }]) => {
      this.delivered_to.add(endpoint_id);
      return { endpoint_id, enablement };
    });
  }

  change(account_id: string, version: string, change: (present: Subscriptions) => void): void {
    const present = this.#presentOf(account_id);
    change(present);
    present.version = version;
    this.#changed.add(account_id);
  }

  /** After the commit: what it changed is known, if what it began with was proved by it. */
  keep(): void {
    for (const account_id of this.#changed) {
      const present = this.#presentOf(account_id);
      if (this.relied_on.has(account_id) && present.version !== '') this.#known?.set(account_id, present);
      else this.#known?.delete(account_id);
    }
  }

  /** After a commit that may have been applied long ago. */
  forget(): void {
    for (const account_id of this.#changed) this.#known?.delete(account_id);
  }

  #stored(account_id: string): Subscriptions {
    return this.#known?.get(account_id) ?? nobody();
  }

  #presentOf(account_id: string): Subscriptions {
    let present = this.#present.get(account_id);
    if (present === undefined) {
      const stored = this.#stored(account_id);
      present = { ...stored, endpoints: new Map(stored.endpoints) };
      this.#present.set(account_id, present);
    }
    return present;
  }
}
