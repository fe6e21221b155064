import t from 'tap';
import { makeId } from '../../../src/domain/ids.js';
import type { LoggedEvent } from '../../../src/engine/store/store.js';
import { EventBodies } from '../../../src/features/webhooks/event_bodies.js';

const ACCOUNT = makeId({ partition: 7, now_ms: 0, random: new Uint8Array(5) });
const AT_MS = 1_800_000_000_000;
const logId = (sequence: number) => `${AT_MS}-${sequence}`;

/** A log of ten events, and how it was read. */
function log(broken: readonly number[] = []) {
  const reads: string[] = [];
  const events: LoggedEvent[] = Array.from({ length: 10 }, (_, at) => {
    const recorded = { id: ACCOUNT, schema_version: 1, occurred_at: new Date(AT_MS).toISOString(), data: { at } };
    return {
      ...{ id: logId(at), account_id: ACCOUNT, type: 'account.updated' },
      body: Buffer.from(broken.includes(at) ? '{' : JSON.stringify(recorded)),
    };
  });
  const store = {
    async events(_: unknown, { from, to, limit }: { from: string; to: string; limit: number }) {
      reads.push(`${from.split('-')[1]} to ${to.split('-')[1]}`);
      const [first, last] = [from, to].map((id) => events.findIndex((event) => event.id === id));
      return events.slice(first, (last as number) + 1).slice(0, limit);
    },
  };
  return { reads, bodies: new EventBodies(store) };
}

t.test('F-022: events that lie together are read together, and made into bodies once', async (t) => {
  const { reads, bodies } = log();
  await bodies.readAhead(ACCOUNT, [logId(4), logId(1), logId(2)]);
  t.strictSame(reads, ['1 to 4']);
  const first = await bodies.of(ACCOUNT, logId(2), { again: false });
  t.match(JSON.parse(String(first?.bytes)), { sequence: '2', data: { at: 2 } });
  t.equal(await bodies.of(ACCOUNT, logId(2), { again: false }), first);
  t.strictSame(reads, ['1 to 4']);
});

t.test('F-022: what lies far apart is read by itself, as is what is sent again', async (t) => {
  const { reads, bodies } = log();
  await bodies.readAhead(ACCOUNT, [logId(0), logId(9)]);
  t.strictSame(reads, []);
  for (const again of [false, false, true]) await bodies.of(ACCOUNT, logId(0), { again });
  t.strictSame(reads, ['0 to 0', '0 to 0']);
});

t.test('F-022: one that is no event has no body, and its neighbours do', async (t) => {
  const { bodies } = log([1]);
  await bodies.readAhead(ACCOUNT, [logId(0), logId(1), logId(2)]);
  t.equal(await bodies.of(ACCOUNT, logId(1), { again: false }), null);
  t.not(await bodies.of(ACCOUNT, logId(2), { again: false }), null);
  t.equal(await bodies.of(ACCOUNT, logId(20), { again: false }), null, 'nor has one that is gone');
});
