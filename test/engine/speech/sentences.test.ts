import fc from 'fast-check';
import t from 'tap';
import { sentencesOf } from '../../../src/engine/speech/sentences.js';
import { SPEECH_RATE } from '../../../src/engine/speech/utterances.js';
import { drawSeed, drawsOf } from '../../fixtures/seed.js';

const s = (seconds: number) => seconds * SPEECH_RATE;

t.test('an utterance is cut where a sentence ends and the speaker paused', async (t) => {
  const voice = [
    { from: s(1), to: s(3) },
    { from: s(3.8), to: s(6) },
  ];
  const found = sentencesOf('This comes first. That follows it.', voice);
  t.match(found, [
    { text: 'This comes first.', start_s: 1, end_s: 3 },
    { text: 'That follows it.', start_s: 3.8, end_s: 6 },
  ]);
  t.equal(sentencesOf('This comes first. That follows it.', [{ from: s(1), to: s(6) }]).length, 1, 'without a pause');
  t.equal(sentencesOf('At 3.15 he left', voice).length, 1, 'a point within a number ends nothing');
});

t.test('no word is lost, and times rise within the voice', (t) => {
  const stretches = fc
    .array(fc.tuple(fc.integer({ min: 1, max: 40_000 }), fc.integer({ min: 1, max: 90_000 })), {
      minLength: 1,
      maxLength: 6,
    })
    .map((pairs) => {
      let at = 0;
      return pairs.map(([pause, length]) => {
        const from = at + pause;
        at = from + length;
        return { from, to: at };
      });
    });
  const words = fc.array(fc.constantFrom('a', 'Tuesday.', 'why?', '3.5', '“No!”', '…', 'chairs'), {
    minLength: 1,
    maxLength: 20,
  });
  const holds = (voice: { from: number; to: number }[], said: string[]) => {
    const found = sentencesOf(said.join(' '), voice);
    t.same(
      found.flatMap(({ words }) => words.map(({ text }) => text)),
      said,
    );
    const times = found.flatMap(({ words }) => words.flatMap(({ start_s, end_s }) => [start_s, end_s]));
    t.ok(
      times.every((time, at) => at === 0 || time >= (times[at - 1] as number) - 0.011),
      times.join(' '),
    );
    t.ok((times[0] as number) >= (voice[0]?.from ?? 0) / SPEECH_RATE - 0.01);
    t.ok((times.at(-1) as number) <= (voice.at(-1)?.to ?? 0) / SPEECH_RATE + 0.01);
  };
  fc.assert(fc.property(stretches, words, holds), { numRuns: drawsOf(100), seed: drawSeed(t) });
  t.end();
});
