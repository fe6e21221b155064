import t from 'tap';
import { NO_SPEECH_BEFORE } from '../../../src/domain/speech_before.js';
import { agreedText, disagreementMax, disagreementOf, thirdDecides } from '../../../src/engine/speech/agreement.js';

t.test('how far two texts differ is the share of words of the longer one', async (t) => {
  const cases: [one: string, other: string, expected: number][] = [
    ['Two new chairs.', 'two new chairs', 0],
    ['Two new chairs.', 'Two chairs.', 1 / 3],
    ['Two chairs.', 'Two new chairs, please.', 1 / 2],
    ['Two new chairs.', '', 1],
    ['', '', 0],
  ];
  for (const [one, other, expected] of cases) t.equal(disagreementOf(one, other), expected, `${one} | ${other}`);
});

t.test('K-261 speech is doubted where most of it was not understood', async (t) => {
  const [SURE, DOUBTED] = [disagreementMax([], NO_SPEECH_BEFORE), 0.1];
  t.equal(SURE, 0.4);
  const speech = (...parts: [ms: number, disagreement: number][]) =>
    parts.map(([ms, disagreement]) => ({ ms, disagreement }));
  const before = (said_ms: number, not_understood_ms: number) => ({ said_ms, not_understood_ms });
  const cases: [says: string, ...Parameters<typeof disagreementMax>, expected: number][] = [
    ['all is understood', speech([5_000, 0], [5_000, 0.4]), NO_SPEECH_BEFORE, SURE],
    ['the longer part of the window is not', speech([5_000, 0.2], [6_000, 0.8]), NO_SPEECH_BEFORE, DOUBTED],
    ['the shorter part is not', speech([6_000, 0.2], [5_000, 0.8]), NO_SPEECH_BEFORE, SURE],
    ['most was not before', speech([5_000, 0.2]), before(10_000, 16_000), DOUBTED],
    ['with this window most was', speech([7_000, 0.2]), before(10_000, 16_000), SURE],
    ['most was before, and this is not', speech([5_000, 0.8]), before(10_000, 0), SURE],
  ];
  for (const [says, of, was, expected] of cases) t.equal(disagreementMax(of, was), expected, says);
});

t.test('K-473 K-474 what three decodings say', async (t) => {
  const [CHAIRS, CARES] = ['Order two new chairs.', 'Auto to new cares.'];
  const cases: [says: string, texts: [string, string, string], text: string | null, disagreement?: number][] = [
    ['the third is as the first', [CHAIRS, CARES, 'order two new chairs'], 'order two new chairs', 0],
    ['the third is as the second', [CARES, CHAIRS, CHAIRS], CHAIRS, 0],
    ['but for one word of five', ['Order two new chairs now.', 'Auto', CHAIRS], CHAIRS, 0.2],
    [
      'two are only alike: it stays as unsure as the first two',
      [CHAIRS, CARES, 'Order a new car.'],
      'Order a new car.',
      0.75,
    ],
    ['no two are alike', [CHAIRS, CARES, 'Otto, cares a lot.'], null],
    ['nothing is no text', [CHAIRS, '', ''], null],
  ];
  for (const [says, texts, text, disagreement] of cases) {
    const agreed = agreedText(...texts);
    t.equal(agreed?.texts[0] ?? null, text, says);
    if (disagreement !== undefined) t.equal(agreed?.disagreement, disagreement, says);
  }
});

t.test('K-473 it is asked for where most was understood', async (t) => {
  t.ok(
    thirdDecides(
      disagreementMax(
        [
          { ms: 5_000, disagreement: 0 },
          { ms: 4_000, disagreement: 0.8 },
        ],
        NO_SPEECH_BEFORE,
      ),
    ),
  );
  t.notOk(thirdDecides(disagreementMax([{ ms: 5_000, disagreement: 0.8 }], NO_SPEECH_BEFORE)));
});
