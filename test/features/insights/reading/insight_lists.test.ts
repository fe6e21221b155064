import fc from 'fast-check';
import t from 'tap';
import type { RangeQuery } from '../../../../actors/actor.js';
import { insightKey, type Memory } from '../../../../actors/insights/library_state.js';
import type { Services } from '../../../../routes/services.js';
import { insightId, libraryId, makeId } from '../../../../src/domain/ids.js';
import { LIMITS } from '../../../../src/domain/limits.js';
import type { LibraryPlace } from '../../../../src/features/insights/reading/insight_access.js';
import { listItems } from '../../../../src/features/insights/reading/insight_lists.js';
import type { InsightReader } from '../../../../src/features/insights/reading/insight_reader.js';
import { checkPlays } from '../../../fixtures/decisions.js';

type Kept = { number: number; order: number };

/** Nobody has deleted anything. */
const UNCHANGED: Pick<InsightReader, 'standing'> = { standing: async (_, found) => found };

const ACCOUNT = makeId({ partition: 9, now_ms: 5, random: Buffer.from('abcde') });
const PLACES: LibraryPlace[] = [1, 2, 3].map((number) => {
  const workspace_id = makeId({ partition: 40 * number, now_ms: number, random: Buffer.from(`${number}vwxyz`) });
  return { library_id: libraryId(ACCOUNT, workspace_id), account_id: ACCOUNT, workspace_id };
});

/** Libraries that hold these items, and how much was read of them. */
function librariesWith(kept: Kept[][]) {
  const tally = { read: 0, asked: 0 };
  const list = (rows: Kept[], { after, limit }: RangeQuery) => {
    const behind = ({ order, number }: Kept) =>
      after === undefined || order < after.order || (order === after.order && insightKey(number) < after.id);
    const run = [...rows]
      .sort((a, b) => b.order - a.order || b.number - a.number)
      .filter(behind)
      .slice(0, limit);
    const last = run.at(-1);
    tally.read += run.length;
    tally.asked += 1;
    return {
      items: run.map(({ number, order }) => ({ number, order, item: {} as Memory })),
      last: last === undefined ? null : { order: last.order, id: insightKey(last.number) },
      looked: run.length,
    };
  };
  const library = (id: string) => ({
    list: async ({ range }: { range: RangeQuery }) =>
      list(kept[PLACES.findIndex(({ library_id }) => library_id === id)] ?? [], range),
  });
  return { services: { actors: { library } } as unknown as Services, tally };
}

const items = fc.uniqueArray(
  fc.record({ number: fc.integer({ min: 1, max: 40 }), order: fc.integer({ min: 1, max: 6 }) }),
  {
    selector: ({ number }) => number,
    maxLength: 30,
  },
);

t.test('K-062 pages of many libraries are all that passes, once each, in one order', async (t) => {
  const plays = fc.record({
    kept: fc.tuple(items, items, items),
    limit: fc.integer({ min: 1, max: 7 }),
    every: fc.constantFrom(1, 2, 3),
  });
  const drawn: { kept: Kept[][]; limit: number; every: number }[] = [];
  checkPlays(t, { plays, runs: 300 }, (play) => drawn.push(play));
  for (const { kept, limit, every } of drawn) {
    const { services } = librariesWith(kept);
    const passes = ({ number }: { number: number }) => number % every === 0;
    const ids: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const at = cursor === undefined ? undefined : read(cursor);
      const page = await listItems(services, {
        kind: 'memory',
        libraries: PLACES,
        limit,
        cursor: at,
        narrow: every > 1,
        passes,
        reading: UNCHANGED,
      });
      if (page.rows.length > limit) t.fail('a page is too long');
      ids.push(...page.rows.map(({ member }) => member));
      cursor = page.cursor;
    }
    const all = kept.flatMap((rows, at) =>
      rows
        .filter(passes)
        .map(({ number, order }) => ({ order, id: insightId(PLACES[at]?.library_id as string, 'memory', number) })),
    );
    all.sort((a, b) => b.order - a.order || (a.id < b.id ? 1 : -1));
    if (ids.join() !== all.map(({ id }) => id).join()) t.fail(JSON.stringify({ kept, limit, every }));
  }
});

t.test('K-062 a page costs the same however much there is, and a search that finds little gives up', async (t) => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => ({ number: at + 1, order: at }));
  const costOf = async (count: number, query: { narrow: boolean; passes: () => boolean }) => {
    const { services, tally } = librariesWith([many(count), many(count), []]);
    const page = await listItems(services, {
      kind: 'memory',
      libraries: PLACES,
      limit: 25,
      cursor: undefined,
      reading: UNCHANGED,
      ...query,
    });
    return { ...tally, rows: page.rows.length, goes_on: page.cursor !== null };
  };
  const all = { narrow: false, passes: () => true };
  t.same(await costOf(20_000, all), await costOf(100, all));
  t.match(await costOf(100, all), { read: 52, rows: 25, goes_on: true });
  const none = await costOf(20_000, { narrow: true, passes: () => false });
  t.match(none, { rows: 0, goes_on: true });
  t.ok(none.read <= LIMITS.items_scanned_max + 3 * LIMITS.items_step_max, `${none.read} were read`);
});

function read(cursor: string): { order: number; member: string } {
  const [order, member] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [number, string];
  return { order, member };
}
