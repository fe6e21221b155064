import t from 'tap';
import { PARTITIONS } from '../../../src/domain/ids.js';
import { DuePoll } from '../../../src/engine/jobs/due_poll.js';
import { DueTask } from '../../../src/engine/jobs/due_task.js';
import { type DueQuestion, StoreUnavailable } from '../../../src/engine/store/store.js';

const NOW_MS = 1_000_000;
const TICKS = 60;
const OTHERS_EVERY = 15;
const LATE_MS = 5_000;

/** A poll whose store answers as the test says, and what it was asked, by tick. */
function pollOf({
  owns = () => true,
  due = (): number[] => [],
}: {
  owns?: (partition: number) => boolean;
  due?: (question: DueQuestion) => number[];
}) {
  const asked: (readonly DueQuestion[])[] = [];
  const store = {
    async duePartitions(questions: readonly DueQuestion[]) {
      asked.push(questions);
      return questions.map((question) => due(question).filter((partition) => question.partitions.includes(partition)));
    },
  };
  const errors: unknown[] = [];
  const log = { error: (...said: unknown[]) => void errors.push(said) };
  return { asked, errors, poll: new DuePoll({ store, ownership: { owns }, log, now: () => NOW_MS }) };
}

t.test('own partitions have their turn each time, those of others rarely, and few at a time', async (t) => {
  const owns = (partition: number) => partition % 4 === 0;
  const { asked, poll } = pollOf({ owns });
  poll.add({ queue: 'reminders', every_ms: 1_000, look() {} });
  for (let tick = 0; tick < TICKS; tick++) await poll.tick();
  t.equal(asked.length, TICKS, 'one question a tick');
  const turns = new Map<number, number>();
  for (const questions of asked) {
    for (const { partitions, by_ms } of questions) {
      for (const partition of partitions) {
        turns.set(partition, (turns.get(partition) ?? 0) + 1);
        t.equal(by_ms, owns(partition) ? NOW_MS : NOW_MS - LATE_MS);
      }
    }
    const others = questions.flatMap(({ partitions }) => partitions).filter((partition) => !owns(partition));
    t.ok(others.length <= Math.ceil(PARTITIONS / OTHERS_EVERY), `${others.length} at one instant`);
  }
  for (let partition = 0; partition < PARTITIONS; partition++)
    t.equal(turns.get(partition), owns(partition) ? TICKS : TICKS / OTHERS_EVERY, String(partition));
});

t.test('a view in which nobody owns anything costs time and nothing else', async (t) => {
  const { poll } = pollOf({ owns: () => false, due: ({ partitions }) => [...partitions] });
  const found = new Set<number>();
  poll.add({ queue: 'mails', every_ms: 1_000, look: (partitions) => partitions.forEach((one) => void found.add(one)) });
  for (let tick = 0; tick < OTHERS_EVERY; tick++) await poll.tick();
  t.equal(found.size, PARTITIONS);
});

t.test('workers are told of their own queue alone, as often as they want', async (t) => {
  const { asked, poll } = pollOf({ due: ({ queue }) => (queue === 'jobs' ? [7, 200] : []) });
  const told: Record<string, number[]> = { jobs: [], mails: [], all: [] };
  const look = (name: string) => (partitions: readonly number[]) => void told[name]?.push(...partitions);
  poll.add({ queue: 'jobs', every_ms: 5_000, look: look('jobs') });
  const drop = poll.add({ queue: 'mails', every_ms: 1_000, look: look('mails') });
  poll.add({ queue: null, every_ms: 10_000, look: look('all') });
  await poll.tick();
  t.same(told.jobs, [7, 200], 'at first all of it');
  for (let tick = 0; tick < 10; tick++) await poll.tick();
  t.same(
    told.jobs?.sort((a, b) => a - b),
    [7, 7, 7, 200, 200, 200],
    'then every five seconds',
  );
  t.same(told.mails, []);
  t.equal(new Set(told.all).size, PARTITIONS);
  drop();
  asked.length = 0;
  await poll.tick();
  t.notOk(asked.flat().some(({ queue }) => queue === 'mails'));
});

t.test('what can not be told counts as due for whoever asks, and waits for the next tick otherwise', async (t) => {
  let error: Error = new StoreUnavailable('away');
  const { errors, poll } = pollOf({
    due() {
      throw error;
    },
  });
  poll.add({ queue: 'mails', every_ms: 1_000, look: () => t.fail('nothing was found') });
  await poll.tick();
  t.equal(errors.length, 0, 'a problem that passes is not logged');
  t.equal((await poll.due('mails')).length, PARTITIONS);
  error = new Error('a bug');
  await poll.tick();
  t.equal(errors.length, 1);
});

t.test('a task looks where a poll found something, and everywhere when asked; never twice at a time', async (t) => {
  const { poll } = pollOf({ due: () => [3, 9] });
  const looks: (readonly number[])[] = [];
  let end = () => {};
  const task = new DueTask({ poll, queue: 'mails', every_ms: 1_000 }, (partitions) => {
    looks.push(partitions);
    return new Promise<void>((resolve) => {
      end = resolve;
    });
  });
  task.start();
  await poll.tick();
  t.same(looks, [[3, 9]]);
  await poll.tick();
  t.equal(looks.length, 1, 'the one in progress comes first');
  const asked = task.runOnce();
  end();
  await new Promise((resolve) => setImmediate(resolve));
  t.same(
    looks,
    [
      [3, 9],
      [3, 9],
    ],
    'whoever asks gets one that began later',
  );
  end();
  await asked;
  await task.stop();
  await poll.tick();
  t.equal(looks.length, 2, 'and then no more');
});
