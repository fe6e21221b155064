import { isEnabled, type Layer, type Permission } from '../domain/permissions.js';
import { type Refusal, refuse } from '../domain/refusals.js';
import { RECALL, TRANSCRIBES } from '../domain/scopes.js';
import type { Principal } from './principal.js';

/** The credential and permissions that a route or a tool requires. */
export type AccessRule = {
  /** The caller must hold one of these. */
  permission?: readonly Permission[];
  /** And every one of these. */
  all_of?: readonly Permission[];
  /**
   * Also admits callers who may search and recall, beside those with a permission of the row, or alone if the row names
   * none.
   */
  recall?: true;
  /** The caller must hold the scope by which audio is transcribed that is not kept. */
  transcribes?: true;
  /** The layer of the content, which must be on; absent if `permission` is one of the layer's. */
  layer?: Layer;
  /** Only for accounts with developer access. */
  developer?: true;
};

const DEVELOPERS_ONLY = refuse('FORBIDDEN', 'This is for accounts with developer access.');
const LAYER_OFF = refuse('FORBIDDEN', 'This layer of content is switched off for the account.');

/** The reason for which an identified caller may not do this; null if nothing is missing. */
export function accessRefusal(
  principal: Pick<Principal, 'kind' | 'permissions' | 'recalls' | 'transcribes' | 'account'>,
  access: AccessRule,
): Refusal | null {
  const missing = missingPermission(principal, access);
  if (missing !== null) return missing;
  const { entitlements } = principal.account;
  if (access.layer !== undefined && !isEnabled(entitlements, access.layer)) return LAYER_OFF;
  return access.developer && !isEnabled(entitlements, 'developer.tools') ? DEVELOPERS_ONLY : null;
}

/** The reason for which the caller's permissions do not suffice; null if they do. */
function missingPermission(
  { kind, permissions, recalls, transcribes }: Pick<Principal, 'kind' | 'permissions' | 'recalls' | 'transcribes'>,
  access: AccessRule,
): Refusal | null {
  const { permission = [], all_of = [] } = access;
  if (access.transcribes && !transcribes)
    return refuse(
      'FORBIDDEN',
      `This needs the permission ${TRANSCRIBES}.`,
      kind === 'oauth' ? { scope: [TRANSCRIBES] } : {},
    );
  const is_narrow = access.permission !== undefined || access.recall === true;
  const suffices = permission.some((wanted) => permissions.includes(wanted)) || (access.recall === true && recalls);
  const is_missing = (is_narrow && !suffices) || !all_of.every((wanted) => permissions.includes(wanted));
  if (!is_missing) return null;
  const ways = [...permission, ...(access.recall ? [RECALL.join(' and ')] : [])].join(' or ');
  const needed = [...(ways === '' ? [] : [ways]), ...all_of].join(' and ');
  const scope = [...permission, ...(access.recall ? RECALL : []), ...all_of];
  const plural = /\s/.test(needed) ? 's' : '';
  return refuse('FORBIDDEN', `This needs the permission${plural} ${needed}.`, kind === 'oauth' ? { scope } : {});
}
