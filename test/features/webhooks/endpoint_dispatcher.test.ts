import t from 'tap';
import type { AttemptResult, DeliveryClaim } from '../../../actors/webhooks/delivery.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { ConcurrencyLimit } from '../../../src/features/webhooks/concurrency_limit.js';
import type { DeliveryClient } from '../../../src/features/webhooks/delivery_client.js';
import { EndpointDispatcher } from '../../../src/features/webhooks/endpoint_dispatcher.js';
import type { EndpointQueue, Target } from '../../../src/features/webhooks/endpoint_queue.js';
import { ReadyQueue } from '../../../src/features/webhooks/ready_queue.js';
import { until } from '../../fixtures/until.js';

const target = { endpoint_id: 'e', account_id: 'a', origin: 'https://a.test' } as Target;
/** Of the origin's places all but so many are taken by others. */
const PLACES = LIMITS.endpoint_in_flight_max;

type Turn = [results: number, claims: number];

/** Endpoints with backlogs drain them at one origin that answers at once; gives the turns of each, and what is left taken. */
async function drain(backlogs: number[], { fails_at = -1 } = {}): Promise<{ turns: Turn[][]; taken: number }> {
  const limit = new ConcurrencyLimit();
  const others = { account_id: 'others', origin: target.origin };
  limit.take(others, LIMITS.origin_in_flight_max - PLACES);
  const queue = new ReadyQueue();
  let [idle, sent] = [0, 0];
  const client = {
    readAhead: async () => {},
    async send() {
      if (sent++ === fails_at) throw new Error('not sent');
      return {} as AttemptResult;
    },
  };
  const turns = backlogs.map((backlog): Turn[] => {
    const own: Turn[] = [];
    let left = backlog;
    const work = {
      knownTarget: () => target,
      async exchange(_: Target, { results, granted }: { results: AttemptResult[]; granted: number }) {
        const claims = Array.from({ length: Math.min(granted, left) }, () => ({}) as DeliveryClaim);
        left -= claims.length;
        own.push([results.length, claims.length]);
        return { claims, late: 0, next_at_ms: left > 0 ? 0 : null, disabled: false, ended: [] };
      },
    };
    const dispatcher = new EndpointDispatcher('e', {
      ...{ work: work as unknown as EndpointQueue, client: client as unknown as DeliveryClient, limit, queue },
      ...{ log: { error: () => {} } as never, now: () => 1, isStopped: () => false, onPosted: () => {} },
      onIdle: () => {
        idle += 1;
      },
    });
    dispatcher.wake();
    return own;
  });
  await until('the backlogs are drained', () => idle >= backlogs.length);
  limit.giveBack(others, LIMITS.origin_in_flight_max - PLACES);
  return { turns, taken: limit.taken };
}

const sumOf = (turns: Turn[] | undefined, part: 0 | 1) => (turns ?? []).reduce((sum, turn) => sum + turn[part], 0);

t.test('F-030: one with a backlog takes its places again while another waits, which gets them then', async (t) => {
  const { turns, taken } = await drain([20, 20]);
  t.strictSame(turns[0]?.slice(0, 3), [
    [0, 8],
    [8, 8],
    [8, 4],
  ]);
  for (const own of turns) t.strictSame([sumOf(own, 0), sumOf(own, 1)], [20, 20]);
  t.equal(taken, 0, 'all places are free again');
});

t.test('F-030: places come back of what could not be sent, too', async (t) => {
  const { turns, taken } = await drain([20], { fails_at: 2 });
  t.strictSame([sumOf(turns[0], 0), sumOf(turns[0], 1)], [19, 20]);
  t.equal(taken, 0);
});
