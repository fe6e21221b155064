import { isIPv4, isIPv6 } from 'node:net';
import { type Refusal, refuse } from '../../domain/refusals.js';
import { RecentlyUsed } from '../pools/recently_used.js';
import type { SharedWindows } from './shared_windows.js';

const WINDOW_MS = 60_000;
const NETWORKS_MAX = 100_000;

/**
 * Actions that are limited per network and minute, wrong pairing codes of all networks, and bodies of omi per account.
 * docs/architecture.md, "Admission".
 */
export type RateName =
  | 'sign_ins_begun'
  | 'codes_sent'
  | 'codes_checked'
  | 'native_steps'
  | 'registrations'
  | 'claims'
  | 'links_opened'
  | 'omi_bodies'
  | 'wrong_pairing_codes';

/**
 * The network that an address counts as: an IPv4 address, or the /64 of an IPv6 one.
 * An IPv4 address that comes written as IPv6 is the IPv4 address. What a proxy passes on that is no address at all
 * (some add the port) is one network, else each connection would be its own.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  if (!isIPv6(address)) return isIPv4(address) ? address : 'unknown';
  const bare = address.replace(/%.*$/, '');
  const [head = '', tail] = bare.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups =
    tail === undefined ? left : [...left, ...new Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

/**
 * Counts per network in windows of a minute, bounded. Of processes that share a Redis the counts lie there; what is known
 * here to be too much is refused without asking, and while Redis is away each counts for itself.
 */
export class RateLimits<Name extends string = RateName> {
  readonly #limits: Record<Name, number>;
  readonly #on: boolean;
  readonly #shared: Pick<SharedWindows, 'count'> | null;
  readonly #monotonic_ms: () => number;
  readonly #windows = new RecentlyUsed<{ began_ms: number; count: number }>(NETWORKS_MAX);

  constructor(
    limits: Record<Name, number>,
    options: { on: boolean; shared?: Pick<SharedWindows, 'count'> | null; monotonic_ms?: () => number },
  ) {
    this.#limits = limits;
    this.#on = options.on;
    this.#shared = options.shared ?? null;
    this.#monotonic_ms = options.monotonic_ms ?? (() => performance.now());
  }

  /** The seconds to wait when no more may be counted, as far as this process knows; otherwise null. */
  waitFor(name: Name, network: string): number | null {
    const window = this.#windows.get(`${name} ${network}`);
    const left_ms = window === undefined ? 0 : window.began_ms + WINDOW_MS - this.#monotonic_ms();
    if (!this.#on || window === undefined || left_ms <= 0 || window.count < this.#limits[name]) return null;
    return Math.ceil(left_ms / 1000);
  }

  /** Counts a request for the network of its address; the refusal when it is one too many for this minute. */
  refusalOf(name: Name, address: string): Refusal | null | Promise<Refusal | null> {
    const wait_s = this.take(name, networkOf(address));
    return wait_s instanceof Promise ? wait_s.then(refusalAfter) : refusalAfter(wait_s);
  }

  /** Counts one; gives the seconds to wait when that is one too many, otherwise null. */
  take(name: Name, network: string): number | null | Promise<number | null> {
    if (!this.#on) return null;
    if (this.#shared === null) return this.#takeHere(name, network);
    return this.waitFor(name, network) ?? this.#takeShared(name, network, this.#shared);
  }

  async #takeShared(name: Name, network: string, shared: Pick<SharedWindows, 'count'>): Promise<number | null> {
    const counted = await shared.count(name, network, WINDOW_MS);
    if (counted === null) return this.#takeHere(name, network);
    const { count, left_ms } = counted;
    if (count < this.#limits[name]) return null;
    this.#windows.set(`${name} ${network}`, { began_ms: this.#monotonic_ms() + left_ms - WINDOW_MS, count });
    return count > this.#limits[name] ? Math.ceil(left_ms / 1000) : null;
  }

  #takeHere(name: Name, network: string): number | null {
    const now_ms = this.#monotonic_ms();
    const key = `${name} ${network}`;
    let window = this.#windows.get(key);
    if (window === undefined || now_ms >= window.began_ms + WINDOW_MS) {
      window = { began_ms: now_ms, count: 0 };
      this.#windows.set(key, window);
    }
    window.count += 1;
    return window.count > this.#limits[name] ? Math.ceil((window.began_ms + WINDOW_MS - now_ms) / 1000) : null;
  }
}

function refusalAfter(wait_s: number | null): Refusal | null {
  if (wait_s === null) return null;
  return refuse('TOO_MANY_REQUESTS', `Too many requests from this network; wait ${wait_s} seconds.`, {
    retry_after_s: wait_s,
  });
}
