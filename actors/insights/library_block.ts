import { ownerOfPipeline } from '../../src/domain/ids.js';
import { encodeBlock } from '../../src/domain/search/block.js';
import { BLOCKS, SEARCH_INDEX } from '../../src/domain/search/places.js';
import { stemmerOf } from '../../src/domain/search/stemmers.js';
import { kindTerm, termsIn } from '../../src/domain/search/words.js';
import type { Effect } from '../actor.js';
import type { Conversation, ItemKind, Items, Memory, Suggestion } from './library_state.js';

/** The search index of a library's items: each item has a block, written in the commit that writes the item. */

/** The searched texts of an item. */
export function searchedText<Kind extends ItemKind>(kind: Kind, item: Items[Kind]): string {
  if (kind !== 'conversation') return (item as Memory | Suggestion).text;
  const { title, summary, topics } = item as Conversation;
  return [title ?? '', summary ?? '', topics.join(', ')].filter((text) => text !== '').join('\n');
}

/** When the item was said, or made if that is unknown. */
export function saidAt<Kind extends ItemKind>(kind: Kind, item: Items[Kind]): number {
  if (kind === 'conversation') return (item as Conversation).started_at_ms;
  return (item as Memory | Suggestion).said?.at_ms ?? item.created_at_ms;
}

export function languageOf<Kind extends ItemKind>(kind: Kind, item: Items[Kind]): string | null {
  return kind === 'conversation'
    ? (item as Conversation).language
    : ((item as Memory | Suggestion).said?.language ?? null);
}

/**
 * Null for an item that search does not find. `speaker` of the block is the number of its pipeline, 0 for the default
 * one.
 */
export function itemBlock<Kind extends ItemKind>(kind: Kind, item: Items[Kind]): Uint8Array | null {
  if (kind === 'suggestion' && (item as Suggestion).status === 'withdrawn') return null;
  const language = languageOf(kind, item);
  const sources = kind === 'conversation' ? (item as Conversation).parts : (item as Memory | Suggestion).evidence;
  const pipeline = item.pipeline_id === null ? 0 : (ownerOfPipeline(item.pipeline_id)?.number ?? 0);
  const stemmer = stemmerOf(language);
  const text = {
    serial: 0,
    start_ms: 0,
    speaker: pipeline,
    stemmer,
    said: termsIn(searchedText(kind, item), stemmer),
    marks: kind === 'suggestion' ? [kindTerm((item as Suggestion).kind)] : [],
  };
  return encodeBlock({ begins_at_ms: saidAt(kind, item), source_id: sources[0]?.source_id ?? null }, [text]);
}

export function blockEffects(library_id: string, entry: string, block: Uint8Array | null): Effect[] {
  const record = { collection: BLOCKS, id: entry };
  return [
    block === null ? { effect: 'delete_record', ...record } : { effect: 'put_record', ...record, value: block },
    { effect: 'mark_changed', owner: library_id, index: SEARCH_INDEX, member: entry },
  ];
}
