import calculateSlot from 'cluster-key-slot';
import t from 'tap';
import { PARTITIONS } from '../../../src/domain/ids.js';
import { keysOf, PartitionKeys, tagOf } from '../../../src/engine/store/partitions.js';

const SLOTS = 16_384;

t.test('partition i sits in slot 64·i, and its keys with it', (t) => {
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const tag = tagOf(partition);
    if (calculateSlot(`{${tag}}`) !== 64 * partition) t.fail(`tag ${tag} of ${partition}`);
    const keys = keysOf(partition);
    const address = { kind: 'ledger', id: '{x}' };
    for (const key of [
      keys.entity(address),
      keys.records(address, 'c'),
      keys.log('a'),
      keys.epochs('a'),
      keys.outbox,
      keys.reminders,
    ]) {
      if (calculateSlot(key) !== 64 * partition) t.fail(`key ${key} of ${partition}`);
    }
  }
  t.equal(new Set(Array.from({ length: PARTITIONS }, (_, partition) => tagOf(partition))).size, PARTITIONS);
  t.end();
});

t.test('shards that share the slots evenly share the partitions evenly', (t) => {
  for (const shards of [2, 4, 8, 16]) {
    const counts = new Array<number>(shards).fill(0);
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const shard = Math.floor((calculateSlot(tagOf(partition)) * shards) / SLOTS);
      counts[shard] = (counts[shard] ?? 0) + 1;
    }
    t.same(new Set(counts), new Set([PARTITIONS / shards]), `${shards} shards`);
  }
  t.end();
});

t.test('there is no other partition', (t) => {
  for (const partition of [-1, 256, 1.5]) {
    t.throws(() => keysOf(partition));
    t.throws(() => new PartitionKeys(partition));
  }
  t.end();
});
