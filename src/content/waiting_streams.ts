import pMap from 'p-map';
import { TRANSCRIBING_INDEX } from '../../actors/transcript_state.js';
import { PARTITIONS } from '../domain/ids.js';
import type { Store } from '../store/store.js';

const PARTITIONS_AT_ONCE = 16;
const PAGE = 500;
/** Counted of one partition. */
const PAGES_MAX = 20;

/** Streams with audio that is to be transcribed, or is being. `beyond`: there are more than were counted. */
export type WaitingStreams = { due: number; later: number; oldest_due_ms: number | null; beyond: boolean };

export async function waitingStreams(store: Pick<Store, 'list'>, now_ms: number): Promise<WaitingStreams> {
  const all: WaitingStreams = { due: 0, later: 0, oldest_due_ms: null, beyond: false };
  const partitions = Array.from({ length: PARTITIONS }, (_, partition) => partition);
  await pMap(
    partitions,
    async (partition) => {
      let after: { order: number; member: string } | undefined;
      for (let pages = 0; pages < PAGES_MAX; pages++) {
        const range = { after, descending: false, limit: PAGE };
        const rows = await store.list({ owner: TRANSCRIBING_INDEX.owner, partition }, TRANSCRIBING_INDEX.index, range);
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
