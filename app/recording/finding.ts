import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Turn } from '../../kits/typescript/src/api.js';

/** Finds text in a transcript that is loaded. */

/** From and to: in the turn's text, in UTF-16 units. */
export type Found = { turn_id: string; from: number; to: number };

export type Finding = {
  /** Null while nobody looks for anything. */
  text: string | null;
  found: readonly Found[];
  /** The place in `found` that is shown. */
  at: number;
  set: (text: string | null) => void;
  /** To the next one, or with -1 to the one before; from the last to the first. */
  step: (by: 1 | -1) => void;
};

export function useFinding(turns: readonly Turn[]): Finding {
  const [text, setText] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const found = useMemo(() => findIn(turns, text ?? ''), [turns, text]);
  useEffect(() => setAt(0), [text]);
  const shown = Math.min(at, Math.max(0, found.length - 1));
  return {
    ...{ text, found, at: shown, set: setText },
    step: (by) => found.length > 0 && setAt((shown + by + found.length) % found.length),
  };
}

export function foundByTurn(found: readonly Found[]): ReadonlyMap<string, readonly Found[]> {
  const by_turn = new Map<string, Found[]>();
  for (const one of found) by_turn.set(one.turn_id, [...(by_turn.get(one.turn_id) ?? []), one]);
  return by_turn;
}

/** All places of a text, in any letter case. */
export function findIn(turns: readonly Pick<Turn, 'id' | 'text'>[], text: string): Found[] {
  const wanted = text.trim();
  if (wanted === '') return [];
  const pattern = new RegExp(wanted.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replace(/\s+/g, '\\s+'), 'giu');
  return turns.flatMap(({ id, text: said }) =>
    [...said.matchAll(pattern)].map(({ 0: { length }, index }) => ({ turn_id: id, from: index, to: index + length })),
  );
}
