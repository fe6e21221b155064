import fc from 'fast-check';
import t from 'tap';
import { type CertificateMessage, certificate } from '../../actors/certificate.js';
import { anyPlay, checkPlays, decideRows, Played, START_MS } from '../fixtures/deciding.js';

t.test('a certificate is revoked once, and stays so', async (t) => {
  const revoked = { revoked_at_ms: START_MS - 1 };
  decideRows(t, { kind: certificate, self: 'f' }, [
    { says: 'never revoked', state: null, message: { type: 'view' }, reply: { revoked_at_ms: null } },
    { says: 'revoked', state: revoked, message: { type: 'view' }, reply: revoked },
    {
      says: 'is revoked now',
      state: null,
      message: { type: 'revoke' },
      reply: { revoked_at_ms: START_MS },
      next: { revoked_at_ms: START_MS },
    },
    { says: 'the first time counts', state: revoked, message: { type: 'revoke' }, reply: revoked },
  ]);
  const message = fc.constantFrom<CertificateMessage>({ type: 'view' }, { type: 'revoke' });
  checkPlays(t, { plays: anyPlay(message, [1]), runs: 50 }, (steps) => {
    const played = new Played(certificate, 'f');
    let first: number | null = null;
    for (const step of steps) {
      if ('pass' in step) played.pass(step.pass);
      else {
        if (step.send.type === 'revoke') first ??= played.now_ms;
        if (played.ask(step.send).revoked_at_ms !== first) throw new Error('another time of revocation');
      }
    }
  });
});
