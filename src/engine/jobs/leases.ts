import { setTimeout as wait } from 'node:timers/promises';
import type { ClusterView } from '../cluster/cluster_processes.js';
import { decodeStored } from '../store/codec.js';
import { isRetryable, type QueueName } from '../store/store.js';
import type { DueMember, DueMembersDeps } from './due_members.js';
import { type DueWork, DueWorker } from './due_worker.js';

const PROLONG_EVERY_MS = 10_000;
const PUBLISH_TRIES_MAX = 10;
const PUBLISH_PAUSE_MS = 1_000;

export const LEASE_MS = 30_000;

/** Extends a lease now and then while the work continues. */
export async function prolonging<T>(prolong: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  // A lease that is lost shows when the result is published.
  const timer = setInterval(() => void prolong().catch(() => {}), PROLONG_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Publishes a result; while storage is away, tries several times. */
export async function persisting<T>(publish: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await publish();
    } catch (error) {
      if (!isRetryable(error) || tries === PUBLISH_TRIES_MAX || signal.aborted) throw error;
    }
    await wait(PUBLISH_PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}

type QueueWork = Omit<DueWork, 'queue' | 'find'> & {
  queue: QueueName;
  /** A leased member that is not removed is due again after this time, here or elsewhere. */
  lease_ms: number;
};

/** A leased item of a queue. `content`: as it was put there. */
export type LeasedMember<Content> = DueMember & { content: Content };

/**
 * A worker of a queue of the store: leases each member, and removes it when the function returns 'done'. If it returns
 * anything else or throws, the lease ends.
 */
export function queueWorker<Content>(
  deps: DueMembersDeps & { members: Pick<ClusterView, 'id'> },
  work: QueueWork,
  workOn: (leased: LeasedMember<Content>, signal: AbortSignal) => Promise<'done' | 'kept' | false>,
): DueWorker {
  const { store, members, now } = deps;
  return DueWorker.of(deps, work, async (member, signal) => {
    const place = { partition: member.partition, queue: work.queue };
    const now_ms = now();
    const lease = { now_ms, again_ms: now_ms + work.lease_ms, holder: members.id };
    const content = await store.lease(place, member.name, lease);
    if (content === null) return false;
    const ended = await workOn({ ...member, content: decodeStored(content) as Content }, signal);
    if (ended === 'done') await store.removeQueued(place, member.name);
    return ended;
  });
}
