import { EventEmitter } from 'node:events';
import type { Server, Socket } from 'node:net';
import t from 'tap';
import { OperatorConnections } from '../../../src/edge/admission/operator_connections.js';
import { TestSpool } from '../../fixtures/spool.js';
import { StalledConnections } from '../../fixtures/stalled_connections.js';

const PLACES = 8;
const LOCAL_PLACES = 2;
const [OTHER, LOCAL] = ['10.0.0.1', '127.0.0.1'];

/** As much of a socket as its place depends on. */
class Visitor extends EventEmitter {
  is_gone = false;
  constructor(readonly remoteAddress: string) {
    super();
  }
  end(_answer: unknown, ended: () => void): void {
    ended();
  }
  destroy(): void {
    this.is_gone = true;
    this.emit('close');
  }
}

function house() {
  const [server, known] = [new EventEmitter(), new WeakSet<Socket>()];
  let refused = 0;
  const connections = new OperatorConnections(PLACES, { known, refused: () => refused++ });
  connections.install(server as Server);
  const come = (address: string) => {
    const visitor = new Visitor(address);
    server.emit('connection', visitor);
    return visitor;
  };
  const showToken = (visitor: Visitor) => known.add(visitor as unknown as Socket);
  return { come, showToken, refused: () => refused };
}

t.test('one too many takes the place of the oldest on which no token was shown', async (t) => {
  const { come, showToken, refused } = house();
  const others = Array.from({ length: PLACES - LOCAL_PLACES }, () => come(OTHER));
  showToken(others[0] as Visitor);
  t.notOk(come(OTHER).is_gone);
  t.same(
    others.map(({ is_gone }) => is_gone),
    [false, true, false, false, false, false],
  );
  t.equal(refused(), 1);
});

t.test('connections of other machines leave places for those of this one, and never take theirs', async (t) => {
  const { come } = house();
  const locals = Array.from({ length: LOCAL_PLACES }, () => come(LOCAL));
  const others = Array.from({ length: 50 }, () => come(OTHER));
  t.notOk(locals.some(({ is_gone }) => is_gone));
  t.equal(others.filter(({ is_gone }) => !is_gone).length, PLACES - LOCAL_PLACES);
  const probe = come(LOCAL);
  t.notOk(probe.is_gone || locals.some(({ is_gone }) => is_gone), 'another machine makes room');
});

t.test('a place that is given up is free', async (t) => {
  const { come, refused } = house();
  for (let n = 0; n < 20; n++) come(OTHER).destroy();
  t.equal(refused(), 0);
});

t.test('where tokens were shown on all of them, one more is refused, but for one of this machine', async (t) => {
  const { come, showToken } = house();
  const others = Array.from({ length: 6 }, () => come(OTHER));
  for (const one of others) showToken(one);
  t.ok(come(OTHER).is_gone);
  t.notOk(come(LOCAL).is_gone);
  t.notOk(others.some(({ is_gone }) => is_gone));
});

t.test('slow connections to the operator port shut out neither probes nor operators', async (t) => {
  const spool = await TestSpool.start({});
  const crowd = new StalledConnections();
  t.teardown(async () => {
    crowd.leave();
    await spool.end();
  });
  for (const stall of ['silent', 'half a head', 'idle after its answer'] as const)
    for (let n = 0; n < 300; n++) await crowd.plain(spool.server.ports.operator, stall);
  const probe = await fetch(`http://127.0.0.1:${spool.server.ports.operator}/readyz`);
  t.equal(probe.status, 200);
  await spool.operator.ask('GET', '/ops/overview');
});
