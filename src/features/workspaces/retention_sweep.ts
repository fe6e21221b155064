import type { SweepJob } from '../../../actors/actor.js';
import type { Library, LibrarySweep } from '../../../actors/insights/library_state.js';
import { isPipelineOutputId, ownerOfPrivateWorkspace, partitionOfId } from '../../domain/ids.js';
import type { Interval } from '../../domain/intervals.js';
import { isRefused, orNull, type Refused, unreachable } from '../../domain/refusals.js';
import { DUE_LISTS, type DueList, dueIndex, type Expire, type Expired } from '../../domain/retention.js';
import { audioKey, waveformKey } from '../../engine/blobs/blob_keys.js';
import type { BlobStore } from '../../engine/blobs/blob_store.js';
import type { ClusterView } from '../../engine/cluster/cluster_processes.js';
import type { DueMembersDeps } from '../../engine/jobs/due_members.js';
import type { DueWorker } from '../../engine/jobs/due_worker.js';
import { type LeasedMember, queueWorker } from '../../engine/jobs/leases.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import type { Actors } from '../../engine/runtime/actors.js';
import { CLOSED, EPOCH_ENDED } from '../../engine/runtime/runtime_refusals.js';
import { type Fence, isRetryable } from '../../engine/store/store.js';

const EVERY_MS = 15_000;
/** Another process takes the work over after this time. Both may work at once without harm. */
const LEASE_MS = 120_000;
/** A failure that was not repeated within this time was mended by another process. */
const FAILING_FORGOTTEN_MS = 5 * LEASE_MS;
/** The number of members that are read from a due list at a time. */
const STEP_MAX = 100;
/** Chunks or signals that one commit removes: more would delay other commits for longer. */
const RECORDS_MAX = 64;
/**
 * The sweep rests after each commit for this multiple of the time that the commit took, to leave room for other work.
 */
const REST_FACTOR = 2.5;

type RetentionSweepDeps = DueMembersDeps & {
  actors: Actors;
  blobs: BlobStore;
  members: ClusterView;
  metrics: Metrics;
  /** The ranges of a stream whose transcript is awaited; null if no pipeline makes one. */
  awaited: (stream_id: string) => Promise<Interval[] | null>;
};

/** The part of a sweep for one account in one workspace, and the conditions of every removal. */
type SweepPart = { library_id: string; place: Library; sweep: LibrarySweep; fences: Fence[] };

/**
 * Removes data past the retention of its workspace, for the libraries whose part in a sweep has begun: walks their due
 * lists and asks each entity there to remove what its cutoff says, some records a commit. An interrupted sweep
 * continues from the lists.
 */
export class RetentionSweep {
  readonly worker: DueWorker;
  readonly #deps: RetentionSweepDeps;
  /** Jobs that failed here, each with the time of its first and last failure. */
  readonly #failing = new Map<string, { since_ms: number; last_ms: number }>();

  constructor(deps: RetentionSweepDeps) {
    this.#deps = deps;
    const work = {
      ...({ queue: 'sweeps', every_ms: EVERY_MS, at_once: 1, lease_ms: LEASE_MS } as const),
      complaint: 'a retention sweep was interrupted; it goes on later',
    };
    this.worker = queueWorker<SweepJob>(deps, work, (job) => this.#do(job));
  }

  /** For how long a part of a sweep has kept failing here; 0 if none does. */
  get failing_ms(): number {
    const now_ms = this.#deps.now();
    for (const [id, { last_ms }] of this.#failing)
      if (now_ms >= last_ms + FAILING_FORGOTTEN_MS) this.#failing.delete(id);
    return Math.max(0, ...[...this.#failing.values()].map(({ since_ms }) => now_ms - since_ms));
  }

  /** False if it was cut off, or has to wait: the job returns when its lease ends. */
  async #do({ name, content }: LeasedMember<SweepJob>): Promise<'done' | false> {
    try {
      if (!(await this.#sweep(content))) return false;
      this.#failing.delete(name);
      return 'done';
    } catch (error) {
      const now_ms = this.#deps.now();
      this.#failing.set(name, { since_ms: this.#failing.get(name)?.since_ms ?? now_ms, last_ms: now_ms });
      throw error;
    }
  }

  async #sweep({ library_id, sweep_id }: SweepJob): Promise<boolean> {
    const part = await this.#part(library_id, sweep_id);
    if (part === 'waits') return false;
    if (part === null) return true;
    for (const list of Object.keys(DUE_LISTS) as DueList[])
      if (DUE_LISTS[list] in part.sweep.cutoffs && !(await this.#walk(list, part))) return false;
    await this.#deps.actors.library(library_id).drain({ sweep_id });
    return true;
  }

  /** Null if there is nothing left to do. */
  async #part(library_id: string, sweep_id: string): Promise<SweepPart | 'waits' | null> {
    const { actors } = this.#deps;
    const place = await orNull(actors.library(library_id).view(), 'NOT_FOUND');
    const sweep = place?.sweep ?? null;
    if (place === null || sweep === null || sweep.sweep_id !== sweep_id || sweep.drained) return null;
    const fences: Fence[] = [{ fence: 'open', id: library_id }];
    if (ownerOfPrivateWorkspace(place.workspace_id) !== null) {
      // What lies with a deleted account stays until it is restored, or goes with it.
      const { account_id } = place;
      const account = await actors.account(account_id).view();
      if (account.phase.status !== 'active' && account.phase.status !== 'leaving') return 'waits';
      fences.push({ fence: 'epoch', account_id, epoch: 'account', value: account.epochs.account });
    }
    return { library_id, place, sweep, fences };
  }

  /** Walks a due list up to the cutoff; false if it was cut off. */
  async #walk(list: DueList, part: SweepPart): Promise<boolean> {
    const { store } = this.#deps;
    const { account_id, workspace_id } = part.place;
    const { cutoffs, began_at_ms } = part.sweep;
    const before_ms = cutoffs[DUE_LISTS[list]] ?? null;
    // What comes while the sweep is running is for the next one, or it might have no end.
    const bound_ms = before_ms ?? began_at_ms + 1;
    const owner = { owner: account_id, partition: partitionOfId(account_id) };
    let after: { order: number; member: string } | undefined;
    for (;;) {
      const rows = await store.list(owner, dueIndex(list, workspace_id), { after, descending: false, limit: STEP_MAX });
      for (const { member, order } of rows) {
        if (order >= bound_ms) return true;
        if ((await this.#expire(list, { member, before_ms, part })) === 'stopped') return false;
      }
      if (rows.length < STEP_MAX) return true;
      after = rows.at(-1);
    }
  }

  /** Asks one entity until it has nothing left to remove. An entity that cannot be asked does not stop the others. */
  async #expire(list: DueList, { member, before_ms, part }: ExpiryTarget): Promise<'asked' | 'stopped'> {
    const { library_id, place, sweep } = part;
    const expire = { sweep_id: sweep.sweep_id, before_ms, library_id };
    const fences: Fence[] = [...part.fences, { fence: 'open', id: member }];
    const steps = this.#steps(list, { member, workspace_id: place.workspace_id, expire, fences });
    for (let began = performance.now(); ; began = performance.now()) {
      if (this.worker.is_stopping) return 'stopped';
      try {
        const step = await steps.next();
        if (step.done === true) break;
        this.#deps.metrics.retention_removed.inc({ list }, step.value);
      } catch (error) {
        if (!isRefused(error)) throw error;
        if ((await this.#refusedBy(error, { list, member, part })) === 'stop') return 'stopped';
        break;
      }
      await rest((performance.now() - began) * REST_FACTOR);
    }
    return 'asked';
  }

  /** Removes what has expired of the entity: a commit each step, with the number of its records. */
  #steps(list: DueList, asked: Expiring): AsyncGenerator<number> {
    switch (list) {
      case 'audio':
        return this.#expireAudio(asked);
      case 'signals':
        return this.#expireSignals(asked);
      case 'transcripts':
        return this.#expireTurns(asked);
      case 'voices':
        return this.#expireVoices(asked);
      case 'insights':
        return this.#expireInsights(asked);
      default:
        return unreachable(list);
    }
  }

  async *#expireAudio({ member: stream_id, expire, fences }: Expiring): AsyncGenerator<number> {
    const { actors, awaited, blobs } = this.#deps;
    const stream = actors.stream(stream_id);
    const { before_ms } = expire;
    // What has a cutoff goes by that alone.
    const spared = before_ms === null ? await awaited(stream_id) : null;
    for (let after: { order: number; id: string } | null = null; ; ) {
      const page = await stream.due_audio({ before_ms, after, limit: RECORDS_MAX });
      const answer = await stream.expire_audio({ ...expire, numbers: page.due, spared }, fences);
      // Cut off here, they are due again.
      const drawn = answer.gone.length > 0 ? [waveformKey(stream_id)] : [];
      await blobs.remove([...answer.gone.map((chunk) => audioKey(stream_id, chunk)), ...drawn]);
      if (answer.gone.length > 0) await stream.audio_erased({ numbers: answer.gone.map(({ number }) => number) });
      yield answer.expired;
      if (page.next === null) return;
      after = page.next;
    }
  }

  async *#expireSignals({ member, expire, fences }: Expiring): AsyncGenerator<number> {
    const signals = this.#deps.actors.signals(member);
    for (let left = true; left; ) {
      const due = await signals.due_signals({ before_ms: expire.before_ms, limit: RECORDS_MAX });
      if (due.batches.length === 0) return;
      const answer = await signals.expire({ ...expire, batches: due.batches }, fences);
      yield answer.removed;
      left = answer.left;
    }
  }

  /** Expires turns. A pipeline output goes with its stream, whose fence must be open as well. */
  async *#expireTurns({ member, expire, fences }: Expiring): AsyncGenerator<number> {
    const transcript = this.#deps.actors.transcript(member);
    const held: Fence[] = [...fences];
    if (isPipelineOutputId(member)) {
      const found = await transcript.view();
      if (found.pipeline_output !== null) held.push({ fence: 'open', id: found.pipeline_output.stream_id });
    }
    yield* untilNothingIsLeft(() => transcript.expire(expire, held));
  }

  #expireVoices({ member, expire, fences, workspace_id }: Expiring): AsyncGenerator<number> {
    const contacts = this.#deps.actors.contacts(member);
    return untilNothingIsLeft(() => contacts.expire_voices({ ...expire, workspace_id }, fences));
  }

  /** A library is on its own list. */
  #expireInsights({ member, expire, fences }: Expiring): AsyncGenerator<number> {
    return untilNothingIsLeft(() => this.#deps.actors.library(member).expire(expire, fences));
  }

  /** Whether a refusal of one entity stops the sweep. */
  async #refusedBy(
    error: Refused,
    { list, member, part }: { list: DueList; member: string; part: SweepPart },
  ): Promise<'stop' | 'go on'> {
    const { refusal } = error;
    if (refusal.refused === 'NOT_FOUND') return 'go on';
    if (refusal === EPOCH_ENDED) return 'stop';
    if (refusal === CLOSED) {
      // The entity is going, or another process has brought this part to its end.
      const now = await this.#part(part.library_id, part.sweep.sweep_id);
      return now === null || now === 'waits' ? 'stop' : 'go on';
    }
    if (isRetryable(error)) throw error;
    this.#deps.log.error({ list, member, reason: refusal.message }, 'retention could not be applied to an entity');
    return 'go on';
  }
}

type ExpiryTarget = { member: string; before_ms: number | null; part: SweepPart };
type Expiring = { member: string; workspace_id: string; expire: Expire; fences: Fence[] };

async function* untilNothingIsLeft(ask: () => Promise<Expired>): AsyncGenerator<number> {
  for (let left = true; left; ) {
    const answer = await ask();
    yield answer.removed;
    left = answer.left;
  }
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
