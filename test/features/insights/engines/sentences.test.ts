import t from 'tap';
import { openServerKeys } from '../../../../src/engine/secrets/server_keys.js';
import { Slices } from '../../../../src/engine/time/slices.js';
import type { InsightInput } from '../../../../src/features/insights/engines/insight_input.js';
import { sentencesOf } from '../../../../src/features/insights/engines/sentences.js';
import { checkedInsights } from '../../../../src/features/insights/library/checked_insights.js';
import { inputOf, NOTHING_SAID } from '../../../fixtures/insight_input.js';
import { tempFolder } from '../../../fixtures/temp_folder.js';

const textsOf = async (input: InsightInput) =>
  (await sentencesOf(input, new Slices())).map(({ speaker, text }) => `${speaker}: ${text}`);

/** Turns that follow each other after `pause_ms`. */
function spoken(lines: readonly string[], pause_ms: number): InsightInput {
  const input = inputOf(lines);
  const turns = input.turns.map((turn, at) => {
    const start_ms = at * (2_000 + pause_ms);
    return { ...turn, start_ms, end_ms: start_ms + 2_000 };
  });
  return { ...input, turns };
}

t.test('K-200 a sentence that the engine cut is one, of all its turns', async (t) => {
  const input = spoken(
    [
      'A: We paint the kitchen',
      'A: on Saturday. Who buys',
      'B: Mhm.',
      'A: the brushes? I do.',
      'B: Good, thank you for that.',
    ],
    100,
  );
  const found = await sentencesOf(input, new Slices());
  t.match(found, [
    { text: 'We paint the kitchen on Saturday.', turns: [1, 2], speaker: 'A' },
    { text: 'Who buys the brushes?', turns: [2, 4] },
    { text: 'I do.', turns: [4] },
    { text: 'Mhm.', turns: [3], speaker: 'B' },
    { text: 'Good, thank you for that.', turns: [5] },
  ]);
});

t.test('K-200 every quotation of a sentence passes as evidence', async (t) => {
  const keys = await openServerKeys(tempFolder(t));
  const input = spoken(
    ['A: Yes. I will. Do', 'A: it now, all of you, please! No', 'B: okay so the van is', 'B: late'],
    100,
  );
  const suggestions = (await sentencesOf(input, new Slices())).map(({ text, evidence }) => ({
    ...{ op: 'new' as const, kind: 'task' as const, text, due_at: null, owner: null, requester: null, evidence },
  }));
  t.ok(suggestions.length > 3);
  const checked = checkedInsights({ ...NOTHING_SAID, suggestions }, { input, keys, made_by: 'extractive' });
  t.match(checked, { ok: true, insights: { unsupported: 0 } });
});

t.test('K-200 abbreviations, numbers and small letters end no sentence', async (t) => {
  t.same(await textsOf(inputOf(['A: Dr. Fields charges 3.5 percent, i.e. too much. Really? Yes... no.'])), [
    'A: Dr. Fields charges 3.5 percent, i.e. too much.',
    'A: Really?',
    'A: Yes... no.',
  ]);
});

t.test('K-200 without punctuation, pauses and clause starts end a sentence', async (t) => {
  const quick = spoken(
    [
      "A: okay so the van comes at nine and i'll open the gate for the",
      'A: driver can you bring the keys',
      "B: yes i'll bring them and if the shop is open i'll buy milk too",
      'B: the shed is what we can clear next',
    ],
    50,
  );
  t.same(await textsOf(quick), [
    'A: okay so the van comes at nine',
    "A: and i'll open the gate for the driver",
    'A: can you bring the keys',
    'B: yes',
    "B: i'll bring them",
    "B: and if the shop is open i'll buy milk too the shed is what we can clear next",
  ]);
  const slow = spoken(['A: the van comes at nine', 'A: the gate is closed'], 900);
  t.same(await textsOf(slow), ['A: the van comes at nine', 'A: the gate is closed']);
});

t.test('K-200 what two people say is never one sentence, nor what two languages say', async (t) => {
  t.same(await textsOf(spoken(['A: We could go to', 'B: the lake today.'], 50)), [
    'A: We could go to',
    'B: the lake today.',
  ]);
  const input = spoken(['A: We could go to', 'A: the lake today.'], 50);
  const turns = input.turns.map((turn, at) => ({ ...turn, language: at === 0 ? 'en' : 'de' }));
  t.equal((await textsOf({ ...input, turns })).length, 2);
  t.same(await textsOf(inputOf(['…', '!!!', ''])), []);
});
