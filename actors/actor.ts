import type { EventType } from '../src/domain/event_types.js';
import type { Interval } from '../src/domain/intervals.js';
import { isOauthError, type OauthError } from '../src/domain/oauth_errors.js';
import { isRefusal, type Refusal, unreachable } from '../src/domain/refusals.js';

/** Where a message goes: a kind of actor and which one of that kind. */
export type Address = { kind: string; id: string };

/** A record that a message needs before it can be decided: one by its id, or a run of an ordered collection. */
export type RecordQuery =
  /**
   * `expected: 'absent'`: the record usually does not exist, so it is not read before the commit, which proves its
   * absence.
   */
  | { collection: string; id: string; expected?: 'absent' }
  | { collection: string; range: RangeQuery }
  /** Of an endpoint's delivery queue: entries after a number, the oldest first. */
  | { collection: 'queue'; queue: { after: number; limit: number } };

/** A run of an ordered collection, by `order` and then by record id; `after` is exclusive. */
export type RangeQuery = {
  after?: { order: number; id: string } | undefined;
  descending?: boolean;
  limit: number;
};

export type ListedRecord = { id: string; order: number; value: unknown };

/** The facts that a decision may read beside its state and its message. */
export interface Facts {
  /** The id of the entity that decides. */
  readonly self: string;
  /** Milliseconds since 1970. */
  readonly now_ms: number;
  /**
   * The time for decisions that destroy something: `now_ms`, or earlier while clocks disagree
   * (src/engine/time/clock.ts).
   */
  readonly certain_ms: number;
  /** The record, or undefined when there is none. Asking for one that the message does not name is a bug and throws. */
  record<T>(collection: string, id: string): T | undefined;
  /** The run that was requested of this collection, in order. */
  range<T>(collection: string): readonly { id: string; order: number; value: T }[];
  /** The entries of the delivery queue that the message requested. */
  deliveryQueue(): DeliveryQueue;
}

/** The number of times that a message may ask for records that other records name. */
export const FURTHER_READS_MAX = 4;

/** The records read for a message so far. A record that was not read is undefined, like one that does not exist. */
export type Read = Pick<Facts, 'record' | 'range'>;

/**
 * A subscription of an endpoint: events of these types, or of all types when empty; `enablement` distinguishes its
 * deliveries from earlier ones.
 */
export type Subscription = { topics: readonly string[]; enablement: number };

/** A delivery that an event made: its number, the event's id in the log, and the epoch and enablement at that time. */
export type QueuedDelivery = {
  sequence: number;
  log_id: string;
  account_epoch: number;
  enablement: number;
  type: EventType;
};

/** Entries of an endpoint's delivery queue, and the number of its newest, 0 when it is empty. */
export type DeliveryQueue = { entries: QueuedDelivery[]; last: number };

/** Numbers that end many things at once when they are raised (docs/architecture.md, "Credential epochs"). */
export type EpochName = 'account' | 'app_sessions' | 'grants' | 'tokens';

/** A task of a worker for an entity of the same partition. */
export type Job = ErasureJob | SweepJob;

export type ErasureJob =
  | { job: 'erase_account'; account_id: string }
  /** Removes the bytes, signals and state of a stream that is deleted or whose workspace is gone. */
  | { job: 'erase_stream'; stream_id: string; account_id: string }
  /** Removes a part of a stream: its audio and what was said in it. */
  | { job: 'delete_part'; stream_id: string; account_id: string; part: { asked: Interval; goes: Interval } }
  /** Removes the voices that the account has learned in a workspace that is gone. */
  | { job: 'forget_voices'; account_id: string; workspace_id: string };

/** Removes an account's part of what a retention sweep removes. */
export type SweepJob = { job: 'sweep_library'; library_id: string; account_id: string; sweep_id: string };

export type OutboxMessage = { effect: 'notify'; to: Address; message: unknown };

/** Everything that one decision does beside its next state. All of it is in the same commit. */
export type Effect =
  /**
   * Writes a record of this entity. `order`: its place in the collection, by which it can be listed. `packed`: stored
   * compressed, for large values.
   */
  | { effect: 'put_record'; collection: string; id: string; value: unknown; order?: number; packed?: true }
  | { effect: 'delete_record'; collection: string; id: string }
  /** Drops a whole collection. */
  | { effect: 'delete_collection'; collection: string }
  /**
   * Records an account event. The account's home must be this entity's partition. The prefix of the type names the
   * resource.
   */
  | { effect: 'append_event'; account_id: string; type: EventType; resource_id: string; data?: Record<string, unknown> }
  /** Sends a durable message to another entity, applied exactly once (docs/architecture.md, "Outbox messages"). */
  | OutboxMessage
  /** Sends a durable message to this entity at a time; the same name again moves it. */
  | { effect: 'schedule_reminder'; name: string; at_ms: number; message: unknown }
  | { effect: 'cancel_reminder'; name: string }
  /** Adds an entity to an ordered list of an account, or removes it. */
  | { effect: 'add_to_index'; owner: string; index: string; member: string; order: number }
  | { effect: 'remove_from_index'; owner: string; index: string; member: string }
  /** Moves a member behind all others, so that a reader who has read the index up to there sees the change. */
  | { effect: 'mark_changed'; owner: string; index: string; member: string }
  /** Drops a whole index. */
  | { effect: 'delete_index'; owner: string; index: string }
  /** Ends everything issued under the present value of this credential epoch. */
  | { effect: 'bump_epoch'; account_id: string; epoch: EpochName }
  /** Closes the fence of an id of this partition: commits that need it open are refused from here on. */
  | { effect: 'close_fence'; id: string }
  /** Forgets that a fence was closed, once nobody can ask for it. */
  | { effect: 'delete_fence'; id: string }
  /** Drops an account's whole event log; later events of the same commit begin a new one. */
  | { effect: 'delete_log'; account_id: string }
  /**
   * Subscribes an endpoint to the account's events from this commit on; again, with another enablement or other topics.
   */
  | { effect: 'subscribe'; account_id: string; endpoint_id: string; subscription: Subscription }
  | { effect: 'unsubscribe'; account_id: string; endpoint_id: string }
  /** `closed`: nobody gets events, and the subscriptions are kept. `gone`: there are none. */
  | { effect: 'set_subscriptions'; account_id: string; become: 'closed' | 'open' | 'gone' }
  /** Says when an endpoint is due next, unless its queue has grown beyond `seen` meanwhile. */
  | { effect: 'schedule_endpoint'; at_ms: number | null; seen: number }
  | { effect: 'trim_queue'; before: number }
  | { effect: 'delete_queue' }
  /** Ends the entity; its header is removed soon as well. */
  | { effect: 'delete' }
  /** Queues work that takes longer than a batch. A worker does it in steps; the same id again is the same work. */
  | { effect: 'enqueue_job'; job_id: string; job: Job }
  /** Queues a sealed mail, kept until it is sent or `give_up_at_ms` has passed. */
  | { effect: 'enqueue_mail'; mail_id: string; sealed: Uint8Array; give_up_at_ms: number };

/** The reply of a message that returns nothing. */
export const DONE = { done: true } as const;

/**
 * The outcome of one message.
 * `next`: the state from now on; null ends the entity; absent leaves it as it is.
 */
export type Decision<State, Reply> = {
  reply: Reply | Refusal;
  next?: State | null;
  effects?: Effect[];
};

export type DoneDecision<State> = Decision<State, typeof DONE>;

type Decide<State> =
  // biome-ignore lint/suspicious/noExplicitAny: each message has an input and a reply of its own, which its caller sees
  (state: State | null, input: any, facts: Facts) => Decision<State, any>;

/**
 * One message of an actor: what is said with it (the type of `input`), what it answers (the reply of its decisions),
 * whether it only reads, which records it needs, and what is decided. Pure, synchronous, total; `state` is null for an
 * entity that does not exist.
 */
type MessageDefinition<State> =
  | Decide<State>
  | {
      /** As a rule changes nothing: it is answered without a batch where that can be done. */
      reads?: true;
      /** May depend on the state: it is asked again when an earlier message has changed it. */
      // biome-ignore lint/suspicious/noExplicitAny: as above
      records?(input: any, state: State | null): RecordQuery[];
      /**
       * Records that are known from what others hold. It is asked again with what it has named, until it names no others;
       * at most `FURTHER_READS_MAX` times.
       */
      // biome-ignore lint/suspicious/noExplicitAny: as above
      further?(input: any, state: State | null, read: Read): RecordQuery[];
      decide: Decide<State>;
    };

type Messages<State> = Record<string, MessageDefinition<State>>;

type DecideOf<M> = M extends { decide: infer D } ? D : M;

/** The input of an actor's message; unknown where its decision takes none. */
export type InputOf<M> =
  DecideOf<M> extends (state: never, input: infer Input, facts: Facts) => unknown
    ? unknown extends Input
      ? unknown
      : Omit<Input, 'type'>
    : never;

/** The reply to an actor's message, refusals aside. */
export type ReplyOf<M> =
  DecideOf<M> extends (...args: never) => { reply: infer Reply } ? Exclude<Reply, Refusal> : never;

/** Every reply that an actor may give, refusals aside. */
export type RepliesOf<A> = A extends { messages: infer M } ? { [Name in keyof M]: ReplyOf<M[Name]> }[keyof M] : never;

/** A message as it is sent and stored: its name and what is said with it. */
export type MessageOf<A> = A extends { messages: infer M }
  ? { [Name in keyof M & string]: { type: Name } & InputOf<M[Name]> }[keyof M & string]
  : never;

/** One kind of actor: how its entities are kept, and how they decide. */
export interface ActorKind<State = unknown, Message = unknown, Reply = unknown> {
  kind: string;
  /** The way from an id to its partition: the id's last byte, or a hash of it. */
  home: 'id' | 'hash';
  /**
   * The newest version of what is stored of an entity, snapshot and records, that can be read; a snapshot of an older one
   * goes through `upcast`, step by step.
   */
  schema: number;
  upcast?: Record<number, (old: never) => unknown>;
  /**
   * The version that is written, where it is still the one before `schema`: so it is in the first release that can read
   * the new one (docs/upgrading.md). What is stored in a newer one stays in that. `downcast` leads
   * back from `schema`, under the version it comes from.
   */
  writes?: number;
  downcast?: Record<number, (state: never) => unknown>;
  /** Messages of one batch, and so of one commit, where they may be large; otherwise the runtime's own number. */
  batch_max?: number;
  /** Checks the invariants of a stored state; gives a text that names the broken one, or null. */
  invariant?(state: State): string | null;
  /** Names of messages that as a rule change nothing. */
  reads: ReadonlySet<string>;
  /** Records that the decision about this message needs. */
  records(message: Message, state: State | null): RecordQuery[];
  /** And those that it needs because of what is in these. */
  further?(message: Message, state: State | null, read: Read): RecordQuery[];
  decide(state: State | null, message: Message, facts: Facts): Decision<State, Reply>;
}

type KindMember = 'kind' | 'home' | 'schema' | 'upcast' | 'writes' | 'downcast' | 'batch_max' | 'invariant';

/** A kind of actor with its messages, which callers name (src/engine/runtime/actors.ts). */
export type Actor<State, M> = ActorKind<State, MessageOf<{ messages: M }>, RepliesOf<{ messages: M }>> & {
  messages: M;
};

/** Makes a kind of actor of the table of its messages. Called as `defineActor<State>()({ kind, …, messages })`. */
export function defineActor<State>() {
  return <M extends Messages<State>>({
    messages,
    ...kept
  }: Pick<ActorKind<State>, KindMember> & { messages: M }): Actor<State, M> => {
    const table = new Map<string, Exclude<MessageDefinition<State>, Decide<State>>>(
      Object.entries(messages).map(([name, one]) => [name, typeof one === 'function' ? { decide: one } : one]),
    );
    const definitionOf = (message: { type: string }) => table.get(message.type) ?? unreachable(message as never);
    return {
      ...kept,
      messages,
      reads: new Set([...table].filter(([, { reads }]) => reads === true).map(([name]) => name)),
      records: (message, state) => definitionOf(message).records?.(message, state) ?? [],
      ...([...table.values()].some(({ further }) => further !== undefined) && {
        further: (message, state, read) => definitionOf(message).further?.(message, state, read) ?? [],
      }),
      decide(state, message, facts) {
        const { type: _, ...input } = message;
        return definitionOf(message).decide(state, input, facts);
      },
    };
  };
}

/** A part of a kind's messages, in a file of their own. */
export function messagesOf<State>() {
  return <M extends Messages<State>>(messages: M): M => messages;
}

/**
 * Makes decisions that presuppose something of the state, such as that there is one. `find` gives what they work with, or
 * the refusal that everybody gets where there is none.
 */
export function given<State, Result, Asked = unknown>(
  find: (state: State | null, facts: Facts, input: Asked) => Result,
) {
  return <Input extends Asked, D extends Decision<State, unknown>>(
    decide: (found: Exclude<Result, No>, input: Input, facts: Facts) => D,
  ) =>
    (state: State | null, input: Input, facts: Facts): D | { reply: Extract<Result, No> } => {
      const found = find(state, facts, input);
      return isNo(found) ? { reply: found } : decide(found as Exclude<Result, No>, input, facts);
    };
}

type No = Refusal | OauthError;

function isNo<Result>(found: Result): found is Extract<Result, No> {
  return isRefusal(found) || isOauthError(found);
}
