import { PERMISSIONS, type Permission } from './permissions.js';

/** Scope names of OAuth and what they allow. docs/rules.md, "OAuth: scopes". */

type Scope = {
  /** Permissions that a token with this scope may use, as far as its account holds them. */
  acts_as: readonly Permission[];
  /** Only on existing grants. */
  not_requestable?: true;
};

/** Asks for a refresh token (OpenID Connect Core, 11). Every grant has one, so the name allows nothing here. */
export const OFFLINE_ACCESS = 'offline_access';

/** Allows its own permissions and those of another scope. */
const INCLUDING: Record<string, Scope> = {
  'pipelines:write': { acts_as: ['pipelines:write', 'pipelines:experimental'] },
};

/** Earlier names still work, and are not advertised. */
const EARLIER: Record<string, Scope> = {
  'suggestions:read': { acts_as: ['insights:read'] },
  'suggestions:write': { acts_as: ['insights:write'] },
  'contacts:read': { acts_as: ['turns:read'] },
  'contacts:write': { acts_as: ['turns:write'] },
  'events:read': { acts_as: ['turns:read'] },
  // Search and recall only, which no permission of its own stands for.
  'recall:read': { acts_as: [] },
  'sources:write': { acts_as: ['audio:write', 'devices:manage'], not_requestable: true },
};

/** Ours: text of audio that is not kept. No permission stands for it, since that of the interface are all that GET /me may list. */
export const TRANSCRIBES = 'transcriptions:write';
/** The names that a personal access token lists. */
export type TokenPermission = Permission | typeof TRANSCRIBES;
const OWN: Record<string, Scope> = { [TRANSCRIBES]: { acts_as: [] } };

const SCOPES = new Map<string, Scope>([
  ...PERMISSIONS.map((name): [string, Scope] => [name, { acts_as: [name] }]),
  ...Object.entries({ ...INCLUDING, ...EARLIER, ...OWN }),
]);

/** Permissions that search and recall need together. */
export const RECALL: readonly Permission[] = ['turns:read', 'insights:read'];

/**
 * Whether a credential may search and recall: by both permissions, or by the scope that means just that, as long as its
 * account holds both. Rules C-103 and C-107.
 */
export function recalls({
  permissions,
  held,
  scopes = [],
}: {
  permissions: readonly Permission[];
  held: readonly Permission[];
  scopes?: readonly string[];
}): boolean {
  const among = scopes.includes('recall:read') ? held : permissions;
  return RECALL.every((permission) => among.includes(permission));
}

/** Scopes that discovery lists. */
export const CURRENT_SCOPES: readonly string[] = PERMISSIONS;

/** Scopes that no third-party client, agent or desktop app may ask for. */
export const WORKSPACE_SCOPES: readonly string[] = ['workspace:read', 'workspace:members', 'workspace:manage'];

/** Scopes of a third-party client that neither asks for any nor registered any. Rule C-034. */
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

/** Whether these scopes include this one, by name or by what they allow. */
export function isWithin(held: readonly string[], scope: string): boolean {
  if (scope === OFFLINE_ACCESS || held.includes(scope)) return true;
  const allowed = permissionsOfScopes(held);
  const wanted = scope === 'recall:read' ? RECALL : (SCOPES.get(scope)?.acts_as ?? []);
  return wanted.length > 0 && wanted.every((permission) => allowed.includes(permission));
}

/** Whether both name the same scopes, in any order, by earlier or current names. */
export function areEqualScopes(one: readonly string[], other: readonly string[]): boolean {
  return one.every((scope) => isWithin(other, scope)) && other.every((scope) => isWithin(one, scope));
}

/** Splits a `scope` parameter: names without repeats, in the order they came, and without `offline_access`. */
export function scopeList(text: string): string[] {
  return [...new Set(text.split(' ').filter((name) => name !== '' && name !== OFFLINE_ACCESS))];
}

/** `offline_access` if a `scope` parameter has it, since strict clients look for it in the answer. */
export function offlineAccessIn(text: string): string[] {
  return text.split(' ').includes(OFFLINE_ACCESS) ? [OFFLINE_ACCESS] : [];
}
