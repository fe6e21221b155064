import { LIMITS } from '../src/domain/limits.js';
import { refuse, unreachable } from '../src/domain/refusals.js';
import type { Account } from './account_state.js';
import type { Decision } from './actor.js';
import type { EndpointMessage } from './endpoint.js';
import type { NewEndpoint } from './endpoint_state.js';

/** An account's part in its endpoints: which there are. Interface: "Endpoint (webhook destination)". */
export type AccountEndpointMessage =
  | { type: 'add_endpoint'; endpoint_id: string; endpoint: Omit<NewEndpoint, 'account_id' | 'created_at_ms'> }
  | { type: 'remove_endpoint'; endpoint_id: string };

export type AccountEndpointReply = { done: true } | { created_at_ms: number };

const DONE = { done: true } as const;
const TOO_MANY = refuse(
  'CONFLICT',
  `An account has at most ${LIMITS.endpoints_per_account_max} endpoints; remove one first.`,
);
const NO_ENDPOINT = refuse('NOT_FOUND', 'There is no such endpoint.');

export function decideEndpoint(
  state: Account,
  message: AccountEndpointMessage,
  now_ms: number,
): Decision<Account, AccountEndpointReply> {
  const { id: account_id, endpoints } = state;
  const { endpoint_id } = message;
  const to = { kind: 'endpoint', id: endpoint_id };
  switch (message.type) {
    case 'add_endpoint': {
      if (endpoints.length >= LIMITS.endpoints_per_account_max) return { reply: TOO_MANY };
      const endpoint: NewEndpoint = { ...message.endpoint, account_id, created_at_ms: now_ms };
      const create: EndpointMessage = { type: 'create', endpoint, life: state.lives.account };
      return {
        reply: { created_at_ms: now_ms },
        next: { ...state, endpoints: [...endpoints, endpoint_id] },
        effects: [
          // With this commit, so that the very next event is delivered.
          {
            effect: 'subscribe',
            account_id,
            endpoint_id,
            subscription: { topics: endpoint.topics, generation: 1 },
          },
          { effect: 'notify', to, message: create },
        ],
      };
    }
    case 'remove_endpoint': {
      if (!endpoints.includes(endpoint_id)) return { reply: NO_ENDPOINT };
      const remove: EndpointMessage = { type: 'remove' };
      return {
        reply: DONE,
        next: { ...state, endpoints: endpoints.filter((id) => id !== endpoint_id) },
        effects: [
          { effect: 'unsubscribe', account_id, endpoint_id },
          { effect: 'notify', to, message: remove },
        ],
      };
    }
    default:
      return unreachable(message);
  }
}
