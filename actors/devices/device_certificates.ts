import { LIMITS } from '../../src/domain/limits.js';
import { type Refusal, refuse } from '../../src/domain/refusals.js';
import type { Effect } from '../actor.js';
import type { CertificateMessage } from './certificate.js';

/**
 * The certificates of one device, by fingerprint (64 hex digits of the DER's SHA-256). One is in use; beside it wait
 * those that a renewal made and that nobody has used yet. The first use of one ends all others.
 *
 * A renewal is: device (the new one waits, with its text) → record of the new one → answer. Cut off before the first
 * step, nothing was done; after it, the device asks again with the same key and gets the same text, and the record is
 * written then. A first use is: device (the new one is in use) → outbox messages to all certificates. Cut off before the first
 * step, the old one keeps working and the next request of the new one begins again; after it the messages are durable.
 */
export type DeviceCertificates = {
  /** Oldest first. All are revoked with the device. */
  live: LiveCertificate[];
  revoked_at_ms: number | null;
  renewals: { began_ms: number; count: number };
};

export type LiveCertificate = InUse | WaitingCertificate;
type InUse = { status: 'in_use'; fingerprint: string; not_after_ms: number };

/** Made by a renewal with the certificate `renews` (a fingerprint). `key_digest`: the key of the request. */
export type WaitingCertificate = Omit<OfferedCertificate, 'certificate_pem'> & {
  status: 'waiting';
  renews: string;
  certificate_pem: string;
};

/** A certificate that was just made; `key_digest` is the SHA-256 of its public key, hexadecimal. */
export type OfferedCertificate = {
  fingerprint: string;
  key_digest: string;
  certificate_pem: string;
  not_after_ms: number;
  renew_after_ms: number;
};

/** The device that presents the certificate of this fingerprint. */
export type Renewal = { fingerprint: string; offered: OfferedCertificate };

/** The reply to a change of certificates; `named` are those that changed. */
export type DeviceCertificatesReply = { named: LiveCertificate[] };

export type CertificatesDecision = {
  reply: DeviceCertificatesReply | Refusal;
  next?: DeviceCertificates;
  effects?: Effect[];
};

export const SUPERSEDED = refuse('FORBIDDEN', "The device's newer certificate is in use, so this one has ended.", {
  extra: { reason: 'superseded' },
});
export const REVOKED = refuse('FORBIDDEN', "The device's certificate is revoked.", { extra: { reason: 'revoked' } });

export function firstCertificate(fingerprint: string, not_after_ms: number): DeviceCertificates {
  return {
    live: [{ status: 'in_use', fingerprint, not_after_ms }],
    revoked_at_ms: null,
    renewals: { began_ms: 0, count: 0 },
  };
}

/** Sent again for each repetition, since the caller may have been cut off before. */
export function revoke(state: DeviceCertificates, now_ms: number): CertificatesDecision {
  const { live } = state;
  const effects = live.map((one) => notify(one, { type: 'revoke', not_after_ms: one.not_after_ms }));
  return { reply: { named: live }, next: { ...state, revoked_at_ms: state.revoked_at_ms ?? now_ms }, effects };
}

export function renew(
  state: DeviceCertificates,
  { fingerprint, offered }: Renewal,
  now_ms: number,
): CertificatesDecision {
  const { live, revoked_at_ms } = state;
  if (revoked_at_ms !== null) return { reply: REVOKED };
  if (!live.some((one) => one.fingerprint === fingerprint)) return { reply: SUPERSEDED };
  const made = live.find(
    (one): one is WaitingCertificate =>
      one.status === 'waiting' && one.renews === fingerprint && one.key_digest === offered.key_digest,
  );
  if (made !== undefined && now_ms < made.renew_after_ms) return { reply: { named: [made] } };

  const { began_ms, count } = state.renewals;
  const is_new_window = now_ms >= began_ms + LIMITS.device_renewals_window_ms;
  if (!is_new_window && count >= LIMITS.device_renewals_max) {
    const wait_s = Math.ceil((began_ms + LIMITS.device_renewals_window_ms - now_ms) / 1000);
    const message = `At most ${LIMITS.device_renewals_max} certificates are made for a device in a day.`;
    return { reply: refuse('TOO_MANY_REQUESTS', message, { retry_after_s: wait_s }) };
  }
  // From here on it succeeds.
  const waiting: WaitingCertificate = { status: 'waiting', renews: fingerprint, ...offered };
  const others = live.filter((one) => one !== made);
  // A device that lost key and answer each time must not be stranded: what nobody used gives way, the oldest first.
  const too_many = Math.max(0, others.length + 1 - LIMITS.device_certificates_max);
  const dropped = others.filter(({ status }) => status === 'waiting').slice(0, too_many);
  const ended = made === undefined ? dropped : [made, ...dropped];
  return {
    reply: { named: [waiting] },
    next: {
      ...state,
      live: [...others.filter((one) => !dropped.includes(one)), waiting],
      renewals: is_new_window ? { began_ms: now_ms, count: 1 } : { began_ms, count: count + 1 },
    },
    effects: ended.map(supersede),
  };
}

export function use(state: DeviceCertificates, fingerprint: string): CertificatesDecision {
  if (state.revoked_at_ms !== null) return { reply: REVOKED };
  const used = state.live.find((one) => one.fingerprint === fingerprint);
  if (used === undefined) return { reply: SUPERSEDED };
  // Two requests at once: the first has sent the messages.
  if (used.status === 'in_use') return { reply: { named: [] } };
  const { not_after_ms } = used;
  const others = state.live.filter((one) => one !== used);
  return {
    reply: { named: others },
    next: { ...state, live: [{ status: 'in_use', fingerprint, not_after_ms }] },
    effects: [notify(used, { type: 'first_use', not_after_ms }), ...others.map(supersede)],
  };
}

function supersede(one: LiveCertificate): Effect {
  return notify(one, { type: 'supersede', not_after_ms: one.not_after_ms });
}

function notify({ fingerprint }: LiveCertificate, message: CertificateMessage): Effect {
  return { effect: 'notify', to: { kind: 'certificate', id: fingerprint }, message };
}
