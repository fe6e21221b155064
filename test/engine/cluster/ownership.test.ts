import t from 'tap';
import { PARTITIONS } from '../../../src/domain/ids.js';
import { ownersOf } from '../../../src/engine/cluster/ownership.js';

const ids = (count: number) => Array.from({ length: count }, (_, nth) => `member-${nth}`);
const sharesOf = (owners: readonly string[]) =>
  owners.reduce((shares, id) => shares.set(id, (shares.get(id) ?? 0) + 1), new Map<string, number>());

t.test('each partition has one owner, whoever asks in whatever order', async (t) => {
  t.same(ownersOf([]), [], 'nobody owns anything where nobody is');
  t.same([...sharesOf(ownersOf(['alone']))], [['alone', PARTITIONS]]);
  for (const count of [2, 3, 10]) {
    const owners = ownersOf(ids(count));
    t.equal(owners.length, PARTITIONS);
    t.same(ownersOf(ids(count).reverse()), owners, `${count}: the order does not matter`);
    const shares = [...sharesOf(owners).values()];
    t.equal(shares.length, count, `${count}: each has some`);
    const fair = PARTITIONS / count;
    t.ok(Math.min(...shares) > fair / 2 && Math.max(...shares) < fair * 2, `${count}: ${shares}`);
  }
});

t.test('one that joins or leaves moves its own share and nothing else', async (t) => {
  for (const count of [1, 2, 9]) {
    const [before, after] = [ownersOf(ids(count)), ownersOf(ids(count + 1))];
    const joined = `member-${count}`;
    for (const [partition, owner] of before.entries())
      if (after[partition] !== owner && after[partition] !== joined) t.fail(`${count}: ${partition} went elsewhere`);
    t.ok((sharesOf(after).get(joined) ?? 0) > 0, `${count}: the new one has some`);
  }
});
