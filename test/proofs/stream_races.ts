/**
 * `npm run prove -- stream_races [--devices 12] [--operations 20000] [--at-once 32]`: recorders and an app that work on
 * the same streams, many calls at once over two server processes on one Redis; sessions end in the middle.
 */
import { parseArgs } from 'node:util';
import t from 'tap';
import { streamRaces } from '../server/stream_races.js';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    devices: { type: 'string', default: '12' },
    operations: { type: 'string', default: '20000' },
    'at-once': { type: 'string', default: '32' },
  },
});
const timeout = 15 * 60_000;
t.setTimeout(timeout);
t.test(`${values.operations} operations of ${values.devices} recorders`, { timeout }, (t) =>
  streamRaces(t, {
    devices: Number(values.devices),
    operations: Number(values.operations),
    at_once: Number(values['at-once']),
  }),
);
