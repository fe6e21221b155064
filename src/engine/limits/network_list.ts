import { BlockList, isIPv6 } from 'node:net';

/** Addresses and networks such as 10.0.0.0/8, as settings name them. */
export class NetworkList {
  readonly #networks = new BlockList();
  readonly #any: boolean;

  constructor(networks: readonly string[]) {
    this.#any = networks.length > 0;
    for (const network of networks) {
      const [address = '', bits] = network.split('/');
      const family = isIPv6(address) ? 'ipv6' : 'ipv4';
      if (bits === undefined) this.#networks.addAddress(address, family);
      else this.#networks.addSubnet(address, Number(bits), family);
    }
  }

  /** An IPv4 address that is written as IPv6 is that IPv4 address. */
  has(address: string | undefined): boolean {
    if (!this.#any || address === undefined) return false;
    return this.#networks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  }
}
