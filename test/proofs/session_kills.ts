/**
 * `npm run prove -- session_kills`: the server killed (-9) after every single commit of how recorder sessions begin,
 * of every way in which they end, and of their host's deletion.
 */
import t from 'tap';
import { ALL_KILLS } from '../fixtures/kills.js';
import { END_STEPS, HOST_STEPS, REDEMPTION_STEPS, sessionKills } from '../server/session_kills.js';

const timeout = 10 * 60_000;
t.setTimeout(3 * timeout);
t.test('redemption', { timeout }, (t) => sessionKills(t, REDEMPTION_STEPS, ALL_KILLS));
t.test('ends', { timeout }, (t) => sessionKills(t, END_STEPS, ALL_KILLS));
t.test('their host', { timeout }, (t) => sessionKills(t, HOST_STEPS, ALL_KILLS));
