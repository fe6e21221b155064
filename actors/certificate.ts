import { unreachable } from '../src/vocabulary/refusals.js';
import { actorKind, type Decision } from './actor.js';

/** What may change of a certificate (the id is its fingerprint); what was written once is its record. */
export type Certificate = { revoked_at_ms: number };

export type CertificateMessage = { type: 'revoke' } | { type: 'view' };
export type CertificateReply = { revoked_at_ms: number | null };

export const certificate = actorKind<Certificate, CertificateMessage, CertificateReply>({
  kind: 'certificate',
  home: 'hash',
  schema: 1,
  reads: ['view'],

  decide(state, message, _facts, now_ms): Decision<Certificate, CertificateReply> {
    switch (message.type) {
      case 'view':
        return { reply: { revoked_at_ms: state?.revoked_at_ms ?? null } };
      case 'revoke':
        if (state !== null) return { reply: state };
        return { reply: { revoked_at_ms: now_ms }, next: { revoked_at_ms: now_ms } };
      default:
        return unreachable(message);
    }
  },
});
