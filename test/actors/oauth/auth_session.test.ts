import fc from 'fast-check';
import t from 'tap';
import type { Effect, RepliesOf } from '../../../actors/actor.js';
import {
  type AuthSession,
  type AuthSessionMessage,
  authSession,
  type GrantOwner,
} from '../../../actors/oauth/auth_session.js';
import type { CodeToSend, TriedCode } from '../../../actors/oauth/emailed_code.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { isOauthError } from '../../../src/domain/oauth_errors.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { checkPlays, decideRows, Played, START_MS } from '../../fixtures/decisions.js';

const kind = { kind: authSession, self: 's' };
const LIFE_MS = LIMITS.auth_session_life_ms;
const TRIES = LIMITS.sign_in_tries_max;
const ADDRESS = 'ann@x.test';

const asked_for = {
  email: ADDRESS,
  request: {
    client_id: 'svc-ios',
    name: 'Ann’s phone',
    scopes: ['read'],
    audience: 'api' as const,
    issuer: 'base' as const,
    code: { challenge: 'challenge', redirect_uri: null },
  },
  seed: Buffer.from('seed'),
  key_id: 'k',
};
const code: CodeToSend = { hash: 'right', key_id: 'k', mail_id: 'm', sealed: new Uint8Array([1, 2]) };
const owner: GrantOwner = {
  account_id: 'a',
  issued_under: { account: 0, grants: 1 },
  seed: Buffer.from('seed of the grant'),
  key_id: 'k2',
};
const fresh: AuthSession = {
  ...asked_for,
  created_at_ms: START_MS,
  wrong: 0,
  code: { hash: 'right', key_id: 'k', sent_at_ms: START_MS },
  step: 'asked',
};
const used: AuthSession = { ...fresh, step: 'used' };
const ended: AuthSession = { ...fresh, wrong: TRIES, step: 'ended' };

const tried = (hash: string, more: Partial<TriedCode> = {}): TriedCode => ({
  hashes: { other: 'x', k: hash },
  allowed: true,
  network: 'n',
  ...more,
});
const tryCode = (of: TriedCode, client_id: string | null = null): AuthSessionMessage => ({
  type: 'try_code',
  tried: of,
  client_id,
});
const right = tryCode(tried('right'));
const wrong = tryCode(tried('wrong'));
const completion = (of: TriedCode, grant_id = 'g'): AuthSessionMessage => ({
  type: 'complete',
  grant_id,
  owner,
  tried: of,
});
const complete = completion(tried('right'));
const told: Effect = {
  effect: 'notify',
  to: { kind: 'email', id: ADDRESS },
  message: { type: 'wrong_try', network: 'n' },
};
const opens: Effect = {
  effect: 'notify',
  to: { kind: 'grant', id: 'g' },
  message: { type: 'open', grant: { ...asked_for.request, ...owner, verified_at_ms: START_MS } },
};
const runOut: Effect = {
  effect: 'schedule_reminder',
  name: 'run_out',
  at_ms: START_MS + LIFE_MS,
  message: { type: 'run_out' },
};
const INVALID = { error: 'invalid_session' } as const;
const WRONG = { error: 'insufficient_authorization' } as const;
const last = { now_ms: START_MS + LIFE_MS - 1 };
const late = { now_ms: START_MS + LIFE_MS };

t.test('a native sign-in begins with a mail, unless the address has had its share', async (t) => {
  const mail: Effect = {
    effect: 'enqueue_mail',
    mail_id: 'm',
    sealed: new Uint8Array([1, 2]),
    give_up_at_ms: START_MS + LIMITS.code_life_ms,
  };
  const silent = { ...fresh, code: null };
  decideRows(t, kind, [
    {
      says: 'a code is sent',
      state: null,
      message: { type: 'open', session: asked_for, code },
      reply: fresh,
      next: fresh,
      effects: [mail, runOut],
    },
    {
      says: 'none is sent',
      state: null,
      message: { type: 'open', session: asked_for, code: null },
      reply: silent,
      next: silent,
      effects: [runOut],
    },
    { says: 'viewed: none', state: null, message: { type: 'view' }, reply: { refused: 'NOT_FOUND' } },
    { says: 'viewed', state: used, message: { type: 'view' }, reply: used },
    { says: 'run out', state: used, ...late, message: { type: 'run_out' }, reply: { done: true }, next: null },
  ]);
  const played = new Played(authSession, 's');
  played.send({ type: 'open', session: asked_for, code });
  t.throws(() => played.decide({ type: 'open', session: asked_for, code }), 'opened once');
});

t.test('a code at a native sign-in: what is refused, one fault after the other', async (t) => {
  const fault = tryCode(tried('wrong', { allowed: false }), 'svc-mac');
  const wrong_once = { ...fresh, wrong: 1 };
  const refused = { reply: WRONG, next: wrong_once, effects: [told] };
  decideRows(t, kind, [
    { says: 'none', state: null, ...late, message: fault, reply: INVALID },
    { says: 'ended, at its end', state: ended, ...late, message: fault, reply: INVALID },
    { says: 'ended, before', state: ended, ...last, message: fault, reply: INVALID },
    { says: 'used', state: used, ...last, message: fault, reply: INVALID },
    { says: 'of another client, which is no try', state: fresh, ...last, message: fault, reply: INVALID },
    { says: 'wrong', state: fresh, ...last, message: tryCode(tried('wrong', { allowed: false })), ...refused },
    {
      says: 'too many from there',
      state: fresh,
      ...last,
      message: tryCode(tried('right', { allowed: false })),
      ...refused,
    },
    {
      says: 'hashed with another key only',
      state: fresh,
      ...last,
      message: tryCode({ ...tried('right'), hashes: { other: 'right' } }),
      ...refused,
    },
    {
      says: 'none was sent',
      state: { ...fresh, code: null },
      message: right,
      ...refused,
      next: { ...wrong_once, code: null },
    },
    {
      says: 'right, in the last millisecond: nothing is stored yet',
      state: fresh,
      ...last,
      message: tryCode(tried('right'), 'svc-ios'),
      reply: fresh,
    },
    { says: 'right, at its end', state: fresh, ...late, message: right, reply: INVALID },
    {
      says: 'the fourth wrong one',
      state: { ...fresh, wrong: TRIES - 2 },
      message: wrong,
      ...refused,
      next: { ...fresh, wrong: TRIES - 1 },
    },
    {
      says: 'the fifth',
      state: { ...fresh, wrong: TRIES - 1 },
      message: wrong,
      reply: INVALID,
      next: ended,
      effects: [told],
    },
    { says: 'right after the fifth', state: ended, message: right, reply: INVALID },
  ]);
});

t.test('C-134 a native sign-in is completed once, after a right code', async (t) => {
  decideRows(t, kind, [
    { says: 'none', state: null, ...late, message: complete, reply: INVALID },
    { says: 'a right code, at its end', state: fresh, ...late, message: complete, reply: INVALID },
    { says: 'a wrong code', state: fresh, ...last, message: completion(tried('wrong')), reply: WRONG },
    {
      says: 'a right code from where no tries are left',
      state: fresh,
      message: completion(tried('right', { allowed: false })),
      reply: WRONG,
    },
    { says: 'a right code', state: fresh, message: complete, reply: used, next: used, effects: [opens] },
    { says: 'too many wrong codes', state: ended, message: complete, reply: INVALID },
    { says: 'again', state: used, message: complete, reply: INVALID },
    { says: 'its code again', state: used, message: right, reply: INVALID },
  ]);
});

type SessionStep =
  | { code: 'right' | 'wrong'; allowed: boolean; client_id: string | null; completes: boolean }
  | { complete: string; with: 'right' | 'wrong' }
  | { pass: number };

t.test('in any play five wrong codes end a native sign-in, and it opens one grant at most', async (t) => {
  const step: fc.Arbitrary<SessionStep> = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        code: fc.constantFrom('right' as const, 'wrong' as const, 'wrong' as const, 'wrong' as const),
        allowed: fc.constantFrom(true, true, true, false),
        client_id: fc.constantFrom(null, 'svc-ios', 'svc-mac'),
        completes: fc.boolean(),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        complete: fc.constantFrom('g1', 'g2', 'g3'),
        with: fc.constantFrom('right' as const, 'wrong' as const),
      }),
    },
    { weight: 2, arbitrary: fc.record({ pass: fc.constantFrom(1, 1_000, 60_000, LIFE_MS / 2, LIFE_MS - 1, LIFE_MS) }) },
  );
  const plays = fc.record({
    is_sent: fc.constantFrom(true, true, true, false),
    steps: fc.array(step, { maxLength: 40, size: 'max' }),
  });
  checkPlays(t, { plays, runs: 500 }, ({ is_sent, steps }) => {
    const played = new Played<AuthSession, AuthSessionMessage, RepliesOf<typeof authSession>>(authSession, 's');
    played.send({ type: 'open', session: asked_for, code: is_sent ? code : null });
    let judged_wrong = 0;
    let grants = 0;
    const tells = (to: string) =>
      played.effects.flatMap((effect) => (effect.effect === 'notify' && effect.to.kind === to ? [effect] : []));
    const is_open = () => played.now_ms < START_MS + LIFE_MS && judged_wrong < TRIES && grants === 0;
    const finish = (grant_id: string, typed: 'right' | 'wrong') => {
      const opened = is_open() && is_sent && typed === 'right';
      const verified_at_ms = played.now_ms;
      const { reply } = played.send(completion(tried(typed), grant_id));
      if (isOauthError(reply) === opened) throw new Error(`completed: ${!opened}`);
      if (!opened) return;
      grants += 1;
      const { to, message } = tells('grant').at(-1) ?? {};
      const grant = { ...asked_for.request, ...owner, verified_at_ms };
      if (to?.id !== grant_id) throw new Error('a grant elsewhere');
      if (JSON.stringify(message) !== JSON.stringify({ type: 'open', grant })) throw new Error('another grant');
    };
    for (const step of steps) {
      if ('pass' in step) played.pass(step.pass);
      else if ('complete' in step) finish(step.complete, step.with);
      else {
        const is_tried = is_open() && step.client_id !== 'svc-mac';
        const is_right = is_sent && step.allowed && step.code === 'right';
        const { reply } = played.send(tryCode(tried(step.code, { allowed: step.allowed }), step.client_id));
        if (is_tried && !is_right) judged_wrong += 1;
        const expected = !is_tried || judged_wrong === TRIES ? 'invalid_session' : is_right ? null : WRONG.error;
        if ((isOauthError(reply) ? reply.error : null) !== expected)
          throw new Error(`answered otherwise than ${expected}`);
        if (expected === null && step.completes) finish('g0', 'right');
      }
      if (judged_wrong > TRIES) throw new Error('judged too often');
      if (tells('email').length !== judged_wrong) throw new Error('the address counts otherwise');
      if (tells('grant').length !== grants || grants > 1) throw new Error('another number of grants');
      if (played.effects.filter(({ effect }) => effect === 'enqueue_mail').length !== (is_sent ? 1 : 0))
        throw new Error('another number of mails');
      const is_kept = played.now_ms < START_MS + LIFE_MS;
      if ((played.state !== null) !== is_kept || played.reminders.has('run_out') !== is_kept)
        throw new Error('it is kept, or planned to end, otherwise than for its life');
      if (isRefusal(played.decide({ type: 'view' }).reply) === is_kept) throw new Error('seen otherwise');
    }
  });
});
