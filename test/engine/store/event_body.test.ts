import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { EVENT_SCHEMA_VERSION, EVENT_TYPES } from '../../../src/domain/event_types.js';
import { chunkId, makeId } from '../../../src/domain/ids.js';
import { NO_VERSION, versionAfter } from '../../../src/engine/store/entity_version.js';
import { decodeEvent, encodeEvent, eventIdIn, type RecordedEvent } from '../../../src/engine/store/event_body.js';
import { keysOf } from '../../../src/engine/store/partitions.js';
import { RedisStore } from '../../../src/engine/store/redis_store.js';
import { StoreUnavailable } from '../../../src/engine/store/store.js';
import { ledgerOf } from '../../fixtures/ledger.js';
import { commitId, commitOf, drawWriter } from '../../fixtures/raw_commit.js';
import { TestRedis } from '../../fixtures/redis.js';

const NOW_MS = 1_790_000_000_000;
const PARTITION = 7;
const BYTES_MAX = 120;
let drawn = 0;
const idAt = (now_ms: number, partition = PARTITION) => {
  drawn += 1;
  return makeId({ partition, now_ms, random: Buffer.of(3, 1, drawn >> 16, drawn >> 8, drawn) });
};
const account_id = idAt(NOW_MS);
const stream_id = idAt(NOW_MS);
const source_id = idAt(NOW_MS);
const run_id = idAt(NOW_MS);

function turnCreated(now_ms: number, number: number, change: Partial<RecordedEvent> = {}): RecordedEvent {
  return {
    id: idAt(now_ms),
    schema_version: EVENT_SCHEMA_VERSION,
    occurred_at: new Date(now_ms).toISOString(),
    account_id,
    type: 'turn.created',
    resource: { type: 'turn', id: chunkId(stream_id, number) },
    data: { source_id, run_id },
    ...change,
  };
}

const isJson = (body: Buffer) => body.toString('latin1', 0, 7) === '{"id":"';

t.test('E-001 an event reads as it was recorded, in whichever form it is stored', async (t) => {
  const mostly = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>) =>
    fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: odd });
  const id = mostly(
    fc.oneof(fc.constantFrom(source_id, chunkId(stream_id, 9), idAt(NOW_MS, PARTITION + 1)), fc.uuid()),
    fc.constantFrom('', 'x', source_id.toUpperCase()),
  );
  const field = mostly(fc.constantFrom('contact_id', 'speaker', 'end_ms'), fc.constantFrom('name', 'constructor'));
  const event: fc.Arbitrary<RecordedEvent> = fc
    .record({
      id,
      now_ms: fc.integer({ min: 0, max: 2 ** 47 }),
      is_of_now: mostly(fc.constant(true), fc.constant(false)),
      schema_version: mostly<number>(fc.constant(EVENT_SCHEMA_VERSION), fc.constant(2)),
      account_id: fc.constantFrom(account_id, idAt(NOW_MS, PARTITION + 1)),
      type: mostly<string>(fc.constantFrom('turn.created', 'run.published'), fc.constantFrom(...EVENT_TYPES)),
      resource_id: id,
      resource_type: mostly<string | null>(fc.constant(null), fc.constant('turn')),
      data: mostly<Record<string, unknown>>(
        fc.record(
          { source_id: id, run_id: id, changed_fields: fc.array(field, { maxLength: 3 }) },
          { requiredKeys: [], noNullPrototype: true },
        ),
        fc.record({ source_id: id, last_four: fc.string() }, { noNullPrototype: true }),
      ),
    })
    .map(({ id, now_ms, is_of_now, resource_id, resource_type, ...rest }) => ({
      ...rest,
      id: is_of_now ? idAt(now_ms) : id,
      occurred_at: new Date(now_ms).toISOString(),
      resource: { type: resource_type ?? rest.type.slice(0, rest.type.indexOf('.')), id: resource_id },
    }));
  const forms = { compact: 0, json: 0 };
  fc.assert(
    fc.property(event, (recorded) => {
      const body = encodeEvent(recorded);
      forms[isJson(body) ? 'json' : 'compact'] += 1;
      const stored = { account_id: recorded.account_id, type: recorded.type, body };
      return isDeepStrictEqual(decodeEvent(stored), recorded) && eventIdIn(stored) === recorded.id;
    }),
    { numRuns: 2_000 },
  );
  t.ok(forms.compact > 100 && forms.json > 100, JSON.stringify(forms));
});

t.test('E-001 what says more than the compact form can is JSON', async (t) => {
  const isCompact = (change: Partial<RecordedEvent>) => !isJson(encodeEvent(turnCreated(NOW_MS, 1, change)));
  t.ok(isCompact({}));
  t.ok(isCompact({ data: {} }));
  t.ok(isCompact({ type: 'turn.updated', data: { changed_fields: ['end_ms', 'text'], source_id } }));
  t.ok(isCompact({ type: 'run.published', resource: { type: 'run', id: run_id } }));
  t.notOk(isCompact({ data: { source_id, pipeline_id: run_id } }));
  t.notOk(isCompact({ data: { changed_fields: [] } }));
  t.notOk(isCompact({ data: { changed_fields: ['another'] } }));
  t.notOk(isCompact({ data: { source_id: null } }));
  t.notOk(isCompact({ resource: { type: 'run', id: run_id } }));
  t.notOk(isCompact({ occurred_at: new Date(NOW_MS + 1).toISOString() }));
  t.ok(isCompact({ type: 'contact.created', resource: { type: 'contact', id: run_id } }));
});

t.test('E-001 what a newer server wrote is away until that one answers; what is cut short is no event', async (t) => {
  const { type } = turnCreated(NOW_MS, 1);
  const body = encodeEvent(turnCreated(NOW_MS, 1));
  const decode = (bytes: Buffer) => () => decodeEvent({ account_id, type, body: bytes });
  t.throws(decode(Buffer.concat([Buffer.of(2), body.subarray(1)])), StoreUnavailable);
  t.throws(decode(Buffer.concat([body, Buffer.of(255)])), StoreUnavailable);
  t.throws(decode(body.subarray(0, -1)), /cut short/);
  t.throws(decode(Buffer.of(1, 0)), /without its ids/);
  t.throws(decode(Buffer.from('{"id":')), SyntaxError);
});

t.test(`E-001 an event of a turn takes at most ${BYTES_MAX} bytes in Redis`, async (t) => {
  const EVENTS = 1_000;
  const AT_ONCE = 20;
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const redis = await server.connect();
  const store = new RedisStore(redis, () => 'epoch');
  const address = ledgerOf(PARTITION);
  let expected = NO_VERSION;
  const written: RecordedEvent[] = [];
  for (let count = 0; count < EVENTS; count += AT_ONCE) {
    const now_ms = NOW_MS + count * 3_000;
    const events = Array.from({ length: AT_ONCE }, (_, index) => turnCreated(now_ms, count + index + 1));
    const commit_id = commitId(drawWriter(), 1);
    const effects = events.map((event) => {
      const { type } = event;
      return { effect: 'append_event' as const, account_id, type, body: encodeEvent(event), delivered: false };
    });
    const { verdict } = await store.commit(commitOf(address, count, { commit_id, expected, now_ms, effects }));
    t.equal(verdict, 'applied');
    expected = versionAfter(expected, commit_id);
    written.push(...events);
  }
  const place = { account_id, partition: PARTITION };
  const read = await store.events(place, { from: '-', to: '+', descending: false, limit: EVENTS + 1 });
  t.strictSame(read.map(decodeEvent), written);
  const bytes = Number(await redis.memory('USAGE', keysOf(PARTITION).log(account_id), 'SAMPLES', 0));
  t.comment(`${(bytes / EVENTS).toFixed(1)} bytes an event`);
  t.ok(bytes / EVENTS <= BYTES_MAX, `${bytes / EVENTS} bytes an event`);
});
