import type { Answer, Call } from './history.js';

/**
 * What a small object does with one call at a time. `step` gives the state after the call, or null when the call could
 * not have been answered so. Of a call whose outcome is unknown the answer is null: it is taken as it would be.
 *
 * Any two calls of a model commute, or the later one hides the earlier, unless the answer of one tells of the other: so
 * a call of which nobody knows is only looked for where an answer needs it.
 */
export type Model<State extends string | number, What> = {
  initial: State;
  step: (state: State, what: What, answer: Answer | null) => State | null;
};

/** `undecided`: more ways to look at than are worth it. */
export type Judgement = { holds: 'yes' } | { holds: 'no' | 'undecided'; why: string };

const STEPS_MAX = 100_000;

/**
 * Whether some order of the calls explains every answer: each call comes into effect at one moment between its sending
 * and its answer; one whose outcome is unknown at any moment from its sending on, or never (Wing and Gong's search, with
 * Lowe's memory of what was tried).
 */
export function judge<State extends string | number, What>(
  calls: readonly Call<What>[],
  model: Model<State, What>,
): Judgement {
  const sorted = calls.toSorted((a, b) => a.began - b.began);
  const names = sorted.map(({ what }) => JSON.stringify(what));
  const is_answered = sorted.map(({ answer }) => answer !== null);
  const answered = is_answered.filter(Boolean).length;
  const taken = sorted.map(() => false);
  const seen = new Set<string>();
  let steps = 0;
  let furthest = 0;
  let stuck_at: What | undefined;

  /** What may come next: answered calls first, the earliest answer first; then those that nobody knows of. */
  const next = (): number[] => {
    let first_end = Number.POSITIVE_INFINITY;
    for (const [index, call] of sorted.entries())
      if (!taken[index] && is_answered[index]) first_end = Math.min(first_end, call.ended);
    const found: number[] = [];
    const unknown = new Map<string, number>();
    for (const [index, { began }] of sorted.entries()) {
      if (began > first_end) break;
      if (taken[index]) continue;
      if (is_answered[index]) found.push(index);
      // Of equal ones that never end, the one sent first does for all.
      else if (!unknown.has(names[index] as string)) unknown.set(names[index] as string, index);
    }
    found.sort((a, b) => (sorted[a] as Call).ended - (sorted[b] as Call).ended);
    return [...found, ...unknown.values()];
  };

  /**
   * `told` is the state after the last answered call. Unknown ones since then, `last` at the end, are there for the sake
   * of the next answer: each must do what it could not have done before, or the same as the one before it.
   */
  const search = (state: State, told: State, done: number, last = ''): boolean => {
    if (done === answered) return true;
    const key = `${taken.map(Number).join('')} ${JSON.stringify(state)} ${state === told ? '' : JSON.stringify(told)}`;
    if (seen.has(key) || steps > STEPS_MAX) return false;
    seen.add(key);
    for (const index of next()) {
      steps += 1;
      const { what, answer } = sorted[index] as Call<What>;
      const after = model.step(state, what, answer);
      if (after === null) {
        if (done >= furthest && answer !== null) [furthest, stuck_at] = [done, what];
        continue;
      }
      const without = state === told ? null : model.step(told, what, answer);
      const is_idle =
        answer === null && (after === state || (names[index] !== last && without !== null && without !== told));
      if (is_idle || (answer !== null && without !== null)) continue;
      taken[index] = true;
      if (answer === null ? search(after, told, done, names[index]) : search(after, after, done + 1)) return true;
      taken[index] = false;
    }
    return false;
  };

  if (search(model.initial, model.initial, 0)) return { holds: 'yes' };
  if (steps > STEPS_MAX) return { holds: 'undecided', why: `more than ${STEPS_MAX} ways were tried` };
  const why = `after ${furthest} of ${answered} answers nothing explains that of ${JSON.stringify(stuck_at)}`;
  return { holds: 'no', why };
}
