import type { Principal } from '../../../access/principal.js';
import { orNull, Refused, refuse } from '../../../domain/refusals.js';
import type { FeatureServices } from '../../services.js';

const NOT_HOSTED = refuse(
  'FORBIDDEN',
  'This needs the permission debug:write, or insights:write for what came of a recorder session that the account hosted.',
);

/** Refuses unless the caller may delete the results of a run. */
export async function requireDeletionAccess(
  { actors }: Pick<FeatureServices, 'actors'>,
  { permissions, account_id }: Principal,
  { session_id }: { session_id: string | null },
): Promise<void> {
  // Who has this permission has developer access.
  if (permissions.includes('debug:write')) return;
  const session =
    session_id === null ? null : await orNull(actors.deviceSession(session_id).view({ by: account_id }), 'NOT_FOUND');
  if (session?.host_account_id !== account_id) throw new Refused(NOT_HOSTED);
}
