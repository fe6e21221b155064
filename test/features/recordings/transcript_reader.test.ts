import t from 'tap';
import { TranscriptReaders } from '../../../src/features/recordings/transcript_reader.js';
import { until } from '../../fixtures/until.js';

/** Threads that read transcripts are kept for the next ones. */

const TALK = Buffer.from('WEBVTT\n\n00:00.000 --> 00:02.000\nAnna: Good morning.\n');
const threads = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;

t.test('K-412 a thread reads one transcript after the other, and one that breaks off is not used again', async (t) => {
  const before = threads();
  const readers = new TranscriptReaders();
  const signal = new AbortController().signal;
  const lines = [{ start_ms: 0, end_ms: 2_000, speaker: 'Anna', text: 'Good morning.' }];
  for (let n = 0; n < 3; n++) t.match(await readers.read(TALK, signal), { ok: true, file: { lines } });
  t.match(await readers.read(Buffer.from('this is no transcript'), signal), { ok: false });
  t.match(await readers.read(TALK, signal), { ok: true }, 'one that is unreadable leaves the thread as it was');

  const leaves = new AbortController();
  const left = readers.read(TALK, leaves.signal);
  leaves.abort(new Error('the sender has left'));
  await t.rejects(left, { message: 'the sender has left' });
  const together = Array.from({ length: 5 }, () => readers.read(TALK, signal));
  for (const read of await Promise.all(together)) t.match(read, { ok: true, file: { lines } });
  await readers.close();
  t.match(await readers.read(TALK, signal), { ok: true }, 'who still reads at the end gets an answer');
  await until('no thread is left', () => threads() === before);
});
