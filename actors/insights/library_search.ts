import { LIMITS } from '../../src/domain/limits.js';
import { WORDS_VERSION } from '../../src/domain/search/words.js';
import { type Decision, messagesOf } from '../actor.js';
import { blockEffects, itemBlock } from './library_block.js';
import { entryOf, ITEM_KINDS, ITEMS } from './library_items.js';
import type { ItemKind, Items, Library } from './library_state.js';

type ItemPosition = { kind: ItemKind; after: { order: number; id: string } | null };
const BEGIN: ItemPosition = { kind: ITEM_KINDS[0], after: null };
const STEP = LIMITS.items_made_searchable_max;

/** Builds the search index for items that an earlier release has stored. */
export const searchMessages = messagesOf<Library>()({
  /** Makes some of its items known to search, from a place on; `next` is where it goes on. */
  make_searchable: {
    records: ({ place }: { place: ItemPosition | null }) => {
      const { kind, after } = place ?? BEGIN;
      return [{ collection: ITEMS[kind], range: { ...(after === null ? {} : { after }), limit: STEP } }];
    },
    decide(state, { place }: { place: ItemPosition | null }, facts): Decision<Library, { next: ItemPosition | null }> {
      if (state?.insights === undefined || state.insights.searchable === WORDS_VERSION)
        return { reply: { next: null } };
      const { kind } = place ?? BEGIN;
      const rows = facts.range<Items[ItemKind]>(ITEMS[kind]);
      const effects = rows.flatMap(({ id, value }) =>
        blockEffects(facts.self, entryOf(kind, Number.parseInt(id, 16)), itemBlock(kind, value)),
      );
      const last = rows.length < STEP ? undefined : rows.at(-1);
      if (last !== undefined) return { reply: { next: { kind, after: { order: last.order, id: last.id } } }, effects };
      const following = ITEM_KINDS[ITEM_KINDS.indexOf(kind) + 1];
      if (following !== undefined) return { reply: { next: { kind: following, after: null } }, effects };
      const next: Library = { ...state, insights: { ...state.insights, searchable: WORDS_VERSION } };
      return { reply: { next: null }, next, effects };
    },
  },
});
