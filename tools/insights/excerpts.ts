import type { CorpusTalk, Label } from './corpus.js';

/**
 * Short parts of a talk around its items, and around what only sounds like one: what somebody records may be two sentences
 * long.
 */

/** Of so many traps one has an excerpt. */
const TRAPS_EACH = 4;

export function excerptsOf(talk: CorpusTalk): CorpusTalk[] {
  const items = talk.labels.filter(({ kind }) => kind !== 'trap' && kind !== 'optional');
  const traps = talk.labels.filter(({ kind }) => kind === 'trap').filter((_, at) => at % TRAPS_EACH === 0);
  return [...items, ...traps].map((label, at) => excerpt(talk, label, at % 3));
}

/** `margin`: so many turns more than the label spans, half of them after it. */
function excerpt(talk: CorpusTalk, { turns }: Label, margin: number): CorpusTalk {
  const from = Math.max(1, (turns[0] ?? 1) - Math.floor(margin / 2));
  const to = Math.min(talk.turns.length, (turns.at(-1) ?? 1) + Math.ceil(margin / 2));
  const isIn = (turn: number) => turn >= from && turn <= to;
  return {
    ...talk,
    id: `${talk.id}-${from}`,
    turns: talk.turns.filter(({ n }) => isIn(n)).map((turn) => ({ ...turn, n: turn.n - from + 1 })),
    labels: talk.labels
      .filter((label) => label.turns.every(isIn))
      .map((label) => ({ ...label, turns: label.turns.map((turn) => turn - from + 1) })),
    ...{ must: [], must_not: [], questions: [] },
  };
}
