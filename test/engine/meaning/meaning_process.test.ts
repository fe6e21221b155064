import t from 'tap';
import { similarity } from '../../../src/domain/search/vectors.js';
import { MEANING_MODEL } from '../../../src/engine/meaning/meaning_model.js';
import { MeaningProcess } from '../../../src/engine/meaning/meaning_process.js';
import { NoPlace } from '../../../src/engine/pools/shared_pool.js';
import { ProcessFailed } from '../../../src/engine/process/framed_process.js';
import { NO_MEANING_MODEL } from '../../fixtures/meaning.js';
import { until } from '../../fixtures/until.js';

type Tap = { teardown(end: () => Promise<void>): void };
type Bounds = ConstructorParameters<typeof MeaningProcess>[0];

const SIGNAL = new AbortController().signal;
const CALL = { owner: 'a', signal: SIGNAL };

function open(t: Tap, more: Partial<Bounds> = {}): MeaningProcess {
  const meaning = new MeaningProcess({
    folder: MEANING_MODEL.folder,
    idle_ms: 60_000,
    silence_ms_max: 60_000,
    memory_bytes_max: 2 ** 30,
    priority: 0,
    ...more,
  });
  t.teardown(() => meaning.close());
  return meaning;
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'none',
    (error: unknown) => (error instanceof ProcessFailed ? error.code : String(error)),
  );
}

t.test('K-272 texts that mean the same have vectors that are near', { skip: NO_MEANING_MODEL }, async (t) => {
  const meaning = open(t);
  const texts = [
    'Where did I put my bicycle?',
    'The bike is in the shed behind the house.',
    'The soup needs more salt.',
    'Vælkommen 日本 🎉 to \uD800 the shed',
    '   ',
  ];
  const vectors = await meaning.embed(texts, CALL);
  t.same(
    vectors.map(({ length }) => length),
    texts.map(() => MEANING_MODEL.dimension),
  );
  const [question, shed, soup, odd] = vectors as [Int8Array, Int8Array, Int8Array, Int8Array];
  t.ok(similarity(question, shed) > similarity(question, soup) + 0.2);
  t.ok(Math.abs(similarity(odd, odd) - 1) < 0.02, 'of length 1');
  const [alone] = await meaning.embed(texts.slice(0, 1), CALL);
  t.ok(similarity(alone as Int8Array, question) > 0.99, 'the same alone and among others');
  t.equal((await meaning.embed(['word '.repeat(400)], CALL)).length, 1, 'as long as a window may be');
});

t.test('K-273 one that dies fails one call, and the next one gets another', { skip: NO_MEANING_MODEL }, async (t) => {
  const meaning = open(t);
  await meaning.embed(['a first one'], CALL);
  const { pid } = meaning;
  const first = codeOf(
    meaning.embed(
      Array.from({ length: 64 }, (_, at) => `the words of number ${at}`),
      CALL,
    ),
  );
  process.kill(pid as number, 'SIGKILL');
  t.equal(await first, 'EXITED');
  t.equal((await meaning.embed(['a second one'], CALL)).length, 1);
  t.not(meaning.pid, pid);
});

t.test('K-273 one that hangs or takes too much memory is killed', { skip: NO_MEANING_MODEL }, async (t) => {
  t.equal(await codeOf(open(t, { silence_ms_max: 1 }).embed(['some words'], CALL)), 'TIMEOUT');
  const small = open(t, { memory_bytes_max: 1 });
  const long = Array.from({ length: 256 }, (_, at) => `the words of number ${at} `.repeat(30));
  t.equal(await codeOf(small.embed(long, CALL)), 'EXITED');
});

t.test('K-273 it ends without work, and with its server', { skip: NO_MEANING_MODEL }, async (t) => {
  const idle = open(t, { idle_ms: 50 });
  await idle.embed(['some words'], CALL);
  await until('it has ended', () => idle.pid === null);
  t.equal((await idle.embed(['others'], CALL)).length, 1);

  const closed = open(t);
  const running = codeOf(closed.embed(['some words'], CALL));
  await closed.close();
  t.match(await running, /STOPPED|EXITED/);
  t.equal(await codeOf(closed.embed(['some words'], CALL)), 'STOPPED');
});

t.test('K-273 questions come before turns, and those that wait are bounded', { skip: NO_MEANING_MODEL }, async (t) => {
  const meaning = open(t);
  const done: string[] = [];
  const noted = (name: string, work: Promise<unknown>) => work.then(() => void done.push(name));
  const turns = ['first', 'second', 'third'].map((name) => noted(name, meaning.embed([name], CALL)));
  const question = noted('question', meaning.embed(['what?'], { ...CALL, owner: 'b', is_short: true }));
  await Promise.all([...turns, question]);
  t.same(done, ['first', 'question', 'second', 'third']);

  const late = AbortSignal.abort();
  const under_way = meaning.embed(['one that is under way'], CALL);
  await t.rejects(meaning.embed(['what?'], { owner: 'b', signal: SIGNAL, leaves: late }), NoPlace);
  const many = Array.from({ length: 70 }, () => meaning.embed(['more'], CALL).catch((error: unknown) => error));
  const refused = (await Promise.all(many)).filter((one) => one instanceof NoPlace);
  t.equal(refused.length, 70 - 64, 'of one account');
  t.equal((await under_way).length, 1, 'nothing that has begun ends');
});
