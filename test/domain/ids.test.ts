import fc from 'fast-check';
import t from 'tap';
import {
  type InsightKind,
  insightId,
  isPipelineOutputId,
  libraryId,
  makeId,
  partitionOfId,
  pipelineOutputId,
  placeOfInsight,
  placeOfTurn,
  privateWorkspaceId,
  turnId,
} from '../../src/domain/ids.js';
import { checkPlays } from '../fixtures/decisions.js';

const VALID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const VALID_V8 = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const anyId = fc
  .record({
    partition: fc.integer({ min: 0, max: 255 }),
    now_ms: fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 }),
    random: fc.uint8Array({ minLength: 5, maxLength: 5 }),
  })
  .map(makeId);
const anyLibrary = fc
  .record({ account: anyId, other: fc.oneof(anyId, fc.constant(null)) })
  .map(({ account, other }) => libraryId(account, other ?? privateWorkspaceId(account, 1)));
const anyKind = fc.constantFrom<InsightKind>('conversation', 'memory', 'suggestion', 'group');

t.test('J-014 ids of items have version 7 and the variant of RFC 9562, and lead home', async (t) => {
  const number = fc.integer({ min: 1, max: 2 ** 24 - 1 });
  const plays = fc.record({ library_id: anyLibrary, kind: anyKind, number });
  checkPlays(t, { plays, runs: 2_000 }, ({ library_id, kind, number: of_item }) => {
    const id = insightId(library_id, kind, of_item);
    if (!VALID_V7.test(id)) throw new Error(`${id} is not valid`);
    t.same(placeOfInsight(id), { library_id, kind, number: of_item });
    t.equal(partitionOfId(id), partitionOfId(library_id));
  });
});

t.test(
  'J-014 ids of turns of pipeline outputs have a version and the variant of RFC 9562, and lead to the output',
  async (t) => {
    const plays = fc.record({ stream_id: anyId, pipeline: fc.integer({ min: 1, max: 20 }) });
    checkPlays(t, { plays, runs: 500 }, ({ stream_id, pipeline }) => {
      const output = pipelineOutputId(stream_id, pipeline);
      const id = turnId(output, { page: 3, serial: 7 });
      if (!VALID_V8.test(id)) throw new Error(`${id} is not valid`);
      t.same(placeOfTurn(id), { stream_id: output, page: 3, serial: 7 });
      t.ok(isPipelineOutputId(placeOfTurn(id)?.stream_id ?? ''));
    });
  },
);
