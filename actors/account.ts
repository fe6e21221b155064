import { ENTITLEMENT_CHANGED_FIELDS, ENTITLEMENT_DEFAULTS, type Entitlement } from '../src/domain/permissions.js';
import { refuse, unreachable } from '../src/domain/refusals.js';
import { changeSettings, KEEP_FOR_EVER, type SettingsChange } from '../src/domain/workspaces.js';
import {
  type DeletionMessage,
  type DeletionReply,
  decideDeletion,
  ERASED_DEVICES_MAX,
  freshPrivateWorkspace,
} from './account_deletion.js';
import { type DevicesMessage, type DevicesReply, decideDevices, devicesFacts } from './account_devices.js';
import { type AccountEndpointMessage, type AccountEndpointReply, decideEndpoint } from './account_endpoints.js';
import {
  decideMembership,
  type MembershipMessage,
  type MembershipReply,
  workspaceUpdated,
} from './account_memberships.js';
import { type AccountSessionMessage, decideSession, sessionFacts } from './account_sessions.js';
import { type Account, bumpEpoch, isGone, updated } from './account_state.js';
import { decideToken, revokeAllTokens, type TokenMessage, type TokenReply } from './account_tokens.js';
import { actorKind, type Decision, type Effect, type EpochName, type RecordQuery } from './actor.js';

export type AccountMessage =
  | { type: 'create'; email: string }
  | { type: 'view' }
  | { type: 'rename'; name: string | null }
  | { type: 'change_private_workspace'; change: SettingsChange }
  | { type: 'switch_entitlement'; entitlement: Entitlement; enabled: boolean }
  /** Ends all grants, browser sessions and personal access tokens, and the app sessions when that is asked for. */
  | { type: 'sign_out_everywhere'; app_sessions: boolean }
  /** Ends all grants and browser sessions. */
  | { type: 'end_grants' }
  | DevicesMessage
  | AccountSessionMessage
  | TokenMessage
  | AccountEndpointMessage
  | MembershipMessage
  | DeletionMessage;

export type AccountReply =
  | Account
  | DevicesReply
  | MembershipReply
  | TokenReply
  | AccountEndpointReply
  | DeletionReply
  | { done: true };

type AccountBefore4 = Omit<Account, 'sessions' | 'join_tries'>;
type AccountBefore3 = Omit<AccountBefore4, 'endpoints'>;
type AccountBefore2 = Omit<
  AccountBefore3,
  'private_workspace' | 'tokens' | 'memberships' | 'joining' | 'deletion_attempts' | 'phase'
> & { private_workspace: { id: string; name: string } };

const DONE = { done: true } as const;
const ERASED = refuse('CONFLICT', 'The account is erased, or about to be.');
const NO_ACCOUNT = refuse('UNAUTHORIZED', 'There is no such account.');

export const account = actorKind<Account, AccountMessage, AccountReply>({
  kind: 'account',
  home: 'id',
  schema: 4,
  upcast: {
    3: (old: AccountBefore4): Account => ({ ...old, sessions: [], join_tries: null }),
    2: (old: AccountBefore3): AccountBefore4 => ({ ...old, endpoints: [] }),
    1: (old: AccountBefore2): AccountBefore3 => ({
      ...old,
      private_workspace: { ...old.private_workspace, number: 0, retention: KEEP_FOR_EVER },
      tokens: [],
      memberships: [],
      joining: [],
      deletion_attempts: 0,
      phase: { status: 'active' },
    }),
  },
  reads: ['view'],

  records(message): RecordQuery[] {
    switch (message.type) {
      case 'device_bound':
      case 'source_deleted':
      case 'remove_device':
      case 'list_devices':
        return devicesFacts(message);
      case 'session_ready':
      case 'session_over':
        return sessionFacts(message);
      case 'erase_devices':
        return [{ collection: 'devices', range: { limit: ERASED_DEVICES_MAX } }];
      default:
        return [];
    }
  },

  decide(state, message, facts, now_ms): Decision<Account, AccountReply> {
    if (message.type === 'create') {
      if (state !== null) return { reply: DONE };
      const { email } = message;
      const id = facts.self;
      return {
        reply: DONE,
        next: {
          id,
          email,
          name: null,
          created_at_ms: now_ms,
          entitlements: {},
          private_workspace: freshPrivateWorkspace(id, 1),
          lives: { account: 0, app_sessions: 0, grants: 0, tokens: 0 },
          devices: 0,
          tokens: [],
          endpoints: [],
          sessions: [],
          join_tries: null,
          memberships: [],
          joining: [],
          deletion_attempts: 0,
          phase: { status: 'active' },
        },
        effects: [{ effect: 'append_event', account_id: id, type: 'account.created', resource_id: id }],
      };
    }
    if (state === null) return { reply: NO_ACCOUNT };
    switch (message.type) {
      case 'view':
        return { reply: state };

      case 'rename': {
        if (message.name === state.name) return { reply: state };
        const next = { ...state, name: message.name };
        return { reply: next, next, effects: [updated(state.id, ['name'])] };
      }

      case 'change_private_workspace': {
        const { settings, changed_fields } = changeSettings(state.private_workspace, message.change);
        if (changed_fields.length === 0) return { reply: state };
        const next = { ...state, private_workspace: settings };
        const effects = [
          ...(changed_fields.includes('name') ? [updated(state.id, ['workspaces'])] : []),
          workspaceUpdated(state.id, settings.id, changed_fields),
        ];
        return { reply: next, next, effects };
      }

      case 'switch_entitlement': {
        const { entitlement, enabled } = message;
        if (isGone(state)) return { reply: ERASED };
        if ((state.entitlements[entitlement] ?? ENTITLEMENT_DEFAULTS[entitlement]) === enabled) return { reply: state };
        const next = { ...state, entitlements: { ...state.entitlements, [entitlement]: enabled } };
        return { reply: next, next, effects: [updated(state.id, ENTITLEMENT_CHANGED_FIELDS[entitlement])] };
      }

      case 'sign_out_everywhere':
        return raised(
          { ...state, tokens: [] },
          message.app_sessions ? ['grants', 'tokens', 'app_sessions'] : ['grants', 'tokens'],
          revokeAllTokens(state, 'sign_out_everywhere', now_ms),
        );

      case 'end_grants':
        return raised(state, ['grants']);

      case 'device_bound':
      case 'source_deleted':
      case 'list_devices':
      case 'remove_device':
        return decideDevices(state, message, facts, now_ms);

      case 'host_session':
      case 'try_join':
      case 'session_ready':
      case 'session_over':
      case 'session_news':
      case 'session_gone':
        return decideSession(state, message, facts, now_ms);

      case 'add_token':
      case 'revoke_token':
        return decideToken(state, message, now_ms);

      case 'add_endpoint':
      case 'remove_endpoint':
        return decideEndpoint(state, message, now_ms);

      case 'create_workspace':
      case 'accept_invitation':
      case 'join_outcome':
      case 'joined':
      case 'not_joined':
      case 'workspace_changed':
      case 'left':
      case 'workspace_deleted':
        return decideMembership(state, message);

      case 'delete':
      case 'deletion_outcome':
      case 'held':
      case 'hold_open':
      case 'leaving_late':
      case 'restore':
      case 'erase_due':
      case 'erasure_progress':
      case 'erased':
        return decideDeletion(state, message, [], { now_ms, certain_ms: facts.certain_ms });

      case 'erase_devices':
        return decideDeletion(state, message, facts.range('devices'), { now_ms, certain_ms: facts.certain_ms });

      default:
        return unreachable(message);
    }
  },

  invariant(state) {
    return state.devices < 0 ? 'fewer than no devices' : null;
  },
});

function raised(state: Account, names: readonly EpochName[], effects: Effect[] = []): Decision<Account, AccountReply> {
  const { state: next, effects: raises } = bumpEpoch(state, names);
  return { reply: DONE, next, effects: [...raises, ...effects] };
}
