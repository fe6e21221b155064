import type { Account } from '../../actors/accounts/account_state.js';
import type { QueuedDelivery } from '../../actors/actor.js';
import {
  type DeliveryClaim,
  deadlineMs,
  type EndedDelivery,
  type WaitingDelivery,
} from '../../actors/webhooks/delivery.js';
import { batchOf, ENDED, type Endpoint } from '../../actors/webhooks/endpoint_state.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { decodeStored } from '../../src/engine/store/codec.js';
import { decodeEvent } from '../../src/engine/store/event_body.js';
import type { Commit, EntityLocation, StoredEffect } from '../../src/engine/store/store.js';
import type { Ledger } from './ledger.js';
import type { Applied, ModelStore } from './model_store.js';

type Event = { id: string; type: string; data: { reason?: string } };
type Told = { to: { kind: string; id: string }; message: { type: string; endpoint?: { topics: string[] } } };
/** A delivery from its making on. `cancelled`: its endpoint was disabled or removed, or its account deleted. */
type Followed = QueuedDelivery & {
  endpoint_id: string;
  /** Null where it is not told from others of its commit. */
  event_id: string | null;
  claims: number;
  posts: number;
  answered: (number | null)[];
  is_cancelled: boolean;
  ended: EndedDelivery['outcome'] | null;
  /** Its time ran out before anybody had tried it. */
  is_over: boolean;
};

/** What nobody gets. Rules F-033 and F-035. */
const UNDELIVERED = ['account.created', 'account.deleted'];
/** While all goes well, what is due is looked at by then. */
const LOOKED_AT_AGAIN_MS = 6_000;

/**
 * Every delivery, followed from commit to commit: who must have got an event is worked out from the states of accounts
 * and endpoints alone, as they stood at that instant, and held against what lies in the inboxes.
 */
export class DeliveryHistory {
  readonly #model: ModelStore;
  readonly #ledger: Ledger;
  readonly #accounts = new Map<string, Account | null>();
  readonly #endpoints = new Map<string, Endpoint | null>();
  /** As their accounts made them; the endpoint itself hears of it a little later. */
  readonly #topics = new Map<string, string[]>();
  /** The greatest number seen in an inbox. */
  readonly #newest = new Map<string, number>();
  readonly #followed = new Map<string, Map<number, Followed>>();
  deliveries = 0;
  posts = 0;
  disabled = 0;

  constructor(model: ModelStore, ledger: Ledger) {
    this.#model = model;
    this.#ledger = ledger;
  }

  see(applied: Applied): void {
    const { kind, id } = applied.place.address;
    if (kind === 'account') this.#seeAccount(id, applied);
    if (kind === 'endpoint') this.#seeEndpoint(id, applied);
    // What others write into an account's log.
    if (kind !== 'account') {
      const of = applied.commit.effects.flatMap((one) => (one.effect === 'append_event' ? one.account_id : []));
      for (const account_id of new Set(of)) {
        const account = this.#accounts.get(account_id) ?? null;
        if (account !== null) this.#seeEvents(account, account, applied);
      }
    }
  }

  /** A receiver got it; called at the moment at which the request is sent. */
  posted(
    delivery: { endpoint_id: string; sequence: number } | null,
    { body, status_code }: { body: string; status_code: number | null },
  ): void {
    const followed = delivery && this.#followed.get(delivery.endpoint_id)?.get(delivery.sequence);
    if (!followed) {
      this.#must(false, `posted what was never made: ${JSON.stringify(delivery)}`);
      return;
    }
    const { id, type } = JSON.parse(body) as Event;
    this.#must(
      [id, null].includes(followed.event_id) && type === followed.type,
      `${nameOf(followed)} was posted as ${type}`,
    );
    followed.posts += 1;
    this.posts += 1;
    followed.answered.push(status_code);
    // None is claimed once it is cancelled, so that one which is posted afterwards was claimed before.
    this.#must(followed.posts <= followed.claims, `${nameOf(followed)} was posted more often than it was claimed`);
  }

  #seeAccount(id: string, applied: Applied): void {
    const was = stateOf<Account>(applied.before);
    const is = stateOf<Account>(applied.commit.snapshot);
    this.#accounts.set(id, is);
    if (is === null) return;
    this.#seeEvents(was, is, applied);
    for (const endpoint_id of was?.endpoints ?? []) {
      for (const one of this.#of(endpoint_id)) if (one.account_epoch !== is.epochs.account) one.is_cancelled = true;
    }
  }

  /** The events of a commit, each with those who must get it, in their order. */
  #seeEvents(was: Account | null, is: Account, { place, commit }: Applied): void {
    let present = new Set(was?.endpoints ?? []);
    let account_epoch = was?.epochs.account ?? 0;
    let is_open = was !== null && (was.phase.status === 'active' || was.phase.status === 'leaving');
    const expected = new Map<string, { type: string; event_id: string; account_epoch: number; enablement: number }[]>();
    for (const effect of commit.effects) {
      if (effect.effect === 'bump_epoch' && effect.epoch === 'account' && effect.account_id === is.id)
        account_epoch += 1;
      if (effect.effect === 'notify') this.#hear(decodeStored(effect.body) as Told, present);
      if (effect.effect !== 'append_event' || effect.account_id !== is.id) continue;
      const { id: event_id, type, data } = decodeEvent(effect) as unknown as Event;
      if (type === 'account.deleted') is_open = false;
      if (type === 'account.restored') is_open = true;
      if (was === null || ['erased', 'erasing'].includes(was.phase.status)) is_open = is.phase.status === 'active';
      const is_never = UNDELIVERED.includes(type) || data.reason === 'account_deleted';
      if (!is_open || is_never) continue;
      for (const endpoint_id of present) {
        const endpoint = this.#endpoints.get(endpoint_id);
        if (endpoint !== undefined && endpoint?.standing.status !== 'active') continue;
        const topics = endpoint?.topics ?? this.#topics.get(endpoint_id) ?? [];
        if (topics.length > 0 && !(topics as string[]).includes(type)) continue;
        const one = { type, event_id, account_epoch, enablement: endpoint?.enablement ?? 1 };
        expected.set(endpoint_id, [...(expected.get(endpoint_id) ?? []), one]);
      }
    }
    // One that was let go may have been set active before it heard of it, and may not even have heard of its creation.
    const going = [...this.#endpoints].flatMap(([id, endpoint]) => (endpoint?.account_id === is.id ? id : []));
    present = new Set([...(was?.endpoints ?? []), ...present, ...expected.keys(), ...is.endpoints, ...going]);
    for (const endpoint_id of present) {
      const wanted = expected.get(endpoint_id) ?? [];
      const made = this.#takeNew(endpoint_id, place.partition);
      const counted = is.endpoints.includes(endpoint_id) ? made : made.slice(0, wanted.length);
      const say = (list: { type: string; account_epoch: number; enablement: number }[]) =>
        list.map(({ type, account_epoch: issued_under, enablement }) => `${type} ${issued_under}.${enablement}`).join();
      this.#must(
        say(counted) === say(wanted),
        `${endpoint_id} got ${say(counted) || 'nothing'} of ${commit.commit_id} and was to get ${say(wanted) || 'nothing'}`,
      );
      for (const [index, entry] of made.entries()) this.#follow(endpoint_id, entry, wanted[index]?.event_id ?? null);
    }
  }

  #hear({ to, message }: Told, present: Set<string>): void {
    if (to.kind !== 'endpoint') return;
    if (message.type === 'remove') present.delete(to.id);
    if (message.type !== 'create') return;
    present.add(to.id);
    this.#topics.set(to.id, message.endpoint?.topics ?? []);
  }

  #takeNew(endpoint_id: string, partition: number): QueuedDelivery[] {
    const entries = this.#model.deliveriesOf(placeOf(endpoint_id, partition));
    const newest = this.#newest.get(endpoint_id) ?? 0;
    this.#newest.set(endpoint_id, Math.max(newest, entries.at(-1)?.sequence ?? 0));
    return entries.filter(({ sequence }) => sequence > newest);
  }

  #follow(endpoint_id: string, entry: QueuedDelivery, event_id: string | null): void {
    const own = this.#followed.get(endpoint_id) ?? new Map<number, Followed>();
    this.#followed.set(endpoint_id, own);
    const none = { claims: 0, posts: 0, answered: [], is_cancelled: false, ended: null, is_over: false };
    own.set(entry.sequence, { ...entry, endpoint_id, event_id, ...none });
    this.deliveries += 1;
  }

  #seeEndpoint(id: string, { before, commit }: Applied): void {
    const is = stateOf<Endpoint>(commit.snapshot);
    this.#endpoints.set(id, is);
    if (is === null) {
      // A batch of work that came right before the removal, in one commit with it, may have claimed any.
      for (const one of this.#of(id)) {
        if (isFolded(commit.effects) && !one.is_cancelled) one.claims += 1;
        one.is_cancelled = true;
      }
      return;
    }
    const was = stateOf<Endpoint>(before) ?? { ...is, claims: [], failure_count: 0, taken: 0 };
    // Its account may have let it go before it heard of its creation, and been deleted since.
    for (const one of this.#of(id)) if (one.account_epoch < is.account_epoch) one.is_cancelled = true;
    this.#seeClaims(id, { was, is }, commit);
    this.#seeCount(id, { was, is }, commit);
    for (const one of this.#of(id)) if (one.enablement !== is.enablement) one.is_cancelled = true;
  }

  #seeClaims(id: string, { was, is }: { was: Endpoint; is: Endpoint }, { effects, now_ms }: Commit): void {
    const is_active = activeIn({ was, is }, effects);
    this.#must(is.claims.length <= LIMITS.endpoint_in_flight_max, `${id} has ${is.claims.length} in flight`);
    for (const claim of is.claims) {
      if (was.claims.some(({ token }) => token === claim.token)) continue;
      const one = this.#followed.get(id)?.get(claim.sequence);
      if (one === undefined) {
        this.#must(false, `${id} claimed ${claim.sequence}, which was never made`);
        continue;
      }
      const name = nameOf(one);
      this.#must(!one.is_cancelled && one.ended === null && !one.is_over, `${name} was claimed after its end`);
      this.#must(now_ms < deadlineMs(one), `${name} was claimed after its time`);
      this.#must(is_active, `${name} was claimed of a ${is.standing.status} endpoint`);
      this.#must(
        claim.attempts.length === one.claims,
        `${name} has ${claim.attempts.length} attempts of ${one.claims}`,
      );
      one.claims += 1;
      this.#must(one.claims <= LIMITS.delivery_attempts_max, `${name} was claimed ${one.claims} times`);
    }
  }

  /** What ends and what is set active, in the order of the commit, gives the count. */
  #seeCount(id: string, { was, is }: { was: Endpoint; is: Endpoint }, { effects, now_ms }: Commit): void {
    let count = was.failure_count;
    let activations = 0;
    let passed = 0;
    const began_ms = was.standing.status === 'active' ? was.standing.since_ms : Number.POSITIVE_INFINITY;
    for (const effect of effects) {
      if (effect.effect === 'subscribe') {
        count = 0;
        activations += 1;
      }
      if (effect.effect !== 'put_record' || effect.collection !== ENDED) continue;
      const ended = decodeStored(effect.value) as EndedDelivery;
      const one = this.#followed.get(id)?.get(ended.sequence);
      if (one === undefined) {
        this.#must(false, `${id} ended ${ended.sequence}, which was never made`);
        continue;
      }
      this.#must(one.ended === null, `${nameOf(one)} ended twice`);
      this.#must(
        ended.attempts.length === one.claims,
        `${nameOf(one)}: ${ended.attempts.length} of ${one.claims} attempts`,
      );
      one.ended = ended.outcome;
      if (ended.outcome === 'cancelled') continue;
      if (ended.outcome === 'succeeded') {
        const accepted = one.answered.some((status) => status === 200);
        this.#must(accepted, `${nameOf(one)} succeeded and was never accepted`);
        count = 0;
        continue;
      }
      // One that ran out of time while the endpoint was not active counts nothing.
      const ran_out = !was.claims.some(({ sequence }) => sequence === ended.sequence);
      if (!ran_out || deadlineMs(one) > began_ms) count += 1;
    }
    for (const one of this.#of(id)) {
      const is_passed = one.sequence > was.taken && one.sequence <= is.taken && one.claims === 0;
      if (!is_passed || one.is_cancelled || one.ended !== null || now_ms < deadlineMs(one)) continue;
      one.is_over = true;
      if (deadlineMs(one) > began_ms) passed += 1;
    }
    const is_new = was.enablement !== is.enablement;
    const stays_disabled = is_new && is.standing.status === 'disabled' && is.standing.reason !== null;
    const is_mailed = effects.some((one) => one.effect === 'enqueue' && one.queue === 'mails');
    const says = is_mailed ? 'a mail' : 'no mail';
    this.#must(
      stays_disabled ? is_mailed : !is_mailed || isFolded(effects),
      `${id} is ${is.standing.status}, with ${says}`,
    );
    if (is_mailed) {
      this.disabled += 1;
      this.#ledger.attempt('mail');
    }
    if (activations > 0 && count + passed > 0) return; // which of them came first only the endpoint knows
    // Who disables it passes over its inbox, without a look at what ran out of time there.
    const unseen = is_new && !stays_disabled ? passed : 0;
    const most = isFolded(effects) || unseen === 0 ? count + passed : count;
    const holds = stays_disabled
      ? is.failure_count === LIMITS.endpoint_failures_max && most >= is.failure_count
      : is.failure_count >= count + passed - unseen && is.failure_count <= most;
    this.#must(holds, `${id} counts ${is.failure_count} failures in a row, there were ${count} and ${passed}`);
    const is_missed = is.standing.status === 'active' && is.failure_count >= LIMITS.endpoint_failures_max;
    this.#must(!is_missed, `${id} is active after ${is.failure_count} failures`);
  }

  /**
   * Nothing is under way any more: whatever can be done has been, or somebody will look. `is_well`: receivers have
   * accepted everything for so long that none is spared any more; `is_over`: for longer than any delivery epochs.
   */
  checkRest(now_ms: number, { is_well, is_over }: { is_well: boolean; is_over: boolean }): void {
    for (const [id, endpoint] of this.#endpoints) {
      const place = placeOf(id, partitionOfId(id));
      const wake_ms = this.#model.wakeOf(place);
      if (endpoint === null) {
        this.#must(wake_ms === null, `${id} is gone, and is looked at ${wake_ms}`);
        this.#must(this.#model.deliveriesOf(place).length === 0, `${id} is gone, and has deliveries`);
        continue;
      }
      const account = this.#accounts.get(endpoint.account_id);
      this.#must(account?.endpoints.includes(id) === true, `${id} is nobody's`);
      const lost = endpoint.claims.filter(
        ({ lease_until_ms }) => is_over || lease_until_ms < now_ms - LOOKED_AT_AGAIN_MS,
      );
      this.#must(lost.length === 0, `${id} still has claims: ${lost.map(nameOfClaim)}`);
      const rows = [...this.#model.collection(place, batchOf(endpoint))].map(
        ({ value }) => decodeStored(value) as WaitingDelivery,
      );
      this.#must(rows.length === endpoint.waiting, `${id} says that ${endpoint.waiting} wait, of ${rows.length}`);
      const is_closed = account?.phase.status !== 'active';
      if (endpoint.standing.status !== 'active' || is_closed) continue;
      const present = rows.filter(({ account_epoch }) => account_epoch === account?.epochs.account);
      const due_ms = Math.min(...present.map((row) => row.due_at_ms));
      if (present.length > 0) {
        // What is in flight comes first: of one that is spared nothing else goes beside it.
        const lease_ms = Math.max(0, ...endpoint.claims.map(({ lease_until_ms }) => lease_until_ms));
        const by_ms = Math.max(due_ms, endpoint.probe_at_ms, lease_ms);
        const in_time = wake_ms !== null && wake_ms <= Math.max(by_ms, now_ms) + LOOKED_AT_AGAIN_MS;
        this.#must(in_time, `${id} is due ${due_ms}, and is looked at ${wake_ms}`);
        this.#must(by_ms >= now_ms - LOOKED_AT_AGAIN_MS, `${id} was due ${due_ms}`);
      }
      for (const one of this.#of(id)) {
        if (one.is_cancelled || one.ended !== null || one.is_over) continue;
        const expired = now_ms >= deadlineMs(one);
        this.#must(one.posts > 0 || expired || !is_well, `${nameOf(one)} was never posted`);
        this.#must(one.sequence <= endpoint.taken || !is_well, `${nameOf(one)} was never looked at`);
        this.#must(!is_over, `${nameOf(one)} never ends`);
      }
      if (is_over) this.#must(wake_ms === null, `${id} has nothing to do, and is looked at ${wake_ms}`);
    }
  }

  /** Endpoints that there are. */
  living(): Set<string> {
    return new Set([...this.#endpoints].flatMap(([id, endpoint]) => (endpoint === null ? [] : id)));
  }

  #of(endpoint_id: string): Iterable<Followed> {
    return this.#followed.get(endpoint_id)?.values() ?? [];
  }

  #must(holds: boolean, text: string): void {
    this.#ledger.mustHold(holds, text);
  }
}

/** Several batches in one commit, of which the state shows the last. Every batch that changes an endpoint says when to wake it. */
function isFolded(effects: StoredEffect[]): boolean {
  return effects.filter(({ effect }) => effect === 'schedule_endpoint').length > 1;
}

/** Whether a batch of this commit may have found it active. */
function activeIn({ was, is }: { was: Endpoint; is: Endpoint }, effects: StoredEffect[]): boolean {
  if (is.standing.status === 'active') return true;
  return (
    isFolded(effects) && (was.standing.status === 'active' || effects.some(({ effect }) => effect === 'subscribe'))
  );
}

function placeOf(endpoint_id: string, partition: number): EntityLocation {
  return { address: { kind: 'endpoint', id: endpoint_id }, partition };
}

function nameOf({ endpoint_id, sequence }: Followed): string {
  return `delivery ${sequence} of ${endpoint_id}`;
}

function nameOfClaim({ sequence, lease_until_ms }: DeliveryClaim): string {
  return `${sequence} until ${lease_until_ms}`;
}

function stateOf<State>(snapshot: Uint8Array | null): State | null {
  return snapshot === null ? null : (decodeStored(snapshot) as { s: State | null }).s;
}
