import { BUCKETS, type Bucket, type Retention } from './workspaces.js';

/**
 * Rules of retention: which content is over age, and how removals are counted (docs/areas.md, "The retention sweep").
 * Times are milliseconds since 1970.
 */
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** The due lists of retention, and the bucket that each counts in. */
export const DUE_LISTS = {
  audio: 'audio',
  signals: 'transcripts',
  transcripts: 'transcripts',
  voices: 'voice',
  insights: 'insights',
} as const satisfies Record<string, Bucket>;
export type DueList = keyof typeof DUE_LISTS;

/** The due list of an account and workspace: entities with such records, by the clock of their oldest record. */
export function dueIndex(list: DueList, workspace_id: string): string {
  return `due:${list}:${workspace_id}`;
}

/**
 * Of each swept bucket, records whose clock is before this time are removed. Null: all are, since the bucket is not
 * kept.
 */
export type Cutoffs = Partial<Record<Bucket, number | null>>;

/** The number of removed records in each bucket. */
export type Counts = Partial<Record<Bucket, number>>;

/** Buckets that are kept for ever are left out. */
export function cutoffsOf(retention: Retention, certain_ms: number): Cutoffs {
  const swept = BUCKETS.flatMap((bucket): [Bucket, number | null][] => {
    const { days } = retention[bucket];
    if (days === null) return [];
    return [[bucket, days === 0 ? null : certain_ms - days * DAY_MS]];
  });
  return Object.fromEntries(swept);
}

export function isBefore(clock_ms: number, before_ms: number | null): boolean {
  return before_ms === null || clock_ms < before_ms;
}

/** Sent to an entity on a due list until it answers that nothing is left. */
export type Expire = {
  sweep_id: string;
  /** Records whose clock is before this are removed; null: all of them. */
  before_ms: number | null;
  /** The entity that the removing commit notifies of the count (`Swept`). */
  library_id: string;
};

/** `left`: more is to be removed. */
export type Expired = { removed: number; left: boolean };

/** To the library, in the commit that removed these records. */
export type Swept = { type: 'swept'; sweep_id: string; bucket: Bucket; count: number };

/** The sums of two counts; a bucket without removals is absent. */
export function addCounts(counts: Counts, more: Counts): Counts {
  const sums = BUCKETS.flatMap((bucket): [Bucket, number][] => {
    const sum = (counts[bucket] ?? 0) + (more[bucket] ?? 0);
    return sum === 0 ? [] : [[bucket, sum]];
  });
  return Object.fromEntries(sums);
}

/** The data of `workspace.retention_applied`: the buckets of which something was removed. Rule I-019. */
export function retentionApplied(cutoffs: Cutoffs, counts: Counts) {
  const changed_fields = BUCKETS.filter((bucket) => (counts[bucket] ?? 0) > 0);
  const buckets = changed_fields.map((bucket) => {
    const cutoff_ms = cutoffs[bucket] ?? null;
    const cutoff = cutoff_ms === null ? null : new Date(cutoff_ms).toISOString();
    return [bucket, { cutoff, count: counts[bucket] ?? 0 }];
  });
  return { changed_fields, buckets: Object.fromEntries(buckets) };
}

/**
 * When a workspace is swept next. Each workspace has its own moment of every hour, so that they are not swept all at
 * once.
 */
export function nextSweepAt(workspace_id: string, now_ms: number): number {
  const own_ms = Number.parseInt(workspace_id.slice(14, 18) + workspace_id.slice(19, 23), 16) % HOUR_MS;
  const this_hour_ms = now_ms - (now_ms % HOUR_MS) + own_ms;
  return this_hour_ms > now_ms ? this_hour_ms : this_hour_ms + HOUR_MS;
}
