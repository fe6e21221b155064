import type { NameOperation } from './ledger.js';

const STATES_MAX = 50_000;

/**
 * Whether operations on one name could have happened one at a time, each between its call and its answer
 * (linearizability, by the search of Wing and Gong with memory). A write of unknown outcome may come at any time after
 * its call, or never. `undecided` when there are too many orders to look at.
 */
export function judgeNames(operations: NameOperation[]): 'linearizable' | 'impossible' | 'undecided' {
  const all = operations.toSorted((a, b) => a.invoked - b.invoked);
  const required = all.filter(({ returned }) => returned !== null).length;
  const seen = new Set<string>();
  const stack: { done: Set<number>; required_done: number; name: string | null }[] = [
    { done: new Set(), required_done: 0, name: null },
  ];
  for (let present = stack.pop(); present !== undefined; present = stack.pop()) {
    const { done, required_done, name } = present;
    if (required_done === required) return 'linearizable';
    const key = `${[...done].sort((a, b) => a - b).join(',')} ${name}`;
    if (seen.has(key)) continue;
    seen.add(key);
    if (seen.size > STATES_MAX) return 'undecided';
    // Only what was called before the first answer still to come may be next.
    const first_return = Math.min(
      ...all.map(({ returned }, index) => (done.has(index) ? Infinity : (returned ?? Infinity))),
    );
    for (const [index, operation] of all.entries()) {
      if (done.has(index) || operation.invoked > first_return) continue;
      if (operation.does === 'read' && operation.name !== name) continue;
      stack.push({
        done: new Set(done).add(index),
        required_done: required_done + (operation.returned === null ? 0 : 1),
        name: operation.does === 'write' ? operation.name : name,
      });
    }
  }
  return 'impossible';
}
