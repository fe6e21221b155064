import { privateWorkspaceId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import { KEEP_FOR_EVER, keepsForEver } from '../../src/domain/workspaces.js';
import { type Decision, DONE, type DoneDecision, type Effect, messagesOf } from '../actor.js';
import type { BindingMessage } from '../devices/binding.js';
import type { DeviceMessage } from '../devices/device.js';
import type { EmailMessage } from '../emails/email.js';
import type { WorkspaceMessage } from '../workspaces/workspace.js';
import type { HoldNews } from '../workspaces/workspace_state.js';
import { noted } from './account_due_mail.js';
import { endLinks } from './account_links.js';
import { workspaceDeleted } from './account_memberships.js';
import { endSessions } from './account_sessions.js';
import {
  type Account,
  bumpEpoch,
  type DeletionMail,
  ofAccount,
  type Phase,
  type Removed,
  tellRetention,
} from './account_state.js';
import { revokeAllTokens } from './account_tokens.js';

type Leaving = Extract<Phase, { status: 'leaving' }>;
/** Collection `devices`; the fields that an erasure needs. */
type ErasedDevice = { binding_epoch: string };

const IN_PROGRESS = refuse('ACCOUNT_DELETION_IN_PROGRESS', "The account's data is being erased; try again later.");
const OWNER_REQUIRED = refuse(
  'WORKSPACE_OWNER_REQUIRED',
  'A shared workspace with other members has no other owner; transfer or delete it first.',
);
const NOT_DECIDED = refuse('UNAVAILABLE', 'A shared workspace does not answer; the account was not deleted.', {
  retry_after_s: 5,
});

/** The wait before an erasure is tried again whose time has come by an uncertain clock only. */
const ERASE_HELD_MS = 60_000;

/** The number of devices that one step of an erasure unbinds. */
export const ERASED_DEVICES_MAX = 100;

/**
 * An account's way out and back: active, leaving while shared workspaces are asked, deleted for seven days, erasing,
 * erased. Rules D-014 to D-037; docs/architecture.md, "Outbox messages".
 */
export const deletionMessages = messagesOf<Account>()({
  delete: ofAccount((state, { mail }: { mail: DeletionMail }, { now_ms }): DoneDecision<Account> => {
    if (state.phase.status !== 'active') return { reply: DONE };
    // An invitation that is being accepted counts: its workspace reports the outcome before it answers this.
    const asked = [...state.memberships, ...state.joining].map(({ workspace_id }) => workspace_id);
    const unanswered = [...new Set(asked)];
    const attempt = state.deletion_attempts + 1;
    const leaving: Leaving = { status: 'leaving', unanswered, alone: [], mail };
    const next = { ...state, deletion_attempts: attempt, phase: leaving };
    if (unanswered.length === 0) return deleted(next, leaving, now_ms);
    const at_ms = now_ms + LIMITS.leaving_max_ms;
    const message = { type: 'leaving_late', attempt };
    return {
      reply: DONE,
      next,
      effects: [
        ...unanswered.map((id) => notifyWorkspace(id, { type: 'hold', account_id: state.id, attempt })),
        { effect: 'schedule_reminder', name: 'leaving_late', at_ms, message },
      ],
    };
  }),

  /** Says whether the account is deleted, or leaves its shared workspaces first. */
  deletion_outcome: ofAccount(({ phase }): Decision<Account, { outcome: 'deleted' | 'leaving' }> => {
    if (phase.status === 'leaving') return { reply: { outcome: 'leaving' } };
    if (phase.status !== 'active') return { reply: { outcome: 'deleted' } };
    return { reply: phase.kept === 'owner' ? OWNER_REQUIRED : NOT_DECIDED };
  }),

  // From the workspaces that it belongs to:
  held: ofAccount(
    (state, { workspace_id, attempt, owes, alone }: HoldNewsOf<'held'>, { now_ms }): DoneDecision<Account> => {
      const { phase } = state;
      if (phase.status !== 'leaving' || attempt !== state.deletion_attempts) return { reply: DONE };
      if (owes) return kept(state, 'owner');
      const next: Leaving = {
        ...phase,
        unanswered: phase.unanswered.filter((id) => id !== workspace_id),
        alone: alone ? [...phase.alone, workspace_id] : phase.alone,
      };
      return next.unanswered.length > 0
        ? { reply: DONE, next: { ...state, phase: next } }
        : deleted(state, next, now_ms);
    },
  ),

  hold_open: ofAccount(({ id, phase }, { workspace_id }: HoldNewsOf<'hold_open'>): DoneDecision<Account> => {
    if (phase.status === 'leaving') return { reply: DONE }; // it will be notified
    const type = phase.status === 'active' ? 'release' : 'departed';
    return { reply: DONE, effects: [notifyWorkspace(workspace_id, { type, account_id: id })] };
  }),

  leaving_late: ofAccount(
    (state, { attempt }: { attempt: number }): DoneDecision<Account> =>
      state.phase.status === 'leaving' && attempt === state.deletion_attempts ? kept(state, 'late') : { reply: DONE },
  ),

  restore: ofAccount((state, _: unknown, { now_ms, certain_ms }): DoneDecision<Account> => {
    const { id, phase } = state;
    if (phase.status === 'active' || phase.status === 'leaving') return { reply: DONE };
    if (phase.status === 'erasing') return { reply: IN_PROGRESS };
    if (phase.status === 'erased')
      return { reply: DONE, next: { ...state, created_at_ms: now_ms, phase: { status: 'active' } } };
    if (certain_ms >= phase.erase_at_ms) return { ...erasing(state, now_ms), reply: IN_PROGRESS };
    const back = state.memberships.map(({ workspace_id }) =>
      notifyWorkspace(workspace_id, { type: 'returned', account_id: id }),
    );
    const next: Account = { ...state, phase: { status: 'active' } };
    return {
      reply: DONE,
      next,
      effects: [
        // What had been active gets account.restored, and everything after.
        { effect: 'set_subscriptions', account_id: id, become: 'open' },
        { effect: 'append_event', account_id: id, type: 'account.restored', resource_id: id },
        { effect: 'cancel_reminder', name: 'erase_due' },
        ...back,
        ...retentionTold(next),
      ],
    };
  }),

  erase_due: ofAccount((state, _: unknown, { now_ms, certain_ms }): DoneDecision<Account> => {
    const { phase } = state;
    if (phase.status !== 'deleted' || now_ms < phase.erase_at_ms) return { reply: DONE };
    if (certain_ms >= phase.erase_at_ms) return erasing(state, now_ms);
    // Clocks disagree: nothing that can't be undone is done on the word of one.
    return { reply: DONE, effects: [eraseAt(now_ms + ERASE_HELD_MS)] };
  }),

  // From who erases:
  /** Devices that are still bound. */
  erase_devices: {
    records: () => [{ collection: 'devices', range: { limit: ERASED_DEVICES_MAX } }],
    decide: ofAccount((state, _: unknown, facts): Decision<Account, { left: boolean }> => {
      const { phase } = state;
      if (phase.status !== 'erasing') return { reply: { left: false } };
      const devices = facts.range<ErasedDevice>('devices');
      const unbound = devices.flatMap(({ id, value: { binding_epoch } }): Effect[] => [
        { effect: 'delete_record', collection: 'devices', id },
        notifyDevice(id, { type: 'unbind', binding_epoch }),
        notifyBinding(binding_epoch, { type: 'end' }),
      ]);
      const left = devices.length === ERASED_DEVICES_MAX;
      const rest: Effect[] = left ? [] : [{ effect: 'delete_collection', collection: 'device_sources' }];
      const removed = added(phase.removed, { devices: devices.length });
      return {
        reply: { left },
        next: { ...state, devices: state.devices - devices.length, phase: { ...phase, removed } },
        effects: [...unbound, ...rest],
      };
    }),
  },

  /** Adds what the erasure removed elsewhere to its counts. */
  erasure_progress: ofAccount((state, { removed }: { removed: Removed }): DoneDecision<Account> => {
    const { phase } = state;
    if (phase.status !== 'erasing') return { reply: DONE };
    return { reply: DONE, next: { ...state, phase: { ...phase, removed: added(phase.removed, removed) } } };
  }),

  erased: ofAccount(
    (state): DoneDecision<Account> =>
      state.phase.status === 'erasing'
        ? { reply: DONE, next: { ...state, phase: { status: 'erased' } } }
        : { reply: DONE },
  ),
});

type HoldNewsOf<Name extends HoldNews['type']> = Omit<Extract<HoldNews, { type: Name }>, 'type'>;

/** Every workspace can continue without the account; it is deleted from here on. */
function deleted(leaving: Account, { alone, mail }: Leaving, now_ms: number): DoneDecision<Account> {
  const erase_at_ms = now_ms + LIMITS.erase_after_ms;
  const raised = bumpEpoch(leaving, ['account', 'grants', 'tokens']);
  const { calendar: _calendar, omi: _omi, due_mail: _due_mail, ...stays } = raised.state;
  const next: Account = {
    ...stays,
    tokens: [],
    links: [],
    memberships: leaving.memberships.filter(({ workspace_id }) => alone.includes(workspace_id)),
    phase: { status: 'deleted', deleted_at_ms: now_ms, erase_at_ms },
  };
  return {
    reply: DONE,
    next,
    effects: [
      ...raised.effects,
      // With the bumped epoch this disables every active endpoint and cancels what is on its way to it.
      { effect: 'set_subscriptions', account_id: leaving.id, become: 'closed' },
      { effect: 'append_event', account_id: leaving.id, type: 'account.deleted', resource_id: leaving.id },
      ...revokeAllTokens(leaving, 'account_deleted', now_ms),
      ...endLinks(leaving.links),
      ...(leaving.due_mail === undefined ? [] : noted(leaving.id, null)),
      ...endSessions(leaving),
      ...leaving.memberships.map(({ workspace_id }) =>
        notifyWorkspace(workspace_id, { type: 'departed', account_id: leaving.id }),
      ),
      ...retentionTold(next),
      { effect: 'cancel_reminder', name: 'leaving_late' },
      eraseAt(erase_at_ms),
      { effect: 'enqueue_mail', ...mail, give_up_at_ms: now_ms + LIMITS.mail_retried_ms },
    ],
  };
}

/** Tells the retention sweep; a workspace that keeps everything for ever has none. */
function retentionTold(state: Account): Effect[] {
  return keepsForEver(state.private_workspace.retention) ? [] : [tellRetention(state)];
}

/** Nothing has changed; every workspace that was asked may continue. */
function kept(leaving: Account, why: 'owner' | 'late'): DoneDecision<Account> {
  const asked = new Set([...leaving.memberships, ...leaving.joining].map(({ workspace_id }) => workspace_id));
  return {
    reply: DONE,
    next: { ...leaving, phase: { status: 'active', kept: why } },
    effects: [
      ...[...asked].map((id) => notifyWorkspace(id, { type: 'release', account_id: leaving.id })),
      { effect: 'cancel_reminder', name: 'leaving_late' },
    ],
  };
}

/**
 * Begins the erasure. The state left is the account that a restore would begin with, and what is still to be removed.
 */
function erasing(state: Account, now_ms: number): DoneDecision<Account> {
  // App sessions last until they expire: whoever holds one can begin the account afresh. Switches are the staff's.
  const raised = bumpEpoch(state, ['account', 'grants', 'tokens']);
  const { id, email, private_workspace, memberships } = state;
  const { meaning: _, ...kept } = raised.state;
  const number = private_workspace.number + 1;
  const forget_person: EmailMessage = { type: 'forget_person' };
  return {
    reply: DONE,
    next: {
      ...kept,
      name: null,
      private_workspace: freshPrivateWorkspace(id, number),
      tokens: [],
      links: [],
      endpoints: [],
      memberships: [],
      joining: [],
      join_tries: null,
      invitations_sent: null,
      workspaces_made: null,
      phase: { status: 'erasing', began_at_ms: now_ms, removed: {} },
    },
    effects: [
      ...raised.effects,
      { effect: 'delete_log', account_id: id },
      { effect: 'set_subscriptions', account_id: id, become: 'gone' },
      workspaceDeleted(id, private_workspace.id, 'account_deleted'),
      ...memberships.flatMap(({ workspace_id }): Effect[] => [
        workspaceDeleted(id, workspace_id, 'account_deleted'),
        notifyWorkspace(workspace_id, { type: 'erase', account_id: id }),
      ]),
      { effect: 'notify', to: { kind: 'email', id: email }, message: forget_person },
      { effect: 'cancel_reminder', name: 'erase_due' },
      { effect: 'enqueue_job', job_id: `erase:${id}`, job: { job: 'erase_account', account_id: id } },
    ],
  };
}

export function freshPrivateWorkspace(account_id: string, number: number): Account['private_workspace'] {
  return { id: privateWorkspaceId(account_id, number), number, name: 'Private', retention: KEEP_FOR_EVER };
}

function notifyWorkspace(id: string, message: WorkspaceMessage): Effect {
  return { effect: 'notify', to: { kind: 'workspace', id }, message };
}

function added(before: Removed, more: Removed): Removed {
  const sums = Object.entries(more).map(([what, count]) => [what, (before[what] ?? 0) + count]);
  return { ...before, ...Object.fromEntries(sums) };
}

function notifyDevice(id: string, message: DeviceMessage): Effect {
  return { effect: 'notify', to: { kind: 'device', id }, message };
}

function notifyBinding(id: string, message: BindingMessage): Effect {
  return { effect: 'notify', to: { kind: 'binding', id }, message };
}

function eraseAt(at_ms: number): Effect {
  return { effect: 'schedule_reminder', name: 'erase_due', at_ms, message: { type: 'erase_due' } };
}
