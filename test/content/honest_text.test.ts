import t from 'tap';
import { honestText } from '../../src/content/honest_text.js';

t.test('text that was probably not said is dropped and counted', async (t) => {
  const rows: [string, Record<string, number>, boolean][] = [
    ['no figures at all', {}, true],
    ['sure', { no_speech_prob: 0.1, avg_logprob: -0.2, compression_ratio: 1.5 }, true],
    ['silence, but the model is sure of its words', { no_speech_prob: 0.9, avg_logprob: -1 }, true],
    ['at the bound of silence', { no_speech_prob: 0.6, avg_logprob: -3 }, true],
    ['silence, and not sure', { no_speech_prob: 0.61, avg_logprob: -1.01 }, false],
    ['silence alone', { no_speech_prob: 0.99 }, true],
    ['not sure alone', { avg_logprob: -5 }, true],
    ['at the bound of repetition', { compression_ratio: 2.4 }, true],
    ['again and again and again', { compression_ratio: 2.41 }, false],
    ['figures that a server has none of', { compression_ratio: -1, avg_logprob: -1, no_speech_prob: -1 }, true],
    ['[BLANK_AUDIO]', {}, false],
  ];
  for (const [text, figures, is_kept] of rows) {
    const segment = { text, ...figures };
    t.same(honestText([segment]), { kept: is_kept ? [segment] : [], dropped: is_kept ? 0 : 1 }, text);
  }
});

t.test('of equal segments in a row three stay', async (t) => {
  const texts = (...said: string[]) => said.map((text) => ({ text }));
  const keptOf = (...said: string[]) => honestText(texts(...said)).kept.map(({ text }) => text);
  t.same(keptOf('Yes.', 'yes', 'Yes!', 'YES', 'yes.'), ['Yes.', 'yes', 'Yes!'], 'whatever case and marks');
  t.same(keptOf('a', 'a', 'a', 'b', 'a'), ['a', 'a', 'a', 'b', 'a'], 'another one begins a new row');
  t.equal(honestText(texts(...Array<string>(100).fill('Thank you.'))).dropped, 97);
  t.same(honestText([]), { kept: [], dropped: 0 });
});
