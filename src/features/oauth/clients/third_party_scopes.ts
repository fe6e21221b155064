import { CURRENT_SCOPES, DEFAULT_SCOPES, isRequestable, WORKSPACE_SCOPES } from '../../../domain/scopes.js';

/** The scopes among those a third-party client registers that it can have. RFC 7591, 2, lets us leave out others. */
export function countingScopes(names: readonly string[]): string[] {
  return names.filter((name) => isRequestable(name) && !WORKSPACE_SCOPES.includes(name));
}

/** The scopes that a resource names in its challenge, and those it may name later, when more is needed. */
export type ResourceScopes = { first: readonly string[]; later: readonly string[] };

const NONE: ResourceScopes = { first: [], later: [] };

/**
 * The scopes that a client with these registered ones may ask for, and those it gets when it asks for none. None
 * registered: any. Clients that register just what the challenge of a resource has named did not choose: when it asks
 * for more, they may have more.
 */
export function scopesOfRegistered(
  counting: string[],
  { first, later }: ResourceScopes = NONE,
): { scopes: string[]; default_scopes: string[] } {
  if (counting.length === 0) return { scopes: countingScopes(CURRENT_SCOPES), default_scopes: [...DEFAULT_SCOPES] };
  const follows = counting.length === first.length && first.every((scope) => counting.includes(scope));
  return { scopes: follows ? [...new Set([...counting, ...later])] : counting, default_scopes: counting };
}
