/**
 * `npm run prove -- oauth_races [--rounds 100] [--callers 64]`: exchanges, refreshes, revocations, codes and presses of
 * one sign-in by many callers at once, over two server processes on one Redis.
 */
import { parseArgs } from 'node:util';
import t from 'tap';
import { oauthRaces } from '../server/oauth_races.js';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: { rounds: { type: 'string', default: '100' }, callers: { type: 'string', default: '64' } },
});
t.setTimeout(15 * 60_000);
t.test(`${values.rounds} rounds of ${values.callers} callers`, { timeout: 15 * 60_000 }, (t) =>
  oauthRaces(t, { rounds: Number(values.rounds), callers: Number(values.callers) }),
);
