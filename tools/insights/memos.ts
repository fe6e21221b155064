import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Extractive } from '../../src/features/insights/engines/extractive.js';
import type { InsightInput } from '../../src/features/insights/engines/insight_input.js';
import type { TalkModel } from '../../src/features/insights/learned/talk_model.js';
import type { CorpusTalk } from './corpus.js';
import { inputOf } from './talk_input.js';

/** Labelled memos: docs/insights.md, "The corpus". */

export type MemoLabel = { at: number; kind: 'task' | 'reminder'; is_optional: boolean };
/** `said`: its sentences; `set`: memos of one file have one manner. */
export type LabelledMemo = { set: string; said: string[]; labels: MemoLabel[] };

export const MEMOS = fileURLToPath(new URL('../../../tools/insights/memos', import.meta.url));
/** Nothing is learned from these, nor chosen by them. */
export const SET_ASIDE = 'set_aside';

const LINE = /^(.*?)(?: \{(task|reminder)(\?)?\})?$/;
const AT = '2027-03-01T09:00:00Z';

/** All memos of a folder: a line for each sentence, an empty one between memos. */
export function memosIn(folder: string): LabelledMemo[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.memos'))
    .sort()
    .flatMap((name) =>
      readFileSync(join(folder, name), 'utf8')
        .trim()
        .split(/\n{2,}/)
        .map((text) => memoOf(text, name.replace(/\.memos$/, ''))),
    );
}

function memoOf(text: string, set: string): LabelledMemo {
  const memo: LabelledMemo = { set, said: [], labels: [] };
  for (const line of text.split('\n')) {
    const [, said = '', kind, optional] = LINE.exec(line.trim()) ?? [];
    if (kind !== undefined)
      memo.labels.push({ at: memo.said.length, kind: kind as MemoLabel['kind'], is_optional: optional !== undefined });
    memo.said.push(said);
  }
  return memo;
}

/** A memo as an engine sees it: nobody knows who spoke, and each sentence is a turn. */
export function memoInput({ said }: LabelledMemo): InsightInput {
  const turns = said.map((text, at) => ({ n: at + 1, speaker: 'A', text }));
  const talk: CorpusTalk = {
    ...{ id: 'memo', batch: 'memo', title: [], name: null, at: AT, zone: 'UTC', speakers: { A: 'Ann' }, turns },
    ...{ labels: [], must: [], must_not: [], questions: [] },
  };
  return inputOf(talk, { knows_speakers: false });
}

export type MemoScore = { right: number; given: number; found: number; labels: number };

/** Of items that somebody has to do or to keep in mind. An optional one is right, but nobody misses it. */
export async function scoreOfMemos(
  memos: readonly LabelledMemo[],
  modelFor: (memo: LabelledMemo) => TalkModel,
): Promise<MemoScore> {
  const score: MemoScore = { right: 0, given: 0, found: 0, labels: 0 };
  for (const memo of memos) {
    const { suggestions } = await new Extractive(modelFor(memo)).think(memoInput(memo));
    const made = suggestions
      .filter(({ kind }) => kind === 'task' || kind === 'follow_up' || kind === 'reminder')
      .map(({ evidence = [] }) => evidence.map(({ turn }) => turn - 1));
    score.given += made.length;
    score.right += made.filter((places) => memo.labels.some(({ at }) => places.includes(at))).length;
    const wanted = memo.labels.filter(({ is_optional }) => !is_optional);
    score.labels += wanted.length;
    score.found += wanted.filter(({ at }) => made.some((places) => places.includes(at))).length;
  }
  return score;
}
