import fc from 'fast-check';
import t from 'tap';
import type { Effect } from '../../../actors/actor.js';
import { type CertificateMessage, certificate } from '../../../actors/devices/certificate.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { anyPlay, checkPlays, decideRows, Played, START_MS } from '../../fixtures/decisions.js';

const NOT_AFTER_MS = START_MS + 1_000;
const used = { status: 'used' } as const;
const superseded = { status: 'superseded', superseded_at_ms: START_MS } as const;
const revoked = { status: 'revoked', revoked_at_ms: START_MS } as const;
const of = (type: 'first_use' | 'supersede' | 'revoke'): CertificateMessage => ({ type, not_after_ms: NOT_AFTER_MS });
const forgotten: Effect = {
  effect: 'schedule_reminder',
  name: 'forget',
  at_ms: NOT_AFTER_MS + LIMITS.certificate_kept_ms,
  message: { type: 'forget' },
};

t.test('H-001 a certificate is used, superseded, revoked; and never the other way round', async (t) => {
  const earlier = { status: 'revoked', revoked_at_ms: START_MS - 1 } as const;
  const replaced = { status: 'superseded', superseded_at_ms: START_MS - 1 } as const;
  decideRows(t, { kind: certificate, self: 'f' }, [
    { says: 'as it was issued', state: null, message: { type: 'view' }, reply: { status: 'issued' } },
    { says: 'seen as it stands', state: revoked, message: { type: 'view' }, reply: { status: 'revoked' } },
    {
      says: 'first used',
      state: null,
      message: of('first_use'),
      reply: { status: 'used' },
      next: used,
      effects: [forgotten],
    },
    { says: 'used already', state: used, message: of('first_use'), reply: { status: 'used' } },
    { says: 'too late to be used', state: replaced, message: of('first_use'), reply: { status: 'superseded' } },
    { says: 'and when revoked', state: earlier, message: of('first_use'), reply: { status: 'revoked' } },
    ...[null, used].map((state) => ({
      says: 'superseded',
      state,
      message: of('supersede'),
      reply: { status: 'superseded' as const },
      next: superseded,
      effects: [forgotten],
    })),
    { says: 'superseded before', state: replaced, message: of('supersede'), reply: { status: 'superseded' } },
    { says: 'revoked is more', state: earlier, message: of('supersede'), reply: { status: 'revoked' } },
    ...[null, used, replaced].map((state) => ({
      says: 'revoked',
      state,
      message: of('revoke'),
      reply: { status: 'revoked' as const },
      next: revoked,
      effects: [forgotten],
    })),
    { says: 'the first time counts', state: earlier, message: of('revoke'), reply: { status: 'revoked' } },
    {
      says: 'forgotten when its dates alone have it refused',
      state: revoked,
      message: { type: 'forget' },
      reply: { status: 'issued' },
      next: null,
      effects: [{ effect: 'delete' }],
    },
  ]);
});

t.test('H-001 in any play a certificate that ended stays so until it is forgotten', async (t) => {
  const message = fc.constantFrom<CertificateMessage>({ type: 'view' }, of('first_use'), of('supersede'), of('revoke'));
  const RANKS = { issued: 0, used: 1, superseded: 2, revoked: 3 };
  checkPlays(t, { plays: anyPlay(message, [1, LIMITS.certificate_renewable_ms]), runs: 100 }, (steps) => {
    const played = new Played(certificate, 'f');
    let rank = 0;
    for (const step of steps) {
      if ('pass' in step) {
        played.pass(step.pass);
        if (played.now_ms >= NOT_AFTER_MS + LIMITS.certificate_kept_ms) return;
        continue;
      }
      const now = RANKS[played.ask(step.send).status];
      if (now < rank) throw new Error('it came back');
      rank = now;
    }
  });
});
