import { lookup as lookupAddresses } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';

/** Nobody outside can be behind such an address: ours, private, link-local, reserved, or one that leads there. */
class AddressBlocked extends Error {
  override name = 'AddressBlocked';
  readonly code = 'ADDRESS_BLOCKED';
}

type Found = { address: string; family: number }[];

const KEPT_MAX = 10_000;
const KEPT_MS = 30_000;
/** Lookups hold a thread each, of which there are four for everything; so a slow resolver can't take them all. */
const AT_ONCE_MAX = 2;
const WAITING_MAX = 2_000;

/** Whether an address is one of the public internet. */
export function isPublicAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast';
}

/** Throws for a host that is an address itself, which no lookup would see. */
export function checkLiteral(host: string): void {
  const address = host.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && !isPublicAddress(address)) throw blocked();
}

/** A lookup for connections that remembers for half a minute and, unless it is told not to, gives public addresses only. */
export function makeLookup({ block_private }: { block_private: boolean }): LookupFunction {
  const kept = new LRUCache<string, Found>({ max: KEPT_MAX, ttl: KEPT_MS });
  const asked = new Map<string, Promise<Found>>();
  const waiting: (() => void)[] = [];
  let at_once = 0;

  async function ask(host: string): Promise<Found> {
    if (at_once >= AT_ONCE_MAX) {
      if (waiting.length >= WAITING_MAX) throw Object.assign(new Error('too many lookups'), { code: 'EAI_AGAIN' });
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    at_once += 1;
    try {
      const found = await new Promise<Found>((resolve, reject) => {
        lookupAddresses(host, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
      });
      kept.set(host, found);
      return found;
    } finally {
      at_once -= 1;
      waiting.shift()?.();
      asked.delete(host);
    }
  }

  function find(host: string): Promise<Found> {
    const known = kept.get(host);
    if (known !== undefined) return Promise.resolve(known);
    let under_way = asked.get(host);
    if (under_way === undefined) {
      under_way = ask(host);
      asked.set(host, under_way);
    }
    return under_way;
  }

  return (host, options, callback) => {
    find(host).then(
      (found) => {
        const usable = block_private ? found.filter(({ address }) => isPublicAddress(address)) : found;
        const [first] = usable;
        if (first === undefined) return callback(blocked(), '', 0);
        if (options.all) return callback(null, usable);
        return callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}

function blocked(): AddressBlocked {
  return new AddressBlocked('the address is not one of the public internet');
}
