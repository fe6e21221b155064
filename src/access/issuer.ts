import type { FastifyRequest } from 'fastify';
import { type Issuer, MCP_PATH, MCP_PATH_WITH_SLASH } from '../domain/audiences.js';

/** The public addresses of this server, without a slash at the end. */
export type PublicAddresses = { base_url: string; legacy_base_url: string | null; restore_url: string };

/** The public addresses, once the listeners have their ports. */
type Addressed = { addresses(): PublicAddresses };

/** The path of the API's RFC 9728 metadata; the MCP server's metadata has its own path appended. */
export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource';

/** The public address to which a request came: the legacy one by its host, otherwise the base. Rule C-018. */
export function issuerOf({ addresses }: Addressed, request: FastifyRequest): Issuer {
  const { legacy_base_url } = addresses();
  if (legacy_base_url === null) return 'base';
  const { host, protocol } = new URL(legacy_base_url);
  const asked = request.host.toLowerCase();
  // Some clients name the port that goes without saying.
  return asked === host || asked === host + (protocol === 'https:' ? ':443' : ':80') ? 'legacy' : 'base';
}

/** The same request at the base address, to which new authorizations are sent. */
export function atBase(services: Addressed, request: FastifyRequest): string {
  const base_url = issuerUrl(services, 'base');
  // A request line may name a host of its own.
  const { pathname, search } = new URL(request.url, base_url);
  return base_url + pathname + search;
}

/** The address without a slash at its end: the `iss` of everything issued there. */
export function issuerUrl({ addresses }: Addressed, issuer: Issuer): string {
  const { base_url, legacy_base_url } = addresses();
  return issuer === 'legacy' && legacy_base_url !== null ? legacy_base_url : base_url;
}

/** The address of the metadata of the requested resource. */
export function resourceMetadataOf(services: Addressed, request: FastifyRequest): string {
  const { url } = request.routeOptions;
  const at = url === MCP_PATH || url === MCP_PATH_WITH_SLASH ? MCP_PATH : '';
  return issuerUrl(services, issuerOf(services, request)) + RESOURCE_METADATA_PATH + at;
}
