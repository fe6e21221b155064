import t from 'tap';
import { type AccountMessage, account } from '../../../actors/accounts/account.js';
import type { Account, Membership } from '../../../actors/accounts/account_state.js';
import type { Effect, RepliesOf } from '../../../actors/actor.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { ANN, told, updatedIn } from '../../fixtures/account_state.js';
import { decideRows, type Row, START_MS } from '../../fixtures/decisions.js';

const kind = { kind: account, self: 'a' };
const DONE = { done: true } as const;
const sharing: Account = { ...ANN, entitlements: { 'workspace.sharing': true } };
const team: Membership = { workspace_id: 'w', name: 'Team', role: 'member', created_at_ms: START_MS };
const waits = { workspace_id: 'w', invitation_id: 'i' };
const [joining, member]: [Account, Account] = [
  { ...sharing, joining: [waits] },
  { ...sharing, memberships: [team] },
];
const create: AccountMessage = { type: 'create_workspace', workspace_id: 'w', name: 'Team' };
const accept: AccountMessage = { type: 'accept_invitation', ...waits };
const mail = { mail_id: 'm', sealed: new Uint8Array() };
const left = { status: 'deleted' as const, deleted_at_ms: START_MS, erase_at_ms: START_MS + 1 };
const workspaceEvent = (type: 'workspace.updated' | 'workspace.deleted', data: Record<string, unknown>): Effect => ({
  effect: 'append_event',
  account_id: 'a',
  type,
  resource_id: 'w',
  data,
});

type R = Row<Account, AccountMessage, RepliesOf<typeof account>>;
const row = (says: string, state: Account, message: AccountMessage, rest: Partial<R> & Pick<R, 'reply'>): R => ({
  says,
  state,
  message,
  ...rest,
});

t.test('I-002 I-011 joining: what is refused, one fault after the other', async (t) => {
  const full = (count: number, state = sharing): Account => ({
    ...state,
    memberships: Array.from({ length: count - 1 }, (_, at) => ({ ...team, workspace_id: `w${at}` })),
    joining: [{ workspace_id: 'x', invitation_id: 'x' }],
  });
  const most = LIMITS.workspaces_per_account_max;
  const leaving = { status: 'leaving' as const, unanswered: ['x'], alone: [], mail };
  const phases = [
    leaving,
    left,
    { status: 'erasing' as const, began_at_ms: 0, removed: {} },
    { status: 'erased' as const },
  ];
  for (const [ask, waiting, message] of [
    [
      create,
      { workspace_id: 'w', invitation_id: 'w' },
      { type: 'create', name: 'Team', owner: { account_id: 'a', email: 'ann@x.test' } },
    ],
    [accept, waits, { type: 'accept', invitation_id: 'i', account_id: 'a', email: 'ann@x.test' }],
  ] as const) {
    const off = { ...full(most, { ...sharing, phase: leaving }), entitlements: {} };
    decideRows(t, kind, [
      row('asked already', { ...off, joining: [waiting] }, ask, { reply: DONE }),
      row('sharing is off', off, ask, { reply: { refused: 'WORKSPACE_SHARING_REQUIRED' } }),
      ...phases.map((phase) =>
        row(`it is ${phase.status}`, full(most, { ...sharing, phase }), ask, { reply: { refused: 'UNAVAILABLE' } }),
      ),
      row('too many', full(most), ask, { reply: { refused: 'CONFLICT' } }),
      row('the last', full(most - 1), ask, {
        reply: DONE,
        next: { ...full(most - 1), joining: [...full(most - 1).joining, waiting] },
        effects: [told('workspace', 'w', message)],
      }),
    ]);
  }
  decideRows(t, kind, [row('made already', member, create, { reply: DONE })]);
});

t.test('I-002 workspaces made are counted by the day, after all other refusals', async (t) => {
  const budgeted: AccountMessage = { ...create, budgeted: true };
  const spent = { began_ms: START_MS, count: LIMITS.workspaces_made_max };
  const over = START_MS + LIMITS.workspaces_made_window_ms;
  const asked = { workspace_id: 'w', invitation_id: 'w' };
  const owner = { account_id: 'a', email: 'ann@x.test' };
  const effects = [told('workspace', 'w', { type: 'create', name: 'Team', owner })];
  const made = (state: Account, workspaces_made?: Account['workspaces_made']) => ({
    reply: DONE,
    next: { ...state, joining: [asked], ...(workspaces_made && { workspaces_made }) },
    effects,
  });
  const last: Account = { ...sharing, workspaces_made: { ...spent, count: spent.count - 1 } };
  const full: Account = { ...sharing, workspaces_made: spent };
  decideRows(t, kind, [
    row('sharing is off', { ...full, entitlements: {} }, budgeted, {
      reply: { refused: 'WORKSPACE_SHARING_REQUIRED' },
    }),
    row('made already', { ...full, memberships: [team] }, budgeted, { reply: DONE }),
    row('asked already', { ...full, joining: [asked] }, budgeted, { reply: DONE }),
    row('one too many', full, budgeted, {
      now_ms: over - 1_000,
      reply: { refused: 'TOO_MANY_REQUESTS', retry_after_s: 1 },
    }),
    row('the last of the day', last, budgeted, made(last, spent)),
    row('the first', sharing, budgeted, made(sharing, { began_ms: START_MS, count: 1 })),
    row('the next day', full, budgeted, { now_ms: over, ...made(full, { began_ms: over, count: 1 }) }),
    row('without a budget', full, create, made(full)),
  ]);
});

t.test('I-009 invitations sent are counted by the day', async (t) => {
  const take: AccountMessage = { type: 'take_invitation' };
  const spent = { began_ms: START_MS, count: LIMITS.invitations_of_account_max };
  const over = START_MS + LIMITS.invitations_window_ms;
  const full: Account = { ...ANN, invitations_sent: spent };
  const last: Account = { ...ANN, invitations_sent: { ...spent, count: spent.count - 1 } };
  decideRows(t, kind, [
    row('one too many', full, take, {
      now_ms: over - 1_000,
      reply: { refused: 'TOO_MANY_REQUESTS', retry_after_s: 1 },
    }),
    row('the last of the day', last, take, { reply: DONE, next: full }),
    row('the next day', full, take, {
      now_ms: over,
      reply: DONE,
      next: { ...ANN, invitations_sent: { began_ms: over, count: 1 } },
    }),
  ]);
});

t.test(
  'E-027 E-028 E-029 E-030 E-031 I-011 what a workspace tells is kept, with one event for each change',
  async (t) => {
    const joined = (role: Membership['role'], invitation_id = 'i'): AccountMessage => ({
      type: 'joined',
      workspace: { workspace_id: 'w', name: 'Team', created_at_ms: START_MS },
      role,
      invitation_id,
    });
    const news = (name: string, role: Membership['role'], changed_fields: string[] = []): AccountMessage => ({
      type: 'workspace_changed',
      workspace_id: 'w',
      name,
      role,
      changed_fields,
    });
    const other: Membership = { ...team, workspace_id: 'o' };
    const two = { ...member, memberships: [other, team] };
    const as = (of: Partial<Membership>) => ({ ...two, memberships: [other, { ...team, ...of }] });
    const rest = { ...member, memberships: [other] };
    const workspaces = updatedIn('workspaces');
    const stale = { workspace_id: 'w', invitation_id: 'older' };
    const asked_twice = { ...member, joining: [stale] };
    decideRows(t, kind, [
      row('joined', joining, joined('member'), { reply: DONE, next: member, effects: [workspaces] }),
      row('joined by another invitation', { ...joining, joining: [waits, stale] }, joined('member'), {
        reply: DONE,
        next: asked_twice,
        effects: [workspaces],
      }),
      row('joined already', asked_twice, joined('admin', 'older'), { reply: DONE, next: member }),
      row('not joined', joining, { type: 'not_joined', ...waits }, { reply: DONE, next: sharing }),
      row(
        'not joined: another waits',
        asked_twice,
        { type: 'not_joined', ...waits },
        { reply: DONE, next: asked_twice },
      ),

      row('changed: no member', sharing, news('New', 'admin', ['name']), { reply: DONE }),
      row('a role', two, news('Team', 'admin'), { reply: DONE, next: as({ role: 'admin' }), effects: [workspaces] }),
      row('a name', two, news('New', 'member', ['name']), {
        reply: DONE,
        next: as({ name: 'New' }),
        effects: [workspaces, workspaceEvent('workspace.updated', { changed_fields: ['name'] })],
      }),
      row('how long it keeps', two, news('Team', 'member', ['retention.audio']), {
        reply: DONE,
        next: two,
        effects: [workspaceEvent('workspace.updated', { changed_fields: ['retention.audio'] })],
      }),

      row('left: no member', sharing, { type: 'left', workspace_id: 'w' }, { reply: DONE }),
      row('left', two, { type: 'left', workspace_id: 'w' }, { reply: DONE, next: rest, effects: [workspaces] }),
      ...(['owner_deleted', 'staff_deleted'] as const).flatMap((reason) => [
        row(`${reason}: no member`, sharing, { type: 'workspace_deleted', workspace_id: 'w', reason }, { reply: DONE }),
        row(
          `${reason}`,
          two,
          { type: 'workspace_deleted', workspace_id: 'w', reason },
          {
            reply: DONE,
            next: rest,
            effects: [workspaces, workspaceEvent('workspace.deleted', { reason })],
          },
        ),
      ]),
    ]);
  },
);

t.test('I-011 how joining stands', async (t) => {
  const outcome: AccountMessage = { type: 'join_outcome', ...waits };
  decideRows(t, kind, [
    row('asked', joining, outcome, { reply: { outcome: 'asked' } }),
    row('asked, though a member', { ...member, joining: [waits] }, outcome, { reply: { outcome: 'asked' } }),
    row('joined', member, outcome, { reply: { outcome: 'joined' } }),
    row('neither', { ...sharing, joining: [{ ...waits, invitation_id: 'x' }] }, outcome, {
      reply: { outcome: 'not_joined' },
    }),
  ]);
});

t.test('I-016 I-017 E-031 the private workspace is changed without sharing, and stays', async (t) => {
  const { private_workspace } = ANN;
  const change = (of: Extract<AccountMessage, { type: 'change_private_workspace' }>['change']): AccountMessage => ({
    type: 'change_private_workspace',
    change: of,
  });
  const event = (changed_fields: string[]): Effect => ({
    effect: 'append_event',
    account_id: 'a',
    type: 'workspace.updated',
    resource_id: private_workspace.id,
    data: { changed_fields },
  });
  const renamed = { ...ANN, private_workspace: { ...private_workspace, name: 'Mine' } };
  const retention = { ...private_workspace.retention, insights: { days: 0 } };
  const kept = { ...ANN, private_workspace: { ...private_workspace, retention } };
  decideRows(t, kind, [
    row('renamed', ANN, change({ name: 'Mine' }), {
      reply: renamed,
      next: renamed,
      effects: [updatedIn('workspaces'), event(['name'])],
    }),
    row('the same', renamed, change({ name: 'Mine' }), { reply: renamed }),
    row('kept otherwise', ANN, change({ retention: { insights: { days: 0 } } }), {
      reply: kept,
      next: kept,
      effects: [
        event(['retention.insights']),
        {
          ...{ effect: 'notify', to: { kind: 'sweep', id: private_workspace.id } },
          message: { type: 'settings', retention, paused: false, owner: 'a' },
        },
      ],
    }),
    row('kept the same', kept, change({ retention: { insights: { days: 0 } } }), { reply: kept }),
  ]);
});
