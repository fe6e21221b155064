import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readTalkModel, type TalkModel, talkModelBytes } from '../../src/features/insights/learned/talk_model.js';
import { CORPUS, type CorpusTalk, isSetAside, talksIn } from './corpus.js';
import { linesOf, scoresOf } from './report.js';
import { type Learned, learnItems, learnTexts } from './training.js';
import { wordsOfPackage } from './words.js';

/** Learns the model of the built-in insights and says how good it is, as `npm run spool -- train` does. */

const MODEL = fileURLToPath(new URL('../../../src/features/insights/learned/talks.model', import.meta.url));
const REPORT = fileURLToPath(new URL('../../../tools/insights/report.md', import.meta.url));

export async function runTrain({ words: folder }: { words?: string }): Promise<void> {
  const talks = talksIn(CORPUS);
  const words = folder === undefined ? readTalkModel(MODEL).words : wordsOfPackage(folder);
  const known = talks.filter((talk) => !isSetAside(talk));
  console.log(`${known.length} talks to learn from, ${talks.length - known.length} set aside`);
  const items = await learnItems(known, console.log);
  const { by_fold, whole } = await learnTexts(items, words, console.log);
  const bytes = talkModelBytes({ ...whole, words });
  writeFileSync(MODEL, bytes);
  const modelFor = (talk: CorpusTalk): TalkModel => ({ ...(by_fold[items.foldOf(talk)] as Learned), words });
  const lines = [
    ...(await figures('In folds, each by what the batches of the others teach', known, modelFor)),
    ...(await figures('Set aside, by the model of the release', talks.filter(isSetAside), () => readTalkModel(MODEL))),
  ];
  const hash = createHash('sha256').update(bytes).digest('hex');
  const size = `${bytes.length.toLocaleString('en')} bytes`;
  writeFileSync(
    REPORT,
    `${['# What the model of the built-in insights gets right', '', INTRODUCTION, '', `\`talks.model\`: ${size}, SHA-256 \`${hash}\``, ...lines].join('\n')}\n`,
  );
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
