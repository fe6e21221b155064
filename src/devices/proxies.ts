import type { X509Certificate } from 'node:crypto';
import { BlockList, isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';
import { type ClientCertLines, readClientCertHeader } from '../../certs/client_cert_header.js';
import { type CertificateFacts, readPassedCertificate } from '../../certs/inspection.js';

/** Devices behind proxies that asked last. Only certificates of ours are kept, so an entry is small. */
const KEPT_MAX = 10_000;

export type PassedFacts = CertificateFacts | { kind: 'malformed'; header: string; message: string };

/** Where the proxies of DEVICE_PROXIES are, and what they say of the certificates of their clients (RFC 9440). */
export class DeviceProxies {
  readonly #networks = new BlockList();
  readonly #any: boolean;
  readonly #issuers: readonly X509Certificate[];
  readonly #kept = new LRUCache<string, CertificateFacts>({ max: KEPT_MAX });

  /** `networks`: addresses, or networks such as 10.0.0.0/8. */
  constructor(networks: readonly string[], issuers: readonly X509Certificate[]) {
    this.#any = networks.length > 0;
    this.#issuers = issuers;
    for (const network of networks) {
      const [address = '', bits] = network.split('/');
      const family = isIPv6(address) ? 'ipv6' : 'ipv4';
      if (bits === undefined) this.#networks.addAddress(address, family);
      else this.#networks.addSubnet(address, Number(bits), family);
    }
  }

  /** Whether a proxy may be at an address; an IPv4 address that is written as IPv6 is that IPv4 address. */
  has(address: string | undefined): boolean {
    if (!this.#any || address === undefined) return false;
    return this.#networks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  }

  /** What the proxy's headers say; the chain, the purpose and later the dates are held against our own CAs. */
  read(lines: ClientCertLines): PassedFacts {
    const key = lines.client_cert?.length === 1 && lines.chain === undefined ? lines.client_cert[0] : undefined;
    const kept = key === undefined ? undefined : this.#kept.get(key);
    if (kept !== undefined) return kept;
    const passed = readClientCertHeader(lines);
    if (!passed.ok) return { kind: 'malformed', header: passed.header, message: passed.message };
    const facts = readPassedCertificate(passed.certificate, this.#issuers);
    if (key !== undefined && facts.kind === 'issued') this.#kept.set(key, facts);
    return facts;
  }
}
