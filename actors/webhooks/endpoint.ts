import { LIMITS } from '../../src/domain/limits.js';
import { refuse, unreachable } from '../../src/domain/refusals.js';
import type { EndpointStatus } from '../../src/domain/webhooks.js';
import {
  type Decision,
  DONE,
  type DoneDecision,
  defineActor,
  type Effect,
  type Facts,
  given,
  type MessageOf,
  type QueuedDelivery,
  type RecordQuery,
} from '../actor.js';
import { type Erase, erased } from '../erase.js';
import { type EndedDelivery, eventMs, type FoundDelivery, type WaitingDelivery } from './delivery.js';
import { type DeliveryRequest, EndpointDeliveries, QUEUE_READ_MAX, WAITING_READ_MAX } from './endpoint_delivery.js';
import {
  batchOf,
  disabled,
  ENDED,
  ENDPOINTS,
  type Endpoint,
  leaseEndsAt,
  mayWait,
  type NewEndpoint,
} from './endpoint_state.js';
import { listIfUnhealthy, unlistUnhealthy } from './unhealthy_endpoints.js';

export type EndpointMessage = MessageOf<typeof endpoint>;

export type FoundDeliveries = { endpoint: Endpoint; found: FoundDelivery[] };

const NO_ENDPOINT = refuse('NOT_FOUND', 'There is no such endpoint.');
const ENABLE_FIRST = refuse('CONFLICT', 'A disabled endpoint cannot be paused; set it active first.');
const SWEPT_MAX = 500;
const SWEEP_ON_MS = 1_000;

const known = given((state: Endpoint | null) => state ?? NO_ENDPOINT);

export const endpoint = defineActor<Endpoint>()({
  kind: 'endpoint',
  home: 'id',
  schema: 1,
  messages: {
    // From its account.
    create(
      state,
      { endpoint: made, account_epoch }: { endpoint: NewEndpoint; account_epoch: number },
      { self, now_ms },
    ): DoneDecision<Endpoint> {
      if (state !== null) return { reply: DONE };
      const { account_id, created_at_ms } = made;
      return {
        reply: DONE,
        next: { ...made, ...FRESH, standing: { status: 'active', since_ms: created_at_ms }, account_epoch },
        effects: [
          // That it gets events, the account has said already.
          { effect: 'add_to_index', owner: account_id, index: ENDPOINTS, member: self, order: created_at_ms },
          remindToSweep(now_ms + LIMITS.endpoint_sweep_every_ms),
        ],
      };
    },

    remove(state, _: unknown, { self }): DoneDecision<Endpoint> {
      if (state === null) return { reply: DONE };
      const { account_id } = state;
      return {
        reply: DONE,
        next: null,
        effects: [
          // Set active after its account had let it go, it would be subscribed for ever.
          { effect: 'unsubscribe', account_id, endpoint_id: self },
          ...removal(state, self),
          { effect: 'remove_from_index', owner: account_id, index: ENDPOINTS, member: self },
        ],
      };
    },

    erase: (state, input: Erase, { self }) =>
      erased(input, { member: self, effects: state === null ? [] : removal(state, self) }),

    // From its owner.
    view: { reads: true, decide: known((state) => ({ reply: state })) },

    set_status: {
      records: (_: unknown, state) => (state === null ? [] : [queueOf(state)]),
      decide: known((state, { status }: { status: EndpointStatus }, facts) =>
        listIfUnhealthy(setStatus(state, status, facts), state, facts),
      ),
    },

    /** Returns the state of queued deliveries. */
    find: {
      reads: true,
      records: ({ entries }: { entries: QueuedDelivery[] }, state) =>
        state === null
          ? []
          : entries.flatMap((entry) => [
              { collection: ENDED, id: String(entry.sequence) },
              { collection: batchOf(entry), id: String(entry.sequence) },
            ]),
      decide: known((state, { entries }: { entries: QueuedDelivery[] }, facts): Decision<Endpoint, FoundDeliveries> => {
        const found = entries.map((entry): FoundDelivery => {
          const id = String(entry.sequence);
          return {
            entry,
            ended: facts.record<EndedDelivery>(ENDED, id) ?? null,
            waiting: facts.record<WaitingDelivery>(batchOf(entry), id) ?? null,
          };
        });
        return { reply: { endpoint: state, found } };
      }),
    },

    // From who posts.
    work: {
      records: ({ credential_epoch }: DeliveryRequest, state) =>
        state === null
          ? []
          : [
              queueOf(state),
              ...(mayWait(state, credential_epoch)
                ? [{ collection: batchOf(state), range: { limit: WAITING_READ_MAX } }]
                : []),
            ],
      decide: known((state, asked: DeliveryRequest, facts) =>
        listIfUnhealthy(new EndpointDeliveries(state, asked, facts).decide(), state, facts),
      ),
    },

    sweep: {
      records: (_: unknown, state) =>
        state === null
          ? []
          : [
              { collection: 'queue', queue: { after: 0, limit: SWEPT_MAX } },
              { collection: ENDED, range: { limit: SWEPT_MAX } },
            ],
      decide: known((state, _: unknown, facts) => listIfUnhealthy(swept(state, facts), state, facts)),
    },
  },
});

const FRESH = {
  failure_count: 0,
  last_success_at_ms: null,
  enablement: 1,
  taken: 0,
  claims: [],
  waiting: 0,
  cancelled: [],
  retryable_failures: 0,
  probe_at_ms: 0,
  trouble: null,
};

function queueOf({ taken }: Endpoint): RecordQuery {
  return { collection: 'queue', queue: { after: taken, limit: QUEUE_READ_MAX } };
}

function removal(state: Endpoint, self: string): Effect[] {
  return [
    ...[ENDED, batchOf(state), ...state.cancelled.map(({ batch }) => batch)].map(
      (collection): Effect => ({ effect: 'delete_collection', collection }),
    ),
    { effect: 'delete_queue' },
    { effect: 'schedule_endpoint', at_ms: null, seen: Number.MAX_SAFE_INTEGER },
    { effect: 'cancel_reminder', name: 'sweep' },
    ...(state.trouble === null ? [] : unlistUnhealthy(state.trouble.is, self)),
  ];
}

/** Rules F-012 to F-016. */
function setStatus(state: Endpoint, status: EndpointStatus, facts: Facts): Decision<Endpoint, Endpoint> {
  const { standing, account_id } = state;
  const { self: endpoint_id, now_ms } = facts;
  if (status === standing.status) return { reply: state };
  if (standing.status === 'disabled' && status === 'paused') return { reply: ENABLE_FIRST };
  const { last } = facts.deliveryQueue();
  switch (status) {
    case 'active': {
      const { topics, enablement } = state;
      const next: Endpoint = {
        ...state,
        standing: { status, since_ms: now_ms },
        failure_count: 0,
        retryable_failures: 0,
        probe_at_ms: 0,
      };
      return {
        reply: next,
        next,
        effects: [
          { effect: 'subscribe', account_id, endpoint_id, subscription: { topics, enablement } },
          { effect: 'schedule_endpoint', at_ms: now_ms, seen: last },
        ],
      };
    }
    case 'paused':
      return silenced({ ...state, standing: { status, since_ms: now_ms } });
    case 'disabled':
      return silenced(disabled(state, { reason: null, last, now_ms }));
    default:
      return unreachable(status);
  }

  /** The endpoint gets no new deliveries; only those in flight are completed. */
  function silenced(next: Endpoint): Decision<Endpoint, Endpoint> {
    const effects: Effect[] = [
      { effect: 'unsubscribe', account_id, endpoint_id },
      { effect: 'schedule_endpoint', at_ms: leaseEndsAt(next), seen: last },
    ];
    return { reply: next, next, effects };
  }
}

function remindToSweep(at_ms: number): Effect {
  return { effect: 'schedule_reminder', name: 'sweep', at_ms, message: { type: 'sweep' } };
}

/** Deliveries are kept as long as events, results of attempts longer. Rule E-023. */
function swept(state: Endpoint, facts: Facts): DoneDecision<Endpoint> {
  const { now_ms, certain_ms } = facts;
  const { entries } = facts.deliveryQueue();
  const kept = entries.find((entry) => eventMs(entry) >= certain_ms - LIMITS.event_kept_ms);
  const before = kept?.sequence ?? (entries.at(-1)?.sequence ?? 0) + 1;
  const oldest = entries[0];
  const trim: Effect[] = oldest !== undefined && oldest.sequence < before ? [{ effect: 'trim_queue', before }] : [];
  const attempts_from_ms = certain_ms - LIMITS.attempt_kept_ms;
  const over = facts.range<EndedDelivery>(ENDED).filter(({ order }) => order < attempts_from_ms);
  const batches = state.cancelled.filter(({ at_ms }) => at_ms < attempts_from_ms);
  const more = (entries.length === SWEPT_MAX && kept === undefined) || over.length === SWEPT_MAX;
  return {
    reply: DONE,
    next: { ...state, cancelled: state.cancelled.filter((one) => !batches.includes(one)) },
    effects: [
      ...trim,
      ...over.map(({ id }): Effect => ({ effect: 'delete_record', collection: ENDED, id })),
      ...batches.map(({ batch }): Effect => ({ effect: 'delete_collection', collection: batch })),
      remindToSweep(now_ms + (more ? SWEEP_ON_MS : LIMITS.endpoint_sweep_every_ms)),
    ],
  };
}
