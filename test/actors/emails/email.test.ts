import fc from 'fast-check';
import t from 'tap';
import type { Effect } from '../../../actors/actor.js';
import { type Email, type EmailMessage, email } from '../../../actors/emails/email.js';
import { authSession } from '../../../actors/oauth/auth_session.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { encodeStored } from '../../../src/engine/store/codec.js';
import { anyPlay, checkPlays, decideRows, Played, START_MS } from '../../fixtures/decisions.js';

const ADDRESS = 'ann@x.test';
const kind = { kind: email, self: ADDRESS };
const LIFE_MS = LIMITS.code_life_ms;
const NETWORKS = ['203.0.113.1', '203.0.113.2', '2001:db8::/64'] as const;
/** No name that a network has, but nothing here may depend on that. */
const HOSTILE = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', ''] as const;
const drawn = { account_id: 'a' };
const sealed = new Uint8Array([1, 2, 3]);

const send = (code: string, network: string = NETWORKS[0]): EmailMessage => ({
  type: 'send_code',
  network,
  budgeted: true,
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
  effect: 'enqueue_mail',
  mail_id: `mail ${code}`,
  sealed,
  give_up_at_ms: sent_at_ms + LIFE_MS,
});
const forgetLater = (sent_at_ms: number): Effect => ({
  effect: 'schedule_reminder',
  name: 'unused',
  at_ms: sent_at_ms + LIMITS.email_unused_life_ms,
  message: { type: 'forget_unused' },
});
const create: Effect = {
  effect: 'notify',
  to: { kind: 'account', id: 'a' },
  message: { type: 'create', email: ADDRESS },
};
const FORGET: Effect = { effect: 'cancel_reminder', name: 'unused' };
/** As the first of the networks is kept. */
const HERE = `network ${NETWORKS[0]}`;
const WRONG = { refused: 'UNAUTHORIZED' } as const;
/** Sends from the start of the plays on. */
const FRESH: Email['window'] = { began_ms: START_MS, sent: {}, total: 0 };
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
      next: { ...one_code, window: FRESH, codes: [], account_id: 'a', networks: [HERE] },
      effects: [create, FORGET],
    },
    {
      says: 'the account is known',
      state: known,
      message: tryCode('1'),
      reply: { ...SIGNED_IN, account_id: 'b' },
      next: { ...known, window: FRESH, codes: [], networks: [HERE] },
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
      { says: `${network}: one too many`, state: full, message: send('n', network), reply: { sent: false } },
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
        next: { ...(fresh.state as Email), day: full.day },
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

t.test('a sign-in refills the budgets of sends, of its network and of all', async (t) => {
  const [here, there] = NETWORKS;
  const per_network = LIMITS.codes_sent_per_network_max;
  const played = new Played(email, ADDRESS);
  for (let sent = 0; sent < per_network; sent++) played.send(send(String(sent), here));
  t.match(played.decide(send('n', here)).reply, { sent: false });
  played.send(tryCode(String(per_network - 1), here));
  t.same(played.state?.window, FRESH, 'by a code of the address');
  for (let round = 0; round < 3 * per_network; round++) {
    t.match(played.send(takeSend(there)).reply, { sent: true }, `sign-in ${round}`);
    played.send(enter(there));
  }
  t.same(played.state?.window, FRESH, 'by a code of a sign-in');
  for (let sent = 0; sent < LIMITS.codes_sent_per_email_max; sent++) played.send(takeSend(`far ${sent}`));
  t.match(played.decide(takeSend('elsewhere')).reply, { sent: false });
  t.match(played.decide(enter(null)).next?.window, { total: LIMITS.codes_sent_per_email_max }, 'staff sign nobody in');
  played.send(enter(here));
  t.match(played.decide(takeSend('elsewhere')).reply, { sent: true });
});

t.test('a send that is not budgeted is not counted either; wrong tries are all the same', async (t) => {
  const [network] = NETWORKS;
  const sends = Array.from({ length: LIMITS.codes_sent_per_network_max }, (_, index) => send(String(index), network));
  const played = new Played(email, ADDRESS);
  for (const message of sends) played.send(message);
  const { window } = played.state as Email;
  for (const message of [send('n', network), takeSend(network)]) {
    t.match(played.send({ ...message, budgeted: false } as EmailMessage).reply, { sent: true });
  }
  t.same(played.state?.window, window);
  for (let tries = 0; tries < LIMITS.code_wrong_per_network_max; tries++) played.send(tryCode('x', network));
  t.match(played.send(tryCode('n', network)).reply, WRONG);
});

t.test('an address that nobody signed in with is forgotten', async (t) => {
  const message: EmailMessage = { type: 'forget_unused' };
  const state = after(send('1'));
  const end_ms = START_MS + LIFE_MS;
  decideRows(t, kind, [
    { says: 'none', state: null, message, reply: { forgotten: true }, next: null },
    {
      says: 'a code epochs',
      state,
      now_ms: end_ms - 1,
      message,
      reply: { forgotten: false },
      effects: [forgetLater(end_ms - 1)],
    },
    { says: 'none epochs', state, now_ms: end_ms, message, reply: { forgotten: true }, next: null },
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

const DAY_MS = LIMITS.code_wrong_window_ms;
const PER_DAY = LIMITS.code_wrong_per_day_max;
const takeSend = (network: string): EmailMessage => ({ type: 'take_send', network, budgeted: true });
const mayTry = (network: string): EmailMessage => ({ type: 'may_try', network });
const wrongTry = (network: string): EmailMessage => ({ type: 'wrong_try', network });
const enter = (network: string | null): EmailMessage => ({ type: 'enter', network, email: ADDRESS, account: drawn });

t.test('a sign-in that keeps its code itself takes from the same budget of sends', async (t) => {
  const [network] = NETWORKS;
  const takes = Array.from({ length: LIMITS.codes_sent_per_network_max }, () => takeSend(network));
  const one = after(takeSend(network));
  const sends = Array.from({ length: LIMITS.codes_sent_per_email_max }, (_, index) => takeSend(`network ${index}`));
  const end_ms = START_MS + LIMITS.codes_sent_window_ms;
  const SENT = { reply: { sent: true } };
  const NOT = { reply: { sent: false } };
  decideRows(t, kind, [
    {
      says: 'the first: the address is forgotten later',
      state: null,
      message: takeSend(network),
      ...SENT,
      next: { ...after(send('1', network)), codes: [] },
      effects: [forgetLater(START_MS)],
    },
    {
      says: 'of an account',
      state: { ...one, account_id: 'a' },
      message: takeSend(network),
      ...SENT,
      next: { ...after(takeSend(network), takeSend(network)), account_id: 'a' },
    },
    {
      says: 'strangers have used up what they share: a network that somebody had signed in from has its own',
      state: { ...after(...sends), networks: [`network ${network}`] },
      message: takeSend(network),
      ...SENT,
      next: {
        ...after(...sends),
        networks: [`network ${network}`],
        window: { ...after(...sends).window, sent: { ...after(...sends).window.sent, [`network ${network}`]: 1 } },
      },
      effects: [forgetLater(START_MS)],
    },
    { says: 'one too many from a network', state: after(...takes), message: takeSend(network), ...NOT },
    { says: 'nor is a code sent', state: after(...takes), message: send('1', network), ...NOT },
    { says: 'before the window ends', state: after(...takes), now_ms: end_ms - 1, message: takeSend(network), ...NOT },
    {
      says: 'at its end',
      state: after(...takes),
      now_ms: end_ms,
      message: takeSend(network),
      ...SENT,
      next: { ...one, window: { ...one.window, began_ms: end_ms } },
      effects: [forgetLater(end_ms)],
    },
    { says: 'one too many from all', state: after(...sends), message: takeSend('elsewhere'), ...NOT },
    {
      says: 'the last from all',
      state: after(...sends.slice(1)),
      message: takeSend('elsewhere'),
      ...SENT,
      next: after(...sends.slice(1), takeSend('elsewhere')),
      effects: [forgetLater(START_MS)],
    },
  ]);
});

t.test('wrong tries of a day are counted over all sign-ins, those of known networks apart', async (t) => {
  const day = (wrong: Record<string, number>, began_ms = START_MS): Pick<Email, 'day'> => ({
    day: { began_ms, wrong },
  });
  const state: Email = { ...after(takeSend(NETWORKS[0])), networks: [HERE] };
  const full: Email = { ...state, ...day({ strangers: PER_DAY }) };
  const full_here: Email = { ...state, ...day({ [HERE]: PER_DAY }) };
  const almost: Email = { ...state, ...day({ strangers: PER_DAY - 1 }) };
  const end_ms = START_MS + DAY_MS;
  const MAY = { reply: { allowed: true } };
  const NOT = { reply: { allowed: false } };
  decideRows(t, kind, [
    { says: 'an unknown address may be tried', state: null, message: mayTry('far'), ...MAY },
    { says: 'and is not made by it', state: null, message: wrongTry('far'), ...MAY },
    { says: 'a stranger', state, message: wrongTry('far'), ...MAY, next: { ...state, ...day({ strangers: 1 }) } },
    {
      says: 'a known network',
      state,
      message: wrongTry(NETWORKS[0]),
      ...MAY,
      next: { ...state, ...day({ [HERE]: 1 }) },
    },
    { says: 'the last of the day', state: almost, message: mayTry('far'), ...MAY },
    { says: 'is counted', state: almost, message: wrongTry('far'), ...MAY, next: full },
    { says: 'none is left', state: full, message: mayTry('far'), ...NOT },
    { says: 'and no more are counted', state: full, message: wrongTry('far'), ...NOT },
    { says: 'a known network has its own', state: full, message: mayTry(NETWORKS[0]), ...MAY },
    { says: 'which can be used up too', state: full_here, message: mayTry(NETWORKS[0]), ...NOT },
    { says: 'by nobody elsewhere', state: full_here, message: mayTry('far'), ...MAY },
    { says: 'a millisecond before the day ends', state: full, now_ms: end_ms - 1, message: mayTry('far'), ...NOT },
    { says: 'at its end', state: full, now_ms: end_ms, message: mayTry('far'), ...MAY },
    {
      says: 'another day begins',
      state: full,
      now_ms: end_ms,
      message: wrongTry('far'),
      ...MAY,
      next: { ...state, window: { began_ms: end_ms, sent: {}, total: 0 }, ...day({ strangers: 1 }, end_ms) },
    },
    {
      says: 'a code of /auth is a try as well',
      state: { ...after(send('1')), ...day({ strangers: PER_DAY }) },
      message: tryCode('1', 'far'),
      reply: WRONG,
    },
  ]);
});

t.test('who enters finds the account of the address, and is known from there on', async (t) => {
  const state = after(takeSend(NETWORKS[0]));
  const account: Email = { ...state, account_id: 'b' };
  const nets = Array.from({ length: LIMITS.known_networks_max }, (_, index) => `network ${index}`);
  const [oldest = '', ...others] = nets;
  const at_home: Email = {
    ...account,
    networks: nets,
    day: { began_ms: START_MS, wrong: { strangers: 3, [oldest]: 2, 'network 7': 1 } },
  };
  const nothing: Email = { ...state, window: FRESH };
  decideRows(t, kind, [
    {
      says: 'by staff, of whom no code was asked',
      state: null,
      message: enter(null),
      reply: SIGNED_IN,
      next: { ...nothing, account_id: 'a' },
      effects: [create, FORGET],
    },
    {
      says: 'the first time',
      state,
      message: enter(NETWORKS[0]),
      reply: SIGNED_IN,
      next: { ...state, window: FRESH, account_id: 'a', networks: [HERE] },
      effects: [create, FORGET],
    },
    {
      says: 'an account that is known',
      state: account,
      message: enter(NETWORKS[0]),
      reply: { ...SIGNED_IN, account_id: 'b' },
      next: { ...account, window: FRESH, networks: [HERE] },
    },
    {
      says: 'from the network of the longest ago: now the latest',
      state: at_home,
      message: enter('0'),
      reply: { ...SIGNED_IN, account_id: 'b' },
      next: { ...at_home, window: FRESH, networks: [...others, oldest] },
    },
    {
      says: 'from one more: the oldest goes, with its count',
      state: at_home,
      message: enter('new'),
      reply: { ...SIGNED_IN, account_id: 'b' },
      next: {
        ...at_home,
        window: FRESH,
        networks: [...others, 'network new'],
        day: { began_ms: START_MS, wrong: { strangers: 3, 'network 7': 1 } },
      },
    },
    {
      says: 'by staff, from nowhere',
      state: at_home,
      message: enter(null),
      reply: { ...SIGNED_IN, account_id: 'b' },
      next: at_home,
    },
  ]);
});

t.test('I-009 I-010 D-036 an address keeps the invitations to it, whoever signs in with it', async (t) => {
  const invited: EmailMessage = { type: 'invited', invitation_id: 'i', workspace_id: 'w' };
  const uninvited: EmailMessage = { type: 'uninvited', invitation_id: 'i' };
  const put: Effect = {
    effect: 'put_record',
    collection: 'invitations',
    id: 'i',
    value: { workspace_id: 'w' },
    order: START_MS,
  };
  const drop: Effect = { effect: 'delete_record', collection: 'invitations', id: 'i' };
  const records = { invitations: { i: { workspace_id: 'w' } } };
  const known = after(enter('home'));
  const one = { ...known, invitations: 1 };
  const stranger: Email = { ...after(invited), invitations: 1 };
  decideRows(t, kind, [
    { says: 'to nobody yet', state: null, message: invited, reply: { sent: true }, next: stranger, effects: [put] },
    { says: 'to somebody', state: known, message: invited, reply: { sent: true }, next: one, effects: [put] },
    { says: 'again', state: one, records, message: invited, reply: { sent: true } },
    { says: 'over: none', state: known, message: uninvited, reply: { sent: false } },
    { says: 'over: nobody', state: null, message: uninvited, reply: { sent: false } },
    { says: 'over', state: one, records, message: uninvited, reply: { sent: false }, next: known, effects: [drop] },
    {
      says: 'over, and nobody behind it: it is forgotten later',
      state: stranger,
      records,
      message: uninvited,
      reply: { sent: false },
      next: { ...stranger, invitations: 0 },
      effects: [drop, forgetLater(START_MS)],
    },
    {
      says: 'over, and another stands',
      state: { ...stranger, invitations: 2 },
      records,
      message: uninvited,
      reply: { sent: false },
      next: stranger,
      effects: [drop],
    },
    {
      says: 'found',
      state: one,
      records,
      message: { type: 'invitation', invitation_id: 'i' },
      reply: { workspace_id: 'w' },
    },
    {
      says: 'not found',
      state: known,
      message: { type: 'invitation', invitation_id: 'i' },
      reply: { refused: 'NOT_FOUND' },
    },
    {
      says: 'listed',
      state: one,
      records,
      message: { type: 'list_invitations', range: { limit: 5 } },
      reply: { invitations: [{ id: 'i', order: 0, workspace_id: 'w' }] },
    },
    {
      says: 'nobody signed in, but it is invited: kept',
      state: stranger,
      message: { type: 'forget_unused' },
      reply: { forgotten: false },
    },
  ]);
});

t.test(
  'I-009 D-033 an erased person leaves nothing of their whereabouts, and keeps account and invitations',
  async (t) => {
    const forget: EmailMessage = { type: 'forget_person' };
    const known = { ...after(send('1'), enter('home'), wrongTry('home'), takeSend('home')), invitations: 2 };
    t.match(known.networks, ['network home']);
    decideRows(t, kind, [
      { says: 'nobody', state: null, message: forget, reply: { forgotten: false } },
      {
        says: 'somebody',
        state: known,
        message: forget,
        reply: { forgotten: true },
        next: {
          ...known,
          networks: [],
          window: { began_ms: START_MS, sent: {}, total: 0 },
          day: { began_ms: START_MS, wrong: {} },
        },
      },
    ]);
  },
);

t.test('I-009 invitations to an address are counted by the day, with or without an account', async (t) => {
  const take: EmailMessage = { type: 'take_invitation' };
  const sent = { reply: { sent: true } };
  const played = new Played(email, ADDRESS);
  for (let n = 0; n < LIMITS.invitations_to_email_max; n++) t.match(played.send(take), sent);
  t.same(played.state?.invitations_sent, { began_ms: START_MS, count: LIMITS.invitations_to_email_max });
  t.ok(played.reminders.has('unused'), 'an address without an account is forgotten');
  played.now_ms = START_MS + LIMITS.invitations_window_ms - 1_000;
  t.match(played.send(take).reply, { refused: 'TOO_MANY_REQUESTS', retry_after_s: 1 });
  t.match(played.send(send('1')).reply, { sent: true }, 'codes have a budget of their own');
  t.equal(played.state?.invitations_sent?.count, LIMITS.invitations_to_email_max, 'and leave the count as it is');
  played.now_ms += 1_000;
  t.match(played.send(take), sent);
});

t.test('I-009 in any play an address counts its invitations, and is forgotten when nothing holds it', async (t) => {
  const invitation_id = fc.constantFrom('i', 'j', '__proto__');
  const message: fc.Arbitrary<EmailMessage> = fc.oneof(
    {
      weight: 3,
      arbitrary: invitation_id.map((id) => ({ type: 'invited' as const, invitation_id: id, workspace_id: 'w' })),
    },
    { weight: 3, arbitrary: invitation_id.map((id) => ({ type: 'uninvited' as const, invitation_id: id })) },
    fc.constantFrom<EmailMessage>(
      ...[takeSend('far'), send('1'), { type: 'forget_person' as const }, { type: 'view' as const }],
      { type: 'take_invitation' },
    ),
  );
  checkPlays(t, { plays: anyPlay(message, [LIFE_MS, LIMITS.email_unused_life_ms]), runs: 200 }, (steps) => {
    const played = new Played(email, ADDRESS);
    for (const step of steps) {
      if ('pass' in step) played.pass(step.pass);
      else played.send(step.send);
      const count = played.records('invitations').size;
      if ((played.state?.invitations ?? 0) !== count) throw new Error('miscounted');
      if (played.state !== null && count === 0 && !played.reminders.has('unused')) throw new Error('kept for ever');
    }
    for (const id of played.records('invitations').keys()) played.send({ type: 'uninvited', invitation_id: id });
    played.pass(2 * LIMITS.email_unused_life_ms);
    if (played.state !== null) throw new Error('never forgotten');
  });
});

t.test(
  'at any number of native sign-ins strangers guess at one address 200 times a day, and lock nobody out at home',
  async (t) => {
    const address = new Played(email, ADDRESS);
    address.send(takeSend('home'));
    address.ask(enter('home'));
    let judged = 0;
    /** As the route does it: asks the address, has the code judged, and what the sign-in tells reaches the address. */
    const guess = (sign_in: Played<never, never, never>, hash: string, network: string): boolean => {
      const { allowed } = address.ask<{ allowed: boolean }>(mayTry(network));
      if (allowed) judged += 1;
      const tried = { hashes: { k: hash }, allowed, network };
      const decision = sign_in.send({ type: 'try_code', tried, client_id: null } as never);
      for (const effect of decision.effects ?? []) {
        if (effect.effect === 'notify' && effect.to.kind === 'email') address.send(effect.message as EmailMessage);
      }
      return 'step' in (decision.reply as object);
    };
    const begin = () => {
      const played = new Played(authSession, 's');
      played.now_ms = address.now_ms;
      const request = { client_id: 'svc-ios', name: 'x', scopes: [], audience: 'api', issuer: 'base', code: {} };
      const session = { email: ADDRESS, request, seed: sealed, key_id: 'k' };
      played.send({ type: 'open', session, code: { hash: 'right', key_id: 'k', mail_id: 'm', sealed } } as never);
      return played as unknown as Played<never, never, never>;
    };
    for (let sign_ins = 0; sign_ins < 100; sign_ins++) {
      const sign_in = begin();
      for (let tries = 0; tries < LIMITS.sign_in_tries_max; tries++) guess(sign_in, 'wrong', `far ${sign_ins}`);
    }
    t.equal(judged, PER_DAY, 'judged');
    t.notOk(guess(begin(), 'right', 'far'), 'a stranger is refused, even with the right code');
    t.ok(guess(begin(), 'right', 'home'), 'at home it opens');
    t.same(address.state?.day.wrong, { strangers: PER_DAY });
    address.pass(DAY_MS);
    t.ok(guess(begin(), 'right', 'far'), 'the day after, everywhere');
  },
);

type EmailStep =
  | { send: string }
  | { take: string }
  | { wrong: string; times: number }
  | { guess: string; times: number }
  | { right: string; sent_ago: number }
  | { enter: string }
  | { pass: number };

/** What a code has met, newest first. */
type Sent = { code: string; at_ms: number; ended: boolean; guesses: Map<string, number>; total: number };

t.test(
  'A-011 A-012 A-013 in any play no code is guessed at too often, and a right one within its life signs in',
  async (t) => {
    const network = fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom(...NETWORKS, ...HOSTILE) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 60 }).map((n) => `net ${n}`) },
    );
    const home = fc.oneof(
      { weight: 2, arbitrary: fc.constant(NETWORKS[0]) },
      { weight: 3, arbitrary: fc.constantFrom(...HOSTILE, ...Array.from({ length: 6 }, (_, n) => `net ${n}`)) },
    );
    const passes_ms = [1, 60_000, LIFE_MS / 2, LIFE_MS - 1, LIFE_MS];
    const step: fc.Arbitrary<EmailStep> = fc.oneof(
      { weight: 6, arbitrary: fc.record({ send: network }) },
      { weight: 2, arbitrary: fc.record({ take: network }) },
      { weight: 12, arbitrary: fc.record({ wrong: network, times: fc.integer({ min: 1, max: 7 }) }) },
      { weight: 2, arbitrary: fc.record({ guess: home, times: fc.constantFrom(1, 5, 60, PER_DAY) }) },
      { weight: 2, arbitrary: fc.record({ right: network, sent_ago: fc.integer({ min: 0, max: 4 }) }) },
      { weight: 1, arbitrary: fc.record({ enter: home }) },
      { weight: 3, arbitrary: fc.record({ pass: fc.constantFrom(...passes_ms) }) },
      { weight: 1, arbitrary: fc.record({ pass: fc.constantFrom(DAY_MS - 1, DAY_MS) }) },
    );
    const plays = fc.array(step, { maxLength: 80, size: 'max' });
    const reached = new Set<string>();
    checkPlays(t, { plays, runs: 300, counts: true }, (steps) => {
      const played = new Played(email, ADDRESS);
      let sent: Sent[] = [];
      let sends: { network: string; at_ms: number }[] = [];
      let known: string[] = [];
      let day = { began_ms: 0, wrong: new Map<string, number>() };
      const countedAs = (from: string) => (known.includes(from) ? `known ${from}` : 'strangers');
      const today = () =>
        played.now_ms < day.began_ms + DAY_MS ? day : { began_ms: played.now_ms, wrong: new Map<string, number>() };
      const isAllowed = (from: string) => (today().wrong.get(countedAs(from)) ?? 0) < PER_DAY;
      /** Whatever is kept begins the day, if it has not begun. */
      const tell = (message: EmailMessage) => {
        const decision = played.send(message);
        if (decision.next) day = today();
        return decision;
      };
      const count = (from: string) => {
        const key = countedAs(from);
        day.wrong.set(key, (day.wrong.get(key) ?? 0) + 1);
        reached.add(`${key === 'strangers' ? 'strangers' : 'a known network'}: ${day.wrong.get(key)}`);
      };
      const comeHome = (from: string) => {
        known = [...known.filter((other) => other !== from), from].slice(-LIMITS.known_networks_max);
        for (const key of day.wrong.keys()) {
          if (key !== 'strangers' && !known.includes(key.slice('known '.length))) day.wrong.delete(key);
        }
      };
      const isDue = (one: Sent, from: string) =>
        !one.ended &&
        isAllowed(from) &&
        sent.indexOf(one) < LIMITS.codes_alive_max &&
        played.now_ms < one.at_ms + LIFE_MS &&
        (one.guesses.get(from) ?? 0) < LIMITS.code_wrong_per_network_max &&
        one.total < LIMITS.code_wrong_total_max;
      const compare = (from: string) => {
        for (const one of sent.slice(0, 5)) {
          if (opens(played, one.code, from) !== isDue(one, from))
            throw new Error(`${from}: code ${one.code} ${isDue(one, from) ? 'does not open' : 'opens'}`);
        }
        const { allowed } = played.ask<{ allowed: boolean }>(mayTry(from));
        if (allowed !== isAllowed(from)) throw new Error(`${from} is ${allowed ? 'let in' : 'locked out'}`);
      };
      const guessed = (from: string) => {
        const at = sent.filter((one) => isDue(one, from));
        if (at.length > 0) count(from);
        for (const one of at) {
          one.guesses.set(from, (one.guesses.get(from) ?? 0) + 1);
          one.total += 1;
        }
      };
      const budget = (from: string, is_sent: boolean) => {
        if (is_sent) sends.push({ network: from, at_ms: played.now_ms });
        // Two windows can touch a span as long as one.
        const lately = sends.filter(({ at_ms }) => at_ms > played.now_ms - LIMITS.codes_sent_window_ms);
        if (lately.length > 2 * LIMITS.codes_sent_per_email_max) throw new Error('too many sent');
        const here = lately.filter(({ network }) => network === from);
        if (here.length > 2 * LIMITS.codes_sent_per_network_max) throw new Error('too many sent to a network');
        if (
          !is_sent &&
          here.length < LIMITS.codes_sent_per_network_max &&
          lately.length < LIMITS.codes_sent_per_email_max
        )
          throw new Error('refused within the budget');
      };
      for (const step of steps) {
        if ('pass' in step) {
          played.pass(step.pass);
          if (played.state === null) {
            sent = [];
            sends = [];
            day = { began_ms: 0, wrong: new Map() };
          }
        } else if ('send' in step) {
          const code = `${played.effects.length}`;
          const { reply } = tell(send(code, step.send));
          if (!('sent' in reply)) throw new Error('a send is answered');
          if (reply.sent) sent.unshift({ code, at_ms: played.now_ms, ended: false, guesses: new Map(), total: 0 });
          budget(step.send, reply.sent);
        } else if ('take' in step) {
          const { reply } = tell(takeSend(step.take));
          budget(step.take, 'sent' in reply && reply.sent);
        } else if ('wrong' in step) {
          for (let tries = 0; tries < step.times; tries++) {
            const { reply } = tell(tryCode('x', step.wrong));
            if (!isRefusal(reply)) throw new Error('a wrong code opens');
            guessed(step.wrong);
          }
          compare(step.wrong);
        } else if ('guess' in step) {
          for (let tries = 0; tries < step.times; tries++) {
            const may = isAllowed(step.guess) && played.state !== null;
            const { next } = tell(wrongTry(step.guess));
            if ((next !== undefined) !== may) throw new Error('a try is kept that is not counted');
            if (may) count(step.guess);
          }
          compare(step.guess);
        } else if ('enter' in step) {
          tell(enter(step.enter));
          comeHome(step.enter);
          sends = [];
        } else {
          compare(step.right);
          const one = sent[step.sent_ago];
          if (one === undefined) continue;
          const due = isDue(one, step.right);
          const { reply } = tell(tryCode(one.code, step.right));
          if (isRefusal(reply) === due) throw new Error('a right code is refused');
          if (!due) guessed(step.right);
          else {
            for (const other of sent) other.ended = true;
            comeHome(step.right);
            sends = [];
          }
        }
        compare('elsewhere');
        for (const from of known) compare(from);
        for (const one of sent) {
          if (Math.max(0, ...one.guesses.values()) > LIMITS.code_wrong_per_network_max)
            throw new Error('guessed too often from a network');
          if (one.total > LIMITS.code_wrong_total_max) throw new Error('guessed too often');
        }
        const counts = Object.values(played.state?.day.wrong ?? {});
        if (counts.some((wrong) => wrong > PER_DAY)) throw new Error('more guesses than a day has');
        if (counts.length > 1 + LIMITS.known_networks_max) throw new Error('too many counts');
        const is_unused = played.state !== null && played.state.account_id === null;
        if (played.reminders.has('unused') !== is_unused) throw new Error('it is planned to be forgotten, or not');
        const accounts = played.effects.filter(({ effect }) => effect === 'notify').length;
        if (accounts > 1) throw new Error('a second account');
        if (encodeStored(played.state).length > 8_000)
          throw new Error(`a state of ${encodeStored(played.state).length} bytes`);
      }
    });
    for (const who of ['strangers', 'a known network']) {
      t.ok(reached.has(`${who}: ${PER_DAY}`), `a play used up the day of ${who}`);
    }
  },
);
