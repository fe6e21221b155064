/**
 * `npm run prove -- webhook_backlog [--endpoints 200] [--deliveries 100000] [--disabled 100000]`: so many deliveries
 * fall due at once, and an endpoint is disabled that has so many outstanding.
 */
import { parseArgs } from 'node:util';
import t from 'tap';
import { webhookBacklog } from '../server/webhook_backlog.js';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    endpoints: { type: 'string', default: '200' },
    deliveries: { type: 'string', default: '100000' },
    disabled: { type: 'string', default: '100000' },
  },
});
const timeout = 15 * 60_000;
t.setTimeout(timeout);
t.test(`${values.deliveries} deliveries of ${values.endpoints} endpoints`, { timeout }, (t) =>
  webhookBacklog(t, {
    endpoints: Number(values.endpoints),
    deliveries: Number(values.deliveries),
    disabled: Number(values.disabled),
    rss_growth_mb_max: 200,
    seconds_max: 600,
  }),
);
