import type { CheckedInsights, RecordingSummary } from '../../../../actors/insights/library_state.js';
import { sentencesOn } from '../../../../actors/insights/summary.js';
import type { ServerKeys } from '../../../engine/secrets/server_keys.js';
import type { InsightEngine } from '../engines/insight_engine.js';
import type { InsightInput } from '../engines/insight_input.js';
import { matterWords } from '../engines/item_text.js';
import { languageOf } from '../engines/spoken_language.js';
import { stems } from '../engines/stems.js';
import { checkedInsights } from './checked_insights.js';

const RECORDING_SENTENCES_MAX = 3; // ours: of a recording of which the summary of its conversation says nothing

/**
 * Makes a summary for each recording of a conversation with several: the title and topics that its turns support,
 * otherwise those that the built-in engine makes of that recording alone. None for a conversation with one recording.
 * docs/choices.md, "Insights".
 */
export async function recordingSummaries(
  conversation: CheckedInsights['conversation'],
  {
    input,
    keys,
    built_in,
  }: { input: InsightInput; keys: Pick<ServerKeys, 'keyIds' | 'keyedHashWith'>; built_in: InsightEngine },
): Promise<RecordingSummary[]> {
  const streams = [...new Set(input.turns.map(({ stream_id }) => stream_id))];
  if (streams.length < 2) return [];
  const summaries: RecordingSummary[] = [];
  for (const stream_id of streams) {
    const turns = input.turns
      .filter((turn) => turn.stream_id === stream_id)
      .map((turn, at) => ({ ...turn, number: at + 1 }));
    const own = { ...input, turns, suggestions: [], memories: [] };
    const made = checkedInsights(await built_in.think(own, new AbortController().signal), {
      input: own,
      keys,
      made_by: 'extractive',
    });
    if (!made.ok) continue;
    const { title, topics, sentences } = made.insights.conversation;
    const language = languageOf(turns);
    const said = stems(turns.map(({ text }) => text).join('\n'), language);
    const isSaid = (text: string | null) =>
      text !== null && [...stems(matterWords(text).join(' '), language)].every((stem) => said.has(stem));
    const named = conversation.topics.filter(isSaid);
    summaries.push({
      stream_id,
      title: isSaid(conversation.title) ? conversation.title : title,
      topics: named.length > 0 ? named : topics,
      ...(sentencesOn(conversation, stream_id).length === 0 && {
        sentences: sentences.slice(0, RECORDING_SENTENCES_MAX),
      }),
    });
  }
  return summaries;
}
