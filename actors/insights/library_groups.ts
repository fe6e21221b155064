import { LIMITS } from '../../src/domain/limits.js';
import type { Read, RecordQuery } from '../actor.js';
import { itemIn, itemRecord } from './item_records.js';
import { act, type Writing } from './library_items.js';
import { insightKey, type Suggestion } from './library_state.js';

/** Groups of suggestions: a record for each group, and its number in each member. A group has at least two members. */

export type Grouped = { number: number; item: Suggestion };
export type GroupOf = { group: number; items: Grouped[] };

/** Reads the groups that these suggestions leave or join, and their other members. */
export function groupRecords(numbers: readonly number[], group: number | null, read: Read): RecordQuery[] {
  const groups = groupsIn(numbers, group, read);
  return [
    ...groups.map((one) => ({ collection: 'groups', id: insightKey(one) })),
    ...groups.flatMap((one) =>
      membersBeside(read, one, numbers)
        .slice(0, LIMITS.group_members_max)
        .map((number) => itemRecord('suggestion', number)),
    ),
  ];
}

/** Puts suggestions into a group (null: a new one) and returns them as they are then. */
export function join(writing: Writing, moved: readonly Grouped[], known: number | null): GroupOf {
  const group = known ?? writing.give('group');
  const numbers = moved.map(({ number }) => number);
  const before = known === null ? [] : membersOf(writing, known);
  const items = move(writing, moved, group);
  const is_counted = known === null || before.length > 0;
  const members = [...new Set([...before, ...numbers])];
  if (is_counted && members.length > before.length) putMembers(writing, group, members);
  return { group, items };
}

/** Moves suggestions to another group, or to none. A member left alone leaves its group too. */
export function move(writing: Writing, moved: readonly Grouped[], into: number | null): Grouped[] {
  const numbers = moved.map(({ number }) => number);
  const left = groupsIn(numbers, null, writing.facts).filter((group) => group !== into);
  const items = moved.map((one) => putInto(writing, one, into));
  for (const group of left) leave(writing, group, numbers);
  return items;
}

/** Removes members from a group, and the last one left alone with them. */
export function leave(writing: Writing, group: number, numbers: readonly number[]): void {
  const beside = membersBeside(writing, group, numbers);
  // Of some, retention may have taken the suggestion; of very many, one more is left.
  const found = beside.slice(0, LIMITS.group_members_max).flatMap((number): Grouped[] => {
    const item = itemIn(writing.facts, 'suggestion', number);
    return item?.group === group ? [{ number, item }] : [];
  });
  const stay = [...found.map(({ number }) => number), ...beside.slice(LIMITS.group_members_max)];
  if (stay.length > 1) {
    putMembers(writing, group, stay);
    return;
  }
  writing.drop('groups', insightKey(group));
  for (const one of found) putInto(writing, one, null);
}

function membersBeside(read: Pick<Read, 'record'>, group: number, numbers: readonly number[]): number[] {
  return membersOf(read, group).filter((number) => !numbers.includes(number));
}

function putInto(writing: Writing, { number, item: was }: Grouped, group: number | null): Grouped {
  if (was.group === group) return { number, item: was };
  return { number, item: act(writing, number, { was, fields: { group }, changed_fields: ['group_id'] }) };
}

function groupsIn(numbers: readonly number[], group: number | null, read: Pick<Read, 'record'>): number[] {
  const present = numbers.flatMap((number) => itemIn(read, 'suggestion', number)?.group ?? []);
  return [...new Set([...present, ...(group === null ? [] : [group])])];
}

function membersOf(read: Pick<Read, 'record'>, group: number): number[] {
  return read.record<number[]>('groups', insightKey(group)) ?? [];
}

function putMembers(writing: Writing, group: number, numbers: number[]): void {
  writing.write('groups', insightKey(group), { value: numbers });
}
