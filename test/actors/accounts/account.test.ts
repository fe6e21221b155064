import fc from 'fast-check';
import t from 'tap';
import { type AccountMessage, account } from '../../../actors/accounts/account.js';
import type { BoundDevice, ListedDevice } from '../../../actors/accounts/account_devices.js';
import type { Account } from '../../../actors/accounts/account_state.js';
import type { Effect, EpochName, OutboxMessage } from '../../../actors/actor.js';
import { ENTITLEMENTS, type Entitlement, PERMISSIONS, permissionsOf } from '../../../src/domain/permissions.js';
import { ANN, updatedIn } from '../../fixtures/account_state.js';
import { anyPlay, checkPlays, decideRows, Played, START_MS } from '../../fixtures/decisions.js';

const kind = { kind: account, self: 'a' };
const DONE = { done: true } as const;
const create: AccountMessage = { type: 'create', email: 'ann@x.test' };
const DEVELOPER = ['pipelines:experimental', 'debug:read', 'debug:write'];
const permissions = PERMISSIONS.filter((permission) => !DEVELOPER.includes(permission));

t.test('A-014 A-015 an account is created once', async (t) => {
  decideRows(t, kind, [
    {
      says: 'created',
      state: null,
      message: create,
      reply: DONE,
      next: ANN,
      effects: [{ effect: 'append_event', account_id: 'a', type: 'account.created', resource_id: 'a' }],
    },
    { says: 'again', state: ANN, now_ms: START_MS + 1, message: create, reply: DONE },
    ...[
      { type: 'view' } as const,
      { type: 'rename', name: 'Ann' } as const,
      { type: 'switch_entitlement', entitlement: 'audio.access', enabled: false } as const,
      { type: 'device_bound', device_id: 'd', binding_epoch: 'e', source_id: 's', claim_id: 'c' } as const,
      { type: 'list_devices', range: { limit: 1 } } as const,
      { type: 'remove_device', device_id: 'd' } as const,
      { type: 'sign_out_everywhere', app_sessions: true } as const,
      { type: 'end_grants' } as const,
    ].map((message) => ({
      says: `unknown: ${message.type}`,
      state: null,
      message,
      reply: { refused: 'UNAUTHORIZED' as const },
    })),
  ]);
});

t.test('D-008 D-012 D-013 a name that changes is an event, one that stays is none', async (t) => {
  const ann = { ...ANN, name: 'Ann' };
  const rename = (name: string | null): AccountMessage => ({ type: 'rename', name });
  decideRows(t, kind, [
    { says: 'viewed', state: ANN, message: { type: 'view' }, reply: ANN },
    { says: 'named', state: ANN, message: rename('Ann'), reply: ann, next: ann, effects: [updatedIn('name')] },
    { says: 'the same', state: ann, message: rename('Ann'), reply: ann },
    {
      says: 'cleared',
      state: ann,
      message: rename(null),
      reply: ANN,
      next: ANN,
      effects: [updatedIn('name')],
    },
    { says: 'cleared again', state: ANN, message: rename(null), reply: ANN },
  ]);
});

t.test(
  'K-275 recall by meaning is on until it is switched off, and what follows the switch is told once',
  async (t) => {
    const off = { ...ANN, meaning: { is_on: false, changes: 1 } };
    const on = { ...ANN, meaning: { is_on: true, changes: 2 } };
    const switched = (is_on: boolean): AccountMessage => ({ type: 'switch_meaning', is_on });
    const due = { owner: 'vectors', index: 'switched', member: 'a' };
    const effects = [updatedIn('recall_settings'), { effect: 'add_to_index' as const, ...due, order: START_MS }];
    decideRows(t, kind, [
      { says: 'it is on', state: ANN, message: switched(true), reply: ANN },
      { says: 'switched off', state: ANN, message: switched(false), reply: off, next: off, effects },
      { says: 'again', state: off, message: switched(false), reply: off },
      { says: 'switched on', state: off, message: switched(true), reply: on, next: on, effects },
      {
        says: 'followed before the last switch',
        state: on,
        message: { type: 'meaning_applied', changes: 1 },
        reply: DONE,
      },
      {
        says: 'followed',
        state: on,
        message: { type: 'meaning_applied', changes: 2 },
        reply: DONE,
        effects: [{ effect: 'remove_from_index', ...due }],
      },
    ]);
  },
);

t.test('D-053 D-054 D-055 D-056 D-059 what staff switch', async (t) => {
  type Switch = { entitlement: Entitlement; fields: string[]; without?: string[]; on_at_first?: true };
  const rows: Switch[] = [
    { entitlement: 'developer.tools', fields: ['permissions', 'developer_enabled'] },
    { entitlement: 'audio.access', fields: ['permissions'], without: ['audio:read', 'audio:write'], on_at_first: true },
    {
      entitlement: 'transcripts.access',
      fields: ['permissions'],
      without: ['turns:read', 'turns:write'],
      on_at_first: true,
    },
    {
      entitlement: 'insights.access',
      fields: ['permissions'],
      without: ['insights:read', 'insights:write'],
      on_at_first: true,
    },
    { entitlement: 'workspace.sharing', fields: ['sharing_enabled'] },
    { entitlement: 'agent.experimental', fields: ['agent_enabled'] },
  ];
  t.same(
    rows.map(({ entitlement }) => entitlement),
    [...ENTITLEMENTS],
  );
  for (const { entitlement, fields, without = [], on_at_first = false } of rows) {
    const at_first = { ...ANN, entitlements: { [entitlement]: on_at_first } };
    const switched = { ...ANN, entitlements: { [entitlement]: !on_at_first } };
    const then =
      entitlement === 'developer.tools'
        ? [...PERMISSIONS]
        : permissions.filter((permission) => !without.includes(permission));
    t.same(permissionsOf(ANN.entitlements), permissions);
    t.same(permissionsOf(switched.entitlements), then, `${entitlement}: permissions when switched`);
    const to = (enabled: boolean): AccountMessage => ({ type: 'switch_entitlement', entitlement, enabled });
    decideRows(t, kind, [
      { says: `${entitlement}: as by default`, state: ANN, message: to(on_at_first), reply: ANN },
      {
        says: `${entitlement}: switched`,
        state: ANN,
        message: to(!on_at_first),
        reply: switched,
        next: switched,
        effects: [updatedIn(...fields)],
      },
      { says: `${entitlement}: the same`, state: switched, message: to(!on_at_first), reply: switched },
      {
        says: `${entitlement}: back`,
        state: switched,
        message: to(on_at_first),
        reply: at_first,
        next: at_first,
        effects: [updatedIn(...fields)],
      },
    ]);
  }
});

const raise = (epoch: EpochName): Effect => ({ effect: 'bump_epoch', account_id: 'a', epoch });

t.test('signing out everywhere raises the epochs of what it ends, and no others', async (t) => {
  const before: Account = { ...ANN, epochs: { account: 1, app_sessions: 2, grants: 3, tokens: 4 } };
  const all: Account = { ...before, epochs: { account: 1, app_sessions: 3, grants: 4, tokens: 5 } };
  const no_sessions: Account = { ...before, epochs: { ...all.epochs, app_sessions: 2 } };
  const only_grants: Account = { ...before, epochs: { ...before.epochs, grants: 4 } };
  decideRows(t, kind, [
    {
      says: 'by an app session',
      state: before,
      message: { type: 'sign_out_everywhere', app_sessions: true },
      reply: DONE,
      next: all,
      effects: [raise('grants'), raise('tokens'), raise('app_sessions')],
    },
    {
      says: 'by another app: app sessions stay',
      state: before,
      message: { type: 'sign_out_everywhere', app_sessions: false },
      reply: DONE,
      next: no_sessions,
      effects: [raise('grants'), raise('tokens')],
    },
    {
      says: 'grants and browser sessions alone',
      state: before,
      message: { type: 'end_grants' },
      reply: DONE,
      next: only_grants,
      effects: [raise('grants')],
    },
  ]);
});

t.test('in any play the epochs of an account are as often raised as its commits were told', async (t) => {
  const message = fc.constantFrom<AccountMessage>(
    create,
    { type: 'view' },
    { type: 'rename', name: 'Ann' },
    { type: 'sign_out_everywhere', app_sessions: true },
    { type: 'sign_out_everywhere', app_sessions: false },
    { type: 'end_grants' },
  );
  checkPlays(t, { plays: anyPlay(message, [1]), runs: 200 }, (steps) => {
    const played = new Played(account, 'a');
    for (const step of steps) {
      if ('pass' in step) played.pass(step.pass);
      else played.send(step.send);
      const epochs = { account: 0, app_sessions: 0, grants: 0, tokens: 0 };
      for (const effect of played.effects) if (effect.effect === 'bump_epoch') epochs[effect.epoch] += 1;
      // Credentials are issued under what the account says; commits are guarded by what was raised.
      for (const [name, value] of Object.entries(played.state?.epochs ?? epochs)) {
        if (value !== epochs[name as EpochName]) throw new Error(`the epoch of ${name} is ${value}`);
      }
    }
  });
});

const deviceBound = (binding_epoch: string, source_id: string, again: { again?: true } = {}): AccountMessage => ({
  type: 'device_bound',
  device_id: 'd',
  binding_epoch,
  source_id,
  claim_id: `claim of ${binding_epoch}`,
  ...again,
});
const bound = (binding_epoch: string, source_id: string): BoundDevice => ({
  kind: 'personal',
  bound_at_ms: START_MS,
  binding_epoch,
  source_id,
});
const put = (value: BoundDevice): Effect => ({
  effect: 'put_record',
  collection: 'devices',
  id: 'd',
  value,
  order: START_MS,
});
const opens = (epoch: string, source_id: string): Effect => ({
  effect: 'notify',
  to: { kind: 'binding', id: epoch },
  message: {
    type: 'open',
    account_id: 'a',
    workspace_id: 'a00000001',
    device_id: 'd',
    source_id,
    claim_id: `claim of ${epoch}`,
  },
});
const ends = (epoch: string): Effect => ({
  effect: 'notify',
  to: { kind: 'binding', id: epoch },
  message: {
    type: 'end',
    unopened: { account_id: 'a', workspace_id: 'a00000001', device_id: 'd', source_id: 's1' },
  },
});

t.test('H-028 a device that is bound gets a binding, and a source once', async (t) => {
  const one = { ...ANN, devices: 1 };
  const sources = { d: { source_id: 's1' } };
  decideRows(t, kind, [
    {
      says: 'the first time',
      state: ANN,
      message: deviceBound('e1', 's1'),
      reply: DONE,
      next: one,
      effects: [
        put(bound('e1', 's1')),
        { effect: 'put_record', collection: 'device_sources', id: 'd', value: { source_id: 's1' } },
        {
          effect: 'notify',
          to: { kind: 'source', id: 's1' },
          message: { type: 'create', account_id: 'a', device_id: 'd', goes_on: opens('e1', 's1') },
        },
      ],
    },
    {
      says: 'by a second claim: the earlier binding ends',
      state: one,
      records: { devices: { d: bound('e1', 's1') }, device_sources: sources },
      message: deviceBound('e2', 's2'),
      reply: DONE,
      next: one,
      effects: [put(bound('e2', 's1')), ends('e1'), opens('e2', 's1')],
    },
    {
      says: 'by the same claim: it stays',
      state: one,
      records: { devices: { d: bound('e1', 's1') }, device_sources: sources },
      message: deviceBound('e1', 's1'),
      reply: DONE,
      next: one,
      effects: [put(bound('e1', 's1')), opens('e1', 's1')],
    },
    {
      says: 'by another claim, still bound: it stays, and since when',
      state: one,
      now_ms: START_MS + 1,
      records: { devices: { d: bound('e1', 's1') }, device_sources: sources },
      message: deviceBound('e1', 's2', { again: true }),
      reply: DONE,
      next: one,
      effects: [put(bound('e1', 's1')), opens('e1', 's1')],
    },
    {
      says: 'the same, and its source was deleted: it gets another one',
      state: one,
      records: { devices: { d: bound('e1', 's1') } },
      message: deviceBound('e1', 's2', { again: true }),
      reply: DONE,
      next: one,
      effects: [
        put(bound('e1', 's2')),
        { effect: 'put_record', collection: 'device_sources', id: 'd', value: { source_id: 's2' } },
        {
          effect: 'notify',
          to: { kind: 'source', id: 's2' },
          message: { type: 'create', account_id: 'a', device_id: 'd', goes_on: opens('e1', 's2') },
        },
      ],
    },
    {
      says: 'the same, and it was removed meanwhile: it is to ask again',
      state: ANN,
      records: { device_sources: sources },
      message: deviceBound('e1', 's2', { again: true }),
      reply: DONE,
      effects: [
        { effect: 'notify', to: { kind: 'device', id: 'd' }, message: { type: 'unbind', binding_epoch: 'e1' } },
        {
          effect: 'notify',
          to: { kind: 'claim', id: 'claim of e1' },
          message: { type: 'answered', device_id: 'd', outcome: 'removed' },
        },
      ],
    },
    {
      says: 'after it was removed: the same source',
      state: ANN,
      records: { device_sources: sources },
      message: deviceBound('e3', 's3'),
      reply: DONE,
      next: one,
      effects: [put(bound('e3', 's1')), opens('e3', 's1')],
    },
    {
      says: 'removed',
      state: one,
      records: { devices: { d: bound('e1', 's1') } },
      message: { type: 'remove_device', device_id: 'd' },
      reply: DONE,
      next: ANN,
      effects: [
        { effect: 'delete_record', collection: 'devices', id: 'd' },
        ends('e1'),
        { effect: 'notify', to: { kind: 'device', id: 'd' }, message: { type: 'unbind', binding_epoch: 'e1' } },
      ],
    },
    {
      says: 'removed from a session, which lets go of it once it has ended',
      state: { ...one, sessions: ['e1', 'e0'] },
      records: { devices: { d: { ...bound('e1', 's1'), kind: 'shared' } } },
      message: { type: 'remove_device', device_id: 'd' },
      reply: DONE,
      next: { ...ANN, sessions: ['e1', 'e0'] },
      effects: [
        { effect: 'delete_record', collection: 'devices', id: 'd' },
        ...['e1', 'e0'].map((id) => ({
          ...{ effect: 'notify' as const, to: { kind: 'device_session' as const, id } },
          message: { type: 'device_removed' as const, device_id: 'd', binding_epoch: 'e1' },
        })),
      ],
    },
    {
      says: 'removed after its session',
      state: one,
      records: { devices: { d: { ...bound('e1', 's1'), kind: 'shared' } } },
      message: { type: 'remove_device', device_id: 'd' },
      reply: DONE,
      next: ANN,
      effects: [
        { effect: 'delete_record', collection: 'devices', id: 'd' },
        { effect: 'notify', to: { kind: 'device', id: 'd' }, message: { type: 'unbind', binding_epoch: 'e1' } },
      ],
    },
    {
      says: 'removed again',
      state: ANN,
      message: { type: 'remove_device', device_id: 'd' },
      reply: { refused: 'NOT_FOUND' },
    },
    {
      says: 'listed',
      state: one,
      records: { devices: { d: bound('e1', 's1') } },
      message: { type: 'list_devices', range: { limit: 5 } },
      reply: { devices: [{ id: 'd', order: 0, ...bound('e1', 's1') }] },
    },
    {
      says: 'listed from behind it',
      state: one,
      records: { devices: { d: bound('e1', 's1') } },
      message: { type: 'list_devices', range: { limit: 5, after: { order: 0, id: 'd' } } },
      reply: { devices: [] },
    },
  ]);
});

t.test('K-019 a recorder whose source is deleted has none until it is bound again', async (t) => {
  const deleted: AccountMessage = { type: 'source_deleted', source_id: 's1', device_id: 'd' };
  const sources = (source_id: string) => ({ device_sources: { d: { source_id } } });
  decideRows(t, kind, [
    {
      says: 'forgotten',
      state: ANN,
      records: sources('s1'),
      message: deleted,
      reply: DONE,
      effects: [{ effect: 'delete_record', collection: 'device_sources', id: 'd' }],
    },
    { says: 'another source is its own', state: ANN, records: sources('s2'), message: deleted, reply: DONE },
    { says: 'none is known', state: ANN, message: deleted, reply: DONE },
  ]);
});

t.test('H-028 in any play an account counts its devices, and one binding of each is open', async (t) => {
  const device_id = fc.constantFrom('d1', 'd2', '__proto__', 'constructor');
  let claims = 0;
  const message: fc.Arbitrary<AccountMessage> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ type: fc.constant('device_bound' as const), device_id }) },
    { weight: 3, arbitrary: fc.record({ type: fc.constant('remove_device' as const), device_id }) },
    fc.record({ type: fc.constant('rename' as const), name: fc.option(fc.string()) }),
    fc.record({
      type: fc.constant('switch_entitlement' as const),
      entitlement: fc.constantFrom(...ENTITLEMENTS),
      enabled: fc.boolean(),
    }),
    fc.constantFrom<AccountMessage>(create, { type: 'view' }, { type: 'list_devices', range: { limit: 100 } }),
  ) as fc.Arbitrary<AccountMessage>;
  checkPlays(t, { plays: anyPlay(message, [1]), runs: 200 }, (steps) => {
    const played = new Played(account, 'a');
    for (const step of steps) {
      if ('pass' in step) {
        played.pass(step.pass);
        continue;
      }
      claims += 1;
      const fresh_ids = { binding_epoch: `e${claims}`, source_id: `s${claims}`, claim_id: `c${claims}` };
      played.send(step.send.type === 'device_bound' ? { ...step.send, ...fresh_ids } : step.send);
      if (played.state === null) continue;
      const devices = played.records<BoundDevice>('devices');
      if (played.state.devices !== devices.size) throw new Error('counted wrongly');
      const open = new Set<string>();
      // A new source tells the binding in its turn.
      const told = played.effects.flatMap((effect) => {
        if (effect.effect !== 'notify') return [];
        return [(effect.message as { goes_on?: OutboxMessage }).goes_on ?? effect];
      });
      for (const effect of told) {
        if (effect.to.kind !== 'binding') continue;
        if ((effect.message as { type: string }).type === 'open') open.add(effect.to.id);
        else open.delete(effect.to.id);
      }
      const epochs = [...devices.values()].map(({ binding_epoch }) => binding_epoch);
      if ([...open].sort().join() !== epochs.sort().join()) throw new Error('other bindings are open');
      const listed = played.ask<{ devices: ListedDevice[] }>({ type: 'list_devices', range: { limit: 100 } });
      if (listed.devices.length !== devices.size) throw new Error('not all are listed');
    }
  });
});
