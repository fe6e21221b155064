import pMap from 'p-map';
import { PARTITIONS } from '../../domain/ids.js';
import type { Store } from '../../engine/store/store.js';

const PARTITIONS_AT_ONCE = 16;
const PAGE = 500;
/** Counted of one partition. */
const PAGES_MAX = 20;

/** Members of an index by when they are due. `beyond`: there are more than were counted. */
type DueCounts = { due: number; later: number; oldest_due_ms: number | null; beyond: boolean };

/** Counts the work of workers in all partitions: streams to transcribe, libraries with conversations. */
export async function dueCounts(
  store: Pick<Store, 'list'>,
  { owner, index }: { owner: string; index: string },
  now_ms: number,
): Promise<DueCounts> {
  const all: DueCounts = { due: 0, later: 0, oldest_due_ms: null, beyond: false };
  const partitions = Array.from({ length: PARTITIONS }, (_, partition) => partition);
  await pMap(
    partitions,
    async (partition) => {
      let after: { order: number; member: string } | undefined;
      for (let pages = 0; pages < PAGES_MAX; pages++) {
        const rows = await store.list({ owner, partition }, index, { after, descending: false, limit: PAGE });
        for (const { order } of rows) {
          if (order > now_ms) all.later += 1;
          else {
            all.due += 1;
            all.oldest_due_ms = Math.min(all.oldest_due_ms ?? order, order);
          }
        }
        if (rows.length < PAGE) return;
        after = rows.at(-1);
      }
      all.beyond = true;
    },
    { concurrency: PARTITIONS_AT_ONCE },
  );
  return all;
}
