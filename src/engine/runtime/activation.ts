import type { Ref } from 'nact';
import { type ActorKind, FURTHER_READS_MAX, type RecordQuery } from '../../../actors/actor.js';
import { backoffAfter } from '../../domain/backoff.js';
import { isId } from '../../domain/ids.js';
import {
  isRefusal,
  isRefused,
  type Refusal,
  Refused,
  refuse,
  UnknownVariant,
  unreachable,
} from '../../domain/refusals.js';
import { randomFraction } from '../random/random.js';
import { decodeStored, encodeStored } from '../store/codec.js';
import {
  type EntityVersion,
  NO_VERSION,
  type StoredVersion,
  versionAfter,
  versionIn,
} from '../store/entity_version.js';
import { eventIdIn } from '../store/event_body.js';
import {
  type Commit,
  type CommitVerdict,
  type EntityLocation,
  type Fence,
  type QueryResult,
  type StoredEffect,
  StoreUnavailable,
} from '../store/store.js';
import type { BatchRecord } from '../tracing/batch_record.js';
import {
  type BatchDecision,
  decideBatch,
  type Entity,
  furtherRequests,
  type Incoming,
  type MessageOutcome,
} from './batch.js';
import type { ActingEntity } from './entity_actors.js';
import type { MessageAnswer, WaitingMessage } from './mailbox.js';
import type { RuntimeDeps } from './runtime_deps.js';

const BATCH_MAX = 64;
const CONFLICT_TRIES_MAX = 12;
const CONFLICT_PAUSE_MS = 4;
const RESOLVE_TRIES_MAX = 4;
const RESOLVE_PAUSE = { first_ms: 100, max_ms: 400 };
const QUARANTINE_RETRY_MS = 30_000;
/** Records that this entity wrote last, kept so that the next message need not read them again. */
const RECORDS_KEPT_MAX = 64;
const NOTHING_WAITS: readonly WaitingMessage[] = [];
const ALREADY: MessageAnswer = { outcome: 'already', reply: null, downstream: null };
/** The remains of a message that was answered. */
const ANSWERED = { message: null, scope: undefined, resolve: () => {}, answer: ALREADY };
const NOTHING_DONE = { commit_ms: 0, event_ids: [] };
export const MAILBOX_MAX = 1_000;

/** The stored form of an entity: schema version, state, marks. */
type Snapshot = { k: number; s: unknown; m?: Record<string, number> };

export const SHUT = refuse('UNAVAILABLE', 'The server is shutting down.', { retry_after_s: 2 });
const FULL = refuse('UNAVAILABLE', 'Too much is waiting for this entity.', { retry_after_s: 1 });
const AWAY = refuse('UNAVAILABLE', 'Storage is not available at the moment.', { retry_after_s: 2 });
const CONTENDED = refuse('UNAVAILABLE', 'This entity is being changed from too many sides.', { retry_after_s: 1 });
const NEWER = refuse('UNAVAILABLE', 'A newer server has to answer this; try again.', { retry_after_s: 2 });
/** State that a newer process wrote is not asked for again before this. */
const NEWER_RETRY_MS = 1_000;
const QUARANTINED = refuse('INTERNAL', 'This entity is out of service.');
const BUG = refuse('INTERNAL', 'Something went wrong on our side.');
/** The commit came too late for the credential that it was made for. */
export const EPOCH_ENDED = refuse('UNAUTHORIZED', 'The credential has ended.');

/** The refusal where a fence has been closed since the sender read it; another read says what that means. */
export const CLOSED = refuse('UNAVAILABLE', 'Something changed in between; try again.', { retry_after_s: 1 });

/** Whether a fence did not hold: a credential has ended, or something that must be open is deleted. */
export function isFenceBroken(error: unknown): boolean {
  return isRefused(error) && (error.refusal === CLOSED || error.refusal === EPOCH_ENDED);
}

/** For `catch`: throws this refusal where a fence of `open` did not hold. */
export function closedAs(refusal: Refusal): (error: unknown) => never {
  return (error) => {
    throw isClosed(error) ? new Refused(refusal) : error;
  };
}

/** Whether a fence of `open` did not hold: what it names is deleted, or being deleted. */
export function isClosed(error: unknown): boolean {
  return isRefused(error) && error.refusal === CLOSED;
}

/** The stored state of the entity can't be used. */
class Unusable extends Error {
  override name = 'Unusable';
}

/** One entity in memory: a bounded mailbox, and batches that it decides and saves with one commit. */
export class Activation implements ActingEntity<WaitingMessage> {
  readonly place: EntityLocation;
  readonly kind: ActorKind;
  /** Distinguishes it from others of this process, also from an earlier one of the same address. */
  readonly number: number;
  readonly #parts: RuntimeDeps;
  #queue: WaitingMessage[] = [];
  /** Messages of the present batch. */
  #batch: readonly WaitingMessage[] = NOTHING_WAITS;
  #busy = false;
  #actor: Ref<WaitingMessage> | null = null;
  /** Since when nothing was delivered to its actor, by the monotonic clock. */
  #idle_since = 0;
  /** Reads that wait for storage to say whether memory is current. */
  #confirming = 0;
  #entity: Entity | null = null;
  #fence: StoredVersion = NO_VERSION;
  /** The cache epoch in which memory was last held against storage. */
  #seen_epoch = -1;
  /** The newest version that was told in a cache epoch; in the next one storage may hold an older one. */
  #told: { epoch: number; version: number } | null = null;
  /** Records as of the present fence, by collection and id; null for one that was dropped. */
  #records: Map<string, Uint8Array | null> | null = null;
  quarantined: { reason: string; since_ms: number } | null = null;
  #newer_until = 0;
  last_used = 0;
  /** Its neighbours in the order of use; ActiveEntities sets them. */
  used_before: Activation | null = null;
  used_after: Activation | null = null;
  batches = 0;
  batch_ms_total = 0;
  /** The record of the present batch so far, for observers. */
  #done: Pick<BatchRecord, 'commit_ms' | 'event_ids'> = NOTHING_DONE;

  constructor(place: EntityLocation, kind: ActorKind, parts: RuntimeDeps, number: number) {
    this.place = place;
    this.kind = kind;
    this.number = number;
    this.#parts = parts;
  }

  get waiting(): number {
    return this.#queue.length + this.#confirming;
  }
  /** When the message came that waits for longest, by the monotonic clock; null when none does. */
  get oldest_at(): number | null {
    return this.#queue[0]?.enqueued_at ?? null;
  }
  get version(): number {
    return this.#fence.version;
  }
  /** Nothing waits and nothing runs: it may be put to rest. */
  get idle(): boolean {
    return !this.#busy && this.waiting === 0;
  }

  enqueue(incoming: Incoming, resolve: (answer: MessageAnswer) => void): void {
    if (this.waiting >= MAILBOX_MAX) {
      this.#parts.metrics.refused.inc({ kind: this.kind.kind, reason: 'mailbox_full' });
      resolve(refused(FULL));
    } else if (this.isRead(incoming) && this.#isHeld() && !this.#isTrusted()) {
      void this.#readConfirmed(incoming, resolve);
    } else {
      this.#push(incoming, resolve);
    }
  }

  #push({ message, source, scope }: Incoming, resolve: (answer: MessageAnswer) => void): void {
    const waiting = { entity: this, message, source, scope, resolve, enqueued_at: performance.now(), answer: null };
    this.#queue.push(waiting);
    if (this.#busy) return;
    this.#busy = true;
    this.#deliver(waiting);
  }

  /** Gives its actor the message at the head of the mailbox. */
  #deliver(first: WaitingMessage): void {
    const { actors } = this.#parts;
    if (!actors.isReached(performance.now() - this.#idle_since)) this.stop();
    this.#actor ??= actors.spawn(this);
    actors.deliver(this.#actor, first);
  }

  /** Stops its actor; the next message gets another. */
  stop(): void {
    if (this.#actor !== null) this.#parts.actors.stop(this.#actor);
    this.#actor = null;
  }

  /** Its actor was idle for long. */
  stopped(actor: Ref<WaitingMessage>): void {
    if (actor === this.#actor) this.#actor = null;
  }

  /** A batch rejected: it is taken out of service, and what waits is refused. */
  crashed(error: unknown): void {
    this.#quarantine(error instanceof Error ? error.message : String(error));
    this.#answerAll(this.#batch, QUARANTINED);
    this.#next();
  }

  #quarantine(reason: string): void {
    const { metrics, log, now } = this.#parts;
    this.#drop();
    if (this.quarantined === null) metrics.quarantined.inc({ kind: this.kind.kind });
    this.quarantined = { reason, since_ms: now() };
    log.error({ kind: this.kind.kind, id: this.place.address.id, reason }, 'entity quarantined');
  }

  /** Starts the next batch, where something waits. */
  #next(): void {
    this.#batch = NOTHING_WAITS;
    const [first] = this.#queue;
    if (first !== undefined) {
      this.#deliver(first);
      return;
    }
    this.#busy = false;
    this.#idle_since = performance.now();
  }

  /**
   * The answer to a read, at once, where memory is trusted and holds all that the message asks for: what is committed. A
   * batch that is under way has not been answered, so nobody can know of more. Null where it takes a batch.
   */
  readNow(incoming: Incoming): MessageAnswer | null {
    return this.isRead(incoming) && this.#isReady() ? this.#readKept(incoming) : null;
  }

  isRead({ message, source }: Incoming): boolean {
    return source.from === 'ask' && this.kind.reads.has((message as { type?: string }).type ?? '');
  }

  #readKept(incoming: Incoming): MessageAnswer | null {
    const { kind, place } = this;
    const entity = this.#entity as Entity;
    try {
      const rows = this.#keptRows(kind.records(incoming.message, entity.state));
      if (rows === null) return null;
      if (this.#keptFurther(incoming.message, rows) === null) return null;
      const times = { now_ms: this.#parts.now(), certain_ms: this.#parts.certain() };
      const decided = decideBatch({ kind, place, entity, batch: [incoming], rows, ...times, commit_id: '' });
      const [outcome] = decided.outcomes;
      if (decided.changed || outcome?.outcome !== 'decided') return null;
      this.batches += 1;
      return { outcome: 'decided', reply: outcome.reply, downstream: null };
    } catch {
      return null; // a batch meets the same fault and deals with it
    }
  }

  /**
   * Answers a read without a batch where others write too: from memory, when storage says that it is current. It was
   * asked after the read came, so nothing is answered that was over by then.
   */
  async #readConfirmed(incoming: Incoming, resolve: (answer: MessageAnswer) => void): Promise<void> {
    this.#confirming += 1;
    let answer: MessageAnswer | null = null;
    try {
      if ((await this.#isCurrent()) && this.#isHeld()) answer = this.#readKept(incoming);
      else if (!this.#busy) this.#drop();
    } catch (error) {
      if (error instanceof StoreUnavailable) answer = refused(AWAY);
    }
    this.#confirming -= 1;
    if (answer === null) this.#push(incoming, resolve);
    else resolve(answer);
  }

  /** Forgets why it was quarantined, so that the next message tries again. */
  releaseQuarantine(): void {
    if (this.quarantined === null) return;
    this.quarantined = null;
    this.#parts.metrics.quarantined.dec({ kind: this.kind.kind });
  }

  /** Takes the message that its actor was given and what waits behind it, up to a batch, and answers them. */
  async receive(): Promise<void> {
    const began = performance.now();
    const batch = this.#queue.splice(0, this.kind.batch_max ?? BATCH_MAX);
    this.#batch = batch;
    const { metrics } = this.#parts;
    const labels = { kind: this.kind.kind };
    metrics.mailbox_depth.observe(labels, batch.length + this.#queue.length);
    const oldest = batch[0];
    const waited_ms = oldest === undefined ? 0 : began - oldest.enqueued_at;
    if (oldest !== undefined) metrics.mailbox_age.observe(labels, waited_ms / 1000);
    await this.#attempt(batch);
    const took_ms = performance.now() - began;
    this.batches += 1;
    this.batch_ms_total += took_ms;
    metrics.batch.observe(labels, took_ms / 1000);
    this.#parts.onTurn?.(this.#noteOf(batch, { waited_ms, took_ms }));
    for (const { message, answer } of batch) {
      if (answer === null) continue; // it goes with the next batch
      const { number: entity, version } = this;
      this.#parts.recent.note({ entity, message, outcome: outcomeOf(answer), at: began, took_ms, version });
    }
    // nact keeps the last message of an actor; an idle entity would keep all that came with it.
    if (oldest !== undefined && oldest.answer !== null) Object.assign(oldest, ANSWERED);
    this.#next();
  }

  #noteCommit(began: number, { effects }: BatchDecision): void {
    const commit_ms = this.#done.commit_ms + performance.now() - began;
    const events = effects.flatMap((one) => (one.effect === 'append_event' ? [eventIdIn(one)] : []));
    this.#done = { commit_ms, event_ids: [...this.#done.event_ids, ...events] };
  }

  #noteOf(batch: WaitingMessage[], times: { waited_ms: number; took_ms: number }): BatchRecord {
    const messages = batch.map(({ message, scope }) => ({
      type: (message as { type?: string } | null)?.type ?? 'unnamed',
      scope,
    }));
    const { commit_ms, event_ids } = this.#done;
    this.#done = NOTHING_DONE;
    const { kind, id } = this.place.address;
    return { kind, id: isId(id) ? id : null, messages, ...times, commit_ms, event_ids };
  }

  /** Decides a batch; a fault in it is narrowed down to the messages that bring it, so that only they suffer. */
  async #attempt(batch: WaitingMessage[]): Promise<'ok' | 'away'> {
    try {
      await this.#decide(batch);
    } catch (error) {
      if (error instanceof Unusable) throw error;
      this.#drop();
      const left = batch.filter((waiting) => waiting.answer === null && !this.#queue.includes(waiting));
      if (error instanceof StoreUnavailable) {
        this.#answerAll(left, AWAY);
        return 'away';
      }
      const [first] = left;
      if (first !== undefined && left.length === 1) {
        this.#answerThrown(first, error);
        return 'ok';
      }
      for (const [index, waiting] of left.entries()) {
        if ((await this.#attempt([waiting])) === 'ok') continue;
        this.#answerAll(left.slice(index + 1), AWAY);
        return 'away';
      }
    }
    return 'ok';
  }

  /** Decides and saves the batch; what did not fit goes back to the head of the mailbox. */
  async #decide(all: WaitingMessage[]): Promise<void> {
    let batch = all;
    let reads_all = false;
    for (let conflicts = 0; batch.length > 0; ) {
      // Where others write too, a commit proves what memory holds; an answer without one must be known to be current.
      const is_loaded = !this.#isHeld();
      if (is_loaded) {
        const quarantined = await this.#load();
        if (quarantined !== null) return this.#answerAll(batch, quarantined);
      }
      const entity = this.#entity as Entity;
      const { rows, all_kept, assumed } = await this.#read(batch, entity.state, { reads_all });
      const commit_id = this.#parts.nextCommitId();
      const now_ms = this.#parts.now();
      const { kind, place } = this;
      const certain_ms = this.#parts.certain();
      const decided = decideBatch({ kind, place, entity, batch, rows, now_ms, certain_ms, commit_id });
      if (decided.outcomes.length < batch.length) {
        this.#queue.unshift(...batch.slice(decided.outcomes.length));
        batch = batch.slice(0, decided.outcomes.length);
        if (batch.length === 0) throw new Error('a batch must decide something');
      }
      const is_unproved = assumed.length > 0 && !(decided.changed && decided.outcomes.every(isDecided));
      if (is_unproved) {
        reads_all = true;
        continue;
      }
      if (!decided.changed) {
        // No commit fences what is said here. Facts are read after the state: another process may have moved on in
        // between, and both together would then describe what never was (an intent not in `open` looks stored). A server
        // that is alone has that to fear from the one before it, whose last commit may come when it is dead already.
        const is_said = (is_loaded && rows.length === 0) || (all_kept && (await this.#isKnown()));
        if (is_said || (await this.#isCurrent())) return this.#answerOutcomes(batch, decided.outcomes, null);
        this.#drop();
        conflicts += 1;
        if (conflicts >= CONFLICT_TRIES_MAX) return this.#answerAll(batch, CONTENDED);
        continue;
      }
      const began = performance.now();
      const epoch = this.#parts.cacheEpoch();
      const verdict = await this.#commit(decided, { commit_id, now_ms, assumed });
      switch (verdict.verdict) {
        case 'applied':
        case 'repeated': {
          if (this.#parts.onTurn !== null) this.#noteCommit(began, decided);
          this.#entity = { ...decided.entity, schema: writtenSchema(this.kind, decided.entity) };
          this.#fence = versionAfter(this.#fence, commit_id);
          this.#seen_epoch = epoch; // if it has risen, others may have committed since
          this.#keepRecords(decided.effects);
          const downstream =
            decided.messages.length > 0 ? this.#parts.awaitDownstream(place.partition, decided.messages) : null;
          return this.#answerOutcomes(batch, decided.outcomes, downstream);
        }
        case 'fenced': {
          const owner = decided.fences[verdict.index];
          if (owner === undefined) {
            // One of the assumed records is there.
            reads_all = true;
            break;
          }
          const stopped = batch[owner.index] as WaitingMessage;
          answer(stopped, FENCED[owner.fence.fence as keyof typeof FENCED]);
          batch = batch.filter((waiting) => waiting !== stopped);
          break;
        }
        case 'conflict':
          this.#parts.metrics.conflicts.inc({ kind: kind.kind });
          if (verdict.version < this.#fence.version) this.#parts.onRegress(place, this.#fence.version, verdict.version);
          this.#drop();
          conflicts += 1;
          if (conflicts >= CONFLICT_TRIES_MAX) return this.#answerAll(batch, CONTENDED);
          if (conflicts > 1) await this.#parts.pause(CONFLICT_PAUSE_MS * conflicts * randomFraction());
          break;
      }
    }
  }

  /**
   * Reads what a batch needs: first what its messages name, then what they need because of that. Records that are
   * expected to be absent are assumed to be, unless all are to be read: the commit must prove it.
   */
  async #read(
    batch: WaitingMessage[],
    state: unknown,
    { reads_all }: { reads_all: boolean },
  ): Promise<{ rows: QueryResult[]; all_kept: boolean; assumed: Fence[] }> {
    const { kind, place } = this;
    const rows: QueryResult[] = [];
    const assumed: Fence[] = [];
    const known = new Set<string>();
    let all_kept = true;
    const requestsOf = (message: unknown) => kind.records(message, state);
    const furtherOf = (message: unknown) => furtherRequests(kind, { message, state }, rows);
    for (let step = 0; step <= FURTHER_READS_MAX; step++) {
      const wanted = wantedBy(batch, step === 0 ? requestsOf : furtherOf, known);
      if (wanted.length === 0 && step > 0) break;
      const requests: RecordQuery[] = [];
      for (const request of wanted) {
        if (reads_all || !isExpectedAbsent(request) || this.#records?.has(recordKey(request.collection, request.id))) {
          requests.push(request);
          continue;
        }
        assumed.push({ fence: 'absent', collection: request.collection, id: request.id });
        rows.push({ request, value: null, rows: [] });
      }
      const kept = this.#keptRows(requests);
      if (kept === null) all_kept = false;
      rows.push(...(kept ?? (await this.#parts.store.query(place, requests))));
    }
    return { rows, all_kept, assumed };
  }

  /** Adds what a message needs because of these rows; null where that is not all kept. */
  #keptFurther(message: unknown, rows: QueryResult[]): QueryResult[] | null {
    const { kind } = this;
    if (kind.further === undefined) return rows;
    const state = this.#entity?.state ?? null;
    const known = new Set(rows.map(({ request }) => requestKey(request)));
    for (let step = 0; step < FURTHER_READS_MAX; step++) {
      const more = furtherRequests(kind, { message, state }, rows).filter((one) => !known.has(requestKey(one)));
      if (more.length === 0) break;
      const kept = this.#keptRows(more);
      if (kept === null) return null;
      for (const one of more) known.add(requestKey(one));
      rows.push(...kept);
    }
    return rows;
  }

  /** Sends the commit until its outcome is known, a bounded number of times; the same commit applies once. */
  async #commit(
    decided: BatchDecision,
    { commit_id, now_ms, assumed }: { commit_id: string; now_ms: number; assumed: Fence[] },
  ): Promise<Exclude<CommitVerdict, { verdict: 'forgotten' }>> {
    const { metrics, store } = this.#parts;
    const snapshot = snapshotOf(this.kind, decided.entity);
    const { state } = decided.entity;
    const commit: Commit = {
      place: this.place,
      commit_id,
      expected: this.#fence,
      mode: state !== null ? 'put' : decided.deletes ? 'delete' : 'end',
      snapshot: encodeStored(snapshot),
      now_ms,
      fences: [...decided.fences.map(({ fence }) => fence), ...assumed],
      effects: decided.effects,
    };
    let doubtful = false; // an earlier try was sent, and may have been applied
    for (let tries = 1; ; tries++) {
      const began = performance.now();
      try {
        const verdict = await store.commit(commit);
        metrics.commit.observe((performance.now() - began) / 1000);
        metrics.commits.inc({ verdict: verdict.verdict });
        if (verdict.verdict === 'forgotten') {
          if (!doubtful) return { verdict: 'conflict', version: verdict.version };
          tries = RESOLVE_TRIES_MAX; // it will never be known
          throw new StoreUnavailable('storage: too many writers came since to know whether a commit was applied');
        }
        if (doubtful) metrics.unknown_outcomes.inc({ resolved: verdict.verdict });
        return verdict;
      } catch (error) {
        const sent = !(error instanceof StoreUnavailable) || error.sent;
        if (!doubtful && (!sent || !(error instanceof StoreUnavailable))) throw error; // nothing can have been applied
        doubtful = true;
        if (tries >= RESOLVE_TRIES_MAX) {
          metrics.unknown_outcomes.inc({ resolved: 'no' });
          throw error instanceof StoreUnavailable ? error : new StoreUnavailable(`storage: ${String(error)}`);
        }
        await this.#parts.pause(backoffAfter(tries, RESOLVE_PAUSE));
      }
    }
  }

  /** Memory holds the entity as it is stored. */
  #isReady(): boolean {
    return this.#isHeld() && this.#isTrusted();
  }

  /** The same, when all has been handled that others were told to have committed. */
  async #isKnown(): Promise<boolean> {
    const { told } = this.#parts;
    if (told !== null && !told.is_handled) await told.handled();
    return this.#isReady();
  }

  /** Memory holds the newest version that was seen or told, and nothing has happened to storage since. */
  #isHeld(): boolean {
    const is_seen = this.#seen_epoch === this.#parts.cacheEpoch();
    return this.#entity !== null && this.quarantined === null && is_seen && !this.#isBehind();
  }

  #isBehind(): boolean {
    const told = this.#told;
    return told !== null && told.version > this.#fence.version && told.epoch === this.#parts.cacheEpoch();
  }

  /** Some process has committed this version. */
  tell({ version, commit_id }: EntityVersion): void {
    if (version > this.#fence.version) {
      const epoch = this.#parts.cacheEpoch();
      if (this.#told?.epoch !== epoch || version > this.#told.version) this.#told = { epoch, version };
    } else if (commit_id !== this.#fence.commit_id && !this.#parts.isOwnCommit(commit_id)) {
      // It was loaded before this came, as a rule; or its header has expired and another process began it anew.
      this.#seen_epoch = -1;
    }
  }

  /** Brings memory up to storage where it must be; a refusal says why the entity can't be used. */
  async #load(): Promise<Refusal | null> {
    const { store, metrics } = this.#parts;
    if (this.quarantined !== null) {
      if (this.#parts.now() - this.quarantined.since_ms < QUARANTINE_RETRY_MS) return QUARANTINED;
      this.releaseQuarantine();
    }
    const generation = this.#parts.cacheEpoch();
    if (this.#isReady()) return null;
    if (this.#entity !== null && !this.#isBehind() && (await this.#isCurrent())) {
      this.#seen_epoch = generation;
      return null;
    }
    const began = performance.now();
    if (began < this.#newer_until) return NEWER;
    this.#records = null;
    try {
      const [stored] = await store.load([this.place]);
      metrics.load.observe({ kind: this.kind.kind }, (performance.now() - began) / 1000);
      this.#entity = stored ? readSnapshot(this.kind, stored.snapshot) : { state: null, marks: {} };
      this.#fence = stored ? versionIn(stored) : NO_VERSION;
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      if (error instanceof NewerSchema) {
        this.#newer_until = began + NEWER_RETRY_MS;
        this.#parts.onNewer(this.place, error.schema);
        this.#drop();
        return NEWER;
      }
      throw new Unusable(error instanceof Error ? error.message : String(error));
    }
    this.#seen_epoch = generation;
    return null;
  }

  /** Nobody else writes, or what others write is told. */
  #isTrusted(): boolean {
    const { trust_memory, told } = this.#parts;
    return trust_memory || told?.isTrusted(this.place.partition) === true;
  }

  /** The rows of these requests when all of them are kept; null when storage must be asked. */
  #keptRows(requests: RecordQuery[]): QueryResult[] | null {
    const rows: QueryResult[] = [];
    for (const request of requests) {
      const value = 'id' in request ? this.#records?.get(recordKey(request.collection, request.id)) : undefined;
      if (value === undefined) return null;
      rows.push({ request, value, rows: [] });
    }
    return rows;
  }

  /** Keeps what a commit has written: it is so as long as the fence is this commit's. */
  #keepRecords(effects: StoredEffect[]): void {
    for (const effect of effects) {
      if (effect.effect === 'delete_collection') {
        this.#records = null;
        return;
      }
      if (effect.effect !== 'put_record' && effect.effect !== 'delete_record') continue;
      const key = recordKey(effect.collection, effect.id);
      this.#records ??= new Map();
      this.#records.delete(key);
      this.#records.set(key, effect.effect === 'put_record' ? effect.value : null);
    }
    if (this.#records === null) return;
    for (const key of this.#records.keys()) {
      if (this.#records.size <= RECORDS_KEPT_MAX) break;
      this.#records.delete(key);
    }
  }

  /** Of an entity that nobody has asked for a while; what it needs again is read again. */
  forgetRecords(): void {
    this.#records = null;
  }

  /** Whether memory holds what storage held when it was asked, or what a batch has saved or loaded since. */
  async #isCurrent(): Promise<boolean> {
    const known = this.#fence;
    const stored = (await this.#parts.store.probe(this.place)) ?? NO_VERSION;
    const { version, commit_id } = this.#fence;
    if (stored.version < version) {
      if (this.#fence !== known) return true;
      this.#parts.onRegress(this.place, version, stored.version);
    }
    return stored.version === version && stored.commit_id === commit_id;
  }

  /** Forgets what is in memory; the next batch loads. */
  #drop(): void {
    this.#entity = null;
    this.#fence = NO_VERSION;
    this.#records = null;
  }

  #answerAll(batch: readonly WaitingMessage[], refusal: Refusal): void {
    for (const waiting of batch) answer(waiting, refused(refusal));
  }

  #answerOutcomes(batch: WaitingMessage[], outcomes: MessageOutcome[], downstream: Promise<void> | null): void {
    for (const [index, waiting] of batch.entries()) {
      const outcome = outcomes[index] as MessageOutcome;
      switch (outcome.outcome) {
        case 'decided':
          answer(waiting, { outcome: 'decided', reply: outcome.reply, downstream });
          break;
        case 'already':
          answer(waiting, ALREADY);
          break;
        case 'threw':
          // A message that lay in storage and has no word here is a newer process': it is left to that one.
          if (outcome.error instanceof UnknownVariant && waiting.source.from !== 'ask') answer(waiting, refused(NEWER));
          else this.#answerThrown(waiting, outcome.error);
          break;
        default:
          unreachable(outcome);
      }
    }
  }

  #answerThrown(waiting: WaitingMessage, error: unknown): void {
    this.#parts.metrics.thrown.inc({ kind: this.kind.kind });
    const request_id = waiting.scope?.request_id;
    this.#parts.log.error({ err: error, kind: this.kind.kind, request_id }, 'a decision threw');
    answer(waiting, { outcome: 'threw', reply: BUG, downstream: null });
  }
}

/** Decodes the stored state of an entity, brought up to its kind's present schema. Throws when it can't be used. */
export function readSnapshot(kind: ActorKind, bytes: Uint8Array): Entity {
  const snapshot = decodeStored(bytes) as Snapshot;
  if (typeof snapshot !== 'object' || snapshot === null || !Number.isInteger(snapshot.k))
    throw new Error('not a snapshot');
  if (snapshot.k > kind.schema) throw new NewerSchema(snapshot.k, kind.schema);
  let state = snapshot.s;
  if (state !== null) {
    for (let schema = snapshot.k; schema < kind.schema; schema++) {
      const upcast = kind.upcast?.[schema];
      if (upcast === undefined) throw new Error(`no way from schema ${schema} to ${schema + 1}`);
      state = upcast(state as never);
    }
    const broken = kind.invariant?.(state) ?? null;
    if (broken !== null) throw new Error(`invariant broken: ${broken}`);
  }
  return { state, marks: snapshot.m ?? {}, schema: snapshot.k };
}

/** A newer process wrote it: that one can read it, and nothing is wrong with it. */
class NewerSchema extends Error {
  override name = 'NewerSchema';
  readonly schema: number;

  constructor(schema: number, known: number) {
    super(`snapshot has schema ${schema}, this server knows ${known}`);
    this.schema = schema;
  }
}

/** The schema that a state is written in: a newer one in which it is stored, else the one that the kind writes. */
function writtenSchema({ schema, writes = schema }: ActorKind, entity: Entity): number {
  return Math.max(writes, entity.schema ?? 0);
}

function snapshotOf(kind: ActorKind, entity: Entity): Snapshot {
  const written = writtenSchema(kind, entity);
  let { state } = entity;
  for (let schema = kind.schema; state !== null && schema > written; schema--) {
    const downcast = kind.downcast?.[schema];
    if (downcast === undefined) throw new Error(`no way from schema ${schema} back to ${schema - 1}`);
    state = downcast(state as never);
  }
  const marked = Object.keys(entity.marks).length > 0 ? { m: entity.marks } : {};
  return { k: written, s: state, ...marked };
}

/** The answer when the commit met a fence that no longer holds. */
const FENCED: Record<Exclude<Fence['fence'], 'absent'>, MessageAnswer> = {
  epoch: refused(EPOCH_ENDED),
  reminder: ALREADY,
  open: refused(CLOSED),
};

export function refused(refusal: Refusal): MessageAnswer {
  return { outcome: 'refused', reply: refusal, downstream: null };
}

function answer(waiting: WaitingMessage, value: MessageAnswer): void {
  if (waiting.answer !== null) return;
  waiting.answer = value;
  waiting.resolve(value);
}

/** The outcome of a message, as operators see it. */
function outcomeOf({ outcome, reply }: MessageAnswer): string {
  if (isRefusal(reply)) return reply.refused;
  return outcome === 'decided' ? 'answered' : outcome;
}

/** Collects the records that messages ask for and that are not known yet, and marks them as known. */
function wantedBy(
  batch: WaitingMessage[],
  asks: (message: unknown) => RecordQuery[],
  known: Set<string>,
): RecordQuery[] {
  const wanted: RecordQuery[] = [];
  for (const { message } of batch) {
    let requests: RecordQuery[];
    try {
      requests = asks(message);
    } catch {
      continue; // the fold meets the same throw and answers it
    }
    for (const request of requests) {
      const key = requestKey(request);
      if (known.has(key)) continue;
      known.add(key);
      wanted.push(request);
    }
  }
  return wanted;
}

function isExpectedAbsent(request: RecordQuery): request is Extract<RecordQuery, { id: string }> {
  return 'id' in request && request.expected === 'absent';
}

function isDecided({ outcome }: MessageOutcome): boolean {
  return outcome !== 'threw';
}

function requestKey(request: RecordQuery): string {
  return 'id' in request ? recordKey(request.collection, request.id) : JSON.stringify(request);
}

function recordKey(collection: string, id: string): string {
  return `${collection} ${id}`;
}
