import { addInterval } from '../../src/domain/intervals.js';
import { LIMITS } from '../../src/domain/limits.js';
import { type Expire, type Expired, isBefore, type Swept } from '../../src/domain/retention.js';
import { type Decision, type Effect, messagesOf } from '../actor.js';
import { writePage } from './transcript_block.js';
import { withTurns } from './transcript_merge.js';
import {
  isOfText,
  oldestIn,
  type PageTurn,
  pageKey,
  putWords,
  readPage,
  readWords,
  type TranscriptPage,
  withoutTexts,
} from './transcript_page.js';
import { dueEffect, listed } from './transcript_publication.js';
import type { Transcript } from './transcript_state.js';

/** Expiry of turns by retention: text, words and corrections are removed, places and serial numbers stay. */
export const expiryMessages = messagesOf<Transcript>()({
  /** Removes turns of the page with the oldest publication, as many as one commit may, and notifies the library. */
  expire: {
    records: (_: Expire, state) => {
      if (state?.oldest == null) return [];
      const id = pageKey(state.oldest.page);
      return [
        { collection: 'pages', id },
        { collection: 'words', id },
        { collection: 'published', range: { limit: 2 } },
      ];
    },
    decide(state, { sweep_id, before_ms, library_id }: Expire, facts): Decision<Transcript, Expired> {
      if (state === null || state.oldest === null) return { reply: { removed: 0, left: false } };
      const number = state.oldest.page;
      const page = readPage(number, facts.record('pages', pageKey(number)));
      const words = readWords(number, facts.record('words', pageKey(number)));
      const old = page.turns
        .filter(({ run }) => isBefore(run.published_at_ms, before_ms))
        .slice(0, LIMITS.expired_per_commit_max);
      const after = without(page, old, before_ms);
      const oldest_ms = oldestIn(after);
      const others = facts.range<unknown>('published').filter(({ id }) => id !== pageKey(number));
      const [next_page] = [
        ...others.map(({ id, order }) => ({ page: Number.parseInt(id, 16), published_at_ms: order })),
        ...(oldest_ms === null ? [] : [{ page: number, published_at_ms: oldest_ms }]),
      ].sort((a, b) => a.published_at_ms - b.published_at_ms || a.page - b.page);
      const next: Transcript = {
        ...state,
        turns: state.turns - old.length,
        revision: state.revision + (old.length > 0 ? 1 : 0),
        oldest: next_page ?? null,
      };
      const left = next.oldest !== null && isBefore(next.oldest.published_at_ms, before_ms);
      const record = { collection: 'published', id: pageKey(number) };
      const swept: Swept = { type: 'swept', sweep_id, bucket: 'transcripts', count: old.length };
      const effects: Effect[] = [
        dueEffect(state, next.oldest, facts.self),
        oldest_ms === null
          ? { effect: 'delete_record', ...record }
          : { effect: 'put_record', ...record, value: 1, order: oldest_ms },
      ];
      if (old.length > 0) {
        effects.push(...writePage(state, after, facts.self), {
          effect: 'notify',
          to: { kind: 'library', id: library_id },
          message: swept,
        });
        if (words.size > 0) effects.push(putWords(after, words));
      }
      if (next.turns === 0 && state.turns > 0) effects.push(...listed(next, facts.self));
      return { reply: { removed: old.length, left }, next, effects };
    },
  },
});

function without(page: TranscriptPage, gone: readonly PageTurn[], before_ms: number | null): TranscriptPage {
  let { serials: expired, spans } = page.expired;
  for (const { serial, start_ms, end_ms } of gone) {
    expired = addInterval(expired, [serial, serial + 1], LIMITS.page_serials_max);
    spans = addInterval(spans, [start_ms, Math.max(end_ms, start_ms + 1)], LIMITS.transcript_intervals_max);
  }
  const corrections = withoutTexts(page, gone, before_ms ?? Number.POSITIVE_INFINITY).filter(
    (one) => isOfText(one) || !spans.some(([from_ms, to_ms]) => one.start_ms >= from_ms && one.end_ms <= to_ms),
  );
  return withTurns(
    { ...page, corrections, expired: { serials: expired, spans } },
    page.turns.filter((turn) => !gone.includes(turn)),
  );
}
