import fc from 'fast-check';
import t from 'tap';
import type { Effect } from '../../../actors/actor.js';
import { type Binding, type BindingMessage, binding } from '../../../actors/devices/binding.js';
import { UNBOUND } from '../../../actors/recordings/stream_refs.js';
import { anyPlay, checkPlays, decideRows, Played, START_MS } from '../../fixtures/decisions.js';

const bound_to = { account_id: 'a', workspace_id: 'w', device_id: 'd', source_id: 's', claim_id: 'c' };
const open: BindingMessage = { type: 'open', ...bound_to };
const active: Binding = { status: 'active', kind: 'personal', ...bound_to, opened_at_ms: START_MS };
const ended: Binding = { ...active, status: 'ended' };
const unopened = { account_id: 'a', workspace_id: 'w', device_id: 'd', source_id: 's' };
const unopened_end: Binding = { ...ended, claim_id: '' };
const answered: Effect = {
  effect: 'notify',
  to: { kind: 'claim', id: 'c' },
  message: { type: 'answered', device_id: 'd', outcome: 'bound', binding_epoch: 'e' },
};
const listed = { owner: 'a', index: 'bindings', member: 'e' };
const enlisted: Effect = { effect: 'add_to_index', ...listed, order: START_MS };
const streamOf = (new_stream_id: string | null, device_id = 'd'): BindingMessage => ({
  type: 'stream_of',
  device_id,
  source_stream_ref: 'r',
  new_stream: new_stream_id === null ? null : { stream_id: new_stream_id, workspace_id: 'w' },
});

t.test('an epoch is judged by its own state', async (t) => {
  decideRows(t, { kind: binding, self: 'e' }, [
    { says: 'unknown', state: null, message: { type: 'terms', device_id: 'd' }, reply: UNBOUND },
    { says: 'unknown, a stream', state: null, message: streamOf('n'), reply: UNBOUND },
    { says: 'unknown, its end', state: null, message: { type: 'end' }, reply: { done: true } },
    {
      says: 'unknown, its end, while its opening is on the way',
      state: null,
      message: { type: 'end', unopened },
      reply: { done: true },
      next: unopened_end,
      effects: [enlisted],
    },
    {
      says: 'opened after its end: stays ended',
      state: unopened_end,
      message: open,
      reply: unopened_end,
      effects: [answered],
    },
    { says: 'ended already, its end', state: ended, message: { type: 'end', unopened }, reply: { done: true } },
    { says: 'opened', state: null, message: open, reply: active, next: active, effects: [answered, enlisted] },
    { says: 'opened again', state: active, now_ms: START_MS + 1, message: open, reply: active, effects: [answered] },
    {
      says: 'opened again, after its source was deleted',
      state: active,
      message: { ...open, source_id: 's2' },
      reply: active,
      next: { ...active, source_id: 's2' },
      effects: [answered],
    },
    { says: "another device's", state: active, message: { type: 'terms', device_id: 'x' }, reply: UNBOUND },
    { says: "another device's, a stream", state: active, message: streamOf('n', 'x'), reply: UNBOUND },
    { says: 'active', state: active, message: { type: 'terms', device_id: 'd' }, reply: active },
    { says: 'ends', state: active, message: { type: 'end', unopened }, reply: { done: true }, next: ended },
    { says: 'ends again', state: ended, message: { type: 'end' }, reply: { done: true } },
    { says: 'ended', state: ended, message: { type: 'terms', device_id: 'd' }, reply: UNBOUND },
    {
      says: 'ended, a known stream',
      state: ended,
      records: { streams: { r: { stream_id: 'n', workspace_id: 'w' } } },
      message: streamOf('n'),
      reply: UNBOUND,
    },
    { says: 'ended, opened again: stays ended', state: ended, message: open, reply: ended, effects: [answered] },
    ...[active, ended, null].map((state) => ({
      says: `erased when ${state?.status ?? 'gone'}`,
      state,
      message: { type: 'erase', account_id: 'a', list: 'bindings' } as const,
      reply: { done: true } as const,
      next: null,
      effects: [
        { effect: 'delete_collection', collection: 'streams' } as const,
        { effect: 'remove_from_index', ...listed } as const,
        { effect: 'delete' } as const,
      ],
    })),
  ]);
});

t.test("H-010 a device's reference leads to one stream", async (t) => {
  const known = { streams: { r: { stream_id: 'n', workspace_id: 'w' } } };
  decideRows(t, { kind: binding, self: 'e' }, [
    { says: 'none, and none to make', state: active, message: streamOf(null), reply: { refused: 'NOT_FOUND' } },
    {
      says: 'the first',
      state: active,
      message: streamOf('n'),
      reply: { stream_id: 'n', workspace_id: 'w' },
      next: active,
      effects: [{ effect: 'put_record', collection: 'streams', id: 'r', value: { stream_id: 'n', workspace_id: 'w' } }],
    },
    {
      says: 'a second',
      state: active,
      records: known,
      message: streamOf('m'),
      reply: { stream_id: 'n', workspace_id: 'w' },
    },
    {
      says: 'looked up',
      state: active,
      records: known,
      message: streamOf(null),
      reply: { stream_id: 'n', workspace_id: 'w' },
    },
  ]);
});

t.test('H-010 in any play a reference keeps its stream, and an ended epoch stays ended', async (t) => {
  const device_id = fc.constantFrom('d', 'x');
  const message: fc.Arbitrary<BindingMessage> = fc.oneof(
    fc.constant(open),
    fc.record({ type: fc.constant('terms' as const), device_id }),
    fc.record({
      type: fc.constant('stream_of' as const),
      device_id,
      source_stream_ref: fc.constantFrom('r', 'q', '__proto__', 'constructor'),
      new_stream: fc.option(fc.record({ stream_id: fc.uuid(), workspace_id: fc.constant('w') })),
    }),
    fc.constantFrom({ type: 'end' as const }, { type: 'end' as const, unopened }),
  );
  checkPlays(t, { plays: anyPlay(message, [1]), runs: 200 }, (steps) => {
    const played = new Played(binding, 'e');
    const streams = new Map<string, string>();
    let has_ended = false;
    for (const step of steps) {
      if ('pass' in step) continue;
      const { reply } = played.send(step.send);
      if (has_ended && played.state?.status !== 'ended') throw new Error('an ended epoch came back');
      has_ended = played.state?.status === 'ended';
      if (step.send.type !== 'stream_of' || !('stream_id' in reply)) continue;
      const { source_stream_ref } = step.send;
      const first = streams.get(source_stream_ref) ?? step.send.new_stream?.stream_id;
      if (reply.stream_id !== first || has_ended) throw new Error('another stream');
      streams.set(source_stream_ref, reply.stream_id);
    }
  });
});
