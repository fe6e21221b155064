/** `npm run prove -- webhook_kills`: the server killed (-9) around every commit and request of deliveries. */
import t from 'tap';
import { KILL_POINTS, webhookKills } from '../server/webhook_crashes.js';

const timeout = 5 * 60_000;
t.setTimeout(timeout);
t.test('kills around deliveries', { timeout }, (t) => webhookKills(t, KILL_POINTS));
