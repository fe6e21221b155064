import { lookup as lookupAddresses, Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { LIMITS } from '../../domain/limits.js';
import { RecentlyUsed } from '../../engine/pools/recently_used.js';

/** The address is not public: ours, private, link-local, reserved, or one that leads to such an address. */
class AddressBlocked extends Error {
  override name = 'AddressBlocked';
  readonly code = 'ADDRESS_BLOCKED';
}

type ResolvedAddress = { address: string; family: number };
/** At least one. */
type ResolvedAddresses = [ResolvedAddress, ...ResolvedAddress[]];
/** The addresses that connections may go to. `private_hosts`: names, addresses and networks that are let through all the same. */
export type Reach = { block_private: boolean; private_hosts?: readonly string[] };
type LookupOptions = Reach & {
  /** DNS servers in place of the machine's own. */
  servers?: readonly string[];
};

const KEPT_MAX = 10_000;
const KEPT_MS = 30_000;
/** A lookup ends before the request that needs it would; so no lookup waits behind others. */
const AT_ONCE_MAX = LIMITS.deliveries_in_flight_max;
const WAITING_MAX = 2_000;
const TRY_MS = 2_000;
const TRIES = 2;
/** RFC 4291, 2.4, and the registry of IANA. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');
const HOSTS_FILE = '/etc/hosts';
/** Addresses at which clouds tell a machine its own credentials, and all others that only its own link reaches. */
const METADATA = ['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::/32', '100.100.100.200/32', '192.0.0.192/32'].map(
  (network) => ipaddr.parseCIDR(network),
);

/** Whether an address is one of the public internet. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast') return false;
  // Of what lies outside of it some leads back to addresses of IPv4, and none is assigned.
  return address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST);
}

/** Throws for a host that is an IP address itself, for which no lookup is made. */
export function checkLiteral(host: string, reach: Reach = { block_private: true }): void {
  const address = host.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && !mayReach(reach, address, address))
    throw new AddressBlocked('the address is not one of the public internet');
}

function mayReach({ block_private, private_hosts = [] }: Reach, host: string, text: string): boolean {
  if (!block_private || isPublicAddress(text)) return true;
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (METADATA.some((network) => isWithin(address, network))) return false;
  const name = host.toLowerCase().replace(/\.$/, '');
  return private_hosts.some((one) => one.toLowerCase() === name || holds(one, address));
}

/** Whether an address, or a network such as 10.0.0.0/8, holds this one. */
function holds(one: string, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (ipaddr.isValid(one)) return ipaddr.process(one).toString() === address.toString();
  return ipaddr.isValidCIDR(one) && isWithin(address, ipaddr.parseCIDR(one));
}

function isWithin(address: ipaddr.IPv4 | ipaddr.IPv6, [network, bits]: [ipaddr.IPv4 | ipaddr.IPv6, number]): boolean {
  return address.kind() === network.kind() && address.match([network, bits] as [ipaddr.IPv4, number]);
}

/**
 * A lookup for connections that remembers for half a minute and, unless configured otherwise, returns public addresses
 * only. The system's own lookup holds a thread until its last server has been given up, and there are few threads,
 * which files need too. So the system is asked only for names that this machine knows by itself. All others are asked
 * from the DNS without threads, many at once: a name server that never answers delays no other name.
 */
export function makeLookup({ servers, ...reach }: LookupOptions): LookupFunction {
  const kept = new RecentlyUsed<ResolvedAddresses>(KEPT_MAX, { ttl: KEPT_MS });
  const asked = new Map<string, Promise<ResolvedAddresses>>();
  const waiting: (() => void)[] = [];
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  let at_once = 0;

  async function ask(host: string): Promise<ResolvedAddresses> {
    if (at_once >= AT_ONCE_MAX) {
      if (waiting.length >= WAITING_MAX) throw new NoAddress('too many lookups');
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else at_once += 1;
    try {
      const all = isOwnName(host) ? await lookupAddresses(host, { all: true }) : await resolve(resolver, host);
      const [first, ...others] = all.filter(({ address }) => mayReach(reach, host, address));
      // As for a name that does not exist: nobody finds out which names there are in our network.
      if (first === undefined) throw new NoAddress('it has no public address');
      const found: ResolvedAddresses = [first, ...others];
      kept.set(host, found);
      return found;
    } finally {
      // Whoever waits longest takes the place over.
      const next = waiting.shift();
      if (next === undefined) at_once -= 1;
      else next();
      asked.delete(host);
    }
  }

  function find(host: string): Promise<ResolvedAddresses> {
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
        if (options.all) return callback(null, found);
        return callback(null, found[0].address, found[0].family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}

/** A name without a dot, or one of the hosts file. */
function isOwnName(host: string): boolean {
  return !host.replace(/\.$/, '').includes('.') || hostsOfFile().has(host.toLowerCase());
}

function hostsOfFile(): Set<string> {
  try {
    const lines = readFileSync(HOSTS_FILE, 'utf8').split('\n');
    return new Set(lines.flatMap((line) => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/).slice(1)));
  } catch {
    return new Set(); // not every machine has one
  }
}

async function resolve(resolver: Resolver, host: string): Promise<ResolvedAddress[]> {
  const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = [
    ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
    ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (found.length > 0) return found;
  throw new NoAddress(four.status === 'rejected' ? String(four.reason) : 'it has no address');
}

class NoAddress extends Error {
  override name = 'NoAddress';
  readonly code = 'ENOTFOUND';
}
