import type { Logger } from 'pino';
import type { Account } from '../../../actors/accounts/account_state.js';
import { appSessionIndex } from '../../../actors/accounts/app_session.js';
import type { ErasureJob } from '../../../actors/actor.js';
import { BINDINGS } from '../../../actors/devices/binding.js';
import type { Erase } from '../../../actors/erase.js';
import { LIBRARIES } from '../../../actors/insights/library.js';
import { browserSessionIndex } from '../../../actors/oauth/browser_session.js';
import { grantIndex } from '../../../actors/oauth/grant.js';
import { DELETED_SOURCES, SOURCES } from '../../../actors/recordings/source.js';
import { DELETED_STREAMS, STREAMS } from '../../../actors/recordings/stream.js';
import { ENDPOINTS } from '../../../actors/webhooks/endpoint_state.js';
import { SWEEPS } from '../../../actors/workspaces/sweep.js';
import { partitionOfId, pipelineOutputId } from '../../domain/ids.js';
import { orNull, unreachable } from '../../domain/refusals.js';
import { ACCOUNT_FOLDERS, accountFolder, audioKey, streamFolder } from '../../engine/blobs/blob_keys.js';
import type { BlobStore } from '../../engine/blobs/blob_store.js';
import type { ClusterView } from '../../engine/cluster/cluster_processes.js';
import type { DueMember, DueMembersDeps } from '../../engine/jobs/due_members.js';
import { ALL_PARTITIONS } from '../../engine/jobs/due_poll.js';
import type { DueWorker } from '../../engine/jobs/due_worker.js';
import { type LeasedMember, queueWorker } from '../../engine/jobs/leases.js';
import type { Actors } from '../../engine/runtime/actors.js';
import { decodeStored } from '../../engine/store/codec.js';
import { isRetryable } from '../../engine/store/store.js';

const QUEUE = 'jobs';
const EVERY_MS = 5_000;
/** Another process takes the work over after this time. Both may work at once without harm. */
const LEASE_MS = 120_000;
/** The number of jobs that are done between two rewrites of the disk. */
const ROUND_MAX = 1_000;
/** The number of entities of one list between two records of progress. */
const STEP_MAX = 20;
/**
 * The worker rests after each entity for this multiple of the time that the entity took, to leave room for other work.
 */
const REST_FACTOR = 2;

type ErasureWorkerDeps = DueMembersDeps & {
  actors: Actors;
  blobs: BlobStore;
  members: ClusterView;
  log: Pick<Logger, 'info' | 'error'>;
  /** Removes from Redis's files what Redis has deleted in memory; false if it was stopped first. */
  rewriteDisk: (stopped: () => boolean) => Promise<boolean>;
  /** Goes on with the deletion of a part of a recording. */
  deletePart: (job: Extract<ErasureJob, { job: 'delete_part' }>) => Promise<void>;
};

/** An erasure that is in progress, for operators. */
export type ErasureView = { account_id: string; began_at: string; removed: Record<string, number>; in_hand: boolean };

/**
 * Erases the data of erased accounts, deleted streams and the streams of deleted workspaces, in small steps that may be
 * repeated: an interrupted erasure continues from the lists. No request waits for it, so it is slow.
 */
export class ErasureWorker {
  readonly worker: DueWorker;
  readonly #deps: ErasureWorkerDeps;
  readonly #in_hand = new Set<string>();
  /** Jobs that are done except for their traces on the disk, by name. */
  #erased = new Map<string, DueMember>();

  constructor(deps: ErasureWorkerDeps) {
    this.#deps = deps;
    const work = {
      ...({ queue: QUEUE, every_ms: EVERY_MS, at_once: 1, round_max: ROUND_MAX, lease_ms: LEASE_MS } as const),
      complaint: 'an erasure was interrupted; it continues later',
      onIdle: () => this.#removeErased(),
    };
    this.worker = queueWorker<ErasureJob>(deps, work, (job) => this.#do(job));
  }

  /** All erasures in progress, in all processes. */
  async list(): Promise<ErasureView[]> {
    const { store } = this.#deps;
    // All at once: one after the other they would take 256 times as long as Redis takes for an answer.
    const jobs = await Promise.all(ALL_PARTITIONS.map((partition) => store.listQueued({ partition, queue: QUEUE })));
    const found: ErasureView[] = [];
    for (const job of jobs.flat()) {
      const { job: what, account_id } = decodeStored(job.content) as ErasureJob;
      if (what !== 'erase_account') continue;
      const account = await this.#account(account_id);
      if (account?.phase.status !== 'erasing') continue;
      const { began_at_ms, removed } = account.phase;
      const began_at = new Date(began_at_ms).toISOString();
      found.push({ account_id, began_at, removed, in_hand: this.#in_hand.has(job.id) });
    }
    return found;
  }

  /** Removes jobs whose traces are gone from the disk as well: one rewrite serves all of them. Never rejects. */
  async #removeErased(): Promise<void> {
    const { store, log, rewriteDisk } = this.#deps;
    const erased = this.#erased;
    if (erased.size === 0) return;
    this.#erased = new Map();
    try {
      if (!(await rewriteDisk(() => this.worker.is_stopping))) return;
      for (const { partition, name } of erased.values()) await store.removeQueued({ partition, queue: QUEUE }, name);
      log.info({ jobs: erased.size }, 'what accounts and workspaces left behind was erased');
    } catch (error) {
      if (!isRetryable(error)) log.error({ err: error }, 'erasures could not be brought to an end yet');
    }
  }

  /** False if it was cut off: the job returns when its lease ends. */
  async #do(job: LeasedMember<ErasureJob>): Promise<'kept' | false> {
    const { name } = job;
    this.#in_hand.add(name);
    try {
      if (!(await this.#eraseAllOf(job.content))) return false;
      this.#erased.set(name, job);
      return 'kept';
    } finally {
      this.#in_hand.delete(name);
    }
  }

  /** False if it was cut off by the end of this process. */
  async #eraseAllOf(job: ErasureJob): Promise<boolean> {
    switch (job.job) {
      case 'erase_account':
        return this.#erase(job.account_id);
      case 'erase_stream':
        await this.#eraseStream(job);
        return true;
      case 'delete_part':
        await this.#deps.deletePart(job);
        return true;
      case 'forget_voices':
        return this.#repeat(() => this.#deps.actors.contacts(job.account_id).forget_voices(job));
      default:
        return unreachable(job);
    }
  }

  /** False if it was cut off by the end of this process. */
  async #erase(account_id: string): Promise<boolean> {
    const state = await this.#account(account_id);
    // Erased already, and perhaps begun afresh since: only the disk was still to be seen to.
    if (state?.phase.status !== 'erasing') return true;
    const { epochs } = state;
    const account = this.#deps.actors.downstream.account(account_id);
    await this.#repeat(() => account.erase_devices());
    await this.#repeat(() => this.#deps.actors.contacts(account_id).erase());
    await this.#repeat(() => this.#deps.actors.context(account_id).erase());
    await this.#eraseBeside(account_id);
    await this.#eraseList(account_id, { list: ENDPOINTS, kind: 'endpoint' });
    await this.#eraseList(account_id, { list: SWEEPS, kind: 'sweep' });
    await this.#eraseList(account_id, { list: STREAMS, kind: 'stream' });
    await this.#eraseList(account_id, { list: DELETED_STREAMS, kind: 'stream' });
    await this.#eraseList(account_id, { list: LIBRARIES, kind: 'library' });
    await this.#eraseList(account_id, { list: SOURCES, kind: 'source' });
    await this.#eraseList(account_id, { list: DELETED_SOURCES, kind: 'source' });
    await this.#eraseList(account_id, { list: BINDINGS, kind: 'binding' });
    for (let epoch = 0; epoch < epochs.app_sessions; epoch++)
      await this.#eraseList(account_id, { list: appSessionIndex(epoch), kind: 'appSession' });
    for (let epoch = 0; epoch < epochs.grants; epoch++) {
      await this.#eraseList(account_id, { list: grantIndex(epoch), kind: 'grant' });
      await this.#eraseList(account_id, { list: browserSessionIndex(epoch), kind: 'browserSession' });
    }
    if (this.worker.is_stopping) return false;
    await account.erased();
    return true;
  }

  /** Files, archives, imports and what is known of omi: first what says that they are there, so that nobody goes on with them. */
  async #eraseBeside(account_id: string): Promise<void> {
    const { actors, blobs } = this.#deps;
    await this.#repeat(() => actors.files(account_id).erase());
    await this.#repeat(() => actors.exports(account_id).erase());
    await this.#repeat(() => actors.imports(account_id).erase());
    await this.#repeat(() => actors.omi(account_id).erase());
    for (const of of ACCOUNT_FOLDERS) await blobs.removeFolder(accountFolder(of, account_id));
  }

  /** Asks until nothing is left; false if it was cut off by the end of this process. */
  async #repeat(ask: () => Promise<{ left: boolean }>): Promise<boolean> {
    while (!this.worker.is_stopping) {
      const began = performance.now();
      if (!(await ask()).left) return true;
      await rest((performance.now() - began) * REST_FACTOR);
    }
    return false;
  }

  /** Ends all entities on a list; each leaves the list as it ends, so the list's head is always what is left. */
  async #eraseList(account_id: string, { list, kind }: { list: string; kind: ListedKind }): Promise<void> {
    const { actors, store } = this.#deps;
    const place = { owner: account_id, partition: partitionOfId(account_id) };
    while (!this.worker.is_stopping) {
      const members = await store.list(place, list, { descending: false, limit: STEP_MAX });
      if (members.length === 0) return;
      for (const { member } of members) {
        const began = performance.now();
        await this.#eraseOne(kind, member, { account_id, list });
        await rest((performance.now() - began) * REST_FACTOR);
      }
      await actors.downstream.account(account_id).erasure_progress({ removed: { [kind]: members.length } });
    }
  }

  async #eraseStream({ stream_id, account_id }: Extract<ErasureJob, { job: 'erase_stream' }>): Promise<void> {
    const began = performance.now();
    await this.#eraseOne('stream', stream_id, { account_id, list: STREAMS });
    await rest((performance.now() - began) * REST_FACTOR);
  }

  async #eraseOne(kind: ListedKind, id: string, erase: Erase): Promise<void> {
    const { blobs, actors } = this.#deps;
    // The bytes first: once the stream is gone nobody would know of them.
    if (kind === 'stream') {
      await blobs.removeFolder(streamFolder(id));
      await this.#eraseAppended(id);
      await actors.signals(id).erase();
      await this.#eraseTranscripts(id);
    }
    await actors[kind](id).erase(erase);
  }

  /** Erases the bytes of a stream's chunks that lie beside those of others. */
  async #eraseAppended(stream_id: string): Promise<void> {
    const { actors, blobs } = this.#deps;
    for (let after: { order: number; id: string } | undefined; ; ) {
      const { chunks } = await actors.stream(stream_id).chunks_to_erase({ range: { after, limit: STEP_MAX } });
      const began = performance.now();
      await blobs.remove(
        chunks.flatMap((chunk) =>
          chunk.place === null ? [] : [audioKey(stream_id, { ...chunk, place: chunk.place })],
        ),
      );
      const last = chunks.at(-1);
      if (last === undefined || chunks.length < STEP_MAX) return;
      after = { order: last.order, id: last.member };
      await rest((performance.now() - began) * REST_FACTOR);
    }
  }

  /** Erases a stream's transcripts: those of other pipelines first, since the stream's own lists them. */
  async #eraseTranscripts(stream_id: string): Promise<void> {
    const { actors } = this.#deps;
    const transcript = await orNull(actors.transcript(stream_id).view(), 'NOT_FOUND');
    const outputs = transcript?.pipeline_outputs ?? [];
    for (const number of outputs)
      await this.#erasePipelineOutput({ stream_id, id: pipelineOutputId(stream_id, number) });
    await actors.transcript(stream_id).erase();
  }

  async #erasePipelineOutput({ stream_id, id }: { stream_id: string; id: string }): Promise<void> {
    const transcript = this.#deps.actors.transcript(id);
    const found = await orNull(transcript.view(), 'NOT_FOUND');
    if (found?.pipeline_output?.stream_id === stream_id) await transcript.erase();
  }

  async #account(account_id: string): Promise<Account | null> {
    return orNull(this.#deps.actors.account(account_id).view(), 'UNAUTHORIZED');
  }
}

/** The kinds that an account has an index of; each entity in it can be erased. */
type ListedKind =
  | 'endpoint'
  | 'stream'
  | 'sweep'
  | 'library'
  | 'source'
  | 'binding'
  | 'appSession'
  | 'grant'
  | 'browserSession';

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
