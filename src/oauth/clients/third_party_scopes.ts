import { CURRENT_SCOPES, DEFAULT_SCOPES, isRequestable, WORKSPACE_SCOPES } from '../../domain/scopes.js';

/** What of the names that a third-party client registers counts: those it can have. RFC 7591, 2, lets us leave out others. */
export function countingScopes(names: readonly string[]): string[] {
  return names.filter((name) => isRequestable(name) && !WORKSPACE_SCOPES.includes(name));
}

/** What a client with these registered scopes may ask for, and gets when it asks for none. None registered: any. */
export function scopesOfRegistered(counting: string[]): { scopes: string[]; default_scopes: string[] } {
  return counting.length > 0
    ? { scopes: counting, default_scopes: counting }
    : { scopes: countingScopes(CURRENT_SCOPES), default_scopes: [...DEFAULT_SCOPES] };
}
