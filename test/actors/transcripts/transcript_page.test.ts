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

t.test('K-143 a page keeps what was heard in its place, and what people said of a turn behind it', (t) => {
  const run = ['r1', 5];
  const heard = [
    [0, 0, 1_000, 'We meat.', 1, 0, 0, -1],
    [1, 2_000, 1_000, 'Good.', 2, 0, 0, -1, 0, null],
    [2, 1_000, 1_000, 'So.', 2, 0, 0, -1, 1],
    [3, 1_000, 1_000, 'Yes.', 2, 0, 0, -1, 1, 'c'],
  ];
  const stored = { n: 4, r: [run], t: heard };
  const page = readPage(0, stored);
  t.match(page.turns, [
    { text: 'We meat.' },
    { text: 'Good.', contact_id: null },
    { text: 'So.', speaker_is_manual: true },
    { text: 'Yes.', contact_id: 'c', speaker_is_manual: true },
  ]);
  t.notOk(page.turns.some((turn) => 'heard_text' in turn));
  t.same((putPage(page) as { value: unknown }).value, stored, 'and is written as it was');
  const text = { kind: 'text', start_ms: 0, end_ms: 1_000, at_ms: 9, text: 'We meet.', serial: 0 };
  const corrected = readPage(0, { ...stored, c: [text] });
  t.match(corrected.turns.slice(0, 2), [{ text: 'We meet.', heard_text: 'We meat.' }, { text: 'Good.' }]);
  t.same((putPage(corrected) as { value: unknown }).value, { ...stored, c: [text] });
  t.end();
});
