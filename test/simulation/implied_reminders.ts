import type { Account } from '../../actors/accounts/account_state.js';
import type { AppSession } from '../../actors/accounts/app_session.js';
import type { PersonalAccessToken } from '../../actors/accounts/personal_access_token.js';
import type { Binding } from '../../actors/devices/binding.js';
import type { Claim } from '../../actors/devices/claim.js';
import type { Device } from '../../actors/devices/device.js';
import type { DeviceSession } from '../../actors/devices/device_session_state.js';
import type { Email } from '../../actors/emails/email.js';
import type { AuthSession } from '../../actors/oauth/auth_session.js';
import type { Grant } from '../../actors/oauth/grant.js';
import type { Source } from '../../actors/recordings/source.js';
import type { Stream } from '../../actors/recordings/stream_state.js';
import type { Endpoint } from '../../actors/webhooks/endpoint_state.js';
import type { Sweep } from '../../actors/workspaces/sweep.js';
import type { Workspace } from '../../actors/workspaces/workspace_state.js';
import { LIMITS } from '../../src/domain/limits.js';
import { keepsForEver } from '../../src/domain/workspaces.js';
import type { Tally } from './tally.js';

/** What is stored of each kind. */
export type States = {
  email: Email;
  account: Account;
  app_session: AppSession;
  auth_session: AuthSession;
  grant: Grant;
  device: Device;
  claim: Claim;
  binding: Binding;
  source: Source;
  device_session: DeviceSession;
  workspace: Workspace;
  personal_access_token: PersonalAccessToken;
  endpoint: Endpoint;
  stream: Stream;
  sweep: Sweep;
  tally: Tally;
};
export type Kind = keyof States;

/** Two processes' clocks differ by less: a second intent may seem to be older than the one that set the reminder. */
const SKEWS_MS = 100;

type Stored = {
  all: <K extends Kind>(kind: K) => Map<string, States[K]>;
  /** Times by member, `kind:id:name`. */
  pending: Map<string, number>;
  mustHold: (holds: boolean, text: string) => void;
};

/** Reminders pending are those that the snapshots imply. */
export function checkReminders({ all, pending, mustHold }: Stored): void {
  const implied = new Set<string>();
  const imply = (kind: Kind, id: string, name: string, holds: (at_ms: number) => boolean) => {
    const member = `${kind}:${id}:${name}`;
    const at_ms = pending.get(member);
    implied.add(member);
    mustHold(at_ms !== undefined && holds(at_ms), `reminder ${member} is at ${at_ms}`);
  };
  for (const [id, { planned, fired }] of all('tally')) {
    for (let number = 0; number < planned; number++)
      if (!fired.includes(number)) imply('tally', id, `n${number}`, () => true);
  }
  for (const [id, { open }] of all('stream')) {
    if (open.length === 0) {
      implied.add(`stream:${id}:expire_intents`); // one that will find nothing to do may be left
      continue;
    }
    const first_ms = Math.min(...open.map(({ asked_at_ms }) => asked_at_ms)) + LIMITS.intent_life_ms;
    imply('stream', id, 'expire_intents', (at_ms) => at_ms <= first_ms + SKEWS_MS);
  }
  for (const [id, { turned_at_ms }] of all('app_session')) {
    imply('app_session', id, 'run_out', (at_ms) => at_ms === turned_at_ms + LIMITS.app_refresh_life_ms);
  }
  for (const [id, { created_at_ms }] of all('auth_session')) {
    imply('auth_session', id, 'run_out', (at_ms) => at_ms === created_at_ms + LIMITS.auth_session_life_ms);
  }
  for (const [id, { stage, created_at_ms }] of all('grant')) {
    const ends_ms =
      stage.status === 'live'
        ? stage.turned_at_ms + LIMITS.oauth_refresh_life_ms
        : created_at_ms + LIMITS.oauth_code_life_ms;
    imply('grant', id, 'run_out', (at_ms) => at_ms === ends_ms);
  }
  for (const [id, { expires_at_ms }] of all('claim')) {
    imply(
      'claim',
      id,
      'run_out',
      (at_ms) => at_ms === expires_at_ms || at_ms === expires_at_ms + LIMITS.claim_redeemed_keep_ms,
    );
  }
  for (const [id, { account_id, invitations }] of all('email')) {
    if (account_id === null && invitations === 0) imply('email', id, 'unused', () => true);
    else implied.add(`email:${id}:unused`);
  }
  for (const [id, { phase }] of all('account'))
    if (phase.status === 'deleted') imply('account', id, 'erase_due', (at_ms) => at_ms === phase.erase_at_ms);
  for (const [id, { expires_at_ms }] of all('personal_access_token'))
    if (expires_at_ms !== null) imply('personal_access_token', id, 'run_out', (at_ms) => at_ms === expires_at_ms);
  for (const [id, { phase }] of all('device_session'))
    if (phase.status !== 'ended') imply('device_session', id, 'tick', () => true);
  for (const id of all('endpoint').keys()) imply('endpoint', id, 'sweep', () => true);
  for (const [id, { retention, paused }] of all('sweep'))
    if (!paused && !keepsForEver(retention)) imply('sweep', id, 'tick', () => true);

  for (const member of pending.keys()) mustHold(implied.has(member), `reminder ${member} is for nothing`);
}
