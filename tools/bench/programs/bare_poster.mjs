/** The least that posts webhooks: undici over kept connections, nothing signed, nothing stored. */
import { Agent } from '../../../node_modules/undici/index.js';
import { closedLoop } from '../measure.mjs';
import { answer, settings } from './answering_server.mjs';

const { ca, connections } = settings();
const agent = new Agent({ connections, pipelining: 1, keepAliveTimeout: 15_000, connect: { ca } });

answer(null, {
  async post({ url, bodies, count }) {
    const { origin, pathname: path } = new URL(url);
    let left = count;
    return closedLoop({
      in_flight: connections,
      seconds: 600,
      async op() {
        if (left-- <= 0) return false;
        const headers = { 'content-type': 'application/json', 'webhook-id': `bare-${left}` };
        const body = bodies[left % bodies.length];
        const answered = await agent.request({ origin, path, method: 'POST', headers, body });
        await answered.body.dump();
        if (answered.statusCode !== 204) throw new Error(`status ${answered.statusCode}`);
        return true;
      },
    });
  },
  stop: () => agent.destroy(),
});
