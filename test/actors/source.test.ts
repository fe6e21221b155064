import fc from 'fast-check';
import t from 'tap';
import { type SourceMessage, source } from '../../actors/source.js';
import { isRefusal } from '../../src/vocabulary/refusals.js';
import { anyPlay, checkPlays, decideRows, Played, START_MS } from '../fixtures/deciding.js';

const create: SourceMessage = { type: 'create', account_id: 'a', device_id: 'd' };
const made = { account_id: 'a', device_id: 'd', created_at_ms: START_MS };

t.test('a source is created once, with one event, and is listed', async (t) => {
  decideRows(t, { kind: source, self: 's' }, [
    { says: 'unknown', state: null, message: { type: 'view' }, reply: { refused: 'NOT_FOUND' } },
    {
      says: 'created',
      state: null,
      message: create,
      reply: made,
      next: made,
      effects: [
        { effect: 'event', account_id: 'a', type: 'source.created', resource_id: 's' },
        { effect: 'enlist', account_id: 'a', list: 'sources', member: 's', order: START_MS },
      ],
    },
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
        { effect: 'delist', account_id: 'a', list: 'sources', member: 's' } as const,
        { effect: 'vanish' } as const,
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
