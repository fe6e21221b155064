import fc from 'fast-check';
import t from 'tap';
import { type AccountMessage, account } from '../../../actors/accounts/account.js';
import type { Account } from '../../../actors/accounts/account_state.js';
import type { Effect, RepliesOf } from '../../../actors/actor.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { ANN, told } from '../../fixtures/account_state.js';
import { anyPlay, checkPlays, decideRows, Played, type Row, START_MS } from '../../fixtures/decisions.js';

const kind = { kind: account, self: 'a' };
const DONE = { done: true } as const;
const endpoint = { url: 'https://x.test/', topics: ['account.updated' as const], sealed_secret: new Uint8Array([1]) };
const add = (endpoint_id: string): AccountMessage => ({ type: 'add_endpoint', endpoint_id, endpoint });
const remove = (endpoint_id: string): AccountMessage => ({ type: 'remove_endpoint', endpoint_id });
const having = (count: number): Account => ({ ...ANN, endpoints: Array.from({ length: count }, (_, at) => `e${at}`) });
const MAX = LIMITS.endpoints_per_account_max;
const TOO_MANY = new RegExp(`at most ${MAX} endpoints`);
const full = having(MAX);
const restored: Account = { ...ANN, epochs: { ...ANN.epochs, account: 3 } };

const adds = (
  state: Account,
  account_epoch: number,
): Pick<Row<Account, AccountMessage, RepliesOf<typeof account>>, 'reply' | 'next' | 'effects'> => ({
  reply: { created_at_ms: START_MS },
  next: { ...state, endpoints: [...state.endpoints, 'new'] },
  effects: [
    {
      effect: 'subscribe',
      account_id: 'a',
      endpoint_id: 'new',
      subscription: { topics: ['account.updated'], enablement: 1 },
    },
    told('endpoint', 'new', {
      type: 'create',
      endpoint: { ...endpoint, account_id: 'a', created_at_ms: START_MS },
      account_epoch,
    }),
  ],
});
const removes = (endpoint_id: string): Effect[] => [
  { effect: 'unsubscribe', account_id: 'a', endpoint_id },
  told('endpoint', endpoint_id, { type: 'remove' }),
];

t.test('F-001 F-002 F-018 F-032 an account keeps its endpoints, and subscribes them with the commit', async (t) => {
  decideRows<Account, AccountMessage, RepliesOf<typeof account>>(t, kind, [
    { says: 'the first', state: ANN, message: add('new'), ...adds(ANN, 0) },
    { says: 'under the present life', state: restored, message: add('new'), ...adds(restored, 3) },
    { says: 'the last', state: having(MAX - 1), message: add('new'), ...adds(having(MAX - 1), 0) },
    { says: 'one too many', state: full, message: add('new'), reply: { refused: 'CONFLICT', message: TOO_MANY } },
    {
      says: 'removed',
      state: having(3),
      message: remove('e1'),
      reply: DONE,
      next: { ...ANN, endpoints: ['e0', 'e2'] },
      effects: removes('e1'),
    },
    { says: 'removed again', state: ANN, message: remove('e1'), reply: { refused: 'NOT_FOUND' } },
    { says: "somebody else's", state: having(3), message: remove('e9'), reply: { refused: 'NOT_FOUND' } },
    { says: 'no account', state: null, message: add('new'), reply: { refused: 'UNAUTHORIZED' } },
  ]);
});

t.test('F-018 F-032 F-034 F-037 F-040 in any play those are subscribed that the account has', async (t) => {
  const mail = { mail_id: 'm', sealed: new Uint8Array() };
  const message = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('x', 'y', 'z').map(remove) },
    { weight: 6, arbitrary: fc.nat(99).map((number) => ({ add: number })) },
    {
      weight: 3,
      arbitrary: fc.constantFrom<AccountMessage>({ type: 'delete', mail }, { type: 'restore' }, { type: 'erased' }),
    },
  );
  const plays = anyPlay<AccountMessage | { add: number }>(message, [1, LIMITS.erase_after_ms]);
  checkPlays(t, { plays, runs: 200 }, (steps) => {
    const played = new Played(account, 'a');
    played.state = ANN;
    let subscribed = new Set<string>();
    let open = true;
    let done = 0;
    for (const [index, step] of steps.entries()) {
      if ('pass' in step) played.pass(step.pass);
      else {
        // Those that are there are removed, and nothing is asked of an account that is gone.
        const { endpoints, phase } = played.state;
        const chosen = endpoints[index % Math.max(1, endpoints.length)] ?? 'none';
        const is_for_owner = 'add' in step.send || step.send.type === 'remove_endpoint' || step.send.type === 'delete';
        if (is_for_owner && phase.status !== 'active') continue;
        if ('add' in step.send) played.send(add(`n${index}`));
        else if (step.send.type !== 'remove_endpoint') played.send(step.send);
        else if (isRefusal(played.send(remove(chosen)).reply) !== !endpoints.includes(chosen))
          throw new Error('removed what is not there, or not what is');
      }
      for (const effect of played.effects.slice(done)) {
        if (effect.effect === 'subscribe') subscribed.add(effect.endpoint_id);
        if (effect.effect === 'unsubscribe') subscribed.delete(effect.endpoint_id);
        if (effect.effect === 'set_subscriptions') open = effect.become !== 'closed';
        if (effect.effect === 'set_subscriptions' && effect.become === 'gone') subscribed = new Set();
        if (effect.effect === 'append_event' && effect.type === 'account.restored' && !open)
          throw new Error('nobody hears of it');
        if (effect.effect === 'append_event' && effect.type === 'account.deleted' && open)
          throw new Error('it is delivered');
      }
      done = played.effects.length;
      const { endpoints, phase } = played.state;
      if (open !== (phase.status !== 'deleted'))
        throw new Error(`${phase.status}, and subscriptions are open: ${open}`);
      if ([...subscribed].sort().join() !== [...endpoints].sort().join()) throw new Error('others are subscribed');
    }
  });
});
