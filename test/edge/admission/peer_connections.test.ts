import t from 'tap';
import { ConnectionLimiter } from '../../../src/edge/admission/connection_limiter.js';
import { type ConnectionCount, ConnectionSums, PeerConnections } from '../../../src/edge/admission/peer_connections.js';
import { until } from '../../fixtures/until.js';

const LIMITS = { connections_max: 6, connections_per_network_max: 3 };

/** Processes that hear of each other's connections over one primary. */
function machine(count: number) {
  const sums = new ConnectionSums<PeerConnections>((process, counts) => process.hear(counts));
  const told: ConnectionCount[] = [];
  const join = () => {
    const connections: PeerConnections = new PeerConnections((counts) => {
      told.push(...counts);
      sums.says(connections, counts);
    });
    sums.joins(connections);
    const parts = { is_exempt: () => false, refused: () => {}, peers: connections.of('public') };
    return { connections, limiter: new ConnectionLimiter(LIMITS, parts), end: () => sums.gone(connections) };
  };
  return { told, join, processes: Array.from({ length: count }, join) };
}

type Process = ReturnType<ReturnType<typeof machine>['join']>;

/** Whether a connection of this network would be let in. */
const hasRoom = ({ limiter }: Process, address: string) => {
  const leave = limiter.enter(address);
  leave?.();
  return leave !== null;
};
const enter = ({ limiter }: Process, address: string) => limiter.enter(address) as () => void;

t.test('the bound of one network holds for all processes together, until connections close', async (t) => {
  const { processes } = machine(3);
  const [one, two, three] = processes as [Process, Process, Process];
  const leave = enter(one, '1.1.1.1');
  enter(two, '1.1.1.1');
  enter(two, '1.1.1.1');
  await until('the third has heard of them', () => !hasRoom(three, '1.1.1.1'));
  t.ok(hasRoom(three, '2.2.2.2'), 'another network has places of its own');
  leave();
  await until('a place is free everywhere', () => hasRoom(two, '1.1.1.1') && hasRoom(three, '1.1.1.1'));
});

t.test('the bound on all connections holds for all processes together', async (t) => {
  const { join, processes } = machine(2);
  const [one, two] = processes as [Process, Process];
  for (let network = 0; network < LIMITS.connections_max; network++)
    enter(network % 2 === 0 ? one : two, `1.1.1.${network}`);
  await until('no place is left', () => processes.every((process) => !hasRoom(process, '9.9.9.9')));
  t.notOk(hasRoom(join(), '9.9.9.9'), 'a process that is started later knows it from the first');
  two.end();
  t.ok(hasRoom(one, '9.9.9.9'), 'what a process had that has ended is free');
});

t.test('connections that come and go between two reports cost none', async (t) => {
  const { told, processes } = machine(2);
  const [one, two] = processes as [Process, Process];
  for (let round = 0; round < 100; round++) hasRoom(one, '1.1.1.1');
  enter(one, '2.2.2.2');
  for (let nth = 0; nth < LIMITS.connections_per_network_max - 1; nth++) enter(two, '2.2.2.2');
  await until('the other has heard', () => !hasRoom(two, '2.2.2.2'));
  t.notOk(told.some(([key]) => key.includes('1.1.1.')));
});
