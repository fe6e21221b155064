import { useEffect, useRef, useState } from 'preact/hooks';
import type { Spoken } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';

/** The server counts each one anew: so many are asked for at once. */
const AT_ONCE = 2;

/** How much each of these contacts said, as far as it has come. */
export function useSpoken(ids: readonly string[]): ReadonlyMap<string, Spoken> {
  const [spoken, setSpoken] = useState<ReadonlyMap<string, Spoken>>(new Map());
  const asked = useRef(new Set<string>());
  const is_shown = useRef(true);
  useEffect(() => {
    is_shown.current = true;
    return () => {
      is_shown.current = false;
    };
  }, []);
  useEffect(() => {
    const waiting = ids.filter((id) => !asked.current.has(id));
    for (const id of waiting) asked.current.add(id);
    const next = async (): Promise<void> => {
      const id = waiting.shift();
      if (id === undefined || !is_shown.current) return;
      const found = await api('GET /contacts/{id}/spoken', { path: { id } }).catch(() => null);
      if (found !== null) setSpoken((was) => new Map(was).set(id, found));
      return next();
    };
    for (let at = 0; at < AT_ONCE; at++) void next();
  }, [ids.join(' ')]);
  return spoken;
}
