import type { Principal } from '../../access/principal.js';
import { isRefusal, type Refusal, refuse } from '../../domain/refusals.js';
import type { Services } from '../../host/services.js';

const NOT_HOSTED = refuse(
  'FORBIDDEN',
  'This needs the permission debug:write, or insights:write for what came of a recorder session that the account hosted.',
);

/** Why the caller may not delete what a run has made; null where it may. */
export async function hostRefusal(
  { actors }: Services,
  { permissions, account_id }: Principal,
  { session_id }: { session_id: string | null },
): Promise<Refusal | null> {
  // Who has this permission has developer access.
  if (permissions.includes('debug:write')) return null;
  if (session_id === null) return NOT_HOSTED;
  const session = await actors.deviceSession(session_id).view({ by: account_id });
  if (isRefusal(session)) return session.refused === 'NOT_FOUND' ? NOT_HOSTED : session;
  return session.host_account_id === account_id ? null : NOT_HOSTED;
}
