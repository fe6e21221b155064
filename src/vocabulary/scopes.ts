import { PERMISSIONS, type Permission } from './permissions.js';

/** Scope names of OAuth and what they allow. Interface: "Scopes". */

type Scope = {
  /** Permissions that a token with this scope may use, as far as its account holds them. */
  acts_as: readonly Permission[];
  /** An earlier name: it still works, and is not advertised. */
  earlier?: true;
  /** Found on existing grants only. */
  not_requestable?: true;
};

/** Current names allow what they say; this one includes another. */
const INCLUDING: Record<string, Scope> = {
  'pipelines:write': { acts_as: ['pipelines:write', 'pipelines:experimental'] },
};

const EARLIER: Record<string, Scope> = {
  'suggestions:read': { acts_as: ['insights:read'], earlier: true },
  'suggestions:write': { acts_as: ['insights:write'], earlier: true },
  'contacts:read': { acts_as: ['turns:read'], earlier: true },
  'contacts:write': { acts_as: ['turns:write'], earlier: true },
  'events:read': { acts_as: ['turns:read'], earlier: true },
  // Search and recall only, which no permission of its own stands for.
  'recall:read': { acts_as: [], earlier: true },
  'sources:write': { acts_as: ['audio:write', 'devices:manage'], earlier: true, not_requestable: true },
};

const SCOPES = new Map<string, Scope>([
  ...PERMISSIONS.map((name): [string, Scope] => [name, { acts_as: [name] }]),
  ...Object.entries({ ...INCLUDING, ...EARLIER }),
]);

/** What discovery lists. */
export const CURRENT_SCOPES: readonly string[] = PERMISSIONS;

/** Scopes that no third-party client, agent or desktop app may ask for. */
export const WORKSPACE_SCOPES: readonly string[] = ['workspace:read', 'workspace:members', 'workspace:manage'];

/** What a third-party client gets that neither asks for scopes nor registered any. Choices: C-034. */
export const DEFAULT_SCOPES: readonly string[] = ['audio:read', 'turns:read', 'insights:read'];

/** Whether a new authorization may ask for a scope at all. */
export function isRequestable(scope: string): boolean {
  const known = SCOPES.get(scope);
  return known !== undefined && known.not_requestable !== true;
}

/** True for any name that a grant may carry, earlier ones included. */
export function isScope(scope: string): boolean {
  return SCOPES.has(scope);
}

/** Current names of the permissions that scopes allow, in the order of the table of permissions. */
export function permissionsOfScopes(scopes: readonly string[]): Permission[] {
  const allowed = new Set<Permission>();
  for (const scope of scopes) for (const permission of SCOPES.get(scope)?.acts_as ?? []) allowed.add(permission);
  return PERMISSIONS.filter((permission) => allowed.has(permission));
}

/**
 * Whether a client that registered these scopes may ask for this one: by the name it registered, or by an earlier name
 * of what it registered.
 */
export function isWithin(registered: readonly string[], scope: string): boolean {
  if (registered.includes(scope)) return true;
  const known = SCOPES.get(scope);
  if (known?.earlier !== true) return false;
  if (scope === 'recall:read') return registered.includes('turns:read') && registered.includes('insights:read');
  return known.acts_as.every((permission) => registered.includes(permission));
}

/** Splits a `scope` parameter: names without repeats, in the order they came. */
export function scopeList(text: string): string[] {
  return [...new Set(text.split(' ').filter((name) => name !== ''))];
}
