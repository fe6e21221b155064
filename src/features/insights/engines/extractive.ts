import { LIMITS } from '../../../domain/limits.js';
import { Slices } from '../../../engine/time/slices.js';
import type { InsightEngine } from './insight_engine.js';
import type { InsightInput, RawInsights } from './insight_input.js';
import { itemsIn } from './items.js';
import { keywordSummary } from './keyword_summary.js';
import { keywords } from './keywords.js';
import { sentencesOf } from './sentences.js';
import { languageOf } from './spoken_language.js';
import { subjectsOf } from './subjects.js';
import { changesOf, type NewSuggestion } from './suggestion_changes.js';
import { summaryOf } from './summary.js';
import { distinctSubjects, titleOf } from './title.js';

/**
 * Insights without a model. Titles are the subjects of a conversation; summaries and suggestions are sentences that were
 * said, without what only fills. In English; of other languages titles and summaries are made by keywords, and nothing is
 * suggested. docs/choices.md, "Insights".
 */

const TITLE_PHRASES = 2;

export class Extractive implements InsightEngine {
  readonly name = 'extractive';
  readonly made_by = 'extractive';

  async think(input: InsightInput): Promise<RawInsights> {
    const most = languageOf(input.turns);
    const slices = new Slices();
    const english = input.turns.filter(({ language }) => isEnglish(language ?? most));
    const sentences = await sentencesOf({ ...input, turns: english }, slices);
    const items = await itemsIn(sentences, input, slices);
    const conversation = isEnglish(most)
      ? await conversationIn({ sentences, items, input }, slices)
      : byKeywords(input, most);
    return { conversation, suggestions: changesOf(input, items), memories: [] };
  }

  async close(): Promise<void> {}
}

type Conversation = RawInsights['conversation'];
type Heard = {
  sentences: Awaited<ReturnType<typeof sentencesOf>>;
  items: readonly NewSuggestion[];
  input: InsightInput;
};

async function conversationIn({ sentences, items, input: { people } }: Heard, slices: Slices): Promise<Conversation> {
  const subjects = distinctSubjects(await subjectsOf({ sentences, items, people }, slices));
  return {
    title: titleOf(subjects),
    sentences: summaryOf({ sentences, subjects, items, people }),
    topics: subjects.slice(0, LIMITS.insight_topics_max).map(({ text }) => text),
  };
}

function byKeywords({ turns, people }: InsightInput, language: string | null): Conversation {
  const phrases = keywords(turns, { people, count: LIMITS.insight_topics_max, language });
  const title = phrases.slice(0, TITLE_PHRASES).join(', ').slice(0, LIMITS.conversation_title_chars_max);
  return { title: title === '' ? null : title, sentences: keywordSummary(turns, phrases), topics: phrases };
}

function isEnglish(language: string | null): boolean {
  return language === null || /^en(-|$)/i.test(language);
}
