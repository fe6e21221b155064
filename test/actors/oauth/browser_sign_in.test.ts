import fc from 'fast-check';
import t from 'tap';
import type { Effect, RepliesOf } from '../../../actors/actor.js';
import type { NewBrowserSession } from '../../../actors/oauth/browser_session.js';
import {
  type BrowserSignIn,
  type BrowserSignInMessage,
  browserSignIn,
  type ClientGoal,
  type NewBrowserSignIn,
  type NewGrantSeed,
  type NewSessionSeed,
  type SignedInAccount,
} from '../../../actors/oauth/browser_sign_in.js';
import type { CodeToSend, TriedCode } from '../../../actors/oauth/emailed_code.js';
import type { NewGrant } from '../../../actors/oauth/grant.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { checkPlays, decideRows, Played, type Row, START_MS } from '../../fixtures/decisions.js';

const kind = { kind: browserSignIn, self: 's' };
const LIFE_MS = LIMITS.browser_sign_in_life_ms;
const CODE_MS = LIMITS.code_life_ms;
const TRIES = LIMITS.sign_in_tries_max;
const ANN = 'ann@x.test';
const BEN = 'ben@x.test';

const of_page: NewBrowserSignIn['goal'] = { to: 'page', page: 'restore' };
const client: ClientGoal = {
  request: {
    client_id: 'app',
    name: 'App',
    scopes: ['read'],
    audience: 'api',
    issuer: 'base',
    code: { challenge: 'challenge', redirect_uri: 'https://app.test/back' },
  },
  client_name: 'App',
  state: 'as the client gave it',
  needs_consent: false,
};
const asking: Pick<NewBrowserSignIn, 'goal'> = { goal: { to: 'client', ...client, needs_consent: true } };
const first_party: NewBrowserSignIn = {
  goal: { to: 'client', ...client },
  browser: 'k.hash',
  seed: Buffer.from('seed of the form'),
  key_id: 'k',
};
const third_party: NewBrowserSignIn = { ...first_party, ...asking };
const code = (hash: string): CodeToSend => ({ hash, key_id: 'k', mail_id: `m ${hash}`, sealed: new Uint8Array([7]) });
const mail = (hash: string, at_ms = START_MS): Effect => ({
  effect: 'enqueue_mail',
  mail_id: `m ${hash}`,
  sealed: new Uint8Array([7]),
  give_up_at_ms: at_ms + CODE_MS,
});
const account = { account_id: 'a', issued_under: { account: 0, grants: 1 } };
const owner: SignedInAccount = { ...account, verified_at_ms: START_MS };
const session: NewSessionSeed = { id: 'b', seed: Buffer.from('seed of the session'), key_id: 'k2' };
const drawn: NewGrantSeed = { grant_id: 'g', seed: Buffer.from('seed of the grant'), key_id: 'k3' };

const begun: BrowserSignIn = {
  ...first_party,
  created_at_ms: START_MS,
  wrong: 0,
  session: null,
  step: { at: 'email' },
};
const at = (step: BrowserSignIn['step'], more: Partial<BrowserSignIn> = {}): BrowserSignIn => ({
  ...begun,
  ...more,
  step,
});
const sent = { hash: 'right', key_id: 'k', sent_at_ms: START_MS };
const asked = at({ at: 'code', email: ANN, codes: [sent], last_send: 'first' });
const offered = at({ at: 'accounts', email: ANN, session_id: 'earlier' });
const verified = { ...asked, step: { at: 'verified' as const, email: ANN } };
const consent = at({ at: 'consent', email: ANN, owner }, { ...asking, session });
const granted = at({ at: 'done', answer: { granted: drawn }, at_ms: START_MS });
const denied = at({ at: 'done', answer: { denied: true }, at_ms: START_MS });
const entered = at({ at: 'done', answer: { entered: true }, at_ms: START_MS }, { goal: of_page, session });
const unknown = at({ at: 'no_account', email: ANN }, { goal: of_page });
const ended = at({ at: 'ended' }, { wrong: TRIES });

const tried = (hash: string, more: Partial<TriedCode> = {}): TriedCode => ({
  hashes: { other: 'x', k: hash },
  allowed: true,
  network: 'n',
  ...more,
});
const tryCode = (of: TriedCode): BrowserSignInMessage => ({ type: 'try_code', tried: of });
const right = tryCode(tried('right'));
const wrong = tryCode(tried('wrong'));
const sendTo = (email: string, of: CodeToSend): BrowserSignInMessage => ({ type: 'send_code', email, code: of });
const enterWith = (of: TriedCode): BrowserSignInMessage => ({
  ...{ type: 'enter', email: ANN, account, session, grant: drawn },
  tried: of,
});
const enter = enterWith(tried('right'));
const goOn: BrowserSignInMessage = { type: 'continue', owner, grant: drawn };
const approve: BrowserSignInMessage = { type: 'approve', grant: drawn };
const deny: BrowserSignInMessage = { type: 'deny' };
const other_email: BrowserSignInMessage = { type: 'other_email' };
const no_account: BrowserSignInMessage = { type: 'no_account', email: ANN, tried: tried('right') };
const view: BrowserSignInMessage = { type: 'view' };

const told: Effect = { effect: 'notify', to: { kind: 'email', id: ANN }, message: { type: 'wrong_try', network: 'n' } };
const opensSession: Effect = {
  effect: 'notify',
  to: { kind: 'browser_session', id: 'b' },
  message: {
    type: 'open',
    session: { ...account, seed: session.seed, key_id: 'k2', email: ANN, verified_at_ms: START_MS },
  },
};
const opensGrant: Effect = {
  effect: 'notify',
  to: { kind: 'grant', id: 'g' },
  message: { type: 'open', grant: { ...client.request, ...owner, seed: drawn.seed, key_id: 'k3' } },
};
const GONE = { refused: 'NOT_FOUND' } as const;

type SignInRow = Row<BrowserSignIn, BrowserSignInMessage, RepliesOf<typeof browserSignIn>>;
/** What is answered is what is kept. */
const goes = (next: BrowserSignIn, ...effects: Effect[]): Pick<SignInRow, 'reply' | 'next' | 'effects'> => ({
  reply: next,
  next,
  effects,
});
const stays = (state: BrowserSignIn): Pick<SignInRow, 'state' | 'reply'> => ({ state, reply: state });

t.test('a browser sign-in begins, is seen for an hour, and is forgotten', async (t) => {
  const runOut: Effect = {
    effect: 'schedule_reminder',
    name: 'run_out',
    at_ms: START_MS + LIFE_MS,
    message: { type: 'run_out' },
  };
  decideRows(t, kind, [
    {
      says: 'nobody is signed in',
      state: null,
      message: { type: 'open', sign_in: first_party, signed_in: null },
      ...goes(begun, runOut),
    },
    {
      says: 'somebody is',
      state: null,
      message: { type: 'open', sign_in: first_party, signed_in: { session_id: 'earlier', email: ANN } },
      ...goes(offered, runOut),
    },
    {
      says: 'run out',
      state: granted,
      now_ms: START_MS + LIFE_MS,
      message: { type: 'run_out' },
      reply: { done: true },
      next: null,
    },
    { says: 'its last millisecond', now_ms: START_MS + LIFE_MS - 1, message: view, ...stays(granted) },
    ...[view, sendTo(ANN, null), other_email, right, enter, goOn, approve, deny].flatMap((message) => [
      { says: `none: ${message.type}`, state: null, message, reply: GONE },
      { says: `at its end: ${message.type}`, state: asked, now_ms: START_MS + LIFE_MS, message, reply: GONE },
    ]),
  ]);
  const played = new Played(browserSignIn, 's');
  played.send({ type: 'open', sign_in: first_party, signed_in: null });
  t.throws(() => played.decide({ type: 'open', sign_in: first_party, signed_in: null }), 'opened once');
});

t.test('what does not fit the step of a browser sign-in changes nothing', async (t) => {
  const fits: Record<string, BrowserSignIn[]> = {
    send_code: [begun, offered, asked, consent, unknown],
    other_email: [begun, offered, asked, consent, unknown],
    try_code: [asked],
    enter: [asked],
    no_account: [asked],
    continue: [offered],
    approve: [consent],
    deny: [begun, offered, asked, consent, unknown, ended],
  };
  const steps = [begun, offered, asked, consent, unknown, granted, denied, entered, ended];
  const messages = [sendTo(ANN, code('right')), other_email, right, wrong, enter, no_account, goOn, approve, deny];
  decideRows(
    t,
    kind,
    messages.flatMap((message) =>
      steps
        .filter((state) => !fits[message.type]?.includes(state))
        .map((state) => ({ says: `${message.type} at ${state.step.at}`, message, ...stays(state) })),
    ),
  );
  t.equal(Object.keys(fits).length, new Set(messages.map(({ type }) => type)).size);
});

t.test('a browser sign-in mails codes, and keeps a good one when no other may go out', async (t) => {
  const again = code('again');
  const later_ms = START_MS + 1;
  const newer = { ...sent, hash: 'again', sent_at_ms: later_ms };
  const resent = at({ at: 'code', email: ANN, codes: [newer, sent], last_send: 'again' });
  const to_ben = at({ at: 'code', email: BEN, codes: [newer], last_send: 'first' });
  const now = { now_ms: later_ms };
  decideRows(t, kind, [
    { says: 'the first', state: begun, message: sendTo(ANN, code('right')), ...goes(asked, mail('right')) },
    {
      says: 'over the address’s budget',
      state: begun,
      message: sendTo(ANN, null),
      ...goes(at({ at: 'code', email: ANN, codes: [], last_send: 'none' })),
    },
    { says: 'another', state: asked, ...now, message: sendTo(ANN, again), ...goes(resent, mail('again', later_ms)) },
    {
      says: 'another, over the budget: the one before stays good',
      state: asked,
      ...now,
      message: sendTo(ANN, null),
      ...goes(at({ at: 'code', email: ANN, codes: [sent], last_send: 'none' })),
    },
    {
      says: 'to another email',
      state: asked,
      ...now,
      message: sendTo(BEN, again),
      ...goes(to_ben, mail('again', later_ms)),
    },
    {
      says: 'to another email, over its budget: a code of the one before is none of its',
      state: asked,
      ...now,
      message: sendTo(BEN, null),
      ...goes(at({ at: 'code', email: BEN, codes: [], last_send: 'none' })),
    },
    {
      says: 'instead of the offered account',
      state: offered,
      ...now,
      message: sendTo(BEN, again),
      ...goes(to_ben, mail('again', later_ms)),
    },
    { says: 'another email, please', state: asked, message: other_email, ...goes(begun) },
    { says: 'another email than the offered', state: offered, message: other_email, ...goes(begun) },
    {
      says: 'another email than consented with',
      state: consent,
      message: other_email,
      ...goes({ ...consent, step: { at: 'email' } }),
    },
    {
      says: 'wrong tries stay counted',
      state: { ...asked, wrong: 3 },
      message: other_email,
      ...goes({ ...begun, wrong: 3 }),
    },
  ]);
});

t.test('a code in the browser: five wrong ones end the sign-in', async (t) => {
  const once = { ...asked, wrong: 1 };
  const is_wrong = goes(once, told);
  const silent = at({ at: 'code', email: ANN, codes: [], last_send: 'none' });
  const last = { now_ms: START_MS + CODE_MS - 1 };
  decideRows(t, kind, [
    { says: 'wrong', state: asked, message: wrong, ...is_wrong },
    { says: 'too many from there', state: asked, message: tryCode(tried('right', { allowed: false })), ...is_wrong },
    {
      says: 'hashed with another key only',
      state: asked,
      message: tryCode({ ...tried('x'), hashes: { other: 'right' } }),
      ...is_wrong,
    },
    { says: 'none was sent', state: silent, message: right, ...goes({ ...silent, wrong: 1 }, told) },
    { says: 'at ten minutes', state: asked, now_ms: START_MS + CODE_MS, message: right, ...is_wrong },
    {
      says: 'before: nothing is stored yet',
      state: asked,
      ...last,
      message: right,
      reply: verified,
    },
    {
      says: 'the fourth',
      state: { ...asked, wrong: TRIES - 2 },
      message: wrong,
      ...goes({ ...asked, wrong: TRIES - 1 }, told),
    },
    { says: 'the fifth', state: { ...asked, wrong: TRIES - 1 }, message: wrong, ...goes(ended, told) },
    { says: 'right after the fifth', message: right, ...stays(ended) },
    { says: 'no new code after the fifth', message: sendTo(ANN, code('right')), ...stays(ended) },
    { says: 'but the way back to the client', state: ended, message: deny, ...goes({ ...denied, wrong: TRIES }) },
  ]);
});

t.test('C-134 who has shown a code enters once, and is asked where that is needed', async (t) => {
  const asks = { ...asked, ...asking };
  const of_ben: BrowserSignInMessage = { ...enter, email: BEN } as BrowserSignInMessage;
  const next_session = { ...session, id: 'b2' };
  decideRows(t, kind, [
    { says: 'the account of another email', message: of_ben, ...stays(asked) },
    {
      says: 'enters with a right code',
      state: asked,
      message: enter,
      ...goes({ ...granted, session }, opensSession, opensGrant),
    },
    { says: 'a wrong code', message: enterWith(tried('wrong')), ...stays(asked) },
    { says: 'no tries are left there', message: enterWith(tried('right', { allowed: false })), ...stays(asked) },
    { says: 'enters again', message: enter, ...stays({ ...granted, session }) },
    { says: 'is asked', state: asks, message: enter, ...goes(consent, opensSession) },
    { says: 'approves', state: consent, message: approve, ...goes({ ...consent, step: granted.step }, opensGrant) },
    { says: 'denies', state: consent, message: deny, ...goes({ ...consent, step: denied.step }) },
    { says: 'approves after all', message: approve, ...stays({ ...consent, step: denied.step }) },
    { says: 'denies after all', message: deny, ...stays({ ...consent, step: granted.step }) },
    {
      says: 'enters with another email: another browser session',
      state: { ...asks, session },
      message: { ...enter, session: next_session } as BrowserSignInMessage,
      ...goes({ ...consent, session: next_session }, { ...opensSession, to: { kind: 'browser_session', id: 'b2' } }),
    },
    {
      says: 'continues',
      state: offered,
      message: goOn,
      ...goes(granted, opensGrant),
    },
    {
      says: 'continues, and is asked all the same',
      state: { ...offered, ...asking },
      message: goOn,
      ...goes({ ...consent, session: null }),
    },
  ]);
});

t.test('a sign-in for a page of ours opens a browser session and no grant, and makes no account unasked', async (t) => {
  const shown = { ...asked, goal: of_page };
  decideRows(t, kind, [
    { says: 'enters', state: shown, message: enter, ...goes(entered, opensSession) },
    { says: 'enters again', message: enter, ...stays(entered) },
    { says: 'the code again', message: right, ...stays(entered) },
    { says: 'nobody is there', state: shown, message: no_account, ...goes(unknown) },
    { says: 'the code again', message: right, ...stays(unknown) },
    {
      says: 'nobody is there, at another email',
      message: { type: 'no_account', email: BEN, tried: tried('right') },
      ...stays(shown),
    },
    { says: 'another email', state: unknown, message: other_email, ...goes({ ...begun, goal: of_page }) },
    { says: 'there is no client', message: goOn, ...stays({ ...offered, goal: of_page }) },
    { says: 'nothing is consented to', message: approve, ...stays({ ...consent, goal: of_page }) },
  ]);
});

type PageStep =
  | { mail: string; is_sent: boolean }
  | { code: 'last' | 'before' | 'wrong'; allowed: boolean; enters: boolean }
  | { enters: string }
  | { press: 'other_email' | 'continue' | 'approve' | 'deny' | 'view' }
  | { pass: number };

type PresentCodes = { email: string; codes: { hash: string; at_ms: number }[] } | null;

const page_step: fc.Arbitrary<PageStep> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ mail: fc.constantFrom(ANN, BEN), is_sent: fc.constantFrom(true, true, false) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      code: fc.constantFrom('last' as const, 'last' as const, 'before' as const, 'wrong' as const),
      allowed: fc.constantFrom(true, true, true, true, false),
      enters: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ enters: fc.constantFrom(ANN, BEN) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      press: fc.constantFrom('other_email', 'other_email', 'continue', 'approve', 'view', 'view', 'view', 'deny'),
    }) as fc.Arbitrary<PageStep>,
  },
  { weight: 2, arbitrary: fc.record({ pass: fc.constantFrom(1, 60_000, CODE_MS - 1, CODE_MS, LIFE_MS / 2, LIFE_MS) }) },
);
const page_plays = fc.record({
  needs_consent: fc.boolean(),
  is_signed_in: fc.boolean(),
  steps: fc.array(page_step, { maxLength: 40, size: 'max' }),
});

t.test(
  'in any play a browser sign-in opens one grant at most, for who showed a code and was asked, and a session for each entry',
  async (t) => {
    const reached = new Set<string>();
    checkPlays(t, { plays: page_plays, runs: 4_000, counts: true }, ({ needs_consent, is_signed_in, steps }) => {
      const played = new Played<BrowserSignIn, BrowserSignInMessage, RepliesOf<typeof browserSignIn>>(
        browserSignIn,
        's',
      );
      const signed_in = is_signed_in ? { session_id: 'earlier', email: ANN } : null;
      played.send({ type: 'open', sign_in: needs_consent ? third_party : first_party, signed_in });
      let drawn_ids = 0;
      let mails = 0;
      let judged_wrong = 0;
      /** The codes of the email that is asked for, the newest first; codes are numbered by their mails. */
      let present = null as PresentCodes;
      let may_continue = is_signed_in;
      let approvable: SignedInAccount | null = null;
      let is_answered = false;
      let entries = 0;
      const grants_due: SignedInAccount[] = [];
      const tells = (to: string) =>
        played.effects.flatMap((effect) =>
          effect.effect === 'notify' && effect.to.kind === to ? [{ id: effect.to.id, message: effect.message }] : [],
        );
      const is_gone = () => played.now_ms >= START_MS + LIFE_MS;
      const is_open = () => !is_gone() && !is_answered && judged_wrong < TRIES;
      const accountOf = (email: string) => ({ ...account, account_id: `account of ${email}` });
      const drawGrant = (): NewGrantSeed => ({ ...drawn, grant_id: `g${++drawn_ids}` });
      const leave = () => {
        present = approvable = null;
        may_continue = false;
      };
      const signedIn = (of: SignedInAccount) => {
        if (needs_consent) approvable = of;
        else {
          grants_due.push(of);
          is_answered = true;
        }
      };
      const isGood = (typed: string) =>
        (present?.codes ?? []).some(({ hash, at_ms }) => typed === hash && played.now_ms < at_ms + CODE_MS);
      const goIn = (email: string, typed: string) => {
        const is_right = is_open() && present?.email === email && isGood(typed);
        const at_ms = played.now_ms;
        const id = `b${++drawn_ids}`;
        const { reply } = played.send({
          type: 'enter',
          email,
          account: accountOf(email),
          session: { ...session, id },
          grant: drawGrant(),
          tried: tried(typed),
        });
        if (!is_right) return;
        leave();
        entries += 1;
        const opened = tells('browser_session').at(-1);
        const { session: begins } = (opened?.message ?? {}) as { session?: NewBrowserSession };
        if (opened?.id !== id || begins?.email !== email || begins.account_id !== accountOf(email).account_id)
          throw new Error('another browser session');
        if (begins.verified_at_ms !== at_ms) throw new Error('a session of another code');
        if (isRefusal(reply) || 'done' in reply || reply.session?.id !== id) throw new Error('another cookie');
        signedIn({ ...accountOf(email), verified_at_ms: at_ms });
      };
      for (const step of steps) {
        if ('pass' in step) played.pass(step.pass);
        else if ('mail' in step) {
          const hash = step.is_sent ? String(mails + 1) : null;
          played.send(sendTo(step.mail, hash === null ? null : code(hash)));
          if (is_open()) {
            const is_same: boolean = present?.email === step.mail;
            const kept = is_same ? (present?.codes ?? []) : [];
            leave();
            const added = hash === null ? [] : [{ hash, at_ms: played.now_ms }];
            present = { email: step.mail, codes: [...added, ...kept].slice(0, LIMITS.codes_alive_max) };
            if (hash !== null) mails += 1;
          }
        } else if ('code' in step) {
          const typed = step.code === 'wrong' ? 'wrong' : String(step.code === 'last' ? mails : mails - 1);
          const is_judged = is_open() && present !== null;
          const is_right = step.allowed && isGood(typed);
          const { reply } = played.send(tryCode(tried(typed, { allowed: step.allowed })));
          const is_verified = !isRefusal(reply) && 'step' in reply && reply.step.at === 'verified';
          if (is_judged && !is_right) judged_wrong += 1;
          if (is_verified !== (is_judged && is_right)) throw new Error(`judged right: ${is_verified}`);
          if (is_verified && step.enters) goIn(present?.email ?? '', typed);
        } else if ('enters' in step) goIn(step.enters, String(mails));
        else if (step.press === 'other_email') {
          played.send(other_email);
          if (is_open()) leave();
        } else if (step.press === 'continue') {
          const of = { ...accountOf(ANN), verified_at_ms: START_MS - 5 };
          played.send({ type: 'continue', owner: of, grant: drawGrant() });
          if (is_open() && may_continue) {
            leave();
            signedIn(of);
          }
        } else if (step.press === 'approve') {
          played.send({ type: 'approve', grant: drawGrant() });
          if (is_open() && approvable !== null) {
            grants_due.push(approvable);
            is_answered = true;
          }
        } else if (step.press === 'deny') {
          played.send(deny);
          if (!is_gone()) is_answered = true;
        } else if (isRefusal(played.send(view).reply) !== is_gone()) throw new Error('seen otherwise');

        if (judged_wrong > TRIES) throw new Error('judged too often');
        if (tells('email').length !== judged_wrong) throw new Error('the address counts otherwise');
        if (played.effects.filter(({ effect }) => effect === 'enqueue_mail').length !== mails)
          throw new Error('another number of mails');
        const opened = tells('grant').map(({ message }) => (message as { grant: NewGrant }).grant);
        if (opened.length > 1 || opened.length !== grants_due.length) throw new Error('another number of grants');
        for (const [index, { account_id, verified_at_ms, client_id }] of opened.entries()) {
          const due = grants_due[index];
          if (account_id !== due?.account_id || verified_at_ms !== due.verified_at_ms || client_id !== 'app')
            throw new Error('a grant for somebody else');
        }
        const sessions = tells('browser_session').map(({ id }) => id);
        if (sessions.length !== entries || new Set(sessions).size !== entries)
          throw new Error('another number of browser sessions');
        if (!is_gone() && (played.state?.step.at === 'done') !== is_answered) throw new Error('answered otherwise');
        if ((played.state === null) !== is_gone() || played.reminders.has('run_out') === is_gone())
          throw new Error('it is kept, or planned to end, otherwise than for its life');
        if (played.state !== null) reached.add(`${played.state.step.at}${entries > 1 ? ', entered twice' : ''}`);
      }
    });
    for (const step of ['consent', 'consent, entered twice', 'ended', 'done, entered twice']) {
      t.ok(reached.has(step), `a play came to: ${step}`);
    }
  },
);
