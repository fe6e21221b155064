import fc from 'fast-check';
import t from 'tap';
import type { Effect, RepliesOf } from '../../../actors/actor.js';
import { type WorkspaceMessage, workspace } from '../../../actors/workspaces/workspace.js';
import type { Invitation, Member, Workspace } from '../../../actors/workspaces/workspace_state.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { KEEP_FOR_EVER } from '../../../src/domain/workspaces.js';
import { anyPlay, checkPlays, decideRows, Played, type Row, START_MS } from '../../fixtures/decisions.js';

const kind = { kind: workspace, self: 'w' };
const DONE = { done: true } as const;
const LATER_MS = START_MS + 7;
const turn = {
  now_ms: START_MS,
  self: 'w',
  certain_ms: 0,
  record: () => undefined,
  range: () => [],
  deliveryQueue: () => ({ entries: [], last: 0 }),
};
const mail = { mail_id: 'm', sealed: new Uint8Array([1]) };

const person = (account_id: string, role: Member['role']): Member => ({
  account_id,
  email: `${account_id}@x.test`,
  role,
  joined_at_ms: START_MS,
});
const [ann, bob, cy] = [person('ann', 'owner'), person('bob', 'admin'), person('cy', 'member')];
const invitation: Invitation = {
  id: 'i',
  email: 'dee@x.test',
  role: 'admin',
  invited_by: 'ann',
  created_at_ms: START_MS,
};
const base: Workspace = {
  name: 'Team',
  retention: KEEP_FOR_EVER,
  created_at_ms: START_MS,
  members: [ann, bob, cy],
  invitations: [],
  sent: { began_ms: START_MS, count: 0 },
  holds: [],
  dormant: false,
};
const alone: Workspace = { ...base, members: [ann] };
const invited: Workspace = { ...base, invitations: [invitation], sent: { began_ms: START_MS, count: 1 } };
const held: Workspace = { ...invited, holds: ['cy'] };
const dormant: Workspace = { ...alone, dormant: true };

const tell = (to: string, message: unknown): Effect => ({ effect: 'notify', to: { kind: 'account', id: to }, message });
const tellEmail = (id: string, message: unknown): Effect => ({ effect: 'notify', to: { kind: 'email', id }, message });
const changed = (to: string, role: Member['role'], changed_fields: string[] = [], name = 'Team'): Effect =>
  tell(to, { type: 'workspace_changed', workspace_id: 'w', name, role, changed_fields });
const left = (to: string): Effect => tell(to, { type: 'left', workspace_id: 'w' });
const shedding = (erased: boolean): Effect => ({
  effect: 'schedule_reminder',
  name: 'shed_streams',
  at_ms: START_MS,
  message: { type: 'shed_streams', erased },
});
const tellSweep = (message: unknown): Effect => ({ effect: 'notify', to: { kind: 'sweep', id: 'w' }, message });
const sweepEnds: Effect[] = [
  { effect: 'delete_collection', collection: 'recorders' },
  tellSweep({ type: 'workspace_gone' }),
];
const KEPT_DAYS = { ...KEEP_FOR_EVER, audio: { days: 30 } };
const uninvited = tellEmail('dee@x.test', { type: 'uninvited', invitation_id: 'i' });
const joined = (to: string, role: Member['role'], invitation_id: string): Effect =>
  tell(to, {
    type: 'joined',
    workspace: { workspace_id: 'w', name: 'Team', created_at_ms: START_MS },
    role,
    invitation_id,
  });
const notJoined = tell('dee', { type: 'not_joined', workspace_id: 'w', invitation_id: 'i' });
const askLater = (now_ms = START_MS): Effect => ({
  effect: 'schedule_reminder',
  name: 'ask_outcomes',
  at_ms: now_ms + LIMITS.hold_asks_after_ms,
  message: { type: 'ask_outcomes' },
});
const accept: WorkspaceMessage = { type: 'accept', invitation_id: 'i', account_id: 'dee', email: 'dee@x.test' };
const invite = (by: string, email: string, invitation_id = 'j'): WorkspaceMessage => ({
  type: 'invite',
  by,
  invitation_id,
  email,
  role: 'member',
  mail,
});
const sendMail = (now_ms: number): Effect => ({
  effect: 'enqueue_mail',
  ...mail,
  give_up_at_ms: now_ms + LIMITS.mail_retried_ms,
});

type R = Row<Workspace, WorkspaceMessage, RepliesOf<typeof workspace>>;
const row = (
  says: string,
  state: Workspace | null,
  message: WorkspaceMessage,
  rest: Partial<R> & Pick<R, 'reply'>,
): R => ({
  says,
  state,
  message,
  ...rest,
});
const refused = (
  code: 'NOT_FOUND' | 'FORBIDDEN' | 'CONFLICT' | 'WORKSPACE_OWNER_REQUIRED' | 'UNAVAILABLE' | 'TOO_MANY_REQUESTS',
) => ({ reply: { refused: code } }) as const;

/** Everything that members ask for, by what a role must hold for it. */
const asks = (by: string): Record<'read' | 'members' | 'manage', WorkspaceMessage[]> => ({
  read: [
    { type: 'view', by },
    { type: 'leave', by },
  ],
  members: [
    { type: 'view_invitations', by },
    invite(by, 'eve@x.test'),
    { type: 'withdraw', by, invitation_id: 'i' },
    { type: 'change_role', by, account_id: 'cy', role: 'admin' },
    { type: 'remove', by, account_id: 'cy' },
  ],
  manage: [
    { type: 'change', by, change: { name: 'New' } },
    { type: 'delete', by },
    { type: 'transfer', by, account_id: 'bob' },
  ],
});
const all = (by: string) => Object.values(asks(by)).flat();

t.test('I-002 E-028 a workspace is made once, by its owner', async (t) => {
  const create: WorkspaceMessage = { type: 'create', name: 'Team', owner: { account_id: 'ann', email: 'ann@x.test' } };
  decideRows(t, kind, [
    row('made', null, create, { reply: DONE, next: alone, effects: [joined('ann', 'owner', 'w')] }),
    row('again', base, { ...create, name: 'Other' }, { reply: DONE }),
  ]);
});

t.test('I-003 I-005 I-006 I-007 who may do what: a stranger sees nothing, each role has its part', async (t) => {
  decideRows(t, kind, [
    ...all('ann').map((message) => row(`gone: ${message.type}`, null, message, refused('NOT_FOUND'))),
    ...all('eve').map((message) => row(`a stranger: ${message.type}`, held, message, refused('NOT_FOUND'))),
    // Lack of the role comes before anything that the state of the workspace forbids.
    ...asks('cy').members.map((message) => row(`a member: ${message.type}`, held, message, refused('FORBIDDEN'))),
    ...asks('cy').manage.map((message) => row(`a member: ${message.type}`, held, message, refused('FORBIDDEN'))),
    ...asks('bob').manage.map((message) => row(`an admin: ${message.type}`, held, message, refused('FORBIDDEN'))),
    row('a member sees it', base, { type: 'view', by: 'cy' }, { reply: base }),
    row('an admin sees invitations', invited, { type: 'view_invitations', by: 'bob' }, { reply: invited }),
  ]);
  for (const message of asks('bob').members)
    t.notOk(isRefusal(workspace.decide(invited, message, turn).reply), `an admin may: ${message.type}`);
  for (const message of all('ann').filter(({ type }) => type !== 'leave'))
    t.notOk(isRefusal(workspace.decide(invited, message, turn).reply), `an owner may: ${message.type}`);
});

t.test('E-027 E-031 I-003 I-016 a change is told to each member, one that changes nothing to nobody', async (t) => {
  const change = (of: Extract<WorkspaceMessage, { type: 'change' }>['change']): WorkspaceMessage => ({
    type: 'change',
    by: 'ann',
    change: of,
  });
  const renamed = { ...base, name: 'New' };
  const kept = { ...KEEP_FOR_EVER, audio: { days: 30 }, voice: { days: 0 } };
  const told = (fields: string[], name: string) => [
    changed('ann', 'owner', fields, name),
    changed('bob', 'admin', fields, name),
    changed('cy', 'member', fields, name),
  ];
  decideRows(t, kind, [
    row('renamed', base, change({ name: 'New' }), { reply: renamed, next: renamed, effects: told(['name'], 'New') }),
    row('the same name', base, change({ name: 'Team' }), { reply: base }),
    row('kept otherwise', base, change({ retention: { voice: { days: 0 }, audio: { days: 30 } } }), {
      reply: { ...base, retention: kept },
      next: { ...base, retention: kept },
      effects: [
        ...told(['retention.audio', 'retention.voice'], 'Team'),
        tellSweep({ type: 'settings', retention: kept, paused: false }),
      ],
    }),
    row('the same retention', { ...base, retention: kept }, change({ retention: { audio: { days: 30 } } }), {
      reply: { ...base, retention: kept },
    }),
    row('nobody else is held up by a deletion', { ...renamed, holds: ['cy'] }, change({ name: 'Team' }), {
      reply: { ...base, holds: ['cy'] },
      next: { ...base, holds: ['cy'] },
      effects: told(['name'], 'Team'),
    }),
    row('dormant', dormant, change({ name: 'New' }), refused('CONFLICT')),
  ]);
});

t.test('E-029 I-015 the end of a workspace is told to every member and to whoever is invited', async (t) => {
  const ends = (reason: string) => ({
    reply: DONE,
    next: null,
    effects: [
      ...['ann', 'bob', 'cy'].map((id) => tell(id, { type: 'workspace_deleted', workspace_id: 'w', reason })),
      uninvited,
      { effect: 'cancel_reminder', name: 'ask_outcomes' } as const,
      ...sweepEnds,
      shedding(false),
    ],
  });
  decideRows(t, kind, [
    row('by its owner', invited, { type: 'delete', by: 'ann' }, ends('owner_deleted')),
    row('while it is held', held, { type: 'delete', by: 'ann' }, ends('owner_deleted')),
    row('dormant', dormant, { type: 'delete', by: 'ann' }, refused('CONFLICT')),
    row('by staff', invited, { type: 'staff_delete' }, ends('staff_deleted')),
    row(
      'by staff, dormant',
      dormant,
      { type: 'staff_delete' },
      {
        ...ends('staff_deleted'),
        effects: [
          tell('ann', { type: 'workspace_deleted', workspace_id: 'w', reason: 'staff_deleted' }),
          { effect: 'cancel_reminder', name: 'ask_outcomes' },
          ...sweepEnds,
          shedding(false),
        ],
      },
    ),
    row('by staff, gone', null, { type: 'staff_delete' }, refused('NOT_FOUND')),
  ]);
});

t.test('G-019 I-015 streams: members list them, and each hears when there is no workspace', async (t) => {
  const registered: WorkspaceMessage = {
    type: 'stream_registered',
    stream_id: 's',
    account_id: 'cy',
    registered_at_ms: 5,
  };
  const goes = (id: string): Effect => ({
    effect: 'notify',
    to: { kind: 'stream', id },
    message: { type: 'workspace_gone', workspace_id: 'w' },
  });
  const value = { account_id: 'cy' };
  const listed: Effect = { effect: 'put_record', collection: 'streams', id: 's', value, order: 5 };
  const recorder = { effect: 'put_record', collection: 'recorders', id: 'cy' } as const;
  const of_one = { records: { streams: { s: value } } };
  const list = (by: string): WorkspaceMessage => ({ type: 'list_streams', by, range: { limit: 3 } });
  decideRows(t, kind, [
    {
      says: 'registered',
      state: base,
      message: registered,
      reply: DONE,
      effects: [listed, { ...recorder, value: {} }, tellSweep({ type: 'recorder', account_id: 'cy' })],
    },
    {
      says: 'registered by one who is known to record here',
      state: base,
      records: { recorders: { cy: {} } },
      message: registered,
      reply: DONE,
      effects: [listed],
    },
    {
      says: 'its account is erased',
      state: base,
      message: { type: 'recorder_gone', account_id: 'cy' },
      reply: DONE,
      effects: [{ ...recorder, effect: 'delete_record' }],
    },
    { says: 'registered too late', state: null, message: registered, reply: DONE, effects: [goes('s')] },
    {
      says: 'erased',
      state: base,
      message: { type: 'stream_erased', stream_id: 's' },
      reply: DONE,
      effects: [{ effect: 'delete_record', collection: 'streams', id: 's' }],
    },
    ...['ann', 'cy'].map((by) => ({
      says: `listed by ${by}`,
      state: base,
      ...of_one,
      message: list(by),
      reply: { streams: [{ id: 's', order: 0, account_id: 'cy' }] },
    })),
    { says: 'listed by a stranger', state: base, ...of_one, message: list('dee'), reply: { refused: 'NOT_FOUND' } },
    { says: 'stands', state: dormant, message: { type: 'stands' }, reply: DONE },
    { says: 'gone', state: null, message: { type: 'stands' }, reply: { refused: 'NOT_FOUND' } },
    {
      says: 'sheds nothing while it stands',
      state: base,
      ...of_one,
      message: { type: 'shed_streams', erased: false },
      reply: DONE,
    },
    {
      says: 'sheds the last',
      state: null,
      ...of_one,
      message: { type: 'shed_streams', erased: false },
      reply: DONE,
      effects: [{ effect: 'delete_record', collection: 'streams', id: 's' }, goes('s')],
    },
    {
      says: 'sheds the last, and leaves nothing',
      state: null,
      message: { type: 'shed_streams', erased: true },
      reply: DONE,
      effects: [{ effect: 'delete' }],
    },
  ]);
  const played = new Played(workspace, 'w');
  const count = LIMITS.streams_shed_max * 2 + 5;
  for (let n = 0; n < count; n++) played.put('streams', `s${n}`, { value: { account_id: 'cy' }, order: n });
  played.send({ type: 'shed_streams', erased: false });
  played.pass(0);
  t.equal(played.records('streams').size, 0, 'one run after the other');
  t.equal(played.effects.filter(({ effect }) => effect === 'notify').length, count);
  t.ok(played.effects.filter(({ effect }) => effect === 'schedule_reminder').length === 2);
});

t.test('I-018 I-025 each member is told what was removed', async (t) => {
  const data = { changed_fields: ['audio' as const], buckets: {} };
  const news = { type: 'retention_applied', workspace_id: 'w', data } as const;
  decideRows(t, kind, [
    row('what was removed', base, news, {
      reply: DONE,
      effects: ['ann', 'bob', 'cy'].map((id) => tell(id, news)),
    }),
    row('what was removed there where nobody is', null, news, { reply: DONE }),
  ]);
});

t.test('I-004 I-005 E-027 members go', async (t) => {
  const without = (who: string, state = base): Workspace => ({
    ...state,
    members: state.members.filter(({ account_id }) => account_id !== who),
    holds: state.holds.filter((id) => id !== who),
  });
  const remove = (account_id: string, by = 'ann'): WorkspaceMessage => ({ type: 'remove', by, account_id });
  const leave = (by: string): WorkspaceMessage => ({ type: 'leave', by });
  decideRows(t, kind, [
    row('the owner', base, leave('ann'), refused('WORKSPACE_OWNER_REQUIRED')),
    row('the owner, alone', alone, leave('ann'), refused('WORKSPACE_OWNER_REQUIRED')),
    row('dormant', dormant, leave('ann'), refused('CONFLICT')),
    row('a member', base, leave('cy'), { reply: DONE, next: without('cy'), effects: [left('cy')] }),
    row('one who is to be deleted', held, leave('cy'), {
      reply: DONE,
      next: without('cy', held),
      effects: [left('cy')],
    }),
    row('removing: nobody', base, remove('eve'), refused('NOT_FOUND')),
    row('removing: oneself', base, remove('ann'), refused('CONFLICT')),
    row('removing: the owner', base, remove('ann', 'bob'), refused('WORKSPACE_OWNER_REQUIRED')),
    row('removing: a member', base, remove('cy', 'bob'), { reply: DONE, next: without('cy'), effects: [left('cy')] }),
    row('removing: one who is to be deleted', held, remove('cy'), {
      reply: DONE,
      next: without('cy', held),
      effects: [left('cy')],
    }),
  ]);
});

t.test('I-003 I-005 E-027 roles: given to members, and the ownership handed on', async (t) => {
  const role = (account_id: string, given: 'member' | 'admin', by = 'ann'): WorkspaceMessage => ({
    type: 'change_role',
    by,
    account_id,
    role: given,
  });
  const transfer = (account_id: string): WorkspaceMessage => ({ type: 'transfer', by: 'ann', account_id });
  const given = { ...cy, role: 'admin' as const };
  const handed = { ...base, members: [{ ...ann, role: 'admin' as const }, bob, { ...cy, role: 'owner' as const }] };
  decideRows(t, kind, [
    row('nobody', base, role('eve', 'admin'), refused('NOT_FOUND')),
    row("the owner's", base, role('ann', 'admin', 'bob'), refused('WORKSPACE_OWNER_REQUIRED')),
    row('the same', base, role('cy', 'member'), { reply: cy }),
    row('another', base, role('cy', 'admin', 'bob'), {
      reply: given,
      next: { ...base, members: [ann, bob, given] },
      effects: [changed('cy', 'admin')],
    }),
    row('transfer: to nobody', held, transfer('eve'), refused('NOT_FOUND')),
    row('transfer: to the owner', held, transfer('ann'), { reply: DONE }),
    row('transfer: while it is held', held, transfer('cy'), refused('UNAVAILABLE')),
    row('transfer', base, transfer('cy'), {
      reply: DONE,
      next: handed,
      effects: [changed('ann', 'admin'), changed('cy', 'owner')],
    }),
    row('transfer: dormant', dormant, transfer('ann'), refused('CONFLICT')),
  ]);
});

t.test('I-009 I-012 E-030 an invitation: what is refused, one fault after the other', async (t) => {
  const made: Invitation = {
    id: 'j',
    email: 'eve@x.test',
    role: 'member',
    invited_by: 'bob',
    created_at_ms: LATER_MS,
  };
  const of = (count: number): Invitation[] =>
    Array.from({ length: count }, (_, index) => ({ ...invitation, id: `i${index}`, email: `${index}@x.test` }));
  const spent = { began_ms: START_MS, count: LIMITS.invitations_per_day_max };
  const full: Workspace = { ...base, invitations: of(LIMITS.workspace_members_max - 3), sent: spent };
  const last: Workspace = { ...full, invitations: of(LIMITS.workspace_members_max - 4) };
  const sent = (state: Workspace, count: number, began_ms = START_MS, at_ms = LATER_MS) => ({
    reply: { ...made, created_at_ms: at_ms },
    next: {
      ...state,
      invitations: [...state.invitations, { ...made, created_at_ms: at_ms }],
      sent: { began_ms, count },
    },
    effects: [tellEmail('eve@x.test', { type: 'invited', invitation_id: 'j', workspace_id: 'w' }), sendMail(at_ms)],
  });
  const late = START_MS + LIMITS.invitations_window_ms;
  decideRows(t, kind, [
    row('dormant', dormant, invite('ann', 'eve@x.test'), refused('CONFLICT')),
    row('the same again', invited, invite('ann', 'dee@x.test', 'i'), { reply: invitation }),
    row('a member', full, invite('bob', 'cy@x.test'), { reply: { refused: 'CONFLICT', message: /belongs/ } }),
    row('invited already', full, invite('bob', '0@x.test'), {
      reply: { refused: 'CONFLICT', message: /already invited/ },
    }),
    row('full', full, invite('bob', 'eve@x.test'), { reply: { refused: 'CONFLICT', message: /at most/ } }),
    row('too many today', last, invite('bob', 'eve@x.test'), refused('TOO_MANY_REQUESTS')),
    row('too many, to the last millisecond', last, invite('bob', 'eve@x.test'), {
      now_ms: late - 1,
      ...refused('TOO_MANY_REQUESTS'),
    }),
    row('the next day', last, invite('bob', 'eve@x.test'), { now_ms: late, ...sent(last, 1, late, late) }),
    row('the last of the day', { ...last, sent: { ...spent, count: spent.count - 1 } }, invite('bob', 'eve@x.test'), {
      now_ms: LATER_MS,
      ...sent(last, spent.count),
    }),
    row('sent', invited, invite('bob', 'eve@x.test'), { now_ms: LATER_MS, ...sent(invited, 2) }),
    row('withdrawn: none', invited, { type: 'withdraw', by: 'bob', invitation_id: 'x' }, refused('NOT_FOUND')),
    row(
      'withdrawn',
      invited,
      { type: 'withdraw', by: 'bob', invitation_id: 'i' },
      {
        reply: DONE,
        next: { ...invited, invitations: [] },
        effects: [uninvited],
      },
    ),
  ]);
});

t.test('I-010 I-011 E-030 D-036 an invitation is answered once, by whom it is addressed to', async (t) => {
  const look = (type: 'invitation' | 'decline', invitation_id = 'i', email = 'dee@x.test'): WorkspaceMessage => ({
    type,
    invitation_id,
    email,
  });
  const dee: Member = { account_id: 'dee', email: 'dee@x.test', role: 'admin', joined_at_ms: LATER_MS };
  decideRows(t, kind, [
    ...(['invitation', 'decline'] as const).flatMap((type) => [
      row(`${type}: gone`, null, look(type), refused('NOT_FOUND')),
      row(`${type}: none`, invited, look(type, 'x'), refused('NOT_FOUND')),
      row(`${type}: another's`, invited, look(type, 'i', 'cy@x.test'), refused('NOT_FOUND')),
    ]),
    row('seen', invited, look('invitation'), { reply: { invitation, workspace_name: 'Team' } }),
    row('declined', held, look('decline'), { reply: DONE, next: { ...held, invitations: [] }, effects: [uninvited] }),
    row('accepted: gone', null, accept, { reply: DONE, effects: [notJoined] }),
    row('accepted: none', base, accept, { reply: DONE, effects: [notJoined] }),
    row("accepted: another's", invited, { ...accept, email: 'cy@x.test' }, { reply: DONE, effects: [notJoined] }),
    row('accepted while it is held: it still stands', held, accept, { reply: DONE, effects: [notJoined] }),
    row('accepted', invited, accept, {
      now_ms: LATER_MS,
      reply: DONE,
      next: { ...invited, members: [...invited.members, dee], invitations: [] },
      effects: [joined('dee', 'admin', 'i'), uninvited],
    }),
  ]);
});

t.test('D-016 D-025 D-026 D-029 a workspace holds still for a deletion until its outcome', async (t) => {
  const hold = (account_id: string): WorkspaceMessage => ({ type: 'hold', account_id, attempt: 4 });
  const news = (to: string, of: { owes: boolean; alone: boolean }) =>
    tell(to, { type: 'held', workspace_id: 'w', attempt: 4, ...of });
  const by = (type: 'release' | 'departed' | 'returned' | 'erase', account_id: string): WorkspaceMessage => ({
    type,
    account_id,
  });
  const nothing = { reply: DONE };
  const aloneHeld = { ...alone, holds: ['ann'], invitations: [invitation] };
  decideRows(t, kind, [
    row('gone', null, hold('ann'), { ...nothing, effects: [news('ann', { owes: false, alone: false })] }),
    row('no member', base, hold('eve'), { ...nothing, effects: [news('eve', { owes: false, alone: false })] }),
    row('a member', base, hold('cy'), {
      ...nothing,
      next: { ...base, holds: ['cy'] },
      effects: [news('cy', { owes: false, alone: false }), askLater()],
    }),
    row('the same again, beside another', { ...base, holds: ['cy', 'bob'] }, hold('cy'), {
      ...nothing,
      next: { ...base, holds: ['bob', 'cy'] },
      effects: [news('cy', { owes: false, alone: false }), askLater()],
    }),
    row('the owner of others', base, hold('ann'), {
      ...nothing,
      next: { ...base, holds: ['ann'] },
      effects: [news('ann', { owes: true, alone: false }), askLater()],
    }),
    row('the owner, alone', alone, hold('ann'), {
      ...nothing,
      next: { ...alone, holds: ['ann'] },
      effects: [news('ann', { owes: false, alone: true }), askLater()],
    }),
    row('released: gone', null, by('release', 'cy'), nothing),
    row('released: another', held, by('release', 'bob'), nothing),
    row('released', held, by('release', 'cy'), { ...nothing, next: invited }),
    row('departed: gone', null, by('departed', 'cy'), nothing),
    row('departed: no member', held, by('departed', 'eve'), nothing),
    row('departed', held, by('departed', 'cy'), { ...nothing, next: { ...invited, members: [ann, bob] } }),
    row('departed: nobody is left to see it', aloneHeld, by('departed', 'ann'), {
      ...nothing,
      next: dormant,
      effects: [uninvited],
    }),
    row('returned: gone', null, by('returned', 'ann'), nothing),
    row('returned', dormant, by('returned', 'ann'), { ...nothing, next: alone }),
    row(
      'departed: nobody is left, and not all is kept',
      { ...aloneHeld, retention: KEPT_DAYS },
      by('departed', 'ann'),
      {
        ...nothing,
        next: { ...dormant, retention: KEPT_DAYS },
        effects: [uninvited, tellSweep({ type: 'settings', retention: KEPT_DAYS, paused: true })],
      },
    ),
    row('returned, and not all is kept', { ...dormant, retention: KEPT_DAYS }, by('returned', 'ann'), {
      ...nothing,
      next: { ...alone, retention: KEPT_DAYS },
      effects: [tellSweep({ type: 'settings', retention: KEPT_DAYS, paused: false })],
    }),
    row('returned: it did not wait', base, by('returned', 'ann'), nothing),
    row('erased: gone', null, by('erase', 'ann'), nothing),
    row('erased: it does not wait for that', base, by('erase', 'ann'), nothing),
    row('asks: gone', null, { type: 'ask_outcomes' }, nothing),
    row('asks: nobody', base, { type: 'ask_outcomes' }, nothing),
    row(
      'asks',
      { ...base, holds: ['cy', 'bob'] },
      { type: 'ask_outcomes' },
      {
        now_ms: LATER_MS,
        ...nothing,
        effects: [
          tell('cy', { type: 'hold_open', workspace_id: 'w' }),
          tell('bob', { type: 'hold_open', workspace_id: 'w' }),
          askLater(LATER_MS),
        ],
      },
    ),
  ]);
});

t.test('D-037 a workspace that waits for its only member goes with it, and leaves nothing', async (t) => {
  const played = new Played(workspace, 'w');
  played.state = dormant;
  const { effects = [] } = played.send({ type: 'erase', account_id: 'ann' });
  t.equal(played.state, null);
  t.same(effects.at(-1), { effect: 'delete' });
  t.notOk(
    effects.some((one) => one.effect === 'append_event' || (one.effect === 'notify' && one.to.kind === 'account')),
    'its member has recorded the end already',
  );
});

t.test(
  'I-003 I-011 in any play everybody ends as told, with one owner, and nobody joins while it is held',
  async (t) => {
    const who = fc.constantFrom('ann', 'bob', 'cy', 'dee');
    const invitation_id = fc.constantFrom('1', '2', '3', '4', '5', '6');
    const email = who.map((id) => `${id}@x.test`);
    const role = fc.constantFrom('member' as const, 'admin' as const);
    const of = <Type extends string>(type: Type) => fc.constant(type);
    const message: fc.Arbitrary<WorkspaceMessage> = fc.oneof(
      fc.record({ type: of('invite'), by: who, invitation_id, email, role, mail: fc.constant(mail) }),
      fc.record({ type: of('invite'), by: who, invitation_id, email, role, mail: fc.constant(mail) }),
      fc.tuple(invitation_id, who).map(([id, account_id]) => ({
        type: 'accept' as const,
        invitation_id: id,
        account_id,
        email: `${account_id}@x.test`,
      })),
      fc.tuple(invitation_id, who).map(([id, account_id]) => ({
        type: 'accept' as const,
        invitation_id: id,
        account_id,
        email: `${account_id}@x.test`,
      })),
      fc.record({ type: of('decline'), invitation_id, email }),
      fc.record({ type: of('withdraw'), by: who, invitation_id }),
      fc.record({ type: of('leave'), by: who }),
      fc.record({ type: of('remove'), by: who, account_id: who }),
      fc.record({ type: of('change_role'), by: who, account_id: who, role }),
      fc.record({ type: of('transfer'), by: who, account_id: who }),
      fc.record({ type: of('change'), by: who, change: fc.record({ name: fc.constantFrom('Team', 'New') }) }),
      fc.record({ type: of('hold'), account_id: who, attempt: fc.constant(1) }),
      fc.record({
        type: fc.constantFrom('release' as const, 'departed' as const, 'returned' as const),
        account_id: who,
      }),
    );
    checkPlays(t, { plays: anyPlay(message, [LIMITS.hold_asks_after_ms]), runs: 400 }, (steps) => {
      const played = new Played(workspace, 'w');
      played.send({ type: 'create', name: 'Team', owner: { account_id: 'ann', email: 'ann@x.test' } });
      for (const step of steps) {
        const before = played.state;
        if ('pass' in step) played.pass(step.pass);
        else if (isPossible(step.send, before)) played.send(step.send);
        const state = played.state;
        if (state === null || before === null) throw new Error('it ended');
        const ids = state.members.map(({ account_id }) => account_id);
        if (state.holds.some((id) => !ids.includes(id))) throw new Error('it holds for nobody');
        if (state.holds.length > 0 !== played.reminders.has('ask_outcomes') && state.holds.length > 0)
          throw new Error('a hold that is never asked for');
        if (before.holds.length > 0 && ids.length > before.members.length) throw new Error('joined while it was held');
        if (state.dormant && (ids.length > 1 || state.invitations.length > 0)) throw new Error('seen while dormant');
        const told = toldMembers(played.effects);
        for (const { account_id, role: kept } of state.members)
          if (told.get(account_id) !== `${kept} ${state.name}`) throw new Error(`${account_id} was told otherwise`);
        const addressed = toldInvitations(played.effects);
        if (addressed.size !== state.invitations.length) throw new Error('invitations were told otherwise');
      }
    });

    /** An account departs only when all has been asked of the workspace, and then hears nothing of it any more. */
    function isPossible(sent: WorkspaceMessage, state: Workspace | null): boolean {
      if (sent.type !== 'departed') return true;
      const is_owner = state?.members.some(
        ({ account_id, role: kept }) => account_id === sent.account_id && kept === 'owner',
      );
      return state?.holds.includes(sent.account_id) === true && (!is_owner || state.members.length === 1);
    }
  },
);

/** What each member knows of the workspace after what it was told. */
function toldMembers(effects: Effect[]): Map<string, string> {
  const known = new Map<string, string>();
  for (const effect of effects) {
    if (effect.effect !== 'notify' || effect.to.kind !== 'account') continue;
    const news = effect.message as { type: string; role: string; name: string; workspace: { name: string } };
    if (news.type === 'joined') known.set(effect.to.id, `${news.role} ${news.workspace.name}`);
    if (news.type === 'workspace_changed') known.set(effect.to.id, `${news.role} ${news.name}`);
    if (news.type === 'left') known.delete(effect.to.id);
  }
  return known;
}

function toldInvitations(effects: Effect[]): Set<string> {
  const known = new Set<string>();
  for (const effect of effects) {
    if (effect.effect !== 'notify' || effect.to.kind !== 'email') continue;
    const { type, invitation_id } = effect.message as { type: string; invitation_id: string };
    if (type === 'invited') known.add(`${effect.to.id} ${invitation_id}`);
    else known.delete(`${effect.to.id} ${invitation_id}`);
  }
  return known;
}
