import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import t from 'tap';
import {
  HandshakeLimiter,
  type HandshakeLimits,
  type HandshakeRefusalCause,
} from '../../../src/edge/admission/handshake_limiter.js';

/** As much of a socket as the door looks at. */
class Visitor extends EventEmitter {
  destroyed = false;
  constructor(
    readonly remoteAddress: string,
    readonly remotePort: number,
  ) {
    super();
  }
  resetAndDestroy(): void {
    this.leave();
  }
  leave(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit('close');
  }
}

const NONE = { taken: 0, waiting: 0 };
const LIMITS: HandshakeLimits = {
  connections_max: 100,
  connections_per_network_max: 50,
  handshakes_max: 3,
  handshakes_per_network_max: 2,
  waiting_max: 10,
  waiting_per_network_max: 5,
};

function house(limits: Partial<HandshakeLimits> = {}) {
  const refused: HandshakeRefusalCause[] = [];
  const begun: string[] = [];
  const visitors: Visitor[] = [];
  const state = { overloaded: false };
  const door = new HandshakeLimiter(
    { ...LIMITS, ...limits },
    {
      is_overloaded: () => state.overloaded,
      is_exempt: (address) => address === '9.9.9.9',
      refused: (cause) => refused.push(cause),
      peers: null,
    },
  );
  const come = (address: string, name = address, port = 1_000 + visitors.length) => {
    const visitor = new Visitor(address, port);
    visitors.push(visitor);
    door.enter(visitor as unknown as Socket, () => begun.push(name));
    return visitor;
  };
  const counts = () => ({ taken: door.pool.counts.taken, waiting: door.pool.counts.waiting });
  return { door, counts, refused, begun, come, visitors, state };
}

const nextRound = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

t.test('H-001 so many handshakes at once, the rest in turns by network', async (t) => {
  const { counts, begun, come, visitors, refused } = house();
  const a = ['a1', 'a2', 'a3', 'a4'].map((name) => come('10.0.0.1', name));
  const b = ['b1', 'b2', 'b3'].map((name) => come('10.0.0.2', name));
  come('10.0.0.3', 'c1');
  t.same(begun, ['a1', 'a2', 'b1'], 'the third place is not for the network that has its two');
  t.same(counts(), { taken: 3, waiting: 5 });
  b[0]?.leave();
  await nextRound();
  t.same(begun.slice(3), ['b2']);
  a[0]?.leave();
  await nextRound();
  t.same(begun.slice(4), ['a3'], 'a place of its own is free: it has waited longest');
  b[1]?.leave();
  await nextRound();
  t.same(begun.slice(5), ['c1'], 'before networks that had their turn');
  b[2]?.leave();
  a[1]?.leave();
  await nextRound();
  t.same(begun.slice(6), ['a4'], 'who left while waiting is passed over');
  t.same(counts(), { taken: 3, waiting: 0 });
  for (const visitor of visitors) visitor.leave();
  await nextRound();
  t.same(counts(), NONE);
  t.same(refused, []);
});

t.test('H-001 what is over a limit is turned away, and why', async (t) => {
  const cases: [limits: Partial<HandshakeLimits>, addresses: string[], cause: HandshakeRefusalCause | null][] = [
    [{ connections_max: 2 }, ['1.1.1.1', '2.2.2.2', '3.3.3.3'], 'connections'],
    [{ connections_per_network_max: 2 }, ['1.1.1.1', '1.1.1.1', '::ffff:1.1.1.1'], 'network_connections'],
    [{ connections_per_network_max: 1 }, ['2001:db8::1', '2001:db8::2'], 'network_connections'],
    [{ connections_per_network_max: 1 }, ['2001:db8::1', '2001:db8:0:1::1'], null],
    [{ connections_per_network_max: 1, handshakes_per_network_max: 1 }, ['9.9.9.9', '9.9.9.9'], null],
    [{ handshakes_max: 1, waiting_max: 1 }, ['1.1.1.1', '2.2.2.2', '3.3.3.3'], 'waiting_handshakes'],
    [
      { handshakes_per_network_max: 1, waiting_per_network_max: 1 },
      ['1.1.1.1', '1.1.1.1', '1.1.1.1'],
      'network_waiting_handshakes',
    ],
  ];
  for (const [limits, addresses, cause] of cases) {
    const { counts, refused, come, visitors } = house(limits);
    for (const address of addresses) come(address);
    await nextRound();
    t.same(refused, cause === null ? [] : [cause], addresses.join());
    t.equal(visitors.at(-1)?.destroyed, cause !== null);
    for (const visitor of visitors) visitor.leave();
    await nextRound();
    t.same(counts(), NONE);
  }
  const { refused, come, state } = house();
  state.overloaded = true;
  t.equal(come('1.1.1.1').destroyed, true);
  t.same(refused, ['overload']);
});

t.test('H-001 a connection that comes again from its port has the place of the one before', async (t) => {
  const { counts, begun, come } = house();
  const before = come('10.0.0.1', 'before', 5_000);
  const again = come('10.0.0.1', 'again', 5_000);
  t.same(begun, ['before', 'again']);
  t.same(counts(), { taken: 1, waiting: 0 });
  before.leave();
  t.same(counts(), { taken: 1, waiting: 0 }, 'that of the later one');
  again.leave();
  t.same(counts(), NONE);
});

t.test('H-001 whoever waits may go, with an error as well', async (t) => {
  const { counts, begun, come } = house({ handshakes_max: 1 });
  const first = come('10.0.0.1', 'first');
  const waiting = come('10.0.0.2', 'waiting');
  waiting.emit('error', new Error('read ECONNRESET'));
  waiting.leave();
  await nextRound();
  t.same(counts(), { taken: 1, waiting: 0 });
  first.leave();
  await nextRound();
  t.same(begun, ['first']);
  t.same(counts(), NONE);
});
