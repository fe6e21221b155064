import fc from 'fast-check';
import t from 'tap';
import { type AccountMessage, account } from '../../../actors/accounts/account.js';
import type { Account, LivingToken } from '../../../actors/accounts/account_state.js';
import type { Effect } from '../../../actors/actor.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { ANN, raised, told } from '../../fixtures/account_state.js';
import { anyPlay, checkPlays, decideRows, Played, START_MS } from '../../fixtures/decisions.js';

const kind = { kind: account, self: 'a' };
const DONE = { done: true } as const;
const END_MS = START_MS + 3_600_000;
const token = (id: string, expires_at_ms: number | null = null): LivingToken => ({
  id,
  last_four: `l-${id}`,
  created_at_ms: START_MS,
  expires_at_ms,
});
const add = (id: string, expires_at_ms: number | null = null) => ({
  type: 'add_token' as const,
  token_id: id,
  token: {
    name: 'Backup',
    permissions: ['turns:read' as const],
    last_four: `l-${id}`,
    expires_at_ms,
    secret_hash: `hash of ${id}`,
  },
});
const event = (id: string, type: 'created' | 'revoked', data: Record<string, unknown>): Effect => ({
  effect: 'append_event',
  account_id: 'a',
  type: `personal_access_token.${type}`,
  resource_id: id,
  data,
});
const ended = (id: string): Effect => told('personal_access_token', id, { type: 'end' });
const with_epochs: Account = { ...ANN, epochs: { account: 2, app_sessions: 3, grants: 4, tokens: 5 } };

t.test('B-018 B-020 a token is added, with an event that says nothing of its value or name', async (t) => {
  const opened = (id: string, expires_at_ms: number | null): Effect =>
    told('personal_access_token', id, {
      type: 'open',
      token: {
        ...add(id, expires_at_ms).token,
        account_id: 'a',
        created_at_ms: START_MS,
        issued_under: { account: 2, tokens: 5 },
      },
    });
  const full = {
    ...ANN,
    tokens: Array.from({ length: LIMITS.tokens_per_account_max }, (_, at) => token(`t${at}`, at === 0 ? END_MS : null)),
  };
  decideRows(t, kind, [
    {
      says: 'for ever',
      state: with_epochs,
      message: add('p'),
      reply: { created_at_ms: START_MS },
      next: { ...with_epochs, tokens: [token('p')] },
      effects: [event('p', 'created', { last_four: 'l-p', expires_at: null }), opened('p', null)],
    },
    {
      says: 'for an hour, beside another',
      state: { ...with_epochs, tokens: [token('p')] },
      message: add('q', END_MS),
      reply: { created_at_ms: START_MS },
      next: { ...with_epochs, tokens: [token('p'), token('q', END_MS)] },
      effects: [
        event('q', 'created', { last_four: 'l-q', expires_at: new Date(END_MS).toISOString() }),
        opened('q', END_MS),
      ],
    },
    { says: 'again', state: full, now_ms: START_MS + 1, message: add('t7'), reply: { created_at_ms: START_MS } },
    { says: 'one too many', state: full, now_ms: END_MS - 1, message: add('p'), reply: { refused: 'CONFLICT' } },
  ]);
  const played = new Played(account, 'a');
  played.state = full;
  played.now_ms = END_MS;
  played.ask(add('p'));
  t.equal(played.state?.tokens.length, LIMITS.tokens_per_account_max, 'one that has expired makes room');
});

t.test('B-004 B-019 B-024 D-022 tokens are revoked, each with an event of its own', async (t) => {
  const some = { ...ANN, tokens: [token('p'), token('q', END_MS), token('r', END_MS + 1)] };
  const revoke = (token_id: string): AccountMessage => ({ type: 'revoke_token', token_id });
  const revoked = (id: string, reason: string, expires_at_ms: number | null = null): Effect[] => {
    const expires_at = expires_at_ms === null ? null : new Date(expires_at_ms).toISOString();
    return [event(id, 'revoked', { last_four: `l-${id}`, expires_at, reason }), ended(id)];
  };
  const after = { ...some, tokens: [], epochs: { ...some.epochs, grants: 1, tokens: 1 } };
  decideRows(t, kind, [
    { says: 'none', state: some, message: revoke('x'), reply: { refused: 'NOT_FOUND' } },
    {
      says: 'one that has expired',
      state: some,
      now_ms: END_MS,
      message: revoke('q'),
      reply: { refused: 'NOT_FOUND' },
    },
    {
      says: 'one',
      state: some,
      message: revoke('q'),
      reply: DONE,
      next: { ...some, tokens: [token('p'), token('r', END_MS + 1)] },
      effects: revoked('q', 'user', END_MS),
    },
    { says: 'again', state: { ...some, tokens: [token('p')] }, message: revoke('q'), reply: { refused: 'NOT_FOUND' } },
    {
      says: 'all that live, by signing out everywhere',
      state: some,
      now_ms: END_MS,
      message: { type: 'sign_out_everywhere', app_sessions: false },
      reply: DONE,
      next: after,
      effects: [
        raised('grants'),
        raised('tokens'),
        ...revoked('p', 'sign_out_everywhere'),
        ...revoked('r', 'sign_out_everywhere', END_MS + 1),
      ],
    },
  ]);
});

t.test('B-018 B-019 in any play every token that was opened is listed or was ended, once', async (t) => {
  const id = fc.constantFrom('p', 'q', 'r', 's', 't');
  const message: fc.Arbitrary<AccountMessage> = fc.oneof(
    { weight: 4, arbitrary: fc.tuple(id, fc.constantFrom(null, END_MS)).map(([of, until]) => add(of, until)) },
    { weight: 2, arbitrary: id.map((token_id) => ({ type: 'revoke_token' as const, token_id })) },
    fc.constant<AccountMessage>({ type: 'sign_out_everywhere', app_sessions: true }),
    fc.constant<AccountMessage>({ type: 'delete', mail: { mail_id: 'm', sealed: new Uint8Array() } }),
    fc.constant<AccountMessage>({ type: 'restore' }),
  );
  checkPlays(t, { plays: anyPlay(message, [1, 1_800_000]), runs: 200 }, (steps) => {
    const played = new Played(account, 'a');
    played.state = ANN;
    for (const step of steps) {
      if ('pass' in step) {
        played.pass(step.pass);
        continue;
      }
      // A route's commit would be refused: the life that its credential was born under is over.
      if (step.send.type === 'add_token' && played.state?.phase.status !== 'active') continue;
      played.send(step.send);
      const counts = new Map<string, number>();
      const count = (of: string) => counts.set(of, (counts.get(of) ?? 0) + 1);
      for (const effect of played.effects) {
        if (effect.effect === 'notify') count(`${(effect.message as { type: string }).type} ${effect.to.id}`);
        if (effect.effect === 'append_event') count(`${effect.type} ${effect.resource_id}`);
      }
      for (const of of ['p', 'q', 'r', 's', 't']) {
        const [opens, ends] = [counts.get(`open ${of}`) ?? 0, counts.get(`end ${of}`) ?? 0];
        if (opens !== (counts.get(`personal_access_token.created ${of}`) ?? 0)) throw new Error('created otherwise');
        if (ends !== (counts.get(`personal_access_token.revoked ${of}`) ?? 0)) throw new Error('revoked otherwise');
        const listed = (played.state?.tokens ?? []).filter((living) => living.id === of);
        if (listed.length > 1) throw new Error('listed twice');
        const expired = played.now_ms >= END_MS;
        if (!expired && opens - ends !== listed.length) throw new Error('neither listed nor ended');
      }
    }
  });
});
