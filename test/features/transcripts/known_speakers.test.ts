import t from 'tap';
import type { HeardSegment } from '../../../src/features/transcripts/engines/engine.js';
import { hearsInPauses, withKnownSpeakers } from '../../../src/features/transcripts/known_speakers.js';

const SAMPLES = [
  { speaker: 'S1', from_ms: 0, to_ms: 5_000 },
  { speaker: 'S2', from_ms: 6_000, to_ms: 11_000 },
];
const FILE = { samples: SAMPLES, begins_ms: 12_000 };

const heard = (speaker: string, start_s: number, end_s: number, words: HeardSegment['words'] = []): HeardSegment => {
  return { text: `${speaker} at ${start_s}`, start_s, end_s, words, speaker };
};
const speakersIn = (segments: readonly HeardSegment[]) =>
  segments.map(({ speaker, is_known = false }) => (is_known ? speaker : `new ${speaker}`));

t.test('K-165 labels get the names of the speakers in whose samples they talk', async (t) => {
  const found = withKnownSpeakers(FILE, [
    heard('B', 0.1, 4.9),
    heard('A', 6.2, 10.8),
    heard('A', 12.5, 14),
    heard('C', 15, 16),
    heard('B', 17, 18),
  ]);
  t.same(speakersIn(found), ['S2', 'new C', 'S1'], 'and the samples are no part of the window');
});

t.test('no two labels are one speaker, and no label is two', async (t) => {
  const found = withKnownSpeakers(FILE, [
    heard('A', 0, 3.5),
    heard('B', 3.5, 5),
    heard('A', 6, 11),
    heard('A', 13, 14),
    heard('B', 14, 15),
  ]);
  t.same(speakersIn(found), ['S2', 'S1'], 'A talks longest in the second sample');
});

t.test('words with speakers of their own count by themselves', async (t) => {
  const word = (text: string, start_s: number, end_s: number, speaker: string) => ({ text, start_s, end_s, speaker });
  const [found] = withKnownSpeakers(FILE, [
    heard('A', 0, 5),
    heard('B', 6, 11),
    heard('A', 11.8, 15, [word('hello', 11.8, 11.9, 'A'), word('there', 12.2, 13, 'A'), word('you', 14, 15, 'B')]),
  ]);
  t.match(found, { start_s: 12, words: [{ text: 'there', speaker: 'S1', is_known: true }, { speaker: 'S2' }] });
});

t.test('without samples everything stays', async (t) => {
  const segments = [heard('A', 0, 1)];
  t.same(withKnownSpeakers({ samples: [], begins_ms: 0 }, segments), segments);
});

t.test('K-165 speech in the pauses behind samples tells that an engine hears another order', async (t) => {
  const said = (start_s: number, end_s: number) => ({ text: 'x', start_s, end_s, words: [], speaker: 'A' });
  const { samples } = FILE;
  const [first] = samples;
  const ends_s = (first?.to_ms ?? 0) / 1_000;
  t.notOk(hearsInPauses(FILE, [said((first?.from_ms ?? 0) / 1_000, ends_s), said(12, 15)] as never));
  t.notOk(hearsInPauses(FILE, [said(0, ends_s + 0.3)] as never), 'times may be a little late');
  t.ok(hearsInPauses(FILE, [said(ends_s - 1, ends_s + 1)] as never));
  const words = (from_s: number, each_s: number, count: number) =>
    Array.from({ length: count }, (_, at) => said(from_s + at * each_s, from_s + (at + 1) * each_s));
  t.ok(hearsInPauses(FILE, words(ends_s - 0.5, 0.25, 6) as never), 'also in short words');
  t.ok(hearsInPauses(FILE, [{ ...said(ends_s - 0.5, ends_s + 1), words: words(ends_s - 0.5, 0.25, 6) }] as never));
  t.notOk(hearsInPauses(FILE, words(ends_s, 0.25, 2) as never), 'half of the pause is an error of times');
  t.notOk(hearsInPauses(FILE, Array(9).fill(said(ends_s, ends_s + 0.4)) as never), 'the same time counts once');
  t.notOk(hearsInPauses({ samples: [], begins_ms: 0 }, [said(0, 60)] as never), 'without samples there are no pauses');
});
