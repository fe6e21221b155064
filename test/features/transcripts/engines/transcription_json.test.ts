import fc from 'fast-check';
import t from 'tap';
import { languageTag } from '../../../../src/domain/language_tag.js';
import { plainText } from '../../../../src/domain/plain_text.js';
import { EngineFailed } from '../../../../src/features/transcripts/engines/engine.js';
import { readTranscription } from '../../../../src/features/transcripts/engines/transcription_json.js';
import { drawSeed } from '../../../fixtures/seed.js';

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
          {
            text: 'early',
            start_s: 0,
            end_s: 3,
            words: [
              { text: 'x', end_s: 2 },
              { text: 'y', start_s: 2, end_s: 2 },
            ],
          },
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

const LINES = [1, 11, 21, 31, 41, 51];
const linesIn = (unit: number, at = (line_s: number) => line_s) =>
  LINES.map((line_s) => ({
    text: `This is what was said at ${line_s}.`,
    start: at(line_s) * unit,
    end: at(line_s + 7) * unit,
  }));
const placesIn = (segments: unknown, length_s = 60) =>
  read({ segments }, length_s).segments.map(({ start_s, end_s }) => [Math.round(start_s), Math.round(end_s)]);

t.test('times may be in any of the usual units', async (t) => {
  for (const unit of [1, 1e3, 1e6, 1e9])
    t.same(
      placesIn(linesIn(unit)),
      LINES.map((line_s) => [line_s, line_s + 7]),
      `${unit} a second`,
    );
});

t.test('times that fit no unit are made up: the text is dealt over the file', async (t) => {
  const dealt = [0, 10, 20, 30, 40, 50].map((start_s) => [start_s, start_s + 10]);
  const rows: [string, unknown][] = [
    ['none at all', linesIn(1).map(({ text }) => ({ text }))],
    ['seconds since 1970', linesIn(1, (line_s) => 1_764_000_000 + line_s)],
    ['milliseconds since 1970', linesIn(1, (line_s) => 1_764_000_000_000 + line_s * 1_000)],
    ['samples', linesIn(48_000)],
    ['NaN and Infinity', linesIn(Number.NaN)],
    ['far before the beginning', linesIn(1, (line_s) => line_s - 1e9)],
  ];
  for (const [says, segments] of rows) {
    t.same(
      placesIn(segments).map((place) => place.map((s) => Math.round(s / 10) * 10)),
      dealt,
      says,
    );
    t.ok(
      read({ segments }, 60).segments.every(({ guessed }) => guessed),
      says,
    );
  }
});

t.test('a time that is missing lies between its neighbours', async (t) => {
  const text = '0123456789';
  const rows: [string, unknown[], [number, number][]][] = [
    [
      'an end',
      [
        { text, start: 1 },
        { text, start: 5, end: 6 },
      ],
      [
        [1, 5],
        [5, 6],
      ],
    ],
    [
      'the last end',
      [
        { text, start: 1, end: 2 },
        { text, start: 5 },
      ],
      [
        [1, 2],
        [5, 60],
      ],
    ],
    [
      'the first start',
      [
        { text, end: 4 },
        { text, start: 5, end: 6 },
      ],
      [
        [0, 4],
        [5, 6],
      ],
    ],
    [
      'both',
      [{ text, start: 1, end: 2 }, { text }, { text: text + text }, { text, start: 32, end: 40 }],
      [
        [1, 2],
        [2, 12],
        [12, 32],
        [32, 40],
      ],
    ],
    [
      'one far beyond the file',
      [
        { text, start: 1, end: 9 },
        { text, start: 9, end: 13 },
        { text, start: 900, end: 905 },
      ],
      [
        [1, 9],
        [9, 13],
        [13, 60],
      ],
    ],
    [
      'one a little beyond the file',
      [
        { text, start: 1, end: 9 },
        { text, start: 61.2, end: 62 },
      ],
      [
        [1, 9],
        [60, 60],
      ],
    ],
  ];
  for (const [says, segments, wanted] of rows) t.same(placesIn(segments), wanted, says);
});

t.test('a word without times lies between its neighbours, and of words without any no times are known', async (t) => {
  const words = [{ word: 'in', start: 1, end: 2 }, { word: '2014' }, { word: 'we', start: 4, end: 5 }];
  t.match(read({ segments: [{ text: 'in 2014 we', start: 0, end: 6, words }] }).segments, [
    { words: [{ text: 'in' }, { text: '2014', start_s: 2, end_s: 4 }, { text: 'we' }] },
  ]);
  const untimed = words.map(({ word }) => ({ word }));
  t.match(read({ segments: [{ text: 'in 2014 we', start: 0, end: 6, words: untimed }] }).segments, [{ words: [] }]);
  t.match(read({ words: untimed }).segments, [{ text: 'in 2014 we', words: [] }], 'all of the text is there');
});

t.test('a segment without times lies where its words do', async (t) => {
  const words = [{ word: 'late', start: 40, end: 41 }];
  t.same(placesIn([{ text: 'late', words }]), [[40, 41]]);
  t.match(read({ segments: [{ text: 'late', words }] }, 60).segments, [{ guessed: false }]);
});

t.test('words stay in the order in which they were said', async (t) => {
  const words = [
    { word: 'I', start: 0.85, end: 0.87 },
    { word: 'know', start: 0.84, end: 1.2 },
  ];
  t.match(read({ segments: [{ text: 'I know', start: 0, end: 2, words }] }).segments[0]?.words, [
    { text: 'I' },
    { text: 'know' },
  ]);
});

t.test('speakers may be numbers, or stand in speaker_id', async (t) => {
  const said = { text: 'Yes.', start: 0, end: 1 };
  const words = [{ word: 'Yes.', start: 0, end: 1, speaker_id: 'speaker_0' }];
  const { segments } = read({
    segments: [
      { ...said, speaker: 0 },
      { ...said, speaker_id: 'A', words },
      { ...said, speaker: {} },
    ],
  });
  t.match(segments, [{ speaker: '0' }, { speaker: 'A', words: [{ speaker: 'speaker_0' }] }, { speaker: undefined }]);
});

t.test('what Python writes in place of numbers is read as none', async (t) => {
  const figures = '"avg_logprob": NaN, "no_speech_prob": -Infinity, "compression_ratio": Infinity';
  const json = `\ufeff{"text": "NaN \\"Infinity", "segments": [{"text": "-Infinity", "start": 0, "end": 2, ${figures}}]}`;
  t.match(readTranscription(json, 10).segments, [
    { text: '-Infinity', end_s: 2, avg_logprob: undefined, no_speech_prob: undefined },
  ]);
  t.match(readTranscription('{"text": "NaN \\" Infinity", "x": NaN}', 10).segments, [{ text: 'NaN " Infinity' }]);
});

t.test('an answer that never ends its text is refused, however long', async (t) => {
  for (const json of ['{"text": NaN, "', `{"text": NaN, "${'\\"'.repeat(1_000_000)}`, `${'"'.repeat(1_000_001)}`])
    t.throws(() => readTranscription(json, 10), EngineFailed);
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
    ['bengali', 'bn'],
    ['Maori', 'mi'],
    ['nynorsk', 'nn'],
    ['myanmar', 'my'],
    ['tagalog', 'fil'],
    ['javanese', 'jv'],
    ['haitian creole', 'ht'],
    ['zh-Hant-TW', 'zh-Hant-TW'],
    ['de-DE-u-co-phonebk', 'de-DE-u-co-phonebk'],
    ['sl-rozaj-biske-1994', 'sl-1994-biske-rozaj'],
    ['en-x-home', 'en-x-home'],
    ['und', undefined],
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
    ['zero\u200bwidth\ufeff', 'zerowidth'],
    ['We write C\u200e++, in the U.\u2060S. as well\u200f.', 'We write C++, in the U.S. as well.'],
    ['The boat\u200b leaves\u2028at nine', 'The boat leaves at nine'],
    ['co\u00adoperate\u206a \u180ehere', 'cooperate here'],
    ['می\u200cخواهم 👩\u200d🚀', 'می\u200cخواهم 👩\u200d🚀'],
  ];
  for (const [text, wanted] of rows) t.equal(plainText(text), wanted);
});

/** Of whisper/tokenizer.py. */
const WHISPER_NAMES =
  'english chinese german spanish russian korean french japanese portuguese turkish polish catalan dutch arabic swedish italian indonesian hindi finnish vietnamese hebrew ukrainian greek malay czech romanian danish hungarian tamil norwegian thai urdu croatian bulgarian lithuanian latin maori malayalam welsh slovak telugu persian latvian bengali serbian azerbaijani slovenian kannada estonian macedonian breton basque icelandic armenian nepali mongolian bosnian kazakh albanian swahili galician marathi punjabi sinhala khmer shona yoruba somali afrikaans occitan georgian belarusian tajik sindhi gujarati amharic yiddish lao uzbek faroese pashto turkmen nynorsk maltese sanskrit luxembourgish myanmar tibetan tagalog malagasy assamese tatar hawaiian lingala hausa bashkir javanese sundanese cantonese burmese valencian flemish haitian letzeburgesch pushto panjabi moldavian moldovan sinhalese castilian mandarin';

t.test('every name that Whisper has for a language is known', async (t) => {
  t.same(
    WHISPER_NAMES.split(' ').filter((name) => languageTag(name) === undefined),
    [],
  );
});
