import { LIMITS } from '../../src/domain/limits.js';

/**
 * A time in which a shared recorder records for a host. It lies with its host's account, and its id is the
 * `binding_epoch` that the recorder sends. Its state and the clock alone decide what the recorder may do.
 * docs/choices.md, "Devices".
 */
export type DeviceSession = {
  id: string;
  host_account_id: string;
  workspace_id: string;
  /** The join code is derived from this seed. */
  join_seed: JoinSeed;
  created_at_ms: number;
  expires_at_ms: number;
  /** In the order of joining, without the host. */
  participants: Participant[];
  phase: SessionPhase;
};

/** The id of a server key, and the seed that it is applied to. */
export type JoinSeed = { key_id: string; seed: Uint8Array };
export type Participant = { account_id: string; joined_at_ms: number };
export type SessionRecorder = { device_id: string; source_id: string; ble_address: string; started_at_ms: number };
export type EndReason = 'host' | 'recorder' | 'expired' | 'device_removed' | 'account_deleted' | 'never_started';

export type SessionPhase =
  /** Until a recorder redeems the claim, or the claim expires. */
  | { status: 'waiting'; until_ms: number }
  | { status: 'open'; recorder: SessionRecorder }
  /** Over for everybody; the recorder uploads the rest. */
  | {
      status: 'draining';
      recorder: SessionRecorder;
      ended_at_ms: number;
      end_reason: EndReason;
      drain_until_ms: number;
    }
  | { status: 'ended'; recorder: SessionRecorder | null; ended_at_ms: number; end_reason: EndReason };

/** The terms under which a recorder records. `drain_until_ms`: the last moment of its uploads, unless they change. */
export type SessionTerms = {
  account_id: string;
  workspace_id: string;
  device_id: string;
  source_id: string;
  expires_at_ms: number;
  drain_until_ms: number;
};

/** The recorder of a session that has begun; null before. */
export function recorderOf({ phase }: DeviceSession): SessionRecorder | null {
  return phase.status === 'waiting' ? null : phase.recorder;
}

/** When and why the session ended; null before. */
export function endOf({ phase }: DeviceSession): { ended_at_ms: number; end_reason: EndReason } | null {
  return phase.status === 'draining' || phase.status === 'ended' ? phase : null;
}

/** Null for any other device, and once the time for uploads is over, whether or not that was noticed. */
export function termsOf(session: DeviceSession | null, device_id: string, now_ms: number): SessionTerms | null {
  if (session === null) return null;
  const { phase, host_account_id: account_id, workspace_id, expires_at_ms } = session;
  if (phase.status !== 'open' && phase.status !== 'draining') return null;
  if (phase.recorder.device_id !== device_id) return null;
  const drain_until_ms = phase.status === 'open' ? expires_at_ms + LIMITS.session_drain_ms : phase.drain_until_ms;
  if (now_ms >= drain_until_ms) return null;
  const { source_id } = phase.recorder;
  return { account_id, workspace_id, device_id, source_id, expires_at_ms, drain_until_ms };
}
