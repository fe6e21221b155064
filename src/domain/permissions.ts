/**
 * Permissions, the layers that switch some of them, and entitlements. docs/rules.md, "OAuth: scopes"; rules D-053 to
 * D-056.
 */
export const PERMISSIONS = [
  'audio:read',
  'audio:write',
  'turns:read',
  'turns:write',
  'insights:read',
  'insights:write',
  'account:manage',
  'files:read',
  'files:write',
  'devices:manage',
  'endpoints:manage',
  'profile:read',
  'profile:write',
  'pipelines:read',
  'pipelines:write',
  'pipelines:experimental',
  'debug:read',
  'debug:write',
  'workspace:read',
  'workspace:members',
  'workspace:manage',
] as const;

export type Permission = (typeof PERMISSIONS)[number];

export const ENTITLEMENTS = [
  'developer.tools',
  'audio.access',
  'transcripts.access',
  'insights.access',
  'workspace.sharing',
  'agent.experimental',
] as const;

export type Entitlement = (typeof ENTITLEMENTS)[number];

export const ENTITLEMENT_DEFAULTS: Record<Entitlement, boolean> = {
  'developer.tools': false,
  'audio.access': true,
  'transcripts.access': true,
  'insights.access': true,
  'workspace.sharing': false,
  'agent.experimental': false,
};

/** Entitlements, each of which switches one layer of content. */
export type Layer = Extract<Entitlement, 'audio.access' | 'transcripts.access' | 'insights.access'>;

/** Permissions that an entitlement adds while it is on; absent for those that add none. */
export const ENTITLED_PERMISSIONS: Partial<Record<Entitlement, readonly Permission[]>> = {
  'developer.tools': ['debug:read', 'debug:write', 'pipelines:experimental'],
  'audio.access': ['audio:read', 'audio:write'],
  'transcripts.access': ['turns:read', 'turns:write'],
  'insights.access': ['insights:read', 'insights:write'],
};

/** The `changed_fields` of `account.updated` when staff switch an entitlement. Rules D-053 to D-056. */
export const ENTITLEMENT_CHANGED_FIELDS: Record<Entitlement, readonly string[]> = {
  'developer.tools': ['permissions', 'developer_enabled'],
  'audio.access': ['permissions'],
  'transcripts.access': ['permissions'],
  'insights.access': ['permissions'],
  'workspace.sharing': ['sharing_enabled'],
  'agent.experimental': ['agent_enabled'],
};

export function isEnabled(entitlements: Partial<Record<Entitlement, boolean>>, name: Entitlement): boolean {
  return entitlements[name] ?? ENTITLEMENT_DEFAULTS[name];
}

const SWITCHED = ENTITLEMENTS.filter((name) => ENTITLED_PERMISSIONS[name] !== undefined);

/**
 * A list for each combination of entitlements, since every request needs one: bit i of its index is set if entitlement
 * i is on.
 */
const PERMISSIONS_BY_SWITCHES = Array.from({ length: 2 ** SWITCHED.length }, (_, switches) => {
  const off = SWITCHED.filter((_, bit) => (switches & (1 << bit)) === 0);
  const missing = new Set(off.flatMap((name) => ENTITLED_PERMISSIONS[name] ?? []));
  return PERMISSIONS.filter((permission) => !missing.has(permission));
});

/** Permissions that an account with these entitlements holds, in the order of the table above. */
export function permissionsOf(entitlements: Partial<Record<Entitlement, boolean>>): readonly Permission[] {
  let switches = 0;
  for (const [bit, name] of SWITCHED.entries()) if (isEnabled(entitlements, name)) switches |= 1 << bit;
  return PERMISSIONS_BY_SWITCHES[switches] as readonly Permission[];
}
