import { LIMITS } from '../../src/domain/limits.js';
import { keepsForEver } from '../../src/domain/workspaces.js';
import type { Effect, Facts } from '../actor.js';
import type { EmailMessage } from '../emails/email.js';
import { type RetentionNews, tellSweep } from './sweep.js';
import {
  type HoldNews,
  type Invitation,
  type Member,
  type MembershipNews,
  retentionOf,
  type SharedStreamNews,
  type Workspace,
} from './workspace_state.js';

export function shedding({ erased }: { erased: boolean }, { self, now_ms }: Facts): Effect[] {
  const effects: Effect[] = [
    { effect: 'cancel_reminder', name: 'ask_outcomes' },
    { effect: 'delete_collection', collection: 'recorders' },
    tellSweep(self, { type: 'workspace_gone' }),
    shedAt(now_ms, { erased }),
  ];
  return erased ? [...effects, { effect: 'delete' }] : effects;
}

/** `invitation_id` is what the account waits for: its invitation, or the workspace that it makes. */
export function joined(
  self: string,
  { name, created_at_ms }: Workspace,
  { account_id, role }: Member,
  invitation_id: string,
): Effect {
  const workspace = { workspace_id: self, name, created_at_ms };
  return notifyAccount(account_id, { type: 'joined', workspace, role, invitation_id });
}

export function changed(
  self: string,
  { name }: Workspace,
  { account_id, role }: Member,
  changed_fields: string[] = [],
): Effect {
  return notifyAccount(account_id, { type: 'workspace_changed', workspace_id: self, name, role, changed_fields });
}

export function left(self: string, { account_id }: Member): Effect {
  return notifyAccount(account_id, { type: 'left', workspace_id: self });
}

export function uninvite({ id, email }: Invitation): Effect {
  const message: EmailMessage = { type: 'uninvited', invitation_id: id };
  return { effect: 'notify', to: { kind: 'email', id: email }, message };
}

/** A hold ends with the account's outcome alone; one that lasts asks for it. */
export function askOutcomesAt(now_ms: number): Effect {
  return {
    effect: 'schedule_reminder',
    name: 'ask_outcomes',
    at_ms: now_ms + LIMITS.hold_asks_after_ms,
    message: { type: 'ask_outcomes' },
  };
}

/** Its streams are notified of the end some at a time: however many they are, no batch is long. */
export function shedAt(at_ms: number, { erased }: { erased: boolean }): Effect {
  return { effect: 'schedule_reminder', name: 'shed_streams', at_ms, message: { type: 'shed_streams', erased } };
}

export function notifyGone(workspace_id: string, stream_id: string): Effect {
  const message: SharedStreamNews = { type: 'workspace_gone', workspace_id };
  return { effect: 'notify', to: { kind: 'stream', id: stream_id }, message };
}

export function tellRetention(self: string, state: Workspace): Effect {
  return tellSweep(self, { type: 'settings', ...retentionOf(state) });
}

/** Tells the sweep of an account that records here, once. */
export function takeRecorder(account_id: string, facts: Facts): Effect[] {
  if (facts.record('recorders', account_id) !== undefined) return [];
  return [
    { effect: 'put_record', collection: 'recorders', id: account_id, value: {} },
    tellSweep(facts.self, { type: 'recorder', account_id }),
  ];
}

/** Where everything is kept for ever there is nothing to hold up. */
export function retentionTold(self: string, state: Workspace): Effect[] {
  return keepsForEver(state.retention) ? [] : [tellRetention(self, state)];
}

export function notifyAccount(id: string, message: MembershipNews | HoldNews | RetentionNews): Effect {
  return { effect: 'notify', to: { kind: 'account', id }, message };
}
