import t from 'tap';
import { webhookBacklog } from './webhook_backlog.js';

/** `npm run prove -- webhook_backlog` holds it in full. */
t.test('F-013 F-041 a backlog drains in bounded memory, and is cancelled in one commit', (t) =>
  webhookBacklog(t, { endpoints: 8, deliveries: 2_000, disabled: 1_000, rss_growth_mb_max: 150, seconds_max: 60 }),
);
