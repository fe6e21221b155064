import fc from 'fast-check';
import t from 'tap';
import type { Effect } from '../../../actors/actor.js';
import { type Device, type DeviceMessage, device } from '../../../actors/devices/device.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { anyPlay, checkPlays, decideRows, Played, START_MS } from '../../fixtures/decisions.js';

const NOT_AFTER_MS = START_MS + 90 * 86_400_000;
const provision: DeviceMessage = {
  type: 'provision',
  kind: 'personal',
  fingerprint: 'f1',
  not_after_ms: NOT_AFTER_MS,
};
const bind = { type: 'bind', claim_id: 'c', account_id: 'a', binding_epoch: 'e', source_id: 's' } as const;
const fresh: Device = {
  kind: 'personal',
  certificates: {
    live: [{ status: 'in_use', fingerprint: 'f1', not_after_ms: NOT_AFTER_MS }],
    revoked_at_ms: null,
    renewals: { began_ms: 0, count: 0 },
  },
  provisioned_at_ms: START_MS,
  last_seen_at_ms: null,
  binding: null,
  redeeming: null,
  code_tries: null,
};
const bound: Device = { ...fresh, last_seen_at_ms: START_MS, binding: { epoch: 'e', account_id: 'a', claim_id: 'c' } };
const DONE = { done: true } as const;

const answer = (outcome: 'bound_elsewhere' | 'wrong_kind'): Effect => ({
  effect: 'notify',
  to: { kind: 'claim', id: 'c' },
  message: { type: 'answered', device_id: 'd', outcome },
});
const told = (binding_epoch: string, source_id: string, claim_id: string, again: { again?: true } = {}): Effect => ({
  effect: 'notify',
  to: { kind: 'account', id: 'a' },
  message: { type: 'device_bound', device_id: 'd', source_id, claim_id, binding_epoch, ...again },
});

t.test('a device is provisioned once', async (t) => {
  const later_ms = START_MS + 1;
  decideRows(t, { kind: device, self: 'd' }, [
    { says: 'the first', state: null, message: provision, reply: fresh, next: fresh },
    { says: 'the same again', state: fresh, now_ms: later_ms, message: provision, reply: fresh },
    {
      says: 'what was provisioned stays as it is',
      state: fresh,
      message: { type: 'provision', kind: 'shared', fingerprint: 'f2', not_after_ms: NOT_AFTER_MS },
      reply: fresh,
    },
    { says: 'viewed', state: fresh, message: { type: 'view' }, reply: fresh },
    ...[
      { type: 'view' } as const,
      { type: 'seen' } as const,
      bind,
      { type: 'unbind', binding_epoch: 'e' } as const,
    ].map((message) => ({
      says: `unknown: ${message.type}`,
      state: null,
      message,
      reply: { refused: 'NOT_FOUND' as const },
    })),
  ]);
});

t.test('when a device was seen is written at most once a minute', async (t) => {
  const next_ms = START_MS + LIMITS.touch_every_ms;
  const message: DeviceMessage = { type: 'seen' };
  decideRows(t, { kind: device, self: 'd' }, [
    { says: 'never seen', state: fresh, message, reply: DONE, next: { ...fresh, last_seen_at_ms: START_MS } },
    { says: 'a millisecond before the minute', state: bound, now_ms: next_ms - 1, message, reply: DONE },
    {
      says: 'at the minute',
      state: bound,
      now_ms: next_ms,
      message,
      reply: DONE,
      next: { ...bound, last_seen_at_ms: next_ms },
    },
  ]);
});

t.test('H-028 H-031 a personal device is bound to one account', async (t) => {
  const shared: Device = { ...bound, kind: 'shared' };
  const elsewhere: Device = { ...bound, binding: { epoch: 'x', account_id: 'z', claim_id: 'y' } };
  decideRows(t, { kind: device, self: 'd' }, [
    { says: 'a shared one', state: shared, message: bind, reply: DONE, effects: [answer('wrong_kind')] },
    {
      says: "another account's",
      state: elsewhere,
      message: bind,
      reply: DONE,
      effects: [answer('bound_elsewhere')],
    },
    {
      says: 'free',
      state: fresh,
      message: bind,
      reply: DONE,
      next: bound,
      effects: [told('e', 's', 'c')],
    },
    {
      says: 'the same account again: its binding stays',
      state: bound,
      now_ms: START_MS + 1,
      message: { ...bind, claim_id: 'c2', binding_epoch: 'e2', source_id: 's2' },
      reply: DONE,
      next: { ...bound, last_seen_at_ms: START_MS + 1 },
      effects: [told('e', 's2', 'c2', { again: true })],
    },
    {
      says: 'unbound',
      state: bound,
      message: { type: 'unbind', binding_epoch: 'e' },
      reply: DONE,
      next: { ...bound, binding: null },
    },
    {
      says: 'a late end of an earlier epoch',
      state: bound,
      message: { type: 'unbind', binding_epoch: 'x' },
      reply: DONE,
    },
    { says: 'not bound', state: fresh, message: { type: 'unbind', binding_epoch: 'e' }, reply: DONE },
  ]);
});

t.test('H-053 tries at pairing codes are counted in an hour', async (t) => {
  const { pairing_code_tries_max: max, pairing_code_tries_window_ms: window_ms } = LIMITS;
  const tried = (count: number): Device => ({ ...fresh, code_tries: { began_ms: START_MS, count } });
  const message = { type: 'try_code' } as const;
  decideRows(t, { kind: device, self: 'd' }, [
    { says: 'the first', state: fresh, message, reply: DONE, next: tried(1) },
    { says: 'the last', state: tried(max - 1), message, reply: DONE, next: tried(max) },
    { says: 'one too many', state: tried(max), message, reply: { refused: 'TOO_MANY_REQUESTS' } },
    {
      says: 'in the next hour',
      state: tried(max),
      now_ms: START_MS + window_ms,
      message,
      reply: DONE,
      next: { ...fresh, code_tries: { began_ms: START_MS + window_ms, count: 1 } },
    },
  ]);
});

t.test('H-028 in any play only its own end takes a device from an account', async (t) => {
  const name = fc.constantFrom('1', '2', '__proto__');
  const message: fc.Arbitrary<DeviceMessage> = fc.oneof(
    fc.record({
      type: fc.constant('provision' as const),
      kind: fc.constantFrom('personal' as const, 'shared' as const),
      fingerprint: fc.string(),
      not_after_ms: fc.integer(),
    }),
    fc.constant({ type: 'view' as const }),
    fc.constant({ type: 'seen' as const }),
    fc.record({
      type: fc.constant('bind' as const),
      claim_id: name,
      account_id: name,
      binding_epoch: name,
      source_id: name,
    }),
    fc.record({ type: fc.constant('unbind' as const), binding_epoch: name }),
  );
  checkPlays(t, { plays: anyPlay(message, [1, LIMITS.touch_every_ms]), runs: 200 }, (steps) => {
    const played = new Played(device, 'd');
    for (const step of steps) {
      if ('pass' in step) {
        played.pass(step.pass);
        continue;
      }
      const before = played.state;
      played.send(step.send);
      const after = played.state;
      if (after === null) continue;
      if (after.kind === 'shared' && after.binding !== null) throw new Error('a shared device was bound');
      if (!before?.binding || before.binding.account_id === after.binding?.account_id) continue;
      if (step.send.type !== 'unbind' || after.binding !== null) throw new Error('taken from its account');
    }
  });
});
