import t from 'tap';
import { partitionOfId } from '../../../src/domain/ids.js';
import { DuePoll } from '../../../src/engine/jobs/due_poll.js';
import { DueWorker } from '../../../src/engine/jobs/due_worker.js';
import { InFlightLimit } from '../../../src/engine/jobs/in_flight_limit.js';
import { randomId } from '../../../src/engine/random/random.js';
import type { Store } from '../../../src/engine/store/store.js';
import { until } from '../../fixtures/until.js';

const PARTITION = 3;
const members = Array.from({ length: 5 }, () => randomId({ partition: PARTITION, now_ms: Date.now() }));

type WorkerOptions = {
  workOn?: (member: string, signal: AbortSignal) => Promise<unknown>;
  gather_ms?: number;
  round_max?: number;
};

/** A worker of one index, in which each of `due` has so many jobs left. */
function workerOf(due: Map<string, number>, { workOn, gather_ms, round_max }: WorkerOptions = {}) {
  const worked: string[] = [];
  const errors: unknown[] = [];
  let idle = 0;
  const store = {
    async listDue(_: unknown, partition: number, { after }: { after?: { member: string } }) {
      const here = [...due].filter(([member]) => partitionOfId(member) === partition);
      const all = here.filter(([, left]) => left > 0).map(([member]) => ({ member, order: 0 }));
      return after === undefined ? all : [];
    },
    firstDue: async () => [[{ partition: PARTITION, at_ms: 0 }]],
  } as unknown as Store;
  const log = { error: (details: object) => void errors.push(details) };
  const poll = new DuePoll({ store, ownership: { owns: () => true }, log, now: Date.now });
  const work = {
    queue: { owner: 'o', index: 'due' },
    complaint: 'it failed',
    at_once: 3,
    every_ms: 1_000,
    ...(gather_ms !== undefined && { gather_ms }),
    ...(round_max !== undefined && { round_max }),
    onIdle: () => {
      idle += 1;
    },
  };
  const worker = DueWorker.of({ store, poll, now: Date.now, log }, work, async ({ name }, signal) => {
    worked.push(name);
    if (workOn === undefined) due.set(name, (due.get(name) ?? 0) - 1);
    return workOn?.(name, signal);
  });
  worker.start();
  return { worker, worked, errors, idle: () => idle };
}

t.test('a worker works until nothing is due', async (t) => {
  const due = new Map(members.map((member) => [member, 3]));
  const { worker, worked, idle } = workerOf(due);
  worker.offer(members[0] as string);
  await until('all is done', () => [...due.values()].every((left) => left === 0));
  t.equal(worked.length, 15);
  await until('it is idle', () => idle() > 0);
  await worker.stop();
});

t.test('what nothing can be done with is due, and does not keep a worker busy', async (t) => {
  const due = new Map([[members[0] as string, 1]]);
  const { worker, worked } = workerOf(due, { workOn: async () => false });
  await worker.look();
  t.equal(worked.length, 1);
  await worker.look();
  t.equal(worked.length, 2);
  await worker.stop();
});

t.test('what fails is left alone for a while, and keeps nothing else waiting', async (t) => {
  const [bad, good] = members as [string, string];
  const due = new Map([
    [bad, 1],
    [good, 1],
  ]);
  const workOn = async (member: string) => {
    if (member === bad) throw new Error('broken');
    due.set(member, 0);
  };
  const { worker, worked, errors } = workerOf(due, { workOn });
  await worker.look();
  t.same(worked.sort(), [bad, good].sort());
  t.equal(errors.length, 1);
  await worker.stop();
});

t.test('offers gather, where a worker is to wait for more', async (t) => {
  const due = new Map(members.map((member) => [member, 1]));
  const { worker, worked } = workerOf(due, { gather_ms: 20 });
  for (const member of members) worker.offer(member);
  t.equal(worked.length, 0);
  await until('all is done', () => worked.length === members.length);
  await worker.stop();
});

t.test('a worker that stops tells what is in progress, and begins nothing more', async (t) => {
  const due = new Map(members.map((member) => [member, 1]));
  const stopped: string[] = [];
  const { worker, worked } = workerOf(due, {
    workOn: (member, signal) =>
      new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => {
          stopped.push(member);
          resolve();
        });
      }),
  });
  worker.offer(members[0] as string);
  await until('two are worked on', () => worked.length === 2);
  await worker.stop();
  t.same(stopped, worked);
  await worker.offerAndWait(members[4] as string);
  t.equal(worked.length, 2);
});

t.test('an account that has much to do leaves a place to others, and they take turns', async (t) => {
  const others = [5, 6].map((partition) => randomId({ partition, now_ms: Date.now() }));
  const all = [...members, ...others];
  const due = new Map(all.map((member) => [member, 1]));
  const ends = new Map<string, () => void>();
  const { worker, worked } = workerOf(due, {
    workOn: (member) =>
      new Promise<void>((resolve) => {
        due.set(member, 0);
        ends.set(member, resolve);
      }),
  });
  worker.due.offerPartitions([PARTITION, 5, 6]);
  worker.offer(members[0] as string);
  await until('three are worked on', () => worked.length === 3);
  t.same(worked, [members[0], members[1], others[0]], 'two of one account, one of another');
  ends.get(members[0] as string)?.();
  await until('the next one is worked on', () => worked.length === 4);
  t.equal(worked[3], members[2], 'whose turn it is');
  ends.get(members[1] as string)?.();
  await until('one more', () => worked.length === 5);
  t.equal(worked[4], others[1], 'not the one that had its turn');
  for (const member of all) {
    await until('it is worked on', () => ends.has(member));
    ends.get(member)?.();
  }
  await worker.stop();
});

t.test('who offers a member and waits is answered when it is done', async (t) => {
  const due = new Map([[members[0] as string, 1]]);
  const { worker } = workerOf(due);
  await worker.offerAndWait(members[0] as string);
  t.equal(due.get(members[0] as string), 0);
  await worker.stop();
});

t.test('an account at its limit waits until one of its jobs is over', async (t) => {
  let now_ms = 0;
  const [resting, woken]: string[][] = [[], []];
  const limit = new InFlightLimit({
    now: () => now_ms,
    per_account_max: 2,
    rest: (member) => void resting?.push(member),
    wake: (member) => void woken?.push(member),
  });
  t.ok(limit.hasRoom('ann', 'a'));
  limit.note('ann', '1', 10);
  limit.note('ann', '2', 20);
  t.notOk(limit.hasRoom('ann', 'b'));
  t.same(resting, ['b']);
  t.ok(limit.hasRoom('bob', 'c'), 'another account');
  limit.forget('1');
  t.same(woken, ['b']);
  t.ok(limit.hasRoom('ann', 'b'));
  limit.note('ann', '3', 30);
  limit.prolonged('2', 40);
  now_ms = 30;
  t.equal(limit.size, 1, 'a lease that has ended counts no more');
});

t.test('a round ends at its bound, and what failed takes no place of others in it', async (t) => {
  const due = new Map(members.map((member) => [member, 1]));
  const [bad] = members as [string];
  const { worker, worked } = workerOf(due, {
    round_max: 3,
    async workOn(member) {
      if (member === bad) throw new Error('broken');
      due.set(member, 0);
    },
  });
  t.equal(await worker.look(), 2);
  t.equal(worked.length, 3);
  t.equal(await worker.look(), 2, 'the rest, in the next round');
  t.equal(worked.filter((member) => member === bad).length, 1, 'it is left alone');
  await worker.stop();
});
