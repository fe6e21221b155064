import fc from 'fast-check';
import t from 'tap';
import { LIMITS } from '../../../../src/domain/limits.js';
import {
  type BoundaryQuery,
  countWords,
  findConversations,
  type SpokenTurn,
  type TranscribedStream,
} from '../../../../src/features/insights/library/conversation_boundaries.js';

const S = 1_000;
const MIN = 60 * S;
const HOUR = 60 * MIN;
const DAY_MS = 24 * HOUR;
const GAP = LIMITS.conversation_gap_ms;

const turn = (start_ms: number, length_ms = 5 * S, words = 5): SpokenTurn => ({
  ...{ start_ms, end_ms: start_ms + length_ms, words },
});
/** So many turns, one each twenty seconds. */
const talk = (from_ms: number, count: number): SpokenTurn[] =>
  Array.from({ length: count }, (_, at) => turn(from_ms + at * 20 * S));
const stream = (turns: SpokenTurn[], more: Partial<TranscribedStream> = {}): TranscribedStream => ({
  ...{ stream_id: 'one', source_id: 'desk', captured_at_ms: DAY_MS, turns },
  ...{ waiting: [], came_to_ms: Number.POSITIVE_INFINITY, ...more },
});
const look = (streams: TranscribedStream[], more: Partial<BoundaryQuery> = {}) =>
  findConversations({
    ...{ streams, session_id: null, stream_id: 'one', from_ms: 0, to_ms: DAY_MS, is_over: false, ...more },
  });
const spansOf = ({ found }: ReturnType<typeof look>) =>
  found.map(({ parts }) => parts.map(({ stream_id, start_ms, end_ms }) => [stream_id, start_ms, end_ms]));

t.test('K-064 a conversation ends after five minutes without a turn, and not before', async (t) => {
  const second = talk(10 * MIN, 4);
  for (const [gap_ms, wanted] of [
    [GAP - 1, 1],
    [GAP, 2],
  ] as const) {
    const first = talk(10 * MIN - gap_ms - 3 * 20 * S - 5 * S, 4);
    t.equal(look([stream([...first, ...second])]).found.length, wanted, `${gap_ms}`);
  }
  const { found } = look([stream(talk(0, 4))], { session_id: 'session' });
  t.same(found, [
    {
      parts: [{ stream_id: 'one', source_id: 'desk', start_ms: 0, end_ms: 65 * S }],
      ...{ session_id: 'session', started_at_ms: DAY_MS, ended_at_ms: DAY_MS + 65 * S },
    },
  ]);
});

t.test('K-064 what is short is none', async (t) => {
  const of = (words: number[], more: Partial<TranscribedStream> = {}, query: Partial<BoundaryQuery> = {}) =>
    look(
      [
        stream(
          words.map((count, at) => turn(at * 10 * S, S, count)),
          more,
        ),
      ],
      query,
    ).found.length;
  const goes_on = { came_to_ms: HOUR };
  t.same(
    [[50, 50], [3, 3, 3], [4, 3, 3], []].map((words) => of(words, goes_on)),
    [0, 0, 1, 0],
  );
  t.same(
    [[2], [1, 1], [1], []].map((words) => of(words)),
    [1, 1, 0, 0],
    'in a recording that is over',
  );
  t.same(
    [[2], [1]].map((words) => of(words, { came_to_ms: 0 }, { is_over: true })),
    [1, 0],
    'and that is waited for',
  );
  const [first, second] = [stream([turn(0, S, 2)]), stream([], { stream_id: 'two', ...goes_on })];
  t.equal(look([first, { ...second, came_to_ms: 0 }]).found.length, 0, 'the next one may go on with it');
  t.equal(look([first, { ...second, turns: [turn(10 * S, S, 2)] }]).found.length, 0, 'and goes on');
  t.same([countWords(' one  two\nthree '), countWords('')], [3, 0]);
});

t.test('K-064 two hours are cut in the second one, at the widest gap', async (t) => {
  const turns = talk(0, 9 * 60); // three hours
  const paused = turns.filter(({ start_ms }) => !(start_ms >= 100 * MIN && start_ms < 102 * MIN));
  const early = paused.filter(({ start_ms }) => !(start_ms >= 30 * MIN && start_ms < 34 * MIN));
  t.same(spansOf(look([stream(early)])), [[['one', 0, 99 * MIN + 45 * S]], [['one', 102 * MIN, 179 * MIN + 45 * S]]]);
  const { found } = look([stream(talk(0, 3 * 60 * 16))]);
  t.ok(found.length >= 8 && found.length <= 16);
  for (const { started_at_ms, ended_at_ms } of found) t.ok(ended_at_ms - started_at_ms <= 2 * HOUR);
});

t.test('K-064 what may go on is left, until it can not', async (t) => {
  const turns = talk(0, 4);
  const end_ms = 65 * S;
  const open = { found: [], left: { from_ms: 0, to_ms: DAY_MS } };
  t.match(look([stream(turns, { came_to_ms: end_ms + GAP - 1 })]), open, 'nothing more has come');
  t.match(look([stream(turns, { came_to_ms: end_ms + GAP })]), { left: null, found: [{}] }, 'five minutes of silence');
  t.match(look([stream(turns, { came_to_ms: end_ms })], { is_over: true }), { left: null, found: [{}] }, 'long ago');
  t.match(look([stream(turns, { waiting: [[end_ms + GAP - 1, HOUR]] })]), open, 'audio waits that may be of it');
  t.match(look([stream(turns, { waiting: [[end_ms + GAP, HOUR]] })]), { left: null, found: [{}] }, 'audio behind it');
  const later = talk(20 * MIN, 4);
  const both = look([stream([...turns, ...later], { came_to_ms: 22 * MIN })], { to_ms: 21 * MIN });
  t.match(both, { found: [{ started_at_ms: DAY_MS }], left: { from_ms: 20 * MIN, to_ms: 21 * MIN + 5 * S } });
  const long = look([stream(talk(0, 9 * 60), { came_to_ms: 3 * HOUR })]);
  t.equal(long.found.length, 1, 'two hours are done while somebody goes on');
  t.equal(long.left?.from_ms, (long.found[0]?.ended_at_ms ?? 0) - DAY_MS + 15 * S);
});

t.test('K-064 recordings of one source join where less than five minutes lie between them', async (t) => {
  const at = (minutes: number, name = 'two') =>
    stream(talk(0, 4), { stream_id: name, captured_at_ms: DAY_MS + minutes * MIN });
  const two = look([stream(talk(0, 4)), at(5)]);
  t.same(spansOf(two), [
    [
      ['one', 0, 65 * S],
      ['two', 0, 65 * S],
    ],
  ]);
  t.equal(two.found[0]?.ended_at_ms, DAY_MS + 5 * MIN + 65 * S);
  t.same(spansOf(look([stream(talk(0, 4)), at(7)])), [[['one', 0, 65 * S]]], 'only those of the recording asked for');
  t.same(spansOf(look([stream(talk(0, 4)), at(7)], { stream_id: 'two' })), [[['two', 0, 65 * S]]]);
  t.same(spansOf(look([stream(talk(0, 2)), stream(talk(0, 1), { stream_id: 'two', captured_at_ms: DAY_MS + MIN })])), [
    [
      ['one', 0, 25 * S],
      ['two', 0, 5 * S],
    ],
  ]);
});

t.test('K-064 only what lies on the part asked for is found', async (t) => {
  const streams = [stream([...talk(0, 4), ...talk(20 * MIN, 4), ...talk(40 * MIN, 4)])];
  t.same(spansOf(look(streams, { from_ms: 20 * MIN, to_ms: 21 * MIN })), [[['one', 20 * MIN, 20 * MIN + 65 * S]]]);
});

const spoken = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 9 })), {
    maxLength: 400,
  })
  .map((rows) => {
    let at_s = 0;
    return rows.map(([pause_s, length_s, words]) => {
      at_s += pause_s;
      return turn(at_s * S, length_s * S, words);
    });
  });

t.test('K-064 every turn is in one conversation at most, in order; none is too long or cut without need', async () => {
  fc.assert(
    fc.property(spoken, (turns) => {
      const { found, left } = look([stream(turns)], { to_ms: Number.MAX_SAFE_INTEGER });
      if (left !== null) throw new Error('something is left of a recording that is over');
      let ended_ms = Number.NEGATIVE_INFINITY;
      for (const { started_at_ms, ended_at_ms, parts } of found) {
        const inside = turns.filter(
          ({ start_ms }) => start_ms >= started_at_ms - DAY_MS && start_ms + DAY_MS <= ended_at_ms,
        );
        if (parts.length !== 1 || inside.length < 1) throw new Error('parts');
        if (ended_at_ms - started_at_ms > LIMITS.conversation_ms_max + 60 * S) throw new Error('too long');
        const begins = inside[0]?.start_ms ?? 0;
        if (begins + DAY_MS < ended_ms - 60 * S) throw new Error('two overlap');
        ended_ms = ended_at_ms;
      }
    }),
    { numRuns: 300 },
  );
});

t.test('K-064 what is found step by step is what is found at once, but for little that was said between', async () => {
  fc.assert(
    fc.property(spoken, fc.array(fc.integer({ min: 1, max: 80 }), { maxLength: 20 }), (turns, steps) => {
      const isLong = ([part]: ReturnType<typeof spansOf>[number]) => {
        const [, from_ms, to_ms] = part as [string, number, number];
        const inside = turns.filter(({ start_ms, end_ms }) => start_ms >= from_ms && end_ms <= to_ms);
        return inside.length >= 3 && inside.reduce((sum, { words }) => sum + words, 0) >= 10;
      };
      const all = spansOf(look([stream(turns)], { to_ms: Number.MAX_SAFE_INTEGER }));
      const step_by_step: typeof all = [];
      let [came, from_ms] = [0, 0];
      for (const step of [...steps, turns.length]) {
        came += step;
        const so_far = turns.slice(0, came);
        const last_ms = so_far.reduce((latest, { end_ms }) => Math.max(latest, end_ms), 0);
        const is_all = came >= turns.length;
        // What comes begins no earlier than what came.
        const came_to_ms = is_all ? Number.POSITIVE_INFINITY : (so_far.at(-1)?.start_ms ?? 0);
        const { found, left } = look([stream(so_far, { came_to_ms })], { from_ms, to_ms: last_ms });
        step_by_step.push(...spansOf({ found, left }));
        from_ms = left?.from_ms ?? last_ms + 1;
        if (is_all) break;
      }
      const known = new Set(step_by_step.map((one) => JSON.stringify(one)));
      const at_once = all.filter((one) => isLong(one) || known.has(JSON.stringify(one)));
      if (JSON.stringify(step_by_step) !== JSON.stringify(at_once))
        throw new Error(`${JSON.stringify(step_by_step)} is not ${JSON.stringify(at_once)}`);
    }),
    { numRuns: 300 },
  );
});
