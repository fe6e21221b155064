import fc from 'fast-check';
import t from 'tap';
import type { Effect } from '../../../actors/actor.js';
import {
  type BrowserSession,
  type BrowserSessionMessage,
  browserSession,
  browserSessionEndMs,
} from '../../../actors/oauth/browser_session.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { anyPlay, checkPlays, decideRows, Played, START_MS } from '../../fixtures/decisions.js';

const kind = { kind: browserSession, self: 'b' };
const IDLE_MS = LIMITS.browser_session_idle_ms;
const LIFE_MS = LIMITS.browser_session_life_ms;
const TOUCH_MS = LIMITS.touch_every_ms;
const DAY_MS = 24 * 60 * 60 * 1000;

const signed_in = {
  account_id: 'a',
  email: 'ann@x.test',
  seed: Buffer.from('seed'),
  key_id: 'k',
  issued_under: { account: 0, grants: 1 },
  verified_at_ms: START_MS,
};
const fresh: BrowserSession = { ...signed_in, last_used_at_ms: START_MS };
/** Used so late that its 90 days end it before 30 unused ones do. */
const old: BrowserSession = { ...fresh, last_used_at_ms: START_MS + LIFE_MS - 2 * TOUCH_MS };
const usedAt = (at_ms: number): BrowserSession => ({ ...fresh, last_used_at_ms: at_ms });

const open: BrowserSessionMessage = { type: 'open', session: signed_in };
const view: BrowserSessionMessage = { type: 'view' };
const use: BrowserSessionMessage = { type: 'use' };
const end: BrowserSessionMessage = { type: 'end' };
const runOut = (at_ms: number): Effect => ({
  effect: 'schedule_reminder',
  name: 'run_out',
  at_ms,
  message: { type: 'run_out' },
});
const listed = { owner: 'a', index: 'browser_sessions:1', member: 'b' };
const enlisted = (order: number): Effect => ({ effect: 'add_to_index', ...listed, order });
const delisted: Effect = { effect: 'remove_from_index', ...listed };
const FORGET: Effect = { effect: 'cancel_reminder', name: 'run_out' };
const at = (ms: number) => ({ now_ms: START_MS + ms });
const ENDED = { refused: 'UNAUTHORIZED' } as const;
const DONE = { done: true } as const;

t.test('a browser session lasts 30 days from its last use, 90 from its code', async (t) => {
  const noted = { ...old, last_used_at_ms: START_MS + LIFE_MS - TOUCH_MS };
  decideRows(t, kind, [
    {
      says: 'opened',
      state: null,
      message: open,
      reply: fresh,
      next: fresh,
      effects: [enlisted(START_MS), runOut(START_MS + IDLE_MS)],
    },
    { says: 'opened again', state: old, message: open, reply: old },
    { says: 'none', state: null, message: use, reply: ENDED },
    { says: 'unused, at 30 days', state: fresh, ...at(IDLE_MS), message: use, reply: ENDED },
    {
      says: 'unused, before',
      state: fresh,
      ...at(IDLE_MS - 1),
      message: use,
      reply: usedAt(START_MS + IDLE_MS - 1),
      next: usedAt(START_MS + IDLE_MS - 1),
      effects: [runOut(START_MS + IDLE_MS - 1 + IDLE_MS)],
    },
    { says: 'used, at 90 days', state: old, ...at(LIFE_MS), message: use, reply: ENDED },
    {
      says: 'used, before',
      state: old,
      ...at(LIFE_MS - TOUCH_MS),
      message: use,
      reply: noted,
      next: noted,
      effects: [runOut(START_MS + LIFE_MS)],
    },
    { says: 'the last millisecond', state: noted, ...at(LIFE_MS - 1), message: use, reply: noted },
    { says: 'a use is noted once a minute', state: fresh, ...at(TOUCH_MS - 1), message: use, reply: fresh },
    {
      says: 'at a minute',
      state: fresh,
      ...at(TOUCH_MS),
      message: use,
      reply: usedAt(START_MS + TOUCH_MS),
      next: usedAt(START_MS + TOUCH_MS),
      effects: [runOut(START_MS + TOUCH_MS + IDLE_MS)],
    },
    { says: 'seen: none', state: null, message: view, reply: ENDED },
    { says: 'seen, at 30 days', state: fresh, ...at(IDLE_MS), message: view, reply: ENDED },
    { says: 'seen, before', state: fresh, ...at(IDLE_MS - 1), message: view, reply: fresh },
    { says: 'seen, at 90 days', state: old, ...at(LIFE_MS), message: view, reply: ENDED },
    { says: 'seen, before', state: old, ...at(LIFE_MS - 1), message: view, reply: old },
    {
      says: 'ended',
      state: fresh,
      message: end,
      reply: DONE,
      next: null,
      effects: [delisted, FORGET],
    },
    { says: 'ended again', state: null, message: end, reply: DONE },
    {
      says: 'run out',
      state: fresh,
      ...at(IDLE_MS),
      message: { type: 'run_out' },
      reply: DONE,
      next: null,
      effects: [delisted, FORGET],
    },
    { says: 'run out again', state: null, message: { type: 'run_out' }, reply: DONE },
    {
      says: 'erased',
      state: fresh,
      message: { type: 'erase', account_id: 'a', list: 'browser_sessions:1' },
      reply: DONE,
      next: null,
      effects: [FORGET, delisted, { effect: 'delete' }],
    },
    {
      says: 'erased again: it leaves the list all the same',
      state: null,
      message: { type: 'erase', account_id: 'a', list: 'browser_sessions:1' },
      reply: DONE,
      next: null,
      effects: [FORGET, delisted, { effect: 'delete' }],
    },
  ]);
  t.equal(browserSessionEndMs(fresh), START_MS + IDLE_MS);
  t.equal(browserSessionEndMs(old), START_MS + LIFE_MS);
});

t.test('a browser session used every 20 days lives to day 90, one unused for 31 does not', async (t) => {
  const played = new Played(browserSession, 'b');
  played.send(open);
  for (let days = 20; days <= 80; days += 20) {
    played.pass(20 * DAY_MS);
    t.notOk(isRefusal(played.send(use).reply), `day ${days}`);
  }
  played.pass(10 * DAY_MS - 1);
  t.notOk(isRefusal(played.send(use).reply), 'the end of day 90');
  played.pass(1);
  t.ok(isRefusal(played.send(use).reply), 'after it');
  t.equal(played.state, null, 'nothing of it is kept');

  const unused = new Played(browserSession, 'b');
  unused.send(open);
  unused.pass(31 * DAY_MS);
  t.ok(isRefusal(unused.send(use).reply), 'unused for 31 days');
});

t.test(
  'in any play a browser session lives to the millisecond, and at most a minute of its use is not counted',
  async (t) => {
    const message = fc.constantFrom<BrowserSessionMessage>(use, use, use, use, use, use, use, view, view, open, end);
    const passes_ms = [1, TOUCH_MS - 1, TOUCH_MS, DAY_MS, 20 * DAY_MS, 29 * DAY_MS, IDLE_MS - 1, IDLE_MS];
    // The tell that opens it can come late: its days count from the code all the same.
    const plays = fc.record({ steps: anyPlay(message, passes_ms), late_ms: fc.constantFrom(0, 0, 1, DAY_MS) });
    checkPlays(t, { plays, runs: 500 }, ({ steps, late_ms }) => {
      const played = new Played(browserSession, 'b');
      played.now_ms += late_ms;
      played.send(open);
      let counted_ms = played.now_ms;
      let is_over = false;
      const end_ms = () => Math.min(counted_ms + IDLE_MS, START_MS + LIFE_MS);
      for (const step of steps) {
        if ('pass' in step) {
          played.pass(step.pass);
          if (played.now_ms >= end_ms()) is_over = true;
        } else if (step.send.type === 'open') {
          // Once over it is not told again: a tell is applied once, and ids are drawn anew.
          if (!is_over && played.send(open).next !== undefined) throw new Error('opened twice');
        } else {
          const { reply } = played.send(step.send);
          if (step.send.type === 'end') is_over = true;
          else if (isRefusal(reply) !== is_over)
            throw new Error(`${step.send.type} after ${played.now_ms - START_MS} ms`);
          if (step.send.type === 'use' && played.now_ms >= counted_ms + TOUCH_MS) counted_ms = played.now_ms;
        }
        if ((played.state === null) !== is_over) throw new Error(is_over ? 'it goes on' : 'it ended early');
        if (played.reminders.get('run_out')?.at_ms !== (is_over ? undefined : end_ms()))
          throw new Error('its end is planned otherwise');
      }
    });
  },
);
