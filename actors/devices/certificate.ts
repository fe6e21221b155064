import { LIMITS } from '../../src/domain/limits.js';
import { type Decision, defineActor, type Effect, type MessageOf } from '../actor.js';

/**
 * The mutable state of a certificate (the id is its fingerprint); its fixed fields are in its record. One that was made
 * with its device or proxy has no state until it ends; one that a renewal made has none until it is first used.
 */
export type Certificate =
  | { status: 'used' }
  /** A newer one of its device was used. */
  | { status: 'superseded'; superseded_at_ms: number }
  | { status: 'revoked'; revoked_at_ms: number };

export type CertificateMessage = MessageOf<typeof certificate>;
/** `issued` is one that has no state. */
export type CertificateStatus = { status: 'issued' | Certificate['status'] };

/** `not_after_ms`: the certificate's own end. */
type Dated = { not_after_ms: number };

export const certificate = defineActor<Certificate>()({
  kind: 'certificate',
  home: 'hash',
  schema: 1,
  messages: {
    view: { reads: true, decide: stays },

    first_use: (state, dated: Dated) => (state === null ? become({ status: 'used' }, dated) : stays(state)),

    supersede: (state, dated: Dated, { now_ms }) =>
      state?.status === 'superseded' || state?.status === 'revoked'
        ? stays(state)
        : become({ status: 'superseded', superseded_at_ms: now_ms }, dated),

    revoke: (state, dated: Dated, { now_ms }) =>
      state?.status === 'revoked' ? stays(state) : become({ status: 'revoked', revoked_at_ms: now_ms }, dated),

    forget: (): CertificateDecision => ({ reply: { status: 'issued' }, next: null, effects: [{ effect: 'delete' }] }),
  },
});

type CertificateDecision = Decision<Certificate, CertificateStatus>;

function stays(state: Certificate | null): CertificateDecision {
  return { reply: { status: state?.status ?? 'issued' } };
}

function become(next: Certificate, { not_after_ms }: Dated): CertificateDecision {
  return { reply: { status: next.status }, next, effects: [forgetAfter(not_after_ms)] };
}

/** By then its dates alone have it refused everywhere. */
function forgetAfter(not_after_ms: number): Effect {
  const message: CertificateMessage = { type: 'forget' };
  return { effect: 'schedule_reminder', name: 'forget', at_ms: not_after_ms + LIMITS.certificate_kept_ms, message };
}
