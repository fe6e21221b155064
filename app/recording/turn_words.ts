import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Turn } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { type WordPlace, wordPlaces } from './word_places.js';

/** The words of turns with their times. Lists of turns have none: each is read when it is heard or clicked. */

const KEPT_MAX = 200;

const known = new Map<string, Promise<readonly WordPlace[]>>();

export function placesOf(turn: Turn): Promise<readonly WordPlace[]> {
  const { id, text, heard_text } = turn;
  // Of a text that a person wrote nobody knows when its words were said.
  if (heard_text !== undefined) return Promise.resolve(wordPlaces(turn));
  const key = `${id} ${text}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  if (known.size >= KEPT_MAX) known.clear();
  const asked = api('GET /turns/{id}', { path: { id }, query: { include: 'words' } }).then(
    (answer) => wordPlaces({ ...turn, words: answer.words }),
    () => {
      known.delete(key);
      return wordPlaces(turn);
    },
  );
  known.set(key, asked);
  return asked;
}

/** The words of a turn that is heard; shares of its time until theirs are known. */
export function useWordPlaces(turn: Turn, is_heard: boolean): readonly WordPlace[] {
  const shares = useMemo(() => wordPlaces(turn), [turn]);
  const [timed, setTimed] = useState<{ of: Turn; places: readonly WordPlace[] } | null>(null);
  useEffect(() => {
    if (!is_heard) return;
    let is_shown = true;
    void placesOf(turn).then((places) => is_shown && setTimed({ of: turn, places }));
    return () => {
      is_shown = false;
    };
  }, [turn, is_heard]);
  return timed?.of === turn ? timed.places : shares;
}
