import type { Principal } from '../../access/principal.js';
import { partitionOfId } from '../../domain/ids.js';
import { randomId } from '../../engine/random/random.js';
import type { FeatureServices } from '../services.js';

const NAME = 'omi';

/** The source of what omi sends; a new one if that was deleted. */
export async function omiSource(
  { actors, clock }: Pick<FeatureServices, 'actors' | 'clock'>,
  { account_id, fences }: Principal,
): Promise<string> {
  const new_source_id = randomId({ partition: partitionOfId(account_id), now_ms: clock.now() });
  const create = async (more: { instead_of?: string }) => {
    const { source_id } = await actors.omi(account_id).source({ new_source_id, ...more }, fences);
    const source = { account_id, device_id: null, name: NAME };
    return { source_id, source: await actors.source(source_id).create(source, fences) };
  };
  const known = await create({});
  if (known.source.status === 'kept') return known.source_id;
  return (await create({ instead_of: known.source_id })).source_id;
}
