import type { SuggestionKind } from '../../../../actors/insights/library_state.js';
import { LIMITS } from '../../../domain/limits.js';
import type { InsightInput, RawSuggestion } from './insight_input.js';
import { stems } from './stems.js';

/** The suggestions that a run changes: the same turns again change nothing. */

/** So much alike, a suggestion of before is the same one. */
const SAME_SHARED_MIN = 0.8;
/** The same words of a recording, corrected since, still share so much. */
const CORRECTED_SHARED_MIN = 0.5;
/** With fewer words, sentences are alike by chance. */
const PART_STEMS_MIN = 5;

type Known = InsightInput['suggestions'][number];
export type NewSuggestion = RawSuggestion & { op: 'new'; kind: SuggestionKind; text: string };

/** The suggestions that are new, changed or gone. */
export function changesOf(
  { suggestions, turns }: Pick<InsightInput, 'suggestions' | 'turns'>,
  found: readonly NewSuggestion[],
): RawSuggestion[] {
  const taken = new Set<number>();
  const known = new Map<NewSuggestion, Known>();
  // Another run may cut a sentence off, or hear more of it: that comes after what is said as before.
  // A task stays a task where the same words decide something as well.
  const isCorrected = (before: Known, item: NewSuggestion) =>
    sharedShare(before.text, item.text) >= CORRECTED_SHARED_MIN && isSaidIn(before, item, turns);
  const steps = [isSame, isPart, isCorrected].flatMap((is) => [true, false].map((same_kind) => ({ is, same_kind })));
  for (const { is, same_kind } of steps)
    for (const item of found) {
      const before = known.has(item)
        ? undefined
        : suggestions.find((one) => !taken.has(one.ref) && (!same_kind || one.kind === item.kind) && is(one, item));
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
function isSameDue({ due_at_ms, due_date }: Known, item: Pick<RawSuggestion, 'due_at' | 'due_date'>): boolean {
  const at_ms = typeof item.due_at === 'string' ? Date.parse(item.due_at) : null;
  const day = at_ms === null ? (item.due_date ?? null) : null;
  return day === (due_date ?? null) && (day !== null || due_at_ms === at_ms);
}

/** One that is not heard any more stays. */
function isSameOwner({ owner: before = null }: Known, { owner }: RawSuggestion): boolean {
  return owner == null || owner === before;
}

function isSame({ text }: Known, item: NewSuggestion): boolean {
  return sharedShare(text, item.text) >= SAME_SHARED_MIN;
}

/** Of the words of the longer one. */
function sharedShare(one: string, other: string): number {
  const [own, others] = [stems(one, 'en'), stems(other, 'en')];
  const most = Math.max(own.size, others.size);
  return most === 0 ? 1 : [...own].filter((stem) => others.has(stem)).length / most;
}

/** Nearly all that the shorter one says. */
function isPart({ text }: Known, item: NewSuggestion): boolean {
  const [own, others] = [stems(text, 'en'), stems(item.text, 'en')];
  const shared = [...own].filter((stem) => others.has(stem)).length;
  const smaller = Math.min(own.size, others.size);
  return smaller >= PART_STEMS_MIN && shared >= smaller * SAME_SHARED_MIN;
}

function isSaidIn({ spans = [] }: Known, { evidence = [] }: NewSuggestion, turns: InsightInput['turns']): boolean {
  return evidence.some(({ turn }) => {
    const said = turns.find(({ number }) => number === turn);
    return spans.some(
      ({ stream_id, start_ms, end_ms }) =>
        said?.stream_id === stream_id && start_ms < said.end_ms && end_ms > said.start_ms,
    );
  });
}
