import fc from 'fast-check';
import t from 'tap';
import { type AccountMessage, account } from '../../../actors/accounts/account.js';
import { ERASED_DEVICES_MAX } from '../../../actors/accounts/account_deletion.js';
import type { Account, Membership, Phase } from '../../../actors/accounts/account_state.js';
import type { Effect, RepliesOf } from '../../../actors/actor.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { KEEP_FOR_EVER } from '../../../src/domain/workspaces.js';
import { ANN, raised, told } from '../../fixtures/account_state.js';
import { anyPlay, checkPlays, decideRows, Played, type Row, START_MS } from '../../fixtures/decisions.js';

const kind = { kind: account, self: 'a' };
const DONE = { done: true } as const;
const NOW_MS = START_MS + 5_000;
const ERASE_AT_MS = NOW_MS + LIMITS.erase_after_ms;
const mail = { mail_id: 'm', sealed: new Uint8Array([7]) };
const del: AccountMessage = { type: 'delete', mail };
const restore: AccountMessage = { type: 'restore' };
const outcome: AccountMessage = { type: 'deletion_outcome' };

const membership = (workspace_id: string, role: Membership['role'] = 'member'): Membership => ({
  workspace_id,
  name: 'Team',
  role,
  created_at_ms: START_MS,
});
const token = { id: 'p', last_four: 'wxyz', created_at_ms: START_MS, expires_at_ms: null };
const expired = { ...token, id: 'q', expires_at_ms: NOW_MS };
const mine: Account = {
  ...ANN,
  entitlements: { 'workspace.sharing': true },
  tokens: [token, expired],
  memberships: [membership('w1'), membership('w2', 'owner')],
  joining: [{ workspace_id: 'w3', invitation_id: 'i' }],
  deletion_attempts: 3,
};
const leavingWith = (unanswered: string[], alone: string[] = []): Account => ({
  ...mine,
  deletion_attempts: 4,
  phase: { status: 'leaving', unanswered, alone, mail },
});
const at = (phase: Phase, state = mine): Account => ({ ...state, phase });
const deletedPhase: Phase = { status: 'deleted', deleted_at_ms: NOW_MS, erase_at_ms: ERASE_AT_MS };
const gone: Account = { ...at(deletedPhase), tokens: [], memberships: [membership('w2', 'owner')], joining: [] };
const erasingPhase: Phase = { status: 'erasing', began_at_ms: ERASE_AT_MS, removed: {} };

const toWorkspace = (id: string, type: string): Effect => told('workspace', id, { type, account_id: 'a' });
const hold = (id: string): Effect => told('workspace', id, { type: 'hold', account_id: 'a', attempt: 4 });
const late: Effect = {
  effect: 'schedule_reminder',
  name: 'leaving_late',
  at_ms: NOW_MS + LIMITS.leaving_max_ms,
  message: { type: 'leaving_late', attempt: 4 },
};
const FORGET_LATE: Effect = { effect: 'cancel_reminder', name: 'leaving_late' };
const subscriptions = (become: 'closed' | 'open' | 'gone'): Effect => ({
  effect: 'set_subscriptions',
  account_id: 'a',
  become,
});
const event = (type: 'account.deleted' | 'account.restored'): Effect => ({
  effect: 'append_event',
  account_id: 'a',
  type,
  resource_id: 'a',
});
const revoked: Effect[] = [
  {
    effect: 'append_event',
    account_id: 'a',
    type: 'personal_access_token.revoked',
    resource_id: 'p',
    data: { last_four: 'wxyz', expires_at: null, reason: 'account_deleted' },
  },
  told('personal_access_token', 'p', { type: 'end' }),
];
const held = (
  workspace_id: string,
  of: { owes?: boolean; alone?: boolean; attempt?: number } = {},
): AccountMessage => ({
  type: 'held',
  workspace_id,
  attempt: 4,
  owes: false,
  alone: false,
  ...of,
});
/** What deletes it: from here on it is gone. */
const deletes = (state: Account, alone: string[]) => ({
  now_ms: NOW_MS,
  reply: DONE,
  next: {
    ...state,
    deletion_attempts: 4,
    epochs: { ...state.epochs, account: 1, grants: 1, tokens: 1 },
    tokens: [],
    memberships: state.memberships.filter(({ workspace_id }) => alone.includes(workspace_id)),
    phase: deletedPhase,
  },
  effects: [
    raised('account'),
    raised('grants'),
    raised('tokens'),
    subscriptions('closed'),
    event('account.deleted'),
    ...revoked,
    ...state.memberships.map(({ workspace_id }) => toWorkspace(workspace_id, 'departed')),
    FORGET_LATE,
    { effect: 'schedule_reminder', name: 'erase_due', at_ms: ERASE_AT_MS, message: { type: 'erase_due' } } as const,
    { effect: 'enqueue_mail', ...mail, give_up_at_ms: NOW_MS + LIMITS.mail_retried_ms } as const,
  ],
});

type R = Row<Account, AccountMessage, RepliesOf<typeof account>>;
const row = (says: string, state: Account, message: AccountMessage, rest: Partial<R> & Pick<R, 'reply'>): R => ({
  says,
  state,
  message,
  now_ms: NOW_MS,
  ...rest,
});

t.test(
  'D-014 D-022 D-025 D-027 D-028 B-019 X-22 an account goes when every shared workspace has said that it can',
  async (t) => {
    const lone: Account = { ...mine, memberships: [], joining: [] };
    const last = leavingWith(['w3'], ['w2']);
    decideRows(t, kind, [
      row('without any it goes at once', lone, del, deletes(lone, [])),
      row('each is asked', mine, del, {
        reply: DONE,
        next: leavingWith(['w1', 'w2', 'w3']),
        effects: [hold('w1'), hold('w2'), hold('w3'), late],
      }),
      row(
        'asked once where it waits for a second answer',
        { ...mine, joining: [{ workspace_id: 'w1', invitation_id: 'i' }] },
        del,
        {
          reply: DONE,
          next: { ...leavingWith(['w1', 'w2']), joining: [{ workspace_id: 'w1', invitation_id: 'i' }] },
          effects: [hold('w1'), hold('w2'), late],
        },
      ),
      ...[leavingWith(['w1']), gone, at(erasingPhase), at({ status: 'erased' })].map((state) =>
        row(`again: ${state.phase.status}`, state, del, { reply: DONE }),
      ),
      row('one answers', leavingWith(['w1', 'w2']), held('w1'), { reply: DONE, next: leavingWith(['w2']) }),
      row('one where it is alone', leavingWith(['w1', 'w2']), held('w2', { alone: true }), {
        reply: DONE,
        next: leavingWith(['w1'], ['w2']),
      }),
      row('an answer to an earlier attempt', leavingWith(['w1']), held('w1', { attempt: 3, owes: true }), {
        reply: DONE,
      }),
      row('an answer that comes too late', at({ status: 'active' }, { ...mine, deletion_attempts: 4 }), held('w1'), {
        reply: DONE,
      }),
      row('the last', last, held('w3'), deletes(last, ['w2'])),
      row('the last, alone there', leavingWith(['w2']), held('w2', { alone: true }), deletes(leavingWith([]), ['w2'])),
    ]);
  },
);

t.test('D-016 nothing has changed for an account that is kept', async (t) => {
  const state = leavingWith(['w1', 'w2', 'w3']);
  const kept = (why: 'owner' | 'late') => ({
    reply: DONE,
    next: at({ status: 'active', kept: why }, { ...mine, deletion_attempts: 4 }),
    effects: [...['w1', 'w2', 'w3'].map((id) => toWorkspace(id, 'release')), FORGET_LATE],
  });
  const keptPhase = (why: 'owner' | 'late'): Account => at({ status: 'active', kept: why });
  decideRows(t, kind, [
    row('it owes an owner', state, held('w2', { owes: true }), kept('owner')),
    row('nobody answers', state, { type: 'leaving_late', attempt: 4 }, kept('late')),
    row('nobody answered an earlier attempt', state, { type: 'leaving_late', attempt: 3 }, { reply: DONE }),
    row('it has answered', mine, { type: 'leaving_late', attempt: 3 }, { reply: DONE }),
    row('it stands: under way', state, outcome, { reply: { outcome: 'leaving' } }),
    ...[gone, at(erasingPhase), at({ status: 'erased' })].map((after) =>
      row(`it stands: ${after.phase.status}`, after, outcome, { reply: { outcome: 'deleted' } }),
    ),
    row('it stands: an owner is missing', keptPhase('owner'), outcome, {
      reply: { refused: 'WORKSPACE_OWNER_REQUIRED' },
    }),
    row('it stands: nobody answered', keptPhase('late'), outcome, {
      reply: { refused: 'UNAVAILABLE', retry_after_s: 5 },
    }),
    row('it stands: never asked', mine, outcome, { reply: { refused: 'UNAVAILABLE' } }),
  ]);
});

t.test('D-016 a workspace that holds still hears what came of it', async (t) => {
  const ask: AccountMessage = { type: 'hold_open', workspace_id: 'w9' };
  decideRows(t, kind, [
    row('under way', leavingWith(['w1']), ask, { reply: DONE }),
    row('kept', mine, ask, { reply: DONE, effects: [toWorkspace('w9', 'release')] }),
    ...[gone, at(erasingPhase), at({ status: 'erased' })].map((state) =>
      row(state.phase.status, state, ask, { reply: DONE, effects: [toWorkspace('w9', 'departed')] }),
    ),
  ]);
});

t.test('D-029 D-031 D-032 D-033 D-034 restoring', async (t) => {
  const returns = {
    reply: DONE,
    next: at({ status: 'active' }, gone),
    effects: [
      subscriptions('open'),
      event('account.restored'),
      { effect: 'cancel_reminder', name: 'erase_due' } as const,
      toWorkspace('w2', 'returned'),
    ],
  };
  const in_progress = { reply: { refused: 'ACCOUNT_DELETION_IN_PROGRESS' } } as const;
  const erased = at({ status: 'erased' }, ANN);
  decideRows(t, kind, [
    row('active', mine, restore, { reply: DONE }),
    row('under way', leavingWith(['w1']), restore, { reply: DONE }),
    row('deleted', gone, restore, returns),
    row('to the last millisecond', gone, restore, { ...returns, now_ms: ERASE_AT_MS - 1 }),
    row('erasing', at(erasingPhase), restore, in_progress),
    row('erased: a fresh account', erased, restore, {
      reply: DONE,
      next: { ...ANN, created_at_ms: NOW_MS },
    }),
  ]);
  const played = new Played(account, 'a');
  played.state = gone;
  played.now_ms = ERASE_AT_MS;
  t.match(played.send(restore).reply, in_progress.reply, 'too late: it begins to be erased');
  t.equal(played.state?.phase.status, 'erasing');
});

t.test(
  'D-033 D-037 at its time an account is erased: its workspaces go, and a fresh one stands in its place; switches and app sessions stay',
  async (t) => {
    const epochs = { account: 1, app_sessions: 2, grants: 3, tokens: 4 };
    const before: Account = { ...gone, name: 'Ann', epochs, meaning: { is_on: false, changes: 1 } };
    const workspaceDeleted = (id: string): Effect => ({
      effect: 'append_event',
      account_id: 'a',
      type: 'workspace.deleted',
      resource_id: id,
      data: { reason: 'account_deleted' },
    });
    const next: Account = {
      ...ANN,
      entitlements: before.entitlements,
      epochs: { account: 2, app_sessions: 2, grants: 4, tokens: 5 },
      private_workspace: { id: 'a00000002', number: 2, name: 'Private', retention: KEEP_FOR_EVER },
      deletion_attempts: before.deletion_attempts,
      phase: erasingPhase,
    };
    decideRows(t, kind, [
      row('not yet', before, { type: 'erase_due' }, { now_ms: ERASE_AT_MS - 1, reply: DONE }),
      row('restored meanwhile', mine, { type: 'erase_due' }, { now_ms: ERASE_AT_MS, reply: DONE }),
      row(
        'due',
        before,
        { type: 'erase_due' },
        {
          now_ms: ERASE_AT_MS,
          reply: DONE,
          next,
          effects: [
            ...(['account', 'grants', 'tokens'] as const).map(raised),
            { effect: 'delete_log', account_id: 'a' },
            subscriptions('gone'),
            workspaceDeleted('a00000001'),
            workspaceDeleted('w2'),
            toWorkspace('w2', 'erase'),
            told('email', 'ann@x.test', { type: 'forget_person' }),
            { effect: 'cancel_reminder', name: 'erase_due' },
            { effect: 'enqueue_job', job_id: 'erase:a', job: { job: 'erase_account', account_id: 'a' } },
          ],
        },
      ),
      row('again', next, { type: 'erase_due' }, { now_ms: ERASE_AT_MS, reply: DONE }),
    ]);
  },
);

t.test('D-033 an erasure goes on in steps, and ends once', async (t) => {
  const some = (removed: Record<string, number>): Account =>
    at({ status: 'erasing', began_at_ms: START_MS, removed }, { ...ANN, devices: 1 });
  const steps: AccountMessage[] = [{ type: 'erasure_progress', removed: { stream: 2 } }, { type: 'erased' }];
  decideRows(t, kind, [
    ...[mine, gone, at({ status: 'erased' })].flatMap((state) => [
      ...steps.map((message) => row(`${state.phase.status}: ${message.type}`, state, message, { reply: DONE })),
      row(`${state.phase.status}: devices`, state, { type: 'erase_devices' }, { reply: { left: false } }),
    ]),
    row(
      'noted',
      some({ stream: 3, source: 1 }),
      { type: 'erasure_progress', removed: { stream: 2, grant: 1 } },
      {
        reply: DONE,
        next: some({ stream: 5, source: 1, grant: 1 }),
      },
    ),
    row(
      'the end',
      some({}),
      { type: 'erased' },
      { reply: DONE, next: at({ status: 'erased' }, { ...ANN, devices: 1 }) },
    ),
    {
      ...row('devices', some({ devices: 100 }), { type: 'erase_devices' }, { reply: { left: false } }),
      records: { devices: { d: { binding_epoch: 'e' } } },
      next: { ...some({ devices: 101 }), devices: 0 },
      effects: [
        { effect: 'delete_record', collection: 'devices', id: 'd' },
        told('device', 'd', { type: 'unbind', binding_epoch: 'e' }),
        told('binding', 'e', { type: 'end' }),
        { effect: 'delete_collection', collection: 'device_sources' },
      ],
    },
  ]);
  const played = new Played(account, 'a');
  const count = ERASED_DEVICES_MAX + 1;
  played.state = { ...some({}), devices: count };
  for (let at = 0; at < count; at++) played.put('devices', `d${at}`, { value: { binding_epoch: `e${at}` }, order: at });
  t.same(played.ask({ type: 'erase_devices' }), { left: true });
  t.same(played.ask({ type: 'erase_devices' }), { left: false });
  t.equal(played.state?.devices, 0);
  t.equal(played.records('devices').size, 0);
});

t.test(
  'D-016 D-029 D-034 in any play an account is deleted only when all it asked said so, and counts its epochs',
  async (t) => {
    const workspace_id = fc.constantFrom('w1', 'w2', 'w3');
    const message: fc.Arbitrary<AccountMessage> = fc.oneof(
      { weight: 3, arbitrary: fc.constant(del) },
      {
        weight: 6,
        arbitrary: fc.record({
          type: fc.constant('held' as const),
          workspace_id,
          attempt: fc.constantFrom(1, 2, 3, 4),
          owes: fc.constant(false),
          alone: fc.boolean(),
        }),
      },
      workspace_id.map((id): AccountMessage => held(id, { owes: true, attempt: 2 })),
      workspace_id.map((id): AccountMessage => ({ type: 'hold_open', workspace_id: id })),
      fc.constantFrom<AccountMessage>(restore, restore, { type: 'erased' }, { type: 'erase_devices' }, outcome),
      workspace_id.map(
        (id): AccountMessage => ({
          type: 'joined',
          workspace: { workspace_id: id, name: 'Team', created_at_ms: START_MS },
          role: 'member',
          invitation_id: 'i',
        }),
      ),
    );
    const plays = anyPlay(message, [1, LIMITS.leaving_max_ms, LIMITS.erase_after_ms]);
    checkPlays(t, { plays, runs: 400 }, (steps) => {
      const played = new Played(account, 'a');
      played.state = { ...ANN, memberships: [membership('w1'), membership('w2')] };
      const answered = new Map<number, Set<string>>();
      for (const step of steps) {
        const before = played.state;
        const effects_before = played.effects.length;
        // No workspace takes it in once it is gone: nothing that it asked for is open then.
        if ('send' in step && step.send.type === 'joined' && before.phase.status !== 'active') continue;
        if ('pass' in step) played.pass(step.pass);
        else played.send(step.send);
        const state: Account = played.state;
        if ('send' in step && step.send.type === 'held') {
          const { attempt, workspace_id: by, owes } = step.send;
          if (before.phase.status === 'leaving' && attempt === before.deletion_attempts && !owes)
            answered.set(attempt, (answered.get(attempt) ?? new Set()).add(by));
        }
        const done = played.effects.slice(effects_before);
        const events = done.flatMap((effect) => (effect.effect === 'append_event' ? effect.type : []));
        const deletions = events.filter((type) => type === 'account.deleted').length;
        const is_deletion = before.phase.status !== 'deleted' && events.includes('account.deleted');
        if (deletions > (is_deletion ? 1 : 0)) throw new Error('deleted twice');
        if (is_deletion) {
          const all = answered.get(state.deletion_attempts) ?? new Set();
          if (before.memberships.some((kept) => !all.has(kept.workspace_id))) throw new Error('deleted unasked');
          for (const { workspace_id: id } of before.memberships)
            if (!done.some((effect) => effect.effect === 'notify' && effect.to.id === id)) throw new Error('not told');
        }
        if (state.phase.status === 'leaving' && !played.reminders.has('leaving_late'))
          throw new Error('leaving for ever');
        if (state.phase.status === 'deleted' && !played.reminders.has('erase_due')) throw new Error('never erased');
        if (state.phase.status === 'active' && played.reminders.has('erase_due')) throw new Error('to be erased');
        if (state.phase.status !== 'leaving' && played.reminders.has('leaving_late')) throw new Error('asks on');
        const raises = played.effects.filter(({ effect }) => effect === 'bump_epoch').length;
        const { epochs } = state;
        if (epochs.account + epochs.grants + epochs.tokens + epochs.app_sessions !== raises)
          throw new Error('miscounted');
      }
    });
  },
);
