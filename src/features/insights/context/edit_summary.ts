import type { SummarySentence } from '../../../../actors/insights/library_state.js';
import { onRecording } from '../../../../actors/insights/summary.js';
import type { Principal } from '../../../access/principal.js';
import { libraryId } from '../../../domain/ids.js';
import { Refused, refuse } from '../../../domain/refusals.js';
import { wordsIn } from '../../../domain/search/words.js';
import { writableStream } from '../../recordings/stream_access.js';
import { type FoundItem, NO_ITEM, writableItem } from '../reading/insight_access.js';
import { InsightReader } from '../reading/insight_reader.js';
import {
  conversationsOn,
  longestOn,
  type StreamSummaryView,
  type SummaryServices,
  streamSummary,
} from '../reading/stream_summary.js';
import { reprocessStream } from './reprocess.js';

/** Changes of the summary of a recording by its owner. Rules K-350 to K-352; docs/choices.md, "Insights". */

const NO_CONVERSATION = refuse('NOT_FOUND', 'Nothing was made of this recording that could be edited.');
/** So much of the words of two sentences is the same if one replaces the other. */
const SHARED_MIN = 0.3;

/**
 * Replaces the sentences of the summary; no run changes them any more. `sentences`: null gives the summary back to the
 * pipeline, which makes it again. `conversation_id`: the longest conversation of the recording where it is absent.
 */
export async function editSummary(
  services: SummaryServices,
  who: Principal,
  {
    stream_id,
    conversation_id,
    sentences,
  }: { stream_id: string; conversation_id?: string | undefined; sentences: string[] | null },
): Promise<StreamSummaryView> {
  const { place, number, item } = await conversationOf(services, who, { stream_id, conversation_id });
  const shown = onRecording(item, stream_id).sentences;
  const edited = sentences === null ? null : replaced(item.sentences, shown, withEvidence(sentences, shown));
  const edit = { number, sentences: edited };
  await services.actors.library(place.library_id).edit_conversation(edit, who.fences);
  if (sentences === null) await makeSummaryAgain(services, who, stream_id);
  return streamSummary(services, who, stream_id);
}

/** Has summary and suggestions of a recording made again. What a person wrote stays. */
export async function makeSummaryAgain(services: SummaryServices, who: Principal, stream_id: string): Promise<void> {
  const whole = { from_ms: 0, to_ms: Number.MAX_SAFE_INTEGER };
  await reprocessStream(services, who, { stream_id, kinds: ['insights'], ...whole });
}

async function conversationOf(
  services: SummaryServices,
  who: Principal,
  { stream_id, conversation_id }: { stream_id: string; conversation_id: string | undefined },
): Promise<FoundItem<'conversation'>> {
  const { account_id, workspace_id } = await writableStream(services, who, stream_id);
  if (conversation_id !== undefined) {
    const found = await writableItem(services, who, { kind: 'conversation', id: conversation_id });
    if (!found.item.parts.some((part) => part.stream_id === stream_id)) throw new Refused(NO_ITEM.conversation);
    return found;
  }
  const place = { library_id: libraryId(account_id, workspace_id), account_id, workspace_id };
  const reading = new InsightReader(services, who);
  const longest = longestOn(await conversationsOn(services, { place, stream_id, reading }), stream_id);
  if (longest === undefined) throw new Refused(NO_CONVERSATION);
  return longest;
}

/** The sentences of a conversation of which those of one recording are now others. */
function replaced(
  all: readonly SummarySentence[],
  shown: readonly SummarySentence[],
  edited: readonly SummarySentence[],
): SummarySentence[] {
  const first = all.findIndex((one) => shown.includes(one));
  const before = first === -1 ? all : all.slice(0, first);
  const after = first === -1 ? [] : all.slice(first).filter((one) => !shown.includes(one));
  return [...before, ...edited, ...after];
}

/** A sentence keeps where it was said, and one that is reworded takes that over. */
function withEvidence(texts: readonly string[], was: readonly SummarySentence[]): SummarySentence[] {
  const left = new Set(was);
  const same = texts.map((text) => {
    const found = [...left].find((one) => one.text === text);
    if (found !== undefined) left.delete(found);
    return found;
  });
  return texts.map((text, at) => {
    const found = same[at];
    if (found !== undefined) return found;
    const [nearest] = [...left]
      .map((one) => ({ one, shared: sharedPart(one.text, text) }))
      .filter(({ shared }) => shared >= SHARED_MIN)
      .sort((a, b) => b.shared - a.shared);
    if (nearest !== undefined) left.delete(nearest.one);
    return { text, evidence: nearest?.one.evidence ?? [] };
  });
}

function sharedPart(one: string, other: string): number {
  const [words, others] = [wordsOf(one), wordsOf(other)];
  const shared = [...words].filter((word) => others.has(word)).length;
  return shared / Math.max(1, words.size + others.size - shared);
}

function wordsOf(text: string): Set<string> {
  return new Set(wordsIn(text).map(({ word }) => word));
}
