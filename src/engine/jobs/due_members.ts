import type { Store } from '../store/store.js';
import { ALL_PARTITIONS } from './due_poll.js';

/** Members of one partition that operators are shown. */
const SHOWN_MAX = 100;

/** The members of an index that each partition has, those that are due first. */
export async function dueMembers(
  store: Pick<Store, 'list'>,
  { owner, index }: { owner: string; index: string },
): Promise<string[]> {
  const page = { descending: false, limit: SHOWN_MAX };
  const rows = await Promise.all(ALL_PARTITIONS.map((partition) => store.list({ owner, partition }, index, page)));
  return rows.flat().map(({ member }) => member);
}
