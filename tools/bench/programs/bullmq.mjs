/** Peer for deliveries: a BullMQ worker that signs and posts with undici, with tries, locks and kept results. */
import { createHmac, randomUUID } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import { Agent } from '../../../node_modules/undici/index.js';
import { answer, settings } from './answering_server.mjs';

const { ca, connections, socket_path } = settings();
const agent = new Agent({ connections, pipelining: 1, keepAliveTimeout: 15_000, connect: { ca } });
const connection = { path: socket_path, maxRetriesPerRequest: null };
const queue = new Queue('webhooks', {
  connection,
  defaultJobOptions: { attempts: 8, backoff: { type: 'exponential', delay: 10_000 } },
});
await queue.pause();

let completed = 0;
let failed = 0;
const worker = new Worker(
  'webhooks',
  async ({ data: { url, id, body, secret } }) => {
    const { origin, pathname: path } = new URL(url);
    const timestamp = String(Math.floor(Date.now() / 1000));
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const mac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
    const headers = {
      ...{ 'content-type': 'application/json', 'webhook-id': id },
      ...{ 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${mac}` },
    };
    const began = performance.now();
    const answered = await agent.request({ origin, path, method: 'POST', headers, body });
    await answered.body.dump();
    if (answered.statusCode >= 300) throw new Error(`status ${answered.statusCode}`);
    return { status_code: answered.statusCode, duration_ms: Math.round(performance.now() - began) };
  },
  { connection, concurrency: connections },
);
worker.on('completed', () => {
  completed += 1;
});
worker.on('failed', () => {
  failed += 1;
});

answer(null, {
  async fill({ targets, bodies, count }) {
    for (let at = 0; at < count; at += 1_000) {
      await queue.addBulk(
        Array.from({ length: Math.min(1_000, count - at) }, (_, index) => {
          const target = targets[(at + index) % targets.length];
          return { name: 'deliver', data: { ...target, id: randomUUID(), body: bodies[index % bodies.length] } };
        }),
      );
    }
  },
  async drain({ count }) {
    const wanted = completed + count;
    const began = performance.now();
    await queue.resume();
    while (completed < wanted) {
      if (failed > 0) throw new Error(`${failed} jobs failed`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const seconds = (performance.now() - began) / 1000;
    await queue.pause();
    return { ops: count, seconds };
  },
  recorded: () => queue.getJobCounts('completed', 'failed'),
  async stop() {
    await worker.close();
    await queue.close();
    await agent.destroy();
  },
});
