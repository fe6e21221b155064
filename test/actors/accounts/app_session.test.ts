import fc from 'fast-check';
import t from 'tap';
import {
  type AppSession,
  type AppSessionMessage,
  appSession,
  type IssuedTokens,
} from '../../../actors/accounts/app_session.js';
import type { Effect } from '../../../actors/actor.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { encodeStored } from '../../../src/engine/store/codec.js';
import { checkPlays, decideRows, Played, type Row, START_MS } from '../../fixtures/decisions.js';

const kind = { kind: appSession, self: 'session' };
const opened = {
  account_id: 'a',
  email: 'ann@x.test',
  seed: Buffer.from('seed'),
  key_id: 'k',
  issued_under: { account: 0, app_sessions: 2 },
  verified_at_ms: START_MS - 5,
};
const open: AppSessionMessage = { type: 'open', ...opened };
const HOUR_MS = LIMITS.app_access_life_ms;
const RETRY_MS = LIMITS.refresh_retry_ms;
const RETRY_UNUSED_MS = LIMITS.refresh_retry_unused_ms;
const LIFE_MS = LIMITS.app_refresh_life_ms;
const ENDED = { refused: 'UNAUTHORIZED', message: /session/ } as const;
const EXPIRED = { refused: 'UNAUTHORIZED', message: /access token/ } as const;

const first: AppSession = {
  ...opened,
  created_at_ms: START_MS,
  last_used_at_ms: START_MS,
  generation: 1,
  turned_at_ms: START_MS,
  successor_used: true,
  accesses: [{ serial: 1, generation: 1, expires_at_ms: START_MS + HOUR_MS }],
  next_serial: 2,
};
/** Refreshed once, at START_MS, and nothing of it was used. */
const second: AppSession = {
  ...first,
  generation: 2,
  successor_used: false,
  accesses: [...first.accesses, { serial: 2, generation: 2, expires_at_ms: START_MS + HOUR_MS }],
  next_serial: 3,
};
const second_used: AppSession = { ...second, successor_used: true };
const third: AppSession = { ...second, generation: 3 };

const runOut = (turned_at_ms: number): Effect => ({
  effect: 'schedule_reminder',
  name: 'run_out',
  at_ms: turned_at_ms + LIFE_MS,
  message: { type: 'run_out' },
});
const FORGET: Effect = { effect: 'cancel_reminder', name: 'run_out' };
const LISTED = { owner: 'a', index: 'app_sessions:2', member: 'session' };
const ENLISTED: Effect = { effect: 'add_to_index', ...LISTED, order: START_MS };
const DELISTED: Effect = { effect: 'remove_from_index', ...LISTED };
const ENDS: Effect[] = [DELISTED, FORGET];
const erase: AppSessionMessage = { type: 'erase', account_id: 'a', list: 'app_sessions:2' };
const issues = (
  next: AppSession,
): Pick<Row<AppSession, AppSessionMessage, IssuedTokens>, 'reply' | 'next' | 'effects'> => {
  const access = next.accesses.at(-1) as AppSession['accesses'][number];
  return {
    reply: { session: next, serial: access.serial, expires_at_ms: access.expires_at_ms },
    next,
    effects: [runOut(next.turned_at_ms)],
  };
};
/** This session with one more access token, given out at a time. */
const issued = (session: AppSession, at_ms: number): AppSession => ({
  ...session,
  accesses: [
    ...session.accesses.filter(({ expires_at_ms }) => at_ms < expires_at_ms),
    { serial: session.next_serial, generation: session.generation, expires_at_ms: at_ms + HOUR_MS },
  ],
  next_serial: session.next_serial + 1,
});
const turned = (session: AppSession, at_ms: number): AppSession =>
  issued(
    {
      ...session,
      generation: session.generation + 1,
      turned_at_ms: at_ms,
      successor_used: false,
      last_used_at_ms: at_ms,
    },
    at_ms,
  );
const refresh = (generation: number): AppSessionMessage => ({ type: 'refresh', generation });
const use = (serial: number): AppSessionMessage => ({ type: 'use', serial });

t.test('A-026 A-028 a session opens once, and ends', async (t) => {
  decideRows(t, kind, [
    {
      says: 'opened',
      state: null,
      message: open,
      ...issues(first),
      effects: [runOut(START_MS), ENLISTED],
    },
    { says: 'ended', state: first, message: { type: 'end' }, reply: { done: true }, next: null, effects: ENDS },
    { says: 'ended again', state: null, message: { type: 'end' }, reply: { done: true } },
    {
      says: 'run out',
      state: first,
      now_ms: START_MS + LIFE_MS,
      message: { type: 'run_out' },
      reply: { done: true },
      next: null,
      effects: ENDS,
    },
    { says: 'run out again', state: null, message: { type: 'run_out' }, reply: { done: true } },
    ...[first, null].map((state) => ({
      says: state === null ? 'erased again: it leaves the list all the same' : 'erased',
      state,
      message: erase,
      reply: { done: true } as const,
      next: null,
      effects: [FORGET, DELISTED, { effect: 'delete' } as const],
    })),
    { says: 'its seed', state: first, message: { type: 'secret' }, reply: first },
    ...[{ type: 'secret' } as const, use(1), refresh(1)].flatMap((message) => [
      { says: `none: ${message.type}`, state: null, message, reply: ENDED },
      { says: `its life is over: ${message.type}`, state: first, now_ms: START_MS + LIFE_MS, message, reply: ENDED },
    ]),
  ]);
  const played = new Played(appSession, 'session');
  played.send(open);
  t.throws(() => played.decide(open), 'a session is opened once');
});

t.test('A-019 A-020 A-021 a refresh token and its predecessor', async (t) => {
  const at = (ms: number) => ({ now_ms: START_MS + ms });
  const ends = { reply: ENDED, next: null, effects: ENDS };
  decideRows(t, kind, [
    { says: 'the present one', state: first, ...at(1), message: refresh(1), ...issues(turned(first, START_MS + 1)) },
    {
      says: 'the last millisecond of its life',
      state: first,
      ...at(LIFE_MS - 1),
      message: refresh(1),
      ...issues(turned(first, START_MS + LIFE_MS - 1)),
    },
    { says: 'one that was never given out', state: first, message: refresh(2), reply: ENDED },
    { says: 'the predecessor', state: second_used, message: refresh(1), ...issues(issued(second_used, START_MS)) },
    {
      says: 'the predecessor, before a minute',
      state: second_used,
      ...at(RETRY_MS - 1),
      message: refresh(1),
      ...issues(issued(second_used, START_MS + RETRY_MS - 1)),
    },
    { says: 'the predecessor, at a minute', state: second_used, ...at(RETRY_MS), message: refresh(1), ...ends },
    {
      says: 'nothing used, at a minute',
      state: second,
      ...at(RETRY_MS),
      message: refresh(1),
      ...issues(issued(second, START_MS + RETRY_MS)),
    },
    {
      says: 'nothing used, before ten',
      state: second,
      ...at(RETRY_UNUSED_MS - 1),
      message: refresh(1),
      ...issues(issued(second, START_MS + RETRY_UNUSED_MS - 1)),
    },
    { says: 'nothing used, at ten', state: second, ...at(RETRY_UNUSED_MS), message: refresh(1), ...ends },
    { says: 'an older one', state: third, message: refresh(1), ...ends },
    { says: 'none of this session: before the first', state: first, message: refresh(0), reply: ENDED },
  ]);
});

t.test('A-036 an access token lives an hour', async (t) => {
  const at = (ms: number) => ({ now_ms: START_MS + ms });
  const TOUCH_MS = LIMITS.touch_every_ms;
  const touched = (session: AppSession, ms: number) => ({ ...session, last_used_at_ms: START_MS + ms });
  const late = touched(first, HOUR_MS - 1);
  decideRows(t, kind, [
    { says: 'unknown', state: first, message: use(2), reply: EXPIRED },
    { says: 'used', state: first, message: use(1), reply: first },
    { says: 'a millisecond before it is noted', state: first, ...at(TOUCH_MS - 1), message: use(1), reply: first },
    {
      says: 'noted',
      state: first,
      ...at(TOUCH_MS),
      message: use(1),
      reply: touched(first, TOUCH_MS),
      next: touched(first, TOUCH_MS),
    },
    { says: 'before its end', state: first, ...at(HOUR_MS - 1), message: use(1), reply: late, next: late },
    { says: 'at its end', state: first, ...at(HOUR_MS), message: use(1), reply: EXPIRED },
    { says: 'of the predecessor', state: second, message: use(1), reply: second },
    { says: 'of the successor', state: second, message: use(2), reply: second_used, next: second_used },
    { says: 'of the successor, again', state: second_used, message: use(2), reply: second_used },
  ]);
});

t.test('A-036 the oldest access token gives way to one too many', async (t) => {
  const played = new Played(appSession, 'session');
  played.send(open);
  while ((played.state?.accesses.length ?? 0) < LIMITS.app_accesses_alive_max) played.ask(refresh(1));
  const full = played.state as AppSession;
  const next_serial = LIMITS.app_accesses_alive_max + 1;
  t.equal(full.next_serial, next_serial);
  const at_ms = START_MS + HOUR_MS;
  const YOUNG_MS = LIMITS.app_access_young_ms;
  const newest = full.accesses.at(-1) as AppSession['accesses'][number];
  const third_turn: AppSession = {
    ...full,
    generation: 3,
    successor_used: false,
    accesses: [...full.accesses.slice(0, -1), { ...newest, generation: 3 }],
  };
  const later = issued(full, START_MS + YOUNG_MS);
  const given_way = { ...later, accesses: later.accesses.slice(1) };
  decideRows(t, kind, [
    {
      says: 'all were given just now: the newest once more',
      state: full,
      now_ms: START_MS + YOUNG_MS - 1,
      message: refresh(1),
      ...issues(full),
    },
    { says: 'also with the next refresh token', state: full, message: refresh(2), ...issues(third_turn) },
    { says: 'the oldest works', state: full, message: use(1), reply: full },
    {
      says: 'the oldest was given a minute ago',
      state: full,
      now_ms: START_MS + YOUNG_MS,
      message: refresh(1),
      ...issues(given_way),
    },
    { says: 'its use', state: given_way, message: use(1), reply: EXPIRED },
    {
      says: 'none is kept that has ended',
      state: full,
      now_ms: at_ms,
      message: refresh(2),
      ...issues(turned(full, at_ms)),
    },
  ]);
  t.equal(turned(full, at_ms).accesses.length, 1);
});

type SessionStep = { refresh: number } | { use: number } | { pass: number };

t.test(
  'A-020 A-021 in any play one generation lives, and only its predecessor may be shown again, in time',
  async (t) => {
    const boundaries_ms = [1, RETRY_MS, RETRY_UNUSED_MS, HOUR_MS, LIFE_MS].flatMap((ms) => [ms - 1, ms]);
    const step: fc.Arbitrary<SessionStep> = fc.oneof(
      // How far from the present generation, and which of the access tokens, newest first.
      { weight: 8, arbitrary: fc.record({ refresh: fc.constantFrom(0, 0, -1, -1, -1, -2, 1, -7) }) },
      {
        weight: 6,
        arbitrary: fc.record({ use: fc.oneof(fc.integer({ min: -1, max: 3 }), fc.integer({ min: 0, max: 50 })) }),
      },
      { weight: 4, arbitrary: fc.record({ pass: fc.constantFrom(...boundaries_ms.slice(0, 6), 1_000, 20_000) }) },
      { weight: 1, arbitrary: fc.record({ pass: fc.constantFrom(...boundaries_ms) }) },
    );
    const plays = fc.array(step, { maxLength: 100, size: 'max' });
    checkPlays(t, { plays, runs: 400 }, (steps) => {
      const played = new Played(appSession, 'session');
      let generation = 1;
      let turned_at_ms = played.now_ms;
      let is_used = true;
      let is_over = false;
      const tokens: { serial: number; generation: number; expires_at_ms: number }[] = [];
      const isYoung = ({ expires_at_ms }: { expires_at_ms: number }) =>
        played.now_ms < expires_at_ms - HOUR_MS + LIMITS.app_access_young_ms;
      const take = ({ session, serial, expires_at_ms }: IssuedTokens) => {
        const again = tokens.find((token) => token.serial === serial);
        if (again !== undefined) {
          const many = tokens.filter(isYoung).length >= LIMITS.app_accesses_alive_max;
          if (!many || again !== tokens.at(-1)) throw new Error('an access token was given out twice');
          again.generation = generation;
          return;
        }
        if (expires_at_ms !== played.now_ms + HOUR_MS) throw new Error('another life of an access token');
        if (session.generation !== generation) throw new Error('another refresh token');
        tokens.push({ serial, generation, expires_at_ms });
      };
      take(played.ask<IssuedTokens>(open));
      for (const step of steps) {
        if ('pass' in step) {
          played.pass(step.pass);
          if (played.now_ms >= turned_at_ms + LIFE_MS) is_over = true;
        } else if ('refresh' in step) {
          const shown = generation + step.refresh;
          const { reply } = played.send(refresh(shown));
          const since_ms = played.now_ms - turned_at_ms;
          const in_time = since_ms < RETRY_MS || (!is_used && since_ms < RETRY_UNUSED_MS);
          const is_given = !is_over && (shown === generation || (shown === generation - 1 && shown >= 1 && in_time));
          if (is_given === isRefusal(reply))
            throw new Error(`refresh with ${shown} of ${generation} is given: ${!is_given}`);
          if (isRefusal(reply)) {
            if (shown < generation && shown >= 1) is_over = true;
          } else {
            if (shown === generation) {
              generation += 1;
              turned_at_ms = played.now_ms;
              is_used = false;
            }
            take(reply as IssuedTokens);
          }
        } else if ('use' in step) {
          const token = tokens.at(-1 - step.use);
          const { reply } = played.send(use(token?.serial ?? 1_000));
          const newest = tokens.slice(-LIMITS.app_accesses_alive_max);
          if (!is_over && token !== undefined && isYoung(token) && isRefusal(reply)) throw new Error('dead on arrival');
          const is_alive = !is_over && token !== undefined && played.now_ms < token.expires_at_ms;
          if (!isRefusal(reply) && !is_alive) throw new Error('an access token outlives itself');
          if (isRefusal(reply) && is_alive && newest.includes(token)) throw new Error('an access token ended early');
          if (!isRefusal(reply) && token?.generation === generation) is_used = true;
        }
        if ((played.state === null) !== is_over) throw new Error(is_over ? 'the session goes on' : 'the session ended');
        if (played.reminders.has('run_out') === is_over)
          throw new Error('what ends it is not planned, or stays planned');
        if (played.state === null) continue;
        if (played.state.generation !== generation) throw new Error('another generation lives');
        if (played.state.accesses.length > LIMITS.app_accesses_alive_max) throw new Error('too many access tokens');
        if (encodeStored(played.state).length > 2_500) throw new Error(`${encodeStored(played.state).length} bytes`);
      }
    });
  },
);
