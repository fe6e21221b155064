import { LIMITS } from '../../../domain/limits.js';
import { similarity } from '../../../domain/search/vectors.js';
import type { Slices } from '../../../engine/time/slices.js';
import { type SearchScope, searchedTranscripts } from '../index/evaluate.js';
import type { Passage } from './passages.js';
import type { Period } from './period.js';
import type { Candidate } from './recall_candidates.js';

/** Turns that mean something alike, by vectors of windows, and how both rankings become one. */

/** Of reciprocal rank fusion: a rank counts 1 in so many more. Source: Cormack, Clarke and Büttcher, SIGIR 2009. */
const RANKS = 60;

/** The question's vector, with the model that made it. */
export type QuestionVector = { vector: Int8Array; model: number };

/** Windows nearest to a question, the nearest first, as passages. In slices. */
export async function nearestWindows(
  scope: SearchScope,
  { vector, model }: QuestionVector,
  { bounds, slices }: { bounds: Period; slices: Slices },
): Promise<Passage[]> {
  let kept: { near: number; passage: Passage }[] = [];
  let least = -1;
  const prune = () => {
    kept = kept.sort((a, b) => b.near - a.near).slice(0, LIMITS.vectors_nearest_max);
    if (kept.length === LIMITS.vectors_nearest_max) least = kept.at(-1)?.near ?? least;
  };
  for (const index of scope.indexes)
    for (const [transcript_id, pages] of searchedTranscripts(index, scope)) {
      let before = 0;
      for (const { block, vectors } of pages) {
        await slices.pause();
        const is_usable = vectors != null && vectors.model === model && vectors.dimension === vector.length;
        for (const window of is_usable ? vectors.windows : []) {
          const started_ms = block.begins_at_ms + block.start_ms(window.first);
          if (started_ms < bounds.from_ms || started_ms > bounds.to_ms || window.last >= block.texts) continue;
          const near = similarity(vector, window.vector);
          if (near <= least) continue;
          const [first, last] = [before + window.first, before + window.last];
          kept.push({ near, passage: { transcript_id, pages, first, last, supports: [], started_ms } });
          if (kept.length === 2 * LIMITS.vectors_nearest_max) prune();
        }
        before += block.texts;
      }
    }
  prune();
  return kept.map(({ passage }) => passage);
}

/** Merges the ranking by words with that of windows, both best first. A window raises the best passage in it. */
export function fused(by_words: readonly Candidate[], windows: readonly Passage[]): Candidate[] {
  const found = by_words.map((candidate, rank): Candidate => ({ ...candidate, score: 1 / (RANKS + rank + 1) }));
  for (const [rank, window] of windows.entries()) {
    const score = 1 / (RANKS + rank + 1);
    const inside = found.find((one) => 'passage' in one && isIn(one.passage, window));
    if (inside === undefined) found.push({ passage: window, started_ms: window.started_ms, score });
    else inside.score += score;
  }
  return found.sort((a, b) => b.score - a.score || b.started_ms - a.started_ms);
}

function isIn(passage: Passage, window: Passage): boolean {
  return passage.transcript_id === window.transcript_id && passage.first <= window.last && passage.last >= window.first;
}
