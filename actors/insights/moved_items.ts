import { libraryId, placeOfInsight } from '../../src/domain/ids.js';
import type { StreamMove } from '../../src/domain/moves.js';
import { shownId } from './item_records.js';
import type {
  Conversation,
  ConversationSpan,
  HandRef,
  InsightRun,
  ItemKind,
  Items,
  RecordingSummary,
  Revision,
  Suppressed,
  Unsettled,
} from './library_state.js';
import { onRecording, summaryOf } from './summary.js';

/** The items that go with a recording from one library to another, and what stays of them. */

/** An item on its way. `key`: names it in both libraries; its id, unless it is a part of one that stays. */
export type MovedItem = { [Kind in ItemKind]: Moved<Kind> }[ItemKind];
type Moved<Kind extends ItemKind> = {
  kind: Kind;
  key: string;
  item: Items[Kind];
  /** The keys of its conversations. */
  conversations: string[];
  revisions: Revision[];
  feedback: { number: number; value: unknown }[];
  hand_ref: HandRef | null;
};

/** Collection `moving`, by stream: what goes when all items have gone. */
export type MovingStream = {
  move: StreamMove;
  /** By number: conversations that have gone, and the memories of each. */
  conversations: Record<string, { key: string; memories: number[] }>;
  spans: (ConversationSpan & Keyed)[];
  suppressed: Suppressed[];
  runs: (InsightRun & Keyed)[];
  /** Where conversations are still to be found, or made. */
  ranges: MovedRange[];
  /** Whether people have deleted speech of it, on which items may rest. */
  is_deleted: boolean;
};
/** The key of the conversation, once it has gone. */
type Keyed = { key?: string | undefined };
type MovedRange = Pick<Unsettled, 'source_id' | 'pipeline_id' | 'from_ms' | 'to_ms' | 'again'>;

/** A member of a conversation, memory or suggestion on one recording, and the rest of it; null for none. */
export type Shares<Kind extends ItemKind> = { goes: Items[Kind] | null; stays: Items[Kind] | null };

/**
 * A conversation on several recordings is divided. A suggestion or memory goes with the recording on which the first of
 * its evidence lies; one without evidence stays.
 */
export function sharesOf<Kind extends ItemKind>(item: Items[Kind], stream_id: string): Shares<Kind> {
  const spans = 'parts' in item ? item.parts : item.evidence;
  const here = spans.filter((span) => span.stream_id === stream_id);
  if (here.length === 0) return { goes: null, stays: item };
  if (here.length === spans.length) return { goes: item, stays: null };
  if ('parts' in item) return divided(item, stream_id) as Shares<Kind>;
  if (spans[0]?.stream_id === stream_id) return { goes: { ...item, evidence: here }, stays: null };
  return { goes: null, stays: { ...item, evidence: spans.filter((span) => span.stream_id !== stream_id) } };
}

/** Neither part says what rests on the other recordings; both are made anew. */
function divided(item: Conversation, stream_id: string): Shares<'conversation'> {
  const isHere = (one: { stream_id: string }) => one.stream_id === stream_id;
  const { by_recording = [], protected_fields } = item;
  const { kept_id: _, by_recording: __, ...here } = onRecording(item, stream_id);
  const others = by_recording.filter((one) => !isHere(one));
  const said: Pick<RecordingSummary, 'title' | 'topics'> = others[0] ?? { title: null, topics: [] };
  const sentences = item.sentences.filter(({ evidence }) => !evidence.some(isHere));
  const { by_recording: ___, ...kept } = item;
  return {
    goes: { ...here, parts: item.parts.filter(isHere), participants: item.participants.filter(isHere), revision: 1 },
    stays: {
      ...kept,
      ...(others.length > 1 && { by_recording: others }),
      parts: item.parts.filter((part) => !isHere(part)),
      participants: item.participants.filter((one) => !isHere(one)),
      title: protected_fields.includes('title') ? item.title : said.title,
      topics: said.topics,
      sentences,
      summary: summaryOf(sentences),
    },
  };
}

/** The name of an item that goes as a whole, or of the part of a conversation that does. */
export function keyOf(
  place: { library_id: string; kind: ItemKind; number: number },
  item: Items[ItemKind],
  { stays, stream_id }: { stays: unknown; stream_id: string },
): string {
  const id = shownId(place.library_id, place.kind, place.number, item);
  return stays === null ? id : `${id}/${stream_id}`;
}

/** The place of an item by its key, if it was made in this library. */
export function placeHere(key: string, library_id: string): number | null {
  const place = placeOfInsight(key);
  return key.includes('/') || place?.library_id !== library_id ? null : place.number;
}

/** The library that a recording comes to. */
export function targetOf({ account_id, to }: Pick<StreamMove, 'account_id' | 'to'>): string {
  return libraryId(account_id, to);
}

/** Removes from an item what means nothing in another library. */
export function withoutNumbers<Kind extends ItemKind>(item: Items[Kind]): Items[Kind] {
  if ('parts' in item) return { ...item, suggestions: [], memories: [] };
  if ('group' in item) {
    const { kept_conversation_id: _, ...rest } = item;
    return { ...rest, conversation: null, group: null } as Items[Kind];
  }
  return { ...item, superseded_by: null };
}
