import t from 'tap';
import { audioCrashes } from './audio_crashes.js';

/** `npm run prove -- blobs` does it for longer. */
t.test('H-023 a server killed between storing bytes and saying so leaves none that nobody claims', (t) =>
  audioCrashes(t, { rounds: 2, at_once: 12, chunk_bytes_max: 100_000 }),
);
