import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import Fastify from 'fastify';
import t from 'tap';
import { sendEvents } from '../../../src/edge/http/event_stream.js';
import { until } from '../../fixtures/until.js';

const TEXT = 'x'.repeat(64 * 1024);
/** More than what the kernel holds for a connection between two ends of this machine, in events. */
const HELD_MAX = 1_000;

t.test('K-251 who takes nothing is cut off, and nothing is made for them until then', async (t) => {
  let made = 0;
  let ended = false;
  const app = Fastify();
  t.teardown(() => app.close());
  app.get('/events', (request, reply) =>
    sendEvents({ request, reply }, { log: app.log }, async function* (signal) {
      try {
        yield null;
        for (; !signal.aborted; made++) yield { event: 'text', data: TEXT };
      } finally {
        ended = true;
      }
    }),
  );
  await app.listen({ host: '127.0.0.1', port: 0 });
  const socket = net.connect({ host: '127.0.0.1', port: (app.server.address() as AddressInfo).port });
  t.teardown(() => socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.pause();
  socket.write('GET /events HTTP/1.1\r\nHost: x\r\n\r\n');
  await until('some are made', () => made > 0);
  await until('it is cut off', () => ended);
  t.ok(made < HELD_MAX, `${made} events were made`);
  t.equal(await connectionsOf(app.server), 0, 'and nothing of it is held');
});

function connectionsOf(server: net.Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
}
