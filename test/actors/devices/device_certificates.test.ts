import fc from 'fast-check';
import t from 'tap';
import type { Effect } from '../../../actors/actor.js';
import { type Device, type DeviceMessage, device } from '../../../actors/devices/device.js';
import type {
  DeviceCertificates,
  LiveCertificate,
  OfferedCertificate,
  WaitingCertificate,
} from '../../../actors/devices/device_certificates.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { checkPlays, decideRows, Played, START_MS } from '../../fixtures/decisions.js';

const DAY_MS = 86_400_000;
const END_MS = START_MS + 90 * DAY_MS;

const offer = (fingerprint: string, key_digest: string): OfferedCertificate => ({
  fingerprint,
  key_digest,
  certificate_pem: `pem of ${fingerprint}`,
  not_after_ms: END_MS,
  renew_after_ms: START_MS + 60 * DAY_MS,
});
const inUse = (fingerprint: string): LiveCertificate => ({ status: 'in_use', fingerprint, not_after_ms: END_MS });
const waiting = (fingerprint: string, key_digest: string, renews = 'a'): WaitingCertificate => ({
  status: 'waiting',
  renews,
  ...offer(fingerprint, key_digest),
});
const withCertificates = (certificates: Partial<DeviceCertificates>): Device => ({
  kind: 'personal',
  certificates: { live: [inUse('a')], revoked_at_ms: null, renewals: { began_ms: 0, count: 0 }, ...certificates },
  provisioned_at_ms: START_MS - 1,
  last_seen_at_ms: null,
  binding: null,
  redeeming: null,
  code_tries: null,
});
const renew = (fingerprint: string, made: string, key = 'k'): DeviceMessage => ({
  type: 'renew',
  fingerprint,
  offered: offer(made, key),
});
const use = (fingerprint: string): DeviceMessage => ({ type: 'use_certificate', fingerprint });
const told = (fingerprint: string, type: 'first_use' | 'supersede' | 'revoke'): Effect => ({
  effect: 'notify',
  to: { kind: 'certificate', id: fingerprint },
  message: { type, not_after_ms: END_MS },
});
const first = { began_ms: START_MS, count: 1 };

t.test('H-001 a renewal waits for its first use, and the same key gets the same again', async (t) => {
  const fresh = withCertificates({});
  const renewed = withCertificates({ live: [inUse('a'), waiting('b', 'k')], renewals: first });
  const full = withCertificates({
    live: [inUse('a'), waiting('b', 'k1'), waiting('c', 'k2'), waiting('d', 'k3')],
    renewals: { began_ms: START_MS, count: 3 },
  });
  const spent = withCertificates({ renewals: { began_ms: START_MS - DAY_MS + 1, count: LIMITS.device_renewals_max } });
  decideRows(t, { kind: device, self: 'd' }, [
    {
      says: 'made',
      state: fresh,
      message: renew('a', 'b'),
      reply: { named: [waiting('b', 'k')] },
      next: renewed,
    },
    {
      says: 'the answer was lost: the same, not the one made now',
      state: renewed,
      message: renew('a', 'other'),
      reply: { named: [waiting('b', 'k')] },
    },
    {
      says: 'nor does it count again when no more may be made',
      state: withCertificates({
        live: [inUse('a'), waiting('b', 'k')],
        renewals: { began_ms: START_MS, count: LIMITS.device_renewals_max },
      }),
      message: renew('a', 'other'),
      reply: { named: [waiting('b', 'k')] },
    },
    {
      says: 'the key was lost as well: another beside it',
      state: renewed,
      message: renew('a', 'c', 'k2'),
      reply: { named: [waiting('c', 'k2')] },
      next: withCertificates({
        live: [inUse('a'), waiting('b', 'k'), waiting('c', 'k2')],
        renewals: { began_ms: START_MS, count: 2 },
      }),
    },
    {
      says: 'one that is old itself by now is made anew',
      state: renewed,
      now_ms: START_MS + 60 * DAY_MS,
      message: renew('a', 'c'),
      reply: { named: [waiting('c', 'k')] },
      next: withCertificates({
        live: [inUse('a'), waiting('c', 'k')],
        renewals: { began_ms: START_MS + 60 * DAY_MS, count: 1 },
      }),
      effects: [told('b', 'supersede')],
    },
    {
      says: 'one too many: the oldest that nobody used gives way, never the one in use',
      state: full,
      message: renew('a', 'e', 'k4'),
      reply: { named: [waiting('e', 'k4')] },
      next: withCertificates({
        live: [inUse('a'), waiting('c', 'k2'), waiting('d', 'k3'), waiting('e', 'k4')],
        renewals: { began_ms: START_MS, count: 4 },
      }),
      effects: [told('b', 'supersede')],
    },
    {
      says: 'revoked',
      state: withCertificates({ revoked_at_ms: START_MS }),
      message: renew('a', 'b'),
      reply: { refused: 'FORBIDDEN', message: /revoked/ },
    },
    {
      says: 'superseded meanwhile',
      state: fresh,
      message: renew('x', 'b'),
      reply: { refused: 'FORBIDDEN', message: /newer certificate/ },
    },
    {
      says: 'too often in a day; a millisecond is left of it',
      state: spent,
      message: renew('a', 'b'),
      reply: { refused: 'TOO_MANY_REQUESTS', retry_after_s: 1 },
    },
    {
      says: 'on the next day',
      state: spent,
      now_ms: START_MS + 1,
      message: renew('a', 'b'),
      reply: { named: [waiting('b', 'k')] },
      next: withCertificates({
        live: [inUse('a'), waiting('b', 'k')],
        renewals: { began_ms: START_MS + 1, count: 1 },
      }),
    },
    { says: 'no such device', state: null, message: renew('a', 'b'), reply: { refused: 'NOT_FOUND' } },
  ]);
});

t.test('H-001 the first use of a certificate ends all others of its device', async (t) => {
  const renewed = withCertificates({ live: [inUse('a'), waiting('b', 'k'), waiting('c', 'k2')], renewals: first });
  decideRows(t, { kind: device, self: 'd' }, [
    {
      says: 'used',
      state: renewed,
      message: use('b'),
      reply: { named: [inUse('a'), waiting('c', 'k2')] },
      next: withCertificates({ live: [inUse('b')], renewals: first }),
      effects: [told('b', 'first_use'), told('a', 'supersede'), told('c', 'supersede')],
    },
    { says: 'the second of two requests at once', state: renewed, message: use('a'), reply: { named: [] } },
    {
      says: 'another was used before it',
      state: withCertificates({ live: [inUse('c')] }),
      message: use('b'),
      reply: { refused: 'FORBIDDEN', message: /newer certificate/ },
    },
    {
      says: 'revoked before its first use',
      state: withCertificates({ live: [inUse('a'), waiting('b', 'k')], revoked_at_ms: START_MS }),
      message: use('b'),
      reply: { refused: 'FORBIDDEN', message: /revoked/ },
    },
  ]);
});

t.test('H-001 a revocation is of all certificates, and is told again to whoever repeats it', async (t) => {
  const live = [inUse('a'), waiting('b', 'k')];
  const effects = [told('a', 'revoke'), told('b', 'revoke')];
  const revoked = withCertificates({ live, revoked_at_ms: START_MS });
  const message: DeviceMessage = { type: 'revoke' };
  decideRows(t, { kind: device, self: 'd' }, [
    { says: 'now', state: withCertificates({ live }), message, reply: { named: live }, next: revoked, effects },
    {
      says: 'again',
      state: revoked,
      now_ms: START_MS + 5,
      message,
      reply: { named: live },
      next: revoked,
      effects,
    },
    { says: 'no such device', state: null, message, reply: { refused: 'NOT_FOUND' } },
  ]);
});

t.test('H-001 in any play few certificates live, one of them in use, and none after a revocation', async (t) => {
  const step = fc.record({
    what: fc.constantFrom('renew', 'renew', 'renew', 'use', 'use', 'pass', 'revoke'),
    by: fc.nat(8),
    key: fc.constantFrom('k', 'l', 'm', 'n'),
    pass: fc.constantFrom(1, DAY_MS, 70 * DAY_MS),
  });
  checkPlays(t, { plays: fc.array(step, { maxLength: 60, size: 'max' }), runs: 200 }, (steps) => {
    const played = new Played(device, 'd');
    played.state = withCertificates({});
    const known = ['a'];
    for (const { what, by, key, pass } of steps) {
      const fingerprint = known[known.length - 1 - (by % known.length)] as string;
      if (what === 'pass') {
        played.pass(pass);
        continue;
      }
      const before = (played.state as Device).certificates;
      const made = `${known.length}`;
      const message: DeviceMessage =
        what === 'renew' ? renew(fingerprint, made, key) : what === 'use' ? use(fingerprint) : { type: 'revoke' };
      const { reply } = played.send(message);
      const { live, revoked_at_ms } = (played.state as Device).certificates;
      if (live.some((one) => one.fingerprint === made)) known.push(made);
      if (live.length > LIMITS.device_certificates_max) throw new Error('too many certificates');
      if (live.filter(({ status }) => status === 'in_use').length !== 1) throw new Error('not one in use');
      if (before.revoked_at_ms === null) continue;
      if (revoked_at_ms !== before.revoked_at_ms) throw new Error('revoked at another time');
      if (live.length !== before.live.length) throw new Error('changed after the end');
      if (message.type !== 'revoke' && !('refused' in reply)) throw new Error('it goes on after the end');
    }
  });
});
