import { TROUBLES, type Trouble } from '../../../actors/webhooks/endpoint_state.js';
import { unhealthyIndex } from '../../../actors/webhooks/unhealthy_endpoints.js';
import { PARTITIONS } from '../../domain/ids.js';
import type { Store } from '../../engine/store/store.js';

const ALL = Array.from({ length: PARTITIONS }, (_, partition) => partition);
/** Of one partition; of more, those that began last. */
const PER_PARTITION_MAX = 100;

export type UnhealthyEndpoint = { endpoint_id: string; since_ms: number };
export type UnhealthyEndpoints = Record<Trouble, UnhealthyEndpoint[]>;

/**
 * Endpoints on staff's lists, by what is the matter, the last ones first: what is stored, whoever posted to them. One call
 * finds out which partitions have any.
 */
export async function listUnhealthyEndpoints(store: Pick<Store, 'firstDue' | 'list'>): Promise<UnhealthyEndpoints> {
  const questions = TROUBLES.map((trouble) => ({
    queue: unhealthyIndex(trouble),
    partitions: ALL,
  }));
  const partitions = await store.firstDue(questions);
  const lists = TROUBLES.map(async (trouble, nth) => {
    const { owner, index } = unhealthyIndex(trouble);
    const page = { descending: true, limit: PER_PARTITION_MAX };
    const found = await Promise.all(
      (partitions[nth] ?? []).map(({ partition }) => store.list({ owner, partition }, index, page)),
    );
    const listed = found.flat().map(({ member, order }) => ({ endpoint_id: member, since_ms: order }));
    return [trouble, listed.sort((a, b) => b.since_ms - a.since_ms)] as const;
  });
  return Object.fromEntries(await Promise.all(lists)) as UnhealthyEndpoints;
}
