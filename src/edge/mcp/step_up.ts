import { accessRefusal } from '../../access/access.js';
import type { Principal } from '../../access/principal.js';
import { permissionsOf } from '../../domain/permissions.js';
import { type Refusal, refuse } from '../../domain/refusals.js';
import { RECALL } from '../../domain/scopes.js';
import type { Tool } from './tool.js';

/**
 * The refusal that lets an OAuth client ask its person for more, where that is all that is missing: 403 with the scopes
 * to ask for (specification of 2025-11-25, "Scope Challenge Handling"). Null where asking would not help.
 */
export function stepUpRefusal(tool: Tool, who: Principal): Refusal | null {
  const refusal = accessRefusal(who, tool);
  if (refusal === null || who.client === null) return null;
  const permissions = permissionsOf(who.account.entitlements);
  const most = { ...who, permissions, recalls: RECALL.every((one) => permissions.includes(one)) };
  if (accessRefusal(most, tool) !== null) return null;
  const { permission = [], all_of = [], recall } = tool;
  const one = permission.find((name) => permissions.includes(name));
  const lacking = [...(one === undefined ? (recall === true ? RECALL : []) : [one]), ...all_of];
  // Clients of before 2026 ask for what is named here and nothing else, so what they have stands there as well.
  const scope = [...new Set([...who.client.scopes, ...lacking])];
  return refuse('FORBIDDEN', `${tool.name}: ${refusal.message}`, { scope });
}
