import t from 'tap';
import { streamRaces } from './stream_races.js';

t.test(
  'H-010 H-019 H-020 H-021 H-037 whichever of two processes is asked, streams, chunks and signals agree',
  { timeout: 90_000 },
  (t) => streamRaces(t, { devices: 4, operations: 400, at_once: 12 }),
);
