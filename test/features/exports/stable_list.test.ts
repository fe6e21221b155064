import fc from 'fast-check';
import t from 'tap';
import { insightId } from '../../../src/domain/ids.js';
import type { Item } from '../../../src/features/exports/export_resources.js';
import { stableList } from '../../../src/features/exports/stable_list.js';
import { drawSeed } from '../../fixtures/seed.js';

const LIBRARIES = ['019a0000-0000-7000-8000-0000000000aa', '019b0000-0000-7000-8000-0000000000aa'];

/** Items in the order of their last change, the newest first, of which some change between two pages. */
class MovingList {
  now_ms = 1_000;
  readonly changed = new Map<string, number>();

  constructor(count: number) {
    for (let n = 1; n <= count; n++) this.touch(insightId(LIBRARIES[n % 2] as string, 'suggestion', n));
  }

  touch(id: string): void {
    this.now_ms += 1;
    this.changed.set(id, this.now_ms);
  }

  async *read(between: () => void): AsyncGenerator<Item> {
    let before: [number, string] = [Number.POSITIVE_INFINITY, '~'];
    for (;;) {
      const rows = [...this.changed].map(([id, at]): [number, string] => [at, id]).sort(([a], [b]) => b - a);
      const page = rows.filter(([at]) => at < before[0]).slice(0, 3);
      for (const [at, id] of page) yield { id, updated_at: new Date(at).toISOString() };
      if (page.length < 3) return;
      before = page.at(-1) as [number, string];
      between();
    }
  }
}

t.test('K-127 what changes while it is read is read once, and nothing is passed over', async (t) => {
  const property = fc.asyncProperty(
    fc.integer({ min: 0, max: 40 }),
    fc.array(fc.nat(39), { maxLength: 60 }),
    async (count, touches) => {
      const list = new MovingList(count);
      const all = [...list.changed.keys()];
      const left = [...touches];
      const between = () => {
        const id = all[left.shift() ?? -1];
        if (id !== undefined) list.touch(id);
      };
      const read: string[] = [];
      for await (const { id } of stableList(
        () => list.read(between),
        () => ++list.now_ms,
      ))
        read.push(String(id));
      return read.length === all.length && new Set(read).size === read.length;
    },
  );
  await fc.assert(property, { seed: drawSeed(t), numRuns: 300 });
});
