import t from 'tap';
import { PARTITIONS } from '../../../src/domain/ids.js';
import { DuePoll } from '../../../src/engine/jobs/due_poll.js';
import { type DueQuestion, type DueQueue, StoreUnavailable } from '../../../src/engine/store/store.js';

const START_MS = 1_000_000;
const TICK_MS = 1_000;
const OWN_EVERY = 5;
const OTHERS_EVERY = 15;
const LATE_MS = 5_000;

/** A poll with a clock of its own, whose store has what the test puts there; and what it was asked, by tick. */
function pollOf({ owns = () => true }: { owns?: (partition: number) => boolean } = {}) {
  const asked: (readonly DueQuestion[])[] = [];
  const due = new Map<DueQueue, Map<number, number>>();
  const state: { now_ms: number; error: Error | null } = { now_ms: START_MS, error: null };
  const store = {
    async firstDue(questions: readonly DueQuestion[]) {
      asked.push(questions);
      if (state.error !== null) throw state.error;
      return questions.map(({ queue, partitions }) =>
        [...(due.get(queue) ?? [])]
          .map(([partition, at_ms]) => ({ partition, at_ms }))
          .filter(({ partition }) => partitions.includes(partition)),
      );
    },
  };
  const errors: unknown[] = [];
  const log = { error: (...said: unknown[]) => void errors.push(said) };
  const poll = new DuePoll({
    store,
    ownership: { owns: (partition) => owns(partition) },
    log,
    now: () => state.now_ms,
  });
  const ticks = async (count: number) => {
    for (let tick = 0; tick < count; tick++) {
      await poll.tick();
      state.now_ms += TICK_MS;
    }
  };
  const put = (queue: DueQueue, partition: number, at_ms: number) =>
    due.set(queue, (due.get(queue) ?? new Map<number, number>()).set(partition, at_ms));
  const take = (queue: DueQueue, partition: number) => due.get(queue)?.delete(partition);
  return { asked, errors, poll, put, take, ticks, state };
}

t.test('C-130 nothing is asked while nothing is due, but own partitions every 5 s and others every 15', async (t) => {
  const owns = (partition: number) => partition % 4 === 0;
  const { asked, poll, ticks } = pollOf({ owns });
  poll.add({ queue: 'reminders', every_ms: 1_000, look() {} });
  await ticks(60);
  const turns = new Map<number, number>();
  for (const partition of asked.flat().flatMap(({ partitions }) => partitions))
    turns.set(partition, (turns.get(partition) ?? 0) + 1);
  for (let partition = 0; partition < PARTITIONS; partition++)
    t.equal(turns.get(partition), 60 / (owns(partition) ? OWN_EVERY : OTHERS_EVERY), String(partition));
  t.ok(asked.length <= 60 / OWN_EVERY + 60 / OTHERS_EVERY, `${asked.length} questions`);
});

t.test('C-131 what this process commits is looked for when it is due, and not before', async (t) => {
  const { asked, poll, put, ticks } = pollOf();
  const found: number[] = [];
  poll.add({ queue: 'reminders', every_ms: 1_000, look: (partitions) => found.push(...partitions) });
  await ticks(1);
  asked.length = 0;
  put('reminders', 7, START_MS + 3_000);
  poll.note('reminders', 7, START_MS + 3_000);
  await ticks(2);
  t.equal(asked.length, 0);
  await ticks(1);
  t.same(asked, [[{ queue: 'reminders', partitions: [7] }]], 'that partition alone');
  t.same(found, [7]);
});

t.test('C-131 what an answer tells of later is looked for when it is due', async (t) => {
  const { asked, poll, put, ticks } = pollOf();
  const found: number[] = [];
  poll.add({ queue: 'reminders', every_ms: 1_000, look: (partitions) => found.push(...partitions) });
  put('reminders', 9, START_MS + 3_000);
  await ticks(3);
  t.same(found, []);
  t.equal(asked.length, 1, 'the first tick asks');
  await ticks(1);
  t.same(found, [9]);
  t.equal(asked.length, 2);
});

t.test('C-131 what is noted while an answer is on its way is not forgotten', async (t) => {
  const { poll, put, state } = pollOf();
  const found: number[] = [];
  poll.add({ queue: 'mails', every_ms: 1_000, look: (partitions) => found.push(...partitions) });
  const asking = poll.tick();
  poll.note('mails', 3, START_MS + 500);
  await asking;
  put('mails', 3, START_MS + 500);
  state.now_ms += TICK_MS;
  await poll.tick();
  t.same(found, [3]);
});

t.test('C-132 what others make due in a partition of this process is found within five seconds', async (t) => {
  const { poll, put, ticks } = pollOf();
  const found: number[] = [];
  poll.add({ queue: 'reminders', every_ms: 1_000, look: (partitions) => found.push(...partitions) });
  await ticks(1);
  put('reminders', 12, START_MS);
  await ticks(OWN_EVERY);
  t.same([...new Set(found)], [12]);
});

t.test('C-132 a view in which nobody owns anything costs time and nothing else', async (t) => {
  const { poll, put, ticks } = pollOf({ owns: () => false });
  const found = new Set<number>();
  poll.add({ queue: 'mails', every_ms: 1_000, look: (partitions) => partitions.forEach((one) => void found.add(one)) });
  put('mails', 1, START_MS - LATE_MS);
  put('mails', 2, START_MS + 3_600_000);
  await ticks(OTHERS_EVERY);
  t.same([...found], [1]);
});

t.test('C-132 a partition is asked as soon as it belongs to this process', async (t) => {
  let is_here = false;
  const { poll, put, ticks } = pollOf({ owns: () => is_here });
  const found: number[] = [];
  poll.add({ queue: 'mails', every_ms: 1_000, look: (partitions) => found.push(...partitions) });
  await ticks(OTHERS_EVERY + 1);
  put('mails', 1, START_MS);
  is_here = true;
  await ticks(1);
  t.same(found, [1]);
});

t.test('workers are told of their own queue alone, as often as they want', async (t) => {
  const { asked, poll, put, take, ticks } = pollOf();
  put('jobs', 7, 0);
  put('jobs', 200, 0);
  const told: Record<string, number[]> = { jobs: [], mails: [], all: [] };
  const look = (name: string) => (partitions: readonly number[]) => void told[name]?.push(...partitions);
  poll.add({ queue: 'jobs', every_ms: 5_000, look: look('jobs') });
  const drop = poll.add({ queue: 'mails', every_ms: 1_000, look: look('mails') });
  poll.add({ queue: null, every_ms: 10_000, look: look('all') });
  await ticks(1);
  t.same(told.jobs, [7, 200], 'at first all of it');
  await ticks(10);
  t.same(
    told.jobs?.sort((a, b) => a - b),
    [7, 7, 7, 200, 200, 200],
    'then every five seconds',
  );
  take('jobs', 7);
  await ticks(5);
  t.equal(told.jobs?.filter((partition) => partition === 7).length, 3, 'what is done is told no more');
  t.same(told.mails, []);
  t.equal(new Set(told.all).size, PARTITIONS);
  drop();
  asked.length = 0;
  await ticks(5);
  t.notOk(asked.flat().some(({ queue }) => queue === 'mails'));
});

t.test('what can not be told counts as due for whoever asks, and waits for the next tick otherwise', async (t) => {
  const { asked, errors, poll, put, state, ticks } = pollOf();
  const found: number[] = [];
  poll.add({ queue: 'mails', every_ms: 1_000, look: (partitions) => found.push(...partitions) });
  put('mails', 5, 0);
  state.error = new StoreUnavailable('away');
  await ticks(2);
  t.equal(asked.length, 2, 'it is asked again');
  t.equal(errors.length, 0, 'a problem that passes is not logged');
  t.equal((await poll.due('mails')).length, PARTITIONS);
  state.error = new Error('a bug');
  await ticks(1);
  t.equal(errors.length, 1);
  t.same(found, []);
  state.error = null;
  await ticks(1);
  t.same(found, [5]);
});
