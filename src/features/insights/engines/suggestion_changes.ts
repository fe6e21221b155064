import type { SuggestionKind } from '../../../../actors/insights/library_state.js';
import { LIMITS } from '../../../domain/limits.js';
import type { InsightInput, RawSuggestion } from './insight_input.js';
import { stems } from './stems.js';

/** The suggestions that a run changes: the same turns again change nothing. */

/** So much alike, a suggestion of before is the same one. */
const SAME_SHARED_MIN = 0.8;
/** With fewer words, sentences are alike by chance. */
const PART_STEMS_MIN = 5;

export type NewSuggestion = RawSuggestion & { op: 'new'; kind: SuggestionKind; text: string };

/** The suggestions that are new, changed or gone. */
export function changesOf(
  { suggestions }: Pick<InsightInput, 'suggestions'>,
  found: readonly NewSuggestion[],
): RawSuggestion[] {
  const taken = new Set<number>();
  const known = new Map<NewSuggestion, InsightInput['suggestions'][number]>();
  // Another run may cut a sentence off, or hear more of it: that comes after what is said as before.
  // A task stays a task where the same words decide something as well.
  const steps = [isSame, isPart].flatMap((is) => [true, false].map((same_kind) => ({ is, same_kind })));
  for (const { is, same_kind } of steps)
    for (const item of found) {
      const before = known.has(item)
        ? undefined
        : suggestions.find(
            ({ ref, text, kind }) => !taken.has(ref) && (!same_kind || kind === item.kind) && is(text, item.text),
          );
      if (before === undefined) continue;
      taken.add(before.ref);
      known.set(item, before);
    }
  const changes = found.flatMap((item): RawSuggestion[] => {
    const before = known.get(item);
    if (before === undefined) return [item];
    const { op: _, ...said } = item;
    const is_equal = before.text === item.text && before.kind === item.kind;
    if (is_equal && isSameDue(before, item) && isSameOwner(before, item)) return [];
    return [{ op: 'revise', ref: before.ref, ...said }];
  });
  const gone = suggestions.filter(({ ref, status }) => status === 'open' && !taken.has(ref));
  const room = Math.max(0, LIMITS.suggestions_per_result_max - changes.length);
  return [...changes, ...gone.slice(0, room).map(({ ref }): RawSuggestion => ({ op: 'withdraw', ref }))];
}

/** A day is the same whatever its noon is. */
function isSameDue(
  { due_at_ms, due_date }: InsightInput['suggestions'][number],
  item: Pick<RawSuggestion, 'due_at' | 'due_date'>,
): boolean {
  const at_ms = typeof item.due_at === 'string' ? Date.parse(item.due_at) : null;
  const day = at_ms === null ? (item.due_date ?? null) : null;
  return day === (due_date ?? null) && (day !== null || due_at_ms === at_ms);
}

/** One that is not heard any more stays. */
function isSameOwner({ owner: before = null }: InsightInput['suggestions'][number], { owner }: RawSuggestion): boolean {
  return owner == null || owner === before;
}

function isSame(one: string, other: string): boolean {
  const [own, others] = [stems(one, 'en'), stems(other, 'en')];
  const shared = [...own].filter((stem) => others.has(stem)).length;
  return shared >= Math.max(own.size, others.size) * SAME_SHARED_MIN;
}

/** Nearly all that the shorter one says. */
function isPart(one: string, other: string): boolean {
  const [own, others] = [stems(one, 'en'), stems(other, 'en')];
  const shared = [...own].filter((stem) => others.has(stem)).length;
  const smaller = Math.min(own.size, others.size);
  return smaller >= PART_STEMS_MIN && shared >= smaller * SAME_SHARED_MIN;
}
