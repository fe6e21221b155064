import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readTalkModel, type TalkModel, talkModelBytes } from '../../src/features/insights/learned/talk_model.js';
import { CORPUS, type CorpusTalk, isSetAside, talksIn } from './corpus.js';
import { type LearnedMemos, learnMemos } from './memo_training.js';
import { type LabelledMemo, MEMOS, memosIn, SET_ASIDE, scoreOfMemos } from './memos.js';
import { linesOf, percent, scoresOf } from './report.js';
import { type Learned, learnItems, learnTexts } from './training.js';
import { wordsOfPackage } from './words.js';

/** Learns the model of the built-in insights and says how good it is, as `npm run spool -- train` does. */

const MODEL = fileURLToPath(new URL('../../../src/features/insights/learned/talks.model', import.meta.url));
const REPORT = fileURLToPath(new URL('../../../tools/insights/report.md', import.meta.url));

/** `memos_only`: of the model that there is, only what finds items in memos is learned anew. */
export async function runTrain({ words: folder, memos_only }: { words?: string; memos_only?: boolean }): Promise<void> {
  const memos = memosIn(MEMOS);
  const known_memos = memos.filter(({ set }) => set !== SET_ASIDE);
  const talks = talksIn(CORPUS);
  const known = talks.filter((talk) => !isSetAside(talk));
  if (memos_only === true) {
    const model = readTalkModel(MODEL);
    const learned = await learnMemos(model.items, known_memos, known);
    // The figures of talks stay those of the last whole run.
    const [, of_talks = ''] = /\n(\n## .*?)\n*(?:## Memos|$)/s.exec(readFileSync(REPORT, 'utf8')) ?? [];
    const released = release({ ...model, memos: learned.whole });
    return report([of_talks, ...(await memoFigures(memos, released, learned))]);
  }
  const words = folder === undefined ? readTalkModel(MODEL).words : wordsOfPackage(folder);
  console.log(`${known.length} talks to learn from, ${talks.length - known.length} set aside`);
  const items = await learnItems(known, console.log);
  const { by_fold, whole } = await learnTexts(items, words, console.log);
  const learned = await learnMemos(whole.items, known_memos, known);
  const released = release({ ...whole, words, memos: learned.whole });
  const modelFor = (talk: CorpusTalk): TalkModel => ({ ...released, ...(by_fold[items.foldOf(talk)] as Learned) });
  report([
    ...(await figures('In folds, each by what the batches of the others teach', known, modelFor)),
    ...(await figures('Set aside, by the model of the release', talks.filter(isSetAside), () => released)),
    ...(await memoFigures(memos, released, learned)),
  ]);
}

/** Writes the model and reads it again, as the server does: its weights are bytes then. */
function release(model: TalkModel): TalkModel {
  writeFileSync(MODEL, talkModelBytes(model));
  return readTalkModel(MODEL);
}

function report(lines: readonly string[]): void {
  const bytes = readFileSync(MODEL);
  const hash = createHash('sha256').update(bytes).digest('hex');
  const size = `${bytes.length.toLocaleString('en')} bytes`;
  const first = [
    '# What the model of the built-in insights gets right',
    '',
    INTRODUCTION,
    '',
    `\`talks.model\`: ${size}, SHA-256 \`${hash}\``,
  ];
  writeFileSync(REPORT, `${[...first, ...lines].join('\n')}\n`);
  console.log(lines.join('\n'));
}

const INTRODUCTION =
  'Written by `npm run spool -- train`; [docs/insights.md](../../docs/insights.md) says how talks are labelled and counted. How many phrases a title takes was chosen by the folds: of titles only the second table counts.';

async function figures(
  title: string,
  talks: readonly CorpusTalk[],
  modelFor: (talk: CorpusTalk) => TalkModel,
): Promise<string[]> {
  const known = await scoresOf(talks, modelFor, { knows_speakers: true });
  const unknown = await scoresOf(talks, modelFor, { knows_speakers: false });
  const isMemo = (at: number) => Object.keys(talks[at]?.speakers ?? {}).length === 1;
  const scores = known.map(({ score }) => score);
  return [
    ...['', `## ${title}`, ''],
    ...linesOf([
      ['all', scores],
      ['of several speakers', scores.filter((_, at) => !isMemo(at))],
      ['of one speaker', scores.filter((_, at) => isMemo(at))],
      ['nobody told apart', unknown.map(({ score }) => score)],
    ]),
  ];
}

async function memoFigures(
  memos: readonly LabelledMemo[],
  model: TalkModel,
  { by_set }: LearnedMemos,
): Promise<string[]> {
  const rows: string[] = [];
  for (const [what, is_aside] of [
    ['in folds, each by what the other sets teach', false],
    ['set aside, by the model of the release', true],
  ] as const) {
    const own = memos.filter(({ set }) => (set === SET_ASIDE) === is_aside);
    const score = await scoreOfMemos(own, ({ set }) => ({ ...model, memos: by_set.get(set) ?? model.memos }));
    const [right, found] = [percent(score.right, score.given), percent(score.found, score.labels)];
    rows.push(`| ${what} (${own.length} memos) | ${right} | ${found} |`);
  }
  return [
    '',
    '## Memos, of which nobody knows who speaks',
    '',
    '|  | items that are right | items that are found |',
    '| --- | --- | --- |',
    ...rows,
  ];
}
