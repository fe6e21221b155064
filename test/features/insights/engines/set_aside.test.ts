import t from 'tap';
import { openServerKeys } from '../../../../src/engine/secrets/server_keys.js';
import { readTalkModel, TALK_MODEL } from '../../../../src/features/insights/learned/talk_model.js';
import { checkedInsights } from '../../../../src/features/insights/library/checked_insights.js';
import { CORPUS, isSetAside, talksIn } from '../../../../tools/insights/corpus.js';
import { MEMOS, memosIn, SET_ASIDE, scoreOfMemos } from '../../../../tools/insights/memos.js';
import { scoresOf } from '../../../../tools/insights/report.js';
import { total } from '../../../../tools/insights/score.js';
import { inputOf } from '../../../../tools/insights/talk_input.js';
import { builtInEngine } from '../../../fixtures/built_in_engine.js';
import { tempFolder } from '../../../fixtures/temp_folder.js';

/** Talks that nothing was learned from. The bounds are well below the figures of tools/insights/report.md. */

const talks = talksIn(CORPUS).filter(isSetAside);

t.test(
  'K-091 K-201 K-208 most items of talks that were set aside are found, and most that are given are right',
  async (t) => {
    const scores = await scoresOf(talks, () => readTalkModel(TALK_MODEL), { knows_speakers: true });
    const { suggestions, right, labels, kinds, traps, traps_of, twice, owner, due } = total(
      scores.map(({ score }) => score),
    );
    const atLeast = (share: number, part: number, whole: number, what: string) =>
      t.ok(part >= share * whole, `${what}: ${part} of ${whole}`);
    t.ok(talks.length >= 20, `${talks.length} talks`);
    atLeast(0.7, right, suggestions, 'right');
    atLeast(0.5, right, labels, 'found');
    atLeast(0.6, kinds.task.found, kinds.task.of, 'tasks');
    atLeast(0.3, kinds.decision.found, kinds.decision.of, 'decisions');
    atLeast(0.3, kinds.question.found, kinds.question.of, 'open questions');
    atLeast(0.6, kinds.reminder.found, kinds.reminder.of, 'reminders');
    atLeast(0.8, owner.right, owner.of, 'owners');
    atLeast(0.65, due.right, due.of, 'days and times');
    atLeast(0.92, traps_of - traps, traps_of, 'traps that are left alone');
    atLeast(0.94, suggestions - twice, suggestions, 'given once');
  },
);

t.test(
  'K-475 most of what is noted in memos that were set aside is found, and most that is given was noted',
  async (t) => {
    const memos = memosIn(MEMOS).filter(({ set }) => set === SET_ASIDE);
    const model = readTalkModel(TALK_MODEL);
    const { right, given, found, labels } = await scoreOfMemos(memos, () => model);
    t.ok(memos.length >= 100, `${memos.length} memos`);
    t.ok(right >= 0.75 * given, `right: ${right} of ${given}`);
    t.ok(found >= 0.6 * labels, `found: ${found} of ${labels}`);
  },
);

t.test('K-230 K-231 titles and summaries of talks that were set aside say what they are about', async (t) => {
  const scores = await scoresOf(talks, () => readTalkModel(TALK_MODEL), { knows_speakers: true });
  const { title, summary } = total(scores.map(({ score }) => score));
  t.ok(title.good >= 0.5 * title.of, `titles: ${title.good} of ${title.of}`);
  t.ok(summary.must >= 0.33 * summary.of, `points: ${summary.must} of ${summary.of}`);
  t.ok(summary.violations <= 0.08 * summary.forbidden, `forbidden: ${summary.violations} of ${summary.forbidden}`);
  for (const { made } of scores) {
    t.ok((made.title ?? '').split(' ').length <= 6, `${made.title}`);
    if (made.summary !== null && made.summary !== '') t.match(made.summary, /^[^\p{Ll}].*[.?!]$/su);
  }
});

t.test('K-091 K-231 all that is made of them rests on what was said', async (t) => {
  const keys = await openServerKeys(tempFolder(t));
  const engine = builtInEngine();
  for (const talk of talks) {
    const input = inputOf(talk, { knows_speakers: true });
    const checked = checkedInsights(await engine.think(input), { input, keys, made_by: 'extractive' });
    t.match(checked, { ok: true, insights: { unsupported: 0 } }, talk.id);
  }
});
