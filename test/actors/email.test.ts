import fc from 'fast-check';
import t from 'tap';
import type { Effect } from '../../actors/actor.js';
import { type Email, type EmailMessage, email } from '../../actors/email.js';
import { encodeStored } from '../../src/store/codec.js';
import { LIMITS } from '../../src/vocabulary/limits.js';
import { isRefusal } from '../../src/vocabulary/refusals.js';
import { checkPlays, decideRows, Played, START_MS } from '../fixtures/deciding.js';

const ADDRESS = 'ann@x.test';
const kind = { kind: email, self: ADDRESS };
const LIFE_MS = LIMITS.code_life_ms;
const NETWORKS = ['203.0.113.1', '203.0.113.2', '2001:db8::/64'] as const;
/** No name that a network has, but nothing here may depend on that. */
const HOSTILE = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', ''] as const;
const drawn = { account_id: 'a', workspace_id: 'w' };
const sealed = new Uint8Array([1, 2, 3]);

const send = (code: string, network: string = NETWORKS[0]): EmailMessage => ({
  type: 'send_code',
  network,
  code_hash: code,
  key_id: 'k',
  mail_id: `mail ${code}`,
  sealed,
});
const tryCode = (code: string, network: string = NETWORKS[0]): EmailMessage => ({
  type: 'verify_code',
  network,
  hashes: { k: code, other: 'x' },
  email: ADDRESS,
  account: drawn,
});
const mail = (code: string, sent_at_ms: number): Effect => ({
  effect: 'mail',
  mail_id: `mail ${code}`,
  sealed,
  give_up_at_ms: sent_at_ms + LIFE_MS,
});
const forgetLater = (sent_at_ms: number): Effect => ({
  effect: 'remind',
  name: 'unused',
  at_ms: sent_at_ms + LIMITS.email_unused_life_ms,
  message: { type: 'forget_unused' },
});
const create: Effect = {
  effect: 'tell',
  to: { kind: 'account', id: 'a' },
  message: { type: 'create', email: ADDRESS, workspace_id: 'w' },
};
const WRONG = { refused: 'UNAUTHORIZED' } as const;
const SIGNED_IN = { account_id: 'a', verified_at_ms: START_MS };

/** An address after these messages, all at START_MS. */
function after(...messages: EmailMessage[]): Email {
  const played = new Played(email, ADDRESS);
  for (const message of messages) played.send(message);
  return played.state as Email;
}

/** Whether this code would sign in from this network now. */
function opens(played: Played<Email, EmailMessage, unknown>, code: string, network: string): boolean {
  return !isRefusal(played.decide(tryCode(code, network)).reply);
}

t.test('A-011 A-013 A-014 A-015 a code signs in once, and makes an account once', async (t) => {
  const one_code = after(send('1'));
  const known: Email = { ...one_code, account_id: 'b' };
  decideRows(t, kind, [
    { says: 'no code was sent', state: null, message: tryCode('1'), reply: WRONG },
    {
      says: 'the right code',
      state: one_code,
      message: tryCode('1'),
      reply: SIGNED_IN,
      next: { ...one_code, codes: [], account_id: 'a' },
      effects: [create, { effect: 'forget', name: 'unused' }],
    },
    {
      says: 'the account is known',
      state: known,
      message: tryCode('1'),
      reply: { ...SIGNED_IN, account_id: 'b' },
      next: { ...known, codes: [] },
    },
    { says: 'used', state: { ...one_code, codes: [], account_id: 'a' }, message: tryCode('1'), reply: WRONG },
    {
      says: 'hashed with another key',
      state: one_code,
      message: { ...tryCode('1'), hashes: { other: '1' } } as EmailMessage,
      reply: WRONG,
      next: after(send('1'), tryCode('x')),
    },
    { says: 'view: unknown', state: null, message: { type: 'view' }, reply: { account_id: null } },
    { says: 'view: known', state: known, message: { type: 'view' }, reply: { account_id: 'b' } },
  ]);
});

t.test('A-012 a code lives ten minutes', async (t) => {
  const state = after(send('1'));
  const played = new Played(email, ADDRESS);
  played.send(send('1'));
  played.pass(LIFE_MS - 1);
  t.ok(opens(played, '1', NETWORKS[0]), 'a millisecond before its end');
  played.pass(1);
  t.notOk(opens(played, '1', NETWORKS[0]), 'at its end');
  decideRows(t, kind, [
    { says: 'a try then changes nothing', state, now_ms: START_MS + LIFE_MS, message: tryCode('1'), reply: WRONG },
  ]);
});

t.test('A-011 the last three codes are valid, and the one that succeeds ends the others', async (t) => {
  const played = new Played(email, ADDRESS);
  for (const code of ['1', '2', '3', '4']) played.send(send(code));
  const valid = () => ['1', '2', '3', '4'].filter((code) => opens(played, code, NETWORKS[0]));
  t.same(valid(), ['2', '3', '4']);
  played.ask(tryCode('3'));
  t.same(valid(), []);
});

t.test('A-012 five wrong codes end the codes for their network, fifty for all', async (t) => {
  for (const network of [NETWORKS[0], ...HOSTILE]) {
    const played = new Played(email, ADDRESS);
    played.send(send('1'));
    for (let tries = 1; tries <= LIMITS.code_wrong_per_network_max; tries++) {
      t.ok(opens(played, '1', network), `${network}: before wrong try ${tries}`);
      t.match(played.send(tryCode('x', network)).reply, WRONG);
    }
    t.notOk(opens(played, '1', network), `${network}: after five`);
    t.equal(played.decide(tryCode('x', network)).next, undefined, 'more tries are not kept');
    t.ok(opens(played, '1', 'elsewhere'), 'another network is not locked out');
    played.send(send('2', 'elsewhere'));
    t.ok(opens(played, '2', network), 'a new code has tries of its own');
    t.notOk(opens(played, '1', network));
  }
  const played = new Played(email, ADDRESS);
  played.send(send('1'));
  for (let tries = 0; tries < LIMITS.code_wrong_total_max; tries++) {
    t.ok(opens(played, '1', 'elsewhere'), `after ${tries} wrong tries from anywhere`);
    played.send(tryCode('x', `network ${tries}`));
  }
  t.notOk(opens(played, '1', 'elsewhere'), 'after fifty');
});

t.test('codes sent have a budget, and over it the answer is that nothing was sent', async (t) => {
  for (const network of [NETWORKS[0], ...HOSTILE]) {
    const sends = Array.from({ length: LIMITS.codes_sent_per_network_max }, (_, index) => send(String(index), network));
    const full = after(...sends);
    const later_ms = START_MS + LIMITS.codes_sent_window_ms;
    const fresh = new Played(email, ADDRESS);
    fresh.now_ms = later_ms;
    fresh.send(send('n', network));
    decideRows(t, kind, [
      { says: `${network}: the sixth`, state: full, message: send('n', network), reply: { sent: false } },
      {
        says: 'a millisecond before the window ends',
        state: full,
        now_ms: later_ms - 1,
        message: send('n', network),
        reply: { sent: false },
      },
      {
        says: 'at its end',
        state: full,
        now_ms: later_ms,
        message: send('n', network),
        reply: { sent: true },
        next: fresh.state,
        effects: [mail('n', later_ms), forgetLater(later_ms)],
      },
    ]);
    t.ok(
      after(...sends, send('n', 'elsewhere')).codes.some(({ hash }) => hash === 'n'),
      'another network has its own',
    );
  }
  const all = Array.from({ length: LIMITS.codes_sent_per_email_max }, (_, index) =>
    send(String(index), `network ${index}`),
  );
  const full = after(...all);
  decideRows(t, kind, [
    { says: 'all networks together', state: full, message: send('n', 'elsewhere'), reply: { sent: false } },
    {
      says: 'one before',
      state: after(...all.slice(1)),
      message: send('n', 'elsewhere'),
      reply: { sent: true },
      next: after(...all.slice(1), send('n', 'elsewhere')),
      effects: [mail('n', START_MS), forgetLater(START_MS)],
    },
  ]);
  const known = { ...after(send('1')), account_id: 'a' };
  t.same(new Played(email, ADDRESS).decide(send('1')).effects, [mail('1', START_MS), forgetLater(START_MS)]);
  const played = new Played(email, ADDRESS);
  played.state = known;
  t.same(played.decide(send('2')).effects, [mail('2', START_MS)], 'an address with an account is kept');
});

t.test('an address that nobody signed in with is forgotten', async (t) => {
  const message: EmailMessage = { type: 'forget_unused' };
  const state = after(send('1'));
  const end_ms = START_MS + LIFE_MS;
  decideRows(t, kind, [
    { says: 'none', state: null, message, reply: { forgotten: true }, next: null },
    {
      says: 'a code lives',
      state,
      now_ms: end_ms - 1,
      message,
      reply: { forgotten: false },
      effects: [forgetLater(end_ms - 1)],
    },
    { says: 'none lives', state, now_ms: end_ms, message, reply: { forgotten: true }, next: null },
    { says: 'an account', state: { ...state, account_id: 'a' }, now_ms: end_ms, message, reply: { forgotten: false } },
  ]);
  const played = new Played(email, ADDRESS);
  played.send(send('1'));
  played.pass(LIMITS.email_unused_life_ms - 1);
  played.send(send('2'));
  played.pass(LIMITS.email_unused_life_ms - 1);
  t.not(played.state, null);
  played.pass(1);
  t.equal(played.state, null);
});

type EmailStep =
  | { send: string }
  | { wrong: string; times: number }
  | { right: string; sent_ago: number }
  | { pass: number };

t.test(
  'A-011 A-012 A-013 in any play no code is guessed at too often, and a right one within its life signs in',
  async (t) => {
    const network = fc.oneof(
      fc.constantFrom(...NETWORKS, ...HOSTILE),
      fc.integer({ min: 1, max: 60 }).map((n) => `net ${n}`),
    );
    const step: fc.Arbitrary<EmailStep> = fc.oneof(
      { weight: 4, arbitrary: fc.record({ send: network }) },
      { weight: 8, arbitrary: fc.record({ wrong: network, times: fc.integer({ min: 1, max: 7 }) }) },
      { weight: 1, arbitrary: fc.record({ right: network, sent_ago: fc.integer({ min: 0, max: 4 }) }) },
      { weight: 2, arbitrary: fc.record({ pass: fc.constantFrom(1, 60_000, LIFE_MS / 2, LIFE_MS - 1, LIFE_MS) }) },
      { weight: 1, arbitrary: fc.record({ pass: fc.constant(LIMITS.email_unused_life_ms) }) },
    );
    const plays = fc.array(step, { maxLength: 80, size: 'max' });
    checkPlays(t, { plays, runs: 300 }, (steps) => {
      const played = new Played(email, ADDRESS);
      /** What a code has met, newest first. */
      type Sent = {
        code: string;
        network: string;
        at_ms: number;
        ended: boolean;
        guesses: Map<string, number>;
        total: number;
      };
      const sent: Sent[] = [];
      const isDue = (one: Sent, from: string) =>
        !one.ended &&
        sent.indexOf(one) < LIMITS.codes_alive_max &&
        played.now_ms < one.at_ms + LIFE_MS &&
        (one.guesses.get(from) ?? 0) < LIMITS.code_wrong_per_network_max &&
        one.total < LIMITS.code_wrong_total_max;
      const compare = (from: string) => {
        for (const one of sent.slice(0, 5)) {
          if (opens(played, one.code, from) !== isDue(one, from))
            throw new Error(`${from}: code ${one.code} ${isDue(one, from) ? 'does not open' : 'opens'}`);
        }
      };
      let accounts = 0;
      for (const step of steps) {
        if ('pass' in step) played.pass(step.pass);
        else if ('send' in step) {
          const code = String(sent.length);
          const { reply } = played.send(send(code, step.send));
          if (!('sent' in reply)) throw new Error('a send is answered');
          if (reply.sent)
            sent.unshift({
              code,
              network: step.send,
              at_ms: played.now_ms,
              ended: false,
              guesses: new Map(),
              total: 0,
            });
          // Two windows can touch a span as long as one.
          const lately = sent.filter(({ at_ms }) => at_ms > played.now_ms - LIMITS.codes_sent_window_ms);
          if (lately.length > 2 * LIMITS.codes_sent_per_email_max) throw new Error('too many sent');
          const here = lately.filter(({ network }) => network === step.send);
          if (here.length > 2 * LIMITS.codes_sent_per_network_max) throw new Error('too many sent to a network');
          if (
            !reply.sent &&
            here.length < LIMITS.codes_sent_per_network_max &&
            lately.length < LIMITS.codes_sent_per_email_max
          )
            throw new Error('refused within the budget');
        } else if ('wrong' in step) {
          for (let tries = 0; tries < step.times; tries++) {
            for (const one of sent) {
              if (!opens(played, one.code, step.wrong)) continue; // this guess was no guess at it
              one.guesses.set(step.wrong, (one.guesses.get(step.wrong) ?? 0) + 1);
              one.total += 1;
              if ((one.guesses.get(step.wrong) ?? 0) > LIMITS.code_wrong_per_network_max)
                throw new Error('guessed too often from a network');
              if (one.total > LIMITS.code_wrong_total_max) throw new Error('guessed too often');
            }
            if (!isRefusal(played.send(tryCode('x', step.wrong)).reply)) throw new Error('a wrong code opens');
          }
          compare(step.wrong);
        } else {
          compare(step.right);
          const one = sent[step.sent_ago];
          if (one === undefined) continue;
          const due = isDue(one, step.right);
          if (!due) {
            for (const other of sent.filter((other) => isDue(other, step.right))) {
              other.guesses.set(step.right, (other.guesses.get(step.right) ?? 0) + 1);
              other.total += 1;
            }
          }
          const { reply } = played.send(tryCode(one.code, step.right));
          if (isRefusal(reply) === due) throw new Error('a right code is refused');
          if (due) for (const other of sent) other.ended = true;
        }
        compare('elsewhere');
        accounts = played.effects.filter(({ effect }) => effect === 'tell').length;
        if (accounts > 1) throw new Error('a second account');
        if (encodeStored(played.state).length > 8_000)
          throw new Error(`a state of ${encodeStored(played.state).length} bytes`);
      }
    });
  },
);
