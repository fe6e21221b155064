import type { Language } from '../../src/domain/language/texts.js';
import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import { type Decision, DONE, type Effect, messagesOf } from '../actor.js';
import type { EndpointMessage } from '../webhooks/endpoint.js';
import type { NewEndpoint } from '../webhooks/endpoint_state.js';
import { type Account, ofAccount } from './account_state.js';

const TOO_MANY = refuse(
  'CONFLICT',
  `An account has at most ${LIMITS.endpoints_per_account_max} endpoints; remove one first.`,
);
const NO_ENDPOINT = refuse('NOT_FOUND', 'There is no such endpoint.');

/** The list of an account's endpoints. docs/rules.md, "Webhook endpoints and deliveries". */
export const endpointMessages = messagesOf<Account>()({
  add_endpoint: ofAccount(
    (
      state,
      { endpoint_id, endpoint: asked, ...of }: AddedEndpoint,
      { now_ms },
    ): Decision<Account, { created_at_ms: number }> => {
      const { id: account_id, endpoints } = state;
      if (endpoints.length >= LIMITS.endpoints_per_account_max) return { reply: TOO_MANY };
      const endpoint: NewEndpoint = { ...asked, account_id, created_at_ms: now_ms };
      const mail_language = state.mail_language ?? of.mail_language;
      const subscription = { topics: endpoint.topics, enablement: 1 };
      return {
        reply: { created_at_ms: now_ms },
        next: {
          ...state,
          ...(mail_language === undefined ? {} : { mail_language }),
          endpoints: [...endpoints, endpoint_id],
        },
        effects: [
          // With this commit, so that the very next event is delivered.
          { effect: 'subscribe', account_id, endpoint_id, subscription },
          notifyEndpoint(endpoint_id, { type: 'create', endpoint, account_epoch: state.epochs.account }),
        ],
      };
    },
  ),

  remove_endpoint: ofAccount((state, { endpoint_id }: { endpoint_id: string }): Decision<Account, typeof DONE> => {
    const { id: account_id, endpoints } = state;
    if (!endpoints.includes(endpoint_id)) return { reply: NO_ENDPOINT };
    return {
      reply: DONE,
      next: { ...state, endpoints: endpoints.filter((id) => id !== endpoint_id) },
      effects: [{ effect: 'unsubscribe', account_id, endpoint_id }, notifyEndpoint(endpoint_id, { type: 'remove' })],
    };
  }),
});

type AddedEndpoint = {
  endpoint_id: string;
  endpoint: Omit<NewEndpoint, 'account_id' | 'created_at_ms'>;
  mail_language?: Language | undefined;
};

function notifyEndpoint(id: string, message: EndpointMessage): Effect {
  return { effect: 'notify', to: { kind: 'endpoint', id }, message };
}
