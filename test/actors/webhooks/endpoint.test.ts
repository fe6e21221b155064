import t from 'tap';
import type { Effect, RepliesOf } from '../../../actors/actor.js';
import { deadlineMs, type EndedDelivery } from '../../../actors/webhooks/delivery.js';
import { type EndpointMessage, endpoint } from '../../../actors/webhooks/endpoint.js';
import { ENDED, ENDPOINTS, type Endpoint, standingOf } from '../../../actors/webhooks/endpoint_state.js';
import { unhealthyIndex } from '../../../actors/webhooks/unhealthy_endpoints.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { decideRows, type Row, START_MS } from '../../fixtures/decisions.js';
import {
  ATTEMPT,
  claimOf,
  entry,
  FRESH,
  MADE,
  PlayedEndpoint,
  resultOf,
  waitingOf,
} from '../../fixtures/endpoint_state.js';

const kind = { kind: endpoint, self: 'e' };
const DONE = { done: true } as const;
const NOW_MS = START_MS + 5_000;
const DAY_MS = 24 * 3_600_000;
const active: Endpoint = FRESH;
const paused: Endpoint = { ...FRESH, standing: { status: 'paused', since_ms: NOW_MS } };
const disabled: Endpoint = {
  ...FRESH,
  standing: { status: 'disabled', reason: 'consecutive_failures', since_ms: START_MS },
};
const failing = { failure_count: 7, retryable_failures: 6, probe_at_ms: NOW_MS + 1 };
const inFlight = [claimOf(entry(2), { at_ms: NOW_MS - 2_000 }), claimOf(entry(1), { at_ms: NOW_MS - 3_000 })];
const LEASE_ENDS_MS = NOW_MS - 3_000 + LIMITS.delivery_lease_ms;
const inbox = [entry(3), entry(5)];

/** On the list of those that their owners stopped. */
const stopped = (state: Endpoint): Endpoint => ({ ...state, trouble: { is: 'stopped', since_ms: NOW_MS } });
const LISTED: Effect = { effect: 'add_to_index', ...unhealthyIndex('stopped'), member: 'e', order: NOW_MS };

const set = (status: 'active' | 'paused' | 'disabled'): EndpointMessage => ({ type: 'set_status', status });
const subscribe = (enablement: number): Effect => ({
  effect: 'subscribe',
  account_id: 'a',
  endpoint_id: 'e',
  subscription: { topics: ['account.updated'], enablement },
});
const UNSUBSCRIBE: Effect = { effect: 'unsubscribe', account_id: 'a', endpoint_id: 'e' };
const wake = (at_ms: number | null, seen: number): Effect => ({ effect: 'schedule_endpoint', at_ms, seen });
const dropAll = (collection: string): Effect => ({ effect: 'delete_collection', collection });
const sweepAt = (at_ms: number): Effect => ({
  effect: 'schedule_reminder',
  name: 'sweep',
  at_ms,
  message: { type: 'sweep' },
});
const FORGET_SWEEP: Effect = { effect: 'cancel_reminder', name: 'sweep' };

type R = Row<Endpoint, EndpointMessage, RepliesOf<typeof endpoint>>;
const rows = (t: Parameters<typeof decideRows>[0], list: R[]) =>
  decideRows(
    t,
    kind,
    list.map((row) => ({ now_ms: NOW_MS, ...row })),
  );

t.test('F-002 an endpoint begins active, with nothing behind it, and once', async (t) => {
  const create: EndpointMessage = { type: 'create', endpoint: MADE, account_epoch: 3 };
  rows(t, [
    {
      says: 'made',
      state: null,
      message: create,
      reply: DONE,
      next: { ...FRESH, account_epoch: 3 },
      effects: [
        { effect: 'add_to_index', owner: 'a', index: ENDPOINTS, member: 'e', order: START_MS },
        sweepAt(NOW_MS + LIMITS.endpoint_sweep_every_ms),
      ],
    },
    { says: 'made again', state: paused, message: create, reply: DONE },
    { says: 'looked at', state: paused, message: { type: 'view' }, reply: paused },
  ]);
});

t.test('F-010 whatever is asked of an endpoint that is not there finds none', async (t) => {
  const messages: EndpointMessage[] = [
    { type: 'view' },
    { type: 'find', entries: [entry(1)] },
    set('active'),
    set('paused'),
    set('disabled'),
    { type: 'work', credential_epoch: 0, results: [resultOf(claimOf(entry(1)), 'accepted')], tokens: ['x'], jitter: 0 },
    { type: 'sweep' },
  ];
  rows(
    t,
    messages.map((message) => ({ says: message.type, state: null, message, reply: { refused: 'NOT_FOUND' } })),
  );
});

t.test('F-012 F-013 F-014 F-015 every status set in every standing', async (t) => {
  const activated = (from: Endpoint): Pick<R, 'reply' | 'next' | 'effects'> => {
    const next: Endpoint = {
      ...from,
      standing: { status: 'active', since_ms: NOW_MS },
      failure_count: 0,
      retryable_failures: 0,
      probe_at_ms: 0,
    };
    return { reply: next, next, effects: [subscribe(from.enablement), wake(NOW_MS, 5)] };
  };
  const cancelled = (from: Endpoint): Endpoint => ({
    ...from,
    standing: { status: 'disabled', reason: null, since_ms: NOW_MS },
    enablement: 2,
    waiting: 0,
    cancelled: from.waiting > 0 ? [{ batch: 'waiting:1.0', at_ms: NOW_MS }] : [],
    taken: 5,
  });
  const pausedNow: Endpoint = {
    ...active,
    ...failing,
    claims: inFlight,
    standing: { status: 'paused', since_ms: NOW_MS },
  };
  const busy: Endpoint = { ...active, ...failing, claims: inFlight, waiting: 2, taken: 2 };
  const row = (
    says: string,
    state: Endpoint,
    message: EndpointMessage,
    rest: Omit<R, 'says' | 'state' | 'message'>,
  ) => ({
    ...{ says, state, message, inbox },
    ...rest,
  });
  rows(t, [
    row('active to active', busy, set('active'), { reply: busy }),
    row('paused to paused', paused, set('paused'), { reply: paused }),
    row('disabled to disabled', disabled, set('disabled'), { reply: disabled }),
    row('disabled to paused', disabled, set('paused'), { reply: { refused: 'CONFLICT' } }),
    row('active to paused, nothing in flight', active, set('paused'), {
      reply: paused,
      next: stopped(paused),
      effects: [UNSUBSCRIBE, wake(null, 5), LISTED],
    }),
    row(
      'active to paused, looked at when the first lease ends',
      { ...active, ...failing, claims: inFlight },
      set('paused'),
      {
        reply: pausedNow,
        next: stopped(pausedNow),
        effects: [UNSUBSCRIBE, wake(LEASE_ENDS_MS, 5), LISTED],
      },
    ),
    row('paused to active', { ...paused, ...failing, taken: 3 }, set('active'), activated({ ...paused, taken: 3 })),
    row(
      'disabled to active',
      { ...disabled, ...failing, enablement: 4 },
      set('active'),
      activated({ ...disabled, enablement: 4 }),
    ),
    ...[busy, { ...busy, waiting: 0 }, { ...busy, standing: paused.standing }].map((state) =>
      row(`${state.standing.status} with ${state.waiting} waiting to disabled`, state, set('disabled'), {
        reply: cancelled(state),
        next: stopped(cancelled(state)),
        effects: [UNSUBSCRIBE, wake(LEASE_ENDS_MS, 5), LISTED],
      }),
    ),
    row('disabled, the inbox behind what was taken', { ...active, taken: 9 }, set('disabled'), {
      reply: { ...cancelled(active), taken: 9 },
      next: stopped({ ...cancelled(active), taken: 9 }),
      effects: [UNSUBSCRIBE, wake(null, 5), LISTED],
    }),
  ]);
});

t.test('F-018 F-040 removed or erased, nothing of it is left, and nobody gets its events', async (t) => {
  const full: Endpoint = {
    ...disabled,
    enablement: 3,
    account_epoch: 2,
    waiting: 1,
    claims: inFlight,
    cancelled: [{ batch: 'waiting:2.2', at_ms: NOW_MS }],
    trouble: { is: 'disabled', since_ms: NOW_MS },
  };
  const erase: EndpointMessage = { type: 'erase', account_id: 'a', list: ENDPOINTS };
  const delist: Effect = { effect: 'remove_from_index', owner: 'a', index: ENDPOINTS, member: 'e' };
  const drops: Effect[] = [
    ...[ENDED, 'waiting:3.2', 'waiting:2.2'].map(dropAll),
    { effect: 'delete_queue' },
    wake(null, Number.MAX_SAFE_INTEGER),
    FORGET_SWEEP,
    { effect: 'remove_from_index', ...unhealthyIndex('disabled'), member: 'e' },
  ];
  rows(t, [
    {
      says: 'removed',
      state: full,
      message: { type: 'remove' },
      reply: DONE,
      next: null,
      effects: [UNSUBSCRIBE, ...drops, delist],
    },
    { says: 'removed again', state: null, message: { type: 'remove' }, reply: DONE },
    {
      says: 'erased',
      state: full,
      message: erase,
      reply: DONE,
      next: null,
      effects: [...drops, delist, { effect: 'delete' }],
    },
    {
      says: 'erased again',
      state: null,
      message: erase,
      reply: DONE,
      next: null,
      effects: [delist, { effect: 'delete' }],
    },
  ]);
});

t.test('F-018 deliveries are kept for 30 days, what came of them for 90', async (t) => {
  const now_ms = START_MS + 200 * DAY_MS;
  const kept_from_ms = now_ms - LIMITS.event_kept_ms;
  const attempts_from_ms = now_ms - LIMITS.attempt_kept_ms;
  const day = sweepAt(now_ms + LIMITS.endpoint_sweep_every_ms);
  const sweep = { message: { type: 'sweep' } as const, reply: DONE, now_ms };
  const old = entry(4, { at_ms: kept_from_ms - 1 });
  const young = entry(6, { at_ms: kept_from_ms });
  const listed = stopped(paused);
  rows(t, [
    { ...sweep, says: 'nothing there', state: listed, next: listed, effects: [day] },
    {
      ...sweep,
      says: 'all young',
      state: listed,
      inbox: [young, entry(7, { at_ms: now_ms })],
      next: listed,
      effects: [day],
    },
    {
      ...sweep,
      says: 'one is old',
      state: listed,
      inbox: [old, young],
      next: listed,
      effects: [{ effect: 'trim_queue', before: 6 }, day],
    },
    {
      ...sweep,
      says: 'all old',
      state: listed,
      inbox: [old],
      next: listed,
      effects: [{ effect: 'trim_queue', before: 5 }, day],
    },
    {
      ...sweep,
      says: 'more than one look takes: the rest comes at once',
      state: listed,
      inbox: Array.from({ length: 501 }, (_, index) => entry(index + 1, { at_ms: kept_from_ms - 1 })),
      next: listed,
      effects: [{ effect: 'trim_queue', before: 501 }, sweepAt(now_ms + 1_000)],
    },
    {
      ...sweep,
      says: 'as many as one look takes, the last of them young',
      state: listed,
      inbox: Array.from({ length: 500 }, (_, index) =>
        entry(index + 1, { at_ms: kept_from_ms - (index < 499 ? 1 : 0) }),
      ),
      next: listed,
      effects: [{ effect: 'trim_queue', before: 500 }, day],
    },
    {
      ...sweep,
      says: 'batches that were cancelled long ago',
      state: {
        ...listed,
        cancelled: [
          { batch: 'waiting:1.0', at_ms: attempts_from_ms - 1 },
          { batch: 'waiting:2.0', at_ms: attempts_from_ms },
        ],
      },
      next: { ...listed, cancelled: [{ batch: 'waiting:2.0', at_ms: attempts_from_ms }] },
      effects: [dropAll('waiting:1.0'), day],
    },
    { ...sweep, says: 'one that no list had yet', state: paused, next: listed, effects: [day, LISTED] },
  ]);

  const played = new PlayedEndpoint();
  played.now_ms = now_ms;
  const ended = (sequence: number, ended_at_ms: number): EndedDelivery => ({
    ...entry(sequence),
    attempts: [],
    outcome: 'succeeded',
    ended_at_ms,
  });
  const kept_ms = attempts_from_ms + 2 * DAY_MS;
  for (const one of [ended(1, attempts_from_ms - 1), ended(2, kept_ms), ended(3, attempts_from_ms)])
    played.put(ENDED, String(one.sequence), { value: one, order: one.ended_at_ms });
  played.send({ type: 'sweep' });
  t.strictSame([...played.records(ENDED).keys()], ['2', '3']);
  for (let sequence = 10; sequence < 1_110; sequence++)
    played.put(ENDED, String(sequence), { value: ended(sequence, 0), order: 0 });
  played.pass(LIMITS.endpoint_sweep_every_ms + 5_000);
  t.strictSame([...played.records(ENDED).keys()], ['2'], 'however many there are, soon after one another');
});

t.test('F-013 F-020 F-037 how a delivery stands', async (t) => {
  const one = entry(2);
  const claim = claimOf(one, { at_ms: NOW_MS, attempts: 1 });
  const claimed: Endpoint = { ...active, claims: [claim] };
  const row = waitingOf(one, { due_at_ms: NOW_MS + 7_000, attempts: 2 });
  const nothing = { entry: one, ended: null, waiting: null };
  const waiting = { ...nothing, waiting: row };
  const ended: EndedDelivery = { ...one, attempts: [ATTEMPT], outcome: 'succeeded', ended_at_ms: NOW_MS };
  const at = { epoch: 0, now_ms: NOW_MS };
  const table: [says: string, Parameters<typeof standingOf>, status: string, attempts: number, next: number | null][] =
    [
      ['in the inbox', [active, nothing, at], 'pending', 0, START_MS],
      ['in the inbox of a paused one', [paused, nothing, at], 'pending', 0, null],
      ['claimed', [claimed, nothing, at], 'leased', 1, null],
      ['its lease over', [claimed, nothing, { ...at, now_ms: claim.lease_until_ms }], 'pending', 1, START_MS],
      ['waits', [active, waiting, at], 'pending', 2, NOW_MS + 7_000],
      ['waits for a probe', [{ ...active, probe_at_ms: NOW_MS + 9_000 }, waiting, at], 'pending', 2, NOW_MS + 9_000],
      ['its time over', [active, waiting, { ...at, now_ms: deadlineMs(one) }], 'failed', 2, null],
      ['a millisecond before', [active, waiting, { ...at, now_ms: deadlineMs(one) - 1 }], 'pending', 2, NOW_MS + 7_000],
      ['made before it was disabled', [{ ...active, enablement: 2 }, waiting, at], 'cancelled', 2, null],
      ['claimed, made before it was disabled', [{ ...claimed, enablement: 2 }, nothing, at], 'cancelled', 1, null],
      ['of an earlier epoch of the account', [active, nothing, { ...at, epoch: 1 }], 'cancelled', 0, null],
      [
        'ended',
        [
          { ...active, enablement: 2 },
          { ...nothing, ended },
          { ...at, epoch: 1 },
        ],
        'succeeded',
        1,
        null,
      ],
    ];
  for (const [says, args, status, attempts, next_attempt_at_ms] of table) {
    const found = standingOf(...args);
    t.strictSame({ ...found, attempts: found.attempts.length }, { status, attempts, next_attempt_at_ms }, says);
  }

  const played = new PlayedEndpoint();
  played.wait([row]);
  played.put(ENDED, '1', { value: { ...ended, ...entry(1) }, order: 0 });
  const { reply } = played.send({ type: 'find', entries: [entry(1), one, entry(3)] });
  t.strictSame(reply, {
    endpoint: played.state,
    found: [
      { entry: entry(1), ended: { ...ended, ...entry(1) }, waiting: null },
      { entry: one, ended: null, waiting: row },
      { entry: entry(3), ended: null, waiting: null },
    ],
  });
});
