import type { X509Certificate } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { type ClientCertLines, readClientCertHeader } from '../../../certs/client_cert_header.js';
import { type CertificateFacts, readPassedCertificate } from '../../../certs/inspection.js';
import { NetworkList } from '../../engine/limits/network_list.js';
import { RecentlyUsed } from '../../engine/pools/recently_used.js';

/**
 * The number of recently active devices behind proxies that are kept. Only certificates of ours are kept, so an entry
 * is small.
 */
const KEPT_MAX = 10_000;

export type PassedFacts = CertificateFacts | { kind: 'malformed'; header: string; message: string };

/**
 * The addresses of the proxies of DEVICE_PROXIES, and their headers about the certificates of their clients (RFC 9440).
 */
export class DeviceProxies {
  readonly #networks: NetworkList;
  readonly #issuers: readonly X509Certificate[];
  /** Requests that a proxy passed on: its connection serves others as well. */
  readonly #passed_on = new WeakSet<FastifyRequest>();
  readonly #kept = new RecentlyUsed<CertificateFacts>(KEPT_MAX);

  /** `networks`: addresses, or networks such as 10.0.0.0/8. */
  constructor(networks: readonly string[], issuers: readonly X509Certificate[]) {
    this.#networks = new NetworkList(networks);
    this.#issuers = issuers;
  }

  /** Whether a proxy may be at an address. */
  has(address: string | undefined): boolean {
    return this.#networks.has(address);
  }

  /** Marks the request as passed on by a proxy of ours. */
  notePassedOn(request: FastifyRequest): void {
    this.#passed_on.add(request);
  }

  /** Whether a proxy of ours passed the request on. Known once the device was identified. */
  hasPassedOn(request: FastifyRequest): boolean {
    return this.#passed_on.has(request);
  }

  /** Reads the proxy's headers; the chain, the purpose and later the dates are checked against our own CAs. */
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
