import t from 'tap';
import { defineActor, given, type MessageOf } from '../../actors/actor.js';
import { dueIndexEffects, isLastTry, restAfter, tallyBefore, workerMessages } from '../../actors/job.js';
import { refuse } from '../../src/domain/refusals.js';
import { decideRows, START_MS } from '../fixtures/decisions.js';

type State = {
  status: 'waiting' | 'claimed' | 'failed';
  tries: number;
  token?: string;
  until_ms?: number;
  code?: string;
};

const ID = '0198c0de-0000-7000-8000-000000000007';
const LEASE_MS = 60_000;
const NOT_HELD = refuse('CONFLICT', 'not held');
const NOTHING = refuse('NOT_FOUND', 'nothing');
const tries = { tries_max: 3, rests_ms: [1_000, 4_000] };

const work = workerMessages<State, { token: string }, State>({
  given: given((state: State | null) => state ?? NOTHING),
  not_held: NOT_HELD,
  tries,
  held: (job, { token }) => (job.token === token ? { until_ms: job.until_ms ?? 0, job } : null),
  prolonged: (state, { until_ms }) => ({ next: { ...state, until_ms }, effects: [] }),
  rested: (state, _, until_ms) => ({ next: { status: 'waiting', tries: state.tries, until_ms }, effects: [] }),
  released: (state) => ({ next: { status: 'waiting', tries: state.tries - 1 }, effects: [] }),
  failed: (state, _, { code }) => ({ next: { status: 'failed', tries: state.tries, code }, effects: [] }),
});
const once = workerMessages<State, { token: string }, State>({
  given: given((state: State | null) => state ?? NOTHING),
  not_held: NOT_HELD,
  tries,
  held: (job, { token }) => (job.token === token ? { until_ms: job.until_ms ?? 0, job } : null),
  prolonged: (state) => ({ next: state, effects: [] }),
  released: (state) => ({ next: state, effects: [] }),
  failed: (state, _, { code }) => ({ next: { status: 'failed', tries: state.tries, code }, effects: [] }),
});
const job = defineActor<State>()({
  kind: 'job',
  home: 'id',
  schema: 1,
  messages: { ...work, fail_once: once.fail },
});
type Message = MessageOf<typeof job>;
const kind = { kind: job, self: ID };

const claimed: State = { status: 'claimed', tries: 1, token: 'T', until_ms: START_MS + 1 };
const expired: State = { ...claimed, until_ms: START_MS };
const prolong = (token: string): Message => ({ type: 'prolong', token, lease_ms: LEASE_MS });
const fail = (token: string, retry: boolean, rest_ms?: number): Message => ({
  type: 'fail',
  token,
  code: 'TIMEOUT',
  retry,
  rest_ms,
});
const fail_once: Message = { type: 'fail_once', token: 'T', code: 'TIMEOUT', retry: true };
const release = (token: string): Message => ({ type: 'release', token });
const until_ms = START_MS + LEASE_MS;
const lost = { reply: { refused: 'CONFLICT' } } as const;

t.test('K-045 a claim is prolonged by who holds it, while its lease runs', async (t) => {
  decideRows(t, kind, [
    { says: 'no job', state: null, message: prolong('T'), reply: { refused: 'NOT_FOUND' } },
    { says: 'another token', state: claimed, message: prolong('U'), ...lost },
    { says: 'nobody has it', state: { status: 'waiting', tries: 1 }, message: prolong('T'), ...lost },
    { says: 'the lease has ended', state: expired, message: prolong('T'), ...lost },
    { says: 'held', state: claimed, message: prolong('T'), reply: { until_ms }, next: { ...claimed, until_ms } },
  ]);
});

t.test('K-046 a failure makes a job rest, longer after each try, until the last', async (t) => {
  const rests = (count: number, rest_ms: number) => ({
    reply: { again: true, tries: count },
    next: { status: 'waiting' as const, tries: count, until_ms: START_MS + rest_ms },
  });
  const over = (count: number) => ({
    reply: { again: false, tries: count },
    next: { status: 'failed' as const, tries: count, code: 'TIMEOUT' },
  });
  decideRows(t, kind, [
    { says: 'another token', state: claimed, message: fail('U', true), ...lost },
    { says: 'the first', state: claimed, message: fail('T', true), ...rests(1, 1_000) },
    { says: 'after its lease', state: expired, message: fail('T', true), ...rests(1, 1_000) },
    { says: 'the second', state: { ...claimed, tries: 2 }, message: fail('T', true), ...rests(2, 4_000) },
    { says: 'the engine asks for more', state: claimed, message: fail('T', true, 9_000), ...rests(1, 9_000) },
    { says: 'the engine asks for less', state: claimed, message: fail('T', true, 1), ...rests(1, 1_000) },
    { says: 'the last', state: { ...claimed, tries: 3 }, message: fail('T', true), ...over(3) },
    { says: 'another try is of no use', state: claimed, message: fail('T', false), ...over(1) },
    { says: 'a kind without retries', state: claimed, message: fail_once, ...over(1) },
  ]);
});

t.test('K-046 a release makes a job wait, and was no try', async (t) => {
  const next: State = { status: 'waiting', tries: 0 };
  const done = { reply: { done: true } } as const;
  decideRows(t, kind, [
    { says: 'another token changes nothing', state: claimed, message: release('U'), ...done },
    { says: 'held', state: claimed, message: release('T'), ...done, next },
    { says: 'after its lease', state: expired, message: release('T'), ...done, next },
  ]);
});

t.test('K-047 the same result again gets the same answer, another one under its token none', async (t) => {
  const stored = [
    { token: 'T', digest: 'd', tally: 1 },
    { token: 'U', digest: 'd', tally: 2 },
  ];
  t.equal(tallyBefore(stored, { token: 'V', digest: 'd' }), null);
  t.equal(tallyBefore(stored, { token: 'U', digest: 'd' }), 2);
  t.match(tallyBefore(stored, { token: 'U', digest: 'e' }), { refused: 'CONFLICT' });
});

t.test('K-046 rests and the last try', async (t) => {
  t.same(
    [0, 1, 2, 3].map((count) => restAfter(count, tries, {})),
    [0, 1_000, 4_000, 0],
  );
  t.same(
    [2, 3, 4].map((count) => isLastTry(count, tries)),
    [false, true, true],
  );
});

t.test('K-045 an index of what is due changes where the due time does', async (t) => {
  const place = { owner: 'o', index: 'due', member: ID };
  const added = { effect: 'add_to_index', ...place, order: 5 };
  const removed = { effect: 'remove_from_index', ...place };
  for (const [was_ms, is_ms, effects] of [
    [5, 5, []],
    [null, null, []],
    [null, 5, [added]],
    [4, 5, [added]],
    [5, null, [removed]],
  ] as const)
    t.same(dueIndexEffects(place, { was_ms, is_ms }), effects, `${was_ms} to ${is_ms}`);
  t.same(dueIndexEffects(place, { is_ms: 5 }), [added], 'set anew');
  t.same(dueIndexEffects(place, { is_ms: null }), [removed], 'set anew to nothing');
});
