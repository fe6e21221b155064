import fc from 'fast-check';
import t from 'tap';
import type { Effect, RepliesOf } from '../../../actors/actor.js';
import {
  type Grant,
  type GrantMessage,
  grant,
  type IssuedGrant,
  type LiveGrant,
  type LiveStage,
  type Narrowing,
  type NewGrant,
} from '../../../actors/oauth/grant.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { isOauthError } from '../../../src/domain/oauth_errors.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { encodeStored } from '../../../src/engine/store/codec.js';
import { checkPlays, decideRows, Played, type Row, START_MS } from '../../fixtures/decisions.js';

const kind = { kind: grant, self: 'g' };
const CODE_MS = LIMITS.oauth_code_life_ms;
const HARMLESS_MS = LIMITS.oauth_code_replay_harmless_ms;
const RETRY_MS = LIMITS.refresh_retry_ms;
const RETRY_UNUSED_MS = LIMITS.refresh_retry_unused_ms;
const LIFE_MS = LIMITS.oauth_refresh_life_ms;

const allowed: NewGrant = {
  account_id: 'a',
  client_id: 'app',
  name: 'Ann’s laptop',
  scopes: ['read', 'write'],
  audience: 'mcp',
  issuer: 'base',
  seed: Buffer.from('seed'),
  key_id: 'k',
  issued_under: { account: 0, grants: 3 },
  verified_at_ms: START_MS - 5,
  code: { challenge: 'challenge', redirect_uri: 'https://app.test/back' },
};
const ALL: Narrowing = { scopes: null, audience: null };
const TOO_MUCH: Narrowing = { scopes: ['read', 'delete'], audience: 'api' };
const TOO_MANY_SCOPES: Narrowing = { scopes: ['read', 'delete'], audience: 'mcp' };
const LESS: Narrowing = { scopes: ['write'], audience: 'mcp' };

const opened: Grant = { ...allowed, created_at_ms: START_MS, stage: { status: 'code' } };
const live = (stage: Partial<LiveStage> = {}): LiveGrant => ({
  ...opened,
  stage: {
    status: 'live',
    exchanged_at_ms: START_MS,
    generation: 1,
    turned_at_ms: START_MS,
    successor_used: true,
    asked: ALL,
    ...stage,
  },
});
/** From an earlier system: it never had a code here. */
const imported = live({ exchanged_at_ms: null });
/** Refreshed once, and nothing of it was used. */
const second = live({ generation: 2, successor_used: false });
const second_used = live({ generation: 2 });
const third = live({ generation: 3, successor_used: false });

const open: GrantMessage = { type: 'open', grant: allowed };
const bring_in: GrantMessage = { type: 'bring_in', grant: allowed, created_at_ms: START_MS - 7 };
type Exchange = Extract<GrantMessage, { type: 'exchange' }>;
const exchange = (told: Partial<Exchange> = {}): Exchange => ({
  type: 'exchange',
  client_id: 'app',
  challenge: 'challenge',
  redirect_uri: 'https://app.test/back',
  asked: ALL,
  ...told,
});
const refresh = (generation: number, asked = ALL, client_id = 'app'): GrantMessage => ({
  type: 'refresh',
  client_id,
  generation,
  asked,
});
const use = (generation: number): GrantMessage => ({ type: 'use', generation });

const runOutAt = (at_ms: number): Effect => ({
  effect: 'schedule_reminder',
  name: 'run_out',
  at_ms,
  message: { type: 'run_out' },
});
const FORGET: Effect = { effect: 'cancel_reminder', name: 'run_out' };
const DELIST: Effect = { effect: 'remove_from_index', owner: 'a', index: 'grants:3', member: 'g' };
const enlist = (order: number): Effect => ({ ...DELIST, effect: 'add_to_index', order });
const NO = { error: 'invalid_grant' } as const;
const GONE = { refused: 'UNAUTHORIZED' } as const;

type GrantRow = Row<Grant, GrantMessage, RepliesOf<typeof grant>>;
const at = (ms: number) => ({ now_ms: START_MS + ms });
const issues = (next: LiveGrant, { scopes, audience }: Narrowing = ALL): Pick<GrantRow, 'reply'> => ({
  reply: { grant: next, scopes: scopes ?? allowed.scopes, audience: audience ?? allowed.audience },
});
const ends = { reply: NO, next: null, effects: [DELIST, FORGET] };

t.test('a grant opens once, and is on the list of its life from the exchange on until it ends', async (t) => {
  const revoke = (by: Extract<GrantMessage, { type: 'revoke' }>['by']): GrantMessage => ({ type: 'revoke', by });
  const by_app = revoke({ client_id: 'app' });
  const by_account = revoke({ account_id: 'a', grants_epoch: 3 });
  const brought: LiveGrant = { ...imported, created_at_ms: START_MS - 7 };
  const NOT = { reply: { revoked: false } };
  const ended = { reply: { revoked: true }, next: null };
  decideRows(t, kind, [
    {
      says: 'opened',
      state: null,
      message: open,
      reply: opened,
      next: opened,
      effects: [runOutAt(START_MS + CODE_MS)],
    },
    { says: 'opened again', state: second, message: open, reply: second },
    {
      says: 'brought in',
      state: null,
      message: bring_in,
      reply: brought,
      next: brought,
      effects: [enlist(START_MS - 7), runOutAt(START_MS + LIFE_MS)],
    },
    { says: 'brought in again', state: second, message: bring_in, reply: second },

    { says: 'revoked: none', state: null, message: by_app, ...NOT },
    { says: 'revoked by another client', state: live(), message: revoke({ client_id: 'other' }), ...NOT },
    { says: 'by its client', state: live(), message: by_app, ...ended, effects: [DELIST, FORGET] },
    { says: 'by its client, before the exchange', state: opened, message: by_app, ...ended, effects: [FORGET] },
    {
      says: 'by an account under another life, a code',
      state: opened,
      message: revoke({ account_id: 'b', grants_epoch: 4 }),
      ...NOT,
    },
    {
      says: 'by another account under another life',
      state: live(),
      message: revoke({ account_id: 'b', grants_epoch: 4 }),
      ...NOT,
    },
    { says: 'by its account, later', state: live(), message: revoke({ account_id: 'a', grants_epoch: 4 }), ...NOT },
    { says: 'by its account', state: live(), message: by_account, ...ended, effects: [DELIST, FORGET] },
    { says: 'by its account, which is shown no codes', state: opened, message: by_account, ...NOT },

    { says: 'run out: none', state: null, message: { type: 'run_out' }, ...NOT },
    { says: 'run out: a code', state: opened, message: { type: 'run_out' }, ...ended, effects: [FORGET] },
    { says: 'run out', state: live(), message: { type: 'run_out' }, ...ended, effects: [DELIST, FORGET] },
  ]);
});

t.test('a grant is seen and used until it runs out, though nothing has cleared it away yet', async (t) => {
  const view: GrantMessage = { type: 'view' };
  decideRows(t, kind, [
    { says: 'none', state: null, message: view, reply: GONE },
    { says: 'a code, at its end', state: opened, ...at(CODE_MS), message: view, reply: GONE },
    { says: 'a code, before', state: opened, ...at(CODE_MS - 1), message: view, reply: opened },
    { says: 'at its end', state: live(), ...at(LIFE_MS), message: view, reply: GONE },
    { says: 'before', state: live(), ...at(LIFE_MS - 1), message: view, reply: live() },

    { says: 'use: none', state: null, message: use(1), reply: GONE },
    { says: 'use: a code has no tokens', state: opened, message: use(1), reply: GONE },
    { says: 'use: at its end', state: second, ...at(LIFE_MS), message: use(2), reply: GONE },
    {
      says: 'use: of the present generation',
      state: second,
      ...at(LIFE_MS - 1),
      message: use(2),
      reply: second_used,
      next: second_used,
    },
    { says: 'use: again', state: second_used, message: use(2), reply: second_used },
    { says: 'use: of the one before', state: second, message: use(1), reply: second },
  ]);
});

t.test('an authorization code: what is refused, one fault after the other', async (t) => {
  const wrong = exchange({ client_id: 'other', challenge: 'x', redirect_uri: null, asked: TOO_MUCH });
  const own = { ...wrong, client_id: 'app' };
  const verified = { ...own, challenge: 'challenge' };
  const right = { ...verified, redirect_uri: 'https://app.test/back' };
  const exchanged = live({ exchanged_at_ms: START_MS + CODE_MS - 1, turned_at_ms: START_MS + CODE_MS - 1 });
  decideRows(t, kind, [
    { says: 'none', state: null, ...at(CODE_MS), message: wrong, reply: NO },
    { says: 'another client', state: opened, ...at(CODE_MS), message: wrong, reply: NO },
    { says: 'a wrong verifier', state: opened, ...at(CODE_MS), message: own, reply: NO },
    { says: 'no redirect URI', state: opened, ...at(CODE_MS), message: verified, reply: NO },
    { says: 'at its end', state: opened, ...at(CODE_MS), message: right, reply: NO },
    {
      says: 'a wider audience',
      state: opened,
      ...at(CODE_MS - 1),
      message: right,
      reply: { error: 'invalid_target' },
    },
    {
      says: 'more scopes',
      state: opened,
      ...at(CODE_MS - 1),
      message: { ...right, asked: TOO_MANY_SCOPES },
      reply: { error: 'invalid_scope' },
    },
    {
      says: 'right, in the last millisecond',
      state: opened,
      ...at(CODE_MS - 1),
      message: { ...right, asked: LESS },
      ...issues(exchanged, LESS),
      next: exchanged,
      effects: [enlist(START_MS), runOutAt(START_MS + CODE_MS - 1 + LIFE_MS)],
    },
    // Each alone, in time: nothing of it takes the code from its client.
    ...[{ client_id: 'other' }, { challenge: 'x' }, { redirect_uri: null }, { redirect_uri: 'https://app.test/' }].map(
      (fault) => ({ says: JSON.stringify(fault), state: opened, message: exchange(fault), reply: NO }),
    ),
  ]);
  const native: Grant = { ...opened, code: { challenge: 'challenge', redirect_uri: null } };
  const native_live = { ...live(), code: native.code };
  decideRows(t, kind, [
    { says: 'native: a redirect URI', state: native, message: exchange(), reply: NO },
    {
      says: 'native: none',
      state: native,
      message: exchange({ redirect_uri: null }),
      ...issues(native_live),
      next: native_live,
      effects: [enlist(START_MS), runOutAt(START_MS + LIFE_MS)],
    },
  ]);
});

t.test('a code that comes again ends the grant after ten seconds, when all of it is right', async (t) => {
  const late = at(HARMLESS_MS);
  decideRows(t, kind, [
    { says: 'another client', state: live(), ...late, message: exchange({ client_id: 'other' }), reply: NO },
    { says: 'a wrong verifier', state: live(), ...late, message: exchange({ challenge: 'x' }), reply: NO },
    { says: 'another redirect URI', state: live(), ...late, message: exchange({ redirect_uri: null }), reply: NO },
    { says: 'right, at once', state: live(), message: exchange(), reply: NO },
    { says: 'right, before ten seconds', state: live(), ...at(HARMLESS_MS - 1), message: exchange(), reply: NO },
    { says: 'right, at ten', state: live(), ...late, message: exchange(), ...ends },
    { says: 'right, long after the code’s life', state: third, ...at(LIFE_MS - 1), message: exchange(), ...ends },
    { says: 'whatever it asks for', state: live(), ...late, message: exchange({ asked: TOO_MUCH }), ...ends },
    { says: 'a grant that never had a code', state: imported, ...late, message: exchange(), reply: NO },
  ]);
});

t.test('a refresh token: what is refused, one fault after the other', async (t) => {
  const turned = live({
    generation: 2,
    turned_at_ms: START_MS + LIFE_MS - 1,
    successor_used: false,
    asked: LESS,
  });
  const last = at(LIFE_MS - 1);
  decideRows(t, kind, [
    { says: 'none', state: null, ...at(LIFE_MS), message: refresh(2, TOO_MUCH, 'other'), reply: NO },
    { says: 'not exchanged', state: opened, ...at(LIFE_MS), message: refresh(2, TOO_MUCH, 'other'), reply: NO },
    { says: 'another client', state: live(), ...at(LIFE_MS), message: refresh(2, TOO_MUCH, 'other'), reply: NO },
    { says: 'run out', state: live(), ...at(LIFE_MS), message: refresh(2, TOO_MUCH), reply: NO },
    { says: 'never given out', state: live(), ...last, message: refresh(2, TOO_MUCH), reply: NO },
    { says: 'never given out: before the first', state: live(), ...last, message: refresh(0, TOO_MUCH), reply: NO },
    {
      says: 'a wider audience',
      state: live(),
      ...last,
      message: refresh(1, TOO_MUCH),
      reply: { error: 'invalid_target' },
    },
    {
      says: 'more scopes',
      state: live(),
      ...last,
      message: refresh(1, TOO_MANY_SCOPES),
      reply: { error: 'invalid_scope' },
    },
    {
      says: 'the present one, in its last millisecond',
      state: live(),
      ...last,
      message: refresh(1, LESS),
      ...issues(turned, LESS),
      next: turned,
      effects: [runOutAt(START_MS + LIFE_MS - 1 + LIFE_MS)],
    },
    {
      says: 'all that was granted, after less was asked for',
      state: turned,
      ...last,
      message: refresh(2),
      ...issues({ ...turned, stage: { ...turned.stage, generation: 3, asked: ALL } }),
      next: { ...turned, stage: { ...turned.stage, generation: 3, asked: ALL } },
      effects: [runOutAt(START_MS + LIFE_MS - 1 + LIFE_MS)],
    },
    { says: 'an older one, of another client', state: third, ...last, message: refresh(1, ALL, 'other'), reply: NO },
    { says: 'an older one, run out', state: third, ...at(LIFE_MS), message: refresh(1), reply: NO },
    { says: 'an older one', state: third, message: refresh(1), ...ends },
  ]);
});

t.test('the refresh token before the present one gets the same successor, in time', async (t) => {
  const asked_less = live({ generation: 2, asked: LESS });
  const both = live({ generation: 2, asked: { scopes: ['write', 'read'], audience: null } });
  decideRows(t, kind, [
    { says: 'another client', state: second, message: refresh(1, ALL, 'other'), reply: NO },
    { says: 'at once', state: second_used, message: refresh(1), ...issues(second_used) },
    { says: 'before a minute', state: second_used, ...at(RETRY_MS - 1), message: refresh(1), ...issues(second_used) },
    { says: 'at a minute', state: second_used, ...at(RETRY_MS), message: refresh(1), ...ends },
    { says: 'nothing used, at a minute', state: second, ...at(RETRY_MS), message: refresh(1), ...issues(second) },
    {
      says: 'nothing used, before ten',
      state: second,
      ...at(RETRY_UNUSED_MS - 1),
      message: refresh(1),
      ...issues(second),
    },
    { says: 'nothing used, at ten', state: second, ...at(RETRY_UNUSED_MS), message: refresh(1), ...ends },

    { says: 'fewer scopes', state: second, message: refresh(1, { scopes: ['read'], audience: null }), reply: NO },
    { says: 'another audience', state: second, message: refresh(1, { scopes: null, audience: 'mcp' }), reply: NO },
    { says: 'more scopes', state: asked_less, message: refresh(1), reply: NO },
    {
      says: 'a scope with the name of none',
      state: second,
      message: refresh(1, { scopes: ['undefined'], audience: null }),
      reply: NO,
    },
    { says: 'no scope is not all', state: second, message: refresh(1, { scopes: [], audience: null }), reply: NO },
    { says: 'the same, narrowed', state: asked_less, message: refresh(1, LESS), ...issues(asked_less, LESS) },
    {
      says: 'the same in another order',
      state: both,
      message: refresh(1, { scopes: ['read', 'write'], audience: null }),
      ...issues(both, { scopes: ['read', 'write'], audience: null }),
    },
  ]);
});

type GrantStep =
  | { exchange: Partial<Exchange> }
  | { refresh: number; asked: Narrowing; client_id: string }
  | { use: number }
  | { revoke: Extract<GrantMessage, { type: 'revoke' }>['by'] }
  | { again: 'open' | 'bring_in' | 'view' }
  | { pass: number };

t.test('C-066 an earlier scope name counts as its current one, in a refresh and in its retry', async (t) => {
  const named = (scopes: string[], stage: Partial<LiveStage> = {}): LiveGrant => ({ ...live(stage), scopes });
  const ask = (scopes: string[]): Narrowing => ({ scopes, audience: null });
  const given = named(['suggestions:read', 'turns:read', 'pipelines:write']);
  const last = at(LIFE_MS - 1);
  for (const scopes of [['insights:read'], ['events:read'], ['contacts:read', 'pipelines:experimental']]) {
    const turned = { generation: 2, turned_at_ms: START_MS + LIFE_MS - 1, successor_used: false, asked: ask(scopes) };
    const next = { ...given, stage: { ...given.stage, ...turned } };
    decideRows(t, kind, [
      {
        says: scopes.join(),
        state: given,
        ...last,
        message: refresh(1, ask(scopes)),
        ...{ reply: { grant: next, scopes, audience: 'mcp' }, next },
        effects: [runOutAt(START_MS + 2 * LIFE_MS - 1)],
      },
    ]);
  }
  const wider = { error: 'invalid_scope', error_description: 'turns:write, 1 more: was not granted.' } as const;
  const retried = named(['turns:read', 'insights:read'], {
    ...second.stage,
    asked: ask(['turns:read', 'events:read']),
  });
  decideRows(t, kind, [
    {
      says: 'what no name of it allows',
      state: given,
      message: refresh(1, ask(['turns:write', 'insights:read', 'a"b'])),
      reply: wider,
    },
    {
      says: 'the retry under another name',
      state: retried,
      message: refresh(1, ask(['contacts:read'])),
      reply: { grant: retried, scopes: ['contacts:read'], audience: 'mcp' },
    },
    {
      says: 'the retry for more',
      state: retried,
      message: refresh(1, ask(['turns:read', 'insights:read'])),
      reply: NO,
    },
  ]);
});

const fits = ({ scopes, audience }: Narrowing) =>
  (audience !== 'api' || allowed.audience === 'api') && (scopes ?? []).every((name) => allowed.scopes.includes(name));
const same = (a: Narrowing, b: Narrowing) =>
  a.audience === b.audience &&
  (a.scopes === null || b.scopes === null
    ? a.scopes === b.scopes
    : a.scopes.length === b.scopes.length && a.scopes.every((name) => b.scopes?.includes(name)));

const boundaries_ms = [1, HARMLESS_MS, CODE_MS, RETRY_MS, RETRY_UNUSED_MS, LIFE_MS].flatMap((ms) => [ms - 1, ms]);
const narrowing: fc.Arbitrary<Narrowing> = fc.oneof(
  { weight: 5, arbitrary: fc.constant(ALL) },
  {
    weight: 2,
    arbitrary: fc.record({
      scopes: fc.constantFrom<string[] | null>(
        null,
        ['read'],
        ['read', 'write'],
        ['write', 'read'],
        ['undefined'],
        ['delete'],
        [],
      ),
      audience: fc.constantFrom(null, 'api' as const, 'mcp' as const),
    }),
  },
);
const client_id = fc.constantFrom('app', 'app', 'app', 'app', 'app', 'app', 'other');
const grant_step: fc.Arbitrary<GrantStep> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      exchange: fc.record(
        { client_id, challenge: fc.constantFrom('challenge', 'challenge', 'x'), asked: narrowing },
        { requiredKeys: [] },
      ),
    }),
  },
  {
    weight: 10,
    // How far from the present generation.
    arbitrary: fc.record({ refresh: fc.constantFrom(0, 0, 0, -1, -1, -1, -2, 1, -7), asked: narrowing, client_id }),
  },
  { weight: 5, arbitrary: fc.record({ use: fc.constantFrom(0, 0, -1, -2) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      revoke: fc.constantFrom(
        { client_id: 'other' },
        { account_id: 'b', grants_epoch: 3 },
        { account_id: 'a', grants_epoch: 2 },
        { client_id: 'app' },
        { account_id: 'a', grants_epoch: 3 },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ again: fc.constantFrom('open' as const, 'bring_in' as const, 'view' as const) }),
  },
  { weight: 5, arbitrary: fc.record({ pass: fc.constantFrom(...boundaries_ms.slice(0, 10), 1_000, 20_000) }) },
  { weight: 1, arbitrary: fc.record({ pass: fc.constantFrom(...boundaries_ms) }) },
);
const grant_plays = fc.record({
  by: fc.constantFrom(open, open, open, bring_in),
  steps: fc.array(grant_step, { maxLength: 100, size: 'max' }),
});

t.test(
  'in any play a code is exchanged once, a generation has one successor, and nothing works after the end',
  async (t) => {
    checkPlays(t, { plays: grant_plays, runs: 500 }, ({ by, steps }) => {
      const played = new Played(grant, 'g');
      const began_ms = played.now_ms;
      const had_code = by.type === 'open';
      let exchanged_at_ms: number | null = null;
      let generation = had_code ? 0 : 1; // none before the exchange
      let turned_at_ms = began_ms;
      let is_used = true;
      let asked_then = ALL;
      let is_over = false;
      const end_ms = () => (generation === 0 ? began_ms + CODE_MS : turned_at_ms + LIFE_MS);
      const take = (reply: unknown, asked: Narrowing) => {
        const { grant, scopes, audience } = reply as IssuedGrant;
        if (grant.stage.generation !== generation) throw new Error('tokens of another generation');
        const { stage: _, created_at_ms: __, ...rest } = grant;
        if (!encodeStored(rest).equals(encodeStored(allowed))) throw new Error('another grant');
        if (!fits({ scopes, audience })) throw new Error('more than was granted');
        if (!same({ scopes, audience }, { scopes: asked.scopes ?? allowed.scopes, audience: asked.audience ?? 'mcp' }))
          throw new Error('other tokens than asked for');
      };
      played.send(by);
      for (const step of steps) {
        if ('pass' in step) {
          played.pass(step.pass);
          if (played.now_ms >= end_ms()) is_over = true;
        } else if ('exchange' in step) {
          const message = exchange(step.exchange);
          const is_right = message.client_id === 'app' && message.challenge === 'challenge';
          const is_first = had_code && exchanged_at_ms === null && !is_over;
          const { reply } = played.send(message);
          if (isOauthError(reply) === (is_first && is_right && fits(message.asked)))
            throw new Error(is_first ? 'a first exchange' : 'a second exchange');
          if (!isOauthError(reply)) {
            exchanged_at_ms = turned_at_ms = played.now_ms;
            generation = 1;
            take(reply, message.asked);
          } else if (is_right && exchanged_at_ms !== null && played.now_ms >= exchanged_at_ms + HARMLESS_MS) {
            is_over = true;
          }
        } else if ('refresh' in step) {
          const shown = generation + step.refresh;
          const { asked } = step;
          const { reply } = played.send(refresh(shown, asked, step.client_id));
          const knows = !is_over && generation > 0 && shown >= 1 && shown <= generation && step.client_id === 'app';
          const since_ms = played.now_ms - turned_at_ms;
          const in_time = since_ms < RETRY_MS || (!is_used && since_ms < RETRY_UNUSED_MS);
          const is_retry = shown === generation - 1 && in_time;
          const is_given = knows && (shown === generation ? fits(asked) : is_retry && same(asked, asked_then));
          if (isOauthError(reply) === is_given)
            throw new Error(`refresh with ${shown} of ${generation} is given: ${!is_given}`);
          if (!isOauthError(reply)) {
            if (shown === generation) {
              generation += 1;
              turned_at_ms = played.now_ms;
              is_used = false;
              asked_then = asked;
            }
            take(reply, asked);
          } else if (knows && shown < generation && !is_retry) is_over = true;
        } else if ('use' in step) {
          const shown = generation + step.use;
          const { reply } = played.send(use(shown));
          if (isRefusal(reply) !== (is_over || generation === 0)) throw new Error('an access token');
          if (!isRefusal(reply) && shown === generation) is_used = true;
        } else if ('revoke' in step) {
          const { reply } = played.send({ type: 'revoke', by: step.revoke });
          const may =
            !is_over &&
            ('client_id' in step.revoke
              ? step.revoke.client_id === 'app'
              : generation > 0 && step.revoke.account_id === 'a' && step.revoke.grants_epoch === 3);
          if ((reply as { revoked: boolean }).revoked !== may) throw new Error('revoked');
          if (may) is_over = true;
        } else if (step.again === 'view') {
          if (isRefusal(played.send({ type: 'view' }).reply) !== is_over) throw new Error('viewed');
        } else if (!is_over) {
          // Once over it is not told again: a tell is applied once, and ids are drawn anew.
          const { next } = played.send(step.again === 'open' ? open : bring_in);
          if (next !== undefined) throw new Error('opened twice');
        }

        if ((played.state === null) !== is_over) throw new Error(is_over ? 'the grant goes on' : 'the grant ended');
        const planned_ms = played.reminders.get('run_out')?.at_ms;
        if (planned_ms !== (is_over ? undefined : end_ms())) throw new Error('its end is planned otherwise');
        const listed = played.effects.reduce(
          (count, { effect }) => count + (effect === 'add_to_index' ? 1 : effect === 'remove_from_index' ? -1 : 0),
          0,
        );
        if (listed !== (generation > 0 && !is_over ? 1 : 0)) throw new Error(`listed ${listed} times`);
      }
    });
  },
);

t.test('an erased grant leaves the list that names it, whether it was there or not', async (t) => {
  const message: GrantMessage = { type: 'erase', account_id: 'a', list: 'grants:1' };
  const effects: Effect[] = [
    { effect: 'cancel_reminder', name: 'run_out' },
    { effect: 'remove_from_index', owner: 'a', index: 'grants:1', member: 'g' },
    { effect: 'delete' },
  ];
  decideRows(
    t,
    kind,
    [live(), null].map((state) => ({
      says: state === null ? 'gone' : 'live',
      state,
      message,
      reply: { done: true },
      next: null,
      effects,
    })),
  );
});
