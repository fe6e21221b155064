import fc from 'fast-check';
import t from 'tap';
import type { Effect } from '../../../actors/actor.js';
import { type DeviceSessionMessage, deviceSession } from '../../../actors/devices/device_session.js';
import {
  type DeviceSession,
  type EndReason,
  endOf,
  type SessionRecorder,
} from '../../../actors/devices/device_session_state.js';
import { UNBOUND } from '../../../actors/recordings/stream_refs.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { told } from '../../fixtures/account_state.js';
import { anyPlay, checkPlays, decideRows, Played, START_MS } from '../../fixtures/decisions.js';

const DONE = { done: true } as const;
const kind = { kind: deviceSession, self: 's' };
const HOUR_MS = 3_600_000;
const expires_at_ms = START_MS + HOUR_MS;
const join_seed = { key_id: 'k', seed: new Uint8Array(2) };
const claim = { claim_id: 'c', secret_hash: 'h', source_id: 'o' };
const create: DeviceSessionMessage = {
  ...{ type: 'create', host_account_id: 'a', workspace_id: 'w', join_seed, expires_at_ms, claim },
};
const waiting: DeviceSession = {
  ...{ id: 's', host_account_id: 'a', workspace_id: 'w', join_seed, created_at_ms: START_MS, expires_at_ms },
  participants: [],
  phase: { status: 'waiting', until_ms: START_MS + LIMITS.session_wait_ms },
};
const recorder: SessionRecorder = { device_id: 'd', source_id: 'o', ble_address: 'B', started_at_ms: START_MS };
const open: DeviceSession = { ...waiting, phase: { status: 'open', recorder } };
const ended_at_ms = START_MS;
const over = (end_reason: EndReason): DeviceSession => ({
  ...open,
  expires_at_ms: ended_at_ms,
  phase: { status: 'ended', recorder, ended_at_ms, end_reason },
});
const draining = (end_reason: EndReason): DeviceSession => ({
  ...open,
  expires_at_ms: ended_at_ms,
  phase: { status: 'draining', recorder, ended_at_ms, end_reason, drain_until_ms: START_MS + LIMITS.session_drain_ms },
});
const withBob: DeviceSession = { ...open, participants: [{ account_id: 'b', joined_at_ms: START_MS }] };

const tick = (at_ms: number): Effect => ({
  effect: 'schedule_reminder',
  name: 'tick',
  at_ms,
  message: { type: 'tick' },
});
const no_tick: Effect = { effect: 'cancel_reminder', name: 'tick' };
const event = (type: string, data: Record<string, unknown> = {}): Effect =>
  ({ effect: 'append_event', account_id: 'a', type: `device_session.${type}`, resource_id: 's', data }) as Effect;
const end_events = [event('updated', { changed_fields: ['end_reason', 'expires_at'] }), event('ended')];
const released = told('ble_address', 'B', { type: 'release', session_id: 's' });
const unbound = told('device', 'd', { type: 'unbind', binding_epoch: 's' });
const isOver = (device_id: string | null) => told('account', 'a', { type: 'session_over', session_id: 's', device_id });
const start: DeviceSessionMessage = {
  ...{ type: 'start', account_id: 'a', claim_id: 'c', device_id: 'd', source_id: 'o', ble_address: 'B' },
};
const not_begun = [told('device', 'd', { type: 'not_bound', claim_id: 'c', outcome: 'gone' }), released, isOver('d')];

t.test('H-029 H-034 how a session begins', async (t) => {
  const never: DeviceSession = {
    ...waiting,
    expires_at_ms: START_MS,
    phase: { status: 'ended', recorder: null, ended_at_ms, end_reason: 'never_started' },
  };
  const claimed = {
    ...{ type: 'create_for_session', account_id: 'a', secret_hash: 'h', binding_epoch: 's', source_id: 'o' },
    expires_at_ms: START_MS + LIMITS.session_wait_ms,
  };
  decideRows(t, kind, [
    {
      says: 'made: with its claim, listed, and not for ever',
      state: null,
      message: create,
      reply: waiting,
      next: waiting,
      effects: [
        told('claim', 'c', claimed),
        { effect: 'add_to_index', owner: 'a', index: 'device_sessions', member: 's', order: START_MS },
        tick(START_MS + LIMITS.session_wait_ms),
      ],
    },
    { says: 'made again', state: open, message: create, reply: open },
    {
      says: 'its recorder has come',
      state: waiting,
      message: start,
      reply: DONE,
      next: open,
      effects: [
        event('started', { source_id: 'o' }),
        told('device', 'd', { type: 'bound', claim_id: 'c', account_id: 'a', binding_epoch: 's' }),
        tick(expires_at_ms),
      ],
    },
    { says: 'one that was erased', state: null, message: start, reply: DONE, effects: not_begun },
    { says: 'one that is over', state: over('host'), message: start, reply: DONE, effects: not_begun },
    {
      says: 'one whose time to wait is over, though nobody noticed',
      state: { ...waiting, phase: { status: 'waiting', until_ms: START_MS } },
      message: start,
      reply: DONE,
      effects: not_begun,
    },
    {
      says: 'nobody came',
      state: { ...waiting, phase: { status: 'waiting', until_ms: START_MS } },
      message: { type: 'tick' },
      reply: never,
      next: never,
      effects: [...end_events, isOver(null), no_tick],
    },
  ]);
});

t.test('H-007 H-035 how a session ends', async (t) => {
  const removed_early: DeviceSession = {
    ...waiting,
    expires_at_ms: START_MS,
    phase: { status: 'ended', recorder: null, ended_at_ms, end_reason: 'device_removed' },
  };
  const drained = [...end_events, released, told('device', 'd', { type: 'draining', binding_epoch: 's' })];
  const drain_until_ms = START_MS + LIMITS.session_drain_ms;
  const past: DeviceSession = { ...open, expires_at_ms: START_MS - 1_000 };
  const ran_out: DeviceSession = {
    ...past,
    phase: {
      ...{ status: 'draining', recorder, ended_at_ms: START_MS - 1_000, end_reason: 'expired' },
      drain_until_ms: drain_until_ms - 1_000,
    },
  };
  decideRows(t, kind, [
    {
      says: 'by its host',
      state: open,
      message: { type: 'end', by: 'a' },
      reply: draining('host'),
      next: draining('host'),
      effects: [...drained, tick(drain_until_ms)],
    },
    {
      says: "with its host's account",
      state: open,
      message: { type: 'account_deleted' },
      reply: draining('account_deleted'),
      next: draining('account_deleted'),
      effects: [...drained, tick(drain_until_ms)],
    },
    {
      says: 'by the clock: the drain counts from the scheduled end',
      state: past,
      message: { type: 'tick' },
      reply: ran_out,
      next: ran_out,
      effects: [...drained, tick(drain_until_ms - 1_000)],
    },
    {
      says: 'by its recorder: at once',
      state: open,
      message: { type: 'end_by_recorder', device_id: 'd' },
      reply: over('recorder'),
      next: over('recorder'),
      effects: [...end_events, released, unbound, isOver('d'), no_tick],
    },
    {
      says: 'with its recorder taken away: at once',
      state: open,
      message: { type: 'device_removed', device_id: 'd', binding_epoch: 's' },
      reply: over('device_removed'),
      next: over('device_removed'),
      effects: [...end_events, released, unbound, isOver('d'), no_tick],
    },
    {
      says: 'with its recorder taken away that is still on its way',
      state: waiting,
      message: { type: 'device_removed', device_id: 'd', binding_epoch: 's' },
      reply: removed_early,
      next: removed_early,
      effects: [...end_events, isOver(null), no_tick],
    },
    {
      says: 'not with a recorder that another session had',
      state: waiting,
      message: { type: 'device_removed', device_id: 'd', binding_epoch: 'other' },
      reply: DONE,
    },
    {
      says: 'drained by its recorder: the reason stays',
      state: draining('host'),
      message: { type: 'end_by_recorder', device_id: 'd' },
      reply: over('host'),
      next: over('host'),
      effects: [unbound, isOver('d'), no_tick],
    },
    { says: 'not before its time', state: open, message: { type: 'tick' }, reply: DONE },
    {
      says: 'again by its host',
      state: draining('expired'),
      message: { type: 'end', by: 'a' },
      reply: draining('expired'),
    },
    {
      says: 'again by its recorder',
      state: over('host'),
      message: { type: 'end_by_recorder', device_id: 'd' },
      reply: over('host'),
    },
    { says: 'by another recorder', state: open, message: { type: 'end_by_recorder', device_id: 'x' }, reply: UNBOUND },
    { says: 'unknown', state: null, message: { type: 'end_by_recorder', device_id: 'd' }, reply: UNBOUND },
    { says: 'by a stranger', state: open, message: { type: 'end', by: 'x' }, reply: { refused: 'NOT_FOUND' } },
    { says: 'by a participant', state: withBob, message: { type: 'end', by: 'b' }, reply: { refused: 'FORBIDDEN' } },
  ]);
});

t.test('H-007 what a recorder may do is judged by the epoch itself and the clock', async (t) => {
  const terms = { account_id: 'a', workspace_id: 'w', device_id: 'd', source_id: 'o' };
  const ask = (device_id = 'd'): DeviceSessionMessage => ({ type: 'terms', device_id });
  const at = (ms: number): DeviceSession => ({ ...open, expires_at_ms: START_MS - LIMITS.session_drain_ms + ms });
  decideRows(t, kind, [
    { says: 'unknown', state: null, message: ask(), reply: UNBOUND },
    { says: 'waiting', state: waiting, message: ask(), reply: UNBOUND },
    { says: "another recorder's", state: open, message: ask('x'), reply: UNBOUND },
    {
      says: 'open',
      state: open,
      message: ask(),
      reply: { ...terms, expires_at_ms, drain_until_ms: expires_at_ms + LIMITS.session_drain_ms },
    },
    {
      says: 'draining',
      state: draining('host'),
      message: ask(),
      reply: { ...terms, expires_at_ms: START_MS, drain_until_ms: START_MS + LIMITS.session_drain_ms },
    },
    {
      says: 'run out, unnoticed, with a millisecond left',
      state: at(1),
      message: ask(),
      reply: { ...terms, expires_at_ms: START_MS - LIMITS.session_drain_ms + 1, drain_until_ms: START_MS + 1 },
    },
    { says: 'run out, unnoticed, and drained', state: at(0), message: ask(), reply: UNBOUND },
    { says: 'ended', state: over('host'), message: ask(), reply: UNBOUND },
  ]);
});

t.test('H-036 who takes part hears of everything, and leaves alone', async (t) => {
  const bob = { participant_id: 'b' };
  const news = (type: string, data: Record<string, unknown>) =>
    told('account', 'b', { type: 'session_news', session_id: 's', event: `device_session.${type}`, data });
  const full = {
    ...open,
    participants: Array.from({ length: 100 }, (_, index) => ({ account_id: `p${index}`, joined_at_ms: 0 })),
  };
  const list = { owner: 'a', index: 'device_sessions' };
  decideRows(t, kind, [
    {
      says: 'joined',
      state: open,
      message: { type: 'join', by: 'b' },
      reply: withBob,
      next: withBob,
      effects: [event('joined', bob), news('joined', bob)],
    },
    { says: 'again', state: withBob, message: { type: 'join', by: 'b' }, reply: withBob },
    { says: 'the host is there', state: open, message: { type: 'join', by: 'a' }, reply: open },
    { says: 'too late', state: draining('host'), message: { type: 'join', by: 'b' }, reply: { refused: 'CONFLICT' } },
    { says: 'too many', state: full, message: { type: 'join', by: 'b' }, reply: { refused: 'CONFLICT' } },
    {
      says: 'left: the last that they hear of it',
      state: withBob,
      message: { type: 'leave', by: 'b' },
      reply: DONE,
      next: open,
      effects: [event('left', bob), news('left', bob)],
    },
    { says: 'the host stays', state: withBob, message: { type: 'leave', by: 'a' }, reply: { refused: 'CONFLICT' } },
    { says: 'a stranger', state: withBob, message: { type: 'leave', by: 'x' }, reply: { refused: 'NOT_FOUND' } },
    { says: 'a stranger looks', state: withBob, message: { type: 'view', by: 'x' }, reply: { refused: 'NOT_FOUND' } },
    {
      says: 'a participant is erased',
      state: withBob,
      message: { type: 'erase', account_id: 'b', list: 'device_sessions' },
      reply: DONE,
      next: open,
      effects: [event('left', bob), told('account', 'b', { type: 'session_gone', session_id: 's' })],
    },
    {
      says: 'its host is erased',
      state: withBob,
      message: { type: 'erase', account_id: list.owner, list: list.index },
      reply: DONE,
      next: null,
      effects: [
        told('account', 'b', { type: 'session_gone', session_id: 's' }),
        { effect: 'delete_collection', collection: 'streams' },
        no_tick,
        { effect: 'remove_from_index', ...list, member: 's' },
        { effect: 'delete' },
      ],
    },
  ]);
});

t.test(
  'H-007 H-025 H-035 in any play a session starts and ends once, and nothing is taken after its drain',
  async (t) => {
    const device_id = fc.constantFrom('d', 'x');
    const by = fc.constantFrom('a', 'b', 'x');
    const message: fc.Arbitrary<DeviceSessionMessage> = fc.oneof(
      device_id.map((id): DeviceSessionMessage => ({ ...start, type: 'start', device_id: id }) as DeviceSessionMessage),
      fc.record({ type: fc.constantFrom('join', 'leave', 'end', 'view'), by }) as fc.Arbitrary<DeviceSessionMessage>,
      fc.record({
        type: fc.constantFrom('terms', 'end_by_recorder', 'device_removed'),
        device_id,
      }) as fc.Arbitrary<DeviceSessionMessage>,
      fc
        .nat(2 * HOUR_MS)
        .map((ms): DeviceSessionMessage => ({ type: 'extend', by: 'a', expires_at_ms: START_MS + ms })),
      fc.constant<DeviceSessionMessage>({ type: 'account_deleted' }),
      fc.constant<DeviceSessionMessage>({ type: 'ask_hold', ble_address: 'B' }),
    );
    checkPlays(t, { plays: anyPlay(message, [1_000, 10 * 60_000, HOUR_MS]), runs: 500 }, (steps) => {
      const played = new Played(deviceSession, 's');
      played.send(create);
      for (const step of steps) {
        if ('pass' in step) played.pass(step.pass);
        else {
          const { reply } = played.send(step.send);
          const end = played.state === null ? null : endOf(played.state);
          const took = step.send.type === 'terms' && !isRefusal(reply);
          if (took && end !== null && played.now_ms >= end.ended_at_ms + LIMITS.session_drain_ms)
            throw new Error('something was taken after the drain');
        }
        const count = (type: string) =>
          played.effects.filter((one) => one.effect === 'append_event' && one.type === type).length;
        if (count('device_session.started') > 1) throw new Error('it started twice');
        const ends = count('device_session.ended');
        if (ends !== (played.state !== null && endOf(played.state) !== null ? 1 : 0))
          throw new Error(`it ended ${ends} times`);
      }
    });
  },
);
