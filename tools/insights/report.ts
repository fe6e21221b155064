import { Extractive } from '../../src/features/insights/engines/extractive.js';
import type { TalkModel } from '../../src/features/insights/learned/talk_model.js';
import type { CorpusTalk } from './corpus.js';
import { type Made, type Score, score, total } from './score.js';
import { conversationOf, inputOf } from './talk_input.js';

/** Runs the built-in engine over labelled talks and counts how much is right. */

type Hearing = { knows_speakers: boolean };

async function madeOf(talk: CorpusTalk, model: TalkModel, hearing: Hearing): Promise<Made> {
  const { conversation, suggestions } = await new Extractive(model).think(inputOf(talk, hearing));
  const nameOf = (label: string | null | undefined) => (label == null ? null : (talk.speakers[label] ?? null));
  return {
    title: conversation.title,
    summary: conversation.sentences.map(({ text }) => text).join(' '),
    suggestions: suggestions.map(({ kind, text, owner, due_at, due_date, evidence = [] }) => ({
      ...{ kind: kind ?? '', text: text ?? '', owner: nameOf(owner), turns: evidence.map(({ turn }) => turn) },
      due_at: due_at ?? (due_date == null ? null : noonOf(due_date, talk.zone)),
    })),
    recall: [],
  };
}

/** Noon of a day in a zone, to the hour. */
function noonOf(day: string, zone: string): string {
  const utc_ms = Date.parse(`${day}T12:00:00Z`);
  const format = { timeZone: zone, day: '2-digit', hour: '2-digit', hourCycle: 'h23' } as const;
  const parts = new Intl.DateTimeFormat('en-GB', format).formatToParts(utc_ms);
  const number = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  const days_ahead = number('day') === Number(day.slice(-2)) ? 0 : number('hour') < 12 ? 1 : -1;
  return new Date(utc_ms - (number('hour') - 12 + 24 * days_ahead) * 3_600_000).toISOString();
}

export async function scoresOf(
  talks: readonly CorpusTalk[],
  modelFor: (talk: CorpusTalk) => TalkModel,
  hearing: Hearing,
): Promise<{ made: Made; score: Score }[]> {
  const all = [];
  for (const talk of talks) {
    const made = await madeOf(talk, modelFor(talk), hearing);
    all.push({ made, score: score(conversationOf(talk), made) });
  }
  return all;
}

type Totals = ReturnType<typeof total>;
type Row = [what: string, figure: (totals: Totals) => [part: number, whole: number]];

const ROWS: readonly Row[] = [
  ['items that are right', ({ right, suggestions }) => [right, suggestions]],
  ['items that are found', ({ right, labels }) => [right, labels]],
  ['of them tasks', ({ kinds }) => [kinds.task.found, kinds.task.of]],
  ['decisions', ({ kinds }) => [kinds.decision.found, kinds.decision.of]],
  ['open questions', ({ kinds }) => [kinds.question.found, kinds.question.of]],
  ['reminders', ({ kinds }) => [kinds.reminder.found, kinds.reminder.of]],
  ['owners that are right', ({ owner }) => [owner.right, owner.of]],
  ['days and times that are right', ({ due }) => [due.right, due.of]],
  ['items that can be understood alone', ({ clear, right }) => [clear, right]],
  ['traps that are taken for items', ({ traps, traps_of }) => [traps, traps_of]],
  ['items that are given twice', ({ twice, suggestions }) => [twice, suggestions]],
  ['titles with two words of the matter', ({ title }) => [title.good, title.of]],
  ['points of a summary that are said', ({ summary }) => [summary.must, summary.of]],
  ['points that must not be said and are', ({ summary }) => [summary.violations, summary.forbidden]],
];

/** A table with a column for each set of talks. */
export function linesOf(sets: readonly (readonly [name: string, scores: readonly Score[]])[]): string[] {
  const own = sets
    .filter(([, scores]) => scores.length > 0)
    .map(([name, scores]) => ({ name, scores, totals: total(scores) }));
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    row(['', ...own.map(({ name, scores }) => `${name} (${scores.length} talks)`)]),
    row(['---', ...own.map(() => '---')]),
    ...ROWS.map(([what, figure]) => row([what, ...own.map(({ totals }) => percent(...figure(totals)))])),
  ];
}

export function percent(part: number, whole: number): string {
  return whole === 0 ? '-' : `${((100 * part) / whole).toFixed(0)} % (${part} of ${whole})`;
}
