import t from 'tap';
import { type PageTurn, putPage, readPage, type TranscriptPage } from '../../../actors/transcripts/transcript_page.js';

const TURN = { text: 'Hello.', language: null, confidence: null, speaker: 0 };

t.test('K-114 a page keeps which pipeline made its turns, and reads those that say nothing of it', (t) => {
  const runs = [
    { id: 'r1', published_at_ms: 5 },
    { id: 'r2', published_at_ms: 6, pipeline: 2 },
  ];
  const turns = runs.map((run, at): PageTurn => {
    return { ...TURN, serial: at, start_ms: 600_000 + at, end_ms: 600_100, run };
  });
  const page: TranscriptPage = {
    ...{ number: 1, next_serial: 2, turns, runs, corrections: [] },
    expired: { serials: [], spans: [] },
  };
  const { value } = putPage(page) as { value: { r: unknown[] } };
  t.same(value.r, [
    ['r1', 5],
    ['r2', 6, 2],
  ]);
  t.strictSame(readPage(1, value), page);
  t.end();
});
