/** Permissions, the layers that switch some of them, and entitlements. Interface: "Scopes", "Entitlements". */
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

/** What an entitlement adds while it is on. The others add no permission. */
const ENTITLED_PERMISSIONS: Partial<Record<Entitlement, readonly Permission[]>> = {
  'developer.tools': ['debug:read', 'debug:write', 'pipelines:experimental'],
  'audio.access': ['audio:read', 'audio:write'],
  'transcripts.access': ['turns:read', 'turns:write'],
  'insights.access': ['insights:read', 'insights:write'],
};

/** What `account.updated` names in `changed_fields` when staff switch an entitlement. Interface: "Which operation emits what". */
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

/** Permissions that an account with these entitlements holds, in the order of the table above. */
export function permissionsOf(entitlements: Partial<Record<Entitlement, boolean>>): Permission[] {
  const missing = new Set<Permission>();
  for (const name of ENTITLEMENTS) {
    if (!isEnabled(entitlements, name))
      for (const permission of ENTITLED_PERMISSIONS[name] ?? []) missing.add(permission);
  }
  return PERMISSIONS.filter((permission) => !missing.has(permission));
}
