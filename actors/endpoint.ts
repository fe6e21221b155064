import { LIMITS } from '../src/domain/limits.js';
import { refuse, unreachable } from '../src/domain/refusals.js';
import type { EndpointStatus } from '../src/domain/webhooks.js';
import { actorKind, type Decision, type Effect, type QueuedDelivery, type RecordQuery, type Records } from './actor.js';
import { type EndedDelivery, eventMs, type FoundDelivery, type WaitingDelivery } from './delivery.js';
import { batchOf, disabled, ENDED, ENDPOINTS, type Endpoint, leaseEndsAt, type NewEndpoint } from './endpoint_state.js';
import { INBOX_LOOKED_AT_MAX, LOOKED_AT_MAX, Turn, type Work, type WorkMessage } from './endpoint_turn.js';
import { type EraseMessage, erased } from './erase.js';

export type EndpointMessage =
  | { type: 'create'; endpoint: NewEndpoint; life: number }
  | { type: 'view' }
  /** How deliveries of the inbox stand. */
  | { type: 'find'; entries: QueuedDelivery[] }
  | { type: 'set_status'; status: EndpointStatus }
  | { type: 'remove' }
  | WorkMessage
  | { type: 'sweep' }
  | EraseMessage;

export type EndpointReply = Endpoint | Found | Work | { done: true };
export type Found = { endpoint: Endpoint; found: FoundDelivery[] };

const DONE = { done: true } as const;
const NO_ENDPOINT = refuse('NOT_FOUND', 'There is no such endpoint.');
const ENABLE_FIRST = refuse('CONFLICT', 'A disabled endpoint cannot be paused; set it active first.');
const SWEPT_MAX = 500;
const SWEEP_ON_MS = 1_000;

export const endpoint = actorKind<Endpoint, EndpointMessage, EndpointReply>({
  kind: 'endpoint',
  home: 'id',
  schema: 1,
  reads: ['view', 'find'],

  records(message, state): RecordQuery[] {
    if (state === null) return [];
    const inbox: RecordQuery = { collection: 'inbox', inbox: { after: state.taken, limit: INBOX_LOOKED_AT_MAX } };
    switch (message.type) {
      case 'work': {
        const batch = batchOf({ ...state, life: message.life });
        return [inbox, { collection: batch, range: { limit: LOOKED_AT_MAX } }];
      }
      case 'set_status':
        return [inbox];
      case 'find':
        return message.entries.flatMap((entry) => [
          { collection: ENDED, id: String(entry.sequence) },
          { collection: batchOf(entry), id: String(entry.sequence) },
        ]);
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
            // Set active after its account had let it go, it would be subscribed for ever.
            { effect: 'unsubscribe', account_id: state.account_id, endpoint_id: facts.self },
            ...removal(state),
            { effect: 'remove_from_index', owner: state.account_id, index: ENDPOINTS, member: facts.self },
          ],
        };
    }
    if (state === null) return { reply: NO_ENDPOINT };
    switch (message.type) {
      case 'view':
        return { reply: state };
      case 'find': {
        const found = message.entries.map((entry): FoundDelivery => {
          const id = String(entry.sequence);
          return {
            entry,
            ended: facts.record<EndedDelivery>(ENDED, id) ?? null,
            waiting: facts.record<WaitingDelivery>(batchOf(entry), id) ?? null,
          };
        });
        return { reply: { endpoint: state, found } };
      }
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

type At = { facts: Records; now_ms: number };

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
        effect: 'add_to_index',
        owner: made.account_id,
        index: ENDPOINTS,
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
      (collection): Effect => ({ effect: 'delete_collection', collection }),
    ),
    { effect: 'delete_queue' },
    { effect: 'schedule_endpoint', at_ms: null, seen: Number.MAX_SAFE_INTEGER },
    { effect: 'cancel_reminder', name: 'sweep' },
  ];
}

/** Interface: "Endpoint status". */
function setStatus(state: Endpoint, status: EndpointStatus, { facts, now_ms }: At): Decision<Endpoint, EndpointReply> {
  const { standing, account_id } = state;
  const endpoint_id = facts.self;
  if (status === standing.status) return { reply: state };
  if (standing.status === 'disabled' && status === 'paused') return { reply: ENABLE_FIRST };
  const { last } = facts.deliveryQueue();
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

  /** It gets nothing new, and is looked at only for what is in flight. */
  function silenced(next: Endpoint): Decision<Endpoint, EndpointReply> {
    const effects: Effect[] = [
      { effect: 'unsubscribe', account_id, endpoint_id },
      { effect: 'schedule_endpoint', at_ms: leaseEndsAt(next), seen: last },
    ];
    return { reply: next, next, effects };
  }
}

function remindToSweep(at_ms: number): Effect {
  return { effect: 'schedule_reminder', name: 'sweep', at_ms, message: { type: 'sweep' } satisfies EndpointMessage };
}

/** Deliveries are kept as long as events are, what came of their attempts for longer. Interface: "Recording and retention". */
function swept(state: Endpoint, { facts, now_ms }: At): Decision<Endpoint, EndpointReply> {
  const { entries } = facts.deliveryQueue();
  const kept = entries.find((entry) => eventMs(entry) >= facts.certain_ms - LIMITS.event_kept_ms);
  const before = kept?.sequence ?? (entries.at(-1)?.sequence ?? 0) + 1;
  const oldest = entries[0];
  const trim: Effect[] = oldest !== undefined && oldest.sequence < before ? [{ effect: 'trim_queue', before }] : [];
  const attempts_from_ms = facts.certain_ms - LIMITS.attempt_kept_ms;
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
