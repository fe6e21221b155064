import { ENTITLEMENT_CHANGED_FIELDS, ENTITLEMENT_DEFAULTS, type Entitlement } from '../../src/domain/permissions.js';
import { refuse } from '../../src/domain/refusals.js';
import { changeSettings, changesRetention, type SettingsChange } from '../../src/domain/workspaces.js';
import { type Decision, DONE, defineActor, type Effect, type EpochName, type MessageOf } from '../actor.js';
import type { RetentionNews } from '../workspaces/sweep.js';
import { calendarMessages } from './account_calendar.js';
import { deletionMessages, freshPrivateWorkspace } from './account_deletion.js';
import { deviceMessages } from './account_devices.js';
import { dueMailMessages } from './account_due_mail.js';
import { endpointMessages } from './account_endpoints.js';
import { linkMessages } from './account_links.js';
import { meaningMessages } from './account_meaning.js';
import { isMember, membershipMessages, workspaceUpdated } from './account_memberships.js';
import { omiMessages } from './account_omi.js';
import { sessionMessages } from './account_sessions.js';
import { type Account, bumpEpoch, isGone, isOpen, ofAccount, tellRetention, updated } from './account_state.js';
import { revokeAllTokens, tokenMessages } from './account_tokens.js';

export type AccountMessage = MessageOf<typeof account>;

const ERASED = refuse('CONFLICT', 'The account is erased, or about to be.');

export const account = defineActor<Account>()({
  kind: 'account',
  home: 'id',
  schema: 1,
  messages: {
    create(state, { email }: { email: string }, { self: id, now_ms }) {
      if (state !== null) return { reply: DONE };
      const next: Account = {
        id,
        email,
        name: null,
        created_at_ms: now_ms,
        entitlements: {},
        private_workspace: freshPrivateWorkspace(id, 1),
        epochs: { account: 0, app_sessions: 0, grants: 0, tokens: 0 },
        devices: 0,
        tokens: [],
        links: [],
        endpoints: [],
        sessions: [],
        join_tries: null,
        invitations_sent: null,
        workspaces_made: null,
        memberships: [],
        joining: [],
        deletion_attempts: 0,
        phase: { status: 'active' },
      };
      const created: Effect = { effect: 'append_event', account_id: id, type: 'account.created', resource_id: id };
      return { reply: DONE, next, effects: [created] };
    },

    view: { reads: true, decide: ofAccount((state) => ({ reply: state })) },

    rename: ofAccount((state, { name }: { name: string | null }) => {
      if (name === state.name) return { reply: state };
      const next = { ...state, name };
      return { reply: next, next, effects: [updated(state.id, ['name'])] };
    }),

    change_private_workspace: ofAccount((state, { change }: { change: SettingsChange }) => {
      const { settings, changed_fields } = changeSettings(state.private_workspace, change);
      if (changed_fields.length === 0) return { reply: state };
      const next = { ...state, private_workspace: settings };
      const effects = [
        ...(changed_fields.includes('name') ? [updated(state.id, ['workspaces'])] : []),
        workspaceUpdated(state.id, settings.id, changed_fields),
        ...(changesRetention(changed_fields) ? [tellRetention(next)] : []),
      ];
      return { reply: next, next, effects };
    }),

    // From the sweep of the private workspace, or from a shared one:
    retention_applied: ofAccount(
      (state, { workspace_id, data }: Omit<RetentionNews, 'type'>): Decision<Account, typeof DONE> => {
        const belongs = workspace_id === state.private_workspace.id || isMember(state, workspace_id);
        if (!belongs || !isOpen(state)) return { reply: DONE };
        const type = 'workspace.retention_applied' as const;
        const event: Effect = { effect: 'append_event', account_id: state.id, type, resource_id: workspace_id, data };
        return { reply: DONE, effects: [event] };
      },
    ),

    switch_entitlement: ofAccount(
      (state, { entitlement, enabled }: { entitlement: Entitlement; enabled: boolean }): Decision<Account, Account> => {
        if (isGone(state)) return { reply: ERASED };
        if ((state.entitlements[entitlement] ?? ENTITLEMENT_DEFAULTS[entitlement]) === enabled) return { reply: state };
        const next = { ...state, entitlements: { ...state.entitlements, [entitlement]: enabled } };
        return { reply: next, next, effects: [updated(state.id, ENTITLEMENT_CHANGED_FIELDS[entitlement])] };
      },
    ),

    /** Ends all grants, browser sessions and personal access tokens, and the app sessions when that is asked for. */
    sign_out_everywhere: ofAccount((state, { app_sessions }: { app_sessions: boolean }, { now_ms }) => {
      const names: EpochName[] = app_sessions ? ['grants', 'tokens', 'app_sessions'] : ['grants', 'tokens'];
      return bumped({ ...state, tokens: [] }, names, revokeAllTokens(state, 'sign_out_everywhere', now_ms));
    }),

    /** Ends all grants and browser sessions. */
    end_grants: ofAccount((state) => bumped(state, ['grants'])),

    ...deviceMessages,
    ...sessionMessages,
    ...tokenMessages,
    ...linkMessages,
    ...endpointMessages,
    ...membershipMessages,
    ...meaningMessages,
    ...calendarMessages,
    ...omiMessages,
    ...dueMailMessages,
    ...deletionMessages,
  },

  invariant(state) {
    return state.devices < 0 ? 'fewer than no devices' : null;
  },
});

function bumped(state: Account, names: readonly EpochName[], effects: Effect[] = []): Decision<Account, typeof DONE> {
  const { state: next, effects: bumps } = bumpEpoch(state, names);
  return { reply: DONE, next, effects: [...bumps, ...effects] };
}
