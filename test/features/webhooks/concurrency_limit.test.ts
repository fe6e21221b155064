import t from 'tap';
import { LIMITS } from '../../../src/domain/limits.js';
import { ConcurrencyLimit } from '../../../src/features/webhooks/concurrency_limit.js';

const groups = (account_id: string, origin = `https://${account_id}.test`) => ({ account_id, origin });

/** What an endpoint gets that takes all it can. */
function takeAll(slots: ConcurrencyLimit, of: { account_id: string; origin: string }): number {
  let taken = 0;
  for (;;) {
    const free = Math.min(slots.free(of, taken), LIMITS.endpoint_in_flight_max - taken);
    if (free <= 0) return taken;
    slots.take(of, free);
    taken += free;
  }
}

t.test('an account has 32 slots, and endpoints that take all they can leave some to the next', async (t) => {
  const slots = new ConcurrencyLimit();
  const each = Array.from({ length: 7 }, () => takeAll(slots, groups('a')));
  t.strictSame(each, [8, 8, 8, 4, 2, 1, 1]);
  t.equal(slots.taken, LIMITS.account_in_flight_max);
  t.equal(takeAll(slots, groups('b')), 8, 'another account does not notice');
  slots.giveBack(groups('a'), 1);
  t.ok(slots.free(groups('a'), 7) <= 0, 'not to one that has many');
  t.equal(slots.free(groups('a'), 0), 1, 'to one that has none');
});

t.test('bounds of all and of an origin', async (t) => {
  const slots = new ConcurrencyLimit();
  let of_origin = 0;
  for (let n = 0; n < 40; n++) of_origin += takeAll(slots, groups(`a${n}`, 'https://one.test'));
  t.equal(of_origin, LIMITS.origin_in_flight_max);
  for (let n = 0; n < 100; n++) takeAll(slots, groups(`b${n}`));
  t.equal(slots.taken, LIMITS.deliveries_in_flight_max);
  for (let n = 0; n < 8; n++) slots.giveBack(groups('b0'), 1);
  t.equal(slots.taken, LIMITS.deliveries_in_flight_max - 8);
  t.equal(takeAll(slots, groups('c')), 8);
});
