import fc from 'fast-check';
import t from 'tap';
import type { QueuedDelivery } from '../../../actors/actor.js';
import {
  type AttemptResult,
  type DeliveryClaim,
  deadlineMs,
  type EndedDelivery,
  eventMs,
  type WaitingDelivery,
} from '../../../actors/webhooks/delivery.js';
import { batchOf, ENDED, type Endpoint } from '../../../actors/webhooks/endpoint_state.js';
import { LIMITS } from '../../../src/domain/limits.js';
import type { AttemptVerdict, EndpointStatus } from '../../../src/domain/webhooks.js';
import { anyPlay, checkPlays } from '../../fixtures/decisions.js';
import { ATTEMPT, entry, PlayedEndpoint, resultOf } from '../../fixtures/endpoint_state.js';

/** One endpoint, whatever happens to it, beside a reference that knows only what the interface says. */

const NO_SLOTS_MS = 5_000;
const TURNS_MAX = 3_000;
const VERDICTS: AttemptVerdict[] = ['accepted', 'refused', 'retryable', 'discarded'];

type Outcome = { verdict: AttemptVerdict | 'none'; retry_after_ms: number | null };
type Message =
  | { does: 'events'; count: number }
  | { does: 'work'; outcomes: Outcome[]; tokens: number; jitter: number }
  /** A receiver that says the same again and again, whenever it is time. */
  | { does: 'insist'; turns: number; outcome: Outcome }
  | { does: 'repeat' }
  | { does: 'status'; status: EndpointStatus }
  | { does: 'epoch' }
  | { does: 'sweep' };

/** A delivery as the reference sees it; `over` says why nobody will see it again. */
type Known = QueuedDelivery & { attempts: number; over: null | 'ended' | 'cancelled' | 'expired' };

class Reference {
  readonly played = new PlayedEndpoint();
  readonly known = new Map<number, Known>();
  /** Handed out, and not yet answered for. */
  held: DeliveryClaim[] = [];
  answered: AttemptResult[] = [];
  wake_ms: number | null = null;
  count = 0;
  succeeded = 0;
  mails = 0;
  #sequence = 0;
  /** How it stood before the turn, and whether that turn has disabled it so far. */
  #was: EndpointStatus = 'active';
  #disabled = false;
  #effects_done = 0;

  get #now_ms(): number {
    return this.played.now_ms;
  }
  get #endpoint(): Endpoint {
    return this.played.endpoint;
  }

  events(count: number): void {
    if (this.#endpoint.standing.status !== 'active') return; // it is not subscribed
    for (let made = 0; made < count; made++) {
      this.#sequence += 1 + (this.#sequence % 3);
      const { enablement } = this.#endpoint;
      const one = entry(this.#sequence, { at_ms: this.#now_ms, account_epoch: this.played.account_epoch, enablement });
      this.played.inbox = [...this.played.inbox, one];
      this.known.set(one.sequence, { ...one, attempts: 0, over: null });
    }
    this.wake_ms = Math.min(this.wake_ms ?? this.#now_ms, this.#now_ms);
  }

  status(status: EndpointStatus): void {
    const before = this.#endpoint.standing.status;
    const done = this.played.effects.length;
    const { reply } = this.played.send({ type: 'set_status', status });
    must('refused' in reply === (before === 'disabled' && status === 'paused'), 'only disabled to paused is refused');
    this.#takeWake(done);
    if (before === status || 'refused' in reply) return;
    if (status === 'active') this.count = 0;
    if (status === 'disabled') this.#cancelAll();
    this.#check();
  }

  raiseEpoch(): void {
    this.played.account_epoch += 1;
    this.#cancelAll();
  }

  sweep(): void {
    this.played.send({ type: 'sweep' });
    for (const one of this.known.values())
      if (eventMs(one) < this.#now_ms - LIMITS.event_kept_ms && one.over === null) one.over = 'expired';
    this.#check();
  }

  /** The last results once more: they were taken already. */
  repeat(): void {
    const before = this.#endpoint;
    const { late } = this.played.work({ results: this.answered, tokens: 0 });
    must(late === this.answered.length, 'a result counts twice');
    this.#lost(before);
    this.#settleTurn(before, { claims: [], tokens: 0 });
  }

  work({ outcomes, tokens, jitter }: { outcomes: Outcome[]; tokens: number; jitter: number }): void {
    const before = this.#endpoint;
    const results: AttemptResult[] = [];
    this.held = this.held.filter((claim, index) => {
      const { verdict, retry_after_ms } = outcomes[index % Math.max(1, outcomes.length)] ?? {
        verdict: 'none' as const,
        retry_after_ms: null,
      };
      if (verdict === 'none') return true; // still under way, or lost
      results.push(
        resultOf(claim, verdict, { retry_after_ms, attempt: { ...ATTEMPT, attempted_at_ms: this.#now_ms } }),
      );
      return false;
    });
    const work = this.played.work({ results, tokens, jitter });
    this.answered = results;
    let late = 0;
    for (const result of results) late += this.#result(before, result, jitter) ? 0 : 1;
    must(work.late === late, `${late} results were late, ${work.late} were called so`);
    this.#lost(before);
    this.#settleTurn(before, { claims: work.claims, tokens });
    for (const claim of work.claims) this.#claimed(claim);
    this.held.push(...work.claims);
    this.#check();
  }

  #result(before: Endpoint, { sequence, token, verdict, retry_after_ms }: AttemptResult, jitter: number): boolean {
    const claim = before.claims.find((one) => one.sequence === sequence && one.token === token);
    if (claim === undefined) return false;
    const one = this.#of(sequence);
    one.attempts += 1;
    if (one.over !== null) return true;
    if (verdict === 'accepted') {
      this.count = 0;
      this.succeeded += 1;
      one.over = 'ended';
    } else if (verdict === 'discarded') one.over = 'ended';
    else if (verdict === 'refused') this.#failed(one);
    else {
      const waits_ms = Math.max(10_000 * 4 ** (one.attempts - 1) * (0.6 + 0.8 * jitter), retry_after_ms ?? 0);
      if (one.attempts >= 8 || this.#now_ms + Math.round(waits_ms) >= deadlineMs(one)) this.#failed(one);
    }
    return true;
  }

  #lost(before: Endpoint): void {
    const answered = new Set(this.answered.map(({ token }) => token));
    for (const { sequence, token, lease_until_ms } of before.claims) {
      if (answered.has(token) || lease_until_ms > this.#now_ms) continue;
      const one = this.#of(sequence);
      one.attempts += 1;
      if (one.over === null && (one.attempts >= 8 || this.#now_ms >= deadlineMs(one))) this.#failed(one);
    }
  }

  #failed(one: Known): void {
    one.over = 'ended';
    this.count += 1;
    if (this.count < 10 || this.#disabled || this.#was !== 'active') return;
    this.#disabled = true;
    this.#cancelAll();
  }

  /** What was looked at: those whose time is over count where it ran out while the endpoint was active. */
  #settleTurn(before: Endpoint, { claims, tokens }: { claims: DeliveryClaim[]; tokens: number }): void {
    const { standing, taken, enablement, failure_count } = this.#endpoint;
    const claimed = new Set(claims.map(({ sequence }) => sequence));
    const ended = this.played.records<EndedDelivery>(ENDED);
    const expired = [...this.known.values()].filter((one) => {
      if (one.over !== null || claimed.has(one.sequence) || this.#now_ms < deadlineMs(one)) return false;
      const was_in_inbox = one.sequence > before.taken;
      return was_in_inbox ? one.sequence <= taken : ended.has(String(one.sequence));
    });
    const counts = expired.filter(
      (one) => before.standing.status === 'active' && deadlineMs(one) > before.standing.since_ms,
    );
    const is_disabled_now = enablement > before.enablement;
    if (is_disabled_now && !this.#disabled) {
      must(this.count < 10 && this.count + counts.length >= 10, 'disabled before the tenth');
      this.count = 10;
      this.#disabled = true;
      for (const one of expired) one.over = 'expired';
      this.#cancelAll();
    } else if (!is_disabled_now) {
      must(!this.#disabled, 'not disabled at the tenth');
      this.count += counts.length;
      for (const one of expired) one.over = 'expired';
      must(this.count < 10 || before.standing.status !== 'active', 'not disabled at the tenth');
    }
    must(failure_count === this.count, `failure_count is ${failure_count}, the reference counts ${this.count}`);
    if (this.#disabled) {
      must(standing.status === 'disabled' && standing.reason === 'consecutive_failures', 'disabled without saying why');
      this.mails += 1;
    }
    this.#disabled = false;
    must(claims.length <= tokens, 'more claims than were wanted');
    this.#takeWake(this.#effects_done);
    this.#effects_done = this.played.effects.length;
    this.#was = standing.status;
  }

  #claimed(claim: DeliveryClaim): void {
    const one = this.#of(claim.sequence);
    must(one.over === null, `${claim.sequence} is ${one.over} and was claimed`);
    must(this.#now_ms < deadlineMs(claim), 'claimed after its time');
    must(this.#endpoint.standing.status === 'active', 'claimed while it is not active');
    must(
      claim.attempts.length === one.attempts && one.attempts < 8,
      `attempt ${claim.attempts.length} of ${one.attempts}`,
    );
    must(!this.held.some(({ token }) => token === claim.token), 'a token twice');
  }

  #cancelAll(): void {
    for (const one of this.known.values()) one.over ??= 'cancelled';
  }

  #of(sequence: number): Known {
    const found = this.known.get(sequence);
    if (found === undefined) throw new Error(`delivery ${sequence} was never made`);
    return found;
  }

  #takeWake(from: number): void {
    const last = this.played.inbox.at(-1)?.sequence ?? 0;
    for (const effect of this.played.effects.slice(from)) {
      if (effect.effect === 'schedule_endpoint')
        this.wake_ms = last > effect.seen ? Math.min(effect.at_ms ?? this.#now_ms, this.#now_ms) : effect.at_ms;
      if (effect.effect === 'enqueue_mail') this.mails -= 1;
    }
  }

  #check(): void {
    const { claims, taken, waiting, standing, retryable_failures, probe_at_ms } = this.#endpoint;
    this.#was = standing.status;
    this.#effects_done = this.played.effects.length;
    must(this.mails === 0, 'a mail too many, or one too few');
    must(claims.length <= LIMITS.endpoint_in_flight_max, 'too many in flight');
    const rows = this.played.records<WaitingDelivery>(batchOf(this.#endpoint));
    must(rows.size === waiting, `${waiting} are said to wait, ${rows.size} do`);
    const ended = this.played.records<EndedDelivery>(ENDED);
    const is_present = this.#endpoint.account_epoch === this.played.account_epoch;
    for (const one of this.known.values()) {
      const id = String(one.sequence);
      const places = [
        ...claims.filter(({ sequence }) => sequence === one.sequence).map(() => 'claim'),
        ...(rows.has(id) ? ['waiting'] : []),
        ...(ended.has(id) ? ['ended'] : []),
        ...(one.sequence > taken ? ['inbox'] : []),
      ];
      must(places.length <= 1, `${id} lies in ${places}`);
      if (one.over === null && is_present) must(places.length === 1, `${id} is lost`);
      if (one.over === 'ended') must(ended.has(id), `${id} has ended, and nothing says so`);
      const kept = ended.get(id);
      if (kept !== undefined) {
        must(kept.attempts.length === one.attempts, `${id} has ${kept.attempts.length} attempts of ${one.attempts}`);
        must(kept.attempts.length <= LIMITS.delivery_attempts_max, 'too many attempts');
      }
    }
    // Whatever there is to do, somebody looks in time.
    const lease_ms = Math.min(...claims.map(({ lease_until_ms }) => lease_until_ms));
    const wake_ms = this.wake_ms ?? Number.POSITIVE_INFINITY;
    must(wake_ms <= Math.max(lease_ms, this.#now_ms), `looked at ${wake_ms}, a lease ends ${lease_ms}`);
    if (standing.status !== 'active') return;
    const due_ms = Math.min(
      ...[...rows.values()].map((row) => row.due_at_ms),
      ...this.played.inbox.filter(({ sequence }) => sequence > taken).map(eventMs),
    );
    if (due_ms === Number.POSITIVE_INFINITY) return;
    const is_spared = retryable_failures >= LIMITS.circuit_opens_after;
    const is_full = claims.length >= (is_spared ? 1 : LIMITS.endpoint_in_flight_max);
    const by_ms = Math.max(due_ms, this.#now_ms + NO_SLOTS_MS, is_spared ? probe_at_ms : 0, is_full ? lease_ms : 0);
    must(wake_ms <= by_ms, `something is due at ${due_ms}, and nobody looks before ${wake_ms}`);
  }

  insist({ turns, outcome }: { turns: number; outcome: Outcome }): void {
    for (let turn = 0; turn < turns && this.wake_ms !== null; turn++) {
      this.played.now_ms = Math.max(this.#now_ms, this.wake_ms);
      this.work({ outcomes: [outcome], tokens: 8, jitter: 0 });
    }
  }

  /** Everything is accepted from here on: all that is present and not over gets through. */
  finish(): void {
    this.status('active');
    for (let turns = 0; this.wake_ms !== null; turns++) {
      must(turns < TURNS_MAX, 'it never comes to rest');
      this.played.now_ms = Math.max(this.#now_ms, this.wake_ms);
      this.work({ outcomes: [{ verdict: 'accepted', retry_after_ms: null }], tokens: 8, jitter: 0 });
    }
    for (const one of this.known.values())
      must(one.over !== null, `${one.sequence} was never delivered, nor over: ${JSON.stringify(one)}`);
    const { claims, waiting } = this.#endpoint;
    must(claims.length === 0 && waiting === 0, 'something is left');
  }
}

function must(holds: boolean, text: string): asserts holds {
  if (!holds) throw new Error(text);
}

const outcome: fc.Arbitrary<Outcome> = fc.record({
  verdict: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...VERDICTS) },
    { weight: 3, arbitrary: fc.constant('none' as const) },
  ),
  retry_after_ms: fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom(5_000, 3_600_000, LIMITS.retry_after_ms_max) },
  ),
});
/** A receiver of one mind most of the time, so that counts reach their limits. */
const outcomes = fc.oneof(
  fc.array(outcome, { minLength: 1, maxLength: 8 }),
  outcome.map((one) => [one]),
  fc.constantFrom<Outcome[]>(
    [{ verdict: 'refused', retry_after_ms: null }],
    [{ verdict: 'retryable', retry_after_ms: null }],
  ),
);
const message: fc.Arbitrary<Message> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(1, 1, 2, 3, 9, 70).map((count) => ({ does: 'events' as const, count })) },
  {
    weight: 16,
    arbitrary: fc.record({
      does: fc.constant('work' as const),
      outcomes,
      tokens: fc.constantFrom(8, 8, 8, 3, 1, 0),
      jitter: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant('insist' as const), turns: fc.constantFrom(5, 20, 60), outcome }),
  },
  { weight: 1, arbitrary: fc.constant({ does: 'repeat' as const }) },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom<EndpointStatus>('active', 'active', 'paused', 'disabled')
      .map((status) => ({ does: 'status' as const, status })),
  },
  { weight: 1, arbitrary: fc.constant({ does: 'epoch' as const }) },
  { weight: 1, arbitrary: fc.constant({ does: 'sweep' as const }) },
);
const HOUR_MS = 3_600_000;
const PASSES_MS = [
  1_000,
  10_000,
  LIMITS.delivery_lease_ms,
  LIMITS.delivery_lease_ms,
  60_000,
  HOUR_MS,
  6 * HOUR_MS,
  23 * HOUR_MS,
];

t.test(
  'F-012 F-013 F-014 F-016 F-017 F-029 F-037 F-041 in any play every delivery ends once, and none is lost',
  async (t) => {
    const seen = { disabled: 0, ended: 0, succeeded: 0 };
    checkPlays(t, { plays: anyPlay(message, PASSES_MS), runs: 1_000, counts: true }, (steps) => {
      const reference = new Reference();
      for (const step of steps) {
        if ('pass' in step) {
          reference.played.now_ms += step.pass;
          continue;
        }
        const { send } = step;
        if (send.does === 'events') reference.events(send.count);
        else if (send.does === 'work') reference.work(send);
        else if (send.does === 'insist') reference.insist(send);
        else if (send.does === 'repeat') reference.repeat();
        else if (send.does === 'status') reference.status(send.status);
        else if (send.does === 'epoch') reference.raiseEpoch();
        else reference.sweep();
      }
      seen.disabled += reference.played.effects.filter(({ effect }) => effect === 'enqueue_mail').length;
      seen.succeeded += reference.succeeded;
      reference.finish();
      seen.ended += reference.played.records(ENDED).size;
    });
    t.comment(JSON.stringify(seen));
    t.ok(seen.disabled > 2 && seen.succeeded > 50 && seen.ended > 1_000, 'plays come to something');
  },
);
