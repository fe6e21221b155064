/** Peers for reads: a Fastify route that sends fixed bytes, and one that reads a Redis stream and makes JSON of it. */
import fastify from '../../../node_modules/fastify/fastify.js';
import { Redis } from '../../../node_modules/ioredis/built/index.js';
import { answer, settings } from './answering_server.mjs';

const LOG = 'bench-events';

const { body, socket_path, events } = settings();
const app = fastify({ logger: false, keepAliveTimeout: 72_000 });
app.get('/fixed', async (_request, reply) => reply.type('application/json; charset=utf-8').send(body));
if (socket_path !== undefined) {
  const redis = new Redis(socket_path, { enableAutoPipelining: true });
  for (const event of events) await redis.xadd(LOG, '*', 'b', JSON.stringify(event));
  app.get('/events', async (_request, reply) => {
    const entries = await redis.xrange(LOG, '-', '+', 'COUNT', 100);
    const items = entries.map(([id, fields]) => ({ ...JSON.parse(fields[1]), sequence: id }));
    return reply
      .type('application/json; charset=utf-8')
      .send(JSON.stringify({ success: true, data: { items, cursor: entries.at(-1)[0] } }));
  });
}
await app.listen({ host: '127.0.0.1', port: 0 });
answer({ port: app.server.address().port }, { stop: () => app.close() });
