import type { Turn } from '../../kits/typescript/src/api.js';

/** From and to: in the turn's text, in UTF-16 units. */
export type TextMatch = { turn_id: string; from: number; to: number };

export function foundByTurn(found: readonly TextMatch[]): ReadonlyMap<string, readonly TextMatch[]> {
  const by_turn = new Map<string, TextMatch[]>();
  for (const one of found) by_turn.set(one.turn_id, [...(by_turn.get(one.turn_id) ?? []), one]);
  return by_turn;
}

/** All places of a text, in any letter case. */
export function findIn(turns: readonly Pick<Turn, 'id' | 'text'>[], text: string): TextMatch[] {
  const wanted = text.trim();
  if (wanted === '') return [];
  const pattern = new RegExp(wanted.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replace(/\s+/g, '\\s+'), 'giu');
  return turns.flatMap(({ id, text: said }) =>
    [...said.matchAll(pattern)].map(({ 0: { length }, index }) => ({ turn_id: id, from: index, to: index + length })),
  );
}
