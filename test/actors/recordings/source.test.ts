import fc from 'fast-check';
import t from 'tap';
import type { Effect, OutboxMessage } from '../../../actors/actor.js';
import { WITHDRAWAL_INDEX } from '../../../actors/insights/withdrawal_index.js';
import { type KeptSource, type Source, type SourceMessage, source } from '../../../actors/recordings/source.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { anyPlay, checkPlays, decideRows, Played, START_MS } from '../../fixtures/decisions.js';

const create: SourceMessage = { type: 'create', account_id: 'a', device_id: 'd' };
const made: KeptSource = { status: 'kept', account_id: 'a', device_id: 'd', name: null, created_at_ms: START_MS };
const gone: Source = { status: 'deleted', account_id: 'a' };
const DONE = { done: true } as const;
const told = (type: 'source.updated' | 'source.deleted', data?: Record<string, unknown>): Effect => ({
  ...{ effect: 'append_event', account_id: 'a', type, resource_id: 's' },
  ...(data === undefined ? {} : { data }),
});

const goes_on: OutboxMessage = { effect: 'notify', to: { kind: 'binding', id: 'e' }, message: { type: 'end' } };

t.test('K-001 a source is created once, with one event, and is listed', async (t) => {
  decideRows(t, { kind: source, self: 's' }, [
    { says: 'unknown', state: null, message: { type: 'view' }, reply: { refused: 'NOT_FOUND' } },
    {
      says: 'created',
      state: null,
      message: create,
      reply: made,
      next: made,
      effects: [
        { effect: 'append_event', account_id: 'a', type: 'source.created', resource_id: 's' },
        { effect: 'add_to_index', owner: 'a', index: 'sources', member: 's', order: START_MS },
      ],
    },
    {
      says: 'created for somebody, who goes on after that',
      state: null,
      message: { ...create, goes_on },
      reply: made,
      next: made,
      effects: [
        { effect: 'append_event', account_id: 'a', type: 'source.created', resource_id: 's' },
        { effect: 'add_to_index', owner: 'a', index: 'sources', member: 's', order: START_MS },
        goes_on,
      ],
    },
    { says: 'there already', state: made, message: { ...create, goes_on }, reply: made, effects: [goes_on] },
    {
      says: 'again, by whom ever',
      state: made,
      now_ms: START_MS + 1,
      message: { ...create, device_id: 'e' },
      reply: made,
    },
    { says: 'viewed', state: made, message: { type: 'view' }, reply: made },
    ...[made, null].map((state) => ({
      says: state === null ? 'erased again: it leaves the list all the same' : 'erased',
      state,
      message: { type: 'erase', account_id: 'a', list: 'sources' } as const,
      reply: { done: true } as const,
      next: null,
      effects: [
        { effect: 'delete_fence', id: 's' } as const,
        { effect: 'remove_from_index', ...WITHDRAWAL_INDEX, member: 'source:s' } as const,
        { effect: 'remove_from_index', owner: 'a', index: 'sources', member: 's' } as const,
        { effect: 'delete' } as const,
      ],
    })),
  ]);
  const message = fc.constantFrom<SourceMessage>(create, { ...create, account_id: 'b' }, { type: 'view' });
  checkPlays(t, { plays: anyPlay(message, [1]), runs: 50 }, (steps) => {
    const played = new Played(source, 's');
    for (const step of steps) {
      if ('pass' in step) played.pass(step.pass);
      else if (isRefusal(played.send(step.send).reply) !== (played.state === null)) throw new Error('refused');
    }
    if (played.effects.length > 2) throw new Error('created twice');
  });
});

t.test('K-001 K-002 a source is renamed, and deleted with a last word', async (t) => {
  const rename = (name: string | null, account_id = 'a'): SourceMessage => ({ type: 'rename', account_id, name });
  const remove: SourceMessage = { type: 'delete', account_id: 'a' };
  const of_app: KeptSource = { ...made, device_id: null, name: 'Desk' };
  const last: Effect[] = [
    { effect: 'close_fence', id: 's' },
    told('source.deleted'),
    { effect: 'remove_from_index', owner: 'a', index: 'sources', member: 's' },
    { effect: 'add_to_index', owner: 'a', index: 'deleted_sources', member: 's', order: START_MS },
    { effect: 'add_to_index', ...WITHDRAWAL_INDEX, member: 'source:s', order: START_MS },
  ];
  const forget = { type: 'source_deleted', source_id: 's', device_id: 'd' };
  decideRows(t, { kind: source, self: 's' }, [
    { says: 'none to rename', state: null, message: rename('Desk'), reply: { refused: 'NOT_FOUND' } },
    { says: "somebody else's", state: made, message: rename('Desk', 'b'), reply: { refused: 'NOT_FOUND' } },
    {
      says: 'renamed',
      state: made,
      message: rename('Desk'),
      reply: { ...made, name: 'Desk' },
      next: { ...made, name: 'Desk' },
      effects: [told('source.updated', { changed_fields: ['name'] })],
    },
    { says: 'the same name', state: of_app, message: rename('Desk'), reply: of_app },
    {
      says: "somebody else's to delete",
      state: made,
      message: { ...remove, account_id: 'b' },
      reply: { refused: 'NOT_FOUND' },
    },
    { says: "an app's, deleted", state: of_app, message: remove, reply: DONE, next: gone, effects: last },
    {
      says: "a recorder's, deleted: its account forgets it",
      state: made,
      message: remove,
      reply: DONE,
      next: gone,
      effects: [...last, { effect: 'notify', to: { kind: 'account', id: 'a' }, message: forget }],
    },
    { says: 'deleted again', state: gone, message: remove, reply: { refused: 'NOT_FOUND' } },
    { says: 'renamed after it', state: gone, message: rename('Desk'), reply: { refused: 'NOT_FOUND' } },
    { says: 'made again', state: gone, message: create, reply: gone },
    { says: 'viewed', state: gone, message: { type: 'view' }, reply: gone },
  ]);
});
