import { CURRENT_SCOPES, DEFAULT_SCOPES, isRequestable, WORKSPACE_SCOPES } from '../../../domain/scopes.js';

/** The registered scopes that a third-party client can have. RFC 7591, 2, allows leaving out others. */
export function countingScopes(names: readonly string[]): string[] {
  return names.filter((name) => isRequestable(name) && !WORKSPACE_SCOPES.includes(name));
}

/** The scopes that a resource names in its challenge, and those that it may name later, when more are needed. */
export type ResourceScopes = { first: readonly string[]; later: readonly string[] };

const NONE: ResourceScopes = { first: [], later: [] };

/**
 * The scopes that a client with these registered ones may ask for, and those that it gets by default. No registered
 * scopes: any. Clients that register exactly the scopes of a resource's challenge did not choose them: they may have
 * more when the resource asks for more.
 */
export function scopesOfRegistered(
  counting: string[],
  { first, later }: ResourceScopes = NONE,
): { scopes: string[]; default_scopes: string[] } {
  if (counting.length === 0) return { scopes: countingScopes(CURRENT_SCOPES), default_scopes: [...DEFAULT_SCOPES] };
  const follows = counting.length === first.length && first.every((scope) => counting.includes(scope));
  return { scopes: follows ? [...new Set([...counting, ...later])] : counting, default_scopes: counting };
}
