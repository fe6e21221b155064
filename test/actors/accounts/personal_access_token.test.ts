import fc from 'fast-check';
import t from 'tap';
import {
  type PersonalAccessToken,
  type PersonalAccessTokenMessage,
  personalAccessToken,
} from '../../../actors/accounts/personal_access_token.js';
import type { Effect } from '../../../actors/actor.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { anyPlay, checkPlays, decideRows, Played, START_MS } from '../../fixtures/decisions.js';

const kind = { kind: personalAccessToken, self: 'p' };
const DONE = { done: true } as const;
const ENDED = { refused: 'UNAUTHORIZED' } as const;
const HOUR_MS = 3_600_000;
const END_MS = START_MS + HOUR_MS;
const made = {
  account_id: 'a',
  name: 'Backup',
  permissions: ['turns:read' as const],
  last_four: 'wxyz',
  created_at_ms: START_MS,
  expires_at_ms: END_MS,
  secret_hash: 'hash',
  issued_under: { account: 0, tokens: 1 },
};
const fresh: PersonalAccessToken = { ...made, last_used_at_ms: null };
const endless: PersonalAccessToken = { ...fresh, expires_at_ms: null };
const usedAt = (last_used_at_ms: number): PersonalAccessToken => ({ ...fresh, last_used_at_ms });
const open: PersonalAccessTokenMessage = { type: 'open', token: made };
const [view, use, end, runOut]: PersonalAccessTokenMessage[] = [
  { type: 'view' },
  { type: 'use' },
  { type: 'end' },
  { type: 'run_out' },
];
const FORGET: Effect = { effect: 'cancel_reminder', name: 'run_out' };

t.test('B-021 B-023 a token opens once, lives to its end, and is gone when it was revoked', async (t) => {
  if (view === undefined || use === undefined || end === undefined || runOut === undefined) return;
  decideRows(t, kind, [
    {
      says: 'opened',
      state: null,
      message: open,
      reply: DONE,
      next: fresh,
      effects: [{ effect: 'schedule_reminder', name: 'run_out', at_ms: END_MS, message: runOut }],
    },
    {
      says: 'opened for ever',
      state: null,
      message: { type: 'open', token: { ...made, expires_at_ms: null } },
      reply: DONE,
      next: endless,
    },
    { says: 'opened again', state: usedAt(1), message: open, reply: DONE },
    ...[view, use].flatMap((message) => [
      { says: `${message.type}: gone`, state: null, message, reply: ENDED },
      { says: `${message.type}: expired`, state: fresh, now_ms: END_MS, message, reply: ENDED },
    ]),
    { says: 'viewed to the last millisecond', state: fresh, now_ms: END_MS - 1, message: view, reply: fresh },
    { says: 'viewed after years', state: endless, now_ms: END_MS * 2, message: view, reply: endless },
    { says: 'used', state: fresh, message: use, reply: usedAt(START_MS), next: usedAt(START_MS) },
    {
      says: 'used within a minute',
      state: usedAt(START_MS),
      now_ms: START_MS + LIMITS.touch_every_ms - 1,
      message: use,
      reply: usedAt(START_MS),
    },
    {
      says: 'used after it',
      state: usedAt(START_MS),
      now_ms: START_MS + LIMITS.touch_every_ms,
      message: use,
      reply: usedAt(START_MS + LIMITS.touch_every_ms),
      next: usedAt(START_MS + LIMITS.touch_every_ms),
    },
    { says: 'revoked', state: fresh, message: end, reply: DONE, next: null, effects: [FORGET] },
    { says: 'revoked, one without an end', state: endless, message: end, reply: DONE, next: null },
    { says: 'revoked again', state: null, message: end, reply: DONE },
    { says: 'run out', state: fresh, now_ms: END_MS, message: runOut, reply: DONE, next: null },
    { says: 'run out again', state: null, message: runOut, reply: DONE, next: null },
  ]);
});

t.test('B-021 B-023 in any play a token holds until it was revoked or its time is over', async (t) => {
  const message = fc.constantFrom<PersonalAccessTokenMessage>(
    { type: 'view' },
    { type: 'use' },
    { type: 'use' },
    { type: 'end' },
  );
  const plays = fc.record({
    steps: anyPlay(message, [1, LIMITS.touch_every_ms, HOUR_MS / 4]),
    expires_at_ms: fc.constantFrom(null, END_MS),
  });
  checkPlays(t, { plays, runs: 200 }, ({ steps, expires_at_ms }) => {
    const played = new Played(personalAccessToken, 'p');
    played.send({ type: 'open', token: { ...made, expires_at_ms } });
    let revoked = false;
    for (const step of steps) {
      if ('pass' in step) {
        played.pass(step.pass);
        continue;
      }
      const { reply } = played.send(step.send);
      const over = revoked || (expires_at_ms !== null && played.now_ms >= expires_at_ms);
      if (step.send.type === 'end') revoked = true;
      else if (isRefusal(reply) !== over) throw new Error(over ? 'it goes on' : 'it ended early');
      if ((revoked || over) !== (played.state === null)) throw new Error('more or less of it is kept');
      if (played.state === null && played.reminders.size > 0) throw new Error('its end is still planned');
    }
  });
});
