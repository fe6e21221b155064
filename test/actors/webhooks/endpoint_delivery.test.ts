import t from 'tap';
import type { Effect, QueuedDelivery } from '../../../actors/actor.js';
import {
  type AttemptResult,
  type DeliveryClaim,
  deadlineMs,
  type EndedDelivery,
  type WaitingDelivery,
} from '../../../actors/webhooks/delivery.js';
import { QUEUE_READ_MAX, WAITING_READ_MAX } from '../../../actors/webhooks/endpoint_delivery.js';
import { ENDED, type Endpoint } from '../../../actors/webhooks/endpoint_state.js';
import { unhealthyIndex } from '../../../actors/webhooks/unhealthy_endpoints.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { type AttemptVerdict, backoffMs, probeMs } from '../../../src/domain/webhooks.js';
import { START_MS } from '../../fixtures/decisions.js';
import {
  ATTEMPT,
  claimOf,
  type Done,
  entry,
  MAIL,
  PlayedEndpoint,
  resultOf,
  waitingOf,
} from '../../fixtures/endpoint_state.js';

/** Turns of work: what comes back, what is lost, what is claimed next, and when it is looked at again. */

const NO_SLOTS_MS = 5_000;
const NOW_MS = START_MS + 60_000;
const PAUSED: Endpoint['standing'] = { status: 'paused', since_ms: START_MS };
const DISABLED: Endpoint['standing'] = { status: 'disabled', reason: null, since_ms: START_MS };

const entries = (count: number, of: Parameters<typeof entry>[1] = {}): QueuedDelivery[] =>
  Array.from({ length: count }, (_, index) => entry(index + 1, of));
const numbers = (claims: { sequence: number }[]): number[] => claims.map(({ sequence }) => sequence);

function at(now_ms: number, change: Partial<Endpoint> = {}): PlayedEndpoint {
  const played = new PlayedEndpoint(change);
  played.now_ms = now_ms;
  return played;
}

/** With so many deliveries in flight since now. */
function flying(count: number, change: Partial<Endpoint> = {}, attempts = 0): PlayedEndpoint {
  const claims = entries(count).map((one) => claimOf(one, { at_ms: NOW_MS, attempts }));
  return at(NOW_MS, { claims, taken: count, ...change });
}

const all = (played: PlayedEndpoint, verdict: AttemptVerdict): AttemptResult[] =>
  played.endpoint.claims.map((claim) => resultOf(claim, verdict));
const ended = (played: PlayedEndpoint): Record<string, string> =>
  Object.fromEntries([...played.records<EndedDelivery>(ENDED)].map(([id, { outcome }]) => [id, outcome]));
const waits = (played: PlayedEndpoint, batch = 'waiting:1.0'): WaitingDelivery[] => [
  ...played.records<WaitingDelivery>(batch).values(),
];
/** With claims by their number: an empty list matches any. */
const seen = <Of extends { claims: unknown[] }>(of: Of) => ({ ...of, claims: of.claims.length });
const lastOf = <Kind extends Effect['effect']>(played: PlayedEndpoint, kind: Kind) =>
  played.effects.filter((effect): effect is Extract<Effect, { effect: Kind }> => effect.effect === kind).at(-1);

t.test('F-025 F-026 F-028 F-016 F-017 X-07 what every result does to its delivery and to the count', async (t) => {
  const before = { failure_count: 3, retryable_failures: 2, last_success_at_ms: 5 };
  const attempt = { ...ATTEMPT, attempted_at_ms: NOW_MS - 500, duration_ms: 40 };
  const table: [verdict: AttemptVerdict, outcome: string | undefined, counted: Partial<Endpoint>][] = [
    ['accepted', 'succeeded', { failure_count: 0, retryable_failures: 0, last_success_at_ms: NOW_MS - 460 }],
    ['refused', 'failed', { ...before, failure_count: 4 }],
    ['discarded', 'failed', before],
    ['retryable', undefined, { ...before, retryable_failures: 3 }],
  ];
  for (const standing of [undefined, PAUSED]) {
    for (const [verdict, outcome, counted] of table) {
      const says = `${verdict} while ${standing?.status ?? 'active'}`;
      const played = flying(1, { ...before, ...(standing && { standing }) });
      const [claim] = played.endpoint.claims as [DeliveryClaim];
      const work = played.work({ results: [resultOf(claim, verdict, { attempt })] });
      t.match(seen(played.endpoint), { ...counted, claims: 0, waiting: outcome === undefined ? 1 : 0 }, says);
      t.equal(ended(played)['1'], outcome, `${says}: how it ended`);
      const kept = outcome === undefined ? waits(played) : [...played.records<EndedDelivery>(ENDED).values()];
      t.strictSame(kept[0]?.attempts, [attempt], `${says}: the attempt is kept`);
      t.strictSame(numbers(kept), [1]);
      t.strictSame(work.ended, outcome === undefined ? [] : [{ outcome, event_ms: START_MS }]);
      t.equal(work.late, 0);
    }
  }
});

t.test('F-013 F-037 what comes back after a cancellation counts nothing, and is kept', async (t) => {
  const cancelled: [says: string, change: Partial<Endpoint>, account_epoch?: number][] = [
    ['disabled', { enablement: 2, standing: DISABLED }],
    ['disabled and set active again', { enablement: 2 }],
    ['the account deleted, or restored', {}, 1],
  ];
  for (const [says, change, account_epoch = 0] of cancelled) {
    for (const verdict of ['accepted', 'refused', 'discarded', 'retryable'] as const) {
      const played = flying(1, { failure_count: 9, retryable_failures: 4, ...change });
      played.account_epoch = account_epoch;
      const work = played.work({ results: all(played, verdict) });
      t.strictSame(ended(played), { 1: 'cancelled' }, `${says}, ${verdict}`);
      t.equal(played.records<EndedDelivery>(ENDED).get('1')?.attempts.length, 1, 'its attempt is kept');
      t.match(seen(played.endpoint), {
        failure_count: 9,
        retryable_failures: 4,
        last_success_at_ms: null,
        claims: 0,
        account_epoch,
      });
      t.match(work, { late: 0, disabled: false });
    }
    const lost = flying(1, change, 2);
    lost.account_epoch = account_epoch;
    lost.now_ms += LIMITS.delivery_lease_ms;
    lost.work();
    t.strictSame(ended(lost), { 1: 'cancelled' }, `${says}, and never heard of again`);
    t.equal(lost.records<EndedDelivery>(ENDED).get('1')?.attempts.at(-1)?.error, 'interrupted');
  }
});

t.test('F-037 another epoch of the account cancels what waits and what lies in the inbox', async (t) => {
  const played = at(NOW_MS);
  played.wait([waitingOf(entry(1)), waitingOf(entry(2))]);
  played.inbox = [entry(3), entry(4, { account_epoch: 1 })];
  played.account_epoch = 1;
  t.strictSame(numbers(played.work().claims), [4]);
  t.match(played.endpoint, {
    account_epoch: 1,
    waiting: 0,
    cancelled: [{ batch: 'waiting:1.0', at_ms: NOW_MS }],
    taken: 4,
  });
  t.equal(waits(played).length, 2, 'they are still there to be shown');
  played.account_epoch = 2;
  played.work();
  t.equal(played.endpoint.cancelled.length, 1, 'a batch with nothing in it leaves nothing');
});

t.test('F-029 a result counts once, with its token, and only while its claim stands', async (t) => {
  const played = flying(1, { failure_count: 9 });
  const [claim] = played.endpoint.claims as [DeliveryClaim];
  const result = resultOf(claim, 'accepted');
  t.equal(played.work({ results: [{ ...result, token: 'another' }] }).late, 1);
  t.equal(played.endpoint.claims.length, 1);
  t.equal(played.work({ results: [{ ...result, sequence: 7 }] }).late, 1);
  t.equal(played.work({ results: [result, resultOf(claim, 'refused')] }).late, 1, 'the first of two says it');
  t.equal(played.endpoint.failure_count, 0);
  t.equal(played.work({ results: [result] }).late, 1, 'and no later one');
  t.strictSame(ended(played), { 1: 'succeeded' });

  const slow = flying(1);
  const [lost] = slow.endpoint.claims as [DeliveryClaim];
  slow.now_ms = lost.lease_until_ms;
  t.strictSame(slow.work({ tokens: 0 }).claims, []);
  const [again] = slow.work({ tokens: 1 }).claims as [DeliveryClaim];
  t.notOk(again.token === lost.token);
  t.equal(slow.work({ results: [resultOf(lost, 'accepted')] }).late, 1, 'somebody else has it by now');
  slow.work({ results: [resultOf(again, 'accepted')] });
  t.strictSame(ended(slow), { 1: 'succeeded' });

  const punctual = flying(1);
  punctual.now_ms += LIMITS.delivery_lease_ms;
  t.equal(
    punctual.work({ results: all(punctual, 'accepted') }).late,
    0,
    'at the very end of its lease it still counts',
  );
});

t.test('F-029 F-041 a lost lease is an attempt, without a gap, and the eighth ends it', async (t) => {
  const played = at(NOW_MS, { failure_count: 2 });
  played.inbox = [entry(1, { at_ms: NOW_MS })];
  for (let attempts = 0; attempts < LIMITS.delivery_attempts_max; attempts++) {
    const [claim] = played.work().claims as [DeliveryClaim];
    t.equal(claim.attempts.length, attempts, `claimed for attempt ${attempts + 1}`);
    played.now_ms = claim.lease_until_ms - 1;
    t.strictSame(played.work().claims, [], 'nobody else gets it before the lease ends');
    played.now_ms += 1;
    const work = played.work();
    t.strictSame(work.claims, [], 'a turn that takes it back does not hand it out');
    const is_last = attempts === LIMITS.delivery_attempts_max - 1;
    t.equal(work.next_at_ms, is_last ? null : played.now_ms, 'the next one does, at once');
  }
  t.strictSame(ended(played), { 1: 'failed' });
  t.equal(played.endpoint.failure_count, 3);
  t.equal(played.endpoint.retryable_failures, 0, 'whoever was lost, it was not the receiver');
  const { attempts } = played.records<EndedDelivery>(ENDED).get('1') as EndedDelivery;
  t.strictSame(
    attempts.map(({ error, status_code, duration_ms }) => [error, status_code, duration_ms]),
    Array.from({ length: 8 }, () => ['interrupted', null, null]),
  );

  for (const [attempts_before, outcome] of [
    [6, undefined],
    [7, 'failed'],
  ] as const) {
    const eighth = flying(1, {}, attempts_before);
    eighth.work({ results: all(eighth, 'retryable') });
    t.equal(ended(eighth)['1'], outcome, `attempt ${attempts_before + 1}`);
    t.equal(eighth.endpoint.failure_count, outcome === undefined ? 0 : 1);
  }
});

t.test('F-041 claims of a process that ended are taken back before their leases end, and no others', async (t) => {
  const [dead, living] = ['dead........', 'living......'];
  const tokens = [`${dead}1`, `${living}2`, 'early-token3'];
  const claims = tokens.map((token, at) => ({ ...claimOf(entry(at + 1), { at_ms: NOW_MS }), token }));
  const played = at(NOW_MS, { claims, taken: 3 });
  t.strictSame(numbers(played.work({ tokens: 0 }).claims), [], 'nobody is gone');
  t.equal(played.endpoint.claims.length, 3);
  t.equal(played.work({ tokens: 1, gone: [dead] }).next_at_ms, NOW_MS, 'it is due at once');
  t.strictSame(numbers(played.work({ tokens: 1, gone: [dead] }).claims), [1]);
  const [again] = played.endpoint.claims.filter(({ sequence }) => sequence === 1) as [DeliveryClaim];
  t.match(again, { attempts: [{ error: 'interrupted' }] });
  t.not(again.token, tokens[0], 'what the first claim brings counts no more');
  t.strictSame(
    played.endpoint.claims.map(({ sequence }) => sequence),
    [2, 3, 1],
  );
  t.equal(played.work({ results: [{ ...resultOf(again, 'accepted'), token: tokens[0] as string }] }).late, 1);
});

t.test('F-016 F-017 the count is exact, however the results come together', async (t) => {
  const table: [says: string, before: number, verdicts: AttemptVerdict[], count: number, disables: boolean][] = [
    ['to nine', 8, ['refused'], 9, false],
    ['the tenth', 9, ['refused'], 10, true],
    ['eight at once that reach it', 2, Array(8).fill('refused'), 10, true],
    ['three at once that pass it', 8, ['refused', 'refused', 'refused'], 10, true],
    ['a success before the tenth', 9, ['accepted', 'refused'], 1, false],
    ['a success after it', 9, ['refused', 'accepted'], 10, true],
    ['a success between', 8, ['refused', 'accepted', 'refused', 'refused'], 2, false],
    ['what the receiver is not to blame for', 9, ['discarded', 'discarded'], 9, false],
    ['what passes', 9, ['retryable', 'retryable'], 9, false],
    ['what passes, then the tenth', 9, ['retryable', 'refused'], 10, true],
  ];
  for (const [says, failure_count, verdicts, count, disables] of table) {
    const played = flying(verdicts.length, { failure_count });
    const results = played.endpoint.claims.map((claim, index) => resultOf(claim, verdicts[index] as AttemptVerdict));
    const work = played.work({ results });
    t.equal(played.endpoint.failure_count, count, says);
    t.equal(work.disabled, disables, `${says}: disables`);
    t.equal(played.endpoint.standing.status, disables ? 'disabled' : 'active');
    t.equal(played.endpoint.enablement, disables ? 2 : 1, 'once');
    t.equal(played.effects.filter(({ effect }) => effect === 'enqueue_mail').length, disables ? 1 : 0, 'one mail');
  }
  const paused = flying(3, { failure_count: 9, standing: PAUSED });
  paused.work({ results: all(paused, 'refused') });
  t.match(paused.endpoint, { failure_count: 12, standing: PAUSED }, 'a paused one stays paused');
});

t.test('F-016 the tenth disables: all that is outstanding is cancelled, and its owner gets a mail', async (t) => {
  const played = flying(3, { failure_count: 9 });
  played.wait([waitingOf(entry(10), { due_at_ms: NOW_MS - 1 })]);
  played.inbox = [entry(20), entry(21)];
  const before = played.endpoint;
  const [tenth] = before.claims as [DeliveryClaim];
  const asked = {
    type: 'work' as const,
    credential_epoch: 0,
    results: [resultOf(tenth, 'refused')],
    tokens: ['x', 'y'],
    jitter: 0,
  };
  const { reply, ...nothing } = played.send(asked);
  t.strictSame(reply, { mail_needed: true, account_id: 'a', url: before.url });
  t.strictSame(nothing, {}, 'without the mail nothing is done');
  const work = played.send({ ...asked, mail: MAIL });
  t.match(seen(work.reply as Done), { claims: 0, disabled: true, next_at_ms: NOW_MS + LIMITS.delivery_lease_ms });
  t.match(played.endpoint, {
    standing: { status: 'disabled', reason: 'consecutive_failures' },
    enablement: 2,
    taken: 21,
    waiting: 0,
    cancelled: [{ batch: 'waiting:1.0', at_ms: NOW_MS }],
  });
  t.strictSame(work.effects?.slice(1), [
    { effect: 'unsubscribe', account_id: 'a', endpoint_id: 'e' },
    { effect: 'enqueue_mail', ...MAIL, give_up_at_ms: NOW_MS + LIMITS.mail_retried_ms },
    { effect: 'schedule_endpoint', at_ms: NOW_MS + LIMITS.delivery_lease_ms, seen: 21 },
    { effect: 'add_to_index', ...unhealthyIndex('disabled'), member: 'e', order: NOW_MS },
  ]);
  t.strictSame(played.work({ results: all(played, 'accepted') }).claims, [], 'two were in flight');
  t.strictSame(ended(played), { 1: 'failed', 2: 'cancelled', 3: 'cancelled' });
  played.send({ type: 'set_status', status: 'active' });
  t.strictSame(played.work().claims, [], 'nothing comes back');
  t.match(played.endpoint, { failure_count: 0, standing: { status: 'active' } });
  t.strictSame(played.work({ results: [] }).next_at_ms, null);

  const spared = flying(1, { failure_count: 5 });
  const not_needed = spared.send({ ...asked, results: all(spared, 'refused'), mail: MAIL });
  t.notOk(
    not_needed.effects?.some(({ effect }) => effect === 'enqueue_mail'),
    'a mail that is not needed is not sent',
  );
});

t.test('F-016 what a turn claims before it disables is not handed out', async (t) => {
  const played = at(START_MS + LIMITS.delivery_life_ms + 1, { failure_count: 9, taken: 9 });
  const due = { due_at_ms: START_MS + LIMITS.delivery_life_ms - 2_000 };
  const fresh = entry(9, { at_ms: due.due_at_ms - 1_000 });
  played.wait([waitingOf(fresh, due), waitingOf(entry(3), { due_at_ms: due.due_at_ms + 1_000 })]);
  const work = played.work();
  t.match(seen(work), { disabled: true, claims: 0, next_at_ms: null });
  t.strictSame(ended(played), { 3: 'failed', 9: 'cancelled' });
  t.strictSame(played.endpoint.claims, []);
  t.equal(played.records<EndedDelivery>(ENDED).get('9')?.attempts.length, 1);
});

t.test('F-029 24 hours after its event a delivery has failed; it counts where the endpoint was active', async (t) => {
  const late_ms = START_MS + LIMITS.delivery_life_ms;
  t.equal(deadlineMs(entry(1)), late_ms);
  const inTime = at(late_ms - 1);
  inTime.inbox = [entry(1)];
  t.strictSame(numbers(inTime.work().claims), [1], 'in the last millisecond it is still tried');

  for (const [says, since_ms, count] of [
    ['active all the time', START_MS, 1],
    ['active since just before', late_ms - 1, 1],
    ['active since just then', late_ms, 0],
    ['paused then', late_ms + 5_000, 0],
  ] as const) {
    const played = at(late_ms + 5_000, { standing: { status: 'active', since_ms }, failure_count: 0 });
    played.inbox = [entry(2)];
    t.strictSame(played.work().claims, [], says);
    t.match(played.endpoint, { failure_count: count, taken: 2 });
    t.strictSame(ended(played), { 2: 'failed' }, 'kept, though it was never tried');
    const tried = at(late_ms + 5_000, { standing: { status: 'active', since_ms }, taken: 1 });
    tried.wait([waitingOf(entry(1), { due_at_ms: late_ms - 1 })]);
    tried.work();
    t.match(tried.endpoint, { failure_count: count, waiting: 0 }, says);
    t.strictSame(ended(tried), { 1: 'failed' });
    t.strictSame(waits(tried), []);
  }
  const tenth = at(late_ms, { failure_count: 9 });
  tenth.inbox = [entry(1), entry(2, { at_ms: late_ms })];
  t.match(seen(tenth.work()), { disabled: true, claims: 0 });
  t.match(tenth.endpoint, { failure_count: 10, enablement: 2, taken: 2 });

  const paused = at(late_ms, { standing: PAUSED });
  paused.inbox = [entry(1)];
  paused.wait([waitingOf(entry(2))]);
  t.match(seen(paused.work()), { claims: 0, next_at_ms: null });
  t.match(paused.endpoint, { failure_count: 0, taken: 0, waiting: 1 }, 'of a paused one nothing is looked at');
  t.match(lastOf(paused, 'schedule_endpoint'), { at_ms: null });
});

t.test('F-027 F-029 no try before Retry-After, nor 24 hours after the event', async (t) => {
  for (const [says, retry_after_ms, jitter, attempts, due_ms] of [
    ['none', null, 0, 0, backoffMs(1, 0)],
    ['none, most jitter', null, 1, 2, backoffMs(3, 1)],
    ['shorter than the backoff', 1_000, 0.5, 0, backoffMs(1, 0.5)],
    ['longer', 60_000, 0, 0, 60_000],
    ['longer, with jitter', 60_000, 1, 0, 60_000],
    ['the longest', LIMITS.retry_after_ms_max, 0.3, 1, LIMITS.retry_after_ms_max],
  ] as const) {
    const played = flying(1, {}, attempts);
    const [claim] = played.endpoint.claims as [DeliveryClaim];
    const { next_at_ms } = played.work({ results: [resultOf(claim, 'retryable', { retry_after_ms })], jitter });
    t.equal(next_at_ms, NOW_MS + due_ms, says);
    played.now_ms = NOW_MS + due_ms - 1;
    t.strictSame(played.work().claims, []);
    played.now_ms += 1;
    t.strictSame(numbers(played.work().claims), [1]);
  }
  const hours_12 = LIMITS.retry_after_ms_max;
  for (const [now_ms, outcome] of [
    [START_MS + LIMITS.delivery_life_ms - hours_12 - 1, undefined],
    [START_MS + LIMITS.delivery_life_ms - hours_12, 'failed'],
  ] as const) {
    const played = at(now_ms, { claims: [claimOf(entry(1), { at_ms: now_ms })], taken: 1 });
    played.work({
      results: [resultOf(played.endpoint.claims[0] as DeliveryClaim, 'retryable', { retry_after_ms: hours_12 })],
    });
    t.equal(ended(played)['1'], outcome);
    t.equal(played.endpoint.failure_count, outcome === undefined ? 0 : 1);
  }
});

t.test('F-026 after five failures that pass there is one probe at a time, until one succeeds', async (t) => {
  const { circuit_opens_after, endpoint_in_flight_max } = LIMITS;
  const four = flying(4);
  four.inbox = entries(20).slice(4);
  t.equal(four.work({ results: all(four, 'retryable') }).claims.length, 8, 'four in a row change nothing');

  const played = flying(circuit_opens_after);
  played.inbox = entries(20).slice(circuit_opens_after);
  let work = played.work({ results: all(played, 'retryable'), jitter: 0 });
  t.match(seen(work), { claims: 0, next_at_ms: NOW_MS + LIMITS.probe_ms_min }, 'five do: nothing for 30 s');
  played.now_ms += LIMITS.probe_ms_min - 1;
  t.strictSame(played.work().claims, []);
  played.now_ms += 1;
  for (let failures = circuit_opens_after + 1; failures < 14; failures++) {
    work = played.work();
    t.equal(work.claims.length, 1, `one probe after ${failures - 1} failures`);
    t.equal(work.next_at_ms, played.now_ms + LIMITS.delivery_lease_ms);
    t.strictSame(played.work().claims, [], 'and no second one beside it');
    const [probe] = work.claims as [DeliveryClaim];
    work = played.work({ results: [resultOf(probe, 'retryable')], jitter: 1 });
    t.strictSame(work.claims, []);
    const wait_ms = probeMs(failures, 1);
    t.ok(wait_ms >= LIMITS.probe_ms_min && wait_ms <= LIMITS.probe_ms_max);
    t.equal(played.endpoint.probe_at_ms, played.now_ms + wait_ms);
    played.now_ms += wait_ms;
  }
  work = played.work();
  const [last] = work.claims as [DeliveryClaim];
  work = played.work({ results: [resultOf(last, 'accepted')] });
  t.equal(work.claims.length, endpoint_in_flight_max, 'a success ends it');
  t.match(played.endpoint, { retryable_failures: 0, probe_at_ms: 0 });

  const refused = at(NOW_MS, { retryable_failures: 7, probe_at_ms: NOW_MS });
  refused.inbox = entries(4);
  const [probe] = refused.work().claims as [DeliveryClaim];
  const next = refused.work({ results: [resultOf(probe, 'refused')] });
  t.equal(next.claims.length, 1, 'a permanent refusal waits for nothing, and the next is a probe again');
  t.equal(refused.endpoint.retryable_failures, 7);
  const many = flying(8, { retryable_failures: 0 });
  many.inbox = entries(30).slice(8);
  t.equal(many.work({ results: all(many, 'refused') }).claims.length, 8, 'permanent refusals never lead to it');

  const restart = flying(8);
  restart.work({ results: all(restart, 'retryable').slice(0, 6), jitter: 0 });
  const probe_at_ms = NOW_MS + LIMITS.probe_ms_min;
  t.match(restart.endpoint, { retryable_failures: circuit_opens_after, probe_at_ms }, 'eight at once are one trouble');
  restart.now_ms += 9_000;
  restart.work({ results: all(restart, 'retryable'), jitter: 0 });
  t.match(
    restart.endpoint,
    { retryable_failures: circuit_opens_after, probe_at_ms },
    'and who was sent then delays no probe',
  );

  const beside = flying(6);
  const results = beside.endpoint.claims.slice(0, 5).map((claim) => resultOf(claim, 'retryable'));
  beside.inbox = [entry(9)];
  work = beside.work({ results });
  t.match(seen(work), { claims: 0, next_at_ms: NOW_MS + LIMITS.delivery_lease_ms }, 'what is in flight is the probe');
});

t.test('F-029 at most eight in flight, and no more than were asked for', async (t) => {
  for (const [in_flight, tokens, claims] of [
    [0, 8, 8],
    [0, 20, 8],
    [0, 3, 3],
    [0, 0, 0],
    [5, 8, 3],
    [8, 8, 0],
  ] as const) {
    const played = flying(in_flight);
    played.inbox = entries(40).slice(in_flight);
    const work = played.work({ tokens });
    t.strictSame(
      numbers(work.claims),
      numbers(played.inbox.slice(0, claims)),
      `${in_flight} in flight, ${tokens} wanted`,
    );
    t.equal(played.endpoint.claims.length, in_flight + claims);
    t.equal(new Set(played.endpoint.claims.map(({ token }) => token)).size, in_flight + claims);
    const full = in_flight + claims === 8;
    t.equal(work.next_at_ms, NOW_MS + (full ? LIMITS.delivery_lease_ms : NO_SLOTS_MS));
  }
  for (const standing of [PAUSED, DISABLED]) {
    const played = at(NOW_MS, { standing });
    played.inbox = entries(4);
    played.wait([waitingOf(entry(9))]);
    t.match(seen(played.work()), { claims: 0, next_at_ms: null }, `none of a ${standing.status} one`);
    t.match(lastOf(played, 'schedule_endpoint'), { at_ms: null, seen: 4 });
  }
});

t.test('F-012 F-014 paused, nothing is claimed; set active, all of it is', async (t) => {
  const played = at(NOW_MS);
  played.inbox = entries(3);
  played.send({ type: 'set_status', status: 'paused' });
  t.strictSame(played.work().claims, []);
  played.send({ type: 'set_status', status: 'active' });
  t.strictSame(numbers(played.work().claims), [1, 2, 3]);
  played.work({ results: [resultOf(played.endpoint.claims[0] as DeliveryClaim, 'retryable')] });
  played.send({ type: 'set_status', status: 'paused' });
  played.now_ms += 60_000;
  t.match(seen(played.work()), { claims: 0, next_at_ms: null }, 'leases that were lost are taken back');
  t.equal(played.endpoint.waiting, 3);
  played.send({ type: 'set_status', status: 'active' });
  t.strictSame(numbers(played.work().claims).sort(), [1, 2, 3]);
});

t.test('F-026 F-030 whatever has waited longest goes first', async (t) => {
  const played = at(NOW_MS, { taken: 4 });
  played.wait([
    waitingOf(entry(1), { due_at_ms: START_MS + 10 }),
    waitingOf(entry(2), { due_at_ms: START_MS + 30 }),
    waitingOf(entry(3), { due_at_ms: NOW_MS }),
    waitingOf(entry(4), { due_at_ms: NOW_MS + 1 }),
  ]);
  played.inbox = [entry(5, { at_ms: START_MS + 20 }), entry(6, { at_ms: START_MS + 30 }), entry(7, { at_ms: NOW_MS })];
  const work = played.work();
  t.strictSame(numbers(work.claims), [1, 5, 2, 6, 3, 7]);
  t.strictSame(numbers(waits(played)), [4]);
  t.match(played.endpoint, { waiting: 1, taken: 7 });
  t.equal(work.next_at_ms, NOW_MS + 1);
});

t.test('F-026 F-030 F-041 when an endpoint is looked at again', async (t) => {
  const lease_ms = NOW_MS + LIMITS.delivery_lease_ms;
  const due = (ms: number, sequence = 50) => waitingOf(entry(sequence), { due_at_ms: NOW_MS + ms });
  type Case = [
    says: string,
    played: PlayedEndpoint,
    rows: WaitingDelivery[],
    inbox: number,
    tokens: number,
    next: number | null,
  ];
  const table: Case[] = [
    ['nothing there', at(NOW_MS), [], 0, 8, null],
    ['all in flight', at(NOW_MS), [], 3, 8, lease_ms],
    ['one waits, before any lease ends', at(NOW_MS), [due(9)], 3, 8, NOW_MS + 9],
    ['one waits for longer than a lease', at(NOW_MS), [due(40_000)], 3, 8, lease_ms],
    ['one waits for longer, none in flight', at(NOW_MS), [due(40_000)], 0, 8, NOW_MS + 40_000],
    ['more than are claimed: nobody has slots', at(NOW_MS), [], 3, 2, NOW_MS + NO_SLOTS_MS],
    ['one is due and nobody has slots', at(NOW_MS), [due(-1)], 0, 0, NOW_MS + NO_SLOTS_MS],
    ['one waits and nobody has slots', at(NOW_MS), [due(7)], 0, 0, NOW_MS + 7],
    [
      'circuit open, more in the inbox',
      at(NOW_MS, { retryable_failures: 5, probe_at_ms: NOW_MS + 33 }),
      [],
      3,
      8,
      NOW_MS + 33,
    ],
    [
      'circuit open, one waits for longer',
      at(NOW_MS, { retryable_failures: 5, probe_at_ms: NOW_MS + 33 }),
      [due(99)],
      0,
      8,
      NOW_MS + 99,
    ],
    ['circuit open, nothing there', at(NOW_MS, { retryable_failures: 5, probe_at_ms: NOW_MS + 33 }), [], 0, 8, null],
    [
      'circuit open, a probe in flight',
      at(NOW_MS, { retryable_failures: 5, probe_at_ms: NOW_MS }),
      [due(9)],
      1,
      8,
      lease_ms,
    ],
    ['paused, some in flight', flying(2, { standing: PAUSED }), [due(-1)], 3, 8, lease_ms],
    ['disabled, some in flight', flying(2, { standing: DISABLED, enablement: 2 }), [], 3, 8, lease_ms],
  ];
  for (const [says, played, rows, inbox, tokens, next] of table) {
    played.wait(rows);
    played.inbox = entries(inbox, { at_ms: NOW_MS });
    t.equal(played.work({ tokens }).next_at_ms, next, says);
    t.strictSame(
      lastOf(played, 'schedule_endpoint'),
      { effect: 'schedule_endpoint', at_ms: next, seen: inbox },
      `${says}: wake`,
    );
  }
});

t.test('F-041 however much lies before it that is over, what is present is found', async (t) => {
  for (const [says, stale, account_epoch] of [
    ['made before it was disabled', entries(QUEUE_READ_MAX, { enablement: 0 }), 0],
    ['of an earlier epoch', entries(QUEUE_READ_MAX), 1],
  ] as const) {
    const played = at(NOW_MS, { account_epoch });
    const fresh = entry(QUEUE_READ_MAX + 1, { account_epoch });
    played.inbox = [...stale.slice(1), fresh];
    t.strictSame(numbers(played.work().claims), [fresh.sequence], `${says}: within one look`);
    const full = at(NOW_MS, { account_epoch });
    full.inbox = [...stale, fresh];
    t.match(seen(full.work()), { claims: 0, next_at_ms: NOW_MS }, `${says}: in the next, at once`);
    t.equal(full.endpoint.taken, QUEUE_READ_MAX);
    t.strictSame(numbers(full.work().claims), [fresh.sequence]);
    t.equal(full.endpoint.failure_count, 0);
  }

  // Of an endpoint that was paused for long.
  const late_ms = START_MS + LIMITS.delivery_life_ms;
  for (const [over, looks] of [
    [WAITING_READ_MAX - 1, 1],
    [WAITING_READ_MAX, 2],
    [WAITING_READ_MAX * 2, 3],
  ] as const) {
    const played = at(late_ms, { standing: { status: 'active', since_ms: late_ms } });
    played.wait(entries(over).map((one) => waitingOf(one, { due_at_ms: START_MS + one.sequence })));
    const fresh = waitingOf(entry(500, { at_ms: late_ms - 1_000 }), { due_at_ms: late_ms - 1 });
    played.wait([fresh]);
    let work = played.work();
    for (let look = 1; look < looks; look++) {
      t.match(seen(work), { claims: 0, next_at_ms: late_ms });
      work = played.work();
    }
    t.strictSame(numbers(work.claims), [500], `${over} whose time ran out, then one more`);
    t.equal(Object.keys(ended(played)).length, over);
    t.match(played.endpoint, { waiting: 0, failure_count: 0 });
  }
});

t.test('F-037 batches that were cancelled do not pile up', async (t) => {
  const played = at(NOW_MS);
  for (let account_epoch = 1; account_epoch <= 40; account_epoch++) {
    played.wait([waitingOf(entry(account_epoch, { account_epoch: account_epoch - 1 }))]);
    played.account_epoch = account_epoch;
    played.work();
  }
  t.equal(played.endpoint.cancelled.length, 32);
  t.strictSame(waits(played, 'waiting:1.7'), [], 'the oldest give way');
  t.equal(waits(played, 'waiting:1.8').length, 1);
});
