import type { Ref } from 'nact';
import type { ActorKind } from '../../../actors/actor.js';
import { isId } from '../../domain/ids.js';
import { type Refusal, UnknownVariant, unreachable } from '../../domain/refusals.js';
import { randomFraction } from '../random/random.js';
import { eventIdIn } from '../store/event_body.js';
import { type Commit, type EntityLocation, type Fence, StoreUnavailable } from '../store/store.js';
import type { BatchRecord } from '../tracing/batch_record.js';
import { type BatchDecision, decideBatch, type Incoming, type MessageOutcome } from './batch.js';
import { commitUntilKnown } from './commit_tries.js';
import type { ActingEntity } from './entity_actors.js';
import { EntityMemory, Unusable } from './entity_memory.js';
import { ALREADY, answer, type MessageAnswer, outcomeOf, refused, type WaitingMessage } from './mailbox.js';
import type { RuntimeDeps } from './runtime_deps.js';
import { AWAY, BUG, CLOSED, CONTENDED, EPOCH_ENDED, FULL, NEWER, QUARANTINED } from './runtime_refusals.js';
import { encodeSnapshot } from './snapshot.js';

const BATCH_MAX = 64;
const CONFLICT_TRIES_MAX = 12;
const CONFLICT_PAUSE_MS = 4;
const NOTHING_WAITS: readonly WaitingMessage[] = [];
/** Replaces a message after its answer, so that the message can be freed. */
const ANSWERED = { message: null, scope: undefined, resolve: () => {}, answer: ALREADY };
const NOTHING_DONE = { commit_ms: 0, event_ids: [] };
export const MAILBOX_MAX = 1_000;

/**
 * One entity in memory, with a bounded mailbox. It decides messages in batches and saves each batch with one commit.
 */
export class Activation implements ActingEntity<WaitingMessage> {
  readonly place: EntityLocation;
  readonly kind: ActorKind;
  /** Distinguishes this activation from all others of this process, including an earlier one of the same address. */
  readonly number: number;
  readonly #parts: RuntimeDeps;
  readonly memory: EntityMemory;
  #queue: WaitingMessage[] = [];
  /** Messages of the present batch. */
  #batch: readonly WaitingMessage[] = NOTHING_WAITS;
  #busy = false;
  #actor: Ref<WaitingMessage> | null = null;
  /** The time since which its actor has received no message, by the monotonic clock. */
  #idle_since = 0;
  /** Reads that wait for storage to say whether memory is current. */
  #confirming = 0;
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
    this.memory = new EntityMemory(place, kind, parts);
  }

  get waiting(): number {
    return this.#queue.length + this.#confirming;
  }
  /** The arrival of the message that has waited longest, by the monotonic clock; null when none waits. */
  get oldest_at(): number | null {
    return this.#queue[0]?.enqueued_at ?? null;
  }
  /** Whether nothing waits and nothing runs, so that the entity may leave memory. */
  get idle(): boolean {
    return !this.#busy && this.waiting === 0;
  }

  enqueue(incoming: Incoming, resolve: (answer: MessageAnswer) => void): void {
    if (this.waiting >= MAILBOX_MAX) {
      this.#parts.metrics.refused.inc({ kind: this.kind.kind, reason: 'mailbox_full' });
      resolve(refused(FULL));
    } else if (this.isRead(incoming) && this.memory.isHeld() && !this.memory.isTrusted()) {
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

  /** Called when its actor has stopped after a long idle time. */
  stopped(actor: Ref<WaitingMessage>): void {
    if (actor === this.#actor) this.#actor = null;
  }

  /** Quarantines the entity after a batch rejected, and refuses the batch's messages. */
  crashed(error: unknown): void {
    this.memory.quarantine(error instanceof Error ? error.message : String(error));
    this.#answerAll(this.#batch, QUARANTINED);
    this.#next();
  }

  /** Starts the next batch if a message waits. */
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
   * Answers a read at once from committed state, if memory is trusted and holds all that the message asks for. The
   * batch in progress has not been answered, so no caller can know of more. Null if the message needs a batch.
   */
  readNow(incoming: Incoming): MessageAnswer | null {
    return this.isRead(incoming) && this.memory.isReady() ? this.#readKept(incoming) : null;
  }

  isRead({ message, source }: Incoming): boolean {
    return source.from === 'ask' && this.kind.reads.has((message as { type?: string }).type ?? '');
  }

  #readKept(incoming: Incoming): MessageAnswer | null {
    const { kind, place } = this;
    const { entity } = this.memory;
    try {
      const rows = this.memory.keptFor(incoming.message);
      if (rows === null) return null;
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
   * Answers a read from memory without a batch, for entities that other processes write too, once storage has confirmed
   * that memory is current. Storage is asked after the read has come, so the answer is never older than the read.
   */
  async #readConfirmed(incoming: Incoming, resolve: (answer: MessageAnswer) => void): Promise<void> {
    this.#confirming += 1;
    let answer: MessageAnswer | null = null;
    try {
      if ((await this.memory.isCurrent()) && this.memory.isHeld()) answer = this.#readKept(incoming);
      else if (!this.#busy) this.memory.drop();
    } catch (error) {
      if (error instanceof StoreUnavailable) answer = refused(AWAY);
    }
    this.#confirming -= 1;
    if (answer === null) this.#push(incoming, resolve);
    else resolve(answer);
  }

  /** Takes the message that its actor received and the waiting messages, up to a batch, and answers them. */
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
    this.#parts.onBatch?.(this.#noteOf(batch, { waited_ms, took_ms }));
    for (const { message, answer } of batch) {
      if (answer === null) continue; // it goes with the next batch
      const { number: entity } = this;
      const { version } = this.memory.version;
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

  /**
   * Decides a batch. If the batch throws, narrows the fault down to the messages that cause it, so that only these
   * fail.
   */
  async #attempt(batch: WaitingMessage[]): Promise<'ok' | 'away'> {
    try {
      await this.#decide(batch);
    } catch (error) {
      if (error instanceof Unusable) throw error;
      this.memory.drop();
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

  /** Decides and saves the batch; messages that did not fit go back to the head of the mailbox. */
  async #decide(all: WaitingMessage[]): Promise<void> {
    const { kind, place } = this;
    const memory = this.memory;
    let batch = all;
    let reads_all = false;
    for (let conflicts = 0; batch.length > 0; ) {
      // Where others write too, a commit proves what memory holds; an answer without one must be known to be current.
      const is_loaded = !memory.isHeld();
      if (is_loaded) {
        const unusable = await memory.load();
        if (unusable !== null) return this.#answerAll(batch, unusable);
      }
      const { entity } = memory;
      const messages = batch.map(({ message }) => message);
      const { rows, all_kept, assumed } = await memory.recordsFor(messages, { reads_all });
      const commit_id = this.#parts.nextCommitId();
      const now_ms = this.#parts.now();
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
        const is_said = (is_loaded && rows.length === 0) || (all_kept && (await memory.isKnown()));
        if (is_said || (await memory.isCurrent())) return this.#answerOutcomes(batch, decided.outcomes, null);
        memory.drop();
        conflicts += 1;
        if (conflicts >= CONFLICT_TRIES_MAX) return this.#answerAll(batch, CONTENDED);
        continue;
      }
      const began = performance.now();
      const invalidations = this.#parts.invalidations();
      const commit = this.#commitOf(decided, { commit_id, now_ms, assumed });
      const verdict = await commitUntilKnown(this.#parts, commit);
      switch (verdict.verdict) {
        case 'applied':
        case 'repeated': {
          if (this.#parts.onBatch !== null) this.#noteCommit(began, decided);
          memory.saved(decided, commit_id, invalidations);
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
          memory.conflicted(verdict.version);
          conflicts += 1;
          if (conflicts >= CONFLICT_TRIES_MAX) return this.#answerAll(batch, CONTENDED);
          if (conflicts > 1) await this.#parts.pause(CONFLICT_PAUSE_MS * conflicts * randomFraction());
          break;
      }
    }
  }

  #commitOf(
    { entity, deletes, fences, effects }: BatchDecision,
    { commit_id, now_ms, assumed }: { commit_id: string; now_ms: number; assumed: Fence[] },
  ): Commit {
    return {
      place: this.place,
      commit_id,
      expected: this.memory.version,
      mode: entity.state !== null ? 'put' : deletes ? 'delete' : 'end',
      snapshot: encodeSnapshot(this.kind, entity),
      now_ms,
      fences: [...fences.map(({ fence }) => fence), ...assumed],
      effects,
    };
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

/** The answer if the commit met a fence that no longer holds. */
const FENCED: Record<Exclude<Fence['fence'], 'absent'>, MessageAnswer> = {
  epoch: refused(EPOCH_ENDED),
  reminder: ALREADY,
  open: refused(CLOSED),
};

function isDecided({ outcome }: MessageOutcome): boolean {
  return outcome !== 'threw';
}
