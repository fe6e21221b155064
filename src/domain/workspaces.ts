import type { Permission } from './permissions.js';

/** Roles in a workspace and what its owner says how long content is kept. Rules D-005, I-016 and I-018. */
export type Role = 'member' | 'admin' | 'owner';

/** Roles that are given; only a transfer makes an owner. */
export const GIVEN_ROLES = ['member', 'admin'] as const;
export type GivenRole = (typeof GIVEN_ROLES)[number];

/** Workspace permissions that a role holds; a request needs one of these and the scope. */
const ROLE_PERMISSIONS: Record<Role, readonly Permission[]> = {
  member: ['workspace:read'],
  admin: ['workspace:read', 'workspace:members'],
  owner: ['workspace:read', 'workspace:members', 'workspace:manage'],
};

export function roleHolds(role: Role, permission: Permission): boolean {
  return ROLE_PERMISSIONS[role].includes(permission);
}

/** Kinds of content, each with a retention of its own. */
export const BUCKETS = ['audio', 'transcripts', 'insights', 'voice'] as const;
export type Bucket = (typeof BUCKETS)[number];

/** Per bucket the days that its records are kept; null for ever, 0 not at all. */
export type Retention = Record<Bucket, { days: number | null }>;

export const KEEP_FOR_EVER: Retention = {
  audio: { days: null },
  transcripts: { days: null },
  insights: { days: null },
  voice: { days: null },
};

export function keepsForEver(retention: Retention): boolean {
  return BUCKETS.every((bucket) => retention[bucket].days === null);
}

/** The settings of a workspace that its owner may change. */
export type WorkspaceSettings = { name: string; retention: Retention };
export type SettingsChange = { name?: string | undefined; retention?: RetentionChange | undefined };
type RetentionChange = { [of in Bucket]?: Retention[of] | undefined };

/** The settings after a change, and what `workspace.updated` names of it: nothing where everything stays. */
export function changeSettings<Settings extends WorkspaceSettings>(
  settings: Settings,
  { name = settings.name, retention = {} }: SettingsChange,
): { settings: Settings; changed_fields: string[] } {
  const kept = { ...settings.retention };
  const buckets = BUCKETS.filter((bucket) => {
    const { days } = retention[bucket] ?? kept[bucket];
    const changes = days !== kept[bucket].days;
    kept[bucket] = { days };
    return changes;
  });
  const changed_fields = [
    ...(name === settings.name ? [] : ['name']),
    ...buckets.map((bucket) => RETENTION_FIELD + bucket),
  ];
  return { settings: { ...settings, name, retention: kept }, changed_fields };
}

/** Whether a change of settings, by what `workspace.updated` names of it, changes how long something is kept. */
export function changesRetention(changed_fields: readonly string[]): boolean {
  return changed_fields.some((field) => field.startsWith(RETENTION_FIELD));
}

const RETENTION_FIELD = 'retention.';

/** Why a workspace is gone, as `workspace.deleted` says it. */
export type WorkspaceEnd = 'owner_deleted' | 'staff_deleted' | 'account_deleted';
