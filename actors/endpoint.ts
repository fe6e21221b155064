import type { EventType } from '../src/vocabulary/event_types.js';
import { LIMITS } from '../src/vocabulary/limits.js';
import { refuse, unreachable } from '../src/vocabulary/refusals.js';
import { backoffMs, type EndpointStatus, probeMs } from '../src/vocabulary/webhooks.js';
import { actorKind, type Decision, type Effect, type FactRequest, type Facts, type InboxEntry } from './actor.js';
import { type EraseMessage, erased } from './erase.js';
import {
  type Attempt,
  type AttemptResult,
  type Claim,
  deadlineMs,
  type EndedDelivery,
  eventMs,
  type WaitingDelivery,
} from './delivery.js';

/**
 * A destination of an account's events. Deliveries come into its inbox with the events themselves; from there it hands
 * them out, a few at a time, and takes what came of them: all that is counted is counted here, one turn after the other.
 *
 * A delivery lies in one of four places: still in the inbox behind `taken`; among `claims`, while somebody posts it; in
 * the collection of its batch, while it waits to be tried again; in `ended`. A batch is what was born under one
 * generation of the endpoint and one life of the account: when either moves on, whatever has not ended is cancelled
 * where it lies. Interface: "Endpoint status" and "Delivery to endpoints"; choices: "Events and webhooks"; design section 7.
 */
export type Endpoint = NewEndpoint & {
  standing: Standing;
  /** Deliveries in a row that ended as failed. */
  failure_count: number;
  last_success_at_ms: number | null;
  /** Raised by disabling: deliveries of an earlier one are cancelled. */
  generation: number;
  /** The account's life that deliveries are born under, as last seen. */
  life: number;
  /** The inbox up to this number has been taken up. */
  taken: number;
  claims: Claim[];
  /** Deliveries in the collection of the present batch. */
  waiting: number;
  /** Collections of batches that were cancelled with something in them. */
  cancelled: { batch: string; at_ms: number }[];
  /** Attempts in a row that failed in a way that passes; from a certain number on the endpoint is spared. */
  passing_failures: number;
  /** While it is spared: not before this. */
  probe_at_ms: number;
};

export type NewEndpoint = {
  account_id: string;
  url: string;
  /** All when empty. */
  topics: EventType[];
  /** The signing key, sealed with the server key. */
  sealed_secret: Uint8Array;
  created_at_ms: number;
};

export type Standing =
  | { status: 'active'; since_ms: number }
  | { status: 'paused' }
  | { status: 'disabled'; reason: typeof TOO_MANY_FAILURES | null };

export type EndpointMessage =
  | { type: 'create'; endpoint: NewEndpoint; life: number }
  | { type: 'view' }
  | { type: 'set_status'; status: EndpointStatus }
  | { type: 'remove' }
  | WorkMessage
  | { type: 'sweep' }
  | EraseMessage;

/** From who posts: what came of earlier claims, and how many more it would take. */
export type WorkMessage = {
  type: 'work';
  /** The account's present life; the commit is guarded by it. */
  life: number;
  results: AttemptResult[];
  /** As many tokens as claims are wanted, each drawn at random. */
  tokens: string[];
  /** From 0 to 1, drawn at random. */
  jitter: number;
  /** To the owner, should this disable the endpoint; it is asked for when it is needed. */
  mail?: { mail_id: string; sealed: Uint8Array };
};

export type Work =
  | {
      claims: Claim[];
      /** Results that came too late to count: somebody else has the delivery by now. */
      late: number;
      /** When there is something to do again; null while there is nothing. */
      next_at_ms: number | null;
      disabled: boolean;
      ended: { outcome: EndedDelivery['outcome']; event_ms: number }[];
    }
  /** The same again, with the mail. */
  | { mail_needed: true; account_id: string; url: string };

export type EndpointReply = Endpoint | Work | { done: true };

export const ENDPOINTS = 'endpoints';
/** Collection: deliveries that have ended, by number, in the order of their ends. */
export const ENDED = 'ended';
export const TOO_MANY_FAILURES = 'consecutive_failures';

const DONE = { done: true } as const;
const NO_ENDPOINT = refuse('NOT_FOUND', 'There is no such endpoint.');
const ENABLE_FIRST = refuse('CONFLICT', 'A disabled endpoint cannot be paused; set it active first.');
/** Looked at in one turn. */
const LOOKED_AT_MAX = 64;
/** A worker without free slots is not the only one: others may look after so long. */
const NO_SLOTS_MS = 5_000;
const CANCELLED_BATCHES_MAX = 32;
const SWEPT_MAX = 500;
const SWEEP_ON_MS = 1_000;

export const endpoint = actorKind<Endpoint, EndpointMessage, EndpointReply>({
  kind: 'endpoint',
  home: 'id',
  schema: 1,
  reads: ['view'],

  facts(message, state): FactRequest[] {
    if (state === null) return [];
    const inbox: FactRequest = { collection: 'inbox', inbox: { after: state.taken, limit: LOOKED_AT_MAX } };
    switch (message.type) {
      case 'work': {
        const batch = batchOf({ ...state, life: message.life });
        return [inbox, { collection: batch, range: { limit: LOOKED_AT_MAX } }];
      }
      case 'set_status':
        return [inbox];
      case 'sweep':
        return [
          { collection: 'inbox', inbox: { after: 0, limit: SWEPT_MAX } },
          { collection: ENDED, range: { limit: SWEPT_MAX } },
        ];
      default:
        return [];
    }
  },

  decide(state, message, facts, now_ms): Decision<Endpoint, EndpointReply> {
    switch (message.type) {
      case 'create':
        return state === null ? created(message.endpoint, message.life, { facts, now_ms }) : { reply: DONE };
      case 'erase': {
        const effects = state === null ? [] : removal(state);
        return erased(message, { member: facts.self, effects });
      }
      case 'remove':
        if (state === null) return { reply: DONE };
        return {
          reply: DONE,
          next: null,
          effects: [
            ...removal(state),
            { effect: 'delist', account_id: state.account_id, list: ENDPOINTS, member: facts.self },
          ],
        };
    }
    if (state === null) return { reply: NO_ENDPOINT };
    switch (message.type) {
      case 'view':
        return { reply: state };
      case 'set_status':
        return setStatus(state, message.status, { facts, now_ms });
      case 'work':
        return new Turn(state, message, { facts, now_ms }).decide();
      case 'sweep':
        return swept(state, { facts, now_ms });
      default:
        return unreachable(message);
    }
  },
});

type At = { facts: Facts; now_ms: number };

/** The collection of the deliveries of one batch that wait to be tried again, in the order in which they are due. */
export function batchOf({ generation, life }: { generation: number; life: number }): string {
  return `waiting:${generation}.${life}`;
}

/** Whether it is left alone but for one probe at a time. */
export function isSpared({ passing_failures }: Endpoint): boolean {
  return passing_failures >= LIMITS.endpoint_spared_after;
}

function created(made: NewEndpoint, life: number, { facts, now_ms }: At): Decision<Endpoint, EndpointReply> {
  const next: Endpoint = {
    ...made,
    standing: { status: 'active', since_ms: made.created_at_ms },
    failure_count: 0,
    last_success_at_ms: null,
    generation: 1,
    life,
    taken: 0,
    claims: [],
    waiting: 0,
    cancelled: [],
    passing_failures: 0,
    probe_at_ms: 0,
  };
  return {
    reply: DONE,
    next,
    effects: [
      // That it gets events, the account has said already.
      {
        effect: 'enlist',
        account_id: made.account_id,
        list: ENDPOINTS,
        member: facts.self,
        order: made.created_at_ms,
      },
      remindToSweep(now_ms + LIMITS.endpoint_sweep_every_ms),
    ],
  };
}

function removal(state: Endpoint): Effect[] {
  return [
    ...[ENDED, batchOf(state), ...state.cancelled.map(({ batch }) => batch)].map(
      (collection): Effect => ({ effect: 'drop_all', collection }),
    ),
    { effect: 'drop_inbox' },
    { effect: 'wake', at_ms: null, seen: Number.MAX_SAFE_INTEGER },
    { effect: 'forget', name: 'sweep' },
  ];
}

/** Interface: "Endpoint status". */
function setStatus(state: Endpoint, status: EndpointStatus, { facts, now_ms }: At): Decision<Endpoint, EndpointReply> {
  const { standing, account_id } = state;
  const endpoint_id = facts.self;
  if (status === standing.status) return { reply: state };
  if (standing.status === 'disabled' && status === 'paused') return { reply: ENABLE_FIRST };
  const { last } = facts.inbox();
  switch (status) {
    case 'active': {
      const { topics, generation } = state;
      const next: Endpoint = {
        ...state,
        standing: { status, since_ms: now_ms },
        failure_count: 0,
        passing_failures: 0,
        probe_at_ms: 0,
      };
      return {
        reply: next,
        next,
        effects: [
          { effect: 'subscribe', account_id, endpoint_id, subscription: { topics, generation } },
          { effect: 'wake', at_ms: now_ms, seen: last },
        ],
      };
    }
    case 'paused': {
      const next: Endpoint = { ...state, standing: { status } };
      const effects: Effect[] = [
        { effect: 'unsubscribe', account_id, endpoint_id },
        { effect: 'wake', at_ms: leaseEndsAt(next), seen: last },
      ];
      return { reply: next, next, effects };
    }
    case 'disabled': {
      const next = disabled(state, { reason: null, last, now_ms });
      const effects: Effect[] = [
        { effect: 'unsubscribe', account_id, endpoint_id },
        { effect: 'wake', at_ms: leaseEndsAt(next), seen: last },
      ];
      return { reply: next, next, effects };
    }
    default:
      return unreachable(status);
  }
}

/** Whatever has not ended is cancelled by it, however much that is. */
function disabled(
  state: Endpoint,
  { reason, last, now_ms }: { reason: typeof TOO_MANY_FAILURES | null; last: number; now_ms: number },
): Endpoint {
  const next = newBatch(state, { generation: state.generation + 1, life: state.life }, now_ms);
  return { ...next, standing: { status: 'disabled', reason }, taken: Math.max(last, state.taken) };
}

function newBatch(state: Endpoint, born: { generation: number; life: number }, now_ms: number): Endpoint {
  const left = state.waiting > 0 ? [{ batch: batchOf(state), at_ms: now_ms }] : [];
  return { ...state, ...born, waiting: 0, cancelled: [...state.cancelled, ...left] };
}

function leaseEndsAt({ claims }: Endpoint): number | null {
  return claims.length === 0 ? null : Math.min(...claims.map(({ lease_until_ms }) => lease_until_ms));
}

/** One turn of work: what came back, what was lost, what is claimed next. */
class Turn {
  #state: Endpoint;
  readonly #message: WorkMessage;
  readonly #facts: Facts;
  readonly #now_ms: number;
  readonly #last: number;
  /** Where those wait that were loaded. */
  readonly #batch: string;
  readonly #effects: Effect[] = [];
  readonly #claimed: Claim[] = [];
  readonly #ended: { outcome: EndedDelivery['outcome']; event_ms: number }[] = [];
  /** When the next of those that wait is due, as far as this turn has seen. */
  #due_at_ms = Number.POSITIVE_INFINITY;
  #late = 0;
  #is_disabled_now = false;

  constructor(state: Endpoint, message: WorkMessage, { facts, now_ms }: At) {
    this.#state = message.life === state.life ? state : newBatch(state, { ...state, life: message.life }, now_ms);
    this.#message = message;
    this.#facts = facts;
    this.#now_ms = now_ms;
    this.#last = facts.inbox().last;
    this.#batch = batchOf(this.#state);
  }

  decide(): Decision<Endpoint, EndpointReply> {
    for (const result of this.#message.results) this.#take(result);
    this.#takeBackLost();
    this.#claim();
    this.#dropOldBatches();
    const { account_id, url } = this.#state;
    if (this.#is_disabled_now) {
      const { mail } = this.#message;
      if (mail === undefined) return { reply: { mail_needed: true, account_id, url } };
      this.#effects.push(
        { effect: 'unsubscribe', account_id, endpoint_id: this.#facts.self },
        { effect: 'mail', ...mail, give_up_at_ms: this.#now_ms + LIMITS.mail_retried_ms },
      );
    }
    const next_at_ms = this.#nextAt();
    return {
      reply: {
        claims: this.#claimed,
        late: this.#late,
        next_at_ms,
        disabled: this.#is_disabled_now,
        ended: this.#ended,
      },
      next: this.#state,
      effects: [...this.#effects, { effect: 'wake', at_ms: next_at_ms, seen: this.#last }],
    };
  }

  #set(change: Partial<Endpoint>): void {
    this.#state = { ...this.#state, ...change };
  }

  #take({ sequence, token, attempt, verdict, retry_after_ms }: AttemptResult): void {
    const claim = this.#state.claims.find((one) => one.sequence === sequence && one.token === token);
    if (claim === undefined) {
      this.#late += 1;
      return;
    }
    this.#release(claim);
    const attempts = [...claim.attempts, attempt];
    if (!this.#isPresent(claim)) return this.#end(claim, attempts, 'cancelled');
    switch (verdict) {
      case 'accepted':
        this.#set({
          failure_count: 0,
          last_success_at_ms: attempt.attempted_at_ms + (attempt.duration_ms ?? 0),
          passing_failures: 0,
          probe_at_ms: 0,
        });
        return this.#end(claim, attempts, 'succeeded');
      case 'refused':
        this.#end(claim, attempts, 'failed');
        return this.#countFailure();
      case 'void':
        return this.#end(claim, attempts, 'failed');
      case 'passing': {
        const passing_failures = this.#state.passing_failures + 1;
        const { jitter } = this.#message;
        this.#set({ passing_failures });
        if (isSpared(this.#state)) this.#set({ probe_at_ms: this.#now_ms + probeMs(passing_failures, jitter) });
        const delay_ms = Math.max(backoffMs(attempts.length, jitter), retry_after_ms ?? 0);
        return this.#tryAgain(claim, attempts, this.#now_ms + delay_ms);
      }
      default:
        return unreachable(verdict);
    }
  }

  /** Whoever had claimed these has not come back in time: nobody knows whether they were posted. */
  #takeBackLost(): void {
    for (const claim of this.#state.claims.filter(({ lease_until_ms }) => lease_until_ms <= this.#now_ms)) {
      this.#release(claim);
      const lost: Attempt = {
        attempted_at_ms: claim.claimed_at_ms,
        status_code: null,
        reason: null,
        error: 'interrupted',
        duration_ms: null,
      };
      const attempts = [...claim.attempts, lost];
      if (this.#isPresent(claim)) this.#tryAgain(claim, attempts, this.#now_ms);
      else this.#end(claim, attempts, 'cancelled');
    }
  }

  #tryAgain(entry: InboxEntry, attempts: Attempt[], at_ms: number): void {
    if (attempts.length >= LIMITS.delivery_attempts_max || at_ms >= deadlineMs(entry)) {
      this.#end(entry, attempts, 'failed');
      return this.#countFailure();
    }
    const value: WaitingDelivery = { ...entryOf(entry), attempts };
    this.#effects.push({
      effect: 'put',
      collection: batchOf(entry),
      id: String(entry.sequence),
      value,
      order: at_ms,
    });
    this.#set({ waiting: this.#state.waiting + 1 });
    this.#due_at_ms = Math.min(this.#due_at_ms, at_ms);
  }

  /** Takes up what is due, whatever has waited longest first, until there are enough claims. */
  #claim(): void {
    const waiting = this.#facts.range<WaitingDelivery>(this.#batch);
    const { entries } = this.#facts.inbox();
    const tokens = [...this.#message.tokens];
    let [at_waiting, at_inbox] = [0, 0];
    while (this.#state.standing.status === 'active' && this.#room() > 0 && tokens.length > 0) {
      const row = waiting[at_waiting];
      const entry = entries[at_inbox];
      const due_at_ms = row?.order ?? Number.POSITIVE_INFINITY;
      const since_ms = entry === undefined ? Number.POSITIVE_INFINITY : eventMs(entry);
      if (row !== undefined && due_at_ms <= this.#now_ms && due_at_ms <= since_ms) {
        at_waiting += 1;
        this.#effects.push({ effect: 'drop', collection: batchOf(row.value), id: row.id });
        this.#set({ waiting: this.#state.waiting - 1 });
        this.#claimOne(row.value, row.value.attempts, tokens);
      } else if (entry !== undefined) {
        at_inbox += 1;
        this.#set({ taken: entry.sequence });
        if (this.#isPresent(entry)) this.#claimOne(entry, [], tokens);
      } else break;
    }
    // What is left of those that were looked at; one put back in this turn is counted where it was put.
    const next = waiting[at_waiting];
    if (next !== undefined) this.#due_at_ms = Math.min(this.#due_at_ms, next.order);
    else if (at_waiting === LOOKED_AT_MAX) this.#due_at_ms = this.#now_ms;
  }

  #claimOne(entry: InboxEntry, attempts: Attempt[], tokens: string[]): void {
    if (this.#now_ms >= deadlineMs(entry)) {
      // Its time ran out. That counts, unless it had before the endpoint was set active and the count began.
      if (attempts.length > 0) this.#end(entry, attempts, 'failed');
      const { standing } = this.#state;
      if (standing.status === 'active' && deadlineMs(entry) > standing.since_ms) this.#countFailure();
      return;
    }
    const claim: Claim = {
      ...entryOf(entry),
      attempts,
      token: tokens.shift() as string,
      claimed_at_ms: this.#now_ms,
      lease_until_ms: this.#now_ms + LIMITS.delivery_lease_ms,
    };
    this.#claimed.push(claim);
    this.#set({ claims: [...this.#state.claims, claim] });
  }

  /** How many more may be in flight. */
  #room(): number {
    const { claims, probe_at_ms } = this.#state;
    if (!isSpared(this.#state)) return LIMITS.endpoint_in_flight_max - claims.length;
    return claims.length === 0 && this.#now_ms >= probe_at_ms ? 1 : 0;
  }

  #isPresent({ generation, life }: InboxEntry): boolean {
    return generation === this.#state.generation && life === this.#state.life;
  }

  #release(claim: Claim): void {
    this.#set({ claims: this.#state.claims.filter((one) => one !== claim) });
  }

  #end(entry: InboxEntry, attempts: Attempt[], outcome: EndedDelivery['outcome']): void {
    const value: EndedDelivery = { ...entryOf(entry), attempts, outcome, ended_at_ms: this.#now_ms };
    this.#effects.push({ effect: 'put', collection: ENDED, id: String(entry.sequence), value, order: this.#now_ms });
    this.#ended.push({ outcome, event_ms: eventMs(entry) });
  }

  #countFailure(): void {
    this.#set({ failure_count: this.#state.failure_count + 1 });
    const { failure_count, standing } = this.#state;
    if (failure_count < LIMITS.endpoint_failures_max || standing.status !== 'active') return;
    this.#state = disabled(this.#state, { reason: TOO_MANY_FAILURES, last: this.#last, now_ms: this.#now_ms });
    this.#is_disabled_now = true;
  }

  #dropOldBatches(): void {
    const { cancelled } = this.#state;
    const too_many = cancelled.slice(0, Math.max(0, cancelled.length - CANCELLED_BATCHES_MAX));
    for (const { batch } of too_many) this.#effects.push({ effect: 'drop_all', collection: batch });
    if (too_many.length > 0) this.#set({ cancelled: cancelled.slice(too_many.length) });
  }

  /** When there is something to do, should nothing happen before. */
  #nextAt(): number | null {
    const lease_ends_at = leaseEndsAt(this.#state) ?? Number.POSITIVE_INFINITY;
    const { standing, taken, claims, probe_at_ms } = this.#state;
    let at_ms = Number.POSITIVE_INFINITY;
    if (standing.status === 'active') {
      at_ms = taken < this.#last ? this.#now_ms : Math.max(this.#due_at_ms, this.#now_ms);
      const in_flight_max = isSpared(this.#state) ? 1 : LIMITS.endpoint_in_flight_max;
      if (claims.length >= in_flight_max) at_ms = lease_ends_at;
      else if (isSpared(this.#state)) at_ms = Math.max(at_ms, probe_at_ms);
      if (at_ms <= this.#now_ms && this.#claimed.length === this.#message.tokens.length) at_ms += NO_SLOTS_MS;
    }
    const next_at_ms = Math.min(at_ms, lease_ends_at);
    return Number.isFinite(next_at_ms) ? next_at_ms : null;
  }
}

/** What is a delivery's own, without the place that it lies in. */
function entryOf({ sequence, log_id, life, generation, type }: InboxEntry): InboxEntry {
  return { sequence, log_id, life, generation, type };
}

function remindToSweep(at_ms: number): Effect {
  return { effect: 'remind', name: 'sweep', at_ms, message: { type: 'sweep' } satisfies EndpointMessage };
}

/** Deliveries are kept as long as events are, what came of their attempts for longer. Interface: "Recording and retention". */
function swept(state: Endpoint, { facts, now_ms }: At): Decision<Endpoint, EndpointReply> {
  const { entries, last } = facts.inbox();
  const kept = entries.find((entry) => eventMs(entry) >= now_ms - LIMITS.event_kept_ms);
  const before = kept?.sequence ?? (entries.at(-1)?.sequence ?? last) + 1;
  const oldest = entries[0];
  const trim: Effect[] = oldest !== undefined && oldest.sequence < before ? [{ effect: 'trim_inbox', before }] : [];
  const attempts_from_ms = now_ms - LIMITS.attempt_kept_ms;
  const over = facts.range<EndedDelivery>(ENDED).filter(({ order }) => order < attempts_from_ms);
  const batches = state.cancelled.filter(({ at_ms }) => at_ms < attempts_from_ms);
  const more = (entries.length === SWEPT_MAX && kept === undefined) || over.length === SWEPT_MAX;
  return {
    reply: DONE,
    next: { ...state, cancelled: state.cancelled.filter((one) => !batches.includes(one)) },
    effects: [
      ...trim,
      ...over.map(({ id }): Effect => ({ effect: 'drop', collection: ENDED, id })),
      ...batches.map(({ batch }): Effect => ({ effect: 'drop_all', collection: batch })),
      remindToSweep(now_ms + (more ? SWEEP_ON_MS : LIMITS.endpoint_sweep_every_ms)),
    ],
  };
}
