/**
 * `npm run prove -- workspace_races [--accounts 12] [--operations 10000] [--at-once 24]`: people who share workspaces,
 * leave them, delete their accounts and come back, many at once over two server processes on one Redis.
 */
import { parseArgs } from 'node:util';
import t from 'tap';
import { workspaceRaces } from '../server/workspace_races.js';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    accounts: { type: 'string', default: '12' },
    operations: { type: 'string', default: '10000' },
    'at-once': { type: 'string', default: '24' },
  },
});
const timeout = 15 * 60_000;
t.setTimeout(timeout);
t.test(`${values.operations} operations of ${values.accounts} people`, { timeout }, (t) =>
  workspaceRaces(t, {
    accounts: Number(values.accounts),
    operations: Number(values.operations),
    at_once: Number(values['at-once']),
  }),
);
