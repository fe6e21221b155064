import fc from 'fast-check';
import t from 'tap';
import { EngineFailed } from '../../../src/content/engines/engine.js';
import { languageTag } from '../../../src/content/engines/language_tag.js';
import { plainText } from '../../../src/content/engines/plain_text.js';
import { readTranscription } from '../../../src/content/engines/transcription_json.js';
import { drawSeed } from '../../fixtures/seed.js';

const read = (answer: unknown, length_s = 10) => readTranscription(JSON.stringify(answer), length_s);

t.test('answers as servers give them', async (t) => {
  const rows: [string, unknown, unknown][] = [
    ['json', { text: ' All of it. ' }, { segments: [{ start_s: 0, end_s: 10, text: ' All of it. ', words: [] }] }],
    ['nothing said', { text: '', segments: [] }, { segments: [] }],
    ['silence as json', { text: ' ' }, { segments: [] }],
    [
      'words beside segments',
      {
        text: 'One two three',
        segments: [
          { text: 'One two', start: 0, end: 2 },
          { text: 'three', start: 2, end: 3 },
        ],
        words: [
          { word: 'One', start: 0, end: 1 },
          { word: 'two', start: 1, end: 2.1 },
          { word: 'three', start: 2.1, end: 3 },
        ],
      },
      { segments: [{ words: [{ text: 'One' }, { text: 'two' }] }, { words: [{ text: 'three', start_s: 2.1 }] }] },
    ],
    [
      'words in segments, some in parts',
      {
        segments: [
          {
            ...{ text: " That's it", start: 0, end: 1 },
            words: [
              { word: ' That', start: 0.1, end: 0.3, probability: 0.5 },
              { word: "'s", start: 0.3, end: 0.5, probability: 0.8 },
              { word: ' it', start: 0.6, end: 0.9, probability: 0.9 },
            ],
          },
        ],
      },
      {
        segments: [
          {
            words: [
              { text: " That's", start_s: 0.1, end_s: 0.5, confidence: 0.5 },
              { text: ' it', confidence: 0.9 },
            ],
          },
        ],
      },
    ],
    [
      'words alone',
      {
        text: 'One two.',
        words: [
          { word: 'One', start: 1, end: 1.5 },
          { word: 'two', start: 2, end: 3 },
        ],
      },
      { segments: [{ text: 'One two.', start_s: 1, end_s: 3, words: [{ text: 'One' }, { text: 'two' }] }] },
    ],
    [
      'speakers of segments and of words',
      {
        segments: [
          { type: 'transcript.text.segment', id: 'seg_0', text: 'Hi.', start: 0, end: 1, speaker: 'A' },
          { text: 'Ho.', start: 1, end: 2, words: [{ word: 'Ho.', start: 1, end: 2, speaker: 'B', score: 0.5 }] },
        ],
      },
      { segments: [{ speaker: 'A' }, { words: [{ speaker: 'B', confidence: 0.5 }] }] },
    ],
    [
      'out of order, backwards, beyond the file, and of odd types',
      {
        segments: [
          { text: 'late', start: 9, end: 99, avg_logprob: 'low', words: 'none' },
          null,
          { text: 'early', start: -1, end: 3, words: [null, 7, { word: 'x' }, { word: 'y', start: 2, end: 1 }] },
          { text: 7 },
          { text: 'backwards', start: 5, end: 4, speaker: null, confidence: 7 },
        ],
      },
      {
        segments: [
          { text: 'early', start_s: 0, end_s: 3, words: [{ text: 'y', start_s: 2, end_s: 2 }] },
          { text: 'backwards', start_s: 5, end_s: 5, speaker: undefined, confidence: undefined },
          { text: 'late', start_s: 9, end_s: 10, words: [], avg_logprob: undefined },
        ],
      },
    ],
  ];
  for (const [title, answer, wanted] of rows) {
    const found = read(answer);
    t.match(found, wanted as object, title);
    t.equal(found.segments.length, (wanted as { segments: unknown[] }).segments.length, title);
  }
});

t.test('whatever comes, it is read with times in the file, or refused', async (t) => {
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.string({ unit: 'binary' }),
      fc.double(),
      fc.constant(null),
      fc.array(tie('any')),
      fc.dictionary(
        fc.constantFrom('text', 'segments', 'words', 'word', 'start', 'end', 'language', 'speaker'),
        tie('any'),
      ),
    ),
  })).any;
  const isSound = ({ start_s, end_s }: { start_s: number; end_s: number }) =>
    0 <= start_s && start_s <= end_s && end_s <= 10;
  fc.assert(
    fc.property(value, (answer) => {
      try {
        for (const segment of read(answer).segments)
          if (!isSound(segment) || !segment.words.every(isSound) || typeof segment.text !== 'string') return false;
        return true;
      } catch (error) {
        return error instanceof EngineFailed;
      }
    }),
    { seed: drawSeed(t), numRuns: 500 },
  );
  t.pass('500 runs');
});

t.test('languages become tags', async (t) => {
  const rows: [string | undefined, string | undefined][] = [
    ['english', 'en'],
    ['German', 'de'],
    ['cantonese', 'yue'],
    ['de', 'de'],
    ['pt_br', 'pt-BR'],
    ['klingon', undefined],
    ['x'.repeat(10_000), undefined],
    ['<script>', undefined],
    ['', undefined],
    [undefined, undefined],
  ];
  for (const [said, tag] of rows) t.equal(languageTag(said), tag, String(said).slice(0, 20));
});

t.test('text is one line of well-formed Unicode', async (t) => {
  const rows: [string, string][] = [
    ['  two \n lines\t', 'two lines'],
    ['a\u0000b\u001b[31mc', 'a b [31mc'],
    ['half \ud83d of one', 'half \ufffd of one'],
    ['\u202eright to left\u2066', 'right to left'],
    ['zero\u200bwidth\ufeff', 'zero width'],
    ['co\u00adoperate\u206a \u180ehere', 'cooperate here'],
    ['می\u200cخواهم 👩\u200d🚀', 'می\u200cخواهم 👩\u200d🚀'],
  ];
  for (const [text, wanted] of rows) t.equal(plainText(text), wanted);
});
