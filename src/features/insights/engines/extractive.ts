import { LIMITS } from '../../../domain/limits.js';
import { Slices } from '../../../engine/time/slices.js';
import { itemChances } from '../learned/item_finder.js';
import { summaryWorths } from '../learned/summary_scorer.js';
import type { TalkModel } from '../learned/talk_model.js';
import { titlePhrases } from '../learned/title_phrases.js';
import type { InsightEngine } from './insight_engine.js';
import type { InsightInput, RawInsights } from './insight_input.js';
import { itemsIn } from './items.js';
import { keywordSummary } from './keyword_summary.js';
import { keywords } from './keywords.js';
import { notesOf, noteTitle } from './memo.js';
import { sentencesOf } from './sentences.js';
import { isEnglish, languageOf } from './spoken_language.js';
import { spokenTalk } from './spoken_units.js';
import { changesOf } from './suggestion_changes.js';
import { summaryOf } from './summary.js';
import { titleOf, topicsOf } from './title.js';

/**
 * Insights without a language model: sentences that were said, without what only fills, as finders choose them that are
 * learned from labelled talks. In English; of other languages titles and summaries are made by keywords, and nothing is
 * suggested. docs/insights.md, "Engines".
 */

const TITLE_PHRASES = 2;

export class Extractive implements InsightEngine {
  readonly name = 'extractive';
  readonly made_by = 'extractive';
  readonly #model: TalkModel;

  constructor(model: TalkModel) {
    this.#model = model;
  }

  async think(input: InsightInput): Promise<RawInsights & { is_english_only?: boolean }> {
    const most = languageOf(input.turns);
    const slices = new Slices();
    const { words } = this.#model;
    const known = { table: words, languages: input.languages };
    const is_english = isEnglish(most, input.turns, known);
    const turns = input.turns.filter(({ language }) =>
      language === null ? is_english : isEnglish(language, [], known),
    );
    const sentences = await sentencesOf({ ...input, turns }, slices);
    const talk = spokenTalk(sentences, input.people);
    const chances = await itemChances(this.#model.items, talk, slices);
    const notes = notesOf({ talk, sentences, chances }, this.#model);
    const items = await itemsIn({ talk, sentences, chances, notes }, input, this.#model, slices);
    const suggestions = changesOf(input, items);
    if (!is_english) return { conversation: byKeywords(input, most), suggestions, memories: [], is_english_only: true };
    const summary = await summaryWorths(this.#model.summary, { talk, chances, words }, slices);
    const worths = summary.map(({ worth }) => worth);
    const phrases = await titlePhrases(this.#model, { talk, chances, worths }, { table: words, slices });
    await slices.pause();
    const names = input.people.flatMap(({ name }) => (name ?? '').split(/\s+/)).filter((name) => name !== '');
    const topics = topicsOf(phrases, LIMITS.insight_topics_max);
    return {
      conversation: {
        title: (notes === null ? null : noteTitle(notes, sentences)) ?? titleOf(phrases),
        sentences: summaryOf({ talk, worths: summary, names }, words),
        topics: topics.map(({ text }) => text),
      },
      ...{ suggestions, memories: [] },
    };
  }

  async close(): Promise<void> {}
}

function byKeywords({ turns, people }: InsightInput, language: string | null): RawInsights['conversation'] {
  const phrases = keywords(turns, { people, count: LIMITS.insight_topics_max, language });
  const title = phrases.slice(0, TITLE_PHRASES).join(', ').slice(0, LIMITS.conversation_title_chars_max);
  return { title: title === '' ? null : title, sentences: keywordSummary(turns, phrases), topics: phrases };
}
