import { LIMITS } from '../src/domain/limits.js';
import { unreachable } from '../src/domain/refusals.js';
import { actorKind, type Decision, type Effect } from './actor.js';

/**
 * What may change of a certificate (the id is its fingerprint); what was written once is its record. One that was made
 * with its device or proxy has no state until it ends; one that a renewal made has none until it is first used.
 */
export type Certificate =
  | { status: 'used' }
  /** A newer one of its device was used. */
  | { status: 'superseded'; superseded_at_ms: number }
  | { status: 'revoked'; revoked_at_ms: number };

/** `not_after_ms`: the certificate's own end, null where nobody knows it any more. */
export type CertificateMessage =
  | { type: 'view' }
  | { type: 'first_use'; not_after_ms: number | null }
  | { type: 'supersede'; not_after_ms: number | null }
  | { type: 'revoke'; not_after_ms: number | null }
  | { type: 'forget' };

export type CertificateReply = { status: 'issued' | Certificate['status'] };

export const certificate = actorKind<Certificate, CertificateMessage, CertificateReply>({
  kind: 'certificate',
  home: 'hash',
  schema: 2,
  reads: ['view'],
  upcast: {
    1: ({ revoked_at_ms }: { revoked_at_ms: number }): Certificate => ({ status: 'revoked', revoked_at_ms }),
  },

  decide(state, message, _facts, now_ms): Decision<Certificate, CertificateReply> {
    const stays = { reply: { status: state?.status ?? 'issued' } } as const;
    const become = (next: Certificate, not_after_ms: number | null): Decision<Certificate, CertificateReply> => ({
      reply: { status: next.status },
      next,
      effects: not_after_ms === null ? [] : [forgetAfter(not_after_ms)],
    });
    switch (message.type) {
      case 'view':
        return stays;
      case 'first_use':
        return state === null ? become({ status: 'used' }, message.not_after_ms) : stays;
      case 'supersede':
        if (state?.status === 'superseded' || state?.status === 'revoked') return stays;
        return become({ status: 'superseded', superseded_at_ms: now_ms }, message.not_after_ms);
      case 'revoke':
        if (state?.status === 'revoked') return stays;
        return become({ status: 'revoked', revoked_at_ms: now_ms }, message.not_after_ms);
      case 'forget':
        return { reply: { status: 'issued' }, next: null, effects: [{ effect: 'delete' }] };
      default:
        return unreachable(message);
    }
  },
});

/** By then its dates alone have it refused everywhere. */
function forgetAfter(not_after_ms: number): Effect {
  const message: CertificateMessage = { type: 'forget' };
  return { effect: 'schedule_reminder', name: 'forget', at_ms: not_after_ms + LIMITS.certificate_kept_ms, message };
}
