import t from 'tap';
import { NO_SPEECH_BEFORE } from '../../../src/domain/speech_before.js';
import type { SpeechModel } from '../../../src/engine/speech/speech_model.js';
import { SpeechRecognizer } from '../../../src/engine/speech/speech_recognizer.js';

type Sherpa = typeof import('sherpa-onnx-node');

const RATE = 16_000;
const MODEL: SpeechModel = {
  name: 'scripted',
  languages: ['en'],
  config: { tokens: '' },
  language_in: null,
  checks_twice: true,
  speakers: null,
};
const OPTIONS = { language: null, preview: false, diarize: false, goes_on: false, vocabulary: [] };

/** A runtime that finds voice at 0, 4 and 8 s, for two seconds each, and writes down what the script says. */
function scripted(texts: readonly string[]): { sherpa: Sherpa; decoded: () => number } {
  const left = [...texts];
  let decoded = 0;
  class OfflineRecognizer {
    createStream() {
      return { acceptWaveform() {} };
    }
    decode() {
      decoded += 1;
    }
    getResult() {
      return { text: left.shift() ?? 'beyond the script' };
    }
    setConfig() {}
  }
  class Vad {
    #found = [0, 4, 8].map((start_s) => ({ start: start_s * RATE, samples: new Float32Array(2 * RATE) }));
    acceptWaveform() {}
    isEmpty() {
      return this.#found.length === 0;
    }
    front() {
      return this.#found[0];
    }
    pop() {
      this.#found.shift();
    }
    reset() {}
    flush() {}
  }
  return { sherpa: { OfflineRecognizer, Vad } as unknown as Sherpa, decoded: () => decoded };
}

t.test('K-473 where two decodings differ and most is understood, a third one is asked for', async (t) => {
  const said = ['We meet on Monday.', 'We meet on Monday.'];
  const { sherpa, decoded } = scripted([
    ...said,
    'Auto to new cares.',
    'Order two new chairs.',
    ...said,
    'Order two new chairs.',
  ]);
  const recognizer = new SpeechRecognizer(sherpa, MODEL, '');
  const heard = recognizer.recognize(new Float32Array(12 * RATE), { ...OPTIONS, speech_before: NO_SPEECH_BEFORE });
  t.match(heard.segments, [
    { text: said[0], confidence: 1 },
    { text: 'Order two new chairs.', start_s: 4, end_s: 6, confidence: 1 },
    { text: said[0], confidence: 1 },
  ]);
  t.same(heard.not_understood, []);
  t.equal(decoded(), 7, 'each twice, one three times');
});

t.test('K-474 where two of three are only alike, the text is unsure; where none are, there is none', async (t) => {
  const said = ['We meet on Monday.', 'We meet on Monday.'];
  const differ = ['Auto to new cares.', 'Order two new chairs.'];
  const cases: [third: string, expected: object[]][] = [
    ['Order a new car.', [{ text: 'Order a new car.', confidence: 0.25 }]],
    ['A third thing.', []],
  ];
  for (const [third, expected] of cases) {
    const three = scripted([...said, ...differ, ...said, third]);
    const one = new SpeechRecognizer(three.sherpa, MODEL, '');
    const heard = one.recognize(new Float32Array(12 * RATE), { ...OPTIONS, speech_before: NO_SPEECH_BEFORE });
    t.match(heard.segments.slice(1, -1), expected, third);
    t.same(heard.not_understood, expected.length === 0 ? [{ start_s: 4, end_s: 6 }] : [], third);
  }
});

t.test('K-473 K-474 where most is not understood, there is no text of the rest', async (t) => {
  const said = ['We meet on Monday.', 'We meet on Monday.'];
  const differ = ['Auto to new cares.', 'Order two new chairs.'];
  const foreign = scripted([...differ, ...differ, ...said]);
  const other = new SpeechRecognizer(foreign.sherpa, MODEL, '');
  const doubted = other.recognize(new Float32Array(12 * RATE), { ...OPTIONS, speech_before: NO_SPEECH_BEFORE });
  t.equal(doubted.not_understood.length, 2);
  t.equal(foreign.decoded(), 6, 'none three times');
});

t.test('K-439 names of the vocabulary are spelt as there, in English', async (t) => {
  const texts = Array.from({ length: 6 }, () => 'Ask Kawalski.');
  const options = { ...OPTIONS, vocabulary: ['Kowalski'], speech_before: NO_SPEECH_BEFORE };
  const textsOf = (model: SpeechModel) => {
    const recognizer = new SpeechRecognizer(scripted(texts).sherpa, model, '');
    return new Set(recognizer.recognize(new Float32Array(12 * RATE), options).segments.map(({ text }) => text));
  };
  t.same(textsOf(MODEL), new Set(['Ask Kowalski.']));
  t.same(textsOf({ ...MODEL, languages: null, checks_twice: false }), new Set(['Ask Kawalski.']));
});
