import t from 'tap';
import { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { type Answer, type Call, RunTime } from './history.js';
import { judge, type Model } from './linearizability.js';
import { counter, endpointStatus, member, register, setOnce } from './models.js';

const OK: Answer = { status: 200, code: '', data: null };
const saw = (data: unknown): Answer => ({ status: 200, code: '', data });
const REFUSED: Answer = { status: 409, code: 'CONFLICT', data: null };
const GONE: Answer = { status: 404, code: 'NOT_FOUND', data: null };
const NOTHING: Answer = { status: 0, code: 'ECONNRESET', data: null };

/** `what` and answer of each call; calls of one inner list are under way at once, all sent before the first is answered. */
type Steps = [what: unknown, answer: Answer][][];

function historyOf(steps: Steps): Call<unknown>[] {
  const time = new RunTime();
  const calls: Call<unknown>[] = [];
  for (const together of steps) {
    const sent = together.map(([what]) => time.begin(calls, what));
    for (const [index, call] of sent.entries()) time.end(call, (together[index] as [unknown, Answer])[1]);
  }
  return calls;
}

const write = (value: string) => ({ op: 'write', value });
const set = (value: number) => ({ op: 'set', value });
const read = { op: 'read' };
const add = { op: 'add' };
const status = (to: string) => ({ op: 'set', status: to });

/** Histories that no order explains. */
const WRONG: [title: string, model: unknown, steps: Steps][] = [
  ['an acknowledged write is lost', register('a'), [[[write('b'), OK]], [[read, saw('a')]]]],
  ['a value comes back', register('a'), [[[write('b'), OK]], [[read, saw('b')]], [[read, saw('a')]]]],
  ['a value that nobody wrote', register('a'), [[[write('b'), OK]], [[read, saw('c')]]]],
  [
    'an unknown write takes effect, and takes it back',
    register('a'),
    [[[write('b'), NOTHING]], [[read, saw('b')]], [[read, saw('a')]]],
  ],
  [
    'two readers see two writes in two orders',
    register('a'),
    [
      [
        [write('b'), OK],
        [write('c'), OK],
      ],
      [[read, saw('b')]],
      [[read, saw('c')]],
    ],
  ],
  ['an unknown write takes effect before it was sent', register('a'), [[[read, saw('b')]], [[write('b'), NOTHING]]]],
  ['one of two successes is not counted', counter, [[[add, OK]], [[add, OK]], [[read, saw(1)]]]],
  ['an attempt counts twice', counter, [[[add, NOTHING]], [[read, saw(2)]]]],
  ['a count goes back', counter, [[[add, NOTHING]], [[read, saw(1)]], [[read, saw(0)]]]],
  [
    'an end is set twice',
    setOnce,
    [
      [
        [set(1), OK],
        [set(2), OK],
      ],
    ],
  ],
  ['an end changes', setOnce, [[[set(1), OK]], [[read, saw(2)]]]],
  ['the same end again is refused', setOnce, [[[set(1), OK]], [[set(1), REFUSED]]]],
  ['an end is refused while there is none', setOnce, [[[set(1), REFUSED]], [[read, saw('none')]]]],
  ['a claim goes to two devices', setOnce, [[[set(1), NOTHING]], [[set(2), OK]], [[set(1), OK]]]],
  ['a disabled endpoint is paused', endpointStatus, [[[status('disabled'), OK]], [[status('paused'), OK]]]],
  [
    'a pause of an active endpoint is refused',
    endpointStatus,
    [
      [[status('disabled'), NOTHING]],
      [[read, saw('active')]],
      [[status('active'), OK]],
      [[status('paused'), REFUSED]],
      [[read, saw('active')]],
    ],
  ],
  ['a removed member has a role', member, [[[{ op: 'remove' }, OK]], [[{ op: 'make', role: 'admin' }, OK]]]],
  [
    'a member is removed twice',
    member,
    [
      [
        [{ op: 'remove' }, OK],
        [{ op: 'remove' }, OK],
      ],
    ],
  ],
  ['a member is missed without a removal', member, [[[{ op: 'make', role: 'admin' }, GONE]]]],
];

/** Histories that some order explains. */
const RIGHT: [title: string, model: unknown, steps: Steps][] = [
  [
    'an unknown write takes effect late',
    register('a'),
    [[[write('b'), NOTHING]], [[read, saw('a')]], [[read, saw('b')]]],
  ],
  [
    'an unknown write never takes effect',
    register('a'),
    [[[write('b'), NOTHING]], [[read, saw('a')]], [[read, saw('a')]]],
  ],
  [
    'calls at once come in either order',
    register('a'),
    [
      [
        [write('b'), OK],
        [write('c'), OK],
        [read, saw('a')],
      ],
      [[read, saw('b')]],
    ],
  ],
  [
    'unknown attempts count or do not',
    counter,
    [
      [
        [add, NOTHING],
        [add, NOTHING],
        [add, OK],
      ],
      [[read, saw(2)]],
      [[read, saw(3)]],
    ],
  ],
  [
    'another end is refused after an unknown one',
    setOnce,
    [[[set(1), NOTHING]], [[set(2), REFUSED]], [[read, saw(1)]]],
  ],
  [
    'of two at once one wins',
    setOnce,
    [
      [
        [set(1), OK],
        [set(2), REFUSED],
      ],
      [[set(1), OK]],
    ],
  ],
  [
    'an unknown removal explains what follows',
    member,
    [[[{ op: 'remove' }, NOTHING]], [[{ op: 'remove' }, GONE]], [[read, saw('none')]]],
  ],
  [
    'disabled, active again, paused',
    endpointStatus,
    [[[status('disabled'), OK]], [[status('paused'), REFUSED]], [[status('active'), OK]], [[status('paused'), OK]]],
  ],
];

type AnyModel = Model<string | number, unknown>;

t.test('the checker of histories', async (t) => {
  await t.test('rejects what no order explains, and says where it is stuck', async (t) => {
    for (const [title, model, steps] of WRONG)
      t.match(judge(historyOf(steps), model as AnyModel), { holds: 'no', why: String }, title);
  });

  await t.test('accepts what some order explains', async (t) => {
    for (const [title, model, steps] of RIGHT)
      t.same(judge(historyOf(steps), model as AnyModel), { holds: 'yes' }, title);
  });

  await t.test(
    'accepts long histories of an object that is right, and rejects them with one answer changed',
    async (t) => {
      for (let seed = 1; seed <= 6; seed++) {
        const calls = drawn(new SeededRandom(seed));
        t.same(judge(calls, register('0')), { holds: 'yes' }, `seed ${seed}`);
        const last = calls.findLast(({ what, answer }) => what.op === 'read' && answer !== null);
        if (last?.answer) last.answer = saw('a value that nobody wrote');
        t.match(judge(calls, register('0')), { holds: /no|undecided/ }, `seed ${seed}, changed`);
      }
    },
  );

  await t.test('gives up on what is too much to look at, and never calls that right', async (t) => {
    const time = new RunTime();
    const calls: Call<{ op: string; value?: string }>[] = [];
    for (let n = 0; n < 24; n++) time.end(time.begin(calls, { op: 'write', value: `${n}` }), NOTHING);
    time.end(time.begin(calls, { op: 'read' }), saw('none of them'));
    t.not(judge(calls as Call<never>[], register('a')).holds, 'yes');
  });
});

type Drawn = { op: 'write'; value: string } | { op: 'read' };

/** Calls of six callers at a register, as it would answer; a tenth of the answers get lost. */
function drawn(random: SeededRandom): Call<Drawn>[] {
  const time = new RunTime();
  const calls: Call<Drawn>[] = [];
  let value = '0';
  const open: (() => void)[] = [];
  for (let n = 0; n < 150; n++) {
    const what: Drawn = random.chance(0.5) ? { op: 'write', value: `${n}` } : { op: 'read' };
    const call = time.begin(calls, what);
    const is_lost = random.chance(0.1);
    let answer = is_lost ? NOTHING : OK;
    const takeEffect = () => {
      if (what.op === 'write') value = what.value;
      else if (!is_lost) answer = saw(value);
    };
    const at_once = random.chance(0.5);
    if (at_once) takeEffect();
    open.push(() => {
      if (!at_once && !(is_lost && random.chance(0.5))) takeEffect();
      time.end(call, answer);
    });
    if (open.length === 6) for (const end of open.splice(random.below(6), 1)) end();
  }
  for (const end of open) end();
  return calls;
}
