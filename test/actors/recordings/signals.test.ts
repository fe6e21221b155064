import fc from 'fast-check';
import t from 'tap';
import type { Effect } from '../../../actors/actor.js';
import { type SignalsMessage, signals } from '../../../actors/recordings/signals.js';
import type { PostedSignal, Signal, Signals } from '../../../actors/recordings/signals_state.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import type { Expired } from '../../../src/domain/retention.js';
import { anyPlay, checkPlays, decideRows, Played, START_MS } from '../../fixtures/decisions.js';

const kind = { kind: signals, self: 's' };
const DONE = { done: true } as const;
const OWNER = { account_id: 'a', workspace_id: 'w' };
const SWEEP: Effect = {
  effect: 'schedule_reminder',
  name: 'sweep_staged',
  at_ms: START_MS + LIMITS.signals_staged_ms,
  message: { type: 'sweep_staged' },
};
const NO_SWEEP: Effect = { effect: 'cancel_reminder', name: 'sweep_staged' };

const posted = (id: string, more: Partial<PostedSignal> = {}): PostedSignal => ({
  ...{ id, ref: `ref ${id}`, type: 'a.b', start_ms: 10, end_ms: 15, content: `content ${id}` },
  ...{ payload: '{"a":1}', payload_bytes: 7 },
  ...more,
});
const post = (of: PostedSignal[], { request = 'r', staged = false } = {}): SignalsMessage => ({
  ...{ type: 'post', ...OWNER, request, signals: of, staged },
});
const kept = ({ payload, payload_bytes: bytes, id: _, ...light }: PostedSignal, key: string): Signal => ({
  ...light,
  created_at_ms: START_MS,
  payload: { state: 'available', key: payload === null ? null : key, bytes },
});
const listed = (signal: PostedSignal, key: string) => ({ ...kept(signal, key), id: signal.id, order: signal.start_ms });
const putSignal = (signal: PostedSignal, key: string): Effect => ({
  ...{ effect: 'put_record', collection: 'signals', id: signal.id, value: kept(signal, key), order: signal.start_ms },
});
const putPayload = (key: string, value = '{"a":1}'): Effect => ({
  effect: 'put_record',
  collection: 'payloads',
  id: key,
  value,
});
const dropPayload = (key: string): Effect => ({ effect: 'delete_record', collection: 'payloads', id: key });
const none: Signals = { count: 0, payload_bytes: 0, longest_ms: 0, staged: [], owner: null, oldest_ms: null };
const [one, two] = [posted('1'), posted('2', { start_ms: 3, end_ms: null, payload: null, payload_bytes: 0 })];
type DueBatches = { id: string; ids: string[] }[];
const two_empty = { payload: null, payload_bytes: 0 };
const of_one = { signals: { 1: kept(one, 'q.0') } };
/** As others left them: with payloads of which none is due. */
const with_one: Signals = { ...none, count: 1, payload_bytes: 7, longest_ms: 5 };
const KEPT = { owner: OWNER, oldest_ms: START_MS };
const putBatch = (id: string, value: string[], order = START_MS): Effect => ({
  ...{ effect: 'put_record', collection: 'batches', id, value, order },
});
const dueAt = (order: number): Effect => ({
  ...{ effect: 'add_to_index', owner: 'a', index: 'due:signals:w', member: 's', order },
});
const NOT_DUE: Effect = { effect: 'remove_from_index', owner: 'a', index: 'due:signals:w', member: 's' };

t.test('G-007 G-008 G-009 G-010 a batch is posted as a whole, once', async (t) => {
  const other = { ...one, content: 'other' };
  decideRows(t, kind, [
    {
      says: 'the first',
      state: null,
      message: post([one, two]),
      reply: { signals: [listed(one, 'r.0'), listed(two, '')] },
      next: { ...with_one, count: 2, ...KEPT },
      effects: [
        ...[putSignal(one, 'r.0'), putPayload('r.0'), putSignal(two, '')],
        ...[putBatch('r', ['1', '2']), dueAt(START_MS)],
      ],
    },
    {
      says: 'the same content again: the record there is',
      state: with_one,
      records: of_one,
      now_ms: START_MS + 9,
      message: post([one]),
      reply: { signals: [listed(one, 'q.0')] },
    },
    {
      says: 'other content: nothing of the request',
      state: with_one,
      records: of_one,
      message: post([two, other]),
      reply: { refused: 'CONFLICT', message: /"ref 1"/ },
    },
    {
      says: 'the same ref twice, equal',
      state: null,
      message: post([one, { ...one }]),
      reply: { signals: [listed(one, 'r.0'), listed(one, 'r.0')] },
      next: { ...with_one, ...KEPT },
      effects: [putSignal(one, 'r.0'), putPayload('r.0'), putBatch('r', ['1']), dueAt(START_MS)],
    },
    { says: 'the same ref twice, different', state: null, message: post([one, other]), reply: { refused: 'CONFLICT' } },
    {
      says: 'another ref of the same id',
      state: with_one,
      records: of_one,
      message: post([{ ...one, ref: 'else' }]),
      reply: { refused: 'CONFLICT' },
    },
    {
      says: 'too many',
      state: { ...with_one, count: LIMITS.signals_per_stream_max },
      message: post([two]),
      reply: { refused: 'CONFLICT', message: /at most 100000 signals/ },
    },
    {
      says: 'too large',
      state: { ...with_one, payload_bytes: LIMITS.signal_bytes_per_stream_max - 6 },
      message: post([one]),
      reply: { refused: 'CONFLICT', message: /bytes of payloads/ },
    },
  ]);
});

t.test('G-009 what a request would find is told before its payloads are written', async (t) => {
  const compare = (...of: PostedSignal[]): SignalsMessage => ({
    type: 'compare',
    signals: of.map(({ id, ref, content }) => ({ id, ref, content })),
  });
  decideRows(t, kind, [
    { says: 'nothing there', state: null, message: compare(one, two), reply: { known: [] } },
    { says: 'one of them', state: with_one, records: of_one, message: compare(one, two), reply: { known: ['1'] } },
    {
      says: 'other content',
      state: with_one,
      records: of_one,
      message: compare({ ...one, content: 'x' }),
      reply: { refused: 'CONFLICT' },
    },
  ]);
});

t.test('G-007 payloads of a large batch are staged, and belong to nobody until it is posted', async (t) => {
  const stage = (request: string, ...parts: number[]): SignalsMessage => ({
    ...{ type: 'stage', request, payloads: parts.map((part) => ({ part, text: '{"a":1}', bytes: 7 })) },
  });
  const staged = { request: 'r', parts: [0], bytes: 7, began_ms: START_MS };
  const with_staged: Signals = { ...none, payload_bytes: 7, staged: [staged] };
  const both: Signals = { ...with_staged, payload_bytes: 14, staged: [{ ...staged, parts: [0, 1], bytes: 14 }] };
  const full = Array.from({ length: LIMITS.signals_staged_requests_max }, (_, n) => ({ ...staged, request: `x${n}` }));
  const blank = { ...one, payload: '' };
  decideRows(t, kind, [
    {
      says: 'the first piece',
      state: null,
      message: stage('r', 0),
      reply: DONE,
      next: with_staged,
      effects: [putPayload('r.0'), SWEEP],
    },
    { says: 'the same piece', state: with_staged, message: stage('r', 0), reply: DONE },
    {
      says: 'the next',
      state: with_staged,
      message: stage('r', 1),
      reply: DONE,
      next: both,
      effects: [putPayload('r.1')],
    },
    {
      says: 'too many at once',
      state: { ...none, staged: full },
      message: stage('r', 0),
      reply: { refused: 'TOO_MANY_REQUESTS', retry_after_s: 1 },
    },
    {
      says: 'too large',
      state: { ...none, payload_bytes: LIMITS.signal_bytes_per_stream_max },
      message: stage('r', 0),
      reply: { refused: 'CONFLICT' },
    },
    {
      says: 'posted',
      state: with_staged,
      message: post([blank], { staged: true }),
      reply: { signals: [listed(one, 'r.0')] },
      next: { ...with_one, ...KEPT },
      effects: [putSignal(one, 'r.0'), NO_SWEEP, putBatch('r', ['1']), dueAt(START_MS)],
    },
    {
      says: 'posted, when somebody else has posted one of them meanwhile',
      state: { ...both, count: 1, payload_bytes: 21, longest_ms: 5 },
      records: of_one,
      message: post([blank, { ...posted('3'), payload: '' }], { staged: true }),
      reply: { signals: [listed(one, 'q.0'), listed(posted('3'), 'r.1')] },
      next: { count: 2, payload_bytes: 14, longest_ms: 5, staged: [], ...KEPT },
      effects: [
        ...[putSignal(posted('3'), 'r.1'), dropPayload('r.0'), NO_SWEEP],
        ...[putBatch('r', ['3']), dueAt(START_MS)],
      ],
    },
    {
      says: 'posted, when all was swept',
      state: none,
      message: post([blank], { staged: true }),
      reply: { refused: 'UNAVAILABLE' },
    },
    {
      says: 'given up',
      state: both,
      message: { type: 'unstage', request: 'r' },
      reply: DONE,
      next: none,
      effects: [dropPayload('r.0'), dropPayload('r.1'), NO_SWEEP],
    },
    { says: 'given up again', state: none, message: { type: 'unstage', request: 'r' }, reply: DONE },
    {
      says: 'swept, what is old enough',
      state: {
        ...both,
        payload_bytes: 21,
        staged: [...both.staged, { ...staged, request: 'young', began_ms: START_MS + 1 }],
      },
      now_ms: START_MS + LIMITS.signals_staged_ms,
      message: { type: 'sweep_staged' },
      reply: DONE,
      next: { ...none, payload_bytes: 7, staged: [{ ...staged, request: 'young', began_ms: START_MS + 1 }] },
      effects: [
        dropPayload('r.0'),
        dropPayload('r.1'),
        { ...SWEEP, at_ms: START_MS + 1 + LIMITS.signals_staged_ms } as Effect,
      ],
    },
  ]);
});

t.test('signals are read, and go with their stream', async (t) => {
  decideRows(t, kind, [
    { says: 'none', state: null, message: { type: 'list', range: { limit: 9 } }, reply: { signals: [] } },
    {
      says: 'listed',
      state: with_one,
      records: of_one,
      message: { type: 'list', range: { limit: 9 } },
      reply: { signals: [{ ...listed(one, 'q.0'), order: 0 }] },
    },
    { says: 'no extent', state: null, message: { type: 'extent' }, reply: { longest_ms: 0 } },
    { says: 'the extent', state: with_one, message: { type: 'extent' }, reply: { longest_ms: 5 } },
    {
      says: 'payloads, those there are',
      state: with_one,
      records: { payloads: { 'q.0': '{"a":1}' } },
      message: { type: 'payloads', keys: ['q.0', 'q.1'] },
      reply: { payloads: { 'q.0': '{"a":1}' } },
    },
    { says: 'nothing to erase', state: null, message: { type: 'erase' }, reply: DONE },
    {
      says: 'erased',
      state: { ...with_one, ...KEPT },
      message: { type: 'erase' },
      reply: DONE,
      next: null,
      effects: [
        { effect: 'delete_collection', collection: 'signals' },
        { effect: 'delete_collection', collection: 'payloads' },
        { effect: 'delete_collection', collection: 'batches' },
        NO_SWEEP,
        NOT_DUE,
        { effect: 'delete' },
      ],
    },
  ]);
});

const limit = LIMITS.expired_per_commit_max;

t.test('G-017 I-020 payloads expire by when their signals were posted; the signals stay', async (t) => {
  const played = new Played(signals, 's');
  const send = (message: SignalsMessage) => played.send(message).reply as { signals: unknown[] } & Expired;
  /** As the worker asks, until nothing is left. */
  const expire = (before_ms: number | null): number => {
    for (let removed = 0; ; ) {
      const { batches } = send({ type: 'due_signals', before_ms, limit }) as unknown as { batches: DueBatches };
      if (batches.length === 0) return removed;
      const answer = send({ type: 'expire', sweep_id: '1', library_id: 'l', before_ms, batches });
      removed += answer.removed;
      if (!answer.left) return removed;
    }
  };
  const count = LIMITS.expired_per_commit_max + 44;
  const many = Array.from({ length: count }, (_, n) => posted(`m${n}`, n === 7 ? two_empty : {}));
  send(post(many, { request: 'first' }));
  played.pass(1);
  send(post([one, two], { request: 'second' }));
  t.equal(expire(START_MS), 0, 'exactly at the cutoff they stay');
  played.effects.length = 0;
  t.equal(expire(START_MS + 1), count, '1 ms before it they go, {} too');
  t.same(played.records('batches').size, 1);
  t.same([...played.records('payloads').keys()], ['second.0']);
  t.equal(played.state?.payload_bytes, 7);
  t.same(
    played.effects.flatMap((one) => (one.effect === 'notify' ? [one.message] : [])),
    [LIMITS.expired_per_commit_max, 44].map((n) => ({ type: 'swept', sweep_id: '1', bucket: 'transcripts', count: n })),
    'what a commit removes it counts',
  );
  t.same(played.records<Signal>('signals').get('m0')?.payload, { state: 'expired', removed_at_ms: START_MS + 1 });
  t.match(played.effects.at(-1), { effect: 'add_to_index', order: START_MS + 1 }, 'the due list knows the next');
  const again = send(post([many[0] as PostedSignal], { request: 'third' }));
  t.match(again.signals, [{ ref: 'ref m0', payload: { state: 'expired' } }], 'the same again is nothing new');
  t.match(send(post([{ ...(many[0] as PostedSignal), content: 'other' }])), { refused: 'CONFLICT' });
  t.equal(expire(null), 2, 'what is not kept goes whatever its clock');
  t.same(played.effects.at(-1), NOT_DUE);
  t.same([played.state?.count, played.state?.payload_bytes, played.state?.oldest_ms], [count + 2, 0, null]);
  t.equal(expire(null), 0);
});

t.test('G-007 G-009 in any play each ref keeps its first content, and no payload is lost or left over', async (t) => {
  const drawn = fc
    .record({ id: fc.constantFrom('1', '2', '3'), content: fc.constantFrom('x', 'x', 'y'), empty: fc.boolean() })
    .map(({ id, content, empty }) =>
      posted(id, { content: `${content}${empty}`, ...(empty ? { payload: null, payload_bytes: 0 } : {}) }),
    );
  const request = fc.constantFrom('r', 'q');
  const of = fc.array(drawn, { minLength: 1, maxLength: 4 });
  const part = fc.constantFrom(0, 1, 2, 3).map((number) => ({ part: number, text: '{"a":1}', bytes: 7 }));
  const message: fc.Arbitrary<SignalsMessage> = fc.oneof(
    fc.tuple(of, fc.constantFrom('u', 'v', 'w')).map(([batch, name]) => post(batch, { request: name })),
    fc.record({
      type: fc.constant('stage' as const),
      request,
      payloads: fc.array(part, { minLength: 1, maxLength: 3 }),
    }),
    fc.tuple(of, request).map(([batch, name]) => post(batch, { request: name, staged: true })),
    fc.record({ type: fc.constant('unstage' as const), request }),
  );
  let requests = 0;
  /** A request's name is drawn for it alone: once it was posted, another one comes under another. */
  const named = (sent: SignalsMessage): SignalsMessage =>
    'request' in sent ? { ...sent, request: `${sent.request}${requests}` } : sent;
  checkPlays(t, { plays: anyPlay(message, [LIMITS.signals_staged_ms]), runs: 300 }, (steps) => {
    const played = new Played(signals, 's');
    const first = new Map<string, string>();
    for (const step of steps) {
      if ('pass' in step) played.pass(step.pass);
      else {
        const sent = named(step.send);
        const { reply } = played.send(sent);
        if (sent.type === 'post' && !isRefusal(reply)) requests += 1;
        if (sent.type === 'post' && !isRefusal(reply))
          for (const { id, content } of sent.signals) first.set(id, first.get(id) ?? content);
      }
      const records = played.records<Signal>('signals');
      for (const [id, { content }] of records)
        if (first.get(id) !== content) throw new Error(`${id} has other content than it was first posted with`);
      const { state } = played;
      if ((state?.count ?? 0) !== records.size || records.size !== first.size) throw new Error('miscounted');
      const keys = [...records.values()].flatMap(({ payload }) =>
        payload.state === 'available' && payload.key !== null ? [payload.key] : [],
      );
      const staged = (state?.staged ?? []).flatMap(({ request: name, parts }) => parts.map((n) => `${name}.${n}`));
      const wanted = [...new Set([...keys, ...staged])].sort();
      if (JSON.stringify([...played.records('payloads').keys()].sort()) !== JSON.stringify(wanted))
        throw new Error(`payloads ${[...played.records('payloads').keys()]} of ${wanted}`);
      if ((state?.staged.length ?? 0) > 0 !== played.reminders.has('sweep_staged')) throw new Error('no sweep');
    }
  });
});
