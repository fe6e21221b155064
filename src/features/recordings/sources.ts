import { type KeptSource, NO_SOURCE } from '../../../actors/recordings/source.js';
import { throwRefusal } from '../../domain/refusals.js';
import type { FeatureServices as Services } from '../services.js';

/** The account's own source; one of somebody else's, or a deleted one, does not exist. */
export async function ownSource(
  { actors }: Services,
  { account_id, id }: { account_id: string; id: string },
): Promise<KeptSource> {
  const source = await actors.source(id).view();
  return source.status === 'kept' && source.account_id === account_id ? source : throwRefusal(NO_SOURCE);
}
