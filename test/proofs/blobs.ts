/**
 * `npm run prove -- blobs [--rounds 40] [--at-once 48] [--bytes 2000000]`: a server is killed among uploads, again and
 * again; some are repeated, some never. After a sweep, blobs = chunks marked stored, and nothing acknowledged is lost.
 */
import { parseArgs } from 'node:util';
import t from 'tap';
import { audioCrashes } from '../server/audio_crashes.js';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    rounds: { type: 'string', default: '40' },
    'at-once': { type: 'string', default: '48' },
    bytes: { type: 'string', default: '2000000' },
  },
});
const timeout = 15 * 60_000;
t.setTimeout(timeout);
t.test(`${values.rounds} kills among uploads`, { timeout }, (t) =>
  audioCrashes(t, {
    rounds: Number(values.rounds),
    at_once: Number(values['at-once']),
    chunk_bytes_max: Number(values.bytes),
  }),
);
