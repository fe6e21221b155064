import type { ActorKind, Address, DeliveryQueue, Effect, Facts, Read, RecordQuery } from '../../../actors/actor.js';
import { EVENT_SCHEMA_VERSION, isDelivered } from '../../domain/event_types.js';
import { unreachable } from '../../domain/refusals.js';
import { randomId } from '../random/random.js';
import { decodeStored, encodeStored, packStored } from '../store/codec.js';
import { encodeEvent, type RecordedEvent, resourceType } from '../store/event_body.js';
import type { DecodedResult, EntityLocation, Fence, QueryResult, StoredEffect } from '../store/store.js';
import type { RequestScope } from '../tracing/request_scope.js';

/**
 * An entity in memory: its state, the last applied outbox message of each sending partition, and the schema in which it
 * is stored, absent if nothing is stored.
 */
export type Entity = { state: unknown; marks: Record<string, number>; schema?: number };

/** The source of a message, which decides the conditions and records of its commit. */
export type MessageSource =
  | { from: 'ask'; fences: Fence[] }
  | { from: 'outbox'; partition: number; number: number }
  | { from: 'reminder'; member: string; at_ms: number };

export type Incoming = { message: unknown; source: MessageSource; scope?: RequestScope | undefined };

export type MessageOutcome =
  | { outcome: 'decided'; reply: unknown }
  /** An outbox message that this entity had applied before. */
  | { outcome: 'already' }
  | { outcome: 'threw'; error: unknown };

/** A message in transit, as stored in the outbox. */
export type StoredMessage = { id: string; to: Address; message: unknown };

export type BatchDecision = {
  entity: Entity;
  outcomes: MessageOutcome[];
  fences: { fence: Fence; index: number }[];
  effects: StoredEffect[];
  messages: StoredMessage[];
  /** False when nothing is to be saved. */
  changed: boolean;
  /** True when the commit deletes the whole entity. */
  deletes: boolean;
};

export type BatchInput = {
  kind: ActorKind;
  place: EntityLocation;
  entity: Entity;
  batch: Incoming[];
  rows: QueryResult[];
  now_ms: number;
  /** The time for decisions that can't be undone; absent if it equals the ordinary time. */
  certain_ms?: number;
  commit_id: string;
};

/**
 * Decides a batch of messages in order and gathers what one commit must write. Each message sees state and records as
 * the messages before it leave them. Stops before a message whose facts earlier messages have changed beyond what was
 * loaded, or whose fences they have moved: `outcomes` then has fewer entries than the batch, and the next batch decides
 * the rest.
 */
export function decideBatch(input: BatchInput): BatchDecision {
  const { kind, batch, now_ms } = input;
  const { address, partition } = input.place;
  const facts = new BatchFacts({ self: address.id, now_ms, certain_ms: input.certain_ms ?? now_ms }, input.rows);
  const result: BatchDecision = {
    entity: input.entity,
    outcomes: [],
    fences: [],
    effects: [],
    messages: [],
    changed: false,
    deletes: false,
  };
  let moved: Set<string> | null = null; // epochs, reminders and fences that this batch changes: later messages must not rely on their old values
  for (const [index, incoming] of batch.entries()) {
    const { message, source } = incoming;
    if (moved !== null && someMoved(fencesOf(source), moved)) return result;
    if (source.from === 'outbox' && (result.entity.marks[source.partition] ?? 0) >= source.number) {
      result.outcomes.push({ outcome: 'already' });
      continue;
    }
    let decision: ReturnType<ActorKind['decide']>;
    const stored: StoredEffect[] = [];
    const messages: StoredMessage[] = [];
    try {
      const requests = kind.records(message, result.entity.state);
      if (requests.some((request) => !facts.has(request))) return result;
      facts.allow(requests);
      const further = kind.further?.(message, result.entity.state, facts.read) ?? [];
      if (further.length > 0) {
        if (further.some((request) => !facts.has(request))) {
          // Of the first message all was read that it asked for, as often as it may.
          if (index === 0) throw new Error('a message asks for further records without end');
          return result;
        }
        facts.allow([...requests, ...further]);
      }
      decision = kind.decide(result.entity.state, message, facts);
      const broken = decision.next ? (kind.invariant?.(decision.next) ?? null) : null;
      if (broken !== null) throw new Error(`a decision breaks an invariant: ${broken}`);
      const context = {
        address,
        commit_id: input.commit_id,
        now_ms,
        partition,
        messages_before: result.messages.length,
        messages,
      };
      for (const effect of decision.effects ?? []) {
        const encoded = encodeEffect(effect, context);
        if (encoded !== null) stored.push(encoded);
      }
    } catch (error) {
      result.outcomes.push({ outcome: 'threw', error });
      continue;
    }
    result.outcomes.push({ outcome: 'decided', reply: decision.reply });
    const effects = decision.effects ?? [];
    const moves = decision.next !== undefined && decision.next !== result.entity.state;
    const exists = result.entity.state !== null || moves;
    if (source.from === 'ask' && !moves && effects.length === 0) continue;
    if (source.from === 'outbox' && !exists && effects.length === 0) continue;
    result.changed = true;
    if (effects.some(({ effect }) => effect === 'delete')) result.deletes = true;
    if (decision.next !== undefined) result.entity = { ...result.entity, state: decision.next };
    if (source.from === 'outbox') {
      result.entity = { ...result.entity, marks: { ...result.entity.marks, [source.partition]: source.number } };
    }
    for (const fence of fencesOf(source)) result.fences.push({ fence, index });
    if (source.from === 'reminder') stored.unshift({ effect: 'cancel_reminder', member: source.member });
    for (const effect of effects) facts.apply(effect);
    for (const effect of stored) {
      const name = movedBy(effect);
      if (name === null) continue;
      moved ??= new Set();
      moved.add(name);
    }
    result.effects.push(...stored);
    result.messages.push(...messages);
  }
  return result;
}

/** The further records that a message needs because of these rows. */
export function furtherRequests(
  kind: ActorKind,
  { message, state }: { message: unknown; state: unknown },
  rows: QueryResult[],
): RecordQuery[] {
  if (kind.further === undefined) return [];
  const facts = new BatchFacts({ self: '', now_ms: 0, certain_ms: 0 }, rows);
  const requests = kind.records(message, state);
  facts.allow(requests.filter((request) => facts.has(request)));
  return kind.further(message, state, facts.read);
}

function fencesOf(source: MessageSource): Fence[] {
  switch (source.from) {
    case 'ask':
      return source.fences;
    case 'reminder':
      return [{ fence: 'reminder', member: source.member, at_ms: source.at_ms }];
    case 'outbox':
      return [];
    default:
      return unreachable(source);
  }
}

function someMoved(fences: Fence[], moved: Set<string>): boolean {
  return fences.some((fence) => moved.has(fencedBy(fence)));
}

function movedBy(effect: StoredEffect): string | null {
  switch (effect.effect) {
    case 'bump_epoch':
      return `epoch ${effect.account_id} ${effect.epoch}`;
    case 'close_fence':
      return `open ${effect.id}`;
    case 'schedule_reminder':
    case 'cancel_reminder':
      return `reminder ${effect.member}`;
    default:
      return null;
  }
}

function fencedBy(fence: Fence): string {
  switch (fence.fence) {
    case 'epoch':
      return `epoch ${fence.account_id} ${fence.epoch}`;
    case 'reminder':
      return `reminder ${fence.member}`;
    case 'open':
      return `open ${fence.id}`;
    case 'absent':
      return ''; // nobody asks with it: it is the runtime's own
    default:
      return unreachable(fence);
  }
}

/** `messages` collects those of the current decision; `messages_before` counts those of the batch before it. */
type EncodingContext = {
  address: Address;
  commit_id: string;
  now_ms: number;
  partition: number;
  messages_before: number;
  messages: StoredMessage[];
};

/**
 * Encodes an effect for storage; no other function does. Null for the end of the entity, which the commit's mode
 * expresses.
 */
function encodeEffect(effect: Effect, context: EncodingContext): StoredEffect | null {
  switch (effect.effect) {
    case 'put_record': {
      const { packed, value, ...put } = effect;
      return { ...put, value: packed ? packStored(value) : encodeStored(value) };
    }
    case 'append_event': {
      const { account_id, type, data = {} } = effect;
      const body = encodeEvent(recorded(effect, context));
      return { effect: 'append_event', account_id, type, body, delivered: isDelivered(type, data) };
    }
    case 'notify': {
      const { commit_id, messages, messages_before } = context;
      const { to, message } = effect;
      const stored = { id: `${commit_id}:${messages_before + messages.length}`, to, message };
      messages.push(stored);
      return { effect: 'notify', body: encodeStored(stored) };
    }
    case 'schedule_reminder': {
      const body = encodeStored({ to: context.address, message: effect.message });
      return {
        effect: 'schedule_reminder',
        member: reminderMember(context.address, effect.name),
        at_ms: effect.at_ms,
        body,
      };
    }
    case 'cancel_reminder':
      return { effect: 'cancel_reminder', member: reminderMember(context.address, effect.name) };
    case 'enqueue_job': {
      const { job_id, job } = effect;
      const queue = job.job === 'sweep_library' ? 'sweeps' : 'jobs';
      return { effect: 'enqueue', queue, id: job_id, content: encodeStored(job), due_ms: context.now_ms };
    }
    case 'enqueue_mail': {
      const { mail_id, sealed, give_up_at_ms } = effect;
      const content = encodeStored({ sealed, give_up_at_ms });
      return { effect: 'enqueue', queue: 'mails', id: mail_id, content, due_ms: context.now_ms };
    }
    case 'delete':
      return null;
    default:
      return effect;
  }
}

function reminderMember(address: Address, name: string): string {
  return `${address.kind}:${address.id}:${name}`;
}

function recorded(
  effect: Extract<Effect, { effect: 'append_event' }>,
  { now_ms, partition }: EncodingContext,
): RecordedEvent {
  return {
    id: randomId({ partition, now_ms }),
    schema_version: EVENT_SCHEMA_VERSION,
    occurred_at: new Date(now_ms).toISOString(),
    account_id: effect.account_id,
    type: effect.type,
    resource: { type: resourceType(effect.type), id: effect.resource_id },
    data: effect.data ?? {},
  };
}

type RangeRow = DecodedResult['rows'][number];

/**
 * The records that a batch asked for, as the decisions so far leave them. Most batches are one read that asks for none,
 * so every structure is created on first use.
 */
class BatchFacts implements Facts {
  #records: Map<string, Map<string, unknown>> | null = null;
  #ranges: Map<string, readonly RangeRow[]> | null = null;
  #changed: Set<string> | null = null;
  readonly #requests: QueryResult[];
  #queue: DeliveryQueue | null = null;

  readonly self: string;
  readonly now_ms: number;
  readonly certain_ms: number;

  constructor({ self, now_ms, certain_ms }: Pick<Facts, 'self' | 'now_ms' | 'certain_ms'>, rows: QueryResult[]) {
    this.self = self;
    this.now_ms = now_ms;
    this.certain_ms = certain_ms;
    this.#requests = rows;
    for (const row of rows) {
      const { request } = row;
      if ('id' in request) this.#collection(request.collection).set(request.id, decodedOf(row).value);
    }
  }

  #collection(name: string): Map<string, unknown> {
    this.#records ??= new Map();
    let found = this.#records.get(name);
    if (found === undefined) {
      found = new Map();
      this.#records.set(name, found);
    }
    return found;
  }

  /**
   * False for records that were not loaded, and for a range over a collection that a decision of this batch has
   * changed.
   */
  has(request: RecordQuery): boolean {
    if ('queue' in request) return this.#requests.some((row) => sameQueue(row.request, request));
    if ('id' in request) return this.#collection(request.collection).has(request.id);
    return !this.#changed?.has(request.collection) && this.#requests.some((row) => sameRange(row.request, request));
  }

  /** Makes the ranges of the current message readable. */
  allow(requests: RecordQuery[]): void {
    this.#ranges = null;
    this.#queue = null;
    for (const wanted of requests) {
      if ('queue' in wanted) this.#queue = this.#requests.find((row) => sameQueue(row.request, wanted))?.queue ?? null;
      if (!('range' in wanted)) continue;
      const row = this.#requests.find(({ request }) => sameRange(request, wanted));
      if (row === undefined) throw new Error(`range of ${wanted.collection} was not loaded`);
      this.#ranges ??= new Map();
      this.#ranges.set(wanted.collection, decodedOf(row).rows);
    }
  }

  apply(effect: Effect): void {
    if (effect.effect !== 'put_record' && effect.effect !== 'delete_record' && effect.effect !== 'delete_collection')
      return;
    const records = this.#collection(effect.collection);
    if (effect.effect === 'put_record') records.set(effect.id, effect.value);
    else if (effect.effect === 'delete_record') records.set(effect.id, undefined);
    else for (const id of records.keys()) records.set(id, undefined);
    this.#changed ??= new Set();
    this.#changed.add(effect.collection);
  }

  record<T>(collection: string, id: string): T | undefined {
    const records = this.#collection(collection);
    if (!records.has(id)) throw new Error(`record ${collection}/${id} was not asked for`);
    return records.get(id) as T | undefined;
  }

  range<T>(collection: string): readonly { id: string; order: number; value: T }[] {
    const found = this.#ranges?.get(collection);
    if (found === undefined) throw new Error(`range of ${collection} was not asked for`);
    return found as { id: string; order: number; value: T }[];
  }

  /** The same, for whoever does not know yet what there is. */
  readonly read: Read = {
    record: <T>(collection: string, id: string) => this.#records?.get(collection)?.get(id) as T | undefined,
    range: <T>(collection: string) =>
      (this.#ranges?.get(collection) ?? []) as { id: string; order: number; value: T }[],
  };

  deliveryQueue(): DeliveryQueue {
    if (this.#queue === null) throw new Error('the delivery queue was not requested');
    return this.#queue;
  }
}

/** Decodes a result once: each message of a batch, and each step that asks for more, looks at it. */
function decodedOf(result: QueryResult): DecodedResult {
  result.decoded ??= {
    value: result.value === null ? undefined : decodeStored(result.value),
    rows: result.rows.map((row) => ({ ...row, value: decodeStored(row.value) })),
  };
  return result.decoded;
}

function sameQueue(a: RecordQuery, b: RecordQuery): boolean {
  return 'queue' in a && 'queue' in b && a.queue.after === b.queue.after && a.queue.limit === b.queue.limit;
}

function sameRange(a: RecordQuery, b: RecordQuery): boolean {
  if (!('range' in a) || !('range' in b) || a.collection !== b.collection) return false;
  return (
    a.range.limit === b.range.limit &&
    a.range.descending === b.range.descending &&
    a.range.after?.id === b.range.after?.id &&
    a.range.after?.order === b.range.after?.order
  );
}
