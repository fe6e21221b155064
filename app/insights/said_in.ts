import type { Evidence } from '../../kits/typescript/src/api.js';

/** The evidence that says most of the words of `text`, the last such; null if none of it is kept. */
export function saidIn(evidence: readonly Evidence[], text: string): Evidence | null {
  const words = wordsOf(text);
  let best: { one: Evidence; shared: number } | null = null;
  for (const one of evidence) {
    if (one.state !== 'available') continue;
    const shared = [...wordsOf(one.quote ?? '')].filter((word) => words.has(word)).length;
    if (best === null || shared >= best.shared) best = { one, shared };
  }
  return best?.one ?? null;
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
}
