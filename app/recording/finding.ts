import { useMemo, useState } from 'preact/hooks';
import type { Turn } from '../../kits/typescript/src/api.js';
import { findIn, type TextMatch } from './text_search.js';

export type Finding = {
  /** Null while nobody looks for anything. */
  text: string | null;
  found: readonly TextMatch[];
  /** The place in `found` that is shown. */
  at: number;
  set: (text: string | null) => void;
  /** To the next one, or with -1 to the one before; from the last to the first. */
  step: (by: 1 | -1) => void;
};

/** Keeps the text that a reader looks for in a loaded transcript, and the place that is shown. */
export function useFinding(turns: readonly Turn[]): Finding {
  const [text, setText] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const found = useMemo(() => findIn(turns, text ?? ''), [turns, text]);
  const shown = Math.min(at, Math.max(0, found.length - 1));
  return {
    ...{ text, found, at: shown },
    set: (next) => {
      setText(next);
      setAt(0);
    },
    step: (by) => found.length > 0 && setAt((shown + by + found.length) % found.length),
  };
}
